"""Sentences to graphs, and their file."""

import dataclasses

import numpy as np
import pytest

from bove import artefacts
from bove.errors import BoveError
from bove.text.conll import Sentence
from bove.text.graphs import Counts, encode, load_graphs, save_graphs
from bove.text.vectors import WordVectors, write_vectors
from bove.text.vocabulary import build

OPTIONS = dict.fromkeys(("numbers", "punctuation", "adjacency"), True)
OPTIONS |= {"lookup": ["exact", "lower", "capitalised"]}
ARCS = ((2, 0, 2, 2), ("nsubj", "root", "obj", "p"))
TREEBANK = [
    Sentence("1", ("dogs", "see", "cats", "."), ("NNS", "VBP", "NNS", "."), *ARCS),
    Sentence("2", ("dogs", "see", "Rex", "."), ("NNS", "VBP", "NNP", "."), *ARCS),
    Sentence("3", ("dogs", "now", "."), ("NNS", "RB", "."), (0, 1, 1), ("root", "advmod", "p")),
]


def vocabulary(relations=2, **options):
    return build(TREEBANK, {"words": 2, "tags": 2, "relations": relations}, OPTIONS | options)


@pytest.fixture
def known(tmp_path):
    words = [b"zebras", b"Zebras", b"lions"]
    write_vectors(tmp_path / "vectors", [(words, np.arange(6, dtype=np.float32).reshape(3, 2))], {})
    return WordVectors.open(tmp_path / "vectors")


def named_properties(graphs, words):
    """Names of each token's properties."""
    names = [*words.words, *words.tags, *(f"extra {i}" for i in range(len(graphs.extra)))]
    entries = np.split(graphs.properties, graphs.property_offsets[1:-1])
    return [[names[i] for i in some] for some in entries]


def named_arcs(graphs, words):
    triples = zip(graphs.arc_relation, graphs.arc_head, graphs.arc_dependent, strict=True)
    return {(words.relations[r], int(i), int(j)) for r, i, j in triples}


def test_a_token_has_its_word_and_its_tag():
    words = vocabulary()
    graphs = encode(TREEBANK, words)
    dogs, see, stop = ["dogs", "NNS"], ["see", "VBP"], ["PUNCT", "."]
    unknown = [["UNKNOWN_NNS", "NNS"], *([f"UNKNOWN_{tag}", "UNKNOWN_POSTAG"] for tag in ("NNP", "RB"))]
    first, second, third = (
        [dogs, see, unknown[0], stop],
        [dogs, see, unknown[1], stop],
        [dogs, unknown[2], stop],
    )
    assert named_properties(graphs, words) == [*first, *second, *third]
    np.testing.assert_array_equal(graphs.token_offsets, [0, 4, 8, 11])
    assert graphs.n_properties == words.n_properties and graphs.vocabulary_hash == words.hash
    assert graphs.ids == ("1", "2", "3") and graphs.extra.shape == (0, 0)


def test_arcs_go_from_head_to_dependent_and_adjacency_to_the_next():
    words = vocabulary()
    graphs = encode(TREEBANK, words)
    np.testing.assert_array_equal(graphs.arc_offsets, [0, 6, 12, 16])
    assert named_arcs(graphs, words) == {
        *(("nsubj", 1 + o, 0 + o) for o in (0, 4)),
        *(("obj", 1 + o, 2 + o) for o in (0, 4)),
        *(("p", 1 + o, 3 + o) for o in (0, 4)),
        ("UNKNOWN_RELATION", 8, 9),
        ("p", 8, 10),
        *(("ADJACENCY", t, t + 1) for t in (0, 1, 2, 4, 5, 6, 8, 9)),
    }
    assert len(encode(TREEBANK, vocabulary(adjacency=False)).arc_relation) == 8


def test_without_dependencies_adjacency_alone_is_encoded():
    words, counts = vocabulary(dependencies=False), Counts()
    graphs = encode(TREEBANK, words, counts=counts)
    assert named_arcs(graphs, words) == {("ADJACENCY", t, t + 1) for t in (0, 1, 2, 4, 5, 6, 8, 9)}
    np.testing.assert_array_equal(graphs.arc_offsets, [0, 3, 6, 8])
    assert not counts.relations and not counts.new_relations and not counts.dropped
    assert counts.relation_coverage == 1 and graphs.n_relations == 1


def test_without_tags_a_token_has_its_word_alone(known):
    words, counts = vocabulary(tags=False), Counts()
    forms = ("dogs", "Rex", "unicorns", "zebras", ".")
    tree = Sentence("s", forms, ("NNS", "NNP", "new", "NNS", "."), (0,) + (1,) * 4, ("root",) + ("obj",) * 4)
    graphs = encode([tree], words, known, counts)
    assert named_properties(graphs, words) == [["dogs"], ["UNKNOWN_"], ["UNKNOWN_"], ["extra 0"], ["PUNCT"]]
    assert not counts.tags and not counts.new_tags and not counts.dropped and counts.tag_coverage == 1
    assert counts.words == {"exact": 1, "UNKNOWN_": 2, "vectors": 1, "PUNCT": 1}
    assert graphs.n_properties == words.n_words


