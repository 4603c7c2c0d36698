"""`bove infer`: what it writes and reports, and a model under which inference diverges."""

import csv

import numpy as np
import pytest
from tiny_treebank import count_and_encode, write_treebank

from bove.bags import Bags
from bove.cli.main import main
from bove.factor.model import Model
from bove.text.conll import Sentence
from bove.text.vocabulary import Vocabulary

RANK = 4
LENGTHS = {"a": 5, "b": 2, "again": 5, "nothing": 0, "long": 9}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Graphs of four shapes; models whose relations are gentle, and so strong that no solver settles."""
    folder, rng = tmp_path_factory.mktemp("infer"), np.random.default_rng(0)
    trees = [
        Sentence(name, ("x",) * n, ("T",) * n, ((0,) + (1,) * n)[:n], (("ROOT",) + ("X",) * n)[:n])
        for name, n in LENGTHS.items()
    ]
    write_treebank(folder / "t.conllu", trees)
    count_and_encode(folder)
    vocabulary = Vocabulary.load(folder / "vocabulary")
    c, d = vocabulary.n_properties, vocabulary.n_relations
    for name, scale in (("gentle", 0.1), ("wild", 1e30)):
        Model(
            properties=rng.standard_normal((c, RANK)).astype(np.float32),
            relations=(scale * rng.standard_normal((d, RANK, RANK))).astype(np.float32),
            frozen=np.zeros(c, bool),
            groups={"words": (0, vocabulary.n_words), "tags": (vocabulary.n_words, c)},
            relation_names=vocabulary.relations,
            vocabulary_hash=vocabulary.hash,
            hyperparameters={"alpha": 0.5, "lambda_E": 2},
        ).save(folder / name)
    return folder


def infer(folder, model, solver, *more):
    words = (
        f"infer --system bove --model {folder / model} --graphs {folder / 'g'} --solver {solver} "
        f"--iterations 40 --tolerance 1e-4 --energy 1 --batch-tokens 8 --output {folder / 'bags'}"
    )
    return main([*words.split(), *map(str, more)])


@pytest.mark.parametrize("solver", ["averaged", "fixed-point"])
def test_equal_sentences_share_a_bag_and_the_report_has_every_sentence(folder, solver):
    assert infer(folder, "gentle", solver, "--report", folder / "report.csv") == 0
    bags = Bags.open(folder / "bags")
    assert {name: len(bags[name]) for name in bags} == LENGTHS
    assert bags.bag_of("a") == bags.bag_of("again") != bags.bag_of("b")
    with open(folder / "report.csv", encoding="utf-8") as stream:
        rows = {row["id"]: row for row in csv.DictReader(stream)}
    assert {name: int(row["tokens"]) for name, row in rows.items()} == LENGTHS
    assert all(float(row["change"]) < 1e-4 for row in rows.values())
    (folder / "bags").unlink()


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("solver", ["averaged", "fixed-point"])
def test_a_model_under_which_inference_diverges_is_one_line_and_leaves_no_bags(folder, solver, capsys):
    assert infer(folder, "wild", solver) == 2
    said = [line for line in capsys.readouterr().err.split("\n") if line.startswith("bove infer: ")]
    assert len(said) == 1
    assert "raise lambda_E" in said[0] or "higher lambda_R or lambda_E" in said[0]
    assert not (folder / "bags").exists()
