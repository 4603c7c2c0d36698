"""`bove pairs`."""

import json
from pathlib import Path

import pytest
from pair_forms import words_of

from bove.cli.main import main
from bove.text.pairs import read_pairs

STS = ["pairs", "--dataset", "sts", "--label", "STS-2014", *words_of("similarity")]
SNLI = ["pairs", "--dataset", "snli", "--label", "SNLI", *words_of("entailment")]
BY_NAME = {"columns": {"first": "x", "second": "y", "gold": "g"}}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.txt").write_text("x\ty\nz\tz\n", encoding="utf-8")
    (tmp_path / "a.gs").write_text("1\n\n", encoding="utf-8")
    row = '{"gold_label": "%s", "sentence1": "a", "sentence2": "b", "pairID": "%d"}\n'
    (tmp_path / "dev.jsonl").write_text(row % ("neutral", 0) + row % ("-", 1), encoding="utf-8")
    (tmp_path / "one.tsv").write_text("g\tx\ty\tset\n1\ta\tb\tA=B\n2\tc\td\tC\n", encoding="utf-8")
    return tmp_path


def words_for(folder, start, line):
    words = line.replace("D/", f"{folder}/").split()
    return [*start, *words, "--output", str(folder / "pairs.jsonl")]


def run(folder, start, line):
    return main(words_for(folder, start, line))


def test_subsets_follow_each_other_and_are_counted(folder, capsys):
    assert run(folder, STS, "--subset one D/a.txt D/a.gs --subset two D/a.txt D/a.gs") == 0
    pairs = read_pairs(folder / "pairs.jsonl")
    assert [pair.id for pair in pairs] == ["one-00001", "one-00002", "two-00001", "two-00002"]
    assert [pair.scored for pair in pairs] == [True, False, True, False]
    assert {(pair.dataset, pair.label, pair.task) for pair in pairs} == {("sts", "STS-2014", "similarity")}
    assert "STS-2014 two: 2 pairs, 1 scored, 1 not" in capsys.readouterr().err


def test_a_label_may_start_with_a_dash(folder):
    start = [
        "pairs",
        "--task",
        "entailment",
        "--column",
        "first=1",
        "--column",
        "second=2",
        "--column",
        "gold=3",
    ]
    (folder / "dash.tsv").write_text("a\tb\t-\nc\td\t-x\n", encoding="utf-8")
    assert run(folder, start, "--meaning -=- --meaning -x=entailment --subset all D/dash.tsv") == 0
    assert [pair.gold for pair in read_pairs(folder / "pairs.jsonl")] == ["-", "entailment"]
    with pytest.raises(SystemExit):
        run(folder, start, "--meaning --subset all D/dash.tsv")


def test_snli(folder, capsys):
    assert run(folder, SNLI, "--subset dev D/dev.jsonl") == 0
    pairs = read_pairs(folder / "pairs.jsonl")
    assert [(pair.id, pair.gold) for pair in pairs] == [("dev-0", "neutral"), ("dev-1", "-")]
    assert "SNLI dev: 2 pairs, 1 scored, 1 not" in capsys.readouterr().err


def test_rows_of_one_file_are_shared_out_among_subsets(folder, capsys):
    start = ["pairs", "--dataset", "d", "--label", "D", *words_of("similarity", **BY_NAME)]
    chosen = "--subset all D/one.tsv --subset some D/one.tsv --where some=set=A=B"
    assert run(folder, start, chosen) == 0
    pairs = read_pairs(folder / "pairs.jsonl")
    assert [pair.id for pair in pairs] == ["all-00002", "all-00003", "some-00002"]
    said = capsys.readouterr().err
    assert "D some: 1 rows that `where` leaves out" in said and said.count("leaves out") == 1


DATASET = {
    "name": "d",
    "label": "D",
    "task": "similarity",
    "columns": BY_NAME["columns"],
    "separator": "\t",
    "encoding": "utf-8",
    "subsets": {"some": {"input": "one.tsv", "where": {"set": "A=B"}}},
}


