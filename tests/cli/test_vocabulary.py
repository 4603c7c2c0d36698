"""`bove vocabulary`."""

import pytest

from bove.cli.main import main
from bove.text.vocabulary import Vocabulary

ROW = "{}\t{}\t_\t_\t{}\tP\t_\t_\t{}\t{}\t{}\tp\t_\t_\n"


@pytest.fixture
def treebank(tmp_path):
    path = tmp_path / "train.conll"
    rows = (("Café", "NN", 2, 2, "SBJ"), ("serves", "VBZ", 0, 0, "ROOT"), ("5", "CD", 2, 9, "OBJ"))
    text = "".join(ROW.format(i, *row) for i, row in enumerate(rows, 1))
    path.write_bytes((text + "\n" + text).encode("latin-1"))
    return path


def arguments(treebank, output, *more):
    return (
        f"vocabulary --treebank {treebank} --min-words 2 --min-tags 2 --min-relations 2 --encoding latin-1 "
        f"--lookup exact lower capitalised --output {output} {' '.join(more)}"
    ).split()


def test_gold_columns_are_counted_and_coverage_is_logged(treebank, tmp_path, capsys):
    assert main(arguments(treebank, tmp_path / "v.json", "--columns gold")) == 0
    vocabulary = Vocabulary.load(tmp_path / "v.json")
    assert vocabulary.words == ("Café", "NB", "serves")
    assert vocabulary.relations == ("OBJ", "SBJ", "ADJACENCY")
    log = capsys.readouterr().err
    assert "3 words (2 of 2 types kept), 3 tags (0 rare), 3 relations (0 rare)" in log
    assert "4 tokens (66.7 %): exact" in log and "2 tokens (33.3 %): NB" in log


def test_predicted_columns_have_other_trees_whose_faults_are_logged(treebank, tmp_path, capsys):
    assert main(arguments(treebank, tmp_path / "v.json", "--columns predicted")) == 0
    vocabulary = Vocabulary.load(tmp_path / "v.json")
    assert (vocabulary.tags, vocabulary.relations) == (("P",), ("p", "ADJACENCY"))
    assert "treebank: 2 heads beyond the sentence, first in line 3\n" in capsys.readouterr().err


def test_strict_stops_at_what_is_no_tree(treebank, tmp_path, capsys):
    assert main(arguments(treebank, tmp_path / "v.json", "--columns gold --strict")) == 0
    assert main(arguments(treebank, tmp_path / "w.json", "--columns predicted --strict")) == 2
    assert "train.conll, line 3: heads beyond the sentence; repair the tree" in capsys.readouterr().err
    assert not (tmp_path / "w.json").exists()


def test_switches(treebank, tmp_path):
    more = (
        "--columns gold",
        "--no-numbers",
        "--no-punctuation",
        "--no-adjacency",
        f"--treebank {treebank} {treebank}",
    )
    assert main(arguments(treebank, tmp_path / "v.json", *more)) == 0
    vocabulary = Vocabulary.load(tmp_path / "v.json")
    assert vocabulary.words == ("5", "Café", "serves") and vocabulary.word_counts == (4, 4, 4)
    assert vocabulary.relations == ("OBJ", "SBJ")
    assert vocabulary.options == {
        "numbers": False,
        "punctuation": False,
        "lookup": ["exact", "lower", "capitalised"],
        "adjacency": False,
    }


def test_tags_can_be_switched_off(treebank, tmp_path, capsys):
    more = ("--columns gold", "--min-words 3", "--no-tags")
    assert main(arguments(treebank, tmp_path / "v.json", *more)) == 0
    vocabulary = Vocabulary.load(tmp_path / "v.json")
    assert (vocabulary.words, vocabulary.n_tags) == (("UNKNOWN_", "NB"), 0)
    assert "tags are switched off" in capsys.readouterr().err
    assert main(arguments(treebank, tmp_path / "w.json", *more, "--tags")) == 0
    assert Vocabulary.load(tmp_path / "w.json").words == ("NB", "UNKNOWN_NN", "UNKNOWN_VBZ")


def test_dependencies_can_be_switched_off_but_not_every_relation(treebank, tmp_path, capsys):
    more = ("--columns gold", "--min-relations 9", "--no-dependencies")
    assert main(arguments(treebank, tmp_path / "v.json", *more)) == 0
    assert Vocabulary.load(tmp_path / "v.json").relations == ("ADJACENCY",)
    log = capsys.readouterr().err
    assert "dependencies are switched off" in log and "below the threshold" not in log
    assert main(arguments(treebank, tmp_path / "w.json", *more, "--no-adjacency")) == 2
    error = capsys.readouterr().err
    assert "neither dependencies nor adjacency" in error and error.count("\n") == 1
    assert not (tmp_path / "w.json").exists()


def test_a_threshold_above_every_relation_is_warned_of(treebank, tmp_path, capsys):
    assert main(arguments(treebank, tmp_path / "v.json", "--columns gold", "--min-relations 9")) == 0
    assert Vocabulary.load(tmp_path / "v.json").relations == ("UNKNOWN_RELATION", "ADJACENCY")
    assert "every relation is below the threshold" in capsys.readouterr().err


def test_a_fault_is_one_line_and_leaves_no_file(treebank, tmp_path, capsys):
    treebank.write_text("1 a b\n", encoding="utf-8")
    assert main(arguments(treebank, tmp_path / "v.json", "--columns gold")) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "train.conll, line 1: 1 column" in error
    assert [path.name for path in tmp_path.iterdir()] == ["train.conll"]


@pytest.mark.parametrize("name", ["--min-words", "--min-tags", "--min-relations"])
def test_no_threshold_is_below_1(treebank, tmp_path, name, capsys):
    assert main([*arguments(treebank, tmp_path / "v.json", "--columns gold"), name, "0"]) == 2
    assert f"{name} 0: must be at least 1" in capsys.readouterr().err and not (tmp_path / "v.json").exists()


@pytest.mark.parametrize("missing", ["--min-words", "--lookup"])
def test_what_the_configuration_owns_has_no_default(treebank, tmp_path, missing, capsys):
    words = arguments(treebank, tmp_path / "v.json", "--columns gold")
    start = words.index(missing)
    end = next((i for i in range(start + 1, len(words)) if words[i].startswith("--")), len(words))
    with pytest.raises(SystemExit):
        main(words[:start] + words[end:])
    assert missing in capsys.readouterr().err
