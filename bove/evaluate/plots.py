"""Figures without a display, as bytes: the same data give the same SVG and the same PNG.

Colours are those of Okabe and Ito, which colour-blind readers tell apart; what a colour says, a marker or a
line style says too, so that a grey print loses nothing. Text in the SVG stays text: smaller than outlines of
glyphs, to be searched and copied, and no byte of it depends on a font file's outlines.
"""

import io
import math
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from bove.errors import BoveError
from bove.evaluate.results import Scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLACK, ORANGE, SKY, GREEN = "#000000", "#e69f00", "#56b4e9", "#009e73"
YELLOW, BLUE, VERMILION, PURPLE = "#f0e442", "#0072b2", "#d55e00", "#cc79a7"
# Yellow comes last: it is hard to see on white.
PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK, YELLOW)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)))
TERM_LOOKS = (6, 4, 5, 3)  # colour, marker and dashes of the terms: others than those of the first runs
GREY, PALE = "#666666", "#dddddd"
LARGE_RANGE = 30.0  # from this ratio of the largest value to the smallest on, an axis is logarithmic
WIDTH, CHARACTER = 7.2, 0.07  # inches: of the curves' figure, and of a character
NAME_WIDTH, TITLE_WIDTH, PANELS_ACROSS, RUNS_ACROSS = 30, 26, 4, 3

_STYLE = {
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-4, 6),
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "savefig.dpi": 150,
    "svg.fonttype": "none",
    "svg.hashsalt": "bove",
}
# Each writer adds its own version, and SVG the date, unless told not to.
_METADATA = {"svg": dict.fromkeys(("Date", "Creator")), "png": {"Software": None}}


@dataclass(frozen=True)
class Panel:
    """One measure of every variant.

    Attributes:
        title, unit: above the panel and at its x-axis.
        values: of each variant that has one.
        remarks: what stands instead of a dot, for variants without a value to show.
    """

    title: str
    unit: str
    values: Mapping[str, float]
    remarks: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Curve:
    """A run's L: seconds and total of each round, and each term by its name; None where there is none."""

    name: str
    rounds: Sequence[int]
    seconds: Sequence[float]
    total: Sequence[float]
    terms: Mapping[str, Sequence[float | None]]


@contextmanager
def plot_style() -> Iterator[None]:
    """Within the block figures have this project's style, whatever the user's own settings are.

    Raises BoveError where Matplotlib is not installed.
    """
    try:
        import matplotlib
    except ImportError as e:
        raise BoveError("figures need Matplotlib; install it with: pip install 'bove[plots]'") from e
    defaults = {key: value for key, value in matplotlib.rcParamsDefault.items() if "backend" not in key}
    with matplotlib.rc_context(defaults | _STYLE):
        yield


def figure_files(draw: Callable[..., "Figure"], *args) -> dict[str, bytes]:
    """The figure that draw(*args) makes, as {"svg": bytes, "png": bytes}."""
    files = {}
    with plot_style():
        figure = draw(*args)
        for kind, metadata in _METADATA.items():
            stream = io.BytesIO()
            figure.savefig(stream, format=kind, metadata=metadata)
            files[kind] = stream.getvalue()
    return files


def draw_ablations(panels: Sequence[Panel], variants: Sequence[str], base: str) -> "Figure":
    """Dots on horizontal rows, a row a variant in the given order, a panel a measure.

    The base is a vertical line; x-axes span the values alone and do not start at 0.
    """
    from matplotlib.figure import Figure

    labels = [as_it_is(name, NAME_WIDTH) for name in variants]
    lines = [line for label in labels for line in label.split("\n")]
    across = min(len(panels), PANELS_ACROSS)
    down = math.ceil(len(panels) / across)
    width = 0.6 + CHARACTER * max(map(len, lines)) + 2.0 * max(across, 2)
    figure = Figure(figsize=(width, 0.5 + down * (1.1 + 0.24 * len(lines))), layout="constrained")
    grid = figure.subplots(down, across, sharey=True, squeeze=False)
    for axes, panel in zip(grid.flat, panels, strict=False):
        _dots(axes, panel, variants, base)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    grid[0, 0].set_yticks(range(len(variants)), labels)
    grid[0, 0].set_ylim(len(variants) - 0.4, -0.6)
    shared_legend(figure, grid.flat, width)
    return figure


