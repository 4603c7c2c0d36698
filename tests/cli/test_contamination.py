"""`bove contamination` reads pairs and a treebank and writes its page, its table and its notes."""

import json

from bove.cli.main import main
from bove.files import atomic_write
from bove.text.conll import Sentence, write_conllu
from bove.text.pairs import Pair, write_pairs

TEXTS = {"dev": ("A dog runs.", "A cat sleeps."), "test": ("a cat  sleeps.", "A DOG runs.")}


def written(folder, name, texts=None, dataset=None):
    first, second = texts or TEXTS[name]
    pair = Pair("a-1", dataset or name, name.upper(), "similarity", "a", first, second, 1.0, True)
    with atomic_write(folder / f"{name}.jsonl") as stream:
        write_pairs(stream, [pair])
    return str(folder / f"{name}.jsonl")


def words_of(folder, *arguments):
    notes = ["--table-notes", str(folder / "notes.json")]
    return ["contamination", *arguments, *notes, "--output", str(folder / "out")]


def test_what_is_shared_is_written_named_and_logged(tmp_path, capsys):
    with open(tmp_path / "t.conllu", "w", encoding="utf-8") as stream:
        forms = ("A", "cat", "sleeps", ".")
        write_conllu(stream, Sentence("s9", forms, ("X",) * 4, (2, 3, 0, 3), ("r",) * 4))
    files = [written(tmp_path, name) for name in TEXTS]
    arguments = ["--pairs", *files, "--development", "dev", "--treebank", str(tmp_path / "t.conllu")]
    assert not main(words_of(tmp_path, *arguments))
    said = capsys.readouterr()
    page = (tmp_path / "out" / "contamination.md").read_text(encoding="utf-8")
    assert said.out == page
    assert "* TEST a-1: DEV (development) a-1, sides swapped" in page
    assert "test a: 1 scored pairs are in dev too" in said.err
    assert (tmp_path / "out" / "contamination.csv").read_text(encoding="utf-8").split("\n")[1:] == [
        "pair,test,a,a-1,dev,a,a-1,true",
        "sentence,dev,a,a-1.2,treebank,,s9,",
        "sentence,test,a,a-1.1,treebank,,s9,",
        "",
    ]
    notes = json.loads((tmp_path / "notes.json").read_text(encoding="utf-8"))
    assert notes["entailment"] == [] and "1 of 1 scored pairs stand in DEV" in notes["similarity"][0]


def test_what_cannot_be_compared_is_refused(tmp_path, refused):
    outputs, files = (tmp_path / "out", tmp_path / "notes.json"), [written(tmp_path, name) for name in TEXTS]
    words = words_of(tmp_path, "--pairs", *files, "--development", "other")
    refused(words, "--development other: no such data set; the pairs have dev, test", *outputs)
    files += [written(tmp_path, "again", TEXTS["dev"], "dev")]
    words = words_of(tmp_path, "--pairs", *files, "--development", "dev")
    refused(words, "again.jsonl: data set 'dev' is in another file too", *outputs)
    (tmp_path / "t.conllu").write_text("", encoding="utf-8")
    words = words_of(tmp_path, "--pairs", files[0], "--treebank", str(tmp_path / "t.conllu"))
    refused(words, "t.conllu: holds no sentences", *outputs)
