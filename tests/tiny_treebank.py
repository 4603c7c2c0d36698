"""A few dozen sentences with trees, in Penn Treebank style, for tests that train a tagger or a parser."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np

from bove.cli.main import main
from bove.factor.model import Model
from bove.text.conll import Sentence, write_conllu
from bove.text.vocabulary import Vocabulary

_NOUNS, _VERBS = ("dog", "cat", "girl", "boy", "horse"), ("sees", "follows", "likes")


def tiny_sentences() -> list[Sentence]:
    """`The dog sees a cat .`, and every third one with a quotation and brackets."""
    out = []
    for i, (noun, verb, other) in enumerate(product(_NOUNS, _VERBS, _NOUNS[:3])):
        forms = ["The", noun, verb, "a", other, "."]
        tags = ["DT", "NN", "VBZ", "DT", "NN", "."]
        heads, relations = [2, 3, 0, 5, 3, 3], ["NMOD", "SBJ", "ROOT", "NMOD", "OBJ", "P"]
        if i % 3 == 0:
            forms[5:5] = ["-LRB-", "``", "well-known", "''", "-RRB-"]
            tags[5:5] = ["-LRB-", "``", "JJ", "''", "-RRB-"]
            heads[5:5], relations[5:5] = [8, 8, 5, 8, 8], ["P", "P", "APPO", "P", "P"]
        out.append(Sentence(str(i), tuple(forms), tuple(tags), tuple(heads), tuple(relations)))
    return out


def flat(name: str, forms: Sequence[str], tag: str = "T") -> Sentence:
    """A tree whose first token heads all others."""
    n = len(forms)
    return Sentence(name, tuple(forms), (tag,) * n, ((0,) + (1,) * n)[:n], (("ROOT",) + ("X",) * n)[:n])


def random_model(vocabulary: Vocabulary, rng, rank: int, scale: float = 1.0, **changes) -> Model:
    """A model for a vocabulary, with relations of this scale; `changes` are further fields."""
    c, d = vocabulary.n_properties, vocabulary.n_relations
    fields = {
        "properties": rng.standard_normal((c, rank)).astype(np.float32),
        "relations": (scale * rng.standard_normal((d, rank, rank))).astype(np.float32),
        "frozen": np.zeros(c, bool),
        "groups": {"words": (0, vocabulary.n_words), "tags": (vocabulary.n_words, c)},
        "relation_names": vocabulary.relations,
        "vocabulary_hash": vocabulary.hash,
        "hyperparameters": {"alpha": 0.5, "lambda_E": 2},
    }
    return Model(**fields | changes)


def write_treebank(path: Path, sentences: list[Sentence]) -> Path:
    """Write sentences as CoNLL-U."""
    with open(path, "w", encoding="utf-8") as stream:
        for sentence in sentences:
            write_conllu(stream, sentence, " ".join(sentence.forms))
    return path


def count_and_encode(folder: Path, *switches: str) -> None:
    """t.conllu of the folder to its `vocabulary`, which takes the switches, and its graphs `g`."""
    treebank, vocabulary = str(folder / "t.conllu"), str(folder / "vocabulary")
    assert not main(
        ["vocabulary", "--treebank", treebank, "--columns", "gold", "--min-words", "2", "--min-tags", "2",
         "--min-relations", "1", "--lookup", "exact", "lower", "--adjacency", *switches,
         "--output", vocabulary]
    )  # fmt: skip
    assert not main(
        ["encode", "--sentences", treebank, "--vocabulary", vocabulary, "--output", str(folder / "g")]
    )
