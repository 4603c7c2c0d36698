"""Files of sentence pairs in any layout, pairs.jsonl, and trees that a user brings."""

import gzip
import json
import re
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pair_forms import form_of

from bove.errors import BoveError
from bove.text.pairs import LEFT_OUT, Pair, match_parses, read_pair_file, read_pairs, write_pairs

NAMES = ("d", "D", "part")
LABELS = {"ENTAILMENT": "entailment", "NEUTRAL": "neutral", "CONTRADICTION": "contradiction"}
STS_B = {"columns": {"first": "6", "second": "7", "gold": "5"}}
SICK_COLUMNS = {"first": "sentence_A", "second": "sentence_B", "id": "pair_ID"}
SICK_R = {"columns": SICK_COLUMNS | {"gold": "relatedness_score"}}
SICK_E = {"columns": SICK_COLUMNS | {"gold": "entailment_label"}, "labels": LABELS}
KEYED = {"columns": {"first": "a", "second": "b", "gold": "c"}}

# genre, file, year, id, score, two sentences, and in some rows their sources
STS_B_FILE = (
    "main-captions\tMSRvid\t2012test\t0001\t5.000\tA plane lands.\tThe plane is landing.\n"
    'main-forums\tdeft-forum\t2014\t0001\t2.40\t"Well, that\'s it.\tThat is "it".\n'
    "main-news\theadlines\t2015\t0190\t0\tRain in Rome\tSun in Oslo\tsource one\tsource two\n"
    "main-forums\tanswers\t2015\t0002\t3.8\t It may rain \tRain is likely\tsource one\n"
)
SICK_FILE = (
    "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tentailment_AB\tSemEval_set\r\n"
    "1\tA dog runs \tAn animal runs\tENTAILMENT\t4.5\tA_entail\tTEST\r\n"
    "2\tA dog runs\tNo dog runs\tCONTRADICTION\t3\tA_contr\tTRIAL\r\n"
    "9\tA boy sings\tA girl eats\tNEUTRAL\t1.165\tA_neutral\tTEST\r\n"
)
HEADER = (
    "gold_label\tsentence1_binary_parse\tsentence2_binary_parse\tsentence1_parse\tsentence2_parse\tsentence1\t"
    "sentence2\tpromptID\tpairID\tgenre\tlabel1\tlabel2\tlabel3\tlabel4\tlabel5"
)


@pytest.fixture
def read(tmp_path):
    def run(text, task, where=None, counts=None, gold=None, **keys):
        for name, content in (("input", text), ("gold", gold)):
            if content is not None:
                (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        gold_path = None if gold is None else tmp_path / "gold"
        return read_pair_file(tmp_path / "input", form_of(task, **keys), NAMES, gold_path, where, counts)

    return run


def triples(pairs):
    return [(pair.first, pair.second, pair.gold) for pair in pairs]


def record(**changes):
    values = {"gold_label": "neutral", "sentence1": "A.", "sentence2": "B.", "pairID": "7#1"}
    return json.dumps(values | changes) + "\n"


def row(label, first, second, name, more="\tneutral\t\t\t\t"):
    return f"{label}\t( A )\t( B )\t(R A)\t(R B)\t{first}\t{second}\t7\t{name}\tfiction{more}"


def test_a_line_is_a_pair_and_a_blank_score_is_none(read):
    pairs = read("A cat.\tA dog.\nOne\tTwo\nx\ty\n", "similarity", gold="4\n\n0.25\n")
    assert pairs[0] == Pair("part-00001", "d", "D", "similarity", "part", "A cat.", "A dog.", 4.0, True)
    found = [(pair.id, pair.gold, pair.scored) for pair in pairs[1:]]
    assert found == [("part-00002", None, False), ("part-00003", 0.25, True)]


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
        ('{"sentence1": "a"}\t}', '{"sentence1": "a"}', "}"),
        ("a\x00b\t\x00", "a\x00b", "\x00"),
        ("null\tNA", "null", "NA"),
        ("\t", "", ""),
    ],
)
def test_a_sentence_is_kept_as_it_is_but_for_spaces_around_it(read, line, first, second):
    (pair,) = read(line + "\n", "similarity", gold="1\n")
    assert (pair.first, pair.second) == (first, second)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_line_ends_byte_order_marks_and_packing_do_not_matter(read, pack):
    gold = pack("\ufeff4.40\r\n3.8".encode())
    pairs = read(pack("\ufeffa\tb\r\nc\td".encode()), "similarity", gold=gold)
    assert triples(pairs) == [("a", "b", 4.4), ("c", "d", 3.8)]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("a\tb\na dog\truns\ta cat runs\nc\td\n", 2, "3 columns, but most rows have 2 (1 of 3 rows"),
        (
            "a\tb\tx\ty\n" * 5 + "a b\tx\ty\na\tb\tc\tx\ty\n",
            6,
            "3 columns, but most rows have 4 (2 of 7 rows",
        ),
        ("a\tb\nab\nc\td\n", 2, "one column, but most rows have 2 (1 of 3 rows"),
    ],
)
def test_all_rows_beside_a_file_of_gold_have_the_width_of_most(read, text, line, said):
    with pytest.raises(BoveError, match=re.escape(f"input, line {line}: {said} do not): repair them")):
        read(text, "similarity", gold="1\n" * text.count("\n"))