def draw_training(curves: Sequence[Curve]) -> "Figure":
    """L against seconds, all runs in one panel, and below it L by term over rounds, a panel a run."""
    from matplotlib.figure import Figure

    across = min(len(curves), RUNS_ACROSS)
    down = math.ceil(len(curves) / across)
    lines = sum(
        1 + len(curve.name) // NAME_WIDTH for curve in curves
    )  # of the legend, in two columns or more
    heights = [2.9 + 0.1 * lines, 0.4 + 2.2 * down]
    figure = Figure(figsize=(WIDTH, sum(heights)), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=heights)
    _totals(top.subplots(), curves)
    shared_legend(top, top.axes, WIDTH)
    grid = bottom.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    _terms(grid, curves)
    shared_legend(bottom, grid.flat, WIDTH)
    return figure


def _dots(axes: "Axes", panel: Panel, variants, base) -> None:
    from matplotlib.ticker import MaxNLocator

    values, middle = panel.values, panel.values.get(base)
    dot = {"linestyle": "none", "markersize": 6.5}
    axes.set_title("\n".join(as_it_is(line, TITLE_WIDTH) for line in panel.title.split("\n")))
    axes.set_xlabel(panel.unit)
    axes.grid(axis="y", color=PALE, linewidth=0.6)
    axes.tick_params(axis="y", length=0)
    if middle is not None:
        axes.axvline(middle, color=BLACK, linewidth=1)
    for y, name in enumerate(variants):
        if name in values:
            value = values[name]
            start = value if middle is None else middle
            axes.plot([start, value], [y, y], color=GREY, linewidth=1)
            axes.plot([value], [y], **dot, **_dot(value, middle, name == base))
        elif name in panel.remarks:
            axes.text(
                0.5, y, panel.remarks[name], transform=axes.get_yaxis_transform(), ha="center", va="center",
                style="italic", color=GREY, backgroundcolor="white", fontsize=8,
            )  # fmt: skip
    low, high = min(values.values(), default=0.0), max(values.values(), default=1.0)
    margin = 0.1 * (high - low) or 0.01 * max(abs(low), 0.1)
    axes.set_xlim(low - margin, high + margin)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=3))
    if not values:
        axes.set_xticks([])


def _dot(value: float, middle: float | None, is_base: bool) -> dict:
    """Marker and colour: on which side of the base a value lies can be seen without the line."""
    if is_base:
        return {"marker": "D", "color": BLACK, "label": "the base"}
    if middle is None:
        return {"marker": "s", "color": GREY, "label": "the base has no value"}
    if value == middle:
        return {"marker": "s", "color": GREY, "label": "equal to the base"}
    if value > middle:
        return {"marker": "o", "color": BLUE, "label": "above the base"}
    return {"marker": "o", "color": VERMILION, "markerfacecolor": "white", "label": "below the base"}


def shared_legend(figure, grid: Sequence["Axes"], width: float, place: str = "outside lower center") -> None:
    """One legend for all panels, with every label once, in as many columns as the width in inches has."""
    handles = {}
    for axes in grid:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    longest = max((len(line) for name in handles for line in name.split("\n")), default=0)
    columns = max(1, min(len(handles), int(width / (0.6 + CHARACTER * longest))))
    figure.legend(handles.values(), handles.keys(), loc=place, ncols=columns)


def _totals(axes: "Axes", curves: Sequence[Curve]) -> None:
    for c, curve in enumerate(curves):
        _line(axes, curve.seconds, curve.total, c, as_it_is(curve.name, NAME_WIDTH))
    axes.set_title("L, all terms together")
    axes.set_xlabel("seconds since training began (measured: another run takes other times)")
    axes.set_ylabel("L")
    axes.set_yscale(_scale([value for curve in curves for value in curve.total]))
    axes.set_xscale(_scale([curve.seconds[-1] for curve in curves]))


