"""Reading STS and SNLI files: what a sentence, a score and a label may be."""

import gzip
import json
import re

import pytest
from pair_forms import read_snli, read_sts

from bove.errors import BoveError
from bove.text.pairs import Pair, read_pairs, write_pairs


@pytest.fixture
def sts(tmp_path):
    def run(text, gold):
        (tmp_path / "input.txt").write_bytes(text if isinstance(text, bytes) else text.encode())
        (tmp_path / "gs.txt").write_bytes(gold if isinstance(gold, bytes) else gold.encode())
        return read_sts(tmp_path / "input.txt", tmp_path / "gs.txt")

    return run


@pytest.fixture
def snli(tmp_path):
    def run(text):
        (tmp_path / "snli").write_text(text, encoding="utf-8", newline="")
        return read_snli(tmp_path / "snli")

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
        ("#tag\t@user http://x.y/?a=b&c#d", "#tag", "@user http://x.y/?a=b&c#d"),
        ("Yes\tYes", "Yes", "Yes"),
        ("{\t}", "{", "}"),
        ('{"sentence1": "a"}\tb', '{"sentence1": "a"}', "b"),
        ("a\x00b\t\x00", "a\x00b", "\x00"),
        ("null\tNA", "null", "NA"),
        ("\t", "", ""),
    ],
)
def test_a_sentence_is_kept_as_it_is_but_for_spaces_around_it(sts, line, first, second):
    (pair,) = sts(line + "\n", "1\n")
    assert (pair.first, pair.second) == (first, second)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_line_ends_byte_order_marks_and_packing_do_not_matter(sts, pack):
    pairs = sts(pack("\ufeffa\tb\r\nc\td".encode()), pack("\ufeff4.40\r\n3.8".encode()))
    assert [(pair.first, pair.second, pair.gold) for pair in pairs] == [("a", "b", 4.4), ("c", "d", 3.8)]


def test_a_quotation_mark_that_is_never_closed_takes_no_line_with_it(sts):
    text = '"A\tB\nC\t"D\n"E "F\tG"\nH\tI\n'
    pairs = sts(text, "1\n2\n3\n4\n")
    assert [f"{pair.first}\t{pair.second}\n" for pair in pairs] == text.splitlines(keepends=True)


def test_a_byte_of_another_encoding_is_named_with_its_line(sts):
    with pytest.raises(BoveError, match=r"input.txt, line 2: byte 0xe9 is not utf-8; give the file"):
        sts(b"a\tb\ncaf\xe9\tb\n", "1\n2\n")


@pytest.mark.parametrize("gold", ["1\n", "1\n2\n3\n"])
def test_unequal_line_counts_are_both_named(sts, gold):
    with pytest.raises(BoveError, match=rf"input.txt has 2 lines, but .*gs.txt has {gold.count(chr(10))};"):
        sts("a\tb\nc\td\n", gold)


@pytest.mark.parametrize("text", ["a\tb\nonly one\n", "a\tb\n\n"])
def test_a_line_with_one_column_is_refused(sts, text):
    with pytest.raises(BoveError, match=r"input.txt, line 2: one column, but second is column 2; put '\\t'"):
        sts(text, "1\n2\n")


@pytest.mark.parametrize(
    "score", ["high", "nan", "inf", "1_0", "4,5", "1 2", "1e999", "٣", "0x1", "4\u00a0", "1\t2"]
)
def test_a_score_that_is_no_finite_number_is_refused(sts, score):
    with pytest.raises(BoveError, match=rf"gs.txt, line 2: {re.escape(repr(score))} is not a score"):
        sts("a\tb\nc\td\n", f"1\n{score}\n")


@pytest.mark.parametrize(
    ("text", "score"),
    [("4", 4), ("4.40", 4.4), (" 3.8\t", 3.8), ("-1", -1), ("50", 50), (".5", 0.5), ("2.", 2), ("1e-1", 0.1)],
)
def test_a_score_may_have_any_form_and_size(sts, text, score):
    assert [pair.gold for pair in sts("a\tb\nc\td\n", f"{text}\n\n")] == [score, None]


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
        (record(gold_label="maybe"), r"line 1: unknown label 'maybe'; known are '-', 'contradiction'"),
        (record() + record(), r"line 2: pair id '7#1' is in line 1 too"),
        (record(sentence2=None), r"line 1: no text under 'sentence2'"),
        (record(pairID=""), r"line 1: '' cannot be a pair id"),
        (record(pairID="a\nb"), r"cannot be a pair id"),
        (record() + '{"gold_label": "neu', r"line 2: not JSON .* cut off"),
        ("[" * 100_000, r"line 1: neither a JSON object nor a header"),
        (record() + "[1]\n", r"line 2: not a JSON object"),
        (record(sentence1="\ud83d"), r"line 1: half a surrogate pair"),
        ("A cat.\tA dog.\n", r"line 1: neither a JSON object nor a header with a column 'sentence1'; it has"),
        (HEADER + "\n" + text_row("neutral", "A\tB", "C", "1"), r"line 2: 15 columns, but the header has 14"),
        (HEADER + "\nneutral\tA\n", r"line 2: 2 columns, but id is column 9"),
    ],
)
def test_damaged_snli_is_refused_with_its_line(snli, text, message):
    with pytest.raises(BoveError, match=message):
        snli(text)


def test_a_part_of_snli_s_size_keeps_what_has_no_label_but_does_not_score_it(snli):
    """10,000 rows, 158 of them without a label, as SNLI's development part is said to have."""
    labels = ["-" if i % 63 == 62 else ("entailment", "neutral")[i % 2] for i in range(10_000)]
    pairs = snli("".join(record(pairID=str(i), gold_label=label) for i, label in enumerate(labels)))
    assert (len(pairs), sum(pair.scored for pair in pairs)) == (10_000, 9_842)
    assert [pair.gold for pair in pairs] == labels
