"""Training end to end on small random corpora."""

from dataclasses import replace

import numpy as np
import pytest
import reference
from corpora import make_corpus, split

from bove.errors import BoveError
from bove.factor.als import AlsTrainer, initial_properties, initial_state
from bove.factor.settings import AlsSettings

SETTINGS = AlsSettings(
    alpha=2.0, lambda_P=0.5, lambda_R=0.3, lambda_E=0.4, max_rounds=6, tolerance=1e-3, restart_every=4,
    restart_iterations=5, e_step="averaged", e_tolerance=1e-6, e_energy=1.0, r_tolerance=1e-10,
    r_iterations=300, batch_tokens=12,
)  # fmt: skip
GROUPS = {"words": slice(0, 4), "tags": slice(4, 7)}
LENGTHS = [3, 8, 1, 0, 8, 5, 20]


def start(seed=1, dtype=np.float64, r=4, unknown=None):
    rng = np.random.default_rng(seed)
    corpus, dense = make_corpus(rng, LENGTHS, unknown=unknown)
    frozen = np.arange(7) < 2
    P = initial_properties(7, rng.standard_normal((2, r)).astype(dtype), frozen, seed, dtype)
    return corpus, dense, frozen, initial_state(corpus, P)


def train(settings=SETTINGS, threads=1, **options):
    corpus, dense, frozen, state = start(**options)
    for state in AlsTrainer(corpus, frozen, GROUPS, settings, threads).rounds(state):
        pass
    return corpus, dense, state


