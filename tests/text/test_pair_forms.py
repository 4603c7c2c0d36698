"""Files of other data sets, read by what a configuration says of their columns."""

import json
from collections import Counter

import pytest
from pair_forms import form_of

from bove.errors import BoveError
from bove.text.pairs import LEFT_OUT, read_pair_file

NAMES = ("d", "D", "part")
LABELS = {"ENTAILMENT": "entailment", "NEUTRAL": "neutral", "CONTRADICTION": "contradiction"}
STS_B = {"columns": {"first": "6", "second": "7", "gold": "5"}}
SICK_R = {
    "columns": {
        "first": "sentence_A",
        "second": "sentence_B",
        "gold": "relatedness_score",
        "id": "pair_ID",
    }
}
SICK_E = {"columns": {**SICK_R["columns"], "gold": "entailment_label"}, "labels": LABELS}

# genre, file, year, id, score, two sentences, and in some rows their sources
STS_B_FILE = (
    "main-captions\tMSRvid\t2012test\t0001\t5.000\tA plane lands.\tThe plane is landing.\n"
    'main-forums\tdeft-forum\t2014\t0001\t2.40\t"Well, that\'s it.\tThat is "it".\n'
    "main-news\theadlines\t2015\t0190\t0\tRain in Rome\tSun in Oslo\tsource one\tsource two\n"
    "main-forums\tanswers\t2015\t0002\t3.8\t It may rain \tRain is likely\tsource one\n"
)
SICK_FILE = (
    "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tentailment_AB\tentailment_BA\t"
    "sentence_A_original\tsentence_B_original\tsentence_A_dataset\tsentence_B_dataset\tSemEval_set\r\n"
    "1\tA dog runs \tAn animal runs\tENTAILMENT\t4.5\tA_entail\tB_neutral\tDog\tDog\tFLICKR\tFLICKR\tTEST\r\n"
    "2\tA dog runs\tNo dog runs\tCONTRADICTION\t3\tA_contr\tB_contr\tDog\tDog\tFLICKR\tFLICKR\tTRIAL\r\n"
    "9\tA boy sings\tA girl eats\tNEUTRAL\t1.165\tA_neutral\tB_neutral\tBoy\tGirl\tSEMEVAL\tSEMEVAL\tTEST\r\n"
)
MULTINLI_HEADER = (
    "gold_label\tsentence1_binary_parse\tsentence2_binary_parse\tsentence1_parse\tsentence2_parse\tsentence1\t"
    "sentence2\tpromptID\tpairID\tgenre\tlabel1\tlabel2\tlabel3\tlabel4\tlabel5"
)


@pytest.fixture
def read(tmp_path):
    def run(text, task, where=None, counts=None, gold=None, **keys):
        (tmp_path / "file").write_bytes(text if isinstance(text, bytes) else text.encode())
        if gold is not None:
            (tmp_path / "gold").write_text(gold, encoding="utf-8", newline="")
        gold_path = None if gold is None else tmp_path / "gold"
        return read_pair_file(tmp_path / "file", form_of(task, **keys), NAMES, gold_path, where, counts)

    return run


def triples(pairs):
    return [(pair.first, pair.second, pair.gold) for pair in pairs]


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


def test_one_file_of_sick_serves_both_tasks(read):
    test = {"SemEval_set": "TEST"}
    assert triples(read(SICK_FILE, "similarity", test, **SICK_R)) == [
        ("A dog runs", "An animal runs", 4.5),
        ("A boy sings", "A girl eats", 1.165),
    ]
    pairs = read(SICK_FILE, "entailment", test, **SICK_E)
    assert [(pair.id, pair.gold, pair.scored) for pair in pairs] == [
        ("part-1", "entailment", True),
        ("part-9", "neutral", True),
    ]


def test_multinli_is_read_like_snli_from_text_and_from_json_lines(read):
    rows = [("entailment", " He left.", "He's gone.", "7e"), ("-", "null", "n/a", "8n")]
    text = MULTINLI_HEADER + "".join(
        f"\n{label}\t( x )\t( x )\t(R x)\t(R x)\t{one}\t{two}\t7\t{name}\tfiction\t{label}"
        for label, one, two, name in rows
    )
    records = [
        {"annotator_labels": [], "genre": "fiction", "gold_label": label, "pairID": name}
        | {"promptID": "7", "sentence1": one, "sentence2": two}
        for label, one, two, name in rows
    ]
    from_text = read(text, "entailment")
    from_json = read("\n".join(map(json.dumps, records)), "entailment")
    assert [pair.first for pair in from_text] == ["He left.", "null"]
    assert [pair.first for pair in from_json] == [" He left.", "null"], "text in JSON is taken as it is"
    for pairs in (from_text, from_json):
        assert [(p.id, p.second, p.gold, p.scored) for p in pairs] == [
            ("part-7e", "He's gone.", "entailment", True),
            ("part-8n", "n/a", "-", False),
        ]


