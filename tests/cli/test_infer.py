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


def test_sentences_with_one_id_are_refused_since_a_bag_is_found_by_it(folder, tmp_path, capsys):
    write_treebank(tmp_path / "twice.conllu", [Sentence("a", ("x",), ("T",), (0,), ("ROOT",))] * 2)
    common = f"--sentences {tmp_path / 'twice.conllu'} --vocabulary {folder / 'vocabulary'} --output"
    assert main(f"encode {common} {tmp_path / 'g'}".split()) == 0
    assert "1 sentence ids that stood before, first in line 5" in capsys.readouterr().err
    assert infer(folder, "gentle", "averaged", "--graphs", tmp_path / "g") == 2
    assert "two sentences have the id 'a'; give each its own" in capsys.readouterr().err
    (tmp_path / "v.txt").write_text("x 1 2\n", encoding="utf-8")
    vectors = f"--input {tmp_path / 'v.txt'} --format auto --output {tmp_path / 'v'}"
    assert main(f"vectors load {vectors}".split()) == 0
    words = f"infer --system word-vectors --vectors {tmp_path / 'v'} {common} {tmp_path / 'bags'}"
    assert main(words.split()) == 2
    assert "twice.conllu: two sentences have the id 'a'" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("solver", ["averaged", "fixed-point"])
def test_a_model_under_which_inference_diverges_is_one_line_and_leaves_no_bags(folder, solver, capsys):
    assert infer(folder, "wild", solver) == 2
    said = [line for line in capsys.readouterr().err.split("\n") if line.startswith("bove infer: ")]
    assert len(said) == 1
    assert "raise lambda_E" in said[0] or "higher lambda_R or lambda_E" in said[0]
    assert not (folder / "bags").exists()
