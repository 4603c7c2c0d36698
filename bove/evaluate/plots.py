"""Figures without a display, as bytes: the same data give the same SVG and the same PNG.

Colours are those of Okabe and Ito, which colour-blind readers tell apart; what a colour says, a marker or a
line style says too, so that a grey print loses nothing. Text in the SVG stays text: smaller than outlines of
glyphs, to be searched and copied, and no byte of it depends on a font file's outlines.
"""

import io
import math
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import compress
from typing import TYPE_CHECKING

from bove.errors import BoveError

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
