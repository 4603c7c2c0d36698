"""What the Python interface can not use is one sentence that names it, and never another error."""

import copy

import networkx as nx
import numpy as np
import pytest

import bove
from bove.factor.settings import SgdSettings, own_fields

GRAPHS = [
    bove.Graph([["a:1", "b:2"], ["a:2"], ["a:1"]], [["x", 0, 1], ["y", 1, 2]]),
    bove.Graph([["a:2"], ["a:1"]], [["x", 0, 1]]),
]
SMALL = {
    "rank": 3,
    "scale": "absolute",
    "alpha": 1,
    "lambda_P": 0.1,
    "lambda_R": 0.1,
    "lambda_E": 0.1,
    "max_rounds": 2,
}


@pytest.fixture(scope="module")
def fitted():
    return bove.BoVE(**SMALL).fit(GRAPHS)


def refused(make, said):
    with pytest.raises(bove.BoveError) as caught:
        make()
    assert said in str(caught.value) and "\n" not in str(caught.value)


DEFAULTS = bove.BoVE().get_params()
for name in ("pool", "random_state"):
    del DEFAULTS[name]
OF_SGD = {one.name for one in own_fields(SgdSettings).values()}


@pytest.mark.parametrize("value", ["other", None, [1], {}, -1, float("nan"), np.float32])
@pytest.mark.parametrize("name", DEFAULTS)
def test_every_setting_is_checked_and_named(name, value):
    trainer = "sgd" if name in OF_SGD else "als"
    made = bove.BoVE(**{**SMALL, "trainer": trainer, name: value})
    shown = value if isinstance(DEFAULTS[name], str) or name == "negative_weight" else repr(value)
    refused(lambda: made.fit(GRAPHS), f"{name} {shown}: must be ")


def test_seeds_are_those_of_scikit_learn():
    for seed in (-1, 1.5, "x", True, np.random.default_rng(0), [1]):
        model = bove.BoVE(**SMALL, random_state=seed)
        refused(lambda model=model: model.fit(GRAPHS), f"random_state {seed!r}: must be")
    for seed in (0, np.int64(7), 2**40, None, np.random.RandomState(3)):
        model = bove.BoVE(**{**SMALL, "rank": np.int64(3), "alpha": np.float32(1)}, random_state=seed)
        assert len(model.fit_transform(GRAPHS)) == 2


@pytest.mark.parametrize(
    ("bag", "said"),
    [
        (np.ones((2, 5)), "vectors of 5 dimensions, but the model has rank 3"),
        (np.ones(3), "not a bag: give an array of finite numbers"),
        (np.full((2, 3), np.nan), "not a bag"),
        ([["a", "b", "c"]], "not a bag"),
        (None, "not a bag"),
    ],
)
def test_scores_of_edges_need_a_bag_of_the_rank(fitted, bag, said):
    refused(lambda: fitted.score_edges(bag, "x"), said)


def test_scores_of_edges_take_lists_and_empty_bags(fitted):
    bag = fitted.transform(GRAPHS)[0]
    np.testing.assert_allclose(fitted.score_edges(bag.tolist(), "x"), fitted.score_edges(bag, "x"), atol=1e-6)
    assert fitted.score_edges(np.zeros((0, 3)), "x").shape == (0, 0)
    for relation in (0, None, ["x"]):
        refused(lambda relation=relation: fitted.score_edges(bag, relation), "has no relation")


@pytest.mark.parametrize(
    ("graphs", "said"),
    [
        (None, "NoneType is given; give a list of Graph"),
        (np.ones((3, 3)), "item 0 is ndarray, not a Graph"),
        (nx.path_graph(3), "a networkx graph is given"),
        ([nx.path_graph(3)], "item 0 is a networkx graph; make a Graph of it with bove.from_networkx"),
        (GRAPHS[0], "put it in a list"),
        (bove.Corpus.of(GRAPHS).arrays, "GraphCorpus is given"),
    ],
)
def test_only_graphs_have_bags(fitted, graphs, said):
    for use in (fitted.transform, fitted.score, fitted.unseen, bove.BoVE(**SMALL).fit):
        refused(lambda use=use: use(graphs), said)


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        ([1, 2], "vectors is list"),
        ({"q:1": [1, 2]}, "'q:1': 2 numbers, but 3 are due"),
        ({"q:1": [[1], [2, 3]]}, "'q:1': give one row of finite numbers"),
        ({"q:1": [1, 2, float("inf")]}, "'q:1': give one row"),
    ],
)
def test_vectors_are_rows_of_the_rank_by_name(fitted, vectors, said):
    graphs = [bove.Graph([["q:1"]])]
    refused(lambda: fitted.transform(graphs, vectors=vectors), said)
    refused(lambda: bove.BoVE(**SMALL).fit(graphs, vectors=vectors), said)