def test_labels_mean_what_the_configuration_says(read):
    labels = {"1": "entailment", "0": "other", "": "-", "?": "-"}
    columns = {"first": "1", "second": "2", "gold": "3"}
    pairs = read("a\tb\t1\na\tb\t0\na\tb\t?\na\tb\t\n", "entailment", columns=columns, labels=labels)
    assert [(pair.gold, pair.scored) for pair in pairs] == [
        ("entailment", True),
        ("other", True),
        ("-", False),
        ("-", False),
    ]


def test_labels_may_stand_in_a_file_of_their_own(read):
    columns = {"first": "1", "second": "2"}
    pairs = read("a\tb\nc\td\n", "entailment", gold="NEUTRAL\r\nENTAILMENT", columns=columns, labels=LABELS)
    assert triples(pairs) == [("a", "b", "neutral"), ("c", "d", "entailment")]


def test_json_lines_may_hold_numbers_as_gold_and_id_and_null_as_no_score(read):
    columns = {"first": "a", "second": "b", "gold": "score", "id": "no"}
    lines = '{"no": 7, "a": "x", "b": "y", "score": 3.50}\n{"no": 8, "a": "x", "b": "y", "score": null}\n'
    pairs = read(lines, "similarity", {"a": "x"}, columns=columns)
    assert [(pair.id, pair.gold, pair.scored) for pair in pairs] == [
        ("part-7", 3.5, True),
        ("part-8", None, False),
    ]


@pytest.mark.parametrize("header", [None, True])
def test_a_header_is_told_by_a_name_or_by_the_configuration(read, header):
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
        ("a\tb\n", "similarity", STS_B, "file, line 1: 2 columns, but second is column 7"),
        (
            SICK_FILE.replace("NEUTRAL", "Neutral"),
            "entailment",
            SICK_E,
            "file, line 4: unknown label 'Neutral'; known are 'CONTRADICTION', 'ENTAILMENT', 'NEUTRAL'",
        ),
        (
            SICK_FILE.replace("relatedness", "score"),
            "similarity",
            SICK_R,
            "line 1: neither .*'relatedness_",
        ),
        (SICK_FILE.replace("4.5", "4,5"), "similarity", SICK_R, "file, line 2: '4,5' is not a score"),
        (
            SICK_FILE.replace("9\tA", "1\tA"),
            "similarity",
            SICK_R,
            "line 4: pair id '1' is in line 2",
        ),
        ("sentence_A\t" + SICK_FILE, "similarity", SICK_R, "line 1: two columns are named 'sentence_A'"),
        (SICK_FILE + "10\tA\tB\tC", "similarity", SICK_R, "file, line 5: 4 columns, but gold is column 5"),
        ('{"a": 1}', "similarity", SICK_R, "line 1: no key 'sentence_A'; it has 'a'"),
        ('{"sentence_A": "a", "sentence_A": "b"}', "similarity", SICK_R, "key 'sentence_A' stands twice"),
        (
            '{"a": "x", "b": 2, "c": 1}',
            "similarity",
            {"columns": {"first": "a", "second": "b", "gold": "c"}},
            "line 1: no text under 'b'",
        ),
        (
            '{"a": "x", "b": "y", "c": true}',
            "similarity",
            {"columns": {"first": "a", "second": "b", "gold": "c"}},
            "line 1: no text under 'c'",
        ),
        (
            '{"a": "x"}',
            "similarity",
            {"columns": {"first": "a", "second": "2", "gold": "c"}},
            "holds JSON lines, but second is column 2",
        ),
    ],
)
def test_a_file_that_is_not_as_described_is_refused_with_its_line(read, text, task, keys, message):
    with pytest.raises(BoveError, match=message):
        read(text, task, **keys)


def test_a_choice_that_no_row_meets_says_what_there_is(read):
    with pytest.raises(BoveError, match=r"no row has SemEval_set = 'DEV'; SemEval_set is 'TEST', 'TRIAL': "):
        read(SICK_FILE, "similarity", {"SemEval_set": "DEV"}, **SICK_R)


def test_what_is_left_out_needs_no_gold(read):
    columns = {"first": "1", "second": "2", "gold": "4"}
    pairs = read("a\tb\tx\thidden\na\tb\ty\t1\n", "similarity", {"3": "y"}, columns=columns)
    assert [pair.gold for pair in pairs] == [1.0]


def test_the_default_of_columns_depends_on_the_task():
    assert form_of("similarity").columns == {"first": "1", "second": "2"}
    assert form_of("entailment").columns == {
        "first": "sentence1",
        "second": "sentence2",
        "gold": "gold_label",
        "id": "pairID",
    }
    assert form_of("entailment", columns=STS_B["columns"]).columns == STS_B["columns"], (
        "given ones replace all"
    )
