"""Figures of a run: what they show, and that they are the same bytes every time."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from test_plots import assert_apart, figure, texts

from bove.evaluate.plot_tokens import Cloud, Pairing, draw_tokens, projected
from bove.evaluate.plots import (
    Groups,
    Iterations,
    Rows,
    Spectrum,
    Value,
    by_gold,
    draw_distributions,
    draw_iterations,
    draw_results,
    draw_spectra,
    figure_files,
)
from bove.evaluate.results import Scores

SYSTEMS = ["word-vectors", "bove"]
ROWS = Rows(
    "STS (development)",
    {
        "images": {"word-vectors": Value(0.5, 0.45, 0.56), "bove": Value(0.55, 0.5, 0.6)},
        "news_$x$": {"word-vectors": Value(None), "bove": Value(0.4)},
        "tweets": {"word-vectors": Value(None)},
        "mean": {"word-vectors": Value(0.5, 0.47, 0.52), "bove": Value(0.475, 0.45, 0.5)},
    },
    ["mean"],
)


def scores(gold, values, task="similarity"):
    n = len(gold)
    ids, subsets = tuple(f"a-{i:05d}" for i in range(n)), ("a",) * n
    scored = np.array([g is not None for g in gold])
    arrays = {name: np.array(row, np.float64) for name, row in values.items()}
    empty = {name: np.zeros(n, bool) for name in values}
    return Scores(
        dataset="sts",
        label="STS",
        task=task,
        ids=ids,
        subsets=subsets,
        gold=tuple(gold),
        scored=scored,
        values=arrays,
        empty=empty,
        lengths=np.ones((n, 2), np.int64),
        pairs_sha256="",
        model_hashes=dict.fromkeys(values, ""),
    )


def groups(n=60):
    rng = np.random.default_rng(1)
    names = ("entailment", "neutral", "contradiction")
    return Groups("entailment", names, {s: tuple(rng.normal(size=n) for _ in names) for s in SYSTEMS})


def iterations(n=200):
    rng = np.random.default_rng(2)
    tokens, used = rng.integers(3, 30, n), rng.integers(2, 11, n)
    return Iterations(tokens, used, used == 10)


def spectra(n=8, r=20):
    return [Spectrum(f"rel:{k}", 10.0 ** -np.arange(r, dtype=float) / (k + 1), 1.0 + k) for k in range(n)]


def pairing(n=7, seed=3):
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(n, 5)), rng.normal(size=(n + 1, 5))
    words = tuple(f"a{i}" for i in range(n)), tuple(f"b{i}" for i in range(n + 1))
    clouds = [Cloud(f"{system}: STS 0.5", words, (first, second)) for system in SYSTEMS]
    return Pairing("images-00001, gold 3\n  1: costs $5 and $6\n  2: free", clouds)


FIGURES = {
    "results": (draw_results, [ROWS], SYSTEMS, "Pearson's correlation"),
    "scores": (draw_distributions, groups()),
    "iterations": (draw_iterations, {"STS": iterations(), "SNLI_": iterations(50)}, 10),
    "relations": (draw_spectra, spectra()),
    "tokens": (draw_tokens, [pairing()]),
}
NAMED = {
    "results": {"STS (development)", "images", "news_$x$", "mean", *SYSTEMS},
    "scores": {*SYSTEMS, "entailment", "contradiction", "(60)", "SNLI(S1, S2)"},
    "iterations": {"STS", "SNLI_", "tokens of the sentence", "iterations allowed"},
    "relations": {"rel:0: 1.0", "rel:7: 8.0", "singular value"},
    "tokens": {"a0", "b7", "bove: STS 0.5", "first sentence", "second sentence"},
}


@pytest.mark.parametrize("kind", FIGURES)
def test_the_svg_is_xml_and_says_what_it_shows(kind):
    files = figure_files(*FIGURES[kind])
    assert ElementTree.fromstring(files["svg"]).tag.endswith("svg")
    assert files["png"].startswith(b"\x89PNG")
    assert {text.strip() for text in texts(*FIGURES[kind])} >= NAMED[kind]


def test_two_processes_draw_the_same_bytes():
    here = b"".join(content for drawing in FIGURES.values() for content in figure_files(*drawing).values())
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_figures import FIGURES, figure_files\n"
        "for drawing in FIGURES.values():\n"
        "    sys.stdout.buffer.writelines(figure_files(*drawing).values())"
    )
    command = [sys.executable, "-c", script, str(Path(__file__).parent)]
    assert subprocess.run(command, capture_output=True, check=True).stdout == here


@pytest.mark.parametrize("kind", ["results", "scores", "iterations", "relations"])
def test_no_two_texts_overlap(kind, monkeypatch):
    assert_apart(monkeypatch, *FIGURES[kind])


def drawn_lines(axes, n_points=None):
    return [line for line in axes.lines if n_points is None or len(line.get_xdata()) == n_points]


def test_a_result_is_a_marker_on_its_interval_and_summaries_stand_below_a_line():
    [axes] = figure(*FIGURES["results"]).axes
    assert [label.get_text() for label in axes.get_yticklabels()][::2] == ["images", "tweets"]
    markers = {(line.get_marker(), line.get_xdata()[0]) for line in drawn_lines(axes, 1)} - {("None", 0.4)}
    assert markers == {("o", 0.5), ("s", 0.55), ("s", 0.4), ("s", 0.475)}
    legend = {
        line.get_label(): line.get_marker() for line in drawn_lines(axes, 0) if line.get_marker() in "os"
    }
    assert legend == {"word-vectors": "o", "bove": "s"}
    spans = {tuple(line.get_xdata()) for line in drawn_lines(axes, 2) if line.get_linewidth() > 2}
    assert spans == {(0.45, 0.56), (0.5, 0.6), (0.47, 0.52), (0.45, 0.5)}
    [divide] = [line for line in axes.lines if line.get_linestyle() == ":"]
    assert list(divide.get_ydata()) == [2.5, 2.5]
    assert [(text.get_text(), text.get_position()[1]) for text in axes.texts] == [("undefined", 2)]


def test_a_difference_that_is_not_sure_is_a_hollow_marker_and_0_is_a_line():
    rows = Rows("STS", {"a": {"b - c": Value(0.1, 0.05, 0.2)}, "m": {"b - c": Value(-0.1, -0.2, 0.1, False)}})
    [axes] = figure(draw_results, [rows], ["b - c"], "difference", True).axes
    fills = {line.get_xdata()[0]: line.get_markerfacecolor() for line in drawn_lines(axes, 1)}
    assert fills[-0.1] == "white" != fills[0.1]
    assert [0, 0] in [list(line.get_xdata()) for line in axes.lines]


def test_a_task_without_data_sets_is_said_to_have_none():
    assert "no data set of this task" in texts(draw_results, [], [], "Pearson's correlation")


def test_scores_are_grouped_by_ranges_of_gold_that_hold_both_ends():
    gold = ["0.0", "0.9", "1.0", "4.2", None, "5.0"]
    found = by_gold(scores(gold, {"bove": [1, 2, 3, 4, 5, 6]}))
    assert found.names == ("0 to 1", "1 to 2", "4 to 5")
    assert [group.tolist() for group in found.values["bove"]] == [[1, 2], [3], [4, 6]]


def test_a_wide_range_of_gold_is_cut_into_few_and_one_value_is_a_group():
    wide = by_gold(scores([str(float(x)) for x in range(101)], {"bove": range(101)}))
    assert wide.names == ("0 to 20", "20 to 40", "40 to 60", "60 to 80", "80 to 100")
    assert by_gold(scores(["3.0", "3.0"], {"bove": [1, 2]})).names == ("3",)


def test_labels_come_from_entailment_to_contradiction_and_others_after_them():
    gold = ["odd", "contradiction", "entailment", None]
    found = by_gold(scores(gold, {"bove": [1, 2, 3, 4]}, "entailment"))
    assert found.names == ("entailment", "contradiction", "odd")
    assert [group.tolist() for group in found.values["bove"]] == [[3], [2], [1]]


def test_quartiles_and_median_are_drawn_and_constant_scores_too():
    drawn = Groups("similarity", ("0 to 1", "1 to 2"), {"bove": (np.arange(5.0), np.full(3, 2.0))})
    [axes] = figure(draw_distributions, drawn).axes
    assert [list(line.get_ydata()) for line in axes.lines] == [[1, 3], [2], [2, 2], [2]]
    assert len(axes.collections) == 1, "constant scores have a density"


def test_without_gold_the_figure_says_so():
    assert "no pair has gold" in texts(draw_distributions, by_gold(scores([None], {"bove": [np.nan]})))


def test_the_map_of_iterations_counts_every_sentence_and_marks_those_that_still_move():
    run = iterations()
    axes = figure(draw_iterations, {"STS": run}, 10).axes[0]
    assert axes.collections[0].get_array().sum() == len(run.tokens)
    lines = {line.get_label(): line for line in axes.lines}
    means = lines["mean of a length"]
    for length, mean in zip(means.get_xdata(), means.get_ydata(), strict=True):
        assert mean == pytest.approx(run.iterations[run.tokens == length].mean())
    assert len(lines["vectors still moved at the end"].get_xdata()) == run.moving.sum() > 0
    assert "iterations allowed" not in texts(draw_iterations, {"STS": run}, 11)


def test_a_data_set_without_sentences_has_a_panel_that_says_so():
    none = Iterations(*(np.zeros(0, np.int64) for _ in range(2)), np.zeros(0, bool))
    assert "no sentences" in texts(draw_iterations, {"STS": none})


def test_relations_share_a_logarithmic_axis_and_zero_ones_are_named():
    made = [*spectra(2), Spectrum("none", np.zeros(20), 0.0)]
    axes = figure(draw_spectra, made).axes
    assert {panel.get_yscale() for panel in axes[:3]} == {"log"}
    assert [text.get_text() for text in axes[2].texts] == ["all are 0"]
    assert "all are 0" in texts(draw_spectra, made[2:])


def test_directions_in_a_plane_keep_their_distances():
    angles = np.array([0.0, 1.0, 2.5, 4.0])
    flat = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    turned = 7 * flat @ np.linalg.qr(np.random.default_rng(4).normal(size=(6, 2)))[0].T
    first, second, share = projected((turned[:1], turned[1:]))
    found = np.concatenate([first, second])
    for i in range(4):
        for j in range(i):
            assert np.linalg.norm(found[i] - found[j]) == pytest.approx(
                np.linalg.norm(flat[i] - flat[j]), abs=1e-4
            )
    assert share == pytest.approx(1)


@pytest.mark.parametrize("sizes", [(0, 0), (1, 0), (1, 1), (0, 2)])
def test_bags_with_few_vectors_or_none_are_drawn(sizes):
    vectors = tuple(np.eye(3)[:size] for size in sizes)
    words = tuple(tuple("xyz"[:size]) for size in sizes)
    assert figure_files(draw_tokens, [Pairing("p", [Cloud("bove", words, vectors)])])["svg"]


def test_a_word_in_one_place_is_written_once_and_in_black():
    same = np.eye(3)
    cloud = Cloud("bove", (("cat", "sat", "$1"), ("cat", "sat", "mat")), (same, same[::-1][[2, 1, 0]]))
    made = figure(draw_tokens, [Pairing("p", [cloud])])
    words = {text.get_text(): text.get_color() for text in made.axes[0].texts if text.get_text()}
    assert set(words) == {"cat", "sat", r"\$1", "mat"}
    assert words["cat"] == words["sat"] == "#000000" != words["mat"] != words[r"\$1"]


def test_words_avoid_each_other_where_there_is_room():
    made = figure(*FIGURES["tokens"])
    for axes in made.axes:
        boxes = [text.get_window_extent() for text in axes.texts if text.get_text()]
        assert len(boxes) == 15
        touching = sum(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
        assert touching == 0
