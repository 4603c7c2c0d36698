"""The alignment scores agree with plain loops and have the properties that their formulas promise."""

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from threadpoolctl import threadpool_limits

from bove.errors import BoveError
from bove.evaluate.alignment import (
    entailment_score,
    score_pairs,
    similarity_score,
    token_weights,
    unit_rows,
)

RANK = 3
ROUNDING = 2e-12
# Plain numbers beside zeros, so that zero vectors, opposite vectors and duplicates all occur.
numbers = st.sampled_from([0.0, 0.0, 1.0, -1.0, 0.5, -2.0, 3.25, 1e-30, 1e30])
bags = st.integers(0, 5).flatmap(lambda n: arrays(np.float32, (n, RANK), elements=numbers))
filled = st.integers(1, 5).flatmap(lambda n: arrays(np.float32, (n, RANK), elements=numbers))


@given(bags, bags)
def test_both_scores_agree_with_plain_loops_and_similarity_is_symmetric(first, second):
    entailment, similarity = entailment_score(first, second), similarity_score(first, second)
    assert entailment == pytest.approx(reference.snli(first, second), abs=ROUNDING)
    assert similarity == pytest.approx(reference.sts(first, second), abs=ROUNDING)
    assert similarity == pytest.approx(similarity_score(second, first), abs=ROUNDING)
    assert similarity <= 1 and -1 <= entailment <= 1


@given(bags, bags, st.randoms(use_true_random=False))
def test_order_of_tokens_and_length_of_vectors_do_not_matter(first, second, random):
    order = list(range(len(first)))
    random.shuffle(order)
    expected = entailment_score(first, second)
    assert entailment_score(4 * first[order], second / 8) == pytest.approx(expected, abs=ROUNDING)


@given(filled)
def test_a_bag_without_zero_vectors_entails_itself_fully(bag):
    bag = bag[np.abs(bag).sum(axis=1) > 0]
    if len(bag):
        assert entailment_score(bag, bag) == 1
        assert similarity_score(bag, bag) == 1


@given(filled, filled, filled)
def test_more_words_in_the_first_sentence_never_entail_less(first, more, second):
    more_words = entailment_score(np.concatenate([first, more]), second)
    assert more_words >= entailment_score(first, second) - ROUNDING


def weighted(n):
    return st.lists(st.sampled_from([0.0, 0.25, 1.0, 3.0, 1e-200, 1e200]), min_size=n, max_size=n)


@given(bags, bags, st.data())
def test_weighted_scores_agree_with_plain_loops_and_do_not_depend_on_the_scale_of_weights(
    first, second, data
):
    weights = data.draw(weighted(len(first))), data.draw(weighted(len(second)))
    entailment = entailment_score(first, second, weights)
    assert entailment == pytest.approx(reference.snli(first, second, weights), abs=ROUNDING)
    similarity = similarity_score(first, second, weights)
    assert similarity == pytest.approx(reference.sts(first, second, weights), abs=ROUNDING)
    scaled = tuple(factor * np.array(w) for factor, w in zip((7e-5, 3e5), weights, strict=True))
    assert entailment_score(first, second, scaled) == pytest.approx(entailment, abs=ROUNDING)


@given(bags, bags, st.floats(1e-9, 1e9))
def test_weights_of_equal_size_give_the_scores_without_weights(first, second, size):
    weights = np.full(len(first), size), np.full(len(second), 3.0)
    found = similarity_score(first, second, weights)
    assert found == pytest.approx(similarity_score(first, second), abs=ROUNDING)


@given(filled, filled, bags, st.data())
def test_a_token_of_weight_0_changes_nothing_on_either_side(first, second, more, data):
    ours, theirs, none = np.ones(len(first)), data.draw(weighted(len(second))), np.zeros(len(more))
    longer, weights = np.concatenate([first, more]), np.concatenate([ours, none])
    for score in (similarity_score, entailment_score):
        assert score(longer, second, (weights, theirs)) == score(first, second, (ours, theirs))
        assert score(second, longer, (theirs, weights)) == score(second, first, (theirs, ours))
        assert score(more, second, (none, theirs)) == 0


def test_token_weights_are_powers_of_length_or_evidence_and_0_where_that_is_not_positive():
    bag, evidence = np.array([[3, 4], [0, 0], [0, 10]], np.float32), np.array([-1.0, 0, 4])
    assert token_weights("none", 2, bag) is None
    np.testing.assert_allclose(token_weights("length", 2, bag), [0.25, 0, 1])
    np.testing.assert_allclose(token_weights("evidence", 0.5, bag[::-1], evidence[::-1]), [1, 0, 0])
    assert not token_weights("length", 3, np.zeros((2, 4))).any()
    np.testing.assert_allclose(token_weights("length", 3, np.array([[1e-150], [2e-150]])), [0.125, 1])