@pytest.mark.parametrize(
    "text", ["a\tb\t\nc\td\ne\t\n", "a\tb\t\t\nc\td\tx\ty\ne\t\t\t\n", "a\tb\tx\nc\td\t\ne\t\t\n"]
)
def test_empty_columns_at_the_end_of_a_row_do_not_matter(read, text):
    assert triples(read(text, "similarity", gold="1\n1\n1\n")) == [("a", "b", 1), ("c", "d", 1), ("e", "", 1)]


def test_a_quotation_mark_that_is_never_closed_takes_no_line_with_it(read):
    text = '"A\tB\nC\t"D\n"E "F\tG"\nH\tI\n'
    pairs = read(text, "similarity", gold="1\n2\n3\n4\n")
    assert "".join(f"{pair.first}\t{pair.second}\n" for pair in pairs) == text


@pytest.mark.parametrize(
    "score", ["high", "nan", "inf", "1_0", "4,5", "1 2", "1e999", "٣", "0x1", "4\u00a0", "1\t2"]
)
def test_a_score_that_is_not_a_finite_number_is_refused(read, score):
    with pytest.raises(BoveError, match=rf"gold, line 2: {re.escape(repr(score))} is not a score"):
        read("a\tb\nc\td\n", "similarity", gold=f"1\n{score}\n")


@pytest.mark.parametrize(
    ("text", "score"),
    [("4", 4), ("4.40", 4.4), (" 3.8\t", 3.8), ("-1", -1), ("50", 50), (".5", 0.5), ("2.", 2), ("1e-1", 0.1)],
)
def test_a_score_may_have_any_form_and_size(read, text, score):
    assert [pair.gold for pair in read("a\tb\nc\td\n", "similarity", gold=f"{text}\n\n")] == [score, None]


def test_snli_is_read_from_json_lines_and_from_text_by_content(read):
    text = [HEADER, row("entailment", ' "A', "null", "7#1"), row("-", "NA", "", "8", more=""), ""]
    lines = record(gold_label="entailment", sentence1=' "A', sentence2="null") + "\n"
    lines += record(gold_label="-", sentence1="NA", sentence2="", pairID="8")
    from_text, from_json = read("\r\n".join(text), "entailment"), read(lines, "entailment")
    assert (from_text[0].first, from_json[0].first) == ('"A', ' "A'), "text in JSON is taken as it is"
    for pairs in (from_text, from_json):
        assert [(p.id, p.second, p.gold, p.scored) for p in pairs] == [
            ("part-7#1", "null", "entailment", True),
            ("part-8", "", "-", False),
        ]


