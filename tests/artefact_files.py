"""One small sound file of each kind that the stages write, with the function that reads it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from tiny_treebank import random_model, tiny_sentences

from bove.bags.store import Bags, BagWriter
from bove.evaluate.results import Scores, read_scores, write_scores
from bove.factor.model import Model, compress
from bove.text.graphs import encode, load_graphs, save_graphs
from bove.text.pairs import Pair, read_pairs, write_pairs
from bove.text.vectors import WordVectors, write_vectors
from bove.text.vocabulary import Vocabulary, build

READERS: dict[str, Callable] = {
    "vocabulary": Vocabulary.load,
    "vectors": WordVectors.open,
    "graphs": load_graphs,
    "model": Model.load,
    "low-rank model": Model.load,
    "bags": Bags.open,
    "pairs": read_pairs,
    "scores": read_scores,
}


def write_all(folder: Path) -> dict[str, Path]:
    """A file of each kind, by its name in READERS."""
    paths = {name: folder / name for name in READERS}
    sentences = tiny_sentences()[:4]
    options = {"numbers": True, "punctuation": True, "lookup": ["exact", "lower"], "adjacency": True}
    vocabulary = build(sentences, {"words": 1, "tags": 1, "relations": 1}, options)
    vocabulary.save(paths["vocabulary"])
    write_vectors(paths["vectors"], [([b"dog", "zèbre".encode()], np.eye(2, dtype=np.float32))], {})
    corpus = encode(sentences, vocabulary)
    save_graphs(corpus, paths["graphs"])
    rng = np.random.default_rng(0)
    relations = rng.standard_normal((vocabulary.n_relations, 2, 2)).astype(np.float32)
    for name, kept in (("model", relations), ("low-rank model", compress(relations, 0.9))):
        random_model(vocabulary, rng, 2, relations=kept, hyperparameters={"alpha": 1.0}).save(paths[name])
    with BagWriter(paths["bags"], corpus.ids, corpus.lengths, np.arange(4), 2, "bove", "h") as writer:
        for b, length in enumerate(corpus.lengths):
            writer.put(b, np.ones((length, 2), np.float32))
    pairs = [
        Pair(f"a-{i}", "sts", "STS", "similarity", "a", "A dog.", "Ein Hünd.", gold, gold is not None)
        for i, gold in enumerate((1.5, None))
    ]
    with open(paths["pairs"], "w", encoding="utf-8", newline="") as stream:
        write_pairs(stream, pairs)
    scores = Scores(
        dataset="sts", label="STS", task="similarity", ids=("a-0", "a-1"), subsets=("a", "a"),
        gold=("1.5", None), scored=np.array([True, False]), values={"bove": np.array([0.5, np.nan])},
        empty={"bove": np.array([False, False])}, pairs_sha256="", model_hashes={"bove": "h"},
        lengths=np.array([[3, 3], [0, 0]]),
    )  # fmt: skip
    write_scores(scores, paths["scores"])
    return paths
