"""At the edge: long sentences, unknown and odd words, hardly any pairs, and parts that are switched off."""

import csv
import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from pair_forms import words_of
from tiny_treebank import count_and_encode, flat, tiny_sentences, write_treebank

from bove.bags.store import Bags
from bove.cli.main import main
from bove.evaluate.metrics import MEASURES
from bove.evaluate.results import read_scores
from bove.factor.model import Model
from bove.text.conll import Sentence
from bove.text.graphs import load_graphs
from bove.text.vectors import write_vectors
from bove.text.vocabulary import Vocabulary

LONG, RANK = 3000, 4
COMMON = f"--rank {RANK} --alpha 2 --lambda-P 1 --lambda-R 0.5 --lambda-E 3 --dtype float32 --seed 3"
ALS = (
    f"train-als {COMMON} --max-rounds 2 --tolerance 0 --restart-every 0 --restart-iterations 4 "
    "--e-tolerance 1e-3 --r-tolerance 1e-3 --r-iterations 9 --batch-tokens 64 --checkpoint-every 0"
)
SGD = f"train-sgd {COMMON} --learning-rate 0.1 --epochs 2 --batch-sentences 8 --negatives 2 --held-out 0"
INFER = "--solver {solver} --iterations 5 --tolerance 1e-3 --energy 0.9 --batch-tokens 64"
PAIRS = {
    # two pairs; all predictions equal; a sentence without a known word, and one without any word
    "two": [("The dog sees", "The cat sees", 1.0), ("a girl", "a horse", 3.0)],
    "equal": [("The dog", "The dog", 1.0), ("a cat", "a cat", 2.0), ("a boy", "a boy", 3.0)],
    "unknown": [("qqq", "The dog", 1.0), ("", "a cat", 2.0), ("The dog", "a boy", 3.0), ("qqq", "zzz", 4.0)],
}
TABLES = "tables --scores /scores --resamples 100 --confidence 0.95 --seed 1 --output /tables"


def bove(folder, line, *more):
    """Run a command; words with a slash at their start are files of the folder."""
    words = [str(folder / word[1:]) if word.startswith("/") else word for word in line.split()]
    assert main([*words, *map(str, more)]) == 0, line


def tree(name, forms):
    size = len(forms)
    return Sentence(name, tuple(forms), ("NN",) * size, tuple(range(size)), ("NMOD",) * size)


