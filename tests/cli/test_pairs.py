"""`bove pairs`."""

import json

import pytest

from bove.cli.main import main
from bove.text.pairs import read_pairs

STS = "pairs --dataset sts --label STS-2014 --task similarity"
SNLI = "pairs --dataset snli --label SNLI --task entailment"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.txt").write_text("x\ty\nz\tz\n", encoding="utf-8")
    (tmp_path / "a.gs").write_text("1\n\n", encoding="utf-8")
    rows = [
        {"gold_label": label, "sentence1": "a", "sentence2": "b", "pairID": str(i)}
        for i, label in enumerate(("neutral", "-"))
    ]
    (tmp_path / "dev.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return tmp_path


def test_subsets_follow_each_other_and_are_counted(folder, capsys):
    subset = f"{folder}/a.txt {folder}/a.gs"
    line = f"{STS} --subset one {subset} --subset two {subset} --output {folder}/pairs.jsonl"
    assert main(line.split()) == 0
    pairs = read_pairs(folder / "pairs.jsonl")
    assert [pair.id for pair in pairs] == ["one-00001", "one-00002", "two-00001", "two-00002"]
    assert [pair.scored for pair in pairs] == [True, False, True, False]
    assert {(pair.dataset, pair.label, pair.task) for pair in pairs} == {("sts", "STS-2014", "similarity")}
    assert "STS-2014 two: 2 pairs, 1 scored, 1 not" in capsys.readouterr().err


def test_snli(folder, capsys):
    assert main(f"{SNLI} --subset dev {folder}/dev.jsonl --output {folder}/pairs.jsonl".split()) == 0
    assert [(pair.id, pair.gold) for pair in read_pairs(folder / "pairs.jsonl")] == [
        ("dev-0", "neutral"),
        ("dev-1", "-"),
    ]
    assert "SNLI dev: 2 pairs, 1 scored, 1 not" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"{STS} --subset one D/a.txt", "similarity takes NAME INPUT GOLD"),
        (f"{SNLI} --subset dev D/dev.jsonl D/a.gs", "entailment takes NAME FILE"),
        (
            f"{STS} --subset one D/a.txt D/a.gs --subset one D/a.txt D/a.gs",
            "'one': empty, spaced oddly, or given twice",
        ),
        (f"{STS} --subset one D/a.txt D/dev.jsonl", "dev.jsonl, line 1: "),
        (f"{SNLI} --subset dev D/a.txt", "neither a JSON object nor a header"),
        (f"{SNLI} --subset dev D/missing", "no such file"),
    ],
)
def test_faults_are_one_line_and_leave_no_file(folder, capsys, line, message):
    assert main(f"{line.replace('D/', f'{folder}/')} --output {folder}/pairs.jsonl".split()) == 2
    error = capsys.readouterr().err
    assert message in error and error.splitlines()[-1].startswith("bove pairs: ")
    assert not (folder / "pairs.jsonl").exists()


def test_a_subset_without_any_score_is_refused(folder, capsys):
    (folder / "a.gs").write_text("\n\n", encoding="utf-8")
    assert main(f"{STS} --subset one {folder}/a.txt {folder}/a.gs --output {folder}/p".split()) == 2
    assert "a.gs: no pair has a gold score" in capsys.readouterr().err


def test_help_names_the_parts_of_a_subset(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["pairs", "--help"])
    assert stop.value.code == 0
    assert "--subset NAME" in capsys.readouterr().out
