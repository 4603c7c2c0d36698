"""A finished run of a few dozen sentences, as the workflow leaves it, with a random model."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from tiny_treebank import count_and_encode, random_model, tiny_sentences, write_treebank

from bove.cli.main import main
from bove.config.load import resolve, store
from bove.text.conll import Sentence
from bove.text.pairs import Pair, write_pairs
from bove.text.vectors import write_vectors
from bove.text.vocabulary import Vocabulary

RANK = 6
# "lynx" has a vector, but is not in the treebank; "boy" is in the treebank, but has none.
WORDS = ("The", "a", "dog", "cat", "girl", "horse", "sees", "follows", "likes", ".", "lynx")
CHASED = Sentence(
    "1", ("The", "dog", "sees", "a", "cat", "."), ("DT", "NN", "VBZ", "DT", "NN", "."),
    (2, 3, 0, 5, 3, 3), ("NMOD", "SBJ", "ROOT", "NMOD", "OBJ", "P"),
)  # fmt: skip
TURNED = Sentence("2", ("A", "cat", "sees", "the", "dog", "."), *(
    getattr(CHASED, name) for name in ("tags", "heads", "relations")
))  # fmt: skip
TREES = {"x": CHASED, "y": TURNED, "z": Sentence("none")}
PAIRS = [
    Pair(name, "sts", "STS", "similarity", name[0], first, second, gold, gold is not None)
    for name, first, second, gold in (
        ("a-1", "x", "x", 5.0), ("a-2", "x", "y", 1.5), ("a-3", "x", "z", 2.5), ("b-1", "y", "x", 3.0),
        ("b-2", "y", "z", None),
    )
]  # fmt: skip


def make_run(root: Path, **sections) -> Path:
    """Write root/results/tiny, without a parser and data sets; the sections go into its configuration."""
    folder = root / "results" / "tiny"
    (folder / "graphs").mkdir(parents=True)
    (root / "data").mkdir()
    write_treebank(root / "data" / "train.conllu", tiny_sentences())
    write_treebank(folder / "t.conllu", tiny_sentences())
    count_and_encode(folder)
    (folder / "vocabulary").rename(folder / "vocabulary.json")
    (folder / "g").rename(folder / "graphs" / "train.safetensors")
    (folder / "t.conllu").unlink()
    rng = np.random.default_rng(5)
    rows = rng.standard_normal((len(WORDS), RANK)).astype(np.float32)
    write_vectors(folder / "vectors.safetensors", [([word.encode() for word in WORDS], rows)], {})
    make_model(folder, seed=6)
    raw = {
        "run": "tiny", "treebank": {"train": "data/train.conllu", "dev": "data/dev.conllu"},
        "vectors": {"file": "data/vectors.bin"}, "model": {"rank": RANK},
        "datasets": {"d": {"label": "D", "task": "entailment", "development": True,
                           "subsets": {"a": {"input": "a.txt"}}}},
    }  # fmt: skip
    store(resolve(raw | sections), folder / "config.yaml")
    return folder


def make_model(folder: Path, seed: int, place: str = "model/model.safetensors") -> None:
    """A model under which relations move every token."""
    vocabulary = Vocabulary.load(folder / "vocabulary.json")
    more = {"hyperparameters": {"alpha": 1.0, "lambda_E": 20.0}}
    more["frozen"] = np.arange(vocabulary.n_properties) < 3
    model = random_model(vocabulary, np.random.default_rng(seed), RANK, 0.6, **more)
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    model.save(folder / place)


def infer(folder: Path, system: str, graphs: Path, output: Path, *more) -> None:
    """Bags of graphs under the run's model, or of the sentences that `more` names as word vectors."""
    files = f"--vocabulary {folder}/vocabulary.json --vectors {folder}/vectors.safetensors"
    if system != "word-vectors":
        files = f"--model {folder}/model/model.safetensors --graphs {graphs} --solver fixed-point"
        files += " --iterations 30 --tolerance 0.001 --energy 0.9 --batch-tokens 4096"
    words = f"infer --system {system} {files} --output {output}".split()
    assert main([*words, *map(str, more)]) == 0


def encode(folder: Path, sentences: Path, output: Path) -> Path:
    """Graphs of sentences, with the run's vocabulary and vectors."""
    files = f"--vocabulary {folder}/vocabulary.json --vectors {folder}/vectors.safetensors"
    assert main(f"encode --sentences {sentences} {files} --output {output}".split()) == 0
    return output


def write_sides(out: Path, pairs: list[Pair], trees: dict[str, Sentence]) -> None:
    """Write out/pairs, and out/trees of the texts of those that are scored."""
    with open(out / "pairs", "w", encoding="utf-8") as stream:
        write_pairs(stream, pairs)
    sides = [(pair, i, (pair.first, pair.second)[i - 1]) for pair in pairs if pair.scored for i in (1, 2)]
    write_treebank(out / "trees", [replace(trees[text], id=f"{pair.id}.{i}") for pair, i, text in sides])


def score(
    folder: Path, out: Path, pairs: list[Pair], trees: dict[str, Sentence], systems, *more, weights=()
) -> None:
    """What the stages make of pairs: out/pairs, out/trees, bags named by system, out/report, out/scores.

    Args:
        trees: of the pairs' texts. more: options of `bove infer`. weights: those of `bove score`.
    """
    write_sides(out, pairs, trees)
    graphs = encode(folder, out / "trees", out / "g")
    for system in systems:
        report = [] if system == "word-vectors" else ["--report", out / "report"]
        infer(folder, system, graphs, out / system, "--sentences", out / "trees", *report, *more)
    bags = [f"{system}={out / system}" for system in systems]
    words = ["score", "--pairs", out / "pairs", "--bags", *bags, "--output", out / "scores"]
    assert main(list(map(str, [*words, *weights]))) == 0
