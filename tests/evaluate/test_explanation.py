"""An explanation's best partners are what the scores are means of; its text and page say what they are."""

import json
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bove.evaluate import explain
from bove.evaluate.alignment import entailment_score, similarity_score
from bove.evaluate.explain import Explanation, Token, align, as_html, as_json, as_text

numbers = st.sampled_from([0.0, 1.0, -1.0, 0.5, -2.0, 3.25])
filled = st.integers(1, 5).flatmap(lambda n: arrays(np.float32, (n, 3), elements=numbers))


@given(filled, filled)
def test_the_scores_are_the_means_of_the_partners_cosines(first, second):
    found = align(first, second)
    assert found.plain.forward == entailment_score(first, second)
    assert found.plain.backward == entailment_score(second, first)
    assert found.plain.similarity == similarity_score(first, second)
    assert found.sides[1].cosines.mean() == pytest.approx(found.plain.forward, abs=2e-12)
    assert found.sides[0].cosines.mean() == pytest.approx(found.plain.backward, abs=2e-12)
    expected = [[reference.cosine(u, v) for v in second] for u in first]
    np.testing.assert_allclose(found.cosines, expected, atol=1e-12)
    for side, cosines in zip(found.sides, (found.cosines, found.cosines.T), strict=True):
        chosen = cosines[np.arange(len(cosines)), side.partners]
        np.testing.assert_allclose(chosen, cosines.max(axis=1), atol=1e-9)


def test_partners_are_tokens_and_of_equal_ones_the_nearest_in_place():
    the, dog = [1.0, 0.0], [0.0, 1.0]
    found = align(np.array([the, dog, the]), np.array([the, the, dog, the]))
    assert [side.partners.tolist() for side in found.sides] == [[0, 2, 1], [0, 0, 1, 2]]
    found = align(np.eye(2), np.eye(2)[::-1], ([1, 4], [0, 5]))
    assert [side.partners.tolist() for side in found.sides] == [[5, 0], [4, 1]]


def test_a_bag_without_vectors_leaves_the_other_without_partners():
    found = align(np.eye(2), np.zeros((0, 2)))
    assert found.sides[0].partners.tolist() == [-1, -1] and found.sides[0].cosines.tolist() == [0, 0]
    assert len(found.sides[1].places) == 0
    assert (found.plain.forward, found.plain.backward, found.plain.similarity) == (0, 0, 0)
    first, second = np.array([[3.0, 4.0], [1.0, 0.0]]), np.array([[4.0, 3.0], [0.0, 0.0]])
    np.testing.assert_allclose(explain.row_cosines(first, second), [0.96, 0])


@given(filled, filled, st.data())
def test_with_weights_the_scores_stand_beside_those_without(first, second, data):
    weights = tuple(
        data.draw(arrays(float, len(bag), elements=st.sampled_from([0, 1, 2.5]))) for bag in (first, second)
    )
    found, plain = align(first, second, weights=weights), align(first, second)
    assert found.plain == plain.plain
    assert found.weighted.similarity == similarity_score(first, second, weights)
    assert found.weighted.forward == entailment_score(first, second, weights)
    assert found.weighted.backward == entailment_score(second, first, weights[::-1])
    for side, w in zip(found.sides, weights, strict=True):
        np.testing.assert_allclose(side.shares * w.sum(), w)


@pytest.fixture
def explanation():
    """`<b> & x` against `x \\x1b`, the second of which has no word vector."""
    tokens = (
        (Token("<b>", "NN", "SBJ", 2, "b"), Token("&", "CC", "ROOT", 0, ""), Token("x", "NN", "OBJ", 2, "x")),
        (Token("x", "NN", "ROOT", 0, "x"), Token("\x1b[2J", "XX", "DEP", -1, "UNKNOWN_XX")),
    )
    bove = align(np.array([[1.0, 0], [1, 1], [0, 1]]), np.array([[0.6, 0.8], [-1, 0]]))
    words = align(np.array([[1.0, 0], [0, 1]]), np.array([[0, 2.0]]), ([0, 2], [0]))
    own = np.array([1, 0.5, 0.25]), np.array([0.125, 0])
    texts = "<b> & x", "x <script>alert(1)</script>"
    return Explanation(texts, tokens, {"word-vectors": words, "bove": bove}, own)


def test_the_text_names_partners_cosines_and_scores(explanation):
    lines = as_text(explanation).split("\n")
    words, bove = [line.split() for line in lines], explanation.alignments["bove"]
    assert ["1", "<b>", "NN", "SBJ", "2", "b", "x", "1", "0.0000", "x", "1", "0.6000", "1.0000"] in words
    assert ["2", "&", "CC", "ROOT", "0", "-", "-", "x", "1", "0.9899", "0.5000"] in words
    assert ["1", "x", "NN", "ROOT", "0", "x", "x", "3", "1.0000", "&", "2", "0.9899", "0.1250"] in words
    assert any(row[:4] == ["2", "\\x1b[2J", "XX", "DEP"] for row in words)
    assert ["STS", "0.6667", f"{bove.plain.similarity:.4f}"] in words
    shown = f"{bove.plain.forward:.4f}"
    assert ["SNLI,", "the", "first", "entails", "the", "second", "1.0000", shown] in words
    assert all(line == line.rstrip() and line.isprintable() for line in lines)
    assert explain.table(["a", "n"], [["long", "1"], ["b", "22"]], (1,)) == "a      n\nlong   1\nb     22"


