"""Blocks of shell, expanded by bash without running anything, and programs that say what they would take."""

import io
import re
import shlex
import subprocess
import tomllib
from contextlib import redirect_stdout
from pathlib import Path

from checkout import ROOT, check

from bove.cli.main import main

# What bash would look for on the path is written down, each command in one piece, for some run at once.
WORD, END = "\x1f", "\x1e"
RECORD = f"""HERE=$PWD
command_not_found_handle() {{ local IFS=$'{WORD}'; printf '%s' "$*{END}" >> "$HERE/.commands"; }}
PATH=/nowhere
"""


def expanded(script: str, folder: Path) -> list[list[str]]:
    """The words of every command of a block, in its order: loops unrolled, lines joined, comments gone.

    Commands that bash has itself run, in the folder; there a virtual environment can be activated.
    """
    for place in (folder, folder / "bove"):  # a clone
        (place / ".venv" / "bin").mkdir(parents=True, exist_ok=True)
        (place / ".venv" / "bin" / "activate").touch()
    (folder / ".commands").unlink(missing_ok=True)
    done = subprocess.run(
        ["bash", "-eu", "-c", RECORD + script], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), f"{script}\n{done.stderr}"
    said = (folder / ".commands").read_text(encoding="utf-8")
    return [command.split(WORD) for command in said.split(END)[:-1]]


def console(block: str) -> list[tuple[list[str], list[str]]]:
    """(words, printed lines) of every `$ command` of a block."""
    parts = re.split(r"(?m)^\$ ", block)
    assert parts[0] == "" and len(parts) > 1, "a block of console begins with a command"
    commands = [part.partition("\n") for part in parts[1:]]
    return [(shlex.split(first), rest.split("\n")) for first, _, rest in commands]


def run_bove(words: list[str]) -> list[str]:
    """The lines that a stage prints, which must end well."""
    with redirect_stdout(io.StringIO()) as text:
        assert main(words) == 0, words
    return text.getvalue().split("\n")


def parse(words: list[str], folder: Path) -> None:
    """Fail where the program that is called would not take the words that follow."""
    program, *rest = words
    assert program in PARSERS, f"no test knows {program!r}"
    PARSERS[program](rest, folder)


def _bove(words: list[str], folder: Path) -> None:
    check(words)


def _snakemake(words: list[str], folder: Path) -> None:
    from snakemake.cli import get_argument_parser

    args = get_argument_parser().parse_args(words)
    for path in args.configfile or []:
        _there(Path(path), folder)
    if args.workflow_profile:
        _there(Path(args.workflow_profile), folder)


def _there(path: Path, folder: Path) -> None:
    """A file is the project's, or a reader's: `my.yaml`, or what a run has written."""
    own = path.name in ("my.yaml", "grid.yaml", "large.yaml") or path.parts[0] == "results"
    assert own or (ROOT / path).exists() or (folder / path).exists(), f"{path} is not there"


def _make(words: list[str], folder: Path) -> None:
    subprocess.run(["make", "--dry-run", *words], cwd=ROOT, check=True, capture_output=True)


def _pip(words: list[str], folder: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert words[0] == "install"
    for word in words[1:]:
        extra = re.fullmatch(r"\.(?:\[(.*)\])?", word)
        assert extra, word
        assert set((extra[1] or "").split(",")) <= {"", *project["optional-dependencies"]}, word


def _conda(words: list[str], folder: Path) -> None:
    name = re.search(r"(?m)^name: (.*)$", (ROOT / "environment.yml").read_text(encoding="utf-8"))[1]
    assert words in (["env", "create", "-f", "environment.yml"], ["activate", name])


def _python(words: list[str], folder: Path) -> None:
    """A script's options are those that it adds."""
    source = (ROOT / words[0]).read_text(encoding="utf-8")
    for word in words[1:]:
        assert not word.startswith("--") or f'"{word}"' in source, word


def _mpiexec(words: list[str], folder: Path) -> None:
    assert words[0] == "-n" and int(words[1]) > 0, words
    parse(words[2:], folder)


def _git(words: list[str], folder: Path) -> None:
    assert words == ["clone", "ADDRESS", "bove"]


PARSERS = {
    "bove": _bove, "snakemake": _snakemake, "make": _make, "pip": _pip, "conda": _conda, "python": _python,
    "mpiexec": _mpiexec, "git": _git,
}  # fmt: skip
