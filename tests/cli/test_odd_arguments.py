"""Arguments and places that no stage can use: one line, exit code 2, and what lies there stays."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from conll_rows import row09

from bove.cli import data as vocabulary
from bove.cli.main import main
from bove.errors import BoveError
from bove.files import check_target

ROOT = Path(__file__).parent.parent.parent
TREE = row09(1, "dogs", "NNS", 2, "SBJ") + row09(2, "bark", "VBP", 0, "ROOT")
WORDS = [
    "--columns",
    "gold",
    "--min-words",
    "1",
    "--min-tags",
    "1",
    "--min-relations",
    "1",
    "--lookup",
    "exact",
]


@pytest.fixture
def treebank(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("trees").write_text(TREE, encoding="utf-8")
    return ["vocabulary", "--treebank", "trees", *WORDS]


def refused(words, capsys, said):
    assert main(words) == 2
    last = capsys.readouterr().err.strip().split("\n")[-1]
    assert said in last, last


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (["trees"], "--output trees: treebank names it too; name another file"),
        (["./trees"], "--output ./trees: treebank names it too"),
        (["new", "--log", "trees"], "--log trees: treebank names it too"),
        (["new", "--log", "new"], "--output new and --log are one file; name two"),
    ],
)
def test_what_is_written_takes_the_place_of_nothing_that_is_read(treebank, capsys, output, said):
    refused([*treebank, "--output", *output], capsys, said)
    assert Path("trees").read_text(encoding="utf-8") == TREE and not Path("new").exists()


def test_a_file_that_is_named_with_a_system_counts_too(treebank, capsys):
    refused(
        ["score", "--pairs", "p", "--bags", "bove=trees", "--output", "trees"], capsys, "bags names it too"
    )


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_a_pipe_or_a_folder_is_not_replaced(treebank, capsys, kind):
    there = Path("there")
    os.mkfifo(there) if kind == "pipe" else there.mkdir()
    before = stat.S_IFMT(there.stat().st_mode)
    refused(
        [*treebank, "--output", "there"], capsys, "there: cannot be written (is a folder, a pipe or a dev"
    )
    assert stat.S_IFMT(there.stat().st_mode) == before
    assert sorted(map(str, Path().iterdir())) == ["there", "trees"]


def test_nothing_is_put_beside_the_devices():
    for name in ("/dev/null", "/dev/stdout"):
        with pytest.raises(BoveError, match=f"{name}: cannot be written"):
            check_target(name)


@pytest.mark.parametrize("seed", ["-1", str(2**32)])
def test_a_seed_that_cannot_be_one_is_refused(tmp_path, capsys, seed):
    words = ["vectors", "train", "--input", "x", "--dimensions", "2", "--window", "1", "--epochs", "1"]
    words += ["--min-count", "1", "--negative", "1"]
    words += ["--seed", seed, "--output", str(tmp_path / "out")]
    refused(words, capsys, f"--seed {seed}: must be a whole number from 0 to 4294967295")


@pytest.mark.parametrize("error", [MemoryError("Unable to allocate 9 TiB"), MemoryError()])
def test_too_little_memory_is_one_line(treebank, capsys, monkeypatch, error):
    def run(args):
        raise error

    monkeypatch.setattr(vocabulary, "run_vocabulary", run)
    refused(
        [*treebank, "--output", "new"], capsys, f"out of memory ({error or 'no more is given'}); work on less"
    )


def test_a_name_that_is_no_text_is_refused_with_what_was_found(treebank, capsys):
    names = ["--dataset", "d", "--label", "l\udcff", "--task", "similarity", "--column", "first=1"]
    names += ["--column", "second=2", "--column", "gold=3", "--separator", "\t", "--encoding", "utf-8"]
    Path("pairs").write_text("a\tb\t1\n", encoding="utf-8")
    refused(
        ["pairs", *names, "--subset", "s", "pairs", "--output", "new"], capsys, r"half a surrogate pair in "
    )
    assert sorted(map(str, Path().iterdir())) == ["pairs", "trees"]


def test_a_line_break_separates_no_columns(treebank, capsys):
    names = [
        "--dataset",
        "d",
        "--label",
        "l",
        "--task",
        "similarity",
        "--column",
        "first=1",
        "--column",
        "second=2",
    ]
    words = [*names, "--separator", "\n", "--encoding", "utf-8", "--subset", "s", "trees", "--output", "new"]
    refused(["pairs", *words], capsys, r"separator: '\n' cannot separate columns; write another")


def bove(folder, *words, **more):
    """The command in a process of its own, whose stdout takes UTF-8 and nothing else."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8:strict"}
    command = [sys.executable, "-P", "-m", "bove", *words]
    return subprocess.run(command, cwd=folder, env=environment, check=False, stderr=subprocess.PIPE, **more)


def test_odd_bytes_in_a_file_name_are_printed_as_escapes(tmp_path):
    name = os.fsdecode(b"odd\xff")
    (tmp_path / name).write_text(TREE, encoding="utf-8")
    for more in ([], ["--json"]):
        done = bove(tmp_path, "check", name, "none", "--log", name + ".log", *more, stdout=subprocess.PIPE)
        assert done.returncode == 2 and b"Traceback" not in done.stderr
        assert rb"odd\udcff" in done.stdout
        if more:
            assert json.loads(done.stdout.split(b"\n")[0])["file"] == name


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device here is always full")
def test_an_output_that_is_full_is_one_line(tmp_path):
    (tmp_path / "trees").write_text(TREE, encoding="utf-8")
    with open("/dev/full", "wb") as full:
        done = bove(tmp_path, "check", "trees", stdout=full)
    assert (done.returncode, done.stderr) == (2, b"bove check: standard output: No space left on device\n")
