"""Model files: what is saved comes back, and the rest is refused; relations as factors and their spectra."""

import numpy as np
import pytest

from bove import artefacts
from bove.errors import BoveError
from bove.factor.model import LowRank, Model, compress, effective_rank, needed, singular_values


def made(**changes):
    rng = np.random.default_rng(0)
    parts = {
        "properties": rng.standard_normal((5, 4)).astype(np.float32),
        "relations": rng.standard_normal((2, 4, 4)).astype(np.float32),
        "frozen": np.array([1, 0, 0, 0, 0], bool),
        "groups": {"words": (0, 3), "tags": (3, 5)},
        "relation_names": ("SBJ", "ADJACENCY"),
        "vocabulary_hash": "ab" * 32,
        "hyperparameters": {"alpha": 1.0, "lambda_E": 0.1},
    }
    return Model(**(parts | changes))


@pytest.mark.parametrize("energy", [None, 0.9])
def test_a_saved_model_comes_back_and_saves_to_the_same_bytes(tmp_path, energy):
    model = made() if energy is None else made().compress(energy)
    model.save(tmp_path / "m")
    back = Model.load(tmp_path / "m")
    for name in ("hash", "groups", "relation_names"):
        assert getattr(back, name) == getattr(model, name)
    np.testing.assert_array_equal(back.dense_relations(), model.dense_relations())
    np.testing.assert_array_equal(back.frozen, model.frozen)
    back.save(tmp_path / "n")
    assert (tmp_path / "n").read_bytes() == (tmp_path / "m").read_bytes()


def test_the_hash_tells_models_apart():
    other = made().properties.copy()
    other[0, 0] += 1
    changes = {"properties": other}, {"hyperparameters": {"alpha": 2.0}}, {"vocabulary_hash": "cd" * 32}
    hashes = {made().hash, made().compress(0.9).hash, *(made(**change).hash for change in changes)}
    assert len(hashes) == 5 and made().hash == made().hash


def test_a_compressed_file_is_smaller(tmp_path):
    rng = np.random.default_rng(1)
    low = (rng.standard_normal((6, 60, 2)) @ rng.standard_normal((6, 2, 60))).astype(np.float32)
    model = made(properties=np.zeros((5, 60), np.float32), relations=low)
    model.save(tmp_path / "dense")
    small = model.compress(1)
    small.save(tmp_path / "small")
    assert small.relations.ranks.tolist() == [2] * 6
    assert (tmp_path / "small").stat().st_size < 0.2 * (tmp_path / "dense").stat().st_size
    np.testing.assert_allclose(small.dense_relations(), low, atol=1e-4)


def test_files_that_are_no_sound_model_are_refused(tmp_path):
    made().save(tmp_path / "m")
    raw = bytearray((tmp_path / "m").read_bytes())
    raw[-1] ^= 1
    (tmp_path / "flipped").write_bytes(raw)
    (tmp_path / "cut").write_bytes(raw[:-9])
    (tmp_path / "text").write_text("no model", encoding="utf-8")
    artefacts.save(tmp_path / "other", "bove-graphs", {"P": np.zeros(1)}, {})
    for name in ("flipped", "cut", "text", "other", "missing"):
        with pytest.raises(BoveError, match=name):
            Model.load(tmp_path / name)


def test_factors_have_the_singular_values_of_their_product():
    rng = np.random.default_rng(1)
    R = np.stack([rng.normal(size=(6, q)) @ rng.normal(size=(q, 6)) for q in (2, 4)] + [np.zeros((6, 6))])
    factors = compress(R, 1.0)
    assert factors.ranks.tolist() == [2, 4, 0]
    for of_dense, of_factors in zip(singular_values(R), singular_values(factors), strict=True):
        assert len(of_dense) == 6
        np.testing.assert_allclose(of_factors, of_dense[: len(of_factors)], atol=1e-12)
        np.testing.assert_allclose(of_dense[len(of_factors) :], 0, atol=1e-12)


def test_the_effective_rank_of_equal_values_is_their_number_whatever_their_size():
    assert singular_values(LowRank(np.zeros((3, 0)), np.zeros((3, 0)), np.zeros(0, np.int64))) == []
    for q in (1, 3, 10):
        assert effective_rank(np.array([1e-7] * q + [0] * 4)) == pytest.approx(q)
    assert 1 < effective_rank(np.array([1.0, 0.1, 0.01])) < 2
    assert effective_rank(np.zeros(3)) == effective_rank(np.zeros(0)) == 0


def test_as_many_values_are_needed_as_hold_the_energy():
    values = np.array([3.0, 1.0, 0.5])  # squares 9, 1, 0.25
    assert [needed(values, energy) for energy in (0.5, 0.87, 0.9, 0.99)] == [1, 1, 2, 3]
    assert needed(np.zeros(3), 0.9) == needed(np.zeros(0), 0.9) == 0


def test_compress_keeps_the_energy_asked_for_and_is_exact_at_one():
    rng = np.random.default_rng(10)
    R = rng.standard_normal((4, 9, 9)) * np.geomspace(1, 1e-3, 9)
    R[2] = 0
    full = compress(R, 1)
    np.testing.assert_allclose(full.dense(), R, atol=1e-12)
    assert full.ranks.tolist() == [9, 9, 0, 9]
    for energy in (0.5, 0.9, 0.99):
        part = compress(R, energy)
        kept = np.square(part.dense()).sum((1, 2)) / np.maximum(np.square(R).sum((1, 2)), 1e-300)
        assert (kept[[0, 1, 3]] >= energy - 1e-12).all() and (part.ranks <= full.ranks).all()
        for k in (0, 1, 3):
            s = np.linalg.svd(R[k], compute_uv=False)
            assert np.square(s[: part.ranks[k] - 1]).sum() < energy * np.square(s).sum(), "one fewer would do"
