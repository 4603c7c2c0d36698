"""Figures of results: every system's value on every subset, with its interval where there is one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bove.evaluate.plots import (
    CHARACTER,
    GREY,
    MARKERS,
    NAME_WIDTH,
    PALE,
    PALETTE,
    as_it_is,
    shared_legend,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW, SPREAD = 0.42, 0.5  # inches of a row; share of it over which the systems' values are spread


@dataclass(frozen=True)
class Value:
    """A system's value on a row, None where undefined, and the ends of its interval, None without one."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Rows:
    """The results of a data set.

    Attributes:
        title: above its panel.
        values: of each row, in order, by system.
        summaries: the rows, last of all, that sum up the others.
    """

    title: str
    values: Mapping[str, Mapping[str, Value]]
    summaries: Sequence[str] = ()


def draw_results(datasets: Sequence[Rows], systems: Sequence[str], unit: str) -> "Figure":
    """A panel a data set, a row a subset: in each the systems' values, joined, with their intervals.

    Summaries stand below a line. The x-axis spans the values alone and does not start at 0.
    """
    from matplotlib.figure import Figure

    names = [as_it_is(name, NAME_WIDTH) for rows in datasets for name in rows.values]
    longest = max((len(line) for name in names for line in name.split("\n")), default=0)
    heights = [max(len(rows.values), 1) * ROW + 0.35 for rows in datasets] or [1]
    legend = 0.2 + 0.17 * (1 + sum(len(name) for name in systems) // 60)
    size = (5.6 + CHARACTER * longest, sum(heights) + legend + 0.5)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    for axes, rows in zip(grid, datasets, strict=False):
        _rows(axes, rows, systems)
    if not datasets:
        grid[0].set_axis_off()
        figure.text(0.5, 0.5, "no data set of this task", ha="center", color=GREY)
    grid[-1].set_xlabel(unit)
    shared_legend(figure, grid, size[0])
    return figure


def _rows(axes: "Axes", rows: Rows, systems: Sequence[str]) -> None:
    names = list(rows.values)
    step = SPREAD / max(1, len(systems) - 1)
    for y, name in enumerate(names):
        at = {
            system: (y - SPREAD / 2 + s * step if len(systems) > 1 else y) for s, system in enumerate(systems)
        }
        shown = [(s, system) for s, system in enumerate(systems) if _is_shown(rows.values[name], system)]
        points = [(rows.values[name][system].value, at[system]) for _, system in shown]
        axes.plot([x for x, _ in points], [y for _, y in points], color=GREY, linewidth=0.7, zorder=1)
        for s, system in shown:
            _value(axes, rows.values[name][system], at[system], s, system)
        if not shown:
            axes.text(
                0.5, y, "undefined", transform=axes.get_yaxis_transform(), ha="center", va="center",
                style="italic", color=GREY, fontsize=8,
            )  # fmt: skip
    axes.set_title(as_it_is(rows.title, 2 * NAME_WIDTH))
    axes.set_yticks(range(len(names)), [as_it_is(name, NAME_WIDTH) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(axis="x", color=PALE, linewidth=0.6)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(labelbottom=True)
    n_subsets = len(names) - len(rows.summaries)
    if 0 < n_subsets < len(names):
        axes.axhline(n_subsets - 0.5, color=GREY, linewidth=0.8, linestyle=":")


def _is_shown(row: Mapping[str, Value], system: str) -> bool:
    return system in row and row[system].value is not None


def _value(axes: "Axes", value: Value, y: float, number: int, system: str) -> None:
    colour = PALETTE[number % len(PALETTE)]
    if value.low is not None and value.high is not None:
        axes.plot(
            [value.low, value.high], [y, y], color=colour, linewidth=2.2, alpha=0.5, solid_capstyle="butt"
        )
    axes.plot(
        [value.value], [y], MARKERS[number % len(MARKERS)], color=colour, markersize=6, linestyle="none",
        markeredgecolor="white", markeredgewidth=0.6, label=as_it_is(system, NAME_WIDTH),
    )  # fmt: skip