@pytest.mark.parametrize("text", ["n/a", "null", "NA", "nan", "", "None"])
def test_words_that_look_like_missing_values_are_sentences(read, tmp_path, text):
    with open(tmp_path / "pairs.jsonl", "w", encoding="utf-8") as stream:
        write_pairs(stream, read(record(sentence1=text), "entailment"))
    assert read_pairs(tmp_path / "pairs.jsonl")[0].first == text


def test_a_part_of_snli_s_size_keeps_what_has_no_label_but_does_not_score_it(read):
    """10,000 rows, 158 of them without a label, as SNLI's development part is said to have."""
    labels = ["-" if i % 63 == 62 else ("entailment", "neutral")[i % 2] for i in range(10_000)]
    text = "".join(record(pairID=str(i), gold_label=label) for i, label in enumerate(labels))
    pairs = read(text, "entailment")
    assert (len(pairs), sum(pair.scored for pair in pairs)) == (10_000, 9_842)
    assert [pair.gold for pair in pairs] == labels


def test_the_sts_benchmark_has_numbered_columns_in_ragged_rows(read):
    pairs = read(STS_B_FILE, "similarity", **STS_B)
    assert triples(pairs) == [
        ("A plane lands.", "The plane is landing.", 5.0),
        ("\"Well, that's it.", 'That is "it".', 2.4),
        ("Rain in Rome", "Sun in Oslo", 0.0),
        ("It may rain", "Rain is likely", 3.8),
    ]
    assert [pair.id for pair in pairs] == [f"part-{line:05d}" for line in (1, 2, 3, 4)]


def test_rows_are_chosen_by_a_column_and_the_others_counted(read):
    counts = Counter()
    pairs = read(STS_B_FILE, "similarity", {"1": "main-forums"}, counts, **STS_B)
    assert [pair.id for pair in pairs] == ["part-00002", "part-00004"], "named by their lines in the file"
    assert counts == {LEFT_OUT: 2}
    both = read(STS_B_FILE, "similarity", {"1": "main-forums", "3": "2014"}, **STS_B)
    assert [pair.first for pair in both] == ["\"Well, that's it."]
    with pytest.raises(BoveError, match=r"no row has SemEval_set = 'DEV'; SemEval_set is 'TEST', 'TRIAL': "):
        read(SICK_FILE, "similarity", {"SemEval_set": "DEV"}, **SICK_R)
    columns = {"first": "1", "second": "2", "gold": "4"}
    pairs = read("a\tb\tx\thidden\na\tb\ty\t1\n", "similarity", {"3": "y"}, columns=columns)
    assert [pair.gold for pair in pairs] == [1.0], "what is left out needs no gold"


def test_one_file_of_sick_serves_both_tasks(read):
    test = {"SemEval_set": "TEST"}
    assert triples(read(SICK_FILE, "similarity", test, **SICK_R)) == [
        ("A dog runs", "An animal runs", 4.5),
        ("A boy sings", "A girl eats", 1.165),
    ]
    pairs = read(SICK_FILE, "entailment", test, **SICK_E)
    assert [(pair.id, pair.gold) for pair in pairs] == [("part-1", "entailment"), ("part-9", "neutral")]


def test_spaces_around_the_names_of_a_header_do_not_matter(read):
    assert triples(read("a \tb\t c\nx\ty\t1\n", "similarity", **KEYED)) == [("x", "y", 1.0)]


def test_labels_mean_what_the_configuration_says(read):
    labels = {"1": "entailment", "0": "other", "": "-", "?": "-"}
    columns = {"first": "1", "second": "2", "gold": "3"}
    pairs = read("a\tb\t1\na\tb\t0\na\tb\t?\na\tb\t\n", "entailment", columns=columns, labels=labels)
    assert [pair.gold for pair in pairs] == ["entailment", "other", "-", "-"]
    assert [pair.scored for pair in pairs] == [True, True, False, False]
    columns = {"first": "1", "second": "2"}
    pairs = read("a\tb\nc\td\n", "entailment", gold="NEUTRAL\r\nENTAILMENT", columns=columns, labels=LABELS)
    assert triples(pairs) == [("a", "b", "neutral"), ("c", "d", "entailment")]


