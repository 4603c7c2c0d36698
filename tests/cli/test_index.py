"""`bove index` and `bove search --index`: what is found has the scores and the order of the search of all."""

import csv
import json
import os
import shutil
import sys

import numpy as np
import pytest

from bove.bags.store import Bags, BagWriter
from bove.cli.main import main
from bove.evaluate.search import SIGNS_FROM

RANK = 12


def write(path, seed, count, model="m" * 20, rank=RANK):
    """Bags of 0 to 6 vectors, some of zeros alone, some twice under other names, some of the same vectors."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 7, count)
    lengths[:2] = (1, 0)
    index = np.concatenate([np.arange(count), rng.integers(0, count, count // 4)])
    ids = [f"{path.name}{s}" for s in range(len(index))]
    with BagWriter(path, ids, lengths, index, rank, "bove", model) as writer:
        bags = [rng.standard_normal((n, rank)).astype(np.float32) for n in lengths]
        bags[0][:] = 0
        for first, second in zip(*rng.integers(2, count, (2, count // 10)), strict=True):
            if len(bags[first]) == len(bags[second]):
                bags[second] = bags[first] * 3
        for b, vectors in enumerate(bags):
            writer.put(b, vectors)
    return path


@pytest.fixture
def engine():
    return pytest.importorskip("qdrant_edge", reason="the engine of bove index is not installed")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("index")
    return write(folder / "b", 1, 400), write(folder / "q", 2, 12)


@pytest.fixture(scope="module")
def longer(tmp_path_factory):
    """The same with vectors of so many dimensions that the engine takes their signs alone."""
    folder = tmp_path_factory.mktemp("longer")
    return write(folder / "b", 1, 400, rank=SIGNS_FROM), write(folder / "q", 2, 12, rank=SIGNS_FROM)


@pytest.fixture
def index(engine, files, tmp_path):
    assert main(["index", "--bags", str(files[0]), "--output", str(tmp_path / "index")]) == 0
    return tmp_path / "index"


def rows(tmp_path, files, *more):
    out = tmp_path / "out.csv"
    out.unlink(missing_ok=True)
    assert main(["search", "--query-bags", str(files[1]), "--output", str(out), *map(str, more)]) == 0
    with open(out, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_with_as_many_candidates_as_bags_the_answer_is_that_of_the_search_of_all(index, files, tmp_path):
    for top in ("1", "40"):
        everything = rows(tmp_path, files, "--bags", files[0], "--top", top)
        assert len(everything) == 15 * int(top)
        assert rows(tmp_path, files, "--index", index, "--candidates", 400, "--top", top) == everything


def test_the_same_of_long_vectors(engine, longer, tmp_path):
    assert main(["index", "--bags", str(longer[0]), "--output", str(tmp_path / "i")]) == 0
    everything = rows(tmp_path, longer, "--bags", longer[0], "--top", 40)
    assert rows(tmp_path, longer, "--index", tmp_path / "i", "--candidates", 400, "--top", 40) == everything
    itself = (longer[0], longer[0])
    found = rows(tmp_path, itself, "--index", tmp_path / "i", "--top", 1)
    exact = rows(tmp_path, itself, "--bags", longer[0], "--top", 1)
    assert np.mean([a["score"] == b["score"] for a, b in zip(found, exact, strict=True)]) > 0.9


def test_with_few_candidates_scores_are_exact_and_most_is_found(index, files, tmp_path):
    exact = {
        (row["query"], row["sentence"]): row["score"]
        for row in rows(tmp_path, files, "--bags", files[0], "--top", 600)
    }
    best = rows(tmp_path, files, "--bags", files[0])
    found = rows(tmp_path, files, "--index", index, "--candidates", 60)
    assert all(exact[row["query"], row["sentence"]] == row["score"] for row in found)
    kept = {(row["query"], row["sentence"]) for row in best}
    assert len(kept & {(row["query"], row["sentence"]) for row in found}) > 0.9 * len(kept)


def test_an_index_that_lies_there_is_replaced_whole(index, files, tmp_path):
    before = (index / "index.json").stat().st_ino
    want = rows(tmp_path, files, "--index", index, "--candidates", 400)
    assert main(["index", "--bags", str(files[0]), "--output", str(index)]) == 0
    assert (index / "index.json").stat().st_ino != before
    assert rows(tmp_path, files, "--index", index, "--candidates", 400) == want
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index", "out.csv"]


def test_index_and_bags_are_found_again_where_they_were_moved(engine, files, tmp_path):
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    shutil.copy(files[0], there / "b")
    assert main(["index", "--bags", str(there / "b"), "--output", str(there / "i")]) == 0
    want = rows(tmp_path, files, "--index", there / "i")
    there.rename(here)
    assert rows(tmp_path, files, "--index", here / "i") == want
    os.utime(here / "b", (0, 0))  # another time, the same content
    assert rows(tmp_path, files, "--index", here / "i") == want
    (here / "b").rename(tmp_path / "b")
    assert rows(tmp_path, files, "--index", here / "i", "--bags", tmp_path / "b") == want


def last_line(capsys, *words):
    capsys.readouterr()
    assert main(list(map(str, words))) == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err.strip().split("\n")[-1]


def test_an_index_of_other_bags_is_refused(index, files, tmp_path, capsys):
    search = ("search", "--index", index, "--query-bags", files[1], "--bags")
    other = write(tmp_path / "o", 3, 400)
    assert f"made of other bags than {other}; build the index again" in last_line(capsys, *search, other)
    foreign = write(tmp_path / "f", 1, 400, model="n" * 20)
    assert f"bags of model {'m' * 12}, but {foreign} is of {'n' * 12}" in last_line(capsys, *search, foreign)
    assert "of model nnnnnnnnnnnn, but" in last_line(
        capsys, "search", "--index", index, "--query-bags", foreign
    )
    told = json.loads((index / "index.json").read_text(encoding="utf-8"))
    assert told["model_hash"] == Bags.open(files[0]).model_hash and told["n_bags"] == 400


def test_what_is_no_whole_index_is_one_line(index, files, tmp_path, capsys):
    search = ("search", "--query-bags", files[1], "--index")
    assert "no index, or a damaged one" in last_line(capsys, *search, tmp_path)
    (shard,) = (index / "engine" / "edge_config.json",)
    shard.write_text("{", encoding="utf-8")
    assert "build the index again" in last_line(capsys, *search, index)
    shutil.rmtree(index / "engine")
    assert "build the index again" in last_line(capsys, *search, index)
    told = json.loads((index / "index.json").read_text(encoding="utf-8"))
    for name, value in (("bags", None), ("links", "many"), ("model_hash", 3)):
        (index / "index.json").write_text(json.dumps(told | {name: value}), encoding="utf-8")
        assert f"index.json has no '{name}'" in last_line(capsys, *search, index)
    (index / "index.json").write_text("[" * 100_000, encoding="utf-8")
    assert "no index, or a damaged one" in last_line(capsys, *search, index)
    (index / "index.json").write_text("{}", encoding="utf-8")
    assert "no index that this version reads" in last_line(capsys, *search, index)


def test_numbers_beyond_the_engine_s_are_one_line(engine, files, tmp_path, capsys):
    words = ("index", "--bags", files[0], "--output", tmp_path / "i", "--links", 10**20)
    assert "cannot use it" in last_line(capsys, *words) and list(tmp_path.iterdir()) == []


def test_only_an_index_is_replaced(engine, files, tmp_path, capsys):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes").write_text("x", encoding="utf-8")
    said = last_line(capsys, "index", "--bags", files[0], "--output", tmp_path / "mine")
    assert "something else; choose another name" in said
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes"]


def test_bags_with_a_value_that_is_not_finite_leave_nothing(engine, tmp_path, capsys):
    with BagWriter(tmp_path / "bad", ["a"], [1], [0], 2, "bove", "m") as writer:
        writer.put(0, np.array([[np.nan, 1]]))
    said = last_line(capsys, "index", "--bags", tmp_path / "bad", "--output", tmp_path / "i")
    assert "holds a value that is not finite" in said
    assert [path.name for path in tmp_path.iterdir()] == ["bad"]


def test_bags_that_are_all_empty_are_an_index_too(engine, files, tmp_path):
    with BagWriter(tmp_path / "e", ["a", "b"], [0, 0], [0, 1], RANK, "bove", "m" * 20):
        pass
    assert main(["index", "--bags", str(tmp_path / "e"), "--output", str(tmp_path / "i")]) == 0
    assert rows(tmp_path, files, "--index", tmp_path / "i") == rows(tmp_path, files, "--bags", tmp_path / "e")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("search --query-bags {q}", "give the collection with --bags, or its --index"),
        ("search --query-bags {q} --bags {b} --candidates 5", "--candidates is for --index alone"),
        ("search --query-bags {q} --index {b} --candidates 0", "--candidates 0: must be at least 1"),
        ("index --bags {b} --output {i} --links 1", "--links 1: must be at least 2"),
        ("index --bags {b} --output {i} --breadth 0", "--breadth 0: must be at least 1"),
    ],
)
def test_what_can_not_be_is_one_line(files, tmp_path, capsys, words, said):
    assert said in last_line(capsys, *words.format(b=files[0], q=files[1], i=tmp_path / "i").split())


def test_without_the_engine_the_extra_that_has_it_is_named(files, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "qdrant_edge", None)
    said = last_line(capsys, "index", "--bags", files[0], "--output", tmp_path / "i")
    assert said == "bove index: needs qdrant_edge; install it with: pip install 'bove[search]'"
    assert list(tmp_path.iterdir()) == []
