"""`bove search` has exactly the order of the entailment score; with `bove index`, but for what is missed."""

import csv
import os
import shutil
import sys

import numpy as np
import pytest
from tiny_run import CHASED, TURNED, encode, infer, make_run
from tiny_texts import TEXTS, parse
from tiny_treebank import tiny_sentences, write_treebank

from bove.api.text import load
from bove.bags.store import Bags, BagWriter, write_bags
from bove.cli.main import main
from bove.embedder import Embedder
from bove.evaluate import search as module
from bove.evaluate.alignment import entailment_score, token_weights
from bove.evaluate.search import SIGNS_FROM, search
from bove.text.pairs import Pair, write_pairs

# --- all bags


@pytest.fixture(params=[1, 7, 10_000])
def block(request, monkeypatch):
    """Of vectors of bags and of queries, and of scores: the search must not depend on it."""
    for name in ("ROWS", "COLUMNS", "SCORES", "WIDE"):
        monkeypatch.setattr(module, name, request.param)


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize("sizes", [[3, 0, 5, 1, 0, 12, 2, 4, 0], [0, 0], []])
def test_scores_are_those_of_the_alignment_in_their_order(sizes):
    rng = np.random.default_rng(len(sizes))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    vectors = rng.standard_normal((offsets[-1], 4)).astype(np.float32)
    vectors[::5] = 0
    vectors[1::7] *= 1e-30  # whose squares single precision does not hold
    vectors[2::7] *= 1e30
    bags = [vectors[a:b] for a, b in zip(offsets[:-1], offsets[1:], strict=True)]
    queries = [rng.standard_normal((m, 4)).astype(np.float32) for m in (3, 0, 2)]
    for query, hits in zip(queries, search(queries, vectors, offsets, 5), strict=True):
        want = np.array([entailment_score(bag, query) for bag in bags])
        order = np.argsort(-want, kind="stable")[:5]
        np.testing.assert_array_equal(hits.numbers, order)
        np.testing.assert_allclose(hits.scores, want[order], atol=1e-11)


