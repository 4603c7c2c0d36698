"""Figures of results: every system's value on every subset, or difference from others, with its interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bove.evaluate.plots import (
    BLACK,
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

# Inches of a row, at least and for each system; share of it over which the systems' values are spread.
ROW, EACH, SPREAD = 0.42, 0.13, 0.55
LABEL_WIDTH = 44


@dataclass(frozen=True)
class Value:
    """A system's value on a row, None where undefined, and the ends of its interval, None without one.

    One that is not sure is drawn as a hollow marker.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    sure: bool = True


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


def draw_results(datasets: Sequence[Rows], systems: Sequence[str], unit: str, zero: bool = False) -> "Figure":
    """A panel a data set, a row a subset: in each the systems' values, joined, with their intervals.

    Summaries stand below a line. The x-axis spans the values alone and does not start at 0. With `zero`,
    values are differences: a line marks 0, and nothing joins them.
    """
    from matplotlib.figure import Figure

    names = [as_it_is(name, NAME_WIDTH) for rows in datasets for name in rows.values]
    longest = max((len(line) for name in names for line in name.split("\n")), default=0)
    row = max(ROW, EACH * len(systems))
    heights = [max(len(rows.values), 1) * row + 0.35 for rows in datasets] or [1]
    legend = 0.2 + 0.17 * (1 + sum(len(name) for name in systems) // 60)
    size = (5.6 + CHARACTER * longest, sum(heights) + legend + 0.5)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    for axes, rows in zip(grid, datasets, strict=False):
        _rows(axes, rows, systems, zero)
    for s, system in enumerate(systems):  # for the legend, which so has filled markers alone
        grid[0].plot([], [], label=as_it_is(system, LABEL_WIDTH), **_marker(s))
    if not datasets:
        grid[0].set_axis_off()
        figure.text(
            0.5, 0.5, "nothing to compare" if zero else "no data set of this task", ha="center", color=GREY
        )
    grid[-1].set_xlabel(unit)
    shared_legend(figure, grid, size[0])
    return figure


def _rows(axes: "Axes", rows: Rows, systems: Sequence[str], zero: bool) -> None:
    names = list(rows.values)
    if zero:
        axes.axvline(0, color=BLACK, linewidth=1)
    step = SPREAD / max(1, len(systems) - 1)
    for y, name in enumerate(names):
        at = {
            system: (y - SPREAD / 2 + s * step if len(systems) > 1 else y) for s, system in enumerate(systems)
        }
        shown = [(s, system) for s, system in enumerate(systems) if _is_shown(rows.values[name], system)]
        points = [(rows.values[name][system].value, at[system]) for _, system in shown]
        if not zero:
            axes.plot([x for x, _ in points], [y for _, y in points], color=GREY, linewidth=0.7, zorder=1)
        for s, system in shown:
            _value(axes, rows.values[name][system], at[system], s)
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


def _value(axes: "Axes", value: Value, y: float, number: int) -> None:
    colour = PALETTE[number % len(PALETTE)]
    if value.low is not None and value.high is not None:
        axes.plot(
            [value.low, value.high], [y, y], color=colour, linewidth=2.2, alpha=0.5, solid_capstyle="butt"
        )
    axes.plot([value.value], [y], **_marker(number, value.sure))


def _marker(number: int, sure: bool = True) -> dict:
    """Look of a system's values."""
    colour = PALETTE[number % len(PALETTE)]
    fill = {"markeredgecolor": "white", "markeredgewidth": 0.6}
    hollow = {"markerfacecolor": "white", "markeredgecolor": colour, "markeredgewidth": 1.2}
    marker = {"marker": MARKERS[number % len(MARKERS)], "markersize": 6, "linestyle": "none"}
    return {"color": colour, **marker, **(fill if sure else hollow)}
