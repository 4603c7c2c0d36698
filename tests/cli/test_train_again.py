"""`bove train-again` gives the model that its trainer gives under the same settings and another seed."""

from dataclasses import replace

import numpy as np
import pytest
import test_train_als as als
import test_train_sgd as sgd

from bove.cli.main import main
from bove.factor.model import Model

als_built, sgd_built = als.built, sgd.built
CHANGED_ALS = [*als.TRAIN[:-1], 9]  # the seed stands last


def again(folder, model, output, *options, vectors=True):
    files = ["--model", folder / model, "--graphs", folder / "g", "--vocabulary", folder / "vocabulary"]
    files += ["--vectors", folder / "v"] if vectors else []
    files += ["--output", folder / output, "--training-log", folder / f"{output}.csv"]
    return main([str(word) for word in ("train-again", *files, "--checkpoint-every", 2, *options)])


def test_als_goes_by_the_settings_of_the_model(als_built):
    folder = als_built
    assert not als.bove("train-als", *als.inputs(folder), *CHANGED_ALS, *als.outputs(folder, "nine"))
    assert not again(folder, "m", "again", "--seed", 9)
    assert (folder / "again").read_bytes() == (folder / "nine").read_bytes()
    assert (folder / "again.csv").read_bytes() == (folder / "nine.csv").read_bytes()


def test_another_seed_is_another_als_model_in_properties_without_a_vector_and_in_relations(als_built):
    assert not again(als_built, "m", "four", "--seed", 4)
    before, after = Model.load(als_built / "m"), Model.load(als_built / "four")
    assert after.hyperparameters["seed"] == 4
    np.testing.assert_array_equal(after.properties[after.frozen], before.properties[before.frozen])
    assert not np.any(np.all(after.properties == before.properties, axis=1) & ~after.frozen)
    assert not np.array_equal(after.relations, before.relations)


def test_sgd_goes_by_the_settings_of_the_model(sgd_built):
    assert not sgd.bove(*sgd.command(sgd_built, "nine", seed=9))
    assert not again(sgd_built, "m", "again", "--seed", 9)
    assert (sgd_built / "again").read_bytes() == (sgd_built / "nine").read_bytes()
    assert Model.load(sgd_built / "again").hash != Model.load(sgd_built / "m").hash


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"trainer": "other"}, "trained by 'other'; known: als, sgd"),
        ({"e_step": None}, "does not record the setting e_step; train that model again"),
        ({"vocabulary": "other"}, "not the vocabulary of"),
        ({"vectors": None}, "has words with a pretrained vector; give their file with --vectors"),
    ],
)
def test_a_model_that_cannot_be_trained_again_is_refused(als_built, tmp_path, capsys, change, message):
    model = Model.load(als_built / "m")
    given = {k: v for k, v in {**model.hyperparameters, **change}.items() if v is not None}
    given.pop("vocabulary", None)
    hash_ = change.get("vocabulary", model.vocabulary_hash)
    replace(model, hyperparameters=given, vocabulary_hash=hash_).save(als_built / "changed")
    assert again(als_built, "changed", "none", "--seed", 2, vectors="vectors" not in change) == 2
    assert message in capsys.readouterr().err
    assert not (als_built / "none").exists()