def test_a_file_says_what_the_options_say(folder, monkeypatch):
    start = ["pairs", "--dataset", "d", "--label", "D", *words_of("similarity", **BY_NAME)]
    assert run(folder, start, "--subset some D/one.tsv --where some=set=A=B") == 0
    expected = (folder / "pairs.jsonl").read_bytes()
    monkeypatch.chdir(folder)
    Path("d.json").write_text(json.dumps(DATASET, indent=1), encoding="utf-8")
    assert main(["pairs", "--dataset-file", "d.json", "--output", "again.jsonl"]) == 0
    assert Path("again.jsonl").read_bytes() == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *(({key: None}, "d.json: has no name or task") for key in ("name", "task")),
        *(({key: None}, f"data set d: top level: {key} is missing") for key in ("label", "subsets")),
        ({"task": "x"}, "d.json: has no name or task"),
        ({"header": 1}, "data set d: header: 1 has the wrong type; allowed: boolean"),
        ({"subsets": {"a": "x"}}, "data set d: subsets.a: 'x' has the wrong type; allowed: object"),
        ({"labels": {"x": 1}}, "datasets.d.labels: a similarity task has scores, not labels"),
        ({"header": False}, "datasets.d.columns: 'x' is a name, but header is false"),
        ({"columns": {"first": "x", "gold": "g"}}, "data set d: columns: second is missing"),
        ({"separator": "\n"}, "datasets.d.separator: '\\n' cannot separate columns"),
        ({"subsets": {"a": {"input": "none"}}}, "none: no such file"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path, monkeypatch, refused, change, message):
    monkeypatch.chdir(tmp_path)
    Path("d.json").write_text(json.dumps(DATASET | change), encoding="utf-8")
    output = Path("pairs.jsonl")
    refused(["pairs", "--dataset-file", "d.json", "--output", output], message, output)


@pytest.mark.parametrize(
    ("start", "line", "message"),
    [
        (STS, "--subset one D/a.txt", "datasets.sts.subsets.one.gold is missing"),
        (STS, "--subset one D/a.txt D/a.gs D/a.gs", "give NAME FILE or NAME FILE GOLD"),
        (SNLI, "--subset dev D/dev.jsonl D/a.gs", "datasets.snli.subsets.dev.gold: columns.gold names"),
        (STS, "--subset one D/a.txt --subset one D/a.txt", "'one': empty, spaced oddly, or repeated"),
        (STS, "--subset one D/a.txt D/dev.jsonl", "dev.jsonl, line 1: "),
        (SNLI, "--subset dev D/a.txt", "neither a JSON object nor a header"),
        (SNLI, "--subset dev D/missing", "no such file"),
        (STS, "--subset one D/a.txt --column first=1 --column first=2", "--column: 'first' is repeated"),
        (SNLI, "--subset dev D/a.txt --meaning a=b --meaning a=c", "--meaning: 'a' is repeated"),
        (STS, "--subset a D/a.txt --where a=1=x --where a=1=y", "--where a: '1' is repeated"),
        (STS, "--subset one D/a.txt D/a.gs --where two=1=x", "--where: there is no subset 'two'"),
        (STS, "--subset one D/a.txt D/a.gs --where one=1", "--where one=1: something is missing"),
        (STS, "--subset one D/a.txt D/a.gs --column gold", "--column gold: something is missing"),
        (STS, "--subset one D/a.txt D/a.gs --meaning x=entailment", "datasets.sts.labels: a similarity task"),
        (STS, "--subset one D/a.txt D/a.gs --header", "datasets.sts.subsets.one.gold: its lines are those"),
        (SNLI, "--subset dev D/dev.jsonl --no-header", "datasets.snli.columns: 'sentence1' is a name"),
        (STS, "", "--subset is missing"),
        (STS, "--dataset-file D/none.json", "--dataset-file describes the data set alone"),
        (SNLI, "--subset dev D/dev.jsonl --encoding utf-16", "datasets.snli.encoding: 'utf-16': unknown"),
    ],
)
def test_faults_are_one_line_and_leave_no_file(folder, refused, start, line, message):
    refused(words_for(folder, start, line), message, folder / "pairs.jsonl")


def test_a_subset_without_any_score_is_refused(folder, refused):
    (folder / "a.gs").write_text("\n\n", encoding="utf-8")
    refused(words_for(folder, STS, "--subset one D/a.txt D/a.gs"), "a.gs: no pair has a gold score")
