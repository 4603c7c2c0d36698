"""`bove pack`: one file that gives the run's own vectors anywhere, and whose members are checked."""

import json
import zipfile
from collections import OrderedDict

import numpy as np
import pytest
from tiny_run import CHASED, make_run

import bove
from bove.cli.main import main
from bove.config.variants import Run
from bove.embedder import Embedder
from bove.errors import BoveError
from bove.text.checkpoints import pack_checkpoint, unpack_checkpoint
from bove.text.parser import load_safely


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("pack"))


@pytest.fixture(scope="module")
def archive(folder):
    out = folder / "a packed run.zip"
    assert main(["pack", str(folder), "-o", str(out), "--licence", "model=MIT"]) == 0
    return out


def bags(run):
    embedder = Embedder.open(Run.open(run))
    return [embedder.bags([CHASED], system)[0].vectors for system in embedder.systems]


def test_a_packed_run_gives_the_same_bags(folder, archive, tmp_path):
    for own, packed in zip(bags(folder), bags(archive), strict=True):
        np.testing.assert_array_equal(own, packed)
    with zipfile.ZipFile(archive) as opened:
        card = json.loads(opened.read("card.json"))
        assert card["licence"] == {"model": "MIT", "treebank": "not stated", "vectors": "not stated"}
        assert card["trained_on"]["treebank"]["file"] == "train.conllu"
        opened.extractall(tmp_path)
    np.testing.assert_array_equal(bags(tmp_path)[2], bags(folder)[2])  # unpacked by hand
    again = archive.with_name("again.zip")
    assert main(["pack", str(archive), "-o", str(again), "--licence", "model=MIT"]) == 0
    assert again.read_bytes() == archive.read_bytes()


def test_only_the_first_word_vectors_are_packed(folder, tmp_path):
    assert main(["pack", str(folder), "-o", str(tmp_path / "few.zip"), "--words", "3"]) == 0
    vectors = Embedder.open(Run.open(tmp_path / "few.zip")).vectors
    assert [vectors.word(row) for row in range(len(vectors))] == ["The", "a", "dog"]
    np.testing.assert_array_equal(vectors.vectors, Embedder.open(Run.open(folder)).vectors.vectors[:3])


def test_a_checkpoint_comes_back_as_it_was(tmp_path):
    torch = pytest.importorskip("torch")
    content = {
        "model": OrderedDict(w=torch.arange(6.0).reshape(2, 3), n=torch.tensor(3), e=torch.zeros(0, 2)),
        "vocab": {"words": ["a", "é"], "ids": {("a", 1): 0, None: {1, 2}}},
        "config": {"x": 1.5, "y": True, "z": None},
    }
    torch.save(content, tmp_path / "a.pt")
    pack_checkpoint(tmp_path / "a.pt", tmp_path / "a.safetensors", "tagger")
    unpack_checkpoint(tmp_path / "a.safetensors", tmp_path / "b.pt")
    found = load_safely(tmp_path / "b.pt", "tagger")
    assert type(found["model"]) is OrderedDict and list(found["model"]) == ["w", "n", "e"]
    for name, tensor in content["model"].items():
        assert found["model"][name].dtype == tensor.dtype and torch.equal(found["model"][name], tensor)
    assert {key: found[key] for key in ("vocab", "config")} == {k: content[k] for k in ("vocab", "config")}


def rewritten(archive, path, **changes):
    """The archive with other contents of some members, or without those that are None."""
    with zipfile.ZipFile(archive) as opened, zipfile.ZipFile(path, "w") as made:
        for name in opened.namelist():
            content = changes.get(name.partition(".")[0].partition("/")[0], opened.read(name))
            if content is not None:
                made.writestr(name, content)
    return path


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"vocabulary": b"{}"}, "its member vocabulary.json is not the one that was packed"),
        ({"model": None}, "has no member model/model.safetensors"),
        ({"card": None}, "has no member card.json"),
        ({"card": b'{"format": "other"}'}, "no packed run that this version reads"),
    ],
)
def test_what_is_no_whole_packed_run_is_refused(archive, tmp_path, change, said):
    with pytest.raises(BoveError, match=said):
        bove.load(rewritten(archive, tmp_path / "x.zip", **change))


def test_what_a_packed_run_lacks_is_said(archive, folder, tmp_path, refused):
    with pytest.raises(BoveError, match=r"a packed run.zip: was packed without tagger and parser"):
        bove.load(archive).encode(["A text."])
    with pytest.raises(BoveError, match=r"a packed run.zip: a packed run has no graphs"):
        Run.open(archive).file("graphs")
    words = ["pack", folder, "-o", tmp_path / "x.zip"]
    refused([*words, "--words", 0], "--words 0: must be at least 1", tmp_path / "x.zip")
    refused([*words, "--licence", "data=MIT"], "--licence data: unknown; allowed: model", tmp_path / "x.zip")
    (tmp_path / "t.zip").write_text("no archive", encoding="utf-8")
    with pytest.raises(
        BoveError, match=r"t.zip: no packed run; give a run's folder or a file that `bove pack` made"
    ):
        bove.load(tmp_path / "t.zip")
