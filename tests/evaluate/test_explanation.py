"""An explanation's best partners are what the scores are means of; its text and page say what they are."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
import reference_alignment
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bove.evaluate.alignment import entailment_score, similarity_score
from bove.evaluate.explain import (
    Explanation,
    Token,
    align,
    explanation_as_html,
    explanation_as_json,
    explanation_as_text,
    luminance,
    row_cosines,
    shade,
    table,
)

numbers = st.sampled_from([0.0, 1.0, -1.0, 0.5, -2.0, 3.25])
filled = st.integers(1, 5).flatmap(lambda n: arrays(np.float32, (n, 3), elements=numbers))


@settings(deadline=None)
@given(filled, filled)
def test_the_scores_are_the_means_of_the_partners_cosines(first, second):
    found = align(first, second)
    assert found.forward == entailment_score(first, second)
    assert found.backward == entailment_score(second, first)
    assert found.similarity == similarity_score(first, second)
    assert found.sides[1].cosines.mean() == pytest.approx(found.forward, abs=2e-12)
    assert found.sides[0].cosines.mean() == pytest.approx(found.backward, abs=2e-12)
    expected = [[reference_alignment.cosine(u, v) for v in second] for u in first]
    np.testing.assert_allclose(found.cosines, expected, atol=1e-12)
    for side, cosines in ((found.sides[0], found.cosines), (found.sides[1], found.cosines.T)):
        chosen = cosines[np.arange(len(cosines)), side.partners]
        np.testing.assert_allclose(chosen, cosines.max(axis=1), atol=1e-9)


def test_of_equal_partners_the_nearest_in_place_is_named():
    the, dog = [1.0, 0.0], [0.0, 1.0]
    found = align(np.array([the, dog, the]), np.array([the, the, dog, the]))
    assert found.sides[0].partners.tolist() == [0, 2, 1]
    assert found.sides[1].partners.tolist() == [0, 0, 1, 2]


def test_partners_are_tokens_where_some_have_no_vector():
    found = align(np.eye(2), np.eye(2)[::-1], ([1, 4], [0, 5]))
    assert found.sides[0].places.tolist() == [1, 4] and found.sides[0].partners.tolist() == [5, 0]
    assert found.sides[1].partners.tolist() == [4, 1]


def test_a_bag_without_vectors_leaves_the_other_without_partners():
    found = align(np.eye(2), np.zeros((0, 2)))
    assert found.sides[0].partners.tolist() == [-1, -1] and found.sides[0].cosines.tolist() == [0, 0]
    assert len(found.sides[1].places) == 0
    assert (found.forward, found.backward, found.similarity) == (0, 0, 0)


def test_row_cosines_are_zero_with_a_zero_vector():
    first, second = np.array([[3.0, 4.0], [1.0, 0.0]]), np.array([[4.0, 3.0], [0.0, 0.0]])
    np.testing.assert_allclose(row_cosines(first, second), [0.96, 0])


@pytest.fixture
def explanation():
    """`<b> & x` against `x \\x1b`, the second of which has no word vector."""
    tokens = (
        (Token("<b>", "NN", "SBJ", 2, "b"), Token("&", "CC", "ROOT", 0, ""), Token("x", "NN", "OBJ", 2, "x")),
        (Token("x", "NN", "ROOT", 0, "x"), Token("\x1b[2J", "XX", "DEP", -1, "UNKNOWN_XX")),
    )
    bove = align(np.array([[1.0, 0], [1, 1], [0, 1]]), np.array([[0.6, 0.8], [-1, 0]]))
    plain = align(np.array([[1.0, 0], [0, 1]]), np.array([[0, 2.0]]), ([0, 2], [0]))
    own = np.array([1, 0.5, 0.25]), np.array([0.125, 0])
    return Explanation(
        ("<b> & x", "x <script>alert(1)</script>"), tokens, {"word-vectors": plain, "bove": bove}, own
    )


def test_the_text_names_partners_cosines_and_scores(explanation):
    lines = explanation_as_text(explanation).split("\n")
    words = [line.split() for line in lines]
    assert ["1", "<b>", "NN", "SBJ", "2", "b", "x", "1", "0.0000", "x", "1", "0.6000", "1.0000"] in words
    assert ["2", "&", "CC", "ROOT", "0", "-", "-", "x", "1", "0.9899", "0.5000"] in words
    assert ["1", "x", "NN", "ROOT", "0", "x", "x", "3", "1.0000", "&", "2", "0.9899", "0.1250"] in words
    assert any(row[:4] == ["2", "\\x1b[2J", "XX", "DEP"] for row in words)
    assert "\x1b" not in explanation_as_text(explanation)
    bove = explanation.alignments["bove"]
    assert ["STS", "0.6667", f"{bove.similarity:.4f}"] in words
    assert ["SNLI,", "the", "first", "entails", "the", "second", "1.0000", f"{bove.forward:.4f}"] in words
    assert all(line == line.rstrip() for line in lines)


def test_columns_are_as_wide_as_they_need():
    assert table(["a", "n"], [["long", "1"], ["b", "22"]], (1,)) == "a      n\nlong   1\nb     22"


def test_json_holds_every_number_in_full(explanation):
    content = json.loads(json.dumps(explanation_as_json(explanation)))
    bove = explanation.alignments["bove"]
    assert content["systems"]["bove"]["cosines"] == bove.cosines.tolist()
    assert content["systems"]["bove"]["sts"] == bove.similarity
    assert content["systems"]["word-vectors"]["first"] == {
        "places": [0, 2], "partners": [0, 0], "cosines": [0, 1]
    }  # fmt: skip
    assert content["sentences"][0]["tokens"][0] == {
        "form": "<b>", "tag": "NN", "relation": "SBJ", "head": 2, "known_as": "b"
    }  # fmt: skip
    assert content["sentences"][1]["own_cosines"] == [0.125, 0]


class Page(HTMLParser):
    """Elements that are open and shut in order, and what the page would load."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.addresses, self.cells = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href", "srcset", "data")]
        if tag == "td":
            self.cells.append(dict(attributes))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_loads_nothing_and_escapes_the_sentences(explanation):
    text = explanation_as_html(explanation)
    page = Page(text)
    assert not page.open and not page.addresses
    assert not {"script", "link", "img", "iframe"} & set(page.seen)
    assert "url(" not in text and "@import" not in text and "http" not in text
    assert "&lt;b&gt;" in text and "&lt;script&gt;alert(1)" in text


