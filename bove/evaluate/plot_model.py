"""Figures of a model and of inference: singular values of relations, iterations by length of sentence."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bove.evaluate.plots import BLACK, BLUE, GREY, PALE, TITLE_WIDTH, VERMILION, as_it_is, shared_legend

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
