"""Model files: what is saved comes back, and what is not a sound model is refused in one sentence."""

import numpy as np
import pytest

from bove import artefacts
from bove.errors import BoveError
from bove.factor.model import FORMAT, Model


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
    assert (
        back.hash == model.hash
        and back.groups == model.groups
        and back.relation_names == model.relation_names
    )
    np.testing.assert_array_equal(back.dense_relations(), model.dense_relations())
    np.testing.assert_array_equal(back.frozen, model.frozen)
    back.save(tmp_path / "n")
    assert (tmp_path / "n").read_bytes() == (tmp_path / "m").read_bytes()


def test_the_hash_tells_models_apart():
    other = made().properties.copy()
    other[0, 0] += 1
    hashes = {
        made().hash,
        made(properties=other).hash,
        made(hyperparameters={"alpha": 2.0, "lambda_E": 0.1}).hash,
        made(vocabulary_hash="cd" * 32).hash,
        made().compress(0.9).hash,
    }
    assert len(hashes) == 5 and made().hash == made().hash


def test_a_compressed_file_is_smaller_and_energy_out_of_range_is_refused(tmp_path):
    rng = np.random.default_rng(1)
    low = (rng.standard_normal((6, 60, 2)) @ rng.standard_normal((6, 2, 60))).astype(np.float32)
    model = made(properties=np.zeros((5, 60), np.float32), relations=low)
    model.save(tmp_path / "dense")
    small = model.compress(1)
    small.save(tmp_path / "small")
    assert small.relations.ranks.tolist() == [2] * 6
    assert (tmp_path / "small").stat().st_size < 0.2 * (tmp_path / "dense").stat().st_size
    np.testing.assert_allclose(small.dense_relations(), low, atol=1e-4)
    for energy in (0, -1, 1.5, float("nan")):
        with pytest.raises(BoveError, match="energy"):
            model.compress(energy)


def test_files_that_are_no_sound_model_are_refused(tmp_path):
    made().save(tmp_path / "m")
    raw = bytearray((tmp_path / "m").read_bytes())
    raw[-1] ^= 1
    (tmp_path / "flipped").write_bytes(raw)
    (tmp_path / "cut").write_bytes(raw[:-9])
    (tmp_path / "text").write_text("no model", encoding="utf-8")
    artefacts.save(tmp_path / "other", "bove-graphs", {"P": np.zeros(1)}, {})
    artefacts.save(tmp_path / "empty", FORMAT, {"P": np.zeros((1, 1))}, {})
    for name in ("flipped", "cut", "text", "other", "empty", "missing"):
        with pytest.raises(BoveError, match=name):
            Model.load(tmp_path / name)