def test_pairs_with_weights_are_scored_alike_and_tokens_without_are_counted_once_a_bag():
    store = [np.eye(3), np.array([[1.0, 1, 0], [0, 0, -1]]), np.ones((1, 3))]
    weights = [np.array([1.0, 0, 3]), np.array([2.0, 1]), np.zeros(1)]
    found = score_pairs([0, 1, 0], [1, 0, 2], store.__getitem__, "entailment", lambda b, vectors: weights[b])
    pairs = [(0, 1), (1, 0)]
    want = [entailment_score(store[b], store[c], (weights[b], weights[c])) for b, c in pairs]
    assert found.values.tolist() == [*want, 0] and found.empty.tolist() == [False, False, True]
    assert found.weightless == 2


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1], [1, np.nan], [[1.0], [1]]])
def test_weights_that_do_not_fit_a_bag_are_refused(weights):
    with pytest.raises(BoveError, match="for a bag of 2 vectors; give one finite number"):
        similarity_score(np.eye(2), np.eye(2), ([1, 1], weights))


def test_entailment_has_a_direction():
    premise, hypothesis = np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32)[:1]
    assert entailment_score(premise, hypothesis) == 1
    assert entailment_score(hypothesis, premise) == 0.5
    assert similarity_score(premise, hypothesis) == pytest.approx(2 / 3)


def test_a_zero_vector_counts_as_a_word_with_cosine_zero():
    bag = np.array([[1, 0], [0, 0]], np.float32)
    assert entailment_score(bag[:1], bag) == 0.5
    assert entailment_score(bag, -bag[:1]) == 0
    assert entailment_score(bag[1:], bag) == 0


def test_similarity_is_the_fraction_while_the_sum_is_positive_and_zero_from_there():
    """One direction is negative: the pair is flagged, and the formula holds as it stands."""
    first = np.array([[1, 0]], np.float32)
    second = np.array([[1, 0], [-1, 0.01], [-1, 0.02], [-1, 0.03]], np.float32)
    assert reference.snli(first, second) < 0 < reference.snli(second, first)
    a, b = reference.snli(first, second), reference.snli(second, first)
    assert a + b > 0 and similarity_score(first, second) == pytest.approx(2 * a * b / (a + b))
    result = score_pairs([0], [1], [first, second].__getitem__, "similarity")
    assert result.values[0] == similarity_score(first, second) and result.opposed.tolist() == [True]
    assert similarity_score(first, -first) == 0


@pytest.mark.parametrize("task", ["similarity", "entailment"])
def test_an_empty_bag_scores_zero_and_is_flagged(task):
    word, nothing = np.ones((2, RANK), np.float32), np.zeros((0, RANK), np.float32)
    result = score_pairs([0, 0, 1, 1], [0, 1, 0, 1], [word, nothing].__getitem__, task)
    assert result.values.tolist() == [1, 0, 0, 0]
    assert result.empty.tolist() == [False, True, True, True]
    assert not result.opposed.any()


@given(st.lists(bags, min_size=1, max_size=4), st.data())
def test_many_pairs_score_as_one_by_one_and_read_each_bag_once(store, data):
    numbers = st.integers(0, len(store) - 1)
    pairs = data.draw(st.lists(st.tuples(numbers, numbers), max_size=12))
    first, second = [p[0] for p in pairs], [p[1] for p in pairs]
    for task, score in (("similarity", similarity_score), ("entailment", entailment_score)):
        read = []
        result = score_pairs(first, second, lambda b, read=read: read.append(b) or store[b], task)
        assert result.values.tolist() == [score(store[b], store[c]) for b, c in pairs]
        assert sorted(read) == sorted({*first, *second})


def test_pairs_alike_up_to_rounding_tie():
    rng = np.random.default_rng(0)
    bag = rng.normal(size=(7, 300)).astype(np.float32)
    rotated = [np.roll(bag, k, axis=0) * np.float32(2.0**k) for k in range(7)]
    scores = {entailment_score(bag, other) for other in rotated}
    scores |= {entailment_score(np.roll(bag, 3, axis=1), np.roll(other, 3, axis=1)) for other in rotated}
    assert scores == {1.0}


def test_unit_rows_leave_their_argument_alone_and_find_the_direction_where_squares_are_not_finite():
    bag = np.array([[3e300, 4e300], [3e-300, -4e-300], [0, 0], [5e-324, 0], [3, 4]])
    np.testing.assert_allclose(unit_rows(bag), [[0.6, 0.8], [0.6, -0.8], [0, 0], [1, 0], [0.6, 0.8]])
    assert bag[0].tolist() == [3e300, 4e300] and bag[-1].tolist() == [3, 4]
    assert similarity_score(bag[:1], np.array([[3.0, 4.0]])) == 1.0


def test_the_number_of_threads_changes_nothing():
    rng = np.random.default_rng(1)
    bags = [rng.normal(size=(n, 300)).astype(np.float32) for n in rng.integers(1, 60, 80)]
    for task in ("similarity", "entailment"):
        found = []
        for threads in (1, 2):
            with threadpool_limits(threads):
                scored = score_pairs(list(range(40)), list(range(40, 80)), bags.__getitem__, task)
            found.append(scored.values.tolist())
        assert found[0] == found[1]
