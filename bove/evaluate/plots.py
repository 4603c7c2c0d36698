"""Figures without a display, as bytes: the same data give the same SVG and the same PNG.

Colours are those of Okabe and Ito, which colour-blind readers can tell apart. A marker or a line style says
the same as the colour, so that a grey print loses nothing. Text in the SVG stays text: it can be searched and
copied, and does not depend on a font file's outlines.
"""

import io
import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from bove.evaluate.comparisons import Panel
from bove.evaluate.metrics import in_order
from bove.evaluate.results import AGGREGATES, Scores
from bove.evaluate.training_log import Curve
from bove.factor.model import effective_rank

BLACK, ORANGE, SKY, GREEN = "#000000", "#e69f00", "#56b4e9", "#009e73"
YELLOW, BLUE, VERMILION, PURPLE = "#f0e442", "#0072b2", "#d55e00", "#cc79a7"
# Yellow comes last: it is hard to see on white.
PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK, YELLOW)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)))
GREY, PALE = "#666666", "#dddddd"
_STYLE = {
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-4, 6),
    "figure.constrained_layout.use": True,
    "figure.labelsize": 9.0,
    "grid.color": PALE,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "savefig.dpi": 150,
    "svg.fonttype": "none",
    "svg.hashsalt": "bove",
}
# Each writer adds its own version, and SVG the date, unless they are set to None.
_METADATA = {"svg": dict.fromkeys(("Date", "Creator")), "png": {"Software": None}}


def plot_style():
    """Context in which figures have this project's style, whatever the user's own settings are."""
    defaults = {key: value for key, value in matplotlib.rcParamsDefault.items() if "backend" not in key}
    return matplotlib.rc_context(defaults | _STYLE)


def figure_files(name: str, draw: Callable[..., Figure], *args) -> dict[str, bytes]:
    """The figure that draw(*args) makes, as {"NAME.svg": bytes, "NAME.png": bytes}."""
    files = {}
    with plot_style():
        figure = draw(*args)
        figure.draw_without_rendering()  # the layout is computed once, for both files
        figure.set_layout_engine("none")
        for kind, metadata in _METADATA.items():
            stream = io.BytesIO()
            figure.savefig(stream, format=kind, metadata=metadata)
            files[f"{name}.{kind}"] = stream.getvalue()
    return files


def as_it_is(text: str, width: int, indent: str = "") -> str:
    """Text broken into lines, in which Matplotlib finds no formula and nothing to hide from a legend.

    Args:
        width: characters of a line, at most. indent: before lines that go on with another one.
    """
    lines = [textwrap.fill(line, width, subsequent_indent=indent) for line in text.split("\n")]
    shown = "\n".join(lines).replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def shared_legend(figure: Figure, panels: Iterable[Axes], side: str = "lower") -> None:
    """One legend outside of all panels: every label once, in as many columns as there is room for."""
    handles = {}
    for axes in panels:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    longest = max((len(line) for name in handles for line in name.split("\n")), default=0)
    columns = max(1, min(len(handles), int(figure.bbox.width / figure.dpi / (0.6 + 0.07 * longest))))
    figure.legend(handles.values(), handles.keys(), loc=f"outside {side} center", ncols=columns)


def _panels(count: int, across: int, width: float, height: float, figure=None, **shared):
    """A figure of `count` panels of a size in inches, in rows of at most `across`, and the panels.

    The lowest panel of each column has tick labels at its x-axis.
    """
    across = max(1, min(count, across))
    down = max(1, math.ceil(count / across))
    figure = figure or Figure((0.8 + across * width, 0.7 + down * height))
    grid = figure.subplots(down, across, squeeze=False, **shared).flat
    for axes in grid[count:]:
        axes.set_axis_off()
    for axes in grid[max(0, count - across) : count]:
        axes.tick_params(labelbottom=True)
    return figure, grid[:count]