def test_json_lines_may_hold_numbers_as_gold_and_id_and_null_as_no_score(read):
    columns = {"first": "a", "second": "b", "gold": "score", "id": "no"}
    lines = '{"no": 7, "a": "x", "b": "y", "score": 3.50}\n{"no": 8, "a": "x", "b": "y", "score": null}\n'
    pairs = read(lines, "similarity", {"a": "x"}, columns=columns)
    assert [(pair.id, pair.gold) for pair in pairs] == [("part-7", 3.5), ("part-8", None)]


@pytest.mark.parametrize("header", [None, True])
def test_there_is_a_header_where_a_column_is_named_or_the_configuration_says_so(read, header):
    columns = {"first": "1", "second": "2", "gold": "3" if header else "score"}
    pairs = read("one\ttwo\tscore\nx\ty\t1\n", "similarity", columns=columns, header=header)
    assert [(pair.id, pair.first, pair.gold) for pair in pairs] == [("part-00002", "x", 1.0)]


def test_another_separator_and_another_encoding(read):
    columns = {"first": "1", "second": "2", "gold": "4"}
    text = 'caf\u00e9 | "a\tb|c" | 2\n'.encode("latin-1")
    [pair] = read(text, "similarity", columns=columns, separator="|", encoding="latin-1")
    assert (pair.first, pair.second, pair.gold) == ("caf\u00e9", '"a\tb', 2.0)


@pytest.mark.parametrize(
    ("text", "task", "keys", "message"),
    [
        (b"a\tb\ncaf\xe9\tb\n", "similarity", {"gold": "1\n2\n"}, "line 2: byte 0xe9 is not utf-8"),
        ("a\tb\nc\td\n", "similarity", {"gold": "1\n"}, "input has 2 lines, but .*gold has 1;"),
        ("a\tb\nc\td\n", "similarity", {"gold": "1\n2\n3\n"}, "input has 2 lines, but .*gold has 3;"),
        ("a\tb\none\n", "similarity", {"gold": "1\n2\n"}, "line 2: one column, but most rows"),
        ("a\tb\n\n", "similarity", {"gold": "1\n2\n"}, "line 2: one column, but most rows have 2"),
        ("a\tb\n", "similarity", STS_B, "line 1: 2 columns, but second is column 7"),
        (
            SICK_FILE.replace("NEUTRAL", "No"),
            "entailment",
            SICK_E,
            "line 4: unknown label 'No'; .* 'NEUTRAL'",
        ),
        (SICK_FILE.replace("relat", "x"), "similarity", SICK_R, "line 1: neither .*'relatedness_score'"),
        (SICK_FILE.replace("4.5", "4,5"), "similarity", SICK_R, "line 2: '4,5' is not a score"),
        (SICK_FILE.replace("9\tA", "1\tA"), "similarity", SICK_R, "line 4: pair id '1' is in line 2"),
        ("sentence_A\t" + SICK_FILE, "similarity", SICK_R, "line 1: two columns are named 'sentence_A'"),
        (SICK_FILE + "10\tA\tB\tC", "similarity", SICK_R, "line 5: 4 columns, but gold is column 5"),
        ('{"a": 1}', "similarity", SICK_R, "line 1: no key 'sentence_A'; it has 'a'"),
        ('{"a": "a", "a": "b"}', "similarity", KEYED, "key 'a' "),
        ('{"a": "x", "b": 2, "c": 1}', "similarity", KEYED, "line 1: no text under 'b'"),
        ('{"a": "x", "b": "y", "c": true}', "similarity", KEYED, "line 1: no text under 'c'"),
        ('{"a": 1}', "similarity", {"columns": {"first": "a", "second": "2", "gold": "c"}}, "second is col"),
        (record(gold_label="maybe"), "entailment", {}, "line 1: unknown label 'maybe'; known are '-', 'con"),
        (record() + record(), "entailment", {}, "line 2: pair id '7#1' is in line 1 too"),
        (record(sentence2=None), "entailment", {}, "line 1: no text under 'sentence2'"),
        (record(pairID=""), "entailment", {}, "line 1: '' cannot be a pair id"),
        (record(pairID="a\nb"), "entailment", {}, "cannot be a pair id"),
        (record() + '{"gold_label": "neu', "entailment", {}, "line 2: not JSON .* cut off"),
        ("[" * 100_000, "entailment", {}, "line 1: neither a JSON object nor a header"),
        (record() + "[1]\n", "entailment", {}, "line 2: not a JSON object"),
        (record(sentence1="\ud83d"), "entailment", {}, "line 1: half a surrogate pair"),
        (
            record(sentence1="A\ufeff."),
            "entailment",
            {},
            "line 1: an invisible byte order mark, U.FEFF, in 'A",
        ),
        ("A cat.\tA dog.\n", "entailment", {}, "line 1: neither a JSON .* a column 'sentence1'; it has"),
        (HEADER + "\n" + row("neutral", "A\tB", "C", "1"), "entailment", {}, "line 2: 16 .* header has 15"),
        (HEADER + "\nneutral\tA\n", "entailment", {}, "line 2: 2 columns, but id is column 9"),
    ],
)
def test_a_file_that_is_not_as_described_is_refused_with_its_line(read, text, task, keys, message):
    with pytest.raises(BoveError, match=message):
        read(text, task, **keys)


