"""`bove encode`."""

import pytest

from bove.cli.main import main
from bove.text.graphs import load_graphs
from bove.text.vocabulary import Vocabulary

TREE = "# sent_id = {0}\n1\tDogs\t_\tNNS\tNNS\t_\t2\t{1}\t_\t_\n2\tbark\t_\tVBP\t{2}\t_\t0\troot\t_\t_\n\n"


def count(folder, more=""):
    line = (
        f"vocabulary --treebank {folder}/train.conllu --columns gold --min-words 1 --min-tags 1 "
        f"--min-relations 1 --lookup exact --output {folder}/v.json {more}"
    )
    assert main(line.split()) == 0


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "train.conllu").write_text(TREE.format("t", "nsubj", "VBP"), encoding="utf-8")
    count(tmp_path)
    return tmp_path


def encode(folder, text, more=""):
    (folder / "in.conllu").write_text(text, encoding="utf-8")
    line = f"encode --sentences {folder}/in.conllu --vocabulary {folder}/v.json --output {folder}/g {more}"
    return main(line.split())


def test_sentences_become_graphs_in_order(folder, capsys):
    text = TREE.format("p.1", "nsubj", "VBP") + "# sent_id = p.2\n# bove_empty = yes\n\n"
    assert encode(folder, text, "--min-coverage 1") == 0
    graphs = load_graphs(folder / "g")
    assert graphs.ids == ("p.1", "p.2") and graphs.lengths.tolist() == [2, 0]
    assert graphs.vocabulary_hash == Vocabulary.load(folder / "v.json").hash
    log = capsys.readouterr().err
    assert "2 graphs (1 empty), 2 tokens" in log
    assert "2 tokens (100.0 %): word by exact" in log
    assert "100.00 % of relations known (1 kept)" in log


def test_several_files_are_encoded_one_after_another(folder):
    path = f"{folder}/train.conllu"
    line = f"encode --sentences {path} {path} --vocabulary {folder}/v.json --output {folder}/g"
    assert main(line.split()) == 0
    assert load_graphs(folder / "g").ids == ("t", "t")


def test_vectors_serve_words_outside_the_vocabulary(folder, capsys):
    (folder / "glove.txt").write_text("Cats 1 2\n", encoding="utf-8")
    assert main(f"vectors load --input {folder}/glove.txt --format glove --output {folder}/vec".split()) == 0
    text = TREE.format("a", "nsubj", "VBP").replace("Dogs", "Cats")
    assert encode(folder, text, f"--vectors {folder}/vec") == 0
    assert load_graphs(folder / "g").extra.tolist() == [[1, 2]]
    assert "1 tokens (50.0 %): word by vectors" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("label", "tag", "message"),
    [
        (
            "SBJ",
            "VBP",
            "has 0.0 % of its relations, below the 90 % asked for; most frequent unknown ones: SBJ (1)",
        ),
        (
            "nsubj",
            "VERB",
            "has 50.0 % of its tags, below the 90 % asked for; most frequent unknown ones: VERB (1)",
        ),
    ],
)
def test_labels_of_another_treebank_stop_the_stage(folder, capsys, label, tag, message):
    text = TREE.format("a", label, tag)
    assert encode(folder, text, "--min-coverage 0.9") == 2
    assert message in capsys.readouterr().err
    assert not (folder / "g").exists()
    assert encode(folder, text) == 0, "without a least coverage it is only logged"
    assert "that the treebank lacks" in capsys.readouterr().err


def test_tags_that_are_switched_off_can_not_be_too_few(folder, capsys):
    count(folder, "--no-tags")
    assert encode(folder, TREE.format("a", "nsubj", "VERB"), "--min-coverage 1") == 0
    log = capsys.readouterr().err
    assert "tags are switched off in the vocabulary" in log
    assert "of tags known" not in log and "left out" not in log and "lacks" not in log
    assert len(load_graphs(folder / "g").properties) == 2


def test_dependencies_that_are_switched_off_can_not_be_too_few(folder, capsys):
    count(folder, "--no-dependencies")
    capsys.readouterr()
    assert encode(folder, TREE.format("a", "SBJ", "VBP"), "--min-coverage 1") == 0
    log = capsys.readouterr().err
    assert log.count("dependencies are switched off in the vocabulary") == 1
    assert "of relations known" not in log and "left out" not in log and "lacks" not in log
    graphs = load_graphs(folder / "g")
    assert (graphs.arc_head.tolist(), graphs.arc_dependent.tolist()) == ([0], [1])


@pytest.mark.parametrize(
    ("text", "more", "message"),
    [
        ("", "", "no sentences"),
        ("\n\n", "", "no sentences"),
        (TREE.format("a", "nsubj", "VBP"), "--min-coverage 95", "not between 0 and 1"),
        (TREE.format("a", "nsubj", "VBP"), "--min-coverage nan", "not between 0 and 1"),
    ],
)
def test_faults_are_one_line_and_leave_no_file(folder, capsys, text, more, message):
    capsys.readouterr()
    assert encode(folder, text, more) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert not (folder / "g").exists()
