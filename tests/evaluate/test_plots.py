"""Figures are the same bytes every time, can be read without colour, and say what they do not show."""

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from made_scores import scores_of
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.text import Text

from bove.evaluate import plots
from bove.evaluate.comparisons import Panel
from bove.evaluate.plot_tokens import Cloud, draw_tokens, projected
from bove.evaluate.plots import MARKERS, PALETTE, Value, draw_results, figure_files, plot_style
from bove.evaluate.training_log import Curve

PANELS = [
    Panel("STS\nmean of 2 subsets", "Pearson's correlation", {"full": 0.56, "less": 0.52, "more": 0.57}),
    Panel("SNLI\ndev", "average precision (%)", {"full": 49.1, "less": 49.1}, {"more": "undefined"}),
]
VARIANTS = ["less", "full", "more"]
SYSTEMS = ["word-vectors", "bove"]
ROWS = {
    "images": {"word-vectors": Value(0.5, 0.45, 0.56), "bove": Value(0.55, 0.5, 0.6)},
    "news_$x$": {"word-vectors": Value(None), "bove": Value(0.4)},
    "tweets": {"word-vectors": Value(None)},
    "mean": {"word-vectors": Value(0.5, 0.47, 0.52), "bove": Value(0.475, 0.45, 0.5)},
}


def curve(name, *, scale=1.0, rounds=6, terms=("words", "tags", "relations", "penalties")):
    total = [scale * (100 + 900 / r) for r in range(1, rounds + 1)]
    parts = {term: [x / (10**k * 4) for x in total] for k, term in enumerate(terms)}
    return Curve(name, range(1, rounds + 1), [0.5 * r * scale for r in range(1, rounds + 1)], total, parts)


RNG = np.random.default_rng(1)
LABELS = ("entailment", "neutral", "contradiction")
GROUPS = {system: {name: RNG.normal(size=60) for name in LABELS} for system in SYSTEMS}
TOKENS, USED = RNG.integers(3, 30, 200), RNG.integers(2, 11, 200)
ITERATIONS = TOKENS, USED, USED == 10
SPECTRA = {f"rel:{k}": 10.0 ** -np.arange(20.0) / (k + 1) for k in range(8)}
VECTORS = RNG.normal(size=(7, 5)), RNG.normal(size=(8, 5))
WORDS = [f"a{i}" for i in range(7)], [f"b{i}" for i in range(8)]
CLOUDS = [Cloud(f"{system}: STS 0.5", WORDS, VECTORS) for system in SYSTEMS]
FIGURES = {
    "ablations": (plots.draw_ablations, PANELS, ["less", "full", "more"], "full"),
    "training": (plots.draw_training, [curve("als"), curve("_$a$", scale=3)]),
    "results": (draw_results, [("STS (development)", ROWS)], SYSTEMS, "Pearson's correlation"),
    "scores": (plots.draw_distributions, GROUPS, "entailment"),
    "iterations": (plots.draw_iterations, {"STS": ITERATIONS, "SNLI_": ITERATIONS}, 10),
    "relations": (plots.draw_spectra, SPECTRA),
    "tokens": (draw_tokens, [("images-00001, gold 3\n  1: costs $5 and $6\n  2: free", CLOUDS)]),
}
NAMED = {
    "ablations": {*VARIANTS, "STS", "mean of 2 subsets", "Pearson's correlation", "undefined"},
    "training": {"als", "_$a$", "words", "penalties", "round"},
    "results": {"STS (development)", "images", "news_$x$", "mean", *SYSTEMS},
    "scores": {*SYSTEMS, "entailment", "contradiction", "(60)", "SNLI(S1, S2)"},
    "iterations": {"STS", "SNLI_", "tokens of the sentence", "iterations allowed"},
    "relations": {"rel:0: 1.4", "rel:7: 1.4", "singular value", "number of the singular value"},
    "tokens": {"a0", "b7", "bove: STS 0.5", "first sentence", "second sentence"},
}


def texts(draw, *args):
    """Texts of the SVG."""
    return re.findall(r"<text[^>]*>([^<]*)<", figure_files("f", draw, *args)["f.svg"].decode())


def drawn(draw, *args):
    """The axes of a figure, drawn once so that all is in its place."""
    with plot_style():
        made = draw(*args)
        FigureCanvasAgg(made).draw()
    return made.axes


@pytest.mark.parametrize("kind", FIGURES)
def test_the_svg_is_xml_and_its_texts_are_names_as_they_are(kind):
    files = figure_files("f", *FIGURES[kind])
    assert ElementTree.fromstring(files["f.svg"]).tag.endswith("svg")
    assert b"dc:date" not in files["f.svg"] and b"dc:creator" not in files["f.svg"]
    assert files["f.png"].startswith(b"\x89PNG") and b"tEXt" not in files["f.png"]
    assert {text.strip() for text in texts(*FIGURES[kind])} >= NAMED[kind]


