"""What the manual shows of the finished demo is what the demo's model says.

This needs the demo, which takes minutes: it is checked where BOVE_DEMO names the folder whose results/demo
is that of `make demo`. Vectors and parser are trained anew on each machine, so figures may differ a little.
"""

import os
import re

import pytest
from checkout import ROOT
from shell import console, run_bove

FOLDER = os.environ.get("BOVE_DEMO")
PAGE = (ROOT / "docs" / "looking-inside.md").read_text(encoding="utf-8")
COMMANDS = [
    command
    for block in re.findall(r"(?ms)^```console\n(.*?)^```$", PAGE)
    for command in console(block)
    if "results/demo" in command[0]
]
NUMBER = re.compile(r"\d\.\d{4}")


@pytest.mark.skipif(not FOLDER, reason="BOVE_DEMO does not say where the finished demo is")
@pytest.mark.parametrize(("words", "shown"), COMMANDS, ids=lambda value: value[1])
def test_the_demo_says_what_the_manual_shows(words, shown, monkeypatch):
    monkeypatch.chdir(FOLDER)
    said = run_bove(words[1:])
    shown = [line for line in shown if line and line != "…"]
    if words[1] == "explain":
        assert [_split(line)[0] for line in shown] == [_split(line)[0] for line in said if line]
        pairs = [(_split(a)[1], _split(b)[1]) for a, b in zip(shown, filter(None, said), strict=True)]
        assert all(b == pytest.approx(a, abs=0.1) for a, b in pairs)
    else:
        fixed = [line for line in shown if not NUMBER.match(line)]
        assert [line for line in said if line and not NUMBER.match(line)][: len(fixed)] == fixed
        rows = {_split(line)[0] for line in shown if NUMBER.match(line)}
        assert 2 * len(rows & {_split(line)[0] for line in said}) >= len(rows)


def test_the_manual_shows_the_demo():
    assert [words[1] for words, _ in COMMANDS] == ["explain", "neighbours", "neighbours"]


def _split(line):
    """The words of a line without its figures, and its figures."""
    return " ".join(NUMBER.sub("#", line).split()), [float(number) for number in NUMBER.findall(line)]
