"""`bove vocabulary`."""

import pytest

from bove.cli.main import main
from bove.text.vocabulary import Vocabulary

ROW = "{}\t{}\t_\t_\t{}\tP\t_\t_\t{}\t{}\t{}\tp\t_\t_\n"
LOWEST = "--min-words 2 --min-tags 2 --min-relations 2"


@pytest.fixture
def treebank(tmp_path):
    path = tmp_path / "train.conll"
    rows = (("Café", "NN", 2, 2, "SBJ"), ("serves", "VBZ", 0, 0, "ROOT"), ("5", "CD", 2, 9, "OBJ"))
    text = "".join(ROW.format(i, *row) for i, row in enumerate(rows, 1))
    path.write_bytes((text + "\n" + text).encode("latin-1"))
    return path


def words_of(treebank, *more):
    files = f"--treebank {treebank} --encoding latin-1 --output {treebank.parent}/v.json"
    return f"vocabulary {files} {LOWEST} --lookup exact lower capitalised {' '.join(more)}".split()


def counted(treebank, *more):
    assert main(words_of(treebank, *more)) == 0
    return Vocabulary.load(treebank.parent / "v.json")


def test_gold_columns_are_counted_and_coverage_is_logged(treebank, capsys):
    vocabulary = counted(treebank, "--columns gold")
    assert vocabulary.words == ("Café", "NB", "serves")
    assert vocabulary.relations == ("OBJ", "SBJ", "ADJACENCY")
    log = capsys.readouterr().err
    assert "3 words (2 of 2 types kept), 3 tags (0 rare), 3 relations (0 rare)" in log
    assert "4 tokens (66.7 %): exact" in log and "2 tokens (33.3 %): NB" in log


def test_predicted_columns_have_other_trees_whose_faults_are_logged_or_refused(treebank, capsys, refused):
    vocabulary = counted(treebank, "--columns predicted")
    assert (vocabulary.tags, vocabulary.relations) == (("P",), ("p", "ADJACENCY"))
    assert "treebank: 2 heads beyond the sentence, first in line 3\n" in capsys.readouterr().err
    counted(treebank, "--columns gold --strict")
    (treebank.parent / "v.json").unlink()
    message = "train.conll, line 3: heads beyond the sentence; repair the tree"
    refused(words_of(treebank, "--columns predicted --strict"), message, treebank.parent / "v.json")


def test_switches(treebank):
    more = ("--no-numbers", "--no-punctuation", "--no-adjacency", f"--treebank {treebank} {treebank}")
    vocabulary = counted(treebank, *more)
    assert vocabulary.words == ("5", "Café", "serves") and vocabulary.word_counts == (4, 4, 4)
    assert vocabulary.relations == ("OBJ", "SBJ")
    switches = dict.fromkeys(("numbers", "punctuation", "adjacency"), False)
    assert vocabulary.options == {**switches, "lookup": ["exact", "lower", "capitalised"]}


def test_tags_can_be_switched_off(treebank, capsys):
    vocabulary = counted(treebank, "--min-words 3", "--no-tags")
    assert (vocabulary.words, vocabulary.n_tags) == (("UNKNOWN_", "NB"), 0)
    assert "tags are switched off" in capsys.readouterr().err
    vocabulary = counted(treebank, "--min-words 3", "--no-tags", "--tags")
    assert vocabulary.words == ("NB", "UNKNOWN_NN", "UNKNOWN_VBZ")


def test_dependencies_can_be_switched_off_but_not_every_relation(treebank, capsys, refused):
    more = ("--min-relations 9", "--no-dependencies")
    assert counted(treebank, *more).relations == ("ADJACENCY",)
    log = capsys.readouterr().err
    assert "dependencies are switched off" in log and "below the threshold" not in log
    refused(words_of(treebank, *more, "--no-adjacency"), "neither dependencies nor adjacency", lines=1)


def test_a_threshold_above_every_relation_is_warned_of(treebank, capsys):
    assert counted(treebank, "--min-relations 9").relations == ("UNKNOWN_RELATION", "ADJACENCY")
    assert "every relation is below the threshold" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["--min-words", "--min-tags", "--min-relations"])
def test_no_threshold_is_below_1(treebank, name, refused):
    refused([*words_of(treebank), name, "0"], f"{name} 0: must be at least 1", treebank.parent / "v.json")


def test_a_fault_is_one_line_and_leaves_no_file(treebank, refused):
    treebank.write_text("1 a b\n", encoding="utf-8")
    refused(words_of(treebank), "train.conll, line 1: 1 column", lines=1)
    assert [path.name for path in treebank.parent.iterdir()] == ["train.conll"]