def test_two_processes_with_other_settings_draw_the_same_bytes_without_windows(tmp_path, monkeypatch):
    drawn = [FIGURES[kind] for kind in ("tokens", "scores", "relations")]
    here = b"".join(content for made in drawn for content in figure_files("f", *made).values())
    (tmp_path / "matplotlibrc").write_text("font.size: 20\nsvg.fonttype: path\n", encoding="utf-8")
    script = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "from test_plots import FIGURES, figure_files\n"
        "for made in (FIGURES[kind] for kind in ('tokens', 'scores', 'relations')):\n"
        "    sys.stdout.buffer.writelines(figure_files('f', *made).values())\n"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    monkeypatch.setenv("MATPLOTLIBRC", str(tmp_path / "matplotlibrc"))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    command = [sys.executable, "-c", script, *map(str, Path(__file__).parents[:2])]
    assert subprocess.run(command, capture_output=True, check=True).stdout == here


LONG = [f"variant {i} with one more change to its settings" for i in range(12)]
DOZEN = Panel("STS (development)\nmean of 6 subsets", "Pearson's correlation",
              {name: 0.5 + 0.0001 * i for i, name in enumerate(LONG)})  # fmt: skip
RUNS = [[curve(f"a long run with penalty number {i}", scale=1e6 * scale**i) for i in range(n)]
        for n, scale in ((1, 10.0), (2, 1.001), (4, 10.0), (8, 1.001))]  # fmt: skip
LARGE = {f"ablations-{n}": (plots.draw_ablations, [DOZEN] * n, LONG, LONG[0]) for n in (1, 3, 7)}
LARGE |= {f"training-{len(runs)}": (plots.draw_training, runs) for runs in RUNS}


@pytest.mark.parametrize("kind", [*(kind for kind in FIGURES if kind != "tokens"), *LARGE])
def test_no_text_touches_another_one_or_leaves_the_page(kind, monkeypatch):
    boxes = []

    def draw(text, renderer, original=Text.draw):
        if text.get_visible() and text.get_text().strip():
            boxes.append((text.get_text(), text.get_window_extent(renderer)))
        original(text, renderer)

    draws, *args = (FIGURES | LARGE)[kind]
    with plot_style(), monkeypatch.context() as patch:
        made = draws(*args)
        canvas = FigureCanvasAgg(made)
        canvas.draw()  # the layout settles
        patch.setattr(Text, "draw", draw)
        canvas.draw()
    assert len(boxes) > 10
    width, height = made.bbox.size
    for i, (text, box) in enumerate(boxes):
        assert box.x0 >= -1 and box.x1 <= width + 1 and box.y0 >= -1 and box.y1 <= height + 1, text
        assert not [other for other, above in boxes[:i] if box.padded(-0.01).overlaps(above)], text


def test_neighbouring_lines_differ_in_more_than_colour_and_markers_tell_greys_apart():
    axes = drawn(plots.draw_training, [curve(f"run {i}") for i in range(9)])[0]
    looks = [(line.get_color(), line.get_marker(), line.get_linestyle()) for line in axes.lines]
    assert len(set(looks)) == 9
    for one, other in zip(looks, looks[1:], strict=False):
        assert one[1] != other[1] and one[2] != other[2]
    greys = [np.dot([0.299, 0.587, 0.114], to_rgb(colour)) for colour in PALETTE]
    alike = [(i, j) for i, one in enumerate(greys) for j in range(i) if abs(one - greys[j]) < 0.05]
    assert alike, "all greys differ: the markers would not be needed"
    assert all(MARKERS[i % len(MARKERS)] != MARKERS[j % len(MARKERS)] for i, j in alike)


def test_each_variant_is_a_dot_on_its_side_of_the_base_in_the_given_order():
    first, second = made = drawn(*FIGURES["ablations"])
    assert [label.get_text() for label in first.get_yticklabels()] == VARIANTS
    assert first.get_ylim()[0] > first.get_ylim()[1]
    assert list(first.lines[0].get_xdata()) == [0.56] * 2 and list(second.lines[0].get_xdata()) == [49.1] * 2
    dots = {line.get_label(): line for line in first.lines if len(line.get_xydata()) == 1}
    places = {label: line.get_xydata()[0].tolist() for label, line in dots.items()}
    assert places == {"below the base": [0.52, 0], "the base": [0.56, 1], "above the base": [0.57, 2]}
    assert dots["below the base"].get_markerfacecolor() == "white"
    assert dots["above the base"].get_markerfacecolor() != "white"
    assert [(text.get_text(), text.get_position()[1]) for text in second.texts] == [("undefined", 2)]
    for axes, panel in zip(made, PANELS, strict=True):
        low, high = axes.get_xlim()
        assert 0 < low < min(panel.values.values()) <= max(panel.values.values()) < high