def _terms(grid, curves: Sequence[Curve]) -> None:
    from matplotlib.ticker import MaxNLocator

    names = list(dict.fromkeys(name for curve in curves for name in curve.terms))
    scale = _scale([x for curve in curves for row in curve.terms.values() for x in row if x])
    for axes, curve in zip(grid.flat, curves, strict=False):
        for c, name in enumerate(names):
            if name in curve.terms:
                shown = [x is not None and (x != 0 or scale == "linear") for x in curve.terms[name]]
                rounds, row = compress(curve.rounds, shown), compress(curve.terms[name], shown)
                _line(axes, [*rounds], [*row], TERM_LOOKS[c % len(TERM_LOOKS)], name)
        axes.set_title(as_it_is(curve.name, TITLE_WIDTH))
        axes.set_yscale(scale)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=4, integer=True, steps=[1, 2, 5, 10]))
    for axes in grid.flat[len(curves) :]:
        axes.set_axis_off()
    for axes in grid.flat[max(0, len(curves) - grid.shape[1]) : len(curves)]:
        axes.set_xlabel("round")
        axes.tick_params(labelbottom=True)
    for axes in grid[:, 0]:
        axes.set_ylabel("terms of L")


def as_it_is(name: str, width: int) -> str:
    """A name broken into lines, in which Matplotlib finds no formula and nothing to hide from a legend."""
    name = textwrap.fill(name, width).replace("$", r"\$")
    return f" {name}" if name.startswith("_") else name


def _line(axes: "Axes", x, y, number: int, label: str) -> None:
    """A curve in the number's colour, marker and dashes, with a dozen markers at most."""
    axes.plot(
        x, y, color=PALETTE[number % len(PALETTE)], marker=MARKERS[number % len(MARKERS)],
        linestyle=DASHES[number % len(DASHES)], markevery=math.ceil(len(x) / 12) or 1, label=label,
    )  # fmt: skip


def _scale(values: Sequence[float]) -> str:
    """ "log" where all values are positive and far apart."""
    return "log" if values and min(values) > 0 and max(values) / min(values) > LARGE_RANGE else "linear"


# Figures of results: every system's value on every subset, or difference from others, with its interval.

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


# Figures of scores: how each system's scores lie for each gold label or range of gold scores.

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Labels that come first, in this order; others follow by name.
LABEL_ORDER = ("entailment", "neutral", "contradiction")
MOST_BINS, FEW_BINS = 10, 5  # ranges of gold scores: one wide each, or a few where that were too many
SYSTEMS_ACROSS, SCORE_LABEL_WIDTH = 3, 16
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
    return [
        f"{as_it_is(name, SCORE_LABEL_WIDTH)}\n({n})" for name, n in zip(groups.names, counts, strict=True)
    ]


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


# Figures of a model and of inference: singular values of relations, iterations by length of sentence.

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RELATIONS_ACROSS, DATASETS_ACROSS = 6, 2
DECADES = 6  # of singular values that are shown; what is below belongs to rounding
MOST_CELLS = 40  # on either side of a map of counts


@dataclass(frozen=True)
class Spectrum:
    """A relation's singular values, largest first, and their effective rank."""

    name: str
    values: np.ndarray
    effective_rank: float


@dataclass(frozen=True)
class Iterations:
    """Inference of n sentences: [n] tokens, [n] iterations, and [n] whether their vectors still moved."""

    tokens: np.ndarray
    iterations: np.ndarray
    moving: np.ndarray


