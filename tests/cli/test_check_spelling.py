"""`bove check` on words whose letters are written in parts, which meet no word that is written whole."""

import json

import pytest
from conll_rows import row_u

from bove.cli.main import main

WHOLE, PARTS = "caf\u00e9", "cafe\u0301"


@pytest.mark.parametrize(
    ("kind", "content", "said"),
    [
        ("treebank", row_u(1, WHOLE, "N", "_", 0, "root") + row_u(2, PARTS, "N", "_", 1, "x"), "1 tokens"),
        ("sts", f"{WHOLE} a\tb\n{PARTS}\tb\na\tb {PARTS}\n", [2, 3]),
        ("vectors", f"{WHOLE} 1 2\n{PARTS} 1 2\nb 1 2\n", [2]),
    ],
)
def test_letters_in_parts_are_told_of(tmp_path, capsys, kind, content, said):
    (tmp_path / "file").write_text(content, encoding="utf-8")
    assert main(["check", f"{tmp_path}/file", "--as", kind, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    told = [text for text in report["remarks"] if "(not NFC)" in text]
    told += [odd[f"{unit}s"] for odd in report["odd"] for unit in ("line", "row")
             if "(not NFC)" in odd["what"] and f"{unit}s" in odd]  # fmt: skip
    assert len(told) == 1
    assert told[0].startswith(said) if isinstance(said, str) else told[0] == said
