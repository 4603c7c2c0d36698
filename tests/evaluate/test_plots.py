"""Figures are the same bytes every time, read without colour, and say what they do not show."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from bove.errors import BoveError
from bove.evaluate.plots import (
    LARGE_RANGE,
    MARKERS,
    PALETTE,
    Curve,
    Panel,
    draw_ablations,
    draw_training,
    figure_files,
    plot_style,
)

PANELS = [
    Panel("STS\nmean of 2 subsets", "Pearson's correlation", {"full": 0.56, "less": 0.52, "more": 0.57}),
    Panel("SNLI\ndev", "average precision (%)", {"full": 49.1, "less": 49.1}, {"more": "undefined"}),
]
VARIANTS = ["less", "full", "more"]


def curve(name, *, scale=1.0, rounds=6, terms=("words", "tags", "relations", "penalties")):
    total = [scale * (100 + 900 / r) for r in range(1, rounds + 1)]
    parts = {term: [x / (10**k * 4) for x in total] for k, term in enumerate(terms)}
    return Curve(name, range(1, rounds + 1), [0.5 * r * scale for r in range(1, rounds + 1)], total, parts)


def texts(draw, *args):
    """Texts of the SVG."""
    return re.findall(r"<text[^>]*>([^<]*)<", figure_files(draw, *args)["svg"].decode())


def figure(draw, *args):
    """The figure itself, drawn once so that all is in its place."""
    with plot_style():
        made = draw(*args)
        FigureCanvasAgg(made).draw()
    return made


def grey(colour):
    """Luminance of a colour in 0 to 1."""
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue


FIGURES = [
    (draw_ablations, PANELS, VARIANTS, "full"),
    (draw_training, [curve("als"), curve("sgd", scale=3)]),
]


def test_two_processes_with_other_settings_draw_the_same_bytes(tmp_path, monkeypatch):
    here = b"".join(content for figure in FIGURES for content in figure_files(*figure).values())
    (tmp_path / "matplotlibrc").write_text("font.size: 20\nsvg.fonttype: path\n", encoding="utf-8")
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_plots import FIGURES, figure_files\n"
        "for figure in FIGURES:\n"
        "    sys.stdout.buffer.writelines(figure_files(*figure).values())"
    )
    monkeypatch.setenv("MATPLOTLIBRC", str(tmp_path / "matplotlibrc"))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    command = [sys.executable, "-c", script, str(Path(__file__).parent)]
    assert subprocess.run(command, capture_output=True, check=True).stdout == here


def test_files_bear_neither_date_nor_version_and_no_window_library_is_loaded():
    files = figure_files(draw_ablations, PANELS, VARIANTS, "full")
    assert files["png"].startswith(b"\x89PNG") and b"tEXt" not in files["png"]
    assert b"dc:date" not in files["svg"] and b"dc:creator" not in files["svg"]
    assert "matplotlib.pyplot" not in sys.modules


def test_text_in_the_svg_is_text_and_names_are_shown_as_they_are():
    found = texts(draw_ablations, PANELS, ["full", "r_$x$_1"], "full")
    assert {"full", "r_$x$_1", "STS", "mean of 2 subsets", "Pearson's correlation"} <= set(found)
    assert [text.strip() for text in texts(draw_training, [curve("_$a$")])].count("_$a$") == 2


def test_neighbouring_lines_differ_in_more_than_colour_and_greys_are_told_apart_by_markers():
    axes = figure(draw_training, [curve(f"run {i}") for i in range(9)]).axes[0]
    looks = [(line.get_color(), line.get_marker(), line.get_linestyle()) for line in axes.lines]
    assert len(set(looks)) == 9
    for one, other in zip(looks, looks[1:], strict=False):
        assert one[1] != other[1] and one[2] != other[2]
    alike = [(a, b) for i, a in enumerate(PALETTE) for b in PALETTE[:i] if abs(grey(a) - grey(b)) < 0.05]
    assert alike, "all greys differ: the markers would not be needed"
    for a, b in alike:
        assert MARKERS[PALETTE.index(a) % len(MARKERS)] != MARKERS[PALETTE.index(b) % len(MARKERS)]


def test_rows_follow_the_given_order_from_the_top_and_the_base_is_a_line():
    first, second = figure(draw_ablations, PANELS, VARIANTS, "full").axes
    assert [label.get_text() for label in first.get_yticklabels()] == VARIANTS
    assert first.get_ylim()[0] > first.get_ylim()[1]
    assert (
        list(first.lines[0].get_xdata()) == [0.56, 0.56] and list(second.lines[0].get_xdata()) == [49.1] * 2
    )
    dots = {
        line.get_label(): line.get_xydata()[0].tolist() for line in first.lines if len(line.get_xydata()) == 1
    }
    assert dots == {"below the base": [0.52, 0], "the base": [0.56, 1], "above the base": [0.57, 2]}


def test_both_sides_of_the_base_differ_in_their_markers_filling():
    first = figure(draw_ablations, PANELS, VARIANTS, "full").axes[0]
    filling = {line.get_label(): line.get_markerfacecolor() for line in first.lines}
    assert filling["below the base"] == "white" != filling["above the base"]


def test_axes_span_the_values_and_do_not_start_at_0():
    for axes, panel in zip(figure(draw_ablations, PANELS, VARIANTS, "full").axes, PANELS, strict=True):
        low, high = axes.get_xlim()
        assert 0 < low < min(panel.values.values()) <= max(panel.values.values()) < high
        assert axes.get_xlabel() == panel.unit


def test_a_remark_stands_where_a_dot_is_missing():
    second = figure(draw_ablations, PANELS, VARIANTS, "full").axes[1]
    assert [(text.get_text(), text.get_position()[1]) for text in second.texts] == [("undefined", 2)]


def test_a_base_without_a_value_is_no_line_but_said():
    panel = Panel("STS", "Pearson's correlation", {"less": 0.5}, {"full": "undefined", "more": "undefined"})
    axes = figure(draw_ablations, [panel], VARIANTS, "full").axes[0]
    assert not any(len(set(line.get_xdata())) == 1 and len(line.get_xdata()) == 2 and
                   line.get_ydata()[0] != line.get_ydata()[1] for line in axes.lines)  # fmt: skip
    assert "the base has no value" in texts(draw_ablations, [panel], VARIANTS, "full")


def test_a_panel_without_any_value_can_be_drawn():
    panel = Panel("STS", "Pearson's correlation", {}, dict.fromkeys(VARIANTS, "undefined"))
    assert texts(draw_ablations, [panel], VARIANTS, "full").count("undefined") == 3


@pytest.mark.parametrize("n_panels", [1, 3, 7])
def test_no_two_texts_overlap_with_a_dozen_long_names(n_panels, monkeypatch):
    variants = [f"variant {i} with one more change to its settings" for i in range(12)]
    values = {name: 0.5 + 0.0001 * i for i, name in enumerate(variants)}
    made = [
        Panel(f"STS-{i} (development)\nmean of 6 subsets", "Pearson's correlation", values)
        for i in range(n_panels)
    ]
    assert_apart(monkeypatch, draw_ablations, made, variants, variants[0])


@pytest.mark.parametrize("n_runs", [1, 2, 4, 8])
@pytest.mark.parametrize("scale", [1.001, 10.0])
def test_no_two_texts_overlap_in_training_curves(n_runs, scale, monkeypatch):
    runs = [curve(f"a long run with penalty number {i}", scale=1e6 * scale**i) for i in range(n_runs)]
    assert_apart(monkeypatch, draw_training, runs)


def assert_apart(monkeypatch, *drawing):
    """No text that is drawn touches another one or leaves the page."""
    boxes = []

    def draw(text, renderer, original=Text.draw):
        if text.get_visible() and text.get_text().strip():
            boxes.append((text.get_text(), text.get_window_extent(renderer)))
        original(text, renderer)

    with plot_style(), monkeypatch.context() as patch:
        made = drawing[0](*drawing[1:])
        canvas = FigureCanvasAgg(made)
        canvas.draw()  # the layout settles
        patch.setattr(Text, "draw", draw)
        canvas.draw()
    assert len(boxes) > 10
    width, height = made.bbox.size
    for i, (text, box) in enumerate(boxes):
        assert box.x0 >= -1 and box.x1 <= width + 1, text
        assert box.y0 >= -1 and box.y1 <= height + 1, text
        for other, above in boxes[:i]:
            apart = box.x1 <= above.x0 or above.x1 <= box.x0 or box.y1 <= above.y0 or above.y1 <= box.y0
            assert apart, (text, other)


def test_an_axis_is_logarithmic_only_where_values_are_far_apart():
    near = figure(draw_training, [curve("a", terms=("words",))]).axes
    assert [axes.get_yscale() for axes in near] == ["linear", "linear"]
    far = figure(draw_training, [curve("a"), curve("b", scale=2 * LARGE_RANGE)]).axes
    assert [axes.get_yscale() for axes in far] == ["log"] * 3 and far[0].get_xscale() == "log"


def test_every_run_has_its_terms_over_rounds_and_empty_cells_are_gaps():
    runs = [curve("a"), curve("b", terms=("words", "relations"))]
    runs[1].terms["relations"][2] = None
    top, first, second = figure(draw_training, runs).axes
    assert [line.get_label() for line in top.lines] == ["a", "b"]
    assert [line.get_label() for line in first.lines] == ["words", "tags", "relations", "penalties"]
    assert {line.get_label(): list(line.get_xdata()) for line in second.lines} == {
        "words": [1, 2, 3, 4, 5, 6],
        "relations": [1, 2, 4, 5, 6],
    }
    assert first.lines[2].get_color() == second.lines[1].get_color()


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(BoveError, match=r"figures need Matplotlib; .*bove\[plots\]"):
        figure_files(draw_ablations, PANELS, VARIANTS, "full")
