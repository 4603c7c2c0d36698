"""A run that is quiet says how far it is, and keeps all that was printed in a file."""

import runpy
import sys

import pytest
from checkout import ROOT

PRINTED = """localrule demo:
1 of 4 steps (25%) done
rule train_parser:
Zoë's line
4 of 4 steps (100%) done
"""


@pytest.fixture(scope="module")
def quiet():
    return runpy.run_path(str(ROOT / "workflow" / "quiet.py"))


@pytest.mark.parametrize("status", [0, 3])
def test_all_that_is_printed_goes_to_the_file_and_its_end_is_shown_where_the_run_fails(
    quiet, tmp_path, capsys, monkeypatch, status
):
    monkeypatch.setitem(quiet["Progress"].show.__globals__, "EVERY", 0)
    script = f"import sys; print({PRINTED!r}, end='', file=sys.stderr); sys.exit({status})"
    log = tmp_path / "logs" / "workflow.log"
    assert quiet["run"]([sys.executable, "-X", "utf8", "-c", script], log) == status
    assert log.read_text(encoding="utf-8") == PRINTED
    said = capsys.readouterr().out
    assert "1 of 4 steps, now train_parser, 0 s\n" in said
    assert ("Zoë" in said, f"exit status {status}" in said) == (status > 0, status > 0)
