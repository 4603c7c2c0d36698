"""A copy of the project in a temporary folder, and a way to call Snakemake there."""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from bove.cli.stages import functions

ROOT = Path(__file__).parent.parent
PARTS = ("Snakefile", "workflow", "bove", "config", "profiles", "environment.yml")


class Plan(dict[str, int]):
    """How many jobs of each rule a dry run would do.

    Attributes:
        commands: theirs, in the order of the plan.
        text: all that Snakemake printed.
    """

    commands: list[str]
    text: str


class Checkout:
    """The project in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        for part in PARTS:
            copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
            copy(ROOT / part, folder / part)

    def snakemake(self, *arguments: str, prefix=(), **environment: str) -> subprocess.CompletedProcess:
        """Run Snakemake, with variables of the environment; neither exit code nor text is checked.

        Args:
            arguments: of Snakemake.
            prefix: words before the command.
            environment: further variables.
        """
        environment = {
            name: value for name, value in os.environ.items() if name != "PYTHONPATH"
        } | environment
        return subprocess.run(
            [*prefix, sys.executable, "-m", "snakemake", "--cores", "2", "--nocolor", *arguments],
            cwd=self.folder,
            env={**environment, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )

    def planned(self, *arguments: str) -> "Plan":
        """What a dry run would do; every command is one that `bove` takes."""
        done = self.snakemake("--dry-run", "--printshellcmds", *arguments)
        said = done.stdout + done.stderr
        assert done.returncode == 0, said
        plan = Plan(self.jobs(said))
        plan.commands = re.findall(r"^Shell command: (?:printf .*; )?(bove .*)$", said, re.M)
        plan.text = said
        assert len(plan.commands) == sum(plan.values())
        for command in plan.commands:
            check(shlex.split(command)[1:])
        return plan

    @staticmethod
    def jobs(text: str) -> dict[str, int]:
        """The table of jobs that Snakemake prints, without its totals and the rules that only collect."""
        counts = {rule: int(count) for rule, count in re.findall(r"^(\w+) +(\d+)$", text, re.M)}
        return {rule: count for rule, count in counts.items() if rule not in ("total", "all", "default")}


def write_file(path: Path, text: str = "") -> str:
    """Write a file, and the folders above it; its path as text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


def check(words: list[str]) -> None:
    """Exit where the command line does not take these words."""
    parser = argparse.ArgumentParser(prog=f"bove {words[0]}", description="")
    register, _ = functions(words[0])
    register(parser)
    parser.add_argument("--threads")
    parser.add_argument("--log")
    parser.parse_args(words[1:])
