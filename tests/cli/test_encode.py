"""`bove encode`."""

import pytest

from bove.cli.main import main
from bove.text.graphs import load_graphs
from bove.text.vocabulary import Vocabulary

TREE = "# sent_id = {0}\n1\tDogs\t_\tNNS\tNNS\t_\t2\t{1}\t_\t_\n2\tbark\t_\tVBP\t{2}\t_\t0\troot\t_\t_\n\n"
SOUND = TREE.format("a", "nsubj", "VBP")


def count(folder, more=""):
    thresholds = "--min-words 1 --min-tags 1 --min-relations 1 --lookup exact"
    line = f"vocabulary --treebank {folder}/train.conllu {thresholds} --output {folder}/v.json {more}"
    assert main(line.split()) == 0


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "train.conllu").write_text(TREE.format("t", "nsubj", "VBP"), encoding="utf-8")
    count(tmp_path)
    return tmp_path


def words_of(folder, text, more=""):
    (folder / "in.conllu").write_text(text, encoding="utf-8")
    line = f"encode --sentences {folder}/in.conllu --vocabulary {folder}/v.json --output {folder}/g {more}"
    return line.split()


def test_sentences_become_graphs_in_order(folder, capsys):
    text = TREE.format("p.1", "nsubj", "VBP") + "# sent_id = p.2\n# bove_empty = yes\n\n"
    assert main(words_of(folder, text, "--min-coverage 1")) == 0
    graphs = load_graphs(folder / "g")
    assert graphs.ids == ("p.1", "p.2") and graphs.lengths.tolist() == [2, 0]
    assert graphs.vocabulary_hash == Vocabulary.load(folder / "v.json").hash
    log = capsys.readouterr().err
    assert "2 graphs (1 empty), 2 tokens" in log and "2 tokens (100.0 %): word by exact" in log
    assert "100.00 % of relations known (1 kept)" in log
    path = f"{folder}/train.conllu"
    line = f"encode --sentences {path} {path} --vocabulary {folder}/v.json --output {folder}/g"
    assert main(line.split()) == 0
    assert load_graphs(folder / "g").ids == ("t", "t"), "one file after another"


def test_vectors_serve_words_outside_the_vocabulary(folder, capsys):
    (folder / "glove.txt").write_text("Cats 1 2\n", encoding="utf-8")
    assert main(f"vectors load --input {folder}/glove.txt --format glove --output {folder}/vec".split()) == 0
    assert main(words_of(folder, SOUND.replace("Dogs", "Cats"), f"--vectors {folder}/vec")) == 0
    assert load_graphs(folder / "g").extra.tolist() == [[1, 2]]
    assert "1 tokens (50.0 %): word by vectors" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("label", "tag", "message"),
    [
        ("SBJ", "VBP", "0.0 % of its relations, below the 90 % asked for; most frequent unknown ones: SBJ"),
        ("nsubj", "VERB", "50.0 % of its tags, below the 90 % asked for; most frequent unknown ones: VERB"),
    ],
)
def test_labels_of_another_treebank_stop_the_stage(folder, capsys, refused, label, tag, message):
    text = TREE.format("a", label, tag)
    refused(words_of(folder, text, "--min-coverage 0.9"), message, folder / "g")
    assert main(words_of(folder, text)) == 0, "without a least coverage it is only logged"
    assert "that the treebank lacks" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "label", "tag", "known"),
    [("tags", "nsubj", "VERB", "tags"), ("dependencies", "SBJ", "VBP", "relations")],
)
def test_what_is_switched_off_cannot_be_too_few(folder, capsys, kind, label, tag, known):
    count(folder, f"--no-{kind}")
    capsys.readouterr()
    assert main(words_of(folder, TREE.format("a", label, tag), "--min-coverage 1")) == 0
    log = capsys.readouterr().err
    assert log.count(f"{kind} are switched off in the vocabulary") == 1
    assert f"of {known} known" not in log and "left out" not in log and "lacks" not in log
    graphs = load_graphs(folder / "g")
    assert len(graphs.properties) == (2 if kind == "tags" else 4)
    assert len(graphs.arc_head) == (1 if kind == "dependencies" else 2)


@pytest.mark.parametrize(
    ("text", "more", "message"),
    [
        ("\n\n", "", "no sentences"),
        (SOUND, "--min-coverage 95", "not between 0 and 1"),
        (SOUND, "--min-coverage nan", "not between 0 and 1"),
    ],
)
def test_faults_are_one_line_and_leave_no_file(folder, refused, text, more, message):
    refused(words_of(folder, text, more), message, folder / "g", lines=1)
