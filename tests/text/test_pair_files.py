"""Reading STS and SNLI files, and the pairs file."""

import io
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bove.errors import BoveError
from bove.text.pairs import Pair, read_pairs, read_snli, read_sts, write_pairs


@pytest.fixture
def sts(tmp_path):
    def run(text, gold):
        (tmp_path / "input.txt").write_bytes(text if isinstance(text, bytes) else text.encode())
        (tmp_path / "gs.txt").write_text(gold, encoding="utf-8", newline="")
        return read_sts(tmp_path / "input.txt", tmp_path / "gs.txt", "sts", "STS", "set")

    return run


@pytest.fixture
def snli(tmp_path):
    def run(text):
        (tmp_path / "snli").write_text(text, encoding="utf-8", newline="")
        return read_snli(tmp_path / "snli", "snli", "SNLI", "dev")

    return run


def record(**changes):
    values = {
        "gold_label": "neutral",
        "sentence1": "A.",
        "sentence2": "B.",
        "pairID": "7#1",
        "captionID": "7",
    }
    return json.dumps(values | changes) + "\n"


def test_a_line_is_a_pair_and_a_blank_score_is_none(sts):
    pairs = sts("A cat.\tA dog.\nOne\tTwo\nx\ty\n", "4\n\n0.25\n")
    assert pairs[0] == Pair("set-00001", "sts", "STS", "similarity", "set", "A cat.", "A dog.", 4.0, True)
    assert [(pair.id, pair.gold, pair.scored) for pair in pairs[1:]] == [
        ("set-00002", None, False),
        ("set-00003", 0.25, True),
    ]


@pytest.mark.parametrize(
    ("line", "first", "second"),
    [
        ('"She said\t""no"" to it', '"She said', '""no"" to it'),
        ("  a b \t c  ", "a b", "c"),
        ("a\tb\t", "a", "b"),
        ("a\tb\tMSRpar\thttp://x", "a", "b"),
        ("\tb", "", "b"),
        ("\u00a0a\u00a0\tb", "\u00a0a\u00a0", "b"),
        ("Ã©tÃ© \x07\u2028\x85\x0b\x0c\x1c\t😀", "Ã©tÃ© \x07\u2028\x85\x0b\x0c\x1c", "😀"),
        ("a\rb\tc", "a\rb", "c"),
        ("#1\t#2", "#1", "#2"),
    ],
)
def test_a_sentence_is_kept_as_it_is_but_for_spaces_around_it(sts, line, first, second):
    (pair,) = sts(line + "\n", "1\n")
    assert (pair.first, pair.second) == (first, second)


def test_line_ends_and_byte_order_mark_do_not_matter(sts):
    pairs = sts("\ufeffa\tb\r\nc\td".encode(), "4.40\r\n3.8")
    assert [(pair.first, pair.second, pair.gold) for pair in pairs] == [("a", "b", 4.4), ("c", "d", 3.8)]


@pytest.mark.parametrize("gold", ["1\n", "1\n2\n3\n"])
def test_unequal_line_counts_are_both_named(sts, gold):
    with pytest.raises(BoveError, match=rf"input.txt has 2 lines, but .*gs.txt has {gold.count(chr(10))};"):
        sts("a\tb\nc\td\n", gold)


@pytest.mark.parametrize("text", ["a\tb\nonly one\n", "a\tb\n\n"])
def test_a_line_with_one_column_is_refused(sts, text):
    with pytest.raises(BoveError, match=r"input.txt, line 2: one column"):
        sts(text, "1\n2\n")


@pytest.mark.parametrize("score", ["high", "nan", "inf", "1_0", "4,5", "1 2"])
def test_a_score_that_is_no_finite_number_is_refused(sts, score):
    with pytest.raises(BoveError, match=rf"gs.txt, line 2: '{score}' is no score"):
        sts("a\tb\nc\td\n", f"1\n{score}\n")


def test_scores_outside_the_usual_range_pass(sts):
    assert [pair.gold for pair in sts("a\tb\nc\td\n", "-1\n50\n")] == [-1.0, 50.0]


def test_snli_json_lines(snli):
    pairs = snli(record() + "\n" + record(pairID="8", gold_label="-", sentence2=" n/a"))
    assert pairs == [
        Pair("dev-7#1", "snli", "SNLI", "entailment", "dev", "A.", "B.", "neutral", True),
        Pair("dev-8", "snli", "SNLI", "entailment", "dev", "A.", " n/a", "-", False),
    ]


HEADER = (
    "gold_label\tsentence1_binary_parse\tsentence2_binary_parse\tsentence1_parse\tsentence2_parse\tsentence1\t"
    "sentence2\tcaptionID\tpairID\tlabel1\tlabel2\tlabel3\tlabel4\tlabel5"
)


def text_row(label, first, second, name, labels="\tneutral\t\t\t\t"):
    return f"{label}\t( A )\t( B )\t(ROOT A)\t(ROOT B)\t{first}\t{second}\tcap\t{name}{labels}"


