"""The file that gets a stage's log."""

from pathlib import Path

import pytest

from bove.cli.main import main


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device here is always full")
def test_a_log_on_a_full_disk_is_one_line(tmp_path, capsys):
    (tmp_path / "in.txt").write_text("1 2\ndog 1 2\n", encoding="utf-8")
    words = ["vectors", "load", "--format", "word2vec", "--input", f"{tmp_path}/in.txt"]
    assert main([*words, "--output", f"{tmp_path}/out", "--log", "/dev/full"]) == 2
    said = capsys.readouterr().err.strip().split("\n")
    assert said[-1] == (
        "bove vectors: --log /dev/full: cannot be written (No space left on device); choose another file"
    )
    assert not any("Traceback" in line or "Logging error" in line for line in said)
