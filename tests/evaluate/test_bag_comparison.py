"""Cosines of corresponding vectors of two files of bags."""

import numpy as np
import pytest

from bove.bags.store import Bags, BagWriter
from bove.errors import BoveError
from bove.evaluate.comparisons import by_length, compare_bags, summarise_bags


def bags(path, sentences):
    """A file of these sentences' vectors, by id; equal ones share a bag."""
    arrays = [np.asarray(vectors, np.float32) for vectors in sentences.values()]
    keys = [array.tobytes() for array in arrays]
    distinct = list(dict.fromkeys(keys))
    rank = max(array.shape[1] for array in arrays)
    lengths = [len(arrays[keys.index(key)]) for key in distinct]
    index = [distinct.index(key) for key in keys]
    with BagWriter(path, list(sentences), lengths, index, rank, "bove", "m") as writer:
        for b, key in enumerate(distinct):
            if lengths[b]:
                writer.put(b, arrays[keys.index(key)])
    return Bags.open(path)


def test_cosines_are_those_of_the_same_sentence_and_token_whatever_the_order(tmp_path):
    rng = np.random.default_rng(0)
    one = {name: rng.normal(size=(n, 5)) for name, n in (("a", 3), ("b", 1), ("c", 7))}
    other = {name: rng.normal(size=one[name].shape) for name in ("c", "a", "b")}
    found = compare_bags(bags(tmp_path / "1", one), bags(tmp_path / "2", other))
    expected = [
        np.dot(v, w) / np.sqrt(np.dot(v, v) * np.dot(w, w))
        for name in one
        for v, w in zip(one[name], other[name], strict=True)
    ]
    assert found.lengths.tolist() == [3, 1, 7]
    np.testing.assert_allclose(found.cosines, expected, rtol=1e-6)


def test_length_and_sign_of_vectors(tmp_path):
    one = bags(tmp_path / "1", {"a": [[1, 0], [3, 4], [1e-30, 0], [1e15, 0]], "b": [[2, 2]], "c": [[2, 2]]})
    two = bags(tmp_path / "2", {"a": [[5, 0], [-3, -4], [1e-30, 0], [0, 1e15]], "b": [[1, 1]], "c": [[1, 0]]})
    expected = [1, -1, 1, 0, 1, np.sqrt(0.5)]
    np.testing.assert_allclose(compare_bags(one, two).cosines, expected, atol=1e-7)
    np.testing.assert_allclose(compare_bags(one, one).cosines, np.ones(6), atol=1e-15)


def test_zero_vectors_have_no_cosine_and_are_counted(tmp_path):
    one = bags(tmp_path / "1", {"a": [[0, 0], [0, 0], [1, 0], [1, 0]]})
    two = bags(tmp_path / "2", {"a": [[0, 0], [1, 0], [0, 0], [0, 1]]})
    found = compare_bags(one, two)
    assert found.zeros == {"first": 2, "second": 2, "both": 1}
    assert np.isnan(found.cosines).tolist() == [True, True, True, False]
    assert summarise_bags(found.cosines)["tokens"] == 1


def test_a_summary_of_known_values():
    found = summarise_bags(np.array([1.0, np.nan, 0.9, 0.8, 0.4, -1.0]))
    assert found["tokens"] == 5 and found["mean"] == pytest.approx(0.42)
    assert found["quantiles"]["0"] == -1 and found["quantiles"]["1"] == 1 and found["quantiles"]["0.5"] == 0.8
    assert found["quantiles"]["0.25"] == pytest.approx(0.4)
    assert found["tokens_below"] == {"0.5": 2, "0.9": 3, "0.99": 4}
    assert found["share_below"]["0.9"] == 3 / 5


def test_classes_of_lengths_have_their_own_tokens(tmp_path):
    def sentences(sign):
        sizes = {"none": 0, "five": 5, "six": 6, "ten": 10, "forty": 40, "long": 41}
        return {name: np.tile([[1, sign * (n in (6, 10))]], (n, 1)) for name, n in sizes.items()}

    found = compare_bags(bags(tmp_path / "1", sentences(1)), bags(tmp_path / "2", sentences(-1)))
    rows = [(part["length"], part["sentences"], part["tokens"], part["mean"]) for part in by_length(found)]
    # (1, 1) against (1, -1) is 0; 11 to 20 tokens do not occur
    assert [row[:3] for row in rows] == [
        ("1 to 5", 1, 5),
        ("6 to 10", 2, 16),
        ("21 to 40", 1, 40),
        ("41 or more", 1, 41),
    ]
    np.testing.assert_allclose([row[3] for row in rows], [1, 0, 1, 1], atol=1e-12)


def test_of_no_token_there_is_no_value(tmp_path):
    nothing = bags(tmp_path / "1", {"a": np.zeros((0, 2))})
    found = summarise_bags(compare_bags(nothing, nothing).cosines)
    assert found["tokens"] == 0 and found["mean"] is None and set(found["quantiles"].values()) == {None}


@pytest.mark.parametrize(
    ("one", "two", "message"),
    [
        ({"a": [[1]], "b": [[1]]}, {"a": [[1]]}, r"2: has no bag for sentence 'b', which .*1 has"),
        ({"a": [[1]]}, {"x": [[1]], "a": [[1]], "y": [[1]]}, r"1: has no bag for sentence 'x', .*of 2 such"),
        ({"a": [[1]], "b": [[1]]}, {"a": [[1]], "b": [[1], [2]]}, r"2: sentence 'b' has 2 vectors, but 1 in"),
        ({"a": [[1]]}, {"a": [[1, 2]]}, "2: vectors of 2 dimensions, but .*1 has 1"),
        ({"a": [[1]]}, {"a": [[np.nan]]}, "2: the bag of sentence 'a' holds a value that is not finite"),
    ],
)
def test_files_that_can_not_be_compared(tmp_path, one, two, message):
    with pytest.raises(BoveError, match=message):
        compare_bags(bags(tmp_path / "1", one), bags(tmp_path / "2", two))