def save_vectors(path, words):
    rows = np.random.default_rng(0).standard_normal((len(words), RANK)).astype(np.float32)
    write_vectors(path, [([word.encode() for word in words], rows)], {})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two models of a treebank that has a chain of 3,000 tokens, and all bags and scores of the pairs."""
    folder = tmp_path_factory.mktemp("extremes")
    long = tree("long", ["dog", "cat", "girl", "horse", "boy"] * (LONG // 5))
    write_treebank(folder / "t.conllu", [*tiny_sentences(), long, Sentence("nothing")])
    save_vectors(folder / "v", ["dog", "cat", "girl", "horse", "boy", "The", "sees"])
    count_and_encode(folder)
    for name, line in (("als", ALS), ("sgd", SGD)):
        files = f"--graphs /g --vocabulary /vocabulary --vectors /v --output /{name} --training-log /log"
        bove(folder, f"{line} {files}")
    subsets, sides = "", []
    for name, pairs in PAIRS.items():
        text = "".join(f"{first}\t{second}\n" for first, second, _ in pairs)
        (folder / name).write_text(text, encoding="utf-8")
        (folder / f"{name}.gs").write_text("".join(f"{gold}\n" for *_, gold in pairs), encoding="utf-8")
        subsets += f" --subset {name} /{name} /{name}.gs"
        for number, pair in enumerate(pairs, 1):
            sides += [tree(f"{name}-{number:05d}.{i}", text.split()) for i, text in enumerate(pair[:2], 1)]
    start = f"pairs --dataset sts --label STS {subsets} --output /pairs.jsonl"
    bove(folder, start, *words_of("similarity"))
    write_treebank(folder / "sides.conllu", sides)
    bove(folder, "encode --sentences /sides.conllu --vocabulary /vocabulary --vectors /v --output /sides")
    inputs = "--graphs /sides --model /als --batch-tokens 64"
    bove(folder, f"infer --system bove {inputs} {INFER.format(solver='averaged')} --output /bove")
    bove(folder, f"infer --system properties-only {inputs} --output /properties")
    words = "infer --system word-vectors --vectors /v --vocabulary /vocabulary --sentences"
    bove(folder, f"{words} /sides.conllu --output /words")
    bags = f"bove={folder}/bove p={folder}/properties w={folder}/words"
    bove(folder, f"score --pairs /pairs.jsonl --bags {bags} --output /scores")
    bove(folder, TABLES)
    return folder


def test_a_sentence_of_3000_tokens_is_trained_on_and_inferred(folder):
    assert load_graphs(folder / "g").lengths.max() == LONG
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
    assert scores.scored.all() and all(np.isfinite(values).all() for values in scores.values.values())
    unknown = [scores.ids.index(f"unknown-{number:05d}") for number in (1, 2, 3, 4)]
    # word vectors know none of the words; the other two have the property of unknown words for each
    assert scores.empty["w"][unknown].tolist() == [True, True, False, True]
    assert scores.values["w"][unknown][[0, 1, 3]].tolist() == [0, 0, 0]
    for system in ("bove", "p"):
        assert scores.empty[system][unknown].tolist() == [False, True, False, False]
        assert scores.values[system][unknown[1]] == 0


def test_two_pairs_have_a_correlation_and_equal_predictions_say_that_they_have_none(folder):
    text = (folder / "tables" / "scores.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.split("\n")))
    value = {(row["subset"], row["system"]): row["value"] for row in rows if row["metric"] == "pearson"}
    for system in ("bove", "p"):
        assert abs(float(value["two", system])) == pytest.approx(1)
        assert value["equal", system] == ""
    counts = {(row["subset"], row["system"]): (row["n_scored"], row["n_empty"]) for row in rows}
    assert counts["unknown", "w"] == ("4", "3") and counts["unknown", "bove"] == ("4", "1")
    page = (folder / "tables" / "sts.md").read_text(encoding="utf-8")
    assert "undefined (constant)" in page and "nan" not in (page + text).lower()


# Words that other programs take for missing values.
WORDS = ("n/a", "null", "NA", "nan", "None", "NaN", "-", "_")
LABELS = {"nan": "entailment", "null": "no", "NA": "None", "": "-"}


@pytest.mark.parametrize("form", ["text", "json"])
def test_words_of_missing_values_are_words_labels_names_and_ids_like_any_other(tmp_path, form):
    rows = [(word, WORDS[i - 1], ("nan", "null", "NA", "")[i % 4], word) for i, word in enumerate(WORDS)]
    rows += [("", "nan", "nan", "nothing")]
    keys = ("NaN", "nan", "None", "null")
    lines = ["\t".join(row) for row in (keys, *rows)]
    if form == "json":
        lines = [json.dumps(dict(zip(keys, row, strict=True))) for row in rows]
    (tmp_path / "file").write_text("\n".join(lines) + "\n", encoding="utf-8")
    columns = dict(zip(("first", "second", "gold", "id"), keys, strict=True))
    words = words_of("entailment", columns=columns, labels=LABELS)
    bove(tmp_path, "pairs --dataset NA --label nan --subset null /file --output /pairs.jsonl", *words)
    sides = [flat(f"null-{row[3]}.{side}", row[side - 1].split()) for row in rows for side in (1, 2)]
    write_treebank(tmp_path / "own.conllu", sides)
    write_treebank(tmp_path / "t.conllu", [*tiny_sentences(), *(tree for tree in sides if tree.forms)] * 2)
    save_vectors(tmp_path / "v", WORDS)
    thresholds = "--min-words 1 --min-tags 1 --min-relations 1 --lookup exact --no-numbers --no-punctuation"
    bove(tmp_path, f"vocabulary --treebank /t.conllu {thresholds} --output /vocabulary")
    bove(tmp_path, "parse --pairs /pairs.jsonl --parses /own.conllu --output /parses.gz")
    words = "infer --system word-vectors --vectors /v --vocabulary /vocabulary --sentences"
    bove(tmp_path, f"{words} /parses.gz --output /bags")
    bove(tmp_path, f"score --pairs /pairs.jsonl --bags null={tmp_path}/bags --output /scores")
    bove(tmp_path, TABLES)

    bags = Bags.open(tmp_path / "bags")
    scored = [row for row in rows if row[2]]
    assert len(bags.ids) == 2 * len(scored)
    for first, second, _, name in scored:
        assert (len(bags[f"null-{name}.1"]), len(bags[f"null-{name}.2"])) == (len(first.split()), 1), name
        assert first == second or not first or (bags[f"null-{name}.1"] != bags[f"null-{name}.2"]).any()
    table = pq.read_table(tmp_path / "scores").to_pydict()
    assert table["id"] == [f"null-{name}" for *_, name in rows]
    assert table["gold"] == [LABELS[label] for _, _, label, _ in rows]
    assert set(table["dataset"]) == {"NA"} and set(table["label"]) == {"nan"}
    assert [value is not None for value in table["score:null"]] == [bool(row[2]) for row in rows]
    assert table["empty:null"] == [name == "nothing" for *_, name in rows]
    with open(tmp_path / "tables" / "scores.csv", encoding="utf-8") as stream:
        row, *others = csv.DictReader(stream)
    assert [row["metric"] for row in (row, *others)] == list(MEASURES["entailment"])
    counts = [row[key] for key in ("dataset", "subset", "system", "n_pairs", "n_scored", "n_empty")]
    assert counts == ["NA", "null", "null", str(len(rows)), str(len(scored)), "1"]
    assert 0 < float(row["value"]) <= 1


def train_and_infer(folder, *switches):
    """Rows of the training log, the model and its bags, of a vocabulary with these switches."""
    write_treebank(folder / "t.conllu", tiny_sentences())
    count_and_encode(folder, *switches)
    bove(
        folder, f"{ALS} --max-rounds 6 --graphs /g --vocabulary /vocabulary --output /m --training-log /m.csv"
    )
    bove(
        folder, f"infer --system bove --model /m --graphs /g {INFER.format(solver='fixed-point')} --output /b"
    )
    with open(folder / "m.csv", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    totals = [float(row["total"]) for row in rows]
    assert totals[-1] < totals[0] and np.isfinite(totals).all()
    return rows, Model.load(folder / "m"), Bags.open(folder / "b")


def test_without_tags_training_is_on_words_and_relations(tmp_path):
    rows, model, bags = train_and_infer(tmp_path, "--no-tags")
    vocabulary = Vocabulary.load(tmp_path / "vocabulary")
    assert {float(row["tags"]) for row in rows} == {0} and vocabulary.n_tags == 0
    assert len(model.properties) == vocabulary.n_words
    assert model.groups["tags"] == (vocabulary.n_words, vocabulary.n_words)
    assert bags["0"].shape == (11, RANK) and np.abs(bags["0"]).max(axis=1).min() > 0


def test_without_dependencies_adjacency_is_the_one_relation_trained(tmp_path):
    rows, model, _ = train_and_infer(tmp_path, "--no-dependencies")
    assert [name for name in rows[0] if name.startswith("relation:")] == ["relation:ADJACENCY"]
    assert model.relation_names == ("ADJACENCY",) and model.relations.shape == (1, RANK, RANK)
    assert model.relations.any()
