"""Token vectors of sentence pairs in two dimensions: one row per pair, one panel per system.

The vectors of both sentences are scaled to length 1, since scores depend on directions alone, and projected
on their first two principal components, so that distances within a panel mean something, positions nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from bove.evaluate import plots
from bove.evaluate.alignment import unit_rows

DECIMALS = 5  # of positions: what is beyond depends on the computer
NEAR = 5  # points; the same word in two places closer than this is written once
# Where a word may stand beside its point, in points: right first, then around it, then farther away.
AROUND = [(5, 0), (-5, 0), (0, 6), (0, -6), (4, 5), (-4, 5), (4, -5), (-4, -5)]
OFFSETS = [(dx * far, dy * far) for far in (1, 2, 3.2, 4.5) for dx, dy in AROUND]
LOOKS = (
    {"marker": "o", "color": plots.BLUE, "markerfacecolor": "none", "label": "first sentence"},
    {"marker": "x", "color": plots.VERMILION, "label": "second sentence"},
)


@dataclass(frozen=True)
class Cloud:
    """A system's view of a pair: of each sentence the words that have a vector, and their [n, r] vectors."""

    title: str
    words: Sequence[Sequence[str]]
    vectors: Sequence[np.ndarray]


def projected(vectors: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray, float]:
    """[n, 2] and [m, 2] positions of two bags' directions, and the share of their variance that is kept."""
    from sklearn.decomposition import PCA

    rows = unit_rows(np.concatenate(vectors))
    places, share = np.zeros((len(rows), 2)), 1.0
    if len(rows) > 1 and np.ptp(rows, axis=0).any():
        components = min(2, *rows.shape)
        pca = PCA(components, svd_solver="full").fit(rows)
        places[:, :components] = pca.transform(rows)
        share = float(pca.explained_variance_ratio_.sum())
    places = np.round(places, DECIMALS) + 0.0
    return places[: len(vectors[0])], places[len(vectors[0]) :], share


def draw_tokens(pairs: Sequence[tuple[str, Sequence[Cloud]]]) -> Figure:
    """One row per pair, under its title: every system's vectors of both sentences, named by their words."""
    across = max((len(clouds) for _, clouds in pairs), default=1)
    width = max(across, 1.5)  # panels
    titles = [plots.as_it_is(title, int(62 * width), "    ") for title, _ in pairs]
    heights = [3.1 + 0.19 * title.count("\n") for title in titles] or [1]
    figure = Figure((4.3 * width, 0.3 + sum(heights)))
    renderer = FigureCanvasAgg(figure).get_renderer()
    drawn = []
    rows = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
    for row, title, (_, clouds) in zip(rows, titles, pairs, strict=False):
        row.suptitle(title, fontsize=9, x=0.01, ha="left", linespacing=1.1)
        for axes, cloud in zip(row.subplots(1, across, squeeze=False)[0], clouds, strict=False):
            drawn.append((axes, cloud, _draw_points(axes, cloud)))
    if not pairs:
        figure.text(0.5, 0.5, "no pair to show", ha="center", color=plots.GREY)
    plots.shared_legend(figure, [axes for axes, _, _ in drawn])
    figure.draw_without_rendering()  # the layout settles, so that words can be put where there is room
    figure.set_layout_engine("none")
    for axes, cloud, places in drawn:
        _write_words(axes, cloud, places, renderer)
    return figure


def _draw_points(axes: Axes, cloud: Cloud) -> list[np.ndarray]:
    *places, share = projected(cloud.vectors)
    title = f"{plots.as_it_is(cloud.title, 52)}\n{100 * share:.0f}% of the variance"
    axes.set(title=title, xticks=[], yticks=[])
    axes.margins(0.14)
    axes.spines[:].set(visible=True, color=plots.PALE)
    axes.set_aspect("equal", adjustable="datalim")
    for side, look in zip(places, LOOKS, strict=True):
        axes.plot(side[:, 0], side[:, 1], linestyle="none", markersize=6, markeredgewidth=1.3, **look)
    return places


def _write_words(axes: Axes, cloud: Cloud, places: Sequence[np.ndarray], renderer) -> None:
    """Put each word where there is room, with a line to its point if that is not beside it."""
    frame, scale = axes.get_window_extent(renderer), renderer.points_to_pixels(1)
    pixels = [axes.transData.transform(side.reshape(-1, 2)) for side in places]
    taken = [Bbox([at - 4 * scale, at + 4 * scale]) for side in pixels for at in side]
    for word, place, _, colour in _once(cloud.words, places, pixels, NEAR * scale):
        text = axes.annotate(
            word.replace("$", r"\$"), place, OFFSETS[0], textcoords="offset points", fontsize=8, color=colour,
            va="center", annotation_clip=False,
        )  # fmt: skip
        best = _offset(text, taken, frame, renderer)
        taken.append(_box(text, best, renderer))
        if best not in AROUND:
            line = {"arrowstyle": "-", "color": plots.GREY, "linewidth": 0.4}
            axes.annotate("", place, best, textcoords="offset points", arrowprops=line)


def _offset(text, taken: Sequence[Bbox], frame: Bbox, renderer) -> tuple[float, float]:
    """The first offset where a word covers no other one and no point, or else the fewest."""
    costs = {}
    for offset in OFFSETS:
        box = _box(text, offset, renderer)
        inside = frame.contains(*box.min) and frame.contains(*box.max)
        costs[offset] = box.count_overlaps(taken) + (0 if inside else 100)
        if not costs[offset]:
            return offset
    return min(costs, key=costs.__getitem__)


def _box(text, offset: tuple[float, float], renderer) -> Bbox:
    """Where a word is, once it is moved to an offset from its point."""
    text.set(position=offset, ha=("center", "left", "right")[int(np.sign(offset[0]))])
    return text.get_window_extent(renderer)


def _once(words, places, pixels, near: float) -> list[list]:
    """Word, place, pixel and colour of each token; once for a word that both sentences have in one place."""
    shown: list[list] = []
    for look, *side in zip(LOOKS, words, places, pixels, strict=True):
        for word, place, at in zip(*side, strict=True):
            twin = next((s for s in shown if s[0] == word and np.abs(s[2] - at).max() < near), None)
            if twin is None:
                shown.append([word, place, at, look["color"]])
            elif twin[3] != look["color"]:
                twin[3] = plots.BLACK
    return shown
