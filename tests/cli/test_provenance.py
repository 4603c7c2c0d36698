"""`bove provenance` records what a run was made from and with, the same each time."""

import hashlib
import importlib.metadata
import json
import sys

import pytest
import test_train_als as als
import yaml

from bove import __version__
from bove.cli import report as provenance
from bove.cli.main import main
from bove.factor.model import Model
from bove.text.vocabulary import Vocabulary

built = als.built
CONFIG = {"run": "r", "seed": 3, "seeds": [5, 3], "model": {"rank": 6}}


def record(folder, out, *options, settings=CONFIG, model="m", **changes):
    (folder / "config.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    given = {
        "config": folder / "config.yaml",
        "input": f"treebank.train={folder / 't.conllu'}",
        "vocabulary": f"run={folder / 'vocabulary'}",
        "vectors": f"run={folder / 'v'}",
        "model": f"run={folder / model}",
        "rule-threads": "train_als=2",
        "result": folder / "m.csv",
        "output": folder / out,
    } | changes
    return main(["provenance", *(str(word) for k, v in given.items() for word in (f"--{k}", v)), *options])


def test_the_record_has_hashes_versions_seeds_threads_and_the_configuration(built, monkeypatch):
    asked, real = [], importlib.metadata.version

    def version(name):
        asked.append(name)
        if name == "gensim":
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(provenance, "version", version)
    assert not record(built, "run.json")
    found = json.loads((built / "run.json").read_text(encoding="utf-8"))
    raw = (built / "t.conllu").read_bytes()
    entry = {"file": str(built / "t.conllu"), "sha256": hashlib.sha256(raw).hexdigest(), "bytes": len(raw)}
    assert found["inputs"] == {"treebank.train": entry}
    model = Model.load(built / "m")
    assert found["models"]["run"]["hash"] == model.hash
    assert found["models"]["run"]["hyperparameters"] == dict(model.hyperparameters)
    vocabulary = Vocabulary.load(built / "vocabulary")
    assert found["vocabularies"]["run"]["hash"] == found["models"]["run"]["vocabulary"] == vocabulary.hash
    assert found["vocabularies"]["run"]["words"] == vocabulary.n_words
    assert found["vectors"]["run"]["words"] == 8 and found["vectors"]["run"]["dimensions"] == als.RANK
    assert (found["seeds"], found["threads"]) == ({"run": 3, "model": [3, 5]}, {"train_als": 2})
    assert found["results"] == {"m.csv": hashlib.sha256((built / "m.csv").read_bytes()).hexdigest()}
    assert (found["configuration"], found["run"]) == (CONFIG, "r")
    versions = {name: real(name) for name in asked if name != "gensim"}
    python = ".".join(map(str, sys.version_info[:3]))
    assert found["versions"] == {"bove": __version__, "python": python, **versions}
    assert {"numpy", "scipy", "torch", "stanza", "snakemake"} <= set(versions)


def test_two_records_are_the_same_bytes_and_another_model_is_another_record(built):
    assert not record(built, "one.json") and not record(built, "two.json")
    assert (built / "one.json").read_bytes() == (built / "two.json").read_bytes()
    other = [*als.TRAIN[:-1], 8]
    assert not als.bove("train-als", *als.inputs(built), *other, *als.outputs(built, "eight"))
    assert not record(built, "three.json", model="eight")
    one, three = (
        json.loads((built / name).read_text(encoding="utf-8")) for name in ("one.json", "three.json")
    )
    assert one.pop("models") != three.pop("models") and one == three


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"input": "treebank.train=nowhere"}, "nowhere: no such file"),
        ({"input": "treebank.train"}, "--input treebank.train: not a name, = and a value"),
        ({"rule-threads": "infer=" + "9" * 5000}, "not a number of threads"),
        ({"rule-threads": "infer=many"}, "--rule-threads many: not a number of threads"),
        ({"config": "nowhere.yaml"}, "nowhere.yaml: cannot be read as a configuration"),
    ],
)
def test_what_can_not_be_recorded_is_told_and_nothing_is_written(built, capsys, changes, message):
    assert record(built, "none.json", **changes) == 2
    assert message in capsys.readouterr().err
    assert not (built / "none.json").exists()


def test_names_stand_once_and_a_configuration_is_whole(built, capsys):
    again = f"run={built / 'm'}"
    assert record(built, "none.json", "--model", again) == 2
    assert f"--model {again}: the name is repeated" in capsys.readouterr().err
    assert record(built, "none.json", settings={"run": "r"}) == 2
    assert "config.yaml: no resolved configuration" in capsys.readouterr().err
