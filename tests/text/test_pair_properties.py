"""Every reader of pairs gives back what was written, and meets any bytes with a result or a BoveError."""

import contextlib
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pair_forms import form_of

from bove.errors import BoveError
from bove.text.pairs import read_pair_file, read_pairs

NAMES = ("data", "Data", "part")
NUMBERED = {"columns": {"first": "4", "second": "2", "gold": "1"}}
NAMED = {"columns": {"first": "a", "second": "b c", "gold": "g", "id": "#"}}
LABELS = {"labels": {"E": "entailment", "N/A": "neutral", "nan": "no", "?": "-"}}

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\ufeff"), max_size=8)
scores = st.none() | st.floats(allow_nan=False, allow_infinity=False)
ids = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=5)
labels = st.sampled_from(list(LABELS["labels"]))


def written(score):
    return "" if score is None else repr(score)


def fields(pairs):
    return [(pair.first, pair.second, pair.gold) for pair in pairs]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("pairs") / "file"


@given(st.lists(st.tuples(cells, cells, scores), min_size=1, max_size=5))
@example([('"a', 'b" "', 4.0), ("\x85\u2028", "\x0b\x0c\x1c\x00", None)])
def test_lines_with_a_file_of_scores(path, rows):
    gold_path = path.with_name("gold")
    path.write_text("".join(f"{a}\t{b}\n" for a, b, _ in rows), encoding="utf-8", newline="")
    gold_path.write_text("".join(f"{written(g)}\n" for *_, g in rows), encoding="utf-8", newline="")
    pairs = read_pair_file(path, form_of("similarity"), NAMES, gold_path)
    assert fields(pairs) == [(a.strip(" "), b.strip(" "), g) for a, b, g in rows]
    assert [pair.id for pair in pairs] == [f"part-{i:05d}" for i in range(1, len(rows) + 1)]


@given(st.lists(st.tuples(cells, cells, scores, cells), min_size=1, max_size=5))
def test_numbered_columns(path, rows):
    path.write_text(
        "".join(f"{written(g)}\t{b}\t{x}\t{a}\r\n" for a, b, g, x in rows), encoding="utf-8", newline=""
    )
    pairs = read_pair_file(path, form_of("similarity", **NUMBERED), NAMES)
    assert fields(pairs) == [(a.strip(" "), b.strip(" "), g) for a, b, g, _ in rows]


@given(st.lists(st.tuples(cells, cells, labels, ids), min_size=1, max_size=5, unique_by=lambda row: row[3]))
def test_columns_named_by_a_header(path, rows):
    text = "#\tg\ta\tb c\n" + "".join(f"{i}\t{g}\t{a}\t{b}\n" for a, b, g, i in rows)
    path.write_text(text, encoding="utf-8", newline="")
    pairs = read_pair_file(path, form_of("entailment", **NAMED, **LABELS), NAMES)
    assert fields(pairs) == [(a.strip(" "), b.strip(" "), LABELS["labels"][g]) for a, b, g, _ in rows]
    assert [pair.id for pair in pairs] == [f"part-{i}" for *_, i in rows]
    assert [pair.scored for pair in pairs] == [g != "?" for _, _, g, _ in rows]


@given(
    st.lists(st.tuples(texts, texts, labels, ids), min_size=1, max_size=5, unique_by=lambda row: row[3]),
    st.booleans(),
)
def test_json_lines(path, rows, escaped):
    records = [{"a": a, "b c": b, "g": g, "#": i, "more": [None, {"a": 1}]} for a, b, g, i in rows]
    text = "".join(json.dumps(record, ensure_ascii=escaped) + "\n" for record in records)
    path.write_text(text, encoding="utf-8", newline="")
    pairs = read_pair_file(path, form_of("entailment", **NAMED, **LABELS), NAMES)
    assert fields(pairs) == [(a, b, LABELS["labels"][g]) for a, b, g, _ in rows]


# Bytes that come close to files of pairs, and any others.
PIECES = [
    *(
        b"\t",
        b"\n",
        b"\r\n",
        b"{",
        b"}",
        b'"a"',
        b":",
        b",",
        b"null",
        b"NaN",
        b"1e999",
        b"-1",
        b"4.0",
        b"E",
        b"nan",
    ),
    *(b'{"a": "x", "b c": "y", "g": "E", "#": "1"}', b"#\tg\ta\tb c", b"\x1f\x8b", b"\xef\xbb\xbf", b"\xff"),
    *(
        b'"\\ud83d"',
        b'"b c"',
        b'"g"',
        b'"#"',
        "٣".encode(),
        b"\x00",
        b" ",
        b"1_0",
        b"[[[[",
        "\u2028".encode(),
    ),
]
bytes_of_files = st.binary(max_size=40) | st.lists(st.sampled_from(PIECES), max_size=25).map(b"".join)
FORMS = {
    "two files": ("similarity", {}),
    "numbers": ("similarity", NUMBERED),
    "a header that is skipped": ("similarity", {**NUMBERED, "header": True}),
    "named": ("entailment", {**NAMED, **LABELS}),
    "named scores": ("similarity", NAMED),
    "SNLI": ("entailment", {}),
}


@pytest.mark.parametrize("kind", FORMS)
@given(content=bytes_of_files, gold=bytes_of_files)
def test_any_bytes_are_pairs_or_one_clear_error(path, kind, content, gold):
    task, keys = FORMS[kind]
    path.write_bytes(content)
    gold_path = path.with_name("gold") if kind == "two files" else None
    path.with_name("gold").write_bytes(gold)
    with contextlib.suppress(BoveError):
        for pair in read_pair_file(path, form_of(task, **keys), NAMES, gold_path):
            assert pair.scored == (pair.gold not in (None, "-"))


@given(bytes_of_files)
def test_any_bytes_as_a_pairs_file(path, content):
    path.write_bytes(content)
    with contextlib.suppress(BoveError):
        read_pairs(path)