def _note(axes: Axes, text: str, row: float | None = None) -> None:
    """Text where there is nothing to draw, in the middle of a panel or of one of its rows."""
    y, middle = (0.5, axes.transAxes) if row is None else (row, axes.get_yaxis_transform())
    look = {"style": "italic", "color": GREY, "backgroundcolor": "white", "fontsize": 8}
    axes.text(0.5, y, text, transform=middle, ha="center", va="center", **look)


def _look(number: int) -> dict:
    return {"color": PALETTE[number % len(PALETTE)], "marker": MARKERS[number % len(MARKERS)]}


# --- bove ablations: variants of a run against a base

# The side of the base is visible without the line.
_DOTS = {
    "the base": {"marker": "D", "color": BLACK},
    "above the base": {"marker": "o", "color": BLUE},
    "below the base": {"marker": "o", "color": VERMILION, "markerfacecolor": "white"},
    "equal to the base": {"marker": "s", "color": GREY},
    "the base has no value": {"marker": "s", "color": GREY},
}


def draw_ablations(panels: Sequence[Panel], variants: Sequence[str], base: str) -> Figure:
    """One panel per measure, one row per variant in the given order, a dot for each value.

    The base is a vertical line; x-axes span the values alone and do not start at 0.
    """
    labels = [as_it_is(name, 30) for name in variants]
    height = 1.1 + 0.24 * sum(1 + label.count("\n") for label in labels)
    figure, grid = _panels(len(panels), 4, 5 if len(panels) == 1 else 2.5, height, sharey=True)
    for axes, panel in zip(grid, panels, strict=True):
        _dots(axes, panel, variants, base)
    grid[0].set_yticks(range(len(variants)), labels)
    grid[0].set_ylim(len(variants) - 0.4, -0.6)
    shared_legend(figure, grid)
    return figure


def _dots(axes: Axes, panel: Panel, variants: Sequence[str], base: str) -> None:
    middle = panel.values.get(base)
    axes.set(title=as_it_is(panel.title, 26), xlabel=panel.unit)
    axes.grid(axis="y")
    if middle is not None:
        axes.axvline(middle, color=BLACK, linewidth=1)
    for y, name in enumerate(variants):
        if name not in panel.values:
            _note(axes, panel.remarks.get(name, ""), y)
            continue
        value = panel.values[name]
        if middle is None or name == base:
            side = "the base has no value" if middle is None else "the base"
        else:
            side = f"{('equal to', 'above', 'below')[int(np.sign(value - middle))]} the base"
        axes.plot([value if middle is None else middle, value], [y, y], color=GREY, linewidth=1)
        axes.plot([value], [y], linestyle="none", markersize=6.5, label=side, **_DOTS[side])
    axes.margins(x=0.1)
    axes.locator_params(axis="x", nbins=3)
    if not panel.values:
        axes.set_xticks([])


# --- bove training: how L fell

LARGE_RANGE = 30.0  # from this ratio of the largest value to the smallest on, an axis is logarithmic
FEWEST = 3  # rounds of a curve
_FEW = f"fewer than {FEWEST} rounds: see the table"
TERM_LOOKS = (6, 4, 5, 3)  # looks of the terms: others than those of the first runs