@pytest.fixture
def weighted(explanation):
    """The same by evidence, `&` without any."""
    bove, weights = explanation.alignments["bove"], (np.array([3.0, 0, 1]), np.array([0.5, 1.5]))
    rows = np.array([[1.0, 0], [1, 1], [0, 1]]), np.array([[0.6, 0.8], [-1, 0]])
    words = align(np.array([[1.0, 0], [0, 1]]), np.array([[0, 2.0]]), ([0, 2], [0]), (np.ones(2), np.ones(1)))
    alignments = {"word-vectors": words, "bove": align(*rows, weights=weights)}
    assert np.array_equal(alignments["bove"].cosines, bove.cosines)
    return replace(explanation, alignments=alignments, weight="evidence", power=2.0)


def test_weights_stand_beside_their_words_in_text_json_and_page(weighted):
    text, content, page = as_text(weighted), as_json(weighted), as_html(weighted)
    words, found = [line.split() for line in text.split("\n")], weighted.alignments["bove"].weighted
    first = [
        "1",
        "<b>",
        "NN",
        "SBJ",
        "2",
        "b",
        "x",
        "1",
        "0.0000",
        "0.50",
        "x",
        "1",
        "0.6000",
        "0.75",
        "1.0000",
    ]
    assert (
        first in words
        and ["2", "&", "CC", "ROOT", "0", "-", "-", "-", "x", "1", "0.9899", "0.00", "0.5000"] in words
    )
    assert ["STS", "by", "evidence", "0.6667", f"{found.similarity:.4f}"] in words
    assert (
        "weight: the word's share of its sentence in the scores by evidence, to the power 2; one of 0" in text
    )
    bove = content["systems"]["bove"]
    assert (content["weight"], content["power"]) == ("evidence", 2)
    assert bove["weighted"]["sts"] == found.similarity and bove["first"]["weights"] == [0.75, 0, 0.25]
    assert "bove (evidence)" in page and ", 0.75</small>" in page
    assert "The number behind a word's label: the word&#39;s share" in page


def test_json_holds_every_number_in_full(explanation):
    content = json.loads(json.dumps(as_json(explanation)))
    (first, second), bove = content["sentences"], explanation.alignments["bove"]
    assert content["systems"]["bove"]["cosines"] == bove.cosines.tolist()
    assert content["systems"]["bove"]["sts"] == bove.plain.similarity
    partners = {"places": [0, 2], "partners": [0, 0], "cosines": [0, 1]}
    assert content["systems"]["word-vectors"]["first"] == partners
    token = {"form": "<b>", "tag": "NN", "relation": "SBJ", "head": 2, "known_as": "b"}
    assert first["tokens"][0] == token and second["own_cosines"] == [0.125, 0]


class Page(HTMLParser):
    """Elements that are open and shut in order, their attributes, and those of the cells."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.attributes, self.cells = [], set(), set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attributes}
        self.cells += [dict(attributes)] * (tag == "td" and "title" in dict(attributes))
        self.open += [tag] * (tag not in ("meta", "br"))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_loads_nothing_escapes_the_sentences_and_frames_best_partners(explanation):
    text = as_html(explanation)
    page = Page(text)
    assert not page.open and not {"src", "href", "srcset", "data"} & page.attributes
    assert not {"script", "link", "img", "iframe"} & page.seen
    assert "url(" not in text and "@import" not in text and "http" not in text
    assert "&lt;b&gt;" in text and "&lt;script&gt;alert(1)" in text
    cells = {cell["title"]: cell["class"] for cell in page.cells}
    assert cells["0.600000"] == "row"  # <b> with x, whose own best is &
    assert cells["0.989949"] == "row column" and cells["-1.000000"] == ""


def luminance(colour):
    """Relative luminance (0 to 1) of an sRGB colour, as WCAG 2 defines it."""
    c = np.array(colour) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) @ (0.2126, 0.7152, 0.0722)


def test_shades_fall_evenly_in_lightness_and_text_on_them_can_be_read():
    shades = [explain.shade(cosine) for cosine in np.linspace(-1, 1, 201)]
    light = np.array([luminance(colour) for colour in shades])
    assert np.all(light[:101] == light[0]) and np.all(np.diff(light[100:]) <= 0) and light[-1] < 0.05
    assert len(set(shades)) > 90
    black, white = (light + 0.05) / 0.05, 1.05 / (light + 0.05)  # contrasts of WCAG 2
    assert np.all(np.maximum(black, white) >= 4.5)
    legend = Page(as_html(Explanation(("a", "b"), ((), ()), {}, (np.zeros(0), np.zeros(0))))).cells
    assert [cell["title"] for cell in legend] == [f"{step / 5:.6f}" for step in range(6)]
    for cell, n in zip(legend, range(100, 201, 20), strict=True):
        text = "#000" if black[n] >= white[n] else "#fff"
        assert cell["style"] == f"background:#{bytes(shades[n]).hex()};color:{text}"