def test_best_partners_are_framed_and_cells_have_their_cosines(explanation):
    cells = {
        cell["title"]: cell.get("class", "")
        for cell in Page(explanation_as_html(explanation)).cells
        if "title" in cell
    }
    assert cells["0.600000"] == "row"  # <b> with x, whose own best is &
    assert cells["0.989949"] == "row column"
    assert cells["-1.000000"] == ""


def test_shades_fall_evenly_in_lightness_and_text_on_them_can_be_read():
    shades = [shade(cosine) for cosine in np.linspace(-1, 1, 201)]
    light = np.array([luminance(colour) for colour in shades])
    assert np.all(light[:101] == light[0]) and np.all(np.diff(light[100:]) <= 0) and light[-1] < 0.05
    assert len(set(shades)) > 90
    text = explanation_as_html(Explanation(("a", "b"), ((), ()), {}, (np.zeros(0), np.zeros(0))))
    styles = re.findall(r"background:#(\w{6});color:#(\w{3})", text)
    assert len(styles) == 6
    for cosine in np.linspace(0, 1, 101):
        background = luminance(shade(cosine))
        best = max(1.05 / (background + 0.05), (background + 0.05) / 0.05)
        assert best >= 4.5
    for background, colour in styles:
        own = luminance(tuple(bytes.fromhex(background)))
        assert (colour == "000") == ((own + 0.05) / 0.05 >= 1.05 / (own + 0.05))