@pytest.mark.parametrize("unknown", [None, 0.2])
def test_rounds_equal_the_oracle_restart_included(unknown):
    corpus, dense, state = train(replace(SETTINGS, tolerance=-np.inf), unknown=unknown)
    s, (_, _, frozen, first) = SETTINGS, start(unknown=unknown)
    P, R, E = first.P, first.R, split(first.E, corpus)
    for turn in range(6):
        if turn == 4:
            E = [reference.infer(g, P, R, s.alpha, s.lambda_E, 5) for g in dense]
        once = [reference.e_step(g, P, R, e, s.alpha, s.lambda_E) for g, e in zip(dense, E, strict=True)]
        twice = [reference.e_step(g, P, R, e, s.alpha, s.lambda_E) for g, e in zip(dense, once, strict=True)]
        E = [(a + b) / 2 for a, b in zip(once, twice, strict=True)]
        P = np.where(frozen[:, None], P, reference.p_step(dense, E, s.lambda_P))
        R = reference.r_step(dense, E, s.lambda_R / s.alpha)
        want = reference.objective(dense, P, R, E, s.alpha, s.lambda_P, s.lambda_R, s.lambda_E)
        assert state.log[turn]["total"] == pytest.approx(want, rel=1e-6)
        assert state.log[turn]["restart"] == int(turn == 4)
    np.testing.assert_allclose(state.P, P, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(state.R, R, rtol=1e-4, atol=1e-6)


def test_the_stopping_rule_ends_training_and_the_loss_has_fallen():
    frozen = 0.5 * np.square(start()[-1].P[:2]).sum()
    for stop in ("loss", "explained"):
        corpus, _, state = train(replace(SETTINGS, max_rounds=200, restart_every=0, stop=stop))
        assert state.finished and state.round < 200
        nothing = len(corpus.properties) + 2.0 * corpus.arc_squares.sum()
        losses = [row["total"] for row in state.log]
        wholes = [L if stop == "loss" else nothing - (L - frozen) for L in losses]
        gains = [(a - b) / w for a, b, w in zip(losses[:-1], losses[1:], wholes[:-1], strict=True)]
        assert losses[-1] < losses[0] and gains[-1] < 1e-3 and min(gains[:-1]) >= 1e-3
        assert [row["gain"] for row in state.log] == [None, *map(pytest.approx, gains)]


def test_a_start_that_explains_less_than_nothing_is_trained_on_and_a_tolerance_of_0_takes_all_rounds():
    corpus, _, frozen, state = start()
    far = initial_state(corpus, state.P, 30 * np.random.default_rng(0).standard_normal(state.E.shape))
    settings = replace(SETTINGS, max_rounds=40, restart_every=0, stop="explained")
    last = far
    for last in AlsTrainer(corpus, frozen, GROUPS, settings).rounds(far):
        pass
    nothing = len(corpus.properties) + 2.0 * corpus.arc_squares.sum()
    assert last.log[0]["total"] > 2 * nothing and last.log[1]["gain"] > 0 and last.round > 5
    for stop in ("loss", "explained"):
        settings = replace(
            SETTINGS, max_rounds=300, restart_every=0, tolerance=0, stop=stop, r_tolerance=1e-3
        )
        _, _, whole = train(settings, dtype=np.float32)
        assert whole.round == 300 and not whole.finished and min(row["gain"] for row in whole.log[1:]) < 0


def test_the_tolerance_of_the_r_step_follows_the_gain_of_rounds():
    _, _, state = train(replace(SETTINGS, r_tolerance=1e-2, tolerance=0, max_rounds=12, restart_every=0))
    residuals, gains = zip(*((row["r_residual"], row["gain"]) for row in state.log), strict=True)
    allowed = [0.1, 0.1] + [min(max(gain, 1e-2), 0.1) for gain in gains[1:-1]]
    assert (np.array(residuals) <= allowed).all() and gains[-2] < 0.05
    assert max(residuals) > 1e-2, "no round was loose"


def test_the_fixed_point_e_step_ends_where_a_token_vector_is_stationary():
    corpus, dense, frozen, state = start()
    settings = replace(SETTINGS, e_step="fixed-point", restart_iterations=400, lambda_E=6.0, max_rounds=3)
    _, before, last = AlsTrainer(corpus, frozen, GROUPS, settings).rounds(state)
    assert last.round == 3 and last.log[-1]["total"] < last.log[0]["total"]
    # the last E is the fixed point of the P and R before the round's P- and R-step
    for graph, e in zip(dense, split(last.E, corpus), strict=True):
        step = reference.e_step(graph, before.P, before.R, e, 2.0, 6.0)
        np.testing.assert_allclose(step, e, rtol=1e-3, atol=1e-5)


def test_two_hundred_rounds_on_rank_deficient_float32_end_finite_or_stop_loudly():
    rng = np.random.default_rng(3)
    corpus, _ = make_corpus(rng, [4, 4, 4], c=2, d=2)
    settings = replace(
        SETTINGS, max_rounds=200, tolerance=-np.inf, lambda_P=1e-8, lambda_R=1e-8, lambda_E=1e-8,
        r_tolerance=1e-3, r_iterations=30,
    )  # fmt: skip
    P = initial_properties(2, np.zeros((0, 12), np.float32), np.zeros(2, bool), 0, np.float32)
    state = initial_state(corpus, P)
    try:
        for state in AlsTrainer(corpus, np.zeros(2, bool), {"words": slice(0, 2)}, settings).rounds(state):
            pass
    except BoveError as e:
        assert "lambda" in str(e)
    assert np.isfinite(state.P).all() and np.isfinite(state.R).all()
    assert all(np.isfinite(row["total"]) for row in state.log)


def test_a_single_step_from_given_token_vectors_is_rescal_with_properties():
    rng = np.random.default_rng(5)
    corpus, dense = make_corpus(rng, [9])
    r, s = 4, replace(SETTINGS, e_step="single", restart_every=0, max_rounds=8, tolerance=-np.inf)
    E, P = rng.standard_normal((9, r)), np.zeros((7, r))
    none = {"properties": corpus.properties[:0], "property_offsets": 0 * corpus.property_offsets}
    without = replace(corpus, n_properties=0, **none)
    for given, cells in ((corpus, dense[0]), (without, (np.zeros((0, 9)), dense[0][1]))):
        c = given.n_properties
        start = initial_state(given, P[:c], E)
        for state in AlsTrainer(given, np.zeros(c, bool), {"all": slice(0, c)}, s).rounds(start):
            pass
        want_P = reference.p_step([cells], [E], s.lambda_P)
        want_E, want_R = E, reference.r_step([cells], [E], s.lambda_R / s.alpha)
        for _ in range(7):
            want_E = reference.e_step(cells, want_P, want_R, want_E, s.alpha, s.lambda_E)
            want_P = reference.p_step([cells], [want_E], s.lambda_P)
            want_R = reference.r_step([cells], [want_E], s.lambda_R / s.alpha)
        np.testing.assert_allclose(state.E, want_E, atol=1e-7)
        np.testing.assert_allclose(state.R, want_R, atol=1e-7)
        np.testing.assert_allclose(state.P, want_P, atol=1e-7)