def draw_training(curves: Sequence[Curve]) -> Figure:
    """L against seconds, all runs in one panel, and below it L by term over rounds, one panel per run.

    A curve of fewer rounds than FEWEST is left to the table.
    """
    heights = [2.9 + 0.15 * len(curves), 0.4 + 2.2 * math.ceil(len(curves) / 3)]
    figure = Figure((7.2, sum(heights)))
    top, bottom = figure.subfigures(2, 1, height_ratios=heights)
    axes = top.subplots()
    drawn = [(c, curve) for c, curve in enumerate(curves) if len(curve.rounds) >= FEWEST]
    for c, curve in drawn:
        _line(axes, curve.seconds, curve.total, c, as_it_is(curve.name, 30))
    seconds = "seconds since training began (measured: another run takes other times)"
    axes.set(title="L, all terms together", xlabel=seconds, ylabel="L")
    axes.set_yscale(_scale([value for _, curve in drawn for value in curve.total]))
    axes.set_xscale(_scale([curve.seconds[-1] for _, curve in drawn]))
    if not drawn:
        _note(axes, _FEW)
    shared_legend(top, [axes])
    _, panels = _panels(len(curves), 3, 0, 0, bottom, sharex=True, sharey=True)
    names = list(dict.fromkeys(name for curve in curves for name in curve.terms))
    scale = _scale([x for _, curve in drawn for row in curve.terms.values() for x in row if x])
    for axes, curve in zip(panels, curves, strict=True):
        if len(curve.rounds) < FEWEST:
            _note(axes, _FEW)
        for name, row in curve.terms.items() if len(curve.rounds) >= FEWEST else ():
            shown = [i for i, x in enumerate(row) if x is not None and (x != 0 or scale == "linear")]
            rounds, values = [curve.rounds[i] for i in shown], [row[i] for i in shown]
            _line(axes, rounds, values, TERM_LOOKS[names.index(name) % len(TERM_LOOKS)], name)
        axes.set(title=as_it_is(curve.name, 26), yscale=scale, xlabel="round")
        axes.xaxis.get_major_locator().set_params(nbins=4, integer=True, steps=[1, 2, 5, 10])
    bottom.supylabel("terms of L")
    shared_legend(bottom, panels)
    return figure


def _line(axes: Axes, x: Sequence, y: Sequence, number: int, label: str) -> None:
    """A curve in the number's look, with a dozen markers at most."""
    dashes, every = DASHES[number % len(DASHES)], math.ceil(len(x) / 12) or 1
    axes.plot(x, y, linestyle=dashes, markevery=every, label=label, **_look(number))


def _scale(values: Sequence[float]) -> str:
    """ "log" where all values are positive and far apart."""
    return "log" if values and min(values) > 0 and max(values) / min(values) > LARGE_RANGE else "linear"


# --- bove figures results: every system on every subset, or its difference from others, with intervals


@dataclass(frozen=True)
class Value:
    """A system's value on a row, None where undefined, and the ends of its interval, None without one.

    One that is not sure is drawn as a hollow marker.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    sure: bool = True


Rows = Mapping[str, Mapping[str, Value]]  # results of a data set: of each subset, by system


def draw_results(
    datasets: Sequence[tuple[str, Rows]], systems: Sequence[str], unit: str, zero: bool = False
) -> Figure:
    """One panel per data set, one row per subset: the systems' values with their intervals.

    Means and the like stand below a line. The x-axis spans the values alone and does not start at 0.

    Args:
        datasets: title and results of each.
        zero: values are differences: a line marks 0.
    """
    row = max(0.42, 0.13 * len(systems))  # inches
    heights = [max(len(rows), 1) * row + 0.35 for _, rows in datasets] or [1]
    figure = Figure((7.4, 1.0 + sum(heights)))
    panels = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    for axes, (title, rows) in zip(panels, datasets, strict=False):
        axes.set_title(as_it_is(title, 60))
        _rows(axes, rows, systems, zero)
    for s, system in enumerate(systems):  # the legend has filled markers alone
        panels[0].plot([], [], label=as_it_is(system, 44), **_marker(s))
    if not datasets:
        panels[0].set_axis_off()
        _note(panels[0], "nothing to compare" if zero else "no data set of this task")
    panels[-1].set_xlabel(unit)
    shared_legend(figure, panels)
    return figure


def _rows(axes: Axes, rows: Rows, systems: Sequence[str], zero: bool) -> None:
    n_subsets, last = sum(name not in AGGREGATES for name in rows), len(systems) - 1
    if zero:
        axes.axvline(0, color=BLACK, linewidth=1)
    if 0 < n_subsets < len(rows):
        axes.axhline(n_subsets - 0.5, color=GREY, linewidth=0.8, linestyle=":")
    for y, values in enumerate(rows.values()):
        shown = [
            (s, y + (0.55 * (s / last - 0.5) if last else 0), values[system])
            for s, system in enumerate(systems)
            if system in values and values[system].value is not None
        ]
        if not shown:
            _note(axes, "undefined", y)
        for s, at, value in shown:
            if value.low is not None and value.high is not None:
                axes.hlines(at, value.low, value.high, color=_look(s)["color"], linewidth=2.2, alpha=0.5)
            axes.plot([value.value], [at], **_marker(s, value.sure))
    axes.set_yticks(range(len(rows)), [as_it_is(name, 30) for name in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(axis="x")
    axes.tick_params(labelbottom=True)


def _marker(number: int, sure: bool = True) -> dict:
    """Look of a system's values."""
    look = {**_look(number), "markersize": 6, "linestyle": "none"}
    if sure:
        return {**look, "markeredgecolor": "white", "markeredgewidth": 0.6}
    return {**look, "markerfacecolor": "white", "markeredgewidth": 1.2}


