"""Training and inference with a vocabulary of which a part is switched off."""

import csv

import numpy as np
from tiny_treebank import count_and_encode, tiny_sentences, write_treebank

from bove.bags.store import Bags
from bove.cli.main import main
from bove.factor.model import Model
from bove.text.vocabulary import Vocabulary

ALS = (
    "train-als --rank 5 --alpha 2 --lambda-P 1 --lambda-R 0.5 --lambda-E 3 --dtype float64 --seed 3 "
    "--max-rounds 6 --tolerance 0 --restart-every 0 --batch-tokens 64 --checkpoint-every 0"
)


def train(folder, *switches) -> list[dict]:
    """Rows of the training log, in which L falls; beside it lie the model `m` and its bags `b`."""
    write_treebank(folder / "t.conllu", tiny_sentences())
    count_and_encode(folder, *switches)
    paths = f"--graphs {folder}/g --vocabulary {folder}/vocabulary --output {folder}/m"
    assert main(f"{ALS} {paths} --training-log {folder}/m.csv".split()) == 0
    files = f"--model {folder}/m --graphs {folder}/g --output {folder}/b"
    assert main(f"infer --system bove {files} --iterations 200 --tolerance 1e-4".split()) == 0
    with open(folder / "m.csv", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    totals = [float(row["total"]) for row in rows]
    assert totals[-1] < totals[0] and np.isfinite(totals).all()
    return rows


def test_without_tags_training_is_on_words_and_relations(tmp_path):
    rows = train(tmp_path, "--no-tags")
    assert {float(row["tags"]) for row in rows} == {0}
    model, vocabulary = Model.load(tmp_path / "m"), Vocabulary.load(tmp_path / "vocabulary")
    assert len(model.properties) == vocabulary.n_words and vocabulary.n_tags == 0
    assert model.groups["tags"] == (vocabulary.n_words, vocabulary.n_words)
    bags = Bags.open(tmp_path / "b")
    assert bags["0"].shape == (11, 5) and np.abs(bags["0"]).max(axis=1).min() > 0


def test_without_dependencies_adjacency_is_the_one_relation_trained(tmp_path):
    rows = train(tmp_path, "--no-dependencies")
    assert [name for name in rows[0] if name.startswith("relation:")] == ["relation:ADJACENCY"]
    model = Model.load(tmp_path / "m")
    assert model.relation_names == ("ADJACENCY",) and model.relations.shape == (1, 5, 5)
    assert model.relations.any()
