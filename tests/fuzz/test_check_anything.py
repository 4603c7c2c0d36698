"""`bove check` of any bytes: a report, and exit code 0 or 2."""

import json
from contextlib import redirect_stdout
from io import StringIO

import numpy as np
import pytest
from artefact_files import write_all
from conll_rows import DOGS_09, DOGS_U
from hypothesis import given
from hypothesis import strategies as st

from bove.check import KINDS
from bove.cli.main import main

TEXTS = (
    DOGS_09,
    DOGS_U,
    "a 1 2\nb 3 4\n",
    "2 2\na 1 2\nb 3 4\n",
    "A dog.\tA cat.\n",
    "1\n\n2.5\n",
    '{"gold_label": "-", "sentence1": "A", "sentence2": "B", "pairID": "1"}\n',
    "gold_label\tsentence1\tsentence2\tpairID\nneutral\tA\tB\t1\n",
    "run: x\nmodel: {alpha: 1}\n",
)


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    """Content of a file of each kind, by number."""
    binary = b"2 2\na " + np.ones(2, "<f4").tobytes() + b"b " + np.ones(2, "<f4").tobytes()
    files = write_all(tmp_path_factory.mktemp("kinds"))
    return [binary, *(text.encode() for text in TEXTS), *(path.read_bytes() for path in files.values())]


def check(folder, content, *more):
    (folder / "file").write_bytes(content)
    out = StringIO()
    with redirect_stdout(out):
        code = main(["check", "--json", str(folder / "file"), *more])
    report = json.loads(out.getvalue())
    assert code == (0 if report["usable"] else 2)
    assert report["usable"] or report["error"].strip()


@given(st.binary(max_size=150), st.sampled_from([None, *KINDS]))
def test_random_bytes(tmp_path_factory, data, kind):
    if kind != "stanza":
        check(tmp_path_factory.mktemp("random"), data, *(["--as", kind] if kind else []))


@given(st.data())
def test_changed_files_of_every_kind(contents, tmp_path_factory, data):
    content = bytearray(data.draw(st.sampled_from(contents)))
    for _ in range(data.draw(st.integers(0, 3))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place : place + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
        content = content or bytearray(b"\n")
    check(tmp_path_factory.mktemp("changed"), bytes(content))