# --- bove figures scores: the distribution of each system's scores by gold label or score

MOST_BINS, FEW_BINS = 10, 5  # ranges of gold scores: one wide each, or a few where that were too many
AXES = {
    "similarity": ("gold score", "STS(S1, S2)"),
    "entailment": ("gold label", "SNLI(S1, S2)"),
    "roles": ("made of", "SNLI(S1, S2) - SNLI(S1, S3)"),
}


def by_gold(scores: Scores) -> dict[str, dict[str, np.ndarray]]:
    """Each system's scores by range of the gold score, by label, or by subset (roles), without empty ones.

    Ranges are one wide, or a few of one width where the scores span more than ten; the last one has its end.
    """
    chosen = np.flatnonzero(scores.scored)
    gold = [(scores.subsets if scores.task == "roles" else scores.gold)[p] for p in chosen]
    if scores.task == "similarity":
        names, member = _ranges(np.array(gold, np.float64))
    else:
        names = in_order(gold)
        member = np.array([names.index(label) for label in gold], np.int64)
    return {
        system: {names[g]: column[chosen[member == g]] for g in np.unique(member)}
        for system, column in scores.values.items()
    }


def _ranges(gold: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Names of the ranges, and the range of each score."""
    low, high = (math.floor(gold.min()), math.ceil(gold.max())) if len(gold) else (0, 0)
    if low == high:
        return [f"{low:g}"], np.zeros(len(gold), np.int64)
    edges = np.linspace(low, high, (high - low if high - low <= MOST_BINS else FEW_BINS) + 1)
    names = [f"{a:g} to {b:g}" for a, b in zip(edges, edges[1:], strict=False)]
    return names, np.searchsorted(edges[1:-1], gold, side="right")


def draw_distributions(groups: Mapping[str, Mapping[str, np.ndarray]], task: str) -> Figure:
    """One panel per system: for each group of `by_gold` the density of scores, their quartiles and median."""
    sizes = {name: len(values) for of_system in groups.values() for name, values in of_system.items()}
    labels = [f"{as_it_is(name, 16)}\n({size})" for name, size in sizes.items()]
    width = max(1.9, (0.15 + 0.07 * min(16, max(map(len, sizes), default=0))) * len(sizes))
    figure, panels = _panels(len(groups), 3, width, 2.7, sharex=True, sharey=True)
    for axes, (system, of_system) in zip(panels, groups.items(), strict=True):
        axes.set_title(as_it_is(system, 26))
        axes.grid(axis="y")
        if not sizes:
            _note(axes, "no pair has gold")
        for x, values in enumerate(of_system.values()):
            if np.ptp(values) > 0:
                violin = axes.violinplot([values], [x], widths=0.85, showextrema=False)
                violin["bodies"][0].set(facecolor=_look(x)["color"], edgecolor=GREY, alpha=0.45)
            low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
            axes.vlines(x, low, high, color=BLACK, linewidth=3.5)
            axes.plot([x], [middle], "o", color="white", markeredgecolor=BLACK, markersize=5)
    panels[0].set_xticks(range(len(labels)), labels)
    figure.supxlabel(f"{AXES[task][0]}, and in brackets its pairs")
    figure.supylabel(AXES[task][1])
    return figure


# --- bove figures relations: singular values of the relation matrices

DECADES = 6  # of singular values that are shown; what is below belongs to rounding


def draw_spectra(spectra: Mapping[str, np.ndarray]) -> Figure:
    """One small panel per relation on shared axes: singular values, largest first, and effective rank."""
    figure, panels = _panels(len(spectra), 6, 1.45, 1.3, sharex=True, sharey=True)
    for axes, (name, values) in zip(panels, spectra.items(), strict=True):
        shown, rank = np.flatnonzero(values > 0), effective_rank(values)
        axes.grid()
        axes.tick_params(labelsize=8)
        axes.set_title(f"{as_it_is(name, 20)}: {rank:.1f}", fontsize=8)
        if len(shown):
            axes.plot(shown + 1, values[shown], color=BLUE, label="singular values")
            axes.axvline(rank, color=VERMILION, ls="--", lw=1.1, label="effective rank (beside the name)")
        else:
            _note(axes, "all are 0")
    panels[0].set_xlim(0, max(map(len, spectra.values())) + 1)
    panels[0].locator_params(axis="x", nbins=3, integer=True)
    top = max(values.max(initial=0) for values in spectra.values())
    if top > 0:
        panels[0].set(yscale="log", ylim=(top * 10.0**-DECADES, top * 2))
        panels[0].minorticks_off()
    figure.supxlabel("number of the singular value")
    figure.supylabel("singular value")
    shared_legend(figure, panels, "upper")
    return figure


# --- bove figures iterations: iterations of inference by length of sentence

MOST_CELLS = 40  # on either side of a map of counts


def draw_iterations(runs: Mapping[str, Sequence[np.ndarray]], most: int | None = None) -> Figure:
    """One panel per data set: a map of how many sentences of a length took how many iterations, their mean.

    Args:
        runs: [n] tokens and [n] iterations of sentences, and [n] whether they still moved at the end.
        most: iterations that were allowed, drawn as a line where a panel reaches it.
    """
    figure, panels = _panels(len(runs), 2, 3.9, 2.9)
    maps = []
    for axes, (name, (tokens, iterations, moving)) in zip(panels, runs.items(), strict=True):
        axes.set(title=as_it_is(name, 52), xlabel="tokens of the sentence", ylabel="iterations")
        if not len(tokens):
            _note(axes, "no sentences")
            continue
        edges = [_edges(tokens), _edges(iterations)]
        maps.append(axes.hist2d(tokens, iterations, edges, cmin=1, cmap="cividis_r")[3])
        lengths = np.unique(tokens)
        means = [iterations[tokens == length].mean() for length in lengths]
        axes.plot(lengths, means, color=BLACK, linewidth=1.2, marker=".", label="mean of a length")
        if moving.any():
            still = tokens[moving], iterations[moving]
            axes.plot(*still, "x", color=VERMILION, label="vectors still moved at the end")
        if most is not None and iterations.max() >= most:
            axes.axhline(most, color=VERMILION, linestyle="--", linewidth=1.1, label="iterations allowed")
    if maps:
        norm = LogNorm(1, max(mesh.get_array().max() for mesh in maps) + 1)
        for mesh in maps:
            mesh.set_norm(norm)
        figure.colorbar(maps[0], ax=panels, label="sentences", format="%g", aspect=30)
    shared_legend(figure, panels)
    return figure


def _edges(values: np.ndarray) -> np.ndarray:
    """Edges of cells of one width, between whole numbers."""
    low, high = int(values.min()), int(values.max())
    step = math.ceil((high - low + 1) / MOST_CELLS)
    return np.arange(low, high + step + 1, step) - 0.5
