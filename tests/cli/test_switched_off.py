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
    "--penalty-P l2 --penalty-R l2 --max-rounds 6 --tolerance 0 --restart-every 0 --restart-iterations 4 "
    "--e-step averaged --e-tolerance 1e-3 --e-energy 1 --r-tolerance 1e-6 "
    "--r-iterations 40 --batch-tokens 64 --checkpoint-every 0"
)


def train(folder, *switches) -> list[dict]:
    """Rows of the training log; beside it lie the model `m` and its bags `b`."""
    write_treebank(folder / "t.conllu", tiny_sentences())
    count_and_encode(folder, *switches)
    paths = f"--graphs {folder}/g --vocabulary {folder}/vocabulary --output {folder}/m"
    assert main(f"{ALS} {paths} --training-log {folder}/m.csv".split()) == 0
    assert not main(
        f"infer --system bove --model {folder}/m --graphs {folder}/g --iterations 200 --tolerance 1e-4 "
        f"--solver fixed-point --energy 1 --batch-tokens 64 --output {folder}/b".split()
    )
    with open(folder / "m.csv", encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def check_descent(rows):
    totals = [float(row["total"]) for row in rows]
    assert totals[-1] < totals[0] and np.isfinite(totals).all()


def test_without_tags_training_is_on_words_and_relations(tmp_path):
    rows = train(tmp_path, "--no-tags")
    check_descent(rows)
    assert {float(row["tags"]) for row in rows} == {0}
    model, vocabulary = Model.load(tmp_path / "m"), Vocabulary.load(tmp_path / "vocabulary")
    assert len(model.properties) == vocabulary.n_words and vocabulary.n_tags == 0
    assert model.groups["tags"] == (vocabulary.n_words, vocabulary.n_words)
    bags = Bags.open(tmp_path / "b")
    assert bags["0"].shape == (11, 5) and np.abs(bags["0"]).max(axis=1).min() > 0


def test_without_dependencies_adjacency_is_the_one_relation_trained(tmp_path):
    rows = train(tmp_path, "--no-dependencies")
    check_descent(rows)
    assert [name for name in rows[0] if name.startswith("relation:")] == ["relation:ADJACENCY"]
    model = Model.load(tmp_path / "m")
    assert model.relation_names == ("ADJACENCY",) and model.relations.shape == (1, 5, 5)
    assert model.relations.any()
