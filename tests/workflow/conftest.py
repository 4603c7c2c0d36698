"""A copy of the project in a temporary folder, and a way to call Snakemake there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PARTS = ("Snakefile", "workflow", "bove", "config", "profiles", "environment.yml")


class Checkout:
    """The project in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        for part in PARTS:
            copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
            copy(ROOT / part, folder / part)

    def snakemake(self, *arguments: str) -> subprocess.CompletedProcess:
        """Run Snakemake; the result has its text, which is not checked."""
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return subprocess.run(
            [sys.executable, "-m", "snakemake", "--cores", "2", "--nocolor", *arguments],
            cwd=self.folder,
            env={**environment, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )

    def planned(self, *arguments: str) -> dict[str, int]:
        """How many jobs of each rule a dry run would do."""
        done = self.snakemake("--dry-run", "--quiet", "rules", *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return jobs(done.stdout + done.stderr)


def jobs(text: str) -> dict[str, int]:
    """The table of jobs that Snakemake prints, without its totals and without the rules that only collect."""
    lines = [line.split() for line in text.split("\n")]
    counts = {words[0]: int(words[1]) for words in lines if len(words) == 2 and words[1].isdigit()}
    return {rule: count for rule, count in counts.items() if rule not in ("total", "all", "default")}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    return Checkout(tmp_path_factory.mktemp("a folder") / "my checkout")