def test_the_default_of_columns_depends_on_the_task():
    assert form_of("similarity").columns == {"first": "1", "second": "2"}
    usual = {"first": "sentence1", "second": "sentence2", "gold": "gold_label", "id": "pairID"}
    assert form_of("entailment").columns == usual
    assert form_of("entailment", **STS_B).columns == STS_B["columns"], "given ones replace all"


SOUND = (
    '{"id": "a-1", "dataset": "d", "label": "l", "task": "similarity", "subset": "a", "first": "x", '
    '"second": "y", "gold": 1.5, "scored": true}'
)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{}", "line 1: not a sentence pair"),
        ("nonsense", "line 1: not JSON"),
        ("[" * 100_000, "line 1: not JSON"),
        ('{"id": "a", "id": "b"}', "line 1: key 'id' "),
        (SOUND.replace('"x"', "null"), "line 1: a value of the wrong kind"),
        (f"{SOUND}\n{SOUND}", "line 2: pair id 'a-1' is repeated"),
    ],
)
def test_a_damaged_pairs_file_is_refused(tmp_path, line, message):
    path = tmp_path / "pairs.jsonl"
    path.write_text(SOUND, encoding="utf-8")
    assert read_pairs(path) == [Pair("a-1", "d", "l", "similarity", "a", "x", "y", 1.5, True)]
    path.write_text(line, encoding="utf-8")
    with pytest.raises(BoveError, match=message):
        read_pairs(path)


TREE = "1\tx\t_\tX\tX\t_\t0\troot\t_\t_\n"


@pytest.fixture
def own(tmp_path):
    """A file whose lines end in two carriage returns and a line feed, as some programs leave them."""

    def write(text):
        (tmp_path / "own").write_bytes(text.replace("\n", "\r\r\n").encode())
        return tmp_path / "own"

    return write


def test_the_first_comments_before_a_tree_are_its_id_and_text(own):
    path = own(f"# sent_id = a\n# sent_id = b\n# text = other\n{TREE}# text = x\n\n")
    assert [tree.id for tree in match_parses(path, ["a"], ["other"])] == ["a"]
    with pytest.raises(BoveError, match="line 3: the tree a is of 'other', but the sentence is 'x'"):
        list(match_parses(path, ["a"], ["x"]))