def draw_spectra(spectra: Sequence[Spectrum]) -> "Figure":
    """A small panel a relation on shared axes: singular values on a logarithmic scale, and effective rank.

    The layout is made by hand, which takes a tenth of the time that one computed for dozens of panels takes.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator, NullLocator

    across = max(3, min(len(spectra), RELATIONS_ACROSS))
    down = max(1, math.ceil(len(spectra) / across))
    width, height = 0.9 + 1.45 * across, 0.9 + 1.3 * down
    figure = Figure(figsize=(width, height))
    edges = {"left": 0.75 / width, "right": 1 - 0.15 / width, "bottom": 0.5 / height, "top": 1 - 0.6 / height}
    grid = figure.subplots(
        down, across, sharex=True, sharey=True, squeeze=False,
        gridspec_kw={**edges, "wspace": 0.2, "hspace": 0.45},
    )  # fmt: skip
    top = max((s.values[0] for s in spectra if len(s.values)), default=0.0)
    if top > 0:
        grid[0, 0].set_yscale("log")
        grid[0, 0].set_ylim(top * 10.0**-DECADES, top * 2)
        grid[0, 0].yaxis.set_minor_locator(NullLocator())
    grid[0, 0].set_xlim(0, max((len(s.values) for s in spectra), default=1) + 1)
    grid[0, 0].xaxis.set_major_locator(MaxNLocator(nbins=3, integer=True))
    for axes, spectrum in zip(grid.flat, spectra, strict=False):
        _spectrum(axes, spectrum)
    for axes in grid.flat[len(spectra) :]:
        axes.set_axis_off()
    for axes in grid.flat[max(0, len(spectra) - across) : len(spectra)]:
        axes.tick_params(labelbottom=True)
    middle = 0.5 * (edges["left"] + edges["right"])
    figure.supxlabel("number of the singular value", fontsize=9, x=middle, y=0.06 / height, va="bottom")
    figure.supylabel("singular value", fontsize=9, x=0.06 / width)
    shared_legend(figure, grid.flat, width, "upper center")
    return figure


def _spectrum(axes: "Axes", spectrum: Spectrum) -> None:
    values, rank = spectrum.values, spectrum.effective_rank
    shown = np.flatnonzero(values > 0)
    axes.grid(color=PALE, linewidth=0.6)
    axes.set_title(f"{as_it_is(spectrum.name, 20)}: {rank:.1f}", fontsize=8)
    axes.tick_params(labelsize=8)
    if not len(shown):
        axes.text(0.5, 0.5, "all are 0", transform=axes.transAxes, ha="center", color=GREY, fontsize=8)
        return
    axes.plot(shown + 1, values[shown], color=BLUE, label="singular values")
    axes.axvline(
        rank, color=VERMILION, linestyle="--", linewidth=1.1, label="effective rank (beside the name)"
    )


def draw_iterations(runs: Mapping[str, Iterations], most: int | None = None) -> "Figure":
    """A panel a data set: a map of how many sentences of a length took how many iterations, and their mean.

    Args:
        runs: by the data set's name in print.
        most: iterations that were allowed, drawn as a line where a panel reaches it.
    """
    from matplotlib.colors import LogNorm
    from matplotlib.figure import Figure

    across = max(1, min(len(runs), DATASETS_ACROSS))
    down = max(1, math.ceil(len(runs) / across))
    figure = Figure(figsize=(1.4 + 3.6 * across, 0.7 + 2.9 * down), layout="constrained")
    grid = figure.subplots(down, across, squeeze=False)
    maps = {name: _map(run) for name, run in runs.items() if len(run.tokens)}
    norm = LogNorm(1, max((counts.max() for _, _, counts in maps.values()), default=2) + 1)
    mesh = None
    for axes, (name, run) in zip(grid.flat, runs.items(), strict=False):
        axes.set_title(as_it_is(name, 2 * TITLE_WIDTH))
        axes.set_xlabel("tokens of the sentence")
        if name in maps:
            across_edges, up_edges, counts = maps[name]
            shown = np.ma.masked_equal(counts.T, 0)
            mesh = axes.pcolormesh(across_edges, up_edges, shown, cmap="cividis_r", norm=norm)
            _means(axes, run, most)
        else:
            axes.text(0.5, 0.5, "no sentences", transform=axes.transAxes, ha="center", color=GREY)
    for axes in grid.flat[len(runs) :]:
        axes.set_axis_off()
    for axes in grid[:, 0]:
        axes.set_ylabel("iterations")
    if mesh is not None:
        figure.colorbar(mesh, ax=grid, label="sentences", format="%g", aspect=30)
    shared_legend(figure, grid.flat, figure.get_figwidth())
    return figure


def _map(run: Iterations) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges across and up, and counts [across, up] of sentences by tokens and iterations."""
    edges = []
    for values in (run.tokens, run.iterations):
        low, high = int(values.min()), int(values.max())
        step = math.ceil((high - low + 1) / MOST_CELLS)
        edges.append(np.arange(low, high + step + 1, step) - 0.5)
    counts, *_ = np.histogram2d(run.tokens, run.iterations, bins=edges)
    return edges[0], edges[1], counts


def _means(axes: "Axes", run: Iterations, most: int | None) -> None:
    lengths = np.unique(run.tokens)
    means = [run.iterations[run.tokens == length].mean() for length in lengths]
    axes.plot(lengths, means, color=BLACK, linewidth=1.2, marker=".", label="mean of a length")
    moving = np.flatnonzero(run.moving)
    if len(moving):
        axes.plot(
            run.tokens[moving], run.iterations[moving], "x", color=VERMILION, markersize=5,
            linestyle="none", label="vectors still moved at the end",
        )  # fmt: skip
    if most is not None and run.iterations.max() >= most:
        axes.axhline(most, color=VERMILION, linestyle="--", linewidth=1.1, label="iterations allowed")
