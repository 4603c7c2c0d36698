"""`bove training` writes its four files from logs and times, or none of them."""

import csv
import re

import pytest

from bove.cli.main import main
from bove.cli.train import write_training_log


def log_rows(scale=1.0):
    """Rounds as a trainer logs them, one column that has no value."""
    for number in range(1, 5):
        row = {"round": number, "restart": 0}
        row |= {"words": scale * 3 / number, "tags": scale / number, "relation:0": 0.5, "relation:1": 0.25}
        row |= {"lambda_P": 0.0, "lambda_R": 0.5, "lambda_E": 0.25}
        yield row | {"total": sum(list(row.values())[2:]), "held_out": None}


def run_of(folder, name, scale=1.0):
    """The arguments of a run, whose files are written as the trainers write them."""
    rows = list(log_rows(scale))
    log, times = folder / f"{name}.csv", folder / f"{name}-times.csv"
    write_training_log(log, rows, ["SBJ", "OBJ"])
    lines = [f"{row['round']},{row['round'] * 0.5},{row['total']!r}\n" for row in rows]
    times.write_text("round,seconds,total\n" + "".join(lines), encoding="utf-8")
    return ["--run", name, str(log), str(times)]


def training(folder, *arguments):
    return main(["training", *arguments, "--output", str(folder / "out")])


def test_four_files_hold_all_runs_and_the_tables_are_printed(tmp_path, capsys):
    assert training(tmp_path, *run_of(tmp_path, "als"), *run_of(tmp_path, "sgd", 2.0)) == 0
    out = tmp_path / "out"
    assert sorted(path.name for path in out.iterdir()) == [
        f"training.{kind}" for kind in ("csv", "md", "png", "svg")
    ]
    with open(out / "training.csv", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["run"], row["round"]) for row in rows] == [(n, r) for n in ("als", "sgd") for r in "1234"]
    assert {(row["relations"], row["penalties"]) for row in rows} == {("0.75", "0.75")}
    text = (out / "training.md").read_text(encoding="utf-8")
    assert "| the end of sgd |" in text
    svg = (out / "training.svg").read_text(encoding="utf-8")
    assert {"als", "sgd", "words", "tags", "relations", "penalties"} <= set(
        re.findall(r">([a-z]+)</text>", svg)
    )
    captured = capsys.readouterr()
    assert captured.out == text and captured.err.count("wrote ") == 4


def test_two_calls_give_the_same_bytes(tmp_path, capsys):
    runs = run_of(tmp_path, "als")
    assert training(tmp_path, *runs) == 0
    first = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert training(tmp_path, *runs) == 0
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == first


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--run", "als", "x", "y"], "--run 'als': no name, or one that is repeated"),
        (["--run", " ", "x", "y"], "--run ' ': no name"),
        (["--run", "sgd", "missing.csv", "y"], "missing.csv: no such file"),
    ],
)
def test_what_can_not_be_shown_is_told_in_a_line_and_nothing_is_written(tmp_path, capsys, more, message):
    assert training(tmp_path, *run_of(tmp_path, "als"), *more) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"bove training: {message}") and err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_run_whose_times_are_those_of_another_is_told(tmp_path, capsys):
    als, sgd = run_of(tmp_path, "als"), run_of(tmp_path, "sgd", 2.0)
    assert training(tmp_path, *als[:3], sgd[3]) == 2
    assert "the total of round 1 is" in capsys.readouterr().err
