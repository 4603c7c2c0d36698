"""Weights, values and unknown cells from the user's graph to what the model makes of them."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import reference

import bove
from bove.text.graphs import load_graphs, save_graphs

ABSOLUTE = {"scale": "absolute", "alpha": 2, "lambda_P": 0.5, "lambda_R": 0.3, "lambda_E": 0.4}
EXACT = {"dtype": "float64", "r_tolerance": 1e-12, "r_iterations": 300, "tolerance": 0, "restart_every": 0}


def example():
    nodes = [["a", ("size", 2.5)], {"a": 1, "size": -1}, [], ["b"]]
    edges = [("x", 0, 1, 3), ("x", 1, 2), ("y", 3, 3, 0.5), ("y", 0, 2)]
    return bove.Graph(nodes, edges, unknown=[("x", 2, 3), ("y", 0, 2), ("x", 3, 0)])


def dense(corpus):
    """(W, X) of the only graph."""
    a, n = corpus.arrays, corpus.arrays.n_tokens
    X = np.zeros((a.n_relations, n, n))
    X[a.arc_relation, a.arc_head, a.arc_dependent] = a.arc_weight
    X[a.unknown_relation, a.unknown_head, a.unknown_dependent] = np.nan
    return a.property_matrix(np.float64).toarray(), X


def test_a_model_of_numbers_and_unknown_cells_is_the_oracles():
    graph = example()
    corpus = bove.Corpus.of([graph])
    W, X = dense(corpus)
    names, relations = corpus.names.property_rows, corpus.names.relation_rows
    assert W[names["size"]].tolist() == [2.5, -1, 0, 0] and W[names["a"]].tolist() == [1, 1, 0, 0]
    assert np.isnan(X).sum() == 3 and np.nansum(X) == 4.5 and X[relations["x"], 0, 1] == 3
    model = bove.BoVE(
        3, **ABSOLUTE, **EXACT, max_rounds=5, solver="averaged", iterations=9, infer_tolerance=0
    )
    model.fit(corpus)
    P, R, (E,) = model.properties_, model.relations_, model.bags_
    want = reference.objective([(W, X)], P, R, [E], 2, 0.5, 0.3, 0.4)
    assert model.losses_[-1]["total"] == pytest.approx(want, rel=1e-8)
    np.testing.assert_allclose(P, reference.p_step([(W, X)], [E], 0.5), atol=1e-6)
    np.testing.assert_allclose(R, reference.r_step([(W, X)], [E], 0.15), atol=1e-6)
    (bag,) = model.transform([graph])
    np.testing.assert_allclose(bag, reference.infer((W, X), P, R, 2, 0.4, 9), atol=1e-6)
    got = model.score_reconstruction([graph])
    left = np.nansum((X - bag @ R @ bag.T) ** 2)
    assert got.relations == pytest.approx(1 - left / np.nansum(X**2))
    assert got.properties == pytest.approx(1 - np.sum((W - P @ bag.T) ** 2) / np.sum(W**2))


def test_ones_are_left_out_and_weights_change_a_model():
    plain = bove.Graph([["a"], ["b"]], [("x", 0, 1)])
    ones = bove.Graph([{"a": 1.0}, [["b", 1]]], [("x", 0, 1, np.float32(1))])
    assert ones == plain and bove.Corpus.of([ones]).arrays.optional == {}
    heavy = bove.Graph([["a"], ["b"]], [("x", 0, 1, 2)])
    digests = {bove.Corpus.of([graph]).digest() for graph in (plain, ones, heavy)}
    assert len(digests) == 2


def test_numbers_survive_files_renumbering_and_selection(tmp_path):
    graph = example()
    bove.write_json_lines([graph, bove.Graph([["b"]])], tmp_path / "g.jsonl")
    assert next(iter(bove.read_json_lines(tmp_path / "g.jsonl"))) == graph
    corpus = bove.Corpus.of([bove.Graph([["b"], ["c"]], [("y", 0, 1)]), graph])
    save_graphs(corpus.arrays, tmp_path / "g")
    one = load_graphs(tmp_path / "g").select(np.array([1]))
    for name, array in bove.Corpus.of([graph]).numbered_as(corpus.names)[0].arrays.optional.items():
        np.testing.assert_array_equal(getattr(one, name), array)
    few = bove.Corpus.of([graph]).numbered_as(bove.Corpus.of([bove.Graph([["a"]], [("x", 0, 0)])]).names)[0]
    assert few.arrays.arc_weight.tolist() == [3, 1] and few.arrays.unknown_head.tolist() == [2, 3]
    assert few.arrays.property_value is not None and few.arrays.property_value.tolist() == [1, 1]


def test_networkx_gives_weights_and_values_and_parallel_edges_add_up():
    network = nx.MultiGraph()
    network.add_node("u", size=2.0, kind="k", vector=np.array([1, 0.5]))
    network.add_node("v")
    network.add_edges_from([("u", "v", {"w": 2}), ("v", "u", {"w": 0.5}), ("v", "v", {})])
    graph = bove.from_networkx(network, weight="w", values=["size", "vector"])
    assert graph.nodes == [("kind:k", ("size", 2.0), "vector:0", ("vector:1", 0.5)), ()]
    assert sorted(graph.edges) == [("edge", 0, 1, 2.5), ("edge", 1, 0, 2.5), ("edge", 1, 1)]
    plain = bove.from_networkx(network, ["kind"])
    assert len(set(plain.edges)) == 3 and bove.Corpus.of([plain]).repeated == 2
    for weight in ("much", float("nan"), None):
        network.add_edge("u", "v", 0, w=weight)
        with pytest.raises(bove.BoveError, match=f"'u', 'v': its weight is {weight!r}"):
            bove.from_networkx(network, ["kind"], weight="w")


def test_triples_have_weights_in_a_fourth_column_and_unknown_cells():
    rows = [("a", "likes", "b", 2.0), ("b", "likes", "c", 1.0)]
    want = bove.from_triples(rows, unknown=[("c", "likes", "a"), ("a", "likes", "d")])
    assert want.edges == [("likes", 0, 1, 2.0), ("likes", 1, 2)]
    assert want.unknown == [("likes", 2, 0), ("likes", 0, 3)] and want.names == ["a", "b", "c", "d"]
    assert bove.from_triples(pd.DataFrame(rows)).edges == want.edges


@pytest.mark.parametrize("directed", [True, False])
def test_networkx_graphs_have_unknown_cells_by_their_keys(directed):
    network = (nx.DiGraph if directed else nx.Graph)([("u", "v")])
    graph = bove.from_networkx(network, unknown=[("v", "knows", "u")])
    assert graph.unknown == [("knows", 1, 0), *([] if directed else [("knows", 0, 1)])]
    for strange in ("w", ["u"]):
        with pytest.raises(bove.BoveError, match="the graph has no node"):
            bove.from_networkx(network, unknown=[("u", "knows", strange)])


def test_unknown_cells_of_a_relation_without_edges_are_told():
    train = [("a", "likes", "b"), ("b", "likes", "c"), ("c", "knows", "a")]
    graph = bove.from_triples(train, unknown=[("c", "lkes", "a"), ("a", "knows", "b")])
    with pytest.warns(bove.BoveWarning, match="1 unknown cells of relation 'lkes'.*; did you mean likes"):
        bove.BoVE(2, max_rounds=2, tolerance=0).fit([graph])
    model = bove.BoVE(2, max_rounds=2, tolerance=0).fit([bove.from_triples(train)])
    assert model.unseen([graph]).cells == {"lkes": 1}
    with pytest.warns(bove.BoveWarning, match="leaves out 1 unknown cells of 1 unknown names"):
        model.transform([graph])


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: bove.Graph([["a"]], [("x", 0, 0, "2")]), "weight '2'; a weight is a finite number"),
        (lambda: bove.Graph([["a"]], [("x", 0, 0, np.nan)]), "a weight is a finite number"),
        (lambda: bove.Graph([[("a", True)]]), "is not a property"),
        (lambda: bove.Graph([["a"]], unknown=[("x", 0, 1)]), "of node 1"),
        (lambda: bove.Graph([["a"]], unknown=[("x", 0)]), "is not a cell"),
        (lambda: bove.Corpus.of([bove.Graph([["a", ("a", 2)]])]), "property 'a' is given as 1 and as 2"),
        (
            lambda: bove.Corpus.of([bove.Graph([[]], [("x", 0, 0), ("x", 0, 0, 2)], id="g")]),
            r"graph 'g': the edge \('x', 0, 0\) is given as 1 and as 2; give one",
        ),
    ],
)
def test_bad_numbers_are_refused(make, says):
    with pytest.raises(bove.BoveError, match=says):
        make()


def test_a_corpus_of_arrays_is_that_of_its_graph():
    graph = example()
    want = bove.Corpus.of([graph])
    rows, k = want.names.property_rows, want.names.relation_rows
    W = np.zeros((4, len(rows)))
    for i, own in enumerate(graph.nodes):
        for name, value in ((one, 1) if isinstance(one, str) else one for one in own):
            W[i, rows[name]] = value
    edges = np.array([(k[x], i, j) for x, i, j, *_ in graph.edges for _ in range(2)]).T
    given = {"relations": want.names.relations, "property_names": want.names.properties}
    given["weights"] = np.repeat([3, 1, 0.5, 1], 2)
    unknown = np.array([(k[x], i, j) for x, i, j in graph.unknown]).T
    got = bove.Corpus.from_arrays(4, tuple(edges), properties=W, unknown=tuple(unknown), **given)
    assert got.repeated == 4
    for a, b in zip(dense(got), dense(want), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(*(bove.BoVE(2, max_rounds=2).fit(c).properties_ for c in (got, want)))
    plain = bove.Corpus.from_arrays(3, (np.array([0]), np.array([1]), np.array([2])), ["x"])
    assert plain.arrays.optional == {} and plain.arrays.lengths.tolist() == [3]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            {"edges": (np.array([0]), np.array([2]), np.array([0]))},
            "edges: a head is not a whole number from 0 to 1",
        ),
        ({"edges": (np.array([0]), np.array([0.0]), np.array([0]))}, "edges: a head is not"),
        ({"edges": (np.array([0]), np.array([0]))}, "three arrays of one length"),
        ({"relations": ["x", "x"]}, "relations: give different texts"),
        ({"weights": [np.inf]}, "weights: 1 finite numbers are due"),
        ({"properties": np.ones((2, 2))}, r"properties: of shape \(2, 2\), but \(2, 1\) is due"),
    ],
)
def test_arrays_that_make_no_graph_are_refused(change, says):
    given = {
        "edges": (np.array([0]), np.array([0]), np.array([1])),
        "relations": ["x"],
        "property_names": ["a"],
    }
    with pytest.raises(bove.BoveError, match=says):
        bove.Corpus.from_arrays(2, **{**given, **change})
