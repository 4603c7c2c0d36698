"""What is written, by the package or by hand, is read back the same."""

import itertools
from dataclasses import fields

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bove
from bove.cli.common import read_notes, write_notes
from bove.cli.train import write_times, write_training_log
from bove.evaluate.results import Scores, read_scores, write_scores
from bove.evaluate.training_log import read_run
from bove.text.conll import Sentence
from bove.text.graphs import encode, load_graphs, save_graphs
from bove.text.vocabulary import Vocabulary, build

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
cells = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0\t\r\n\ufeff"), min_size=1, max_size=4
)
plain = cells.filter(lambda cell: cell.strip(" ") == cell)
numbers = st.floats(-1e6, 1e6)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("files") / "file"


@st.composite
def graphs(draw):
    nodes = draw(st.lists(st.lists(texts, max_size=3), max_size=4))
    ends = st.integers(0, max(len(nodes) - 1, 0))
    edges = draw(st.lists(st.tuples(texts, ends, ends), max_size=5)) if nodes else []
    names = st.lists(texts | st.integers(), min_size=len(nodes), max_size=len(nodes))
    return bove.Graph(nodes, edges, draw(texts), draw(names | st.just([])))


@given(st.lists(graphs(), max_size=4))
def test_graphs_of_json_lines(path, some):
    bove.write_json_lines(some, path)
    assert list(bove.read_json_lines(path)) == some


@given(
    st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=6),
    st.lists(st.tuples(cells, cells), max_size=4),
)
def test_triples_and_properties(path, facts, owned):
    for file, rows in ((path, facts), (path.with_name("properties"), owned)):
        # white space may stand in a cell, but a line of spaces and tabs alone is a blank one
        rows[:] = [row for row in rows if "".join(row).strip(" ")]
        file.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8", newline="")
    graph = bove.read_triples(path, path.with_name("properties"))
    assert [(r, graph.names[h], graph.names[d]) for r, h, d in graph.edges] == [
        (r, h, d) for h, r, d in facts
    ]
    for name, properties in zip(graph.names, graph.nodes, strict=True):
        own = [own for node, own in owned if node == name]
        assert properties == tuple(dict.fromkeys([f"node:{name}", *own]))


keys = st.integers() | texts
values = texts | st.integers() | st.booleans() | st.none()


@given(st.dictionaries(keys, st.dictionaries(texts, values, max_size=3), min_size=1, max_size=5), st.data())
def test_networks(nodes, data):
    network = nx.MultiDiGraph()
    network.add_nodes_from(nodes.items())
    end = st.sampled_from(list(network))
    edges = data.draw(st.lists(st.tuples(end, end, texts), max_size=6))
    network.add_edges_from((head, dependent, {"label": label}) for head, dependent, label in edges)
    graph = bove.from_networkx(network)
    assert graph.names == list(network)
    for name, properties in zip(graph.names, graph.nodes, strict=True):
        given = {f"{key}:{value}" for key, value in network.nodes[name].items() if value is not None}
        assert set(properties) == given
    found = [(graph.names[h], graph.names[d], label) for label, h, d in graph.edges]
    assert sorted(map(repr, found)) == sorted(map(repr, edges))


@st.composite
def sentences(draw, name):
    size = draw(st.integers(0, 4))
    column = st.lists(plain, min_size=size, max_size=size).map(tuple)
    heads = st.lists(st.integers(-1, size), min_size=size, max_size=size).map(tuple)
    return Sentence(name, draw(column), draw(column), draw(heads), draw(column))


ROOTED = Sentence("root", ("a", "b"), ("T", "T"), (0, 1), ("r", "s"))
OPTIONS = {"numbers": True, "punctuation": True, "lookup": ["exact", "lower"], "adjacency": True}


@given(st.data())
def test_vocabularies_and_graphs_of_any_words(path, data):
    trees = [data.draw(sentences(f"s{i}")) for i in range(data.draw(st.integers(0, 3)))]
    trees = [tree for tree in trees if "ADJACENCY" not in tree.relations]
    vocabulary = build([*trees, ROOTED], {"words": 1, "tags": 1, "relations": 1}, OPTIONS)
    vocabulary.save(path)
    assert Vocabulary.load(path) == vocabulary
    corpus = encode([*trees, ROOTED], vocabulary)
    save_graphs(corpus, path)
    for field in fields(corpus):
        np.testing.assert_array_equal(getattr(load_graphs(path), field.name), getattr(corpus, field.name))


@given(st.lists(st.tuples(texts, texts, st.none() | numbers, numbers), min_size=1, max_size=5), texts, texts)
def test_scores(path, rows, system, label):
    scored = np.array([gold is not None for *_, gold, _ in rows])
    scores = Scores(
        dataset="d", label=label, task="similarity", ids=tuple(row[0] for row in rows),
        subsets=tuple(row[1] for row in rows),
        gold=tuple(None if gold is None else repr(gold) for *_, gold, _ in rows),
        scored=scored, values={system: np.where(scored, [row[3] for row in rows], np.nan)},
        empty={system: np.zeros(len(rows), bool)}, pairs_sha256="h", model_hashes={system: "m"},
        lengths=np.where(scored[:, None], [[3, 3]], 0),
    )  # fmt: skip
    write_scores(scores, path)
    again = read_scores(path)
    for field in fields(Scores):
        np.testing.assert_equal(getattr(again, field.name), getattr(scores, field.name))


@given(st.dictionaries(st.sampled_from(["similarity", "entailment", "roles"]), st.lists(texts, max_size=3)))
def test_notes(path, notes):
    write_notes(path, notes)
    assert read_notes([path, path]) == {
        task: 2 * notes.get(task, []) for task in ("similarity", "entailment", "roles")
    }


@given(st.lists(st.tuples(*[numbers] * 4), min_size=1, max_size=5), st.lists(plain, max_size=2, unique=True))
def test_training_logs(path, rows, relations):
    log = [
        {"round": i, "restart": 0, "total": a, "words": b, "tags": c}
        | {f"relation:{k}": d for k in range(len(relations))}
        for i, (a, b, c, d) in enumerate(rows, 1)
    ]
    seconds = list(itertools.accumulate(abs(round(row[3])) for row in rows))
    write_training_log(path, log, relations)
    write_times(path.with_name("times"), log, seconds)
    curve = read_run("run", path, path.with_name("times"))
    assert (curve.total, curve.seconds) == ([row[0] for row in rows], seconds)
    assert curve.terms["words"] == [row[1] for row in rows]
