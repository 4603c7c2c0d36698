"""From treebank to tables with what is at the edge: a very long sentence, unknown words, hardly any pairs."""

import csv

import numpy as np
import pytest
from pair_forms import words_of
from tiny_treebank import count_and_encode, tiny_sentences, write_treebank

from bove.bags.store import Bags
from bove.cli.main import main
from bove.evaluate.results import read_scores
from bove.factor.model import Model
from bove.text.conll import Sentence
from bove.text.graphs import load_graphs
from bove.text.vectors import write_vectors

LONG, RANK = 3000, 4
COMMON = (
    f"--rank {RANK} --alpha 2 --lambda-P 1 --lambda-R 0.5 --lambda-E 3 --dtype float32 --seed 3 "
    "--penalty-P l2 --penalty-R l2"
)
ALS = (
    f"train-als {COMMON} --max-rounds 2 --tolerance 0 --restart-every 0 --restart-iterations 1 "
    "--e-step averaged --e-tolerance 1e-3 --e-energy 1 --r-tolerance 1e-3 --r-iterations 9 --batch-tokens 64 "
    "--checkpoint-every 0"
)
SGD = (
    f"train-sgd {COMMON} --learning-rate 0.1 --epochs 2 --batch-sentences 8 --negatives 2 "
    "--negative-weight 1 --patience 3 --held-out 0 --device cpu"
)
INFER = "--solver {solver} --iterations 5 --tolerance 1e-3 --energy 0.99 --batch-tokens 64"
PAIRS = {
    # two pairs; all predictions equal; a sentence without a known word, and one without any word
    "two": [("The dog sees", "The cat sees", 1.0), ("a girl", "a horse", 3.0)],
    "equal": [("The dog", "The dog", 1.0), ("a cat", "a cat", 2.0), ("a boy", "a boy", 3.0)],
    "unknown": [("qqq", "The dog", 1.0), ("", "a cat", 2.0), ("The dog", "a boy", 3.0), ("qqq", "zzz", 4.0)],
}


def bove(folder, line):
    """Run a command; words with a slash at their start are files of the folder."""
    words = [str(folder / word[1:]) if word.startswith("/") else word for word in line.split()]
    assert main(words) == 0, line


def tree(name, forms):
    size = len(forms)
    return Sentence(name, tuple(forms), ("NN",) * size, tuple(range(size)), ("NMOD",) * size)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two models of a treebank that has a chain of 3,000 tokens, and all bags and scores of the pairs."""
    folder = tmp_path_factory.mktemp("extremes")
    long = tree("long", ["dog", "cat", "girl", "horse", "boy"] * (LONG // 5))
    write_treebank(folder / "t.conllu", [*tiny_sentences(), long, Sentence("nothing")])
    words = [b"dog", b"cat", b"girl", b"horse", b"boy", b"The", b"sees"]
    vectors = np.random.default_rng(0).standard_normal((len(words), RANK)).astype(np.float32)
    write_vectors(folder / "v", [(words, vectors)], {})
    count_and_encode(folder)
    for trainer, line in (("als", ALS), ("sgd", SGD)):
        bove(
            folder,
            f"{line} --graphs /g --vocabulary /vocabulary --vectors /v "
            f"--output /{trainer} --training-log /log",
        )
    subsets = ""
    for name, pairs in PAIRS.items():
        text = "".join(f"{first}\t{second}\n" for first, second, _ in pairs)
        (folder / name).write_text(text, encoding="utf-8")
        (folder / f"{name}.gs").write_text("".join(f"{gold}\n" for *_, gold in pairs), encoding="utf-8")
        subsets += f" --subset {name} /{name} /{name}.gs"
    main_words = ["pairs", "--dataset", "sts", "--label", "STS", *words_of("similarity")]
    files = [str(folder / word[1:]) if word.startswith("/") else word for word in subsets.split()]
    assert main([*main_words, *files, "--output", str(folder / "pairs.jsonl")]) == 0
    sides = [
        tree(f"{name}-{number:05d}.{side}", text.split())
        for name, pairs in PAIRS.items()
        for number, pair in enumerate(pairs, 1)
        for side, text in enumerate(pair[:2], 1)
    ]
    write_treebank(folder / "sides.conllu", sides)
    bove(folder, "encode --sentences /sides.conllu --vocabulary /vocabulary --vectors /v --output /sides")
    inputs = "--graphs /sides --model /als --batch-tokens 64"
    bove(folder, f"infer --system bove {inputs} {INFER.format(solver='averaged')} --output /bove")
    bove(folder, f"infer --system properties-only {inputs} --output /properties")
    bove(
        folder,
        "infer --system word-vectors --vectors /v --vocabulary /vocabulary --sentences /sides.conllu "
        "--output /words",
    )
    bove(
        folder,
        f"score --pairs /pairs.jsonl --bags bove={folder}/bove p={folder}/properties w={folder}/words "
        "--output /scores",
    )
    bove(folder, "tables --scores /scores --resamples 100 --confidence 0.95 --seed 1 --output /tables")
    return folder


def test_a_sentence_of_3000_tokens_is_trained_on_and_inferred(folder):
    corpus = load_graphs(folder / "g")
    assert corpus.lengths.max() == LONG
    for trainer in ("als", "sgd"):
        model = Model.load(folder / trainer)
        assert np.isfinite(model.properties).all() and np.isfinite(model.relations).all()
        for solver in ("averaged", "fixed-point"):
            options = f"--model /{trainer} {INFER.format(solver=solver)}"
            bove(folder, f"infer --system bove --graphs /g {options} --output /long")
            bags = Bags.open(folder / "long")
            assert bags["long"].shape == (LONG, RANK) and np.isfinite(bags["long"]).all()
            assert bags["nothing"].shape == (0, RANK)


def test_sentences_without_a_known_word_are_scored_0_counted_and_never_undefined(folder):
    scores = read_scores(folder / "scores")
    assert scores.scored.all()
    of = dict(zip(scores.ids, range(len(scores.ids)), strict=True))
    unknown = [of[f"unknown-{number:05d}"] for number in (1, 2, 3, 4)]
    for values in scores.values.values():
        assert np.isfinite(values).all()
    # word vectors know none of the words; the other two have the property of unknown words for each
    assert scores.empty["w"][unknown].tolist() == [True, True, False, True]
    assert scores.values["w"][unknown][[0, 1, 3]].tolist() == [0, 0, 0]
    for system in ("bove", "p"):
        assert scores.empty[system][unknown].tolist() == [False, True, False, False]
        assert scores.values[system][unknown[1]] == 0


def test_two_pairs_have_a_correlation_and_equal_predictions_say_that_they_have_none(folder):
    with open(folder / "tables" / "scores.csv", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    value = {(row["subset"], row["system"]): row["value"] for row in rows if row["metric"] == "pearson"}
    for system in ("bove", "p"):
        assert abs(float(value["two", system])) == pytest.approx(1)
        assert value["equal", system] == ""
    counts = {(row["subset"], row["system"]): (row["n_scored"], row["n_empty"]) for row in rows}
    assert counts["unknown", "w"] == ("4", "3") and counts["unknown", "bove"] == ("4", "1")
    text = (folder / "tables" / "sts.md").read_text(encoding="utf-8")
    assert "undefined (constant)" in text
    assert "nan" not in (text + (folder / "tables" / "scores.csv").read_text(encoding="utf-8")).lower()