@pytest.mark.usefixtures("block")
def test_weighted_scores_are_those_of_the_alignment_without_the_vectors_of_weight_0():
    rng = np.random.default_rng(3)
    sizes = [3, 0, 5, 1, 0, 12, 2, 4]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    vectors = rng.standard_normal((offsets[-1], 4)).astype(np.float32)
    of_bags = np.where(np.arange(len(vectors)) % 3, 1.0, 0)
    of_bags[8:9] = 0  # all of a bag
    queries = [rng.standard_normal((m, 4)).astype(np.float32) for m in (3, 0, 2, 2)]
    weights = [np.array([3.0, 0, 0.5]), np.zeros(0), np.zeros(2), None]
    found = search(queries, vectors, offsets, 8, weights, lambda rows: of_bags[rows] > 0)
    for query, own, hits in zip(queries, weights, found, strict=True):
        own = np.ones(len(query)) if own is None else own
        bags = [(vectors[a:b], of_bags[a:b]) for a, b in zip(offsets[:-1], offsets[1:], strict=True)]
        want = np.array([entailment_score(bag, query, (w, own)) for bag, w in bags])
        order = np.argsort(-want, kind="stable")
        np.testing.assert_array_equal(hits.numbers, order)
        np.testing.assert_allclose(hits.scores, want[order], atol=1e-11)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_among_bags_that_are_nearly_alike_the_order_is_that_of_double_precision(dtype):
    rng = np.random.default_rng(1)
    one = rng.standard_normal((1, 6, 50))
    vectors = (one + rng.standard_normal((200, 6, 50)) * 10.0 ** rng.integers(-9, -1, (200, 1, 1))).astype(
        dtype
    )
    vectors[120] = vectors[7]
    query, offsets = rng.standard_normal((5, 50)), np.arange(0, 1201, 6)
    want = np.array([entailment_score(bag, query) for bag in vectors])
    (hits,) = search([query], vectors.reshape(-1, 50), offsets, 150)
    order = np.argsort(-want.round(12), kind="stable")[:150]
    np.testing.assert_array_equal(hits.numbers, order)
    np.testing.assert_allclose(hits.scores, want[order], atol=1e-12)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny run, with the bags of its treebank and of two queries."""
    folder = make_run(tmp_path_factory.mktemp("search"))
    write_treebank(folder / "q.conllu", [CHASED, TURNED])
    infer(folder, "bove", folder / "graphs" / "train.safetensors", folder / "b")
    infer(folder, "bove", encode(folder, folder / "q.conllu", folder / "qg"), folder / "qb")
    return folder


def rows(*words, out):
    out.unlink(missing_ok=True)
    assert main(["search", "--output", str(out), *map(str, words)]) == 0
    with open(out, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def found(folder, *more):
    return rows("--bags", folder / "b", *more, out=folder / "out.csv")


def test_the_best_sentences_of_each_query_are_listed(folder):
    best = found(folder, "--query-bags", folder / "qb", "--top", 4)
    bags, queries = Bags.open(folder / "b"), Bags.open(folder / "qb")
    for query in ("1", "2"):
        own = [row for row in best if row["query"] == query]
        assert [row["rank"] for row in own] == ["1", "2", "3", "4"]
        want = {name: entailment_score(bags[name], queries[query]) for name in bags.ids}
        scores = [float(row["score"]) for row in own]
        np.testing.assert_allclose(scores, sorted(want.values(), reverse=True)[:4], atol=1e-6)
        assert all(want[row["id"]] == pytest.approx(float(row["score"]), abs=1e-6) for row in own)
    home = next(s.id for s in tiny_sentences() if s.forms == CHASED.forms)
    assert best[0]["id"] == home and best[0]["score"] == "1.000000"


@pytest.mark.parametrize("weight", ["length", "evidence"])
def test_the_tokens_of_queries_and_sentences_may_be_weighted(folder, weight):
    how = ["--weight", weight, "--power", 2]
    best = found(folder, "--query-bags", folder / "qb", "--top", 4, *how)
    assert found(folder, "--conllu", folder / "q.conllu", "--run", folder, "--top", 4, *how) == best
    bags, queries = Bags.open(folder / "b"), Bags.open(folder / "qb")

    def side(of, name):
        b = of.bag_of(name)
        return of.bag(b), token_weights(weight, 2, of.bag(b), of.evidence_of(b))

    for row in best:
        (bag, ours), (query, theirs) = side(bags, row["id"]), side(queries, row["query"])
        assert float(row["score"]) == pytest.approx(entailment_score(bag, query, (ours, theirs)), abs=1e-6)


def test_trees_and_text_are_embedded_by_the_run(folder, monkeypatch):
    by_file = found(folder, "--query-bags", folder / "qb")
    assert found(folder, "--conllu", folder / "q.conllu", "--run", folder) == by_file
    monkeypatch.setattr(Embedder, "parse", lambda self, texts: [CHASED, TURNED][: len(texts)])
    by_text = found(folder, "x", "y", "--run", folder)
    assert {row["query"] for row in by_text} == {"x", "y"}
    assert [row["id"] for row in by_text] == [row["id"] for row in by_file]


def test_sentences_that_are_alike_are_all_listed(tmp_path):
    with BagWriter(tmp_path / "b", ["a", "b", "c"], [1, 1], [0, 1, 0], 2, "bove", "h") as writer:
        writer.put(0, np.array([[1, 0]]))
        writer.put(1, np.array([[0, 1]]))
    best = found(tmp_path, "--query-bags", tmp_path / "b", "--top", 2)
    assert [row["id"] for row in best if row["query"] == "a"] == ["a", "c"]


@pytest.mark.parametrize("bad", ["--bags", "--query-bags"])
def test_bags_with_values_that_are_not_finite_are_refused(tmp_path, refused, bad):
    for name, value in (("good", 1.0), ("bad", 3.0)):
        write_bags(tmp_path / name, {"a": np.full((1, 2), value)})
    content = (tmp_path / "bad").read_bytes()
    three, nan = np.full(2, 3, np.float32).tobytes(), np.full(2, np.nan, np.float32).tobytes()
    assert content.count(three) == 1
    (tmp_path / "bad").write_bytes(content.replace(three, nan))
    files = {"--bags": "good", "--query-bags": "good"} | {bad: "bad"}
    words = ["search", *(word for option, name in files.items() for word in (option, tmp_path / name))]
    refused(words, f"{tmp_path / 'bad'}: the bag of sentence 'a' holds a value that is not finite")


# --- an index

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


@pytest.fixture(scope="module", params=[RANK, SIGNS_FROM])
def files(request, tmp_path_factory):
    """A collection and queries; the engine takes the signs alone of vectors of so many dimensions."""
    folder = tmp_path_factory.mktemp("index")
    return write(folder / "b", 1, 400, rank=request.param), write(folder / "q", 2, 12, rank=request.param)


@pytest.fixture
def index(files, tmp_path):
    pytest.importorskip("qdrant_edge", reason="the engine of bove index is not installed")
    assert main(["index", "--bags", str(files[0]), "--output", str(tmp_path / "index")]) == 0
    return tmp_path / "index"


@pytest.fixture
def by(files, tmp_path):
    """What the queries find in a collection or by an index."""
    return lambda *more: rows("--query-bags", files[1], *more, out=tmp_path / "out.csv")


def test_with_as_many_candidates_as_bags_the_answer_is_that_of_the_search_of_all(index, files, by):
    for top in (1, 40):
        everything = by("--bags", files[0], "--top", top)
        assert len(everything) == 15 * top
        assert by("--index", index, "--candidates", 400, "--top", top) == everything


def test_with_few_candidates_scores_are_exact_and_most_is_found(index, files, by):
    everything = by("--bags", files[0], "--top", 600)
    exact = {(row["query"], row["id"]): row["score"] for row in everything}
    least = {row["query"]: float(row["score"]) for row in by("--bags", files[0])}
    best = by("--index", index, "--candidates", 200)
    assert all(exact[row["query"], row["id"]] == row["score"] for row in best)
    assert np.mean([float(row["score"]) >= least[row["query"]] for row in best]) > 0.9


def test_an_index_that_lies_there_is_replaced_whole(index, files, by, tmp_path):
    before, want = (index / "index.json").stat().st_ino, by("--index", index, "--candidates", 400)
    assert main(["index", "--bags", str(files[0]), "--output", str(index)]) == 0
    assert (index / "index.json").stat().st_ino != before
    assert by("--index", index, "--candidates", 400) == want
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index", "out.csv"]


def test_index_and_bags_are_found_again_where_they_were_moved(files, by, tmp_path):
    pytest.importorskip("qdrant_edge")
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    shutil.copy(files[0], there / "b")
    assert main(["index", "--bags", str(there / "b"), "--output", str(there / "i")]) == 0
    want = by("--index", there / "i")
    there.rename(here)
    assert by("--index", here / "i") == want
    os.utime(here / "b", (0, 0))  # another time, the same content
    assert by("--index", here / "i") == want
    (here / "b").rename(tmp_path / "b")
    assert by("--index", here / "i", "--bags", tmp_path / "b") == want


def test_an_index_of_other_bags_is_refused(index, files, tmp_path, refused):
    rank, words = Bags.open(files[0]).rank, ("search", "--index", index, "--query-bags")
    other, foreign = write(tmp_path / "o", 3, 400, rank=rank), write(tmp_path / "f", 1, 400, "n" * 20, rank)
    refused([*words, files[1], "--bags", other], f"made of other bags than {other}; build the index again")
    refused(
        [*words, files[1], "--bags", foreign], f"made of other bags than {foreign}; build the index again"
    )
    refused([*words, foreign], "of model nnnnnnnnnnnn, but")


def test_what_is_no_whole_index_is_one_line(index, files, tmp_path, refused):
    words, manifest = ("search", "--query-bags", files[1], "--index"), index / "index.json"
    refused([*words, tmp_path], "no index, or a damaged one")
    (index / "engine" / "edge_config.json").write_text("{", encoding="utf-8")
    refused([*words, index], "build the index again")
    shutil.rmtree(index / "engine")
    refused([*words, index], "build the index again")
    for text, said in (("[" * 100_000, "no index, or a damaged one"), ("{}", "no index that this version")):
        manifest.write_text(text, encoding="utf-8")
        refused([*words, index], said)


def test_what_cannot_be_an_index_leaves_nothing(files, tmp_path, refused, monkeypatch):
    pytest.importorskip("qdrant_edge")
    words = ("index", "--bags", files[0], "--output")
    refused([*words, tmp_path / "i", "--links", 10**20], "cannot use it")
    with BagWriter(tmp_path / "bad", ["a"], [1], [0], 2, "bove", "m") as writer:
        writer.put(0, np.array([[np.nan, 1]]))
    refused(["index", "--bags", tmp_path / "bad", "--output", tmp_path / "i"], "a value that is not finite")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes").write_text("x", encoding="utf-8")
    refused([*words, tmp_path / "mine"], "something else; choose another name")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes"]
    monkeypatch.setitem(sys.modules, "qdrant_edge", None)
    refused([*words, tmp_path / "i"], "needs qdrant_edge; install it with: pip install 'bove[search]'")
    assert {path.name for path in tmp_path.iterdir()} == {"bad", "mine"}


def test_bags_that_are_all_empty_are_an_index_too(files, by, tmp_path):
    pytest.importorskip("qdrant_edge")
    with BagWriter(tmp_path / "e", ["a", "b"], [0, 0], [0, 1], Bags.open(files[0]).rank, "bove", "m" * 20):
        pass
    assert main(["index", "--bags", str(tmp_path / "e"), "--output", str(tmp_path / "i")]) == 0
    assert by("--index", tmp_path / "i") == by("--bags", tmp_path / "e")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("search --bags {b}", "give queries as text, or"),
        ("search --bags {b} x", "give --run"),
        ("search --bags {b} --query-bags {q} --top 0", "--top 0: must be at least 1"),
        ("search --bags {b} --query-bags {other}", "of model other, but"),
        ("search --bags {b} --query-bags {long}", "vectors of 3 dimensions, but"),
        ("search --query-bags {q}", "give the collection with --bags, as --texts, or"),
        ("search --query-bags {q} --bags {b} --candidates 5", "--candidates is for --index alone"),
        ("search --query-bags {q} --index {b} --candidates 0", "--candidates 0: must be at least 1"),
        ("index --bags {b} --output {i} --links 1", "--links 1: must be at least 2"),
    ],
)
def test_what_cannot_be_searched_is_one_line(folder, tmp_path, refused, words, said):
    for name, rank in (("other", 6), ("long", 3)):
        with BagWriter(tmp_path / name, ["a"], [1], [0], rank, "bove", name) as writer:
            writer.put(0, np.ones((1, rank)))
    names = {"b": folder / "b", "q": folder / "qb"} | {n: tmp_path / n for n in ("i", "other", "long")}
    refused(words.format(**names).split(), said)


# --- sentences as text


def test_a_text_file_is_a_collection_whose_sentences_are_printed(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(Embedder, "parse", parse)
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    words = (TEXTS[1], "--run", folder, "--top", 3)
    found = rows(*words, "--texts", tmp_path / "texts.txt", out=tmp_path / "out.csv")
    assert found[0]["id"] == "2"
    assert all(row["sentence"] == TEXTS[int(row["id"]) - 1] for row in found)
    pytest.importorskip("qdrant_edge", reason="the engine of bove index is not installed")
    made = ["index", "--texts", tmp_path / "texts.txt", "--run", folder, "--output", tmp_path / "new" / "i"]
    assert main([*map(str, made)]) == 0
    (tmp_path / "new" / "i").rename(tmp_path / "moved")  # it needs no other file
    assert list((tmp_path / "new").iterdir()) == []
    assert rows(*words, "--index", tmp_path / "moved", out=tmp_path / "out.csv") == found
    assert [hit.text for hit in load(folder).search(TEXTS[1], tmp_path / "moved", top=3)] == [
        row["sentence"] for row in found
    ]


def test_bags_of_a_run_are_shown_with_the_sentences_of_its_pairs(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(Embedder, "parse", parse)
    pairs = [Pair("p", "d", "D", "roles", "a", TEXTS[0], TEXTS[1], "second", True, TEXTS[2])]
    for place in ("pairs", "bags/bove"):
        (folder / place).mkdir(parents=True)
    with open(folder / "pairs" / "d.jsonl", "w", encoding="utf-8") as stream:
        write_pairs(stream, pairs)
    path = folder / "bags" / "bove" / "d.safetensors"
    with BagWriter(
        path, ["p.1", "p.2", "p.3"], [6, 6, 3], [0, 1, 2], 6, "bove", Bags.open(folder / "b").model_hash
    ) as writer:
        for b, bag in enumerate(load(folder).encode(TEXTS[:3])):
            writer.put(b, bag)
    found = rows(TEXTS[1], "--run", folder, "--bags", path, out=tmp_path / "out.csv")
    expected = [("p.2", TEXTS[1]), ("p.1", TEXTS[0]), ("p.3", TEXTS[2])]
    assert [(row["id"], row["sentence"]) for row in found] == expected
