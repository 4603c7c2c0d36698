"""Nearest rows are exact whatever the blocks; a word is found in its sentence, and shown in it."""

import numpy as np
import pytest

from bove.evaluate import search as module
from bove.evaluate.neighbours import Neighbours, TokenNeighbour, WordNeighbour, as_text, find_places, marked
from bove.evaluate.search import nearest

FORMS = ("The", "dog", "chased", "the", "Dog", "at", "10:2")


@pytest.mark.parametrize("block", [1, 3, 7, 100])
@pytest.mark.parametrize("count", [1, 4, 50])
def test_the_nearest_rows_are_those_of_plain_sorting(monkeypatch, block, count):
    monkeypatch.setattr(module, "BLOCK", block)
    rng = np.random.default_rng(0)
    vectors = rng.integers(-1, 2, (20, 3)).astype(np.float32)  # many ties, and zero vectors
    queries, allowed = rng.standard_normal((2, 3)), rng.random(20) < 0.7
    for some in (None, allowed):
        for query, found in zip(queries, nearest(queries, vectors, count, some), strict=True):
            norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(query)
            cosines = np.divide(vectors @ query, norms, out=np.zeros(20), where=norms > 0)
            rows = [row for row in range(20) if some is None or some[row]]
            best = sorted(rows, key=lambda row: (-round(cosines[row], 9), row))[:count]
            assert found.numbers.tolist() == best
            np.testing.assert_allclose(found.scores, cosines[best], atol=1e-7)


def test_a_word_is_found_as_spelt_or_else_in_any_case():
    for word, places in {
        "dog": [1],
        "DOG": [1, 4],
        "DOG:2": [4],
        "the": [3],
        "tHe:1": [0],
        "10:2": [6],
    }.items():
        assert find_places(word, FORMS) == places
    for word in ("DOG:3", "DOG:0", "cat", "dog:", "dog:x", "", ":1", "dog:" + "9" * 5000):
        assert find_places(word, FORMS) == []


def test_a_long_sentence_is_shown_around_the_word():
    assert marked(("a", "b", "c"), 1) == "a [b] c"
    assert marked(tuple("abcdefg"), 3, 1) == "… c [d] e …"
    assert marked(tuple("abcdefg"), 0, 2) == "[a] b c …"


def test_the_text_has_every_neighbour():
    near = (
        TokenNeighbour(0.95, None, "s1", ("a", "cat"), 1, 1),
        TokenNeighbour(-0.00001, 0.5, "s2", ("big", "mule"), 1, 3),
    )
    found = Neighbours(FORMS, 1, near, (WordNeighbour("hen", 0.8),))
    lines = [" ".join(line.split()) for line in as_text(found, "9 tokens").split("\n")]
    assert lines[0] == "dog, word 2 of: The [dog] chased the Dog at 10:2"
    assert {"0.9500 - cat a [cat]", "0.0000 0.5000 mule big [mule] (3 times)", "0.8000 hen"} <= set(lines)
    assert "in context: the nearest bove vectors among 9 tokens" in lines
    assert "dog has no vector of its own" in as_text(Neighbours(FORMS, 1, near, None), "")