def test_an_id_keeps_spaces_that_are_not_ascii_and_a_text_is_compared_without(own):
    path = own(f"#\u00a0sent_id = no\n#  sent_id\t=  a\u00a0  \n# text = x y\n{TREE}\n\n")
    assert [tree.id for tree in match_parses(path, ["a\u00a0"], ["x\u00a0 y\n"])] == ["a\u00a0"]
    with pytest.raises(BoveError, match="no tree has sent_id a "):
        list(match_parses(path, ["a"], ["x y"]))


# What is written is read back.
NUMBERED = {"columns": {"first": "4", "second": "2", "gold": "1"}}
NAMED = {"columns": {"first": "a", "second": "b c", "gold": "g", "id": "#"}}
MEANINGS = {"labels": {"E": "entailment", "N/A": "neutral", "nan": "no", "?": "-"}}
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\ufeff"), max_size=8)
scores = st.none() | st.floats(allow_nan=False, allow_infinity=False)
ids = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=5)
labels = st.sampled_from(list(MEANINGS["labels"]))


def labelled(side):
    """Rows of two sides, a label and an id of their own."""
    return st.lists(st.tuples(side, side, labels, ids), min_size=1, max_size=5, unique_by=lambda row: row[3])


def written(score):
    return "" if score is None else repr(score)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("pairs") / "file"


@given(st.lists(st.tuples(cells, cells, scores, cells), min_size=1, max_size=5))
@example([('"a', 'b" "', 4.0, ""), ("\x85\u2028", "\x0b\x0c\x1c\x00", None, "")])
def test_lines_with_a_file_of_scores_and_numbered_columns(path, rows):
    gold, numbered = path.with_name("gold"), path.with_name("numbered")
    path.write_text("".join(f"{a}\t{b}\n" for a, b, *_ in rows), encoding="utf-8", newline="")
    gold.write_text("".join(f"{written(g)}\n" for _, _, g, _ in rows), encoding="utf-8", newline="")
    lines = "".join(f"{written(g)}\t{b}\t{x}\t{a}\r\n" for a, b, g, x in rows)
    numbered.write_text(lines, encoding="utf-8", newline="")
    pairs = read_pair_file(path, form_of("similarity"), NAMES, gold)
    assert triples(pairs) == [(a.strip(" "), b.strip(" "), g) for a, b, g, _ in rows]
    assert triples(read_pair_file(numbered, form_of("similarity", **NUMBERED), NAMES)) == triples(pairs)


@given(labelled(cells))
def test_columns_named_by_a_header(path, rows):
    text = "#\tg\ta\tb c\n" + "".join(f"{i}\t{g}\t{a}\t{b}\n" for a, b, g, i in rows)
    path.write_text(text, encoding="utf-8", newline="")
    pairs = read_pair_file(path, form_of("entailment", **NAMED, **MEANINGS), NAMES)
    assert triples(pairs) == [(a.strip(" "), b.strip(" "), MEANINGS["labels"][g]) for a, b, g, _ in rows]
    assert [(pair.id, pair.scored) for pair in pairs] == [(f"part-{i}", g != "?") for _, _, g, i in rows]


@given(labelled(texts), st.booleans())
def test_json_lines(path, rows, escaped):
    records = [{"a": a, "b c": b, "g": g, "#": i, "more": [None, {"a": 1}]} for a, b, g, i in rows]
    text = "".join(json.dumps(record, ensure_ascii=escaped) + "\n" for record in records)
    path.write_text(text, encoding="utf-8", newline="")
    pairs = read_pair_file(path, form_of("entailment", **NAMED, **MEANINGS), NAMES)
    assert triples(pairs) == [(a, b, MEANINGS["labels"][g]) for a, b, g, _ in rows]


@given(st.lists(st.tuples(texts, texts, texts, scores), min_size=1, max_size=4, unique_by=lambda row: row[0]))
def test_pairs_of_a_run(path, rows):
    pairs = [Pair(i, "d", "D", "similarity", "s", a, b, gold, gold is not None) for i, a, b, gold in rows]
    with open(path, "w", encoding="utf-8", newline="\n") as stream:
        write_pairs(stream, pairs)
    assert read_pairs(path) == pairs
