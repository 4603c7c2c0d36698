"""The readers on released data, where it lies beside the repository."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pair_forms import read_snli, read_sts

from bove.files import read_lines
from bove.text.conll import EMPTY_NODE, RANGE, read_sentences
from bove.text.graphs import Counts, encode
from bove.text.tokens import find_conventions, normalise, tokenise
from bove.text.vectors import WordVectors, convert
from bove.text.vocabulary import build

DATA = Path(__file__).parents[2] / "../shared/data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"released data is not at {DATA}")
OPTIONS = dict.fromkeys(("numbers", "punctuation", "adjacency"), True)
OPTIONS |= {"lookup": ["exact", "lower", "capitalised"]}


@pytest.fixture(scope="module")
def train():
    return list(read_sentences(DATA / "treebank/ewt-train.conll09.gz", strict=True))


def test_the_treebank_is_read_whole_and_its_trees_are_sound(train):
    assert (len(train), sum(len(tree.forms) for tree in train)) == (12544, 204577)


def test_both_formats_of_the_same_part_give_the_same_trees():
    counts = Counter()
    ours = read_sentences(DATA / "treebank/ewt-dev.conll09.gz", "predicted")
    released = list(read_sentences(DATA / "treebank/ewt-dev.conllu.gz", counts=counts, strict=True))
    assert len(released) == 2001 and sum(len(tree.forms) for tree in released) == 25147
    for one, other in zip(ours, released, strict=True):
        assert one == replace(other, id=one.id)
    assert counts == {RANGE: 359, EMPTY_NODE: 4}


def spans(tokens):
    """First and last character of each token in the text without its spaces."""
    ends = np.cumsum([len(token.replace(" ", "")) for token in tokens])
    return set(zip([0, *ends[:-1]], ends, strict=True))


def test_text_is_divided_into_the_tokens_of_the_treebank(train):
    conventions = find_conventions([tree.forms for tree in train])
    path = DATA / "treebank/ewt-dev.conllu.gz"
    texts = [line.removeprefix("# text = ") for _, line in read_lines(path) if line.startswith("# text = ")]
    right, found, given, exact = 0, 0, 0, 0
    for text, tree in zip(texts, read_sentences(path), strict=True):
        ours, theirs = spans(tokenise(normalise(text), conventions)), spans(tree.forms)
        right, found, given = right + len(ours & theirs), found + len(ours), given + len(theirs)
        exact += ours == theirs
    assert given == 25147
    assert round(2 * right / (found + given), 4) == 0.9910 and exact == 1881


def test_sts_pairs_are_all_read():
    counts = {}
    for path in DATA.glob("sts/2014/STS.input.*.txt"):
        subset = path.name.removeprefix("STS.input.").removesuffix(".txt")
        pairs = read_sts(path, path.with_name(f"STS.gs.{subset}.txt"), subset=subset)
        assert all(pair.scored and 0 <= pair.gold <= 5 for pair in pairs)
        counts[subset] = len(pairs)
    expected = dict.fromkeys(("headlines", "images", "OnWN", "tweet-news"), 750)
    assert counts == expected | {"deft-forum": 450, "deft-news": 300}


def test_snli_pairs_are_all_read():
    pairs = read_snli(DATA / "snli/snli_1.0_dev.first1289.jsonl")
    golds = Counter(pair.gold for pair in pairs)
    assert golds == {"entailment": 433, "neutral": 421, "contradiction": 419, "-": 16}


@pytest.mark.parametrize(("part", "labelled"), [("dev", 9842), ("test", 9824)])
@pytest.mark.parametrize("ending", ["jsonl", "txt"])
def test_whole_parts_of_snli(part, labelled, ending):
    path = DATA / f"snli/snli_1.0_{part}.{ending}"
    if not path.is_file():
        pytest.skip(f"{path.name} is not there")
    pairs = read_snli(path)
    assert (len(pairs), sum(pair.scored for pair in pairs)) == (10_000, labelled)


def test_vocabulary_vectors_and_graphs_of_the_treebank(train, tmp_path):
    assert convert(DATA / "vectors/googlenews-8000.bin.gz", tmp_path / "v") == {}
    vectors = WordVectors.open(tmp_path / "v")
    assert (len(vectors), vectors.dimensions) == (8000, 300)
    assert vectors.find(["in", "the", "The", "a", "of"]).tolist()[3:] == [-1, -1]
    vocabulary = build(train, {"words": 2, "tags": 2, "relations": 1000}, OPTIONS)
    assert (vocabulary.n_tags, vocabulary.n_relations) == (49, 30)
    counts = Counts()
    graphs = encode(read_sentences(DATA / "treebank/ewt-dev.conllu.gz"), vocabulary, vectors, counts)
    assert (counts.tag_coverage, counts.relation_coverage) == (1, 1)
    assert (
        counts.words["vectors"] > 500
        and len(graphs.extra) == graphs.properties.max() + 1 - vocabulary.n_properties
    )
    cells = np.stack([graphs.arc_relation, graphs.arc_head, graphs.arc_dependent])
    assert np.unique(cells, axis=1).shape == cells.shape
    assert len(graphs.arc_head) == (25147 - 2001) * 2, (
        "each token but the root has a head, each but the first a neighbour"
    )
