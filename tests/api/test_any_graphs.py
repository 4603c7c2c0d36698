"""Graphs, their arrays and their readers: what is kept, counted and refused."""

import networkx as nx
import numpy as np
import pytest
from tiny_treebank import tiny_sentences, write_treebank

import bove
from bove.api.readers import from_sentence

DOG = bove.Graph([["word:dog", "pos:NN"], ["word:barks"], []], [["SBJ", 1, 0], ("loop", 2, 2)], "s1")


def cells(corpus):
    """Each graph's properties by node and its edges, by name."""
    arrays, names, found = corpus.arrays, corpus.names, []
    for s in range(len(corpus)):
        first, last = arrays.token_offsets[s : s + 2]
        owned = [arrays.properties[slice(*arrays.property_offsets[t : t + 2])] for t in range(first, last)]
        arcs, both = range(*arrays.arc_offsets[s : s + 2]), (arrays.arc_head, arrays.arc_dependent)
        edges = {(names.relations[arrays.arc_relation[a]], *(ends[a] - first for ends in both)) for a in arcs}
        found.append(([{names.properties[row] for row in rows} for rows in owned], edges))
    return found


def test_arrays_have_what_the_graphs_have_and_repetitions_count_once():
    several = bove.Graph([["a", "a"], ["b:1"]], [["x", 0, 1], ["y", 0, 1], ["x", 0, 1], ["x", 1, 0]])
    graphs = [DOG, bove.Graph(), several, bove.Graph([[]])]
    corpus = bove.Corpus.of(iter(graphs))
    assert cells(corpus) == [(list(map(set, g.nodes)), set(g.edges)) for g in graphs]
    assert corpus.repeated == 1 and several.nodes[0] == ("a",)
    assert corpus.arrays.ids == ("s1", "2", "3", "4")
    assert corpus.names.relations == ("x", "SBJ", "loop", "y")
    kinds = {name: corpus.names.properties[slice(*rows)] for name, rows in corpus.names.groups.items()}
    own = {"word": ("word:barks", "word:dog"), "pos": ("pos:NN",), "": ("a",), "b": ("b:1",)}
    assert kinds == {f"property:{kind}": names for kind, names in own.items()}


def test_renumbering_keeps_what_is_known_and_counts_the_rest():
    corpus = bove.Corpus.of([DOG, bove.Graph([["word:dog", "word:cat"]], [["new", 0, 0]])])
    names = bove.Corpus.of([DOG]).names
    got, unseen = corpus.numbered_as(names)
    kept = [([{"word:dog", "pos:NN"}, {"word:barks"}, set()], set(DOG.edges)), ([{"word:dog"}], set())]
    assert cells(got) == kept
    assert unseen.properties == {"word:cat": 1} and unseen.relations == {"new": 1}
    got, unseen = corpus.numbered_as(names, {"word:cat": [1.0, 2.0], "word:fish": [0, 0]})
    assert not unseen.properties and got.arrays.extra.tolist() == [[1, 2]]
    assert got.arrays.properties.max() == len(names.properties)
    assert cells(got.without_extra()) == kept


def test_json_lines_come_back_as_they_went(tmp_path):
    named = bove.Graph([["a"], []], [["x", 1, 0]], names=["n", 7])
    graphs = [DOG, bove.Graph(), named, bove.Graph([["ü:\u2028\n\t"]], id="é")]
    bove.write_json_lines(graphs, tmp_path / "g.jsonl")
    assert list(bove.read_json_lines(tmp_path / "g.jsonl")) == graphs
    bove.write_json_lines([bove.Graph([[], []], names=[np.int64(3), np.str_("n")])], tmp_path / "n")
    assert [graph.names for graph in bove.read_json_lines(tmp_path / "n")] == [[3, "n"]]
    with pytest.raises(bove.BoveError, match="cannot name a node"):
        bove.write_json_lines([bove.Graph([[]], names=[(1, 2)])], tmp_path / "h")
    with pytest.raises(bove.BoveError, match="line 2: half a surrogate pair"):
        bove.write_json_lines([DOG, bove.Graph([["\ud800"]])], tmp_path / "h")
    assert not (tmp_path / "h").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[]", "not a JSON object"),
        ("{}", "no key 'nodes'"),
        ('{"nodes": [], "edge": []}', "unknown key 'edge'"),
        ('{"nodes": 1}', "'nodes' is not a list"),
        ('{"nodes": ["word"]}', "'word' among the nodes is not a list"),
        ('{"nodes": [[]], "id": 3}', "graph 3: the id of a graph is a text"),
        ('{"nodes": [[]], "names": [[]]}', "cannot name a node"),
        ('{"nodes": [', "not JSON"),
    ],
)
def test_a_damaged_line_is_named(tmp_path, line, said):
    path = tmp_path / "g.jsonl"
    path.write_text(f'{{"nodes": []}}\n\n{line}\n', encoding="utf-8")
    with pytest.raises(bove.BoveError) as caught:
        list(bove.read_json_lines(path))
    assert f"{path}, line 3: " in str(caught.value) and said in str(caught.value)


def test_trees_are_graphs_of_words_tags_and_labels(tmp_path):
    write_treebank(tmp_path / "t.conllu", tiny_sentences())
    graphs = list(bove.read_conll(tmp_path / "t.conllu", adjacency=False))
    assert graphs[1].nodes[1] == ("word:dog", "pos:NN")
    assert graphs[1].edges == [("NMOD", 1, 0), ("SBJ", 2, 1), ("NMOD", 4, 3), ("OBJ", 2, 4), ("P", 2, 5)]
    whole = list(bove.read_conll(tmp_path / "t.conllu"))
    assert whole[1].edges == [*graphs[1].edges, *(("ADJACENCY", i, i + 1) for i in range(5))]
    assert whole == [from_sentence(sentence) for sentence in tiny_sentences()]