def test_no_cell_is_repeated_even_where_labels_and_heads_are_odd():
    words = vocabulary()
    odd = Sentence("o", ("dogs",) * 4, ("NNS",) * 4, (1, 3, 2, -1), ("new", "ADJACENCY", "x", "_"))
    graphs = encode([odd, odd], words)
    cells = list(zip(graphs.arc_relation, graphs.arc_head, graphs.arc_dependent, strict=True))
    assert len(set(cells)) == len(cells) == 12
    assert ("UNKNOWN_RELATION", 4, 4) in named_arcs(graphs, words), "a self-loop stays a cell"


def test_empty_sentences_and_single_tokens_are_graphs():
    words = vocabulary()
    one = Sentence("one", ("dogs",), ("NNS",), (0,), ("root",))
    graphs = encode([Sentence("a"), one, Sentence("b"), one], words)
    np.testing.assert_array_equal(graphs.lengths, [0, 1, 0, 1])
    assert len(graphs.arc_relation) == 0 and graphs.n_graphs == 4
    nothing = encode([], words)
    assert nothing.n_graphs == 0 and nothing.n_tokens == 0


def test_words_outside_the_vocabulary_get_their_pretrained_vector(known):
    words, counts = vocabulary(), Counts()
    forms = ("ZEBRAS", "lions", "zebras", "Dogs", "7", "unicorns", "unicorns")
    tags = ("NNS", "NNS", "NNS", "NNS", "NNS", "NNS", "JJ")
    tree = Sentence("s", forms, tags, (0,) + (1,) * 6, ("root",) + ("obj",) * 6)
    graphs = encode([tree], words, known, counts)
    expected = ["extra 0", "extra 1", "extra 0", "dogs", "UNKNOWN_NNS", "UNKNOWN_NNS"]
    assert [some[0] for some in named_properties(graphs, words)[:-1]] == expected
    assert named_properties(graphs, words)[-1] == ["UNKNOWN_POSTAG"], "JJ was never unknown: no word property"
    np.testing.assert_array_equal(graphs.extra, [[0, 1], [4, 5]])
    assert counts.words == {"vectors": 3, "lower": 1, "UNKNOWN_": 2, "none": 1}


def test_coverage_takes_rare_names_as_known_and_counts_new_ones():
    words, counts = vocabulary(), Counts()
    encode(TREEBANK, words, counts=counts)
    assert (counts.relation_coverage, counts.tag_coverage) == (1, 1)
    assert counts.relations == {"kept": 7, "rare": 1} and counts.tags == {"kept": 9, "rare": 2}
    tags, labels, counts = ("NNS", "N", "N", "RB"), ("ROOT", "OBJ", "OBJ", "obj"), Counts()
    encode([Sentence("o", ("a",) * 4, tags, (0, 1, 1, 1), labels)], words, counts=counts)
    assert counts.relation_coverage == pytest.approx(1 / 3) and counts.new_relations == {"OBJ": 2}
    assert counts.tag_coverage == pytest.approx(1 / 2) and counts.new_tags == {"N": 2}


def test_names_without_any_row_are_left_out_and_counted():
    words = build(TREEBANK[:1] * 2, {"words": 2, "tags": 1, "relations": 1}, OPTIONS)
    tree, counts = Sentence("s", ("x", "y"), ("NEW", "NNS"), (0, 1), ("root", "new")), Counts()
    graphs = encode([tree], words, counts=counts)
    assert named_properties(graphs, words) == [[], ["NNS"]]
    assert named_arcs(graphs, words) == {("ADJACENCY", 0, 1)}
    assert counts.dropped == {"tags": 1, "arcs": 1} and counts.words == {"none": 2}


def test_saved_and_loaded(tmp_path, known):
    zebra = Sentence("z\u00e9bra.1", ("Zebras", "see"), ("NNS", "VBP"), (2, 0), ("nsubj", "root"))
    graphs = encode([zebra, Sentence("empty")], vocabulary(), known)
    save_graphs(graphs, tmp_path / "g")
    again = load_graphs(tmp_path / "g")
    for field in dataclasses.fields(graphs):
        np.testing.assert_array_equal(getattr(again, field.name), getattr(graphs, field.name), strict=False)
    first = (tmp_path / "g").read_bytes()
    save_graphs(again, tmp_path / "g")
    assert (tmp_path / "g").read_bytes() == first


def test_graphs_that_have_changed_are_refused(tmp_path):
    save_graphs(encode(TREEBANK, vocabulary()), tmp_path / "g")
    arrays, metadata = artefacts.open_mapped(tmp_path / "g", "bove-graphs")
    for name, array in arrays.items():
        shapes = {other: (kept.dtype, kept.shape) for other, kept in arrays.items()}
        with artefacts.create(tmp_path / "changed", "bove-graphs", shapes, metadata) as writer:
            for other, kept in arrays.items():
                writer.put(other, kept if other != name else np.ones_like(array))
        if array.size:
            with pytest.raises(BoveError, match="changed since it was written"):
                load_graphs(tmp_path / "changed")


def test_damaged_and_foreign_files_are_refused(tmp_path):
    path = tmp_path / "g"
    save_graphs(encode(TREEBANK, vocabulary()), path)
    whole = path.read_bytes()
    for part in (whole[:-3], whole[:20], b"", b"[]"):
        path.write_bytes(part)
        with pytest.raises(BoveError, match="not a safetensors file, or a damaged one"):
            load_graphs(path)
    artefacts.save(path, "bove-bags", {}, {})
    with pytest.raises(BoveError, match="holds bove-bags, not bove-graphs"):
        load_graphs(path)
