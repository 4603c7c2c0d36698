"""The command line: odd arguments, places, locales and signals end in one line, and existing files stay."""

import argparse
import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conll_rows import row09

from bove.cli import data
from bove.cli.main import main
from bove.cli.stages import GROUPS, STAGES, USE, functions
from bove.config.load import defaults
from bove.errors import BoveError
from bove.files import check_target
from bove.text.vocabulary import Vocabulary

ROOT = Path(__file__).parent.parent.parent
TREE = row09(1, "dogs", "NNS", 2, "SBJ") + row09(2, "bark", "VBP", 0, "ROOT")
THRESHOLDS = ["--min-words", "1", "--min-tags", "1", "--min-relations", "1", "--lookup", "exact"]
PAIRS = "pairs --dataset d --task similarity --column first=1 --column second=2 --column gold=3"


@pytest.fixture
def treebank(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("trees").write_text(TREE, encoding="utf-8")
    return ["vocabulary", "--treebank", "trees", "--columns", "gold", *THRESHOLDS]


def bove(folder, *words, **environment):
    """The command in a process of its own, whose stdout takes UTF-8 and nothing else."""
    usual = {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8:strict"}
    command = [sys.executable, "-P", "-m", "bove", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, cwd=folder, env=os.environ | usual | environment, **pipes)


@pytest.mark.parametrize(
    ("line", "offered"),
    [("bove emb", "embed"), ("bove embed --po", "--pool"), ("bove embed --pool m", "mean")],
)
def test_the_shell_is_told_what_may_come_next(line, offered, tmp_path):
    asked = {"_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line)), "COMP_TYPE": "9"}
    answer = {"_ARGCOMPLETE_STDOUT_FILENAME": str(tmp_path / "answer"), "_ARGCOMPLETE_IFS": " "}
    assert bove(tmp_path, **asked, **answer).wait() == 0
    assert (tmp_path / "answer").read_text(encoding="utf-8").split() == offered.split()


# What a stage needs to be given: files and folders, some with names of theirs.
GIVEN = (
    "accuracy bags base candidate config data dev differences encoder first graphs input markdown model "
    "output pairs parser parses report reports results run runs scores second sentences "
    "shards sources tagger tokens training_log treebank url vocabulary"
)


def test_every_stage_needs_files_alone():
    needed = {}
    for stage in STAGES:
        parser = argparse.ArgumentParser(description="")
        functions(stage)[0](parser)
        kinds = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
        for one in [parser, *(kind for a in kinds for kind in a.choices.values())]:
            needed |= {a.dest: (stage, a) for a in one._actions if a.option_strings and a.required}
    assert needed.keys() <= set(GIVEN.split())
    assert [stage for stage, a in needed.values() if a.type in (int, float) or a.choices] == []


def test_options_have_the_defaults_of_the_configuration():
    def given(stage, words):
        parser = argparse.ArgumentParser(description="")
        functions(stage)[0](parser)
        return vars(parser.parse_args(words.split()))

    usual = defaults()
    found = given("vocabulary", "--treebank t --output o")
    assert {key: found[key] for key in usual["vocabulary"]} == usual["vocabulary"]
    found = given("tables", "--scores s --output o") | given(
        "train-tagger", "--treebank t --dev d --output o --report r"
    )
    expected = {**usual["statistics"], "seed": usual["seed"], "preset": usual["parser"]["preset"]}
    assert {key: found[key] for key in expected} == expected


def test_the_help_names_every_stage_and_that_of_each_is_one_screen(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert main([]) == 0
    said = capsys.readouterr().out
    assert [name for name in STAGES if f"\n  {name} " not in said] == []
    screen = "\n".join(said.split("\n")[:20])
    assert [name for name in GROUPS[USE] if f"\n  {name} " not in screen] == []
    for stage in STAGES:
        with pytest.raises(SystemExit):
            main([stage, "--help"])
        assert capsys.readouterr().out.count("\n") <= 55, stage


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (["trees"], "--output trees: treebank names it too; name another file"),
        (["./trees"], "--output ./trees: treebank names it too"),
        (["new", "--log", "trees"], "--log trees: treebank names it too"),
        (["new", "--log", "new"], "--output new and --log are one file; name two"),
    ],
)
def test_what_is_written_takes_the_place_of_nothing_that_is_read(treebank, refused, output, said):
    refused([*treebank, "--output", *output], said, Path("new"))
    assert Path("trees").read_text(encoding="utf-8") == TREE


def test_a_file_that_is_named_with_a_system_counts_too(treebank, refused):
    refused(["score", "--pairs", "p", "--bags", "bove=trees", "--output", "trees"], "bags names it too")


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_a_pipe_or_a_folder_is_not_replaced(treebank, refused, kind):
    there = Path("there")
    os.mkfifo(there) if kind == "pipe" else there.mkdir()
    before = stat.S_IFMT(there.stat().st_mode)
    refused([*treebank, "--output", "there"], "there: cannot be written (is a folder, a pipe or a dev")
    assert stat.S_IFMT(there.stat().st_mode) == before
    assert sorted(map(str, Path().iterdir())) == ["there", "trees"]


def test_nothing_is_put_beside_the_devices():
    for name in ("/dev/null", "/dev/stdout"):
        with pytest.raises(BoveError, match=f"{name}: cannot be written"):
            check_target(name)


@pytest.mark.parametrize("seed", ["-1", str(2**32)])
def test_a_seed_that_can_be_none_is_refused_by_every_stage(tmp_path, refused, seed):
    words = "vectors train --input x --dimensions 2 --window 1 --epochs 1 --min-count 1 --negative 1"
    words += f" --seed {seed} --output {tmp_path}/out"
    refused(words.split(), f"--seed {seed}: must be a whole number from 0 to 4294967295")


@pytest.mark.parametrize("error", [MemoryError("Unable to allocate 9 TiB"), MemoryError()])
def test_too_little_memory_is_one_line(treebank, refused, monkeypatch, error):
    def run(args):
        raise error

    monkeypatch.setattr(data, "run_vocabulary", run)
    refused([*treebank, "--output", "new"], f"out of memory ({error or 'no more is given'}); work on")


@pytest.mark.parametrize(
    ("label", "separator", "said"),
    [
        ("l\udcff", "\t", "half a surrogate pair in "),
        ("l", "\n", r"separator: '\n' cannot separate columns"),
    ],
)
def test_a_name_that_is_not_text_and_a_separator_that_is_a_line_break_are_refused(
    treebank, refused, label, separator, said
):
    words = [*PAIRS.split(), "--encoding", "utf-8", "--subset", "s", "pairs", "--output", "new"]
    Path("pairs").write_text("a\tb\t1\n", encoding="utf-8")
    refused([*words, "--label", label, "--separator", separator], said, Path("new"))


def test_odd_bytes_in_a_file_name_are_printed_as_escapes(tmp_path):
    name = os.fsdecode(b"odd\xff")
    (tmp_path / name).write_text(TREE, encoding="utf-8")
    for more in ([], ["--json"]):
        done = bove(tmp_path, "check", name, "none", "--log", name + ".log", *more)
        out, err = done.communicate()
        assert done.returncode == 2 and b"Traceback" not in err
        assert rb"odd\udcff" in out
        if more:
            assert json.loads(out.split(b"\n")[0])["file"] == name


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device here is always full")
def test_an_output_or_a_log_on_a_full_disk_is_one_line(treebank, tmp_path, capsys):
    with open("/dev/full", "w", encoding="utf-8") as full:
        command = [sys.executable, "-P", "-m", "bove", "check", "trees"]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, env=environment, check=False, stdout=full, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (2, b"bove check: standard output: No space left on device\n")
    assert main([*treebank, "--output", "new", "--log", "/dev/full"]) == 2
    said = capsys.readouterr().err
    assert "bove vocabulary: /dev/full: No space left on device" in said.strip().split("\n")[-1]
    assert "Traceback" not in said and "Logging error" not in said


@pytest.mark.parametrize("name", ["C", "POSIX"])
def test_a_locale_that_knows_ascii_alone_does_not_matter(tmp_path, name):
    folder = tmp_path / "é π"
    folder.mkdir()
    rows = row09(1, "Zoë", "NN", 2, "sübj") + row09(2, "läuft", "V", 0, "root")
    (folder / "trées").write_text(rows, encoding="utf-8")
    plain = {"LC_ALL": name, "PYTHONIOENCODING": ""}
    done = bove(folder, "check", "trées", "none-ü", **plain)
    out, err = done.communicate()
    assert done.returncode == 2 and "relations: 1: sübj 1" in out.decode()
    assert err.decode().startswith("bove check: 1 of 2 files") and err.decode().endswith(": none-ü\n")
    words = ["--treebank", "trées", "trées", "--columns", "predicted", "--output", "wörter", "--log", "lög"]
    assert bove(folder, "vocabulary", *words, *THRESHOLDS, **plain).wait() == 0
    assert Vocabulary.load(folder / "wörter").words == ("Zoë", "läuft")
    assert "first in line 2 of trées" in (folder / "lög").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("number", "code", "said"), [(signal.SIGTERM, 143, b""), (signal.SIGINT, 130, b"bove vectors: stopped\n")]
)
def test_a_command_that_is_stopped_leaves_nothing_half_written(tmp_path, number, code, said):
    row = " 0.12345" * 100 + "\n"
    (tmp_path / "in").write_text("".join(f"w{i}{row}" for i in range(30_000)), encoding="utf-8")
    # a shell that starts what runs in the background may have it ignore ^C
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        words = "vectors load --format glove --input in --output out/vectors"
        running = bove(tmp_path, *words.split())
    finally:
        signal.signal(signal.SIGINT, before)
    out = tmp_path / "out"
    while running.poll() is None and not (out.is_dir() and list(out.iterdir())):
        time.sleep(0.005)
    running.send_signal(number)
    assert running.communicate()[1] == said
    assert running.returncode == code
    assert list(out.iterdir()) == []
