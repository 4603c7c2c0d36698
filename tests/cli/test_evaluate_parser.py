"""`bove evaluate-parser`: tagger and parser together, on predicted tags, from file to file."""

import gzip
import json
from dataclasses import replace

import pytest

pytest.importorskip("stanza")
from tiny_treebank import tiny_sentences, write_treebank

from bove.cli.main import main
from bove.text.conll import Sentence, read_sentences

GOLD = tiny_sentences()[:12]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tagger and a parser, trained just long enough to be right at times, and a treebank."""
    folder = tmp_path_factory.mktemp("evaluate")
    treebank = write_treebank(folder / "treebank.conllu", tiny_sentences())
    for kind in ("tagger", "parser"):
        words = ["--treebank", str(treebank), "--dev", str(treebank), "--preset", "tiny", "--seed", "3"]
        words += ["--option", "max_steps=20", "--output", f"{folder}/{kind}.pt"]
        assert main([f"train-{kind}", *words, "--report", f"{folder}/{kind}.json"]) == 0
    write_treebank(folder / "gold.conllu", GOLD)
    return folder


def evaluate(folder, treebank, output, *more):
    models = ["--tagger", f"{folder}/tagger.pt", "--parser", f"{folder}/parser.pt", "--max-tokens", "30"]
    words = ["evaluate-parser", "--treebank", str(treebank), *models, "--output", str(output), *more]
    return main(words)


def report_of(folder, sentences, tmp_path, *more):
    treebank = write_treebank(tmp_path / "treebank.conllu", sentences)
    assert evaluate(folder, treebank, tmp_path / "report.json", *more) == 0
    return json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def made(folder):
    """The report on the treebank, and its trees."""
    assert evaluate(folder, folder / "gold.conllu", folder / "r.json", "--trees", f"{folder}/t.gz") == 0
    return json.loads((folder / "r.json").read_text(encoding="utf-8")), list(
        read_sentences(folder / "t.gz", strict=True)
    )


def test_the_shares_are_those_of_the_trees_that_were_written(made):
    report, trees = made
    assert [(tree.id, tree.forms) for tree in trees] == [(gold.id, gold.forms) for gold in GOLD]
    right, total = [0, 0, 0], 0
    for gold, tree in zip(GOLD, trees, strict=True):
        for i in range(len(gold.forms)):
            head = gold.heads[i] == tree.heads[i]
            right[0] += gold.tags[i] == tree.tags[i]
            right[1] += head
            right[2] += head and gold.relations[i] == tree.relations[i]
            total += 1
    assert list(report["accuracy"].values()) == [n / total for n in right]
    assert 0 < report["accuracy"]["LAS"] < 1
    assert report["tokens"] == total == report["tokens_without_punctuation"] + 12 + 4 * 4
    assert report["sentences"] == {"read": 12, "used": 12}
    assert report["arcs_with_known_labels"] == 1 and report["labels_the_parser_lacks"] == {}


def test_the_report_names_models_and_treebank(folder, made):
    report, _ = made
    for kind in ("tagger", "parser"):
        trained = json.loads((folder / f"{kind}.json").read_text(encoding="utf-8"))
        assert report[f"{kind}_sha256"] == trained["state_sha256"]
    first = gzip.decompress((folder / "t.gz").read_bytes()).decode().split("\n\n")[0]
    assert f"# parser_sha256 = {report['parser_sha256']}" in first
    assert set(report["versions"]) == {"bove", "stanza", "torch"}


def test_gold_tags_are_not_handed_to_the_parser(folder, made, tmp_path):
    report = report_of(folder, [replace(s, tags=("XX",) * len(s.tags)) for s in GOLD], tmp_path)
    assert report["accuracy"]["tags"] == 0
    assert {name: report["accuracy"][name] for name in ("UAS", "LAS")} == {
        name: made[0]["accuracy"][name] for name in ("UAS", "LAS")
    }


def test_what_has_no_gold_tree_is_parsed_but_not_counted(folder, made, tmp_path):
    odd = [
        replace(GOLD[0], heads=(0, *GOLD[0].heads[1:]), id="roots"),
        Sentence("empty"),
        replace(GOLD[1], tags=("_", *GOLD[1].tags[1:]), id="tag"),
        *GOLD,
    ]
    report = report_of(folder, odd, tmp_path, "--trees", f"{tmp_path}/trees.conllu")
    assert report["accuracy"] == made[0]["accuracy"] and report["tokens"] == made[0]["tokens"]
    assert report["sentences"] == {
        "read": 15,
        "used": 12,
        "with several roots": 1,
        "without tokens": 1,
        "with untagged tokens": 1,
    }
    trees = list(read_sentences(tmp_path / "trees.conllu"))
    assert [len(tree.forms) for tree in trees] == [len(gold.forms) for gold in odd]
    assert [tree.id for tree in trees] == [gold.id for gold in odd]


def test_labels_that_the_parser_lacks_and_long_sentences_are_reported(folder, tmp_path):
    others = [replace(s, relations=tuple(r.replace("OBJ", "obj") for r in s.relations)) for s in GOLD]
    report = report_of(folder, others, tmp_path, "--max-tokens", "6", "--log", f"{tmp_path}/log")
    assert report["labels_the_parser_lacks"] == {"obj": 12}
    assert report["arcs_with_known_labels"] == 1 - 12 / report["tokens"]
    assert report["sentences_cut"] == 4
    said = (tmp_path / "log").read_text(encoding="utf-8")
    assert "labels that the parser lacks: obj (12)" in said and "4 sentences longer than the limit" in said
    assert "only 12 sentences: take the accuracy as rough" in said


def test_equal_input_gives_equal_bytes(folder, made, tmp_path):
    assert evaluate(folder, folder / "gold.conllu", tmp_path / "r", "--trees", f"{tmp_path}/t.gz") == 0
    assert (tmp_path / "r").read_bytes() == (folder / "r.json").read_bytes()
    assert (tmp_path / "t.gz").read_bytes() == (folder / "t.gz").read_bytes()


def test_without_any_gold_tree_it_is_one_line_and_nothing_is_written(folder, tmp_path, capsys):
    treebank = write_treebank(tmp_path / "t", [replace(GOLD[0], heads=(0,) * len(GOLD[0].heads))])
    capsys.readouterr()
    assert evaluate(folder, treebank, tmp_path / "r", "--trees", f"{tmp_path}/trees.gz") == 2
    last = capsys.readouterr().err.strip().split("\n")[-1]
    assert "none of its 1 sentences has a gold tree" in last and "1 with several roots" in last
    assert [path.name for path in tmp_path.iterdir()] == ["t"]