def test_snli_text_is_told_from_json_by_content(snli):
    rows = [HEADER, text_row("entailment", '"A', "null", "1"), text_row("-", "NA", "", "2", labels=""), ""]
    assert [(p.id, p.first, p.second, p.gold, p.scored) for p in snli("\r\n".join(rows))] == [
        ("dev-1", '"A', "null", "entailment", True),
        ("dev-2", "NA", "", "-", False),
    ]


@pytest.mark.parametrize("text", ["n/a", "null", "NA", "nan", "", "None"])
def test_words_that_look_like_missing_values_are_sentences(snli, tmp_path, text):
    pairs = snli(record(sentence1=text))
    with open(tmp_path / "pairs.jsonl", "w", encoding="utf-8") as stream:
        write_pairs(stream, pairs)
    assert read_pairs(tmp_path / "pairs.jsonl")[0].first == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (record(gold_label="maybe"), r"line 1: unknown label 'maybe'; write entailment, neutral"),
        (record() + record(), r"line 2: pair id '7#1' stands in line 1 already"),
        (record(sentence2=None), r"line 1: no text under 'sentence2'"),
        (record(pairID=""), r"line 1: '' is no pair id"),
        (record(pairID="a\nb"), r"is no pair id"),
        (record() + '{"gold_label": "neu', r"line 2: not JSON .* cut off"),
        ("[" * 100_000, r"line 1: neither a JSON object nor a header"),
        (record() + "[1]\n", r"line 2: not a JSON object"),
        (record(sentence1="\ud83d"), r"line 1: half a surrogate pair"),
        ("A cat.\tA dog.\n", r"line 1: neither a JSON object nor a header with a column gold_label"),
        (HEADER + "\n" + text_row("neutral", "A\tB", "C", "1"), r"line 2: 15 columns, but the header has 14"),
        (HEADER + "\nneutral\tA\n", r"line 2: 2 columns, but the header has 14"),
    ],
)
def test_damaged_snli_is_refused_with_its_line(snli, text, message):
    with pytest.raises(BoveError, match=message):
        snli(text)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{}", "line 1: not a sentence pair"),
        ('{"id": 1}', "line 1: not a sentence pair"),
        ("nonsense", "line 1: not JSON"),
        ("[" * 100_000, "line 1: not JSON"),
        (
            '{"id": 1, "dataset": "d", "label": "l", "task": "similarity", "subset": "s", "first": "a", '
            '"second": "b", "gold": 1, "scored": true}',
            "line 1: a value of the wrong kind",
        ),
    ],
)
def test_a_damaged_pairs_file_is_refused(tmp_path, line, message):
    (tmp_path / "pairs.jsonl").write_text(line, encoding="utf-8")
    with pytest.raises(BoveError, match=message):
        read_pairs(tmp_path / "pairs.jsonl")


def test_a_pair_id_that_stands_twice_is_refused(tmp_path):
    pair = Pair("a-1", "d", "D", "similarity", "a", "x", "y", 1.0, True)
    with open(tmp_path / "pairs.jsonl", "w", encoding="utf-8") as stream:
        write_pairs(stream, [pair, pair])
    with pytest.raises(BoveError, match="line 2: pair id 'a-1' stands twice"):
        read_pairs(tmp_path / "pairs.jsonl")


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
scores = st.none() | st.floats(allow_nan=False, allow_infinity=False)
pair_lists = st.lists(
    st.builds(
        lambda name, first, second, gold: Pair(
            name, "d", "D", "similarity", "s", first, second, gold, gold is not None
        ),
        texts,
        texts,
        texts,
        scores,
    ),
    max_size=4,
    unique_by=lambda pair: pair.id,
)


@given(pair_lists)
def test_what_is_written_is_read_back(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("pairs") / "pairs.jsonl"
    with open(path, "w", encoding="utf-8", newline="\n") as stream:
        write_pairs(stream, pairs)
    assert read_pairs(path) == pairs


lines = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\ufeff"), max_size=8)


@given(st.lists(st.tuples(lines, lines, scores), min_size=1, max_size=5))
def test_sts_files_give_back_their_rows(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("sts")
    text, gold = io.StringIO(), io.StringIO()
    for first, second, score in rows:
        text.write(f"{first}\t{second}\n")
        gold.write("\n" if score is None else f"{score!r}\n")
    (folder / "i").write_text(text.getvalue(), encoding="utf-8", newline="")
    (folder / "g").write_text(gold.getvalue(), encoding="utf-8", newline="")
    pairs = read_sts(folder / "i", folder / "g", "d", "D", "s")
    assert [(p.first, p.second, p.gold) for p in pairs] == [
        (a.strip(" "), b.strip(" "), g) for a, b, g in rows
    ]
    assert all(p.gold is None or math.isfinite(p.gold) for p in pairs)