def test_settings_of_inference_are_looked_at_before_each(fitted):
    for name, value in {"solver": "x", "iterations": 0, "energy": 3, "batch_tokens": 0, "threads": 0}.items():
        model = copy.copy(fitted).set_params(**{name: value})
        refused(lambda model=model: model.transform(GRAPHS), f"{name} {value}: must be")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: bove.Graph(None), "nodes: None is not a series"),
        (lambda: bove.Graph({"a": ["x"]}), "node 0: the text 'a'"),
        (lambda: bove.Graph([[]], [["x", 0, 0, 1, 1]]), "is not an edge"),
        (lambda: bove.from_networkx(nx.path_graph(2), 3), "properties: 3 is not a series"),
        (lambda: bove.from_networkx(nx.path_graph(2), lambda *_: None), "node 0: None is not a series"),
        (lambda: bove.from_networkx(nx.path_graph(2), [], "kind"), "no edge has the attribute 'kind'"),
        (lambda: bove.from_triples([(1, "r", [2])]), "[2] cannot name a node"),
        (lambda: bove.from_triples([(1, "r", 2)], [(1, "x")]), "properties is list"),
        (lambda: bove.Graph([[3]]), "3 is not a property"),
        (lambda: bove.Graph([[]], [[1, 0, 0]]), "1 is not a label"),
        (lambda: bove.Graph([[]], [["x", 0, 1]], "g"), "graph 'g': an edge 'x' of node 1, but there are 1"),
        (lambda: bove.Graph([[]], [["x", 0.5, 0]]), "0.5 is not a node"),
        (lambda: bove.Graph([[]], names=["a", "b"]), "2 names for 1 nodes"),
        (lambda: bove.Graph([[]], names=["a"]).add_node("x"), "a node without a name"),
        (lambda: bove.Graph([[]]).add_node("x", name="a"), "other nodes have none"),
        (lambda: bove.from_networkx(np.eye(2)), "ndarray is not a networkx graph"),
        (lambda: bove.from_networkx(nx.path_graph(2), ["colour"]), "no node has the attribute 'colour'"),
        (lambda: bove.from_triples([("a", "b")]), "is not a triple"),
        (lambda: bove.from_triples(np.ones((2, 5))), "shape (2, 5); give three columns: head, relation"),
        (lambda: bove.from_triples("no.tsv"), "no.tsv: no such file"),
        (lambda: bove.from_triples([(1, "r", "1")]), "nodes 1 and '1' read alike"),
        (lambda: bove.read_triples("none", separator=""), "separator '': cannot separate cells"),
        (lambda: bove.read_triples(__file__, encoding="foo"), "encoding 'foo': unknown"),
    ],
)
def test_what_is_not_a_graph_is_refused(make, said):
    refused(make, said)


@pytest.mark.parametrize(
    ("nodes", "edge", "said"),
    [
        ("abc", None, "'abc' is not a node; add nodes with add_node"),
        (None, ("x", 0, 9), "is not an edge between its 1 nodes; add edges with add_edge"),
        (None, ("x", 0, 0.0), "is not an edge"),
    ],
)
def test_a_graph_whose_lists_were_changed_by_hand_is_looked_at(nodes, edge, said):
    graph = bove.Graph([["z"]], id="g")
    graph.nodes += [nodes] if nodes else []
    graph.edges += [edge] if edge else []
    refused(lambda: bove.Corpus.of([graph]), said)


def test_files_of_graphs_hold_graphs_alone(tmp_path):
    for graphs, said in (([3], "item 0 is int"), (GRAPHS[0], "put it in a list")):
        refused(lambda graphs=graphs: bove.write_json_lines(graphs, tmp_path / "g"), said)
    assert not (tmp_path / "g").exists()


def test_networks_with_keys_tables_with_gaps_of_any_kind_and_nodes_that_are_tuples():
    pandas = pytest.importorskip("pandas")
    gaps = [None, float("nan"), np.float32("nan"), np.datetime64("NaT"), pandas.NA, pandas.NaT]
    network = nx.MultiDiGraph()
    network.add_node((1, 2), tags=["b", *gaps, "a"], empty=gaps, **dict(zip("cdefgh", gaps, strict=True)))
    network.add_node((3, 4), size=np.float32(0.5))
    for forth, data in ((True, {"key": "likes"}), (True, {"key": "hates", "label": "loathes"}),
                        (False, {"weight": gaps[1], "label": gaps[1]}), (False, {"label": 7})):  # fmt: skip
        network.add_edge(*[(1, 2), (3, 4)][:: 1 if forth else -1], **data)
    graph = bove.from_networkx(network)
    assert graph.names == [(1, 2), (3, 4)]
    assert graph.nodes == [("tags:a", "tags:b"), ("size:0.5",)]
    assert graph.edges == [("likes", 0, 1), ("loathes", 0, 1), ("edge", 1, 0), ("7", 1, 0)]
    assert bove.from_networkx(network.subgraph([(3, 4)])).edges == []
    for value, kind in ((np.zeros(2), "ndarray"), ({"a": 1}, "dict")):
        network.add_node((3, 4), vector=value)
        refused(
            lambda: bove.from_networkx(network), f"attribute 'vector' is {kind}; make names of it by a fun"
        )
        assert bove.from_networkx(network, "size").nodes == [(), ("size:0.5",)]


@pytest.mark.parametrize("score", [bove.similarity_score, bove.entailment_score])
def test_scores_of_pairs_need_two_bags_of_one_width(score):
    bag = np.eye(3)[:2]
    assert score(bag, [[1, 0, 0], [0, 2, 0]]) == 1 and score(bag, np.zeros((0, 5))) == 0
    refused(lambda: score(bag, np.ones((2, 4))), "of 3 and of 4 dimensions; use one model")
    for other in (np.ones(3), None, "ab", [[np.nan, 0, 0]], [bag, bag[:1]]):
        refused(lambda other=other: score(bag, other), "not a bag")
