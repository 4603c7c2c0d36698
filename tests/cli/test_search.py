"""`bove search`: exactly the order of the entailment score, whatever the blocks."""

import csv

import numpy as np
import pytest
from tiny_run import CHASED, TURNED, make_run
from tiny_treebank import tiny_sentences, write_treebank

from bove.bags.store import Bags, BagWriter
from bove.cli.main import main
from bove.embedder import Embedder
from bove.evaluate.alignment import entailment_score
from bove.evaluate.search import search


@pytest.mark.parametrize("block", [1, 7, 10_000])
@pytest.mark.parametrize("sizes", [[3, 0, 5, 1, 0, 12, 2, 4, 0], [0, 0], []])
def test_scores_are_those_of_the_alignment_in_their_order(block, sizes):
    rng = np.random.default_rng(len(sizes))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    vectors = rng.standard_normal((offsets[-1], 4)).astype(np.float32)
    vectors[::5] = 0
    bags = [vectors[a:b] for a, b in zip(offsets[:-1], offsets[1:], strict=True)]
    queries = [rng.standard_normal((m, 4)).astype(np.float32) for m in (3, 0, 1)]
    for query, hits in zip(queries, search(queries, vectors, offsets, 5, block), strict=True):
        want = np.array([entailment_score(bag, query) for bag in bags])
        order = np.argsort(-want, kind="stable")[:5]
        np.testing.assert_array_equal(hits.numbers, order)
        np.testing.assert_allclose(hits.scores, want[order], atol=1e-11)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny run, with the bags of its treebank and of two queries."""
    folder = make_run(tmp_path_factory.mktemp("search"))
    write_treebank(folder / "q.conllu", [CHASED, TURNED])
    vocabulary = folder / "vocabulary.json"
    assert not main(
        f"encode --sentences {folder}/q.conllu --vocabulary {vocabulary} --output {folder}/qg".split()
    )
    how = "--solver fixed-point --iterations 30 --tolerance 0.001 --energy 0.99 --batch-tokens 4096"
    model = folder / "model" / "model.safetensors"
    for graphs, bags in ((folder / "graphs" / "train.safetensors", "b"), (folder / "qg", "qb")):
        words = f"infer --system bove --model {model} --graphs {graphs} {how} --output {folder / bags}"
        assert not main(words.split())
    return folder


def found(folder, *more):
    assert not main(["search", "--bags", str(folder / "b"), "--output", str(folder / "out.csv"), *more])
    with open(folder / "out.csv", encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_the_best_sentences_of_each_query_are_listed(folder):
    rows = found(folder, "--query-bags", str(folder / "qb"), "--top", "4")
    bags, queries = Bags.open(folder / "b"), Bags.open(folder / "qb")
    for query in ("1", "2"):
        own = [row for row in rows if row["query"] == query]
        assert [row["rank"] for row in own] == ["1", "2", "3", "4"]
        want = {name: entailment_score(bags[name], queries[query]) for name in bags.ids}
        best = sorted(want.values(), reverse=True)[:4]
        np.testing.assert_allclose([float(row["score"]) for row in own], best, atol=1e-6)
        assert all(want[row["sentence"]] == pytest.approx(float(row["score"]), abs=1e-6) for row in own)
    home = next(s.id for s in tiny_sentences() if s.forms == CHASED.forms)
    assert rows[0]["sentence"] == home and rows[0]["score"] == "1.000000"


def test_trees_are_embedded_by_the_run(folder):
    rows = found(folder, "--conllu", str(folder / "q.conllu"), "--run", str(folder))
    assert rows == found(folder, "--query-bags", str(folder / "qb"))


def test_text_is_parsed_and_embedded_by_the_run(folder, monkeypatch):
    monkeypatch.setattr(Embedder, "parse", lambda self, texts: [CHASED, TURNED][: len(texts)])
    rows = found(folder, "x", "y", "--run", str(folder))
    assert {row["query"] for row in rows} == {"x", "y"}
    by_file = found(folder, "--query-bags", str(folder / "qb"))
    assert [row["sentence"] for row in rows] == [row["sentence"] for row in by_file]


def test_sentences_that_are_alike_are_all_listed(tmp_path):
    with BagWriter(tmp_path / "b", ["a", "b", "c"], [1, 1], [0, 1, 0], 2, "bove", "h") as writer:
        writer.put(0, np.array([[1, 0]]))
        writer.put(1, np.array([[0, 1]]))
    rows = found(tmp_path, "--query-bags", str(tmp_path / "b"), "--top", "2")
    assert [row["sentence"] for row in rows if row["query"] == "a"] == ["a", "c"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "give queries as text, or"),
        ("x --query-bags q", "give queries as text, or"),
        ("x", "give --run"),
        ("--query-bags {qb} --top 0", "--top 0: must be at least 1"),
        ("--query-bags {other}", "of model other, but"),
        ("--query-bags {long}", "vectors of 3 dimensions, but"),
    ],
)
def test_what_can_not_be_searched_is_one_line(folder, tmp_path, capsys, words, said):
    for name, rank in (("other", 6), ("long", 3)):
        with BagWriter(tmp_path / name, ["a"], [1], [0], rank, "bove", name) as writer:
            writer.put(0, np.ones((1, rank)))
    given = words.format(qb=folder / "qb", other=tmp_path / "other", long=tmp_path / "long")
    capsys.readouterr()
    assert main(["search", "--bags", str(folder / "b"), *given.split()]) == 2
    said_now = capsys.readouterr().err.strip()
    assert said in said_now and "\n" not in said_now


@pytest.mark.parametrize("bad", ["--bags", "--query-bags"])
def test_bags_with_values_that_are_not_finite_are_refused(tmp_path, capsys, bad):
    for name, value in (("good", 1.0), ("bad", 3.0)):
        with BagWriter(tmp_path / name, ["a"], [1], [0], 2, "bove", "m") as writer:
            writer.put(0, np.full((1, 2), value))
    content = (tmp_path / "bad").read_bytes()
    three, nan = np.full(2, 3, np.float32).tobytes(), np.full(2, np.nan, np.float32).tobytes()
    assert content.count(three) == 1
    (tmp_path / "bad").write_bytes(content.replace(three, nan))
    files = {"--bags": "good", "--query-bags": "good"} | {bad: "bad"}
    words = [word for option, name in files.items() for word in (option, str(tmp_path / name))]
    assert main(["search", *words]) == 2
    said = capsys.readouterr()
    said_of = f"{tmp_path / 'bad'}: the bag of sentence 'a' holds a value that is not finite"
    assert said.out == "" and said_of in said.err
