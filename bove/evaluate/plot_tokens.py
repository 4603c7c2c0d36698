"""Token vectors of sentence pairs in two dimensions, a row a pair, a panel a system.

The vectors of both sentences are scaled to length 1, since scores look at directions alone, and projected on
their first two principal components, so that distances within a panel mean something, positions nothing.
"""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bove.evaluate.alignment import unit_rows
from bove.evaluate.plots import BLACK, BLUE, GREY, PALE, TITLE_WIDTH, VERMILION, as_it_is, shared_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL_WIDTH, PANEL_HEIGHT, LINE_WIDTH = 4.3, 2.9, 62  # inches; characters of a line above a panel
DECIMALS = 5  # of positions: what is beyond depends on the computer
# Where a word may stand beside its point, in points: right first, then around it and farther away.
AROUND, NEAR = 8, 5  # places at one distance; points closer than this many points share a word
OFFSETS = [
    (dx * far, dy * far)
    for far in (1, 2, 3.2, 4.5)
    for dx, dy in ((5, 0), (-5, 0), (0, 6), (0, -6), (4, 5), (-4, 5), (4, -5), (-4, -5))
]
LOOKS = (
    {"marker": "o", "color": BLUE, "markerfacecolor": "none", "label": "first sentence"},
    {"marker": "x", "color": VERMILION, "label": "second sentence"},
)


@dataclass(frozen=True)
class Cloud:
    """A system's view of a pair.

    Attributes:
        title: above the panel.
        words: of each sentence, those that have a vector.
        vectors: of each sentence, [n, r].
    """

    title: str
    words: tuple[tuple[str, ...], tuple[str, ...]]
    vectors: tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Pairing:
    """A pair: what is said above its row, and a cloud for each system."""

    title: str
    clouds: Sequence[Cloud]


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


def draw_tokens(pairings: Sequence[Pairing]) -> "Figure":
    """A row a pair: every system's vectors of both sentences, named by their words."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    across = max((len(pairing.clouds) for pairing in pairings), default=1)
    titles = [_title(pairing.title, across) for pairing in pairings]
    heights = [PANEL_HEIGHT + 0.19 * (title.count("\n") + 1) for title in titles]
    size = (PANEL_WIDTH * max(across, 1.5), 0.3 + (sum(heights) or 1))
    figure = Figure(figsize=size, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    if not pairings:
        figure.text(0.5, 0.5, "no pair to show", ha="center", color=GREY)
        return figure
    named = []
    rows = figure.subfigures(len(pairings), 1, height_ratios=heights, squeeze=False)[:, 0]
    for row, pairing, title in zip(rows, pairings, titles, strict=True):
        row.suptitle(title, fontsize=9, x=0.01, ha="left", linespacing=1.1)
        for axes, cloud in zip(row.subplots(1, across, squeeze=False)[0], pairing.clouds, strict=False):
            named.append((axes, cloud, _points(axes, cloud)))
    shared_legend(figure, [axes for axes, _, _ in named], size[0])
    figure.draw_without_rendering()  # the layout settles, so that words can be put where there is room
    figure.set_layout_engine("none")
    for axes, cloud, places in named:
        _name(axes, cloud, places, canvas.get_renderer())
    return figure


def _title(text: str, across: int) -> str:
    width = LINE_WIDTH * max(across, 1.5)
    return "\n".join(
        textwrap.fill(line, int(width), subsequent_indent="    ").replace("$", r"\$")
        for line in text.split("\n")
    )


def _points(axes: "Axes", cloud: Cloud) -> tuple[np.ndarray, np.ndarray]:
    *places, share = projected(cloud.vectors)
    title = as_it_is(cloud.title, 2 * TITLE_WIDTH)
    axes.set_title(f"{title}\n{100 * share:.0f}% of the variance")
    axes.margins(0.14)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set(visible=True, color=PALE)
    axes.set_aspect("equal", adjustable="datalim")
    for sides, look in zip(places, LOOKS, strict=True):
        axes.plot(sides[:, 0], sides[:, 1], linestyle="none", markersize=6, markeredgewidth=1.3, **look)
    return places[0], places[1]


def _name(axes: "Axes", cloud: Cloud, places, renderer) -> None:
    """Put each word where it covers the fewest other words and points."""
    points = [axes.transData.transform(side.reshape(-1, 2)) for side in places]
    scale, frame = renderer.points_to_pixels(1), axes.get_window_extent(renderer)
    reach = 4 * scale
    taken = [(x - reach, y - reach, x + reach, y + reach) for side in points for x, y in side]
    for word, place, at, colour in _once(cloud.words, places, points, NEAR * scale):
        text = axes.annotate(
            word.replace("$", r"\$"), place, OFFSETS[0], textcoords="offset points", fontsize=8, color=colour,
            va="center", annotation_clip=False,
        )  # fmt: skip
        size = text.get_window_extent(renderer)
        boxes = [_box(at, dx * scale, dy * scale, size.width, size.height) for dx, dy in OFFSETS]
        costs = [_overlap(box, taken, frame) + i * 0.5 for i, box in enumerate(boxes)]
        best = int(np.argmin(costs))
        text.set_position(OFFSETS[best])
        text.set_horizontalalignment(("center", "left", "right")[int(np.sign(OFFSETS[best][0]))])
        taken.append(boxes[best])
        if best >= AROUND:
            axes.annotate(
                "", place, OFFSETS[best], textcoords="offset points",
                arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.4},
            )  # fmt: skip


def _once(words, places, points, near: float):
    """Word, place, pixel and colour of each token; once for a word that both sentences have in one place."""
    shown: list[tuple] = []
    for look, *side in zip(LOOKS, words, places, points, strict=True):
        for word, place, at in zip(*side, strict=True):
            twin = next((s for s in shown if s[0] == word and np.abs(s[2] - at).max() < near), None)
            if twin is None:
                shown.append((word, place, at, look["color"]))
            elif twin[3] != look["color"]:
                shown[next(i for i, s in enumerate(shown) if s is twin)] = (*twin[:3], BLACK)
    return shown


def _box(at, dx: float, dy: float, width: float, height: float) -> tuple[float, float, float, float]:
    """Left, bottom, right and top of a word that starts, ends or is centred at an offset from its point."""
    left = at[0] + dx - width * (0.5 if dx == 0 else 0 if dx > 0 else 1)
    bottom = at[1] + dy - height / 2
    return left, bottom, left + width, bottom + height


def _overlap(box, taken, frame) -> float:
    """Area that a word shares with others, and what of it is outside its panel, which counts more."""
    left, bottom, right, top = box
    shared = sum(
        max(0.0, min(right, x1) - max(left, x0)) * max(0.0, min(top, y1) - max(bottom, y0))
        for x0, y0, x1, y1 in taken
    )
    outside = max(0.0, frame.x0 - left) + max(0.0, right - frame.x1)
    outside += max(0.0, frame.y0 - bottom) + max(0.0, top - frame.y1)
    return shared + 100 * outside
