"""Figures of scores: how each system's scores lie for each gold label or range of gold scores."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bove.evaluate.plots import BLACK, CHARACTER, GREY, PALE, PALETTE, TITLE_WIDTH, as_it_is
from bove.evaluate.scores import Scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Labels that come first, in this order; others follow by name.
LABEL_ORDER = ("entailment", "neutral", "contradiction")
MOST_BINS, FEW_BINS = 10, 5  # ranges of gold scores: one wide each, or a few where that were too many
SYSTEMS_ACROSS, LABEL_WIDTH = 3, 16
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---", "+++")
FORMULAS = {"similarity": "STS(S1, S2)", "entailment": "SNLI(S1, S2)"}
GOLD = {"similarity": "gold score", "entailment": "gold label"}


@dataclass(frozen=True)
class Groups:
    """The scored pairs of a data set by their gold.

    Attributes:
        task: of the data set.
        names: of the groups, in order.
        values: of each system, the scores of each group.
    """

    task: str
    names: tuple[str, ...]
    values: Mapping[str, tuple[np.ndarray, ...]]


def by_gold(scores: Scores) -> Groups:
    """Scores by label (entailment), or by ranges of the gold score (similarity), empty ranges left out.

    Ranges are one wide, or a few of one width where the scores span more than ten; the last one has its end.
    """
    chosen = np.flatnonzero(scores.scored)
    gold = [scores.gold[p] for p in chosen]
    if scores.task == "similarity":
        names, member = _ranges(np.array(gold, np.float64))
    else:
        names = in_order(gold)
        member = np.array([names.index(label) for label in gold], np.int64)
    kept = [g for g in range(len(names)) if np.any(member == g)]
    values = {
        system: tuple(column[chosen[member == g]] for g in kept) for system, column in scores.values.items()
    }
    return Groups(scores.task, tuple(names[g] for g in kept), values)


def in_order(labels: Iterable[str]) -> list[str]:
    """The distinct labels: from entailment to contradiction, then others by name."""
    found = set(labels)
    return [label for label in LABEL_ORDER if label in found] + sorted(found - set(LABEL_ORDER))


def _ranges(gold: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Names of the ranges, and the range of each score."""
    if not len(gold):
        return [], np.zeros(0, np.int64)
    low, high = math.floor(gold.min()), math.ceil(gold.max())
    edges = np.linspace(low, high, (high - low if high - low <= MOST_BINS else FEW_BINS) + 1)
    if len(edges) < 2:
        return [f"{low:g}"], np.zeros(len(gold), np.int64)
    member = np.clip(np.searchsorted(edges, gold, side="right") - 1, 0, len(edges) - 2)
    return [f"{a:g} to {b:g}" for a, b in zip(edges, edges[1:], strict=False)], member


def draw_distributions(groups: Groups) -> "Figure":
    """A panel a system: for each group the density of its scores, their quartiles and their median."""
    from matplotlib.figure import Figure

    systems, names = list(groups.values), _names(groups)
    across = min(len(systems), SYSTEMS_ACROSS)
    down = math.ceil(len(systems) / across)
    longest = max((len(line) for name in names for line in name.split("\n")), default=0)
    width = max(1.9, (0.15 + CHARACTER * longest) * len(names))
    figure = Figure(figsize=(0.6 + across * width, 0.5 + 2.7 * down), layout="constrained")
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for axes, system in zip(grid.flat, systems, strict=False):
        axes.set_title(as_it_is(system, TITLE_WIDTH))
        axes.tick_params(labelbottom=True)
        _densities(axes, groups.values[system])
    for axes in grid.flat[len(systems) :]:
        axes.set_axis_off()
    grid[0, 0].set_xticks(range(1, len(names) + 1), names)
    for axes in grid[:, 0]:
        axes.set_ylabel(FORMULAS[groups.task])
    figure.supxlabel(f"{GOLD[groups.task]}, and in brackets its pairs", fontsize=9)
    return figure


def _names(groups: Groups) -> list[str]:
    """Names of the groups in print, each with its number of pairs."""
    counts = [len(values) for values in next(iter(groups.values.values()), ())]
    return [f"{as_it_is(name, LABEL_WIDTH)}\n({n})" for name, n in zip(groups.names, counts, strict=True)]


def _densities(axes: "Axes", groups: Sequence[np.ndarray]) -> None:
    axes.grid(axis="y", color=PALE, linewidth=0.6)
    axes.tick_params(axis="x", length=0)
    if not groups:
        axes.text(0.5, 0.5, "no pair has gold", transform=axes.transAxes, ha="center", color=GREY)
    for g, values in enumerate(groups):
        if len(values) > 1 and np.ptp(values) > 0:
            drawn = axes.violinplot([values], [g + 1], widths=0.85, showextrema=False)
            for body in drawn["bodies"]:
                body.set(facecolor=PALETTE[g % len(PALETTE)], edgecolor=GREY, alpha=0.45, linewidth=0.8)
                body.set_hatch(HATCHES[g % len(HATCHES)])
        low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
        axes.plot([g + 1, g + 1], [low, high], color=BLACK, linewidth=3.5, solid_capstyle="butt")
        axes.plot([g + 1], [middle], "o", color="white", markeredgecolor=BLACK, markersize=5)
