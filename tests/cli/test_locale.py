"""The command line under a locale that knows ASCII alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conll_rows import row09

from bove.text.vocabulary import Vocabulary

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("name", ["C", "POSIX"])
def test_the_locale_does_not_matter(tmp_path, name):
    folder = tmp_path / "é π"
    folder.mkdir()
    rows = row09(1, "Zoë", "NN", 2, "sübj") + row09(2, "läuft", "V", 0, "root")
    (folder / "trées").write_text(rows, encoding="utf-8")
    # a set locale, and nothing that would make Python leave it
    environment = os.environ | {"LC_ALL": name, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}

    def run(*words):
        return subprocess.run(
            [sys.executable, "-P", "-m", "bove", *words],
            capture_output=True, cwd=folder, check=False, env=environment | {"PYTHONPATH": str(ROOT)},
        )  # fmt: skip

    done = run("check", "trées", "none-ü")
    assert done.returncode == 2
    assert "relations: 1: sübj 1" in done.stdout.decode()
    assert done.stderr.decode() == "bove check: 1 of 2 files cannot be used: none-ü\n"
    thresholds = ["--min-words", "1", "--min-tags", "1", "--min-relations", "1", "--lookup", "exact"]
    wanted = ["--treebank", "trées", "trées", "--columns", "predicted", "--output", "wörter", "--log", "lög"]
    assert run("vocabulary", *wanted, *thresholds).returncode == 0
    assert Vocabulary.load(folder / "wörter").words == ("Zoë", "läuft")
    log = (folder / "lög").read_text(encoding="utf-8")
    assert "2 sentences with several roots" not in log and "first in line 2 of trées" in log