def test_a_base_or_a_panel_without_a_value_is_no_line_but_said():
    panel = Panel("STS", "r", {"less": 0.5}, {"full": "undefined", "more": "undefined"})
    labels = {line.get_label() for line in drawn(plots.draw_ablations, [panel], VARIANTS, "full")[0].lines}
    assert "the base has no value" in labels and "the base" not in labels
    none = Panel("STS", "r", {}, dict.fromkeys(VARIANTS, "undefined"))
    assert texts(plots.draw_ablations, [none], VARIANTS, "full").count("undefined") == 3


def test_an_axis_is_logarithmic_only_where_values_are_far_apart():
    near = drawn(plots.draw_training, [curve("a", terms=("words",))])
    assert [axes.get_yscale() for axes in near] == ["linear", "linear"]
    far = drawn(plots.draw_training, [curve("a"), curve("b", scale=2 * plots.LARGE_RANGE)])
    assert [axes.get_yscale() for axes in far] == ["log"] * 3 and far[0].get_xscale() == "log"


def test_every_run_has_its_terms_over_rounds_and_empty_cells_are_gaps():
    runs = [curve("a"), curve("b", terms=("words", "relations"))]
    runs[1].terms["relations"][2] = None
    top, first, second = drawn(plots.draw_training, runs)
    assert [line.get_label() for line in top.lines] == ["a", "b"]
    assert [line.get_label() for line in first.lines] == ["words", "tags", "relations", "penalties"]
    found = {line.get_label(): list(line.get_xdata()) for line in second.lines}
    assert found == {"words": [1, 2, 3, 4, 5, 6], "relations": [1, 2, 4, 5, 6]}
    assert first.lines[2].get_color() == second.lines[1].get_color()


@pytest.mark.parametrize("others", [[], [curve("long")]])
def test_a_training_of_two_rounds_has_no_curve(others):
    top, *_, panel = drawn(plots.draw_training, [*others, curve("short", rounds=2)])
    assert [line.get_label() for line in top.lines] == [run.name for run in others] and not panel.lines
    assert [text.get_text() for text in panel.texts] == ["fewer than 3 rounds: see the table"]


def test_a_result_is_a_marker_on_its_interval_and_summaries_stand_below_a_line():
    [axes] = drawn(*FIGURES["results"])
    looks = {(*line.get_xdata(), line.get_marker()) for line in axes.lines if line.get_marker() in "os"}
    assert looks == {("o",), ("s",), (0.5, "o"), (0.55, "s"), (0.4, "s"), (0.475, "s")}
    spans = {tuple(x for x, _ in part.get_segments()[0]) for part in axes.collections}
    assert spans == {(0.45, 0.56), (0.5, 0.6), (0.47, 0.52), (0.45, 0.5)}
    assert not [line for line in axes.lines if line.get_linestyle() == "-" and len(line.get_xdata()) > 1]
    [divide] = [line for line in axes.lines if line.get_linestyle() == ":"]
    assert list(divide.get_ydata()) == [2.5, 2.5]
    assert [(text.get_text(), text.get_position()[1]) for text in axes.texts] == [("undefined", 2)]


def test_a_difference_that_is_not_sure_is_a_hollow_marker_and_0_is_a_line():
    rows = {"a": {"b - c": Value(0.1, 0.05, 0.2)}, "m": {"b - c": Value(-0.1, -0.2, 0.1, False)}}
    [axes] = drawn(draw_results, [("STS", rows)], ["b - c"], "difference", True)
    fills = {x: line.get_markerfacecolor() for line in axes.lines for x in line.get_xdata() if x}
    assert fills[-0.1] == "white" != fills[0.1]
    assert [0, 0] in [list(line.get_xdata()) for line in axes.lines]
    assert "no data set of this task" in texts(draw_results, [], [], "r")