def test_networks_of_every_kind():
    directed = nx.MultiDiGraph(name="net")
    directed.add_node("a", colour="red", size=None, tags=["x", "y"])
    directed.add_node(5, colour="blue")
    directed.add_edge("a", 5, label="likes")
    directed.add_edge("a", 5, label="hates")
    directed.add_edge(5, 5)
    graph = bove.from_networkx(directed)
    assert graph.nodes == [("colour:red", "tags:x", "tags:y"), ("colour:blue",)]
    assert graph.edges == [("likes", 0, 1), ("hates", 0, 1), ("edge", 1, 1)]
    assert graph.names == ["a", 5] and graph.id == "net"
    assert bove.from_networkx(directed, "tags").nodes == [("tags:x", "tags:y"), ()]
    assert bove.from_networkx(directed, lambda key, data: [f"key:{key}"]).nodes == [("key:a",), ("key:5",)]
    assert bove.from_networkx(directed, [], label=None).edges == [("edge", 0, 1)] * 2 + [("edge", 1, 1)]
    one, three = (
        bove.from_networkx(nx.MultiDiGraph([(0, 1, {"label": "r"})] * n + [(1, 0)])) for n in (1, 3)
    )
    assert cells(bove.Corpus.of([one])) == cells(bove.Corpus.of([three])), (
        "parallel edges of one relation are one"
    )
    both = bove.from_networkx(nx.Graph([(0, 1), (1, 1)]))
    assert both.edges == [("edge", 0, 1), ("edge", 1, 0), ("edge", 1, 1)]
    assert len(bove.from_networkx(nx.Graph())) == 0


def test_triples_are_one_graph(tmp_path):
    (tmp_path / "t.tsv").write_text("a\tr\tb\n\nb\ts\ta\r\na\tr\tb\nc\tr\tc\n", encoding="utf-8")
    (tmp_path / "p.tsv").write_text("a\tcolour:red\na\tsize:2\nz\tcolour:red\n", encoding="utf-8")
    graph = bove.read_triples(tmp_path / "t.tsv", tmp_path / "p.tsv")
    assert graph.names == ["a", "b", "c", "z"]
    more = [("colour:red", "size:2"), (), (), ("colour:red",)]
    assert graph.nodes == [(f"node:{name}", *own) for name, own in zip("abcz", more, strict=True)]
    assert graph.edges == [("r", 0, 1), ("s", 1, 0), ("r", 0, 1), ("r", 2, 2)]
    assert bove.read_triples(tmp_path / "t.tsv", own_property=False).nodes == [(), (), ()]
    (tmp_path / "spaces").write_text("\u00a0\t\u2003\t\u00a0\n \t \n", encoding="utf-8")
    assert bove.read_triples(tmp_path / "spaces").edges == [("\u2003", 0, 0)]
    pandas, rows = pytest.importorskip("pandas"), [("a", "r", "b"), ("b", "s", "a"), ("a", "r", "b")]
    frame = pandas.DataFrame(rows, columns=["x", "y", "z"])
    by_file = bove.from_triples(tmp_path / "t.tsv")
    assert by_file == bove.read_triples(tmp_path / "t.tsv") == bove.from_triples(str(tmp_path / "t.tsv"))
    for given in (rows, iter(rows), frame, np.array(rows)):
        assert bove.from_triples(given).edges == by_file.edges[:3]
    numbered = bove.from_triples(np.array([[4, 0, 5], [5, 1, 4]]))
    assert numbered.edges == [("0", 0, 1), ("1", 1, 0)] and numbered.names == [4, 5]
    assert all(type(name) is int for name in numbered.names)
    for bad, said in (
        ("a r b\n", "line 2: .* has 1; read_triples takes another sep"), ("a\tr\n", "line 2: .* has 2$"),
        ("a\t\tb\n", "line 2: .* has 3, not all filled"),
        ("a\tr\tb\t1\tc\n", "line 2: .* has 5"), ("a\tr\tb\tc\n", "line 2: 'c' is not a weight"),
    ):  # fmt: skip
        (tmp_path / "bad").write_text(f"a\tr\tb\n{bad}", encoding="utf-8")
        with pytest.raises(bove.BoveError, match=f"bad, {said}"):
            bove.read_triples(tmp_path / "bad")


def test_columns_of_triples_are_found_by_their_names(tmp_path):
    pandas = pytest.importorskip("pandas")
    rows = [("a", "r", "b", 2.0), ("b", "s", "a", 1.0)]
    due = bove.from_triples(rows)
    for parts in ("head relation tail", "head relation dependent", "subject predicate object"):
        frame = pandas.DataFrame(rows, columns=[*parts.split(), "weight"])
        assert bove.from_triples(frame[list(frame)[::-1]]) == due
        assert bove.from_triples(frame.iloc[:, [1, 0, 2]]).names == due.names
        header = tmp_path / "header"
        frame.to_csv(header, sep="\t", index=False)
        with pytest.raises(bove.BoveError, match="header, line 1: names of columns"):
            bove.from_triples(header)
    frame.to_csv(tmp_path / "weights", sep="\t", index=False, header=False)
    assert bove.from_triples(tmp_path / "weights").edges == due.edges
    frame.loc[1, "object"] = None
    with pytest.raises(bove.BoveError, match=r"triple 2: .* cannot name a node"):
        bove.from_triples(frame)
