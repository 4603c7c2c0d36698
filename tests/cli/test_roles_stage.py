"""Probes of roles from file to file: made, inferred and scored."""

import numpy as np
import pytest
import reference
from tiny_run import CHASED, TURNED, encode, infer, make_run, write_sides

from bove.bags.store import Bags
from bove.cli.main import main
from bove.cli.score import weigher
from bove.evaluate.results import parted, read_scores
from bove.text.conll import read_sentences
from bove.text.pairs import Pair, read_pairs

SYSTEMS = ("word-vectors", "properties-only", "bove")
LABELS = "--dataset roles --label Roles --subjects SBJ nsubj --objects OBJ --min-gold 4"
TREES = {"x": CHASED, "y": TURNED}
PAIRS = [
    Pair(f"a-{number}", "sts", "STS", "similarity", "a", *texts, gold, True)
    for number, (texts, gold) in enumerate([("xx", 5.0), ("xy", 4.0), ("yx", 1.5), ("yy", 4.5)])
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run, pairs and trees of a data set, and its probes."""
    folder = make_run(tmp_path_factory.mktemp("roles"))
    write_sides(folder, PAIRS, TREES)
    assert main(made(folder, "--from", folder / "pairs", folder / "trees")) == 0
    return folder


def made(folder, *sources):
    words = ["roles", *LABELS.split(), *sources, "--parses", folder / "p.gz", "--output", folder / "probes"]
    return list(map(str, words))


def test_probes_have_three_trees_each(folder):
    probes = read_pairs(folder / "probes")
    assert [probe.id for probe in probes] == ["sts-a-0", "sts-a-1", "sts-a-3"]
    assert probes[1].exchanged == "A dog sees the cat ."
    trees = list(read_sentences(folder / "p.gz"))
    assert [tree.id for tree in trees] == [name for probe in probes for name in probe.sentences]


def entailed(bags, weigh, name, side):
    ids = (f"{name}.1", f"{name}.{side}")
    weights = [weigh(bags.bag_of(one), bags[one]) for one in ids]
    return reference.snli(*(bags[one] for one in ids), None if weights[0] is None else weights)


def test_margins_are_those_of_the_formula_and_word_order_is_invisible_without_relations(folder, capsys):
    """50 % by construction: the vectors of words, and of words and tags, are the same in either order."""
    graphs = encode(folder, folder / "p.gz", folder / "probes.graphs")
    for system in SYSTEMS:
        infer(folder, system, graphs, folder / system, "--sentences", folder / "p.gz")
    bags = [f"{system}={folder / system}" for system in SYSTEMS]
    words = ["score", "--pairs", folder / "probes", "--bags", *bags, "--output", folder / "scores"]
    assert main([*map(str, words), "--weight", "none", "length", "evidence", "--power", "2"]) == 0
    scores = read_scores(folder / "scores")
    assert scores.task == "roles" and scores.subsets == ("sts",) * 3
    assert len(scores.values) == 9
    for column, values in scores.values.items():
        system, weight = parted(column)
        bags = Bags.open(folder / system)
        weigh = weigher(bags, weight, 2)
        expected = [entailed(bags, weigh, name, 2) - entailed(bags, weigh, name, 3) for name in scores.ids]
        np.testing.assert_allclose(values, expected, atol=1e-10)
        assert (values == 0).all() == (system != "bove"), column
    words = f"tables --scores {folder}/scores --resamples 100 --confidence 0.8 --seed 1 --output {folder}/t"
    assert main(words.split()) == 0
    page = (folder / "t" / "roles.md").read_text(encoding="utf-8")
    assert page.count(" 50.00% [50.00, 50.00]") == 2 * 3 * 2  # systems, weights, the subset and all together


def test_what_makes_no_probe_is_said(folder, capsys, refused):
    source = ["--from", folder / "pairs", folder / "trees"]
    assert main(made(folder, *source)) == 0
    said = capsys.readouterr().err
    assert "3 probes of 4 pairs; left out 1 whose first sentence does not entail the second" in said
    new = folder / "new"
    new.mkdir()
    refused([*made(new, *source), "--objects", "obj"], "and objects obj; name the trees' labels")
    refused(made(new, "--from", folder / "pairs", folder / "p.gz"), "p.gz: the parses have no tree a-0.1;")
    assert not list(new.iterdir())