@pytest.mark.parametrize(
    ("gold", "names", "sizes"),
    [
        (["0.0", "0.9", "1.0", "4.2", None, "5.0"], ["0 to 1", "1 to 2", "4 to 5"], [2, 1, 2]),
        ([str(x) for x in range(101)], ["0 to 20", "20 to 40", "40 to 60", "60 to 80", "80 to 100"], None),
        (["3.0", "3.0"], ["3"], [2]),
        ([None], [], []),
    ],
)
def test_scores_are_grouped_by_ranges_of_gold_that_hold_both_ends(gold, names, sizes):
    found = plots.by_gold(scores_of("similarity", "a" * len(gold), gold, {"bove": range(len(gold))}))["bove"]
    assert list(found) == names
    assert sizes is None or [len(group) for group in found.values()] == sizes
    kept = [i for i, g in enumerate(gold) if g is not None]
    assert sorted(np.concatenate([[], *found.values()]).tolist()) == kept


def test_labels_come_from_entailment_to_contradiction_and_others_after_them():
    labels = ["odd", "contradiction", "entailment", None]
    found = plots.by_gold(scores_of("entailment", "aaaa", labels, {"bove": [1, 2, 3, 4]}))
    groups = [(name, group.tolist()) for name, group in found["bove"].items()]
    assert groups == [("entailment", [3]), ("contradiction", [2]), ("odd", [1])]


def test_quartiles_and_median_are_drawn_and_constant_scores_too():
    groups = {"bove": {"0 to 1": np.arange(5.0), "1 to 2": np.full(3, 2.0)}}
    [axes] = drawn(plots.draw_distributions, groups, "similarity")
    assert [list(line.get_ydata()) for line in axes.lines] == [[2], [2]]
    violin, *quartiles = axes.collections
    assert [[y for _, y in bar.get_segments()[0]] for bar in quartiles] == [[1, 3], [2, 2]]
    assert "no pair has gold" in texts(plots.draw_distributions, {"bove": {}}, "similarity")


def test_the_map_of_iterations_counts_every_sentence_and_marks_those_that_still_move():
    axes = drawn(plots.draw_iterations, {"STS": ITERATIONS}, 10)[0]
    assert np.nansum(axes.collections[0].get_array()) == len(TOKENS)
    lines = {line.get_label(): line for line in axes.lines}
    means = lines["mean of a length"]
    for length, mean in zip(means.get_xdata(), means.get_ydata(), strict=True):
        assert mean == pytest.approx(USED[length == TOKENS].mean())
    assert len(lines["vectors still moved at the end"].get_xdata()) == (USED == 10).sum() > 0
    assert "iterations allowed" not in texts(plots.draw_iterations, {"STS": ITERATIONS}, 11)
    assert "no sentences" in texts(plots.draw_iterations, {"STS": tuple(part[:0] for part in ITERATIONS)})


def test_relations_share_a_logarithmic_axis_and_zero_ones_are_named():
    axes = drawn(plots.draw_spectra, {**SPECTRA, "none": np.zeros(20)})
    assert {panel.get_yscale() for panel in axes[:9]} == {"log"}
    assert [text.get_text() for text in axes[8].texts] == ["all are 0"]
    assert "all are 0" in texts(plots.draw_spectra, {"none": np.zeros(20)})


def test_directions_in_a_plane_keep_their_distances():
    angles = np.array([0.0, 1.0, 2.5, 4.0])
    flat = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    turned = 7 * flat @ np.linalg.qr(np.random.default_rng(4).normal(size=(6, 2)))[0].T
    first, second, share = projected((turned[:1], turned[1:]))
    found = np.concatenate([first, second])
    distances = [np.linalg.norm(x[:, None] - x[None], axis=2) for x in (found, flat)]
    np.testing.assert_allclose(*distances, atol=1e-4)
    assert share == pytest.approx(1)


@pytest.mark.parametrize("sizes", [(0, 0), (1, 0), (1, 1), (0, 2)])
def test_bags_with_few_vectors_or_none_are_drawn(sizes):
    vectors, words = [np.eye(3)[:size] for size in sizes], ["xyz"[:size] for size in sizes]
    found = texts(draw_tokens, [("p", [Cloud("bove", words, vectors)])])
    assert [text for text in found if text in "xyz"] == [*words[0], *words[1]][: max(sizes)]


def test_a_word_in_one_place_is_written_once_and_in_black():
    same = np.eye(3)
    cloud = Cloud("bove", (("cat", "sat", "$1"), ("cat", "sat", "mat")), (same, same))
    [axes] = drawn(draw_tokens, [("p", [cloud])])
    words = {text.get_text(): text.get_color() for text in axes.texts if text.get_text()}
    assert set(words) == {"cat", "sat", r"\$1", "mat"}
    assert words["cat"] == words["sat"] == "#000000" != words["mat"] != words[r"\$1"]


def test_words_avoid_each_other_where_there_is_room():
    for axes in drawn(*FIGURES["tokens"]):
        boxes = [text.get_window_extent() for text in axes.texts if text.get_text()]
        assert len(boxes) == 15
        assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
