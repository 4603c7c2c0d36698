"""The files of the built-in corpus are well-formed and say what they should."""

import json
from collections import Counter
from types import SimpleNamespace

import pytest
from pair_forms import read_snli, read_sts

from bove.demo.corpus import write
from bove.demo.nouns import words
from bove.demo.pairs import GOLD, SETS
from bove.demo.tree import detokenise
from bove.text.conll import read_sentences
from bove.text.tokens import find_conventions, tokenise

# of the CoNLL-2008 and 2009 shared tasks
LABELS = set(
    words(
        "ADV AMOD APPO BNF CONJ COORD DEP DIR DTV EXT EXTR HMOD HYPH IM LGS LOC MNR NAME NMOD OBJ OPRD P "
        "PMOD POSTHON PRD PRN PRP PRT PUT ROOT SBJ SUB SUFFIX TITLE TMP VC VOC"
    )
)
TAGS = set(
    words(
        "CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH VB VBD "
        "VBG VBN VBP VBZ WDT WP WP$ WRB $ , . : `` ''"
    )
)
SENTENCES = 300


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    root = tmp_path_factory.mktemp("corpus")
    write(root, seed=7, sentences=SENTENCES)
    return root


@pytest.fixture(scope="module")
def blocks(corpus):
    """The rows of each training sentence, as lists of columns."""
    text = (corpus / "treebank/train.conll09").read_text(encoding="utf-8")
    return [[row.split("\t") for row in block.split("\n")] for block in text.strip().split("\n\n")]


def lines(path):
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def test_sizes_follow_the_number_of_sentences(corpus, blocks):
    assert len(blocks) == SENTENCES
    assert len(list(read_sentences(corpus / "treebank/dev.conll09"))) == 200
    assert len(lines(corpus / "raw.txt")) == 5 * SENTENCES
    assert [len(lines(corpus / f"sts/STS.input.{name}.txt")) for name in SETS] == [250] * 6
    assert [len(lines(corpus / f"snli/{part}.jsonl")) for part in ("dev", "test")] == [600, 600]


def test_every_row_has_one_column_a_predicate_and_predicted_columns_repeat_gold(blocks):
    for rows in blocks:
        predicates = [row for row in rows if row[12] == "Y"]
        assert {len(row) for row in rows} == {14 + len(predicates)}
        assert [row[0] for row in rows] == [str(i) for i in range(1, len(rows) + 1)]
        for row in rows:
            assert row[2:12:2] == row[3:12:2] and row[6] == "_"
            assert (row[12], row[13]) == ("_", "_") or (row[12] == "Y" and row[13] == f"{row[2]}.01")


def test_predicates_are_verbs_and_nearly_all_have_arguments(blocks):
    roles = Counter()
    for rows in blocks:
        predicates = [row for row in rows if row[12] == "Y"]
        assert all(row[4].startswith("VB") for row in predicates)
        for p, predicate in enumerate(predicates):
            column = [row[14 + p] for row in rows]
            assert predicate[14 + p] == "_" and column.count("A0") < 2 and column.count("A1") < 2
            roles.update(column)
    assert {"A0", "A1", "A2", "AM-LOC", "AM-TMP", "AM-MNR", "AM-DIR", "AM-NEG", "AM-MOD", "R-A0"} < set(roles)
    assert roles["A0"] + roles["A1"] > 1.5 * sum(len([r for r in rows if r[12] == "Y"]) for rows in blocks)


def test_trees_have_one_root_no_cycle_no_crossing_and_the_task_s_labels(blocks):
    for rows in blocks:
        heads = [int(row[8]) for row in rows]
        assert heads.count(0) == 1
        assert {row[10] for row in rows if row[8] == "0"} == {"ROOT"}
        assert {row[10] for row in rows} <= LABELS and {row[4] for row in rows} <= TAGS
        for i in range(1, len(heads) + 1):
            node, steps = i, 0
            while node:
                node, steps = heads[node - 1], steps + 1
                assert steps <= len(heads), "cycle"
        spans = [(min(i, h), max(i, h)) for i, h in enumerate(heads, 1)]
        assert not any(a < c < b < d for a, b in spans for c, d in spans)


def test_nearly_every_label_and_tag_of_the_task_is_used(blocks):
    labels = {row[10] for rows in blocks for row in rows}
    assert LABELS - labels <= {"BNF", "EXTR", "HMOD", "HYPH", "POSTHON", "PRN", "PUT", "VOC"}
    tags = {row[4] for rows in blocks for row in rows}
    assert {"NN", "NNS", "NNP", "VBZ", "VBD", "VBN", "VBG", "VB", "MD", "POS", "WP", "EX", "CD", "$"} <= tags


def test_the_project_reads_the_treebank_without_a_complaint(corpus, blocks):
    counts = Counter()
    sentences = list(read_sentences(corpus / "treebank/train.conll09", counts=counts, strict=True))
    assert not counts
    assert [s.forms for s in sentences] == [tuple(row[1] for row in rows) for rows in blocks]


def test_text_can_be_divided_into_the_treebank_s_tokens_again(corpus, blocks):
    forms = [[row[1] for row in rows] for rows in blocks]
    conventions = find_conventions(forms, tokenise)

    different = 0
    for sentence in forms:
        text = detokenise(tuple(SimpleNamespace(form=form) for form in sentence))
        assert "  " not in text and " ." not in text and " ," not in text
        found = conventions.write(tokenise(text, conventions))
        # a full stop that an abbreviation has already does not stand twice in text
        abbreviated = sentence[-1] == "." and sentence[-2].endswith(".")
        expected = sentence[:-1] if abbreviated else sentence
        different += found != expected
    assert different == 0


def test_raw_text_is_other_sentences_of_the_same_words(corpus, blocks):
    raw = lines(corpus / "raw.txt")
    assert all(line == line.strip() and "  " not in line for line in raw)
    known = {word for line in raw for word in line.split()}
    tokens = [row[1] for rows in blocks for row in rows[1:]]
    assert sum(token in known for token in tokens) > 0.94 * len(tokens)
    tested = {
        t for name in SETS for line in lines(corpus / f"sts/STS.input.{name}.txt") for t in line.split("\t")
    }
    shared = sum(detokenise_line(line) in tested for line in raw)
    assert shared < 0.02 * len(raw)


def detokenise_line(line):
    return (line[0].upper() + line[1:]).replace(" .", ".").replace(" ,", ",")


def test_gold_scores_are_graded_with_some_blank(corpus):
    for name in SETS:
        gold = lines(corpus / f"sts/STS.gs.{name}.txt")
        assert len(gold) == 250 and gold.count("") == 5
        values = [float(g) for g in gold if g]
        assert min(values) >= 0 and max(values) <= 5 and len(set(values)) > 30
        pairs = read_sts(corpus / f"sts/STS.input.{name}.txt", corpus / f"sts/STS.gs.{name}.txt")
        assert sum(not pair.scored for pair in pairs) == 5


def test_snli_rows_carry_five_labels_and_their_majority(corpus):
    for part in ("dev", "test"):
        rows = [json.loads(line) for line in lines(corpus / f"snli/{part}.jsonl")]
        assert len({row["pairID"] for row in rows}) == len(rows)
        for row in rows:
            votes = Counter(row["annotator_labels"])
            label, most = votes.most_common(1)[0]
            assert sum(votes.values()) == 5
            assert row["gold_label"] == (label if most >= 3 else "-")
            assert row["pairID"].startswith(row["captionID"] + "r1")
            for side in ("sentence1", "sentence2"):
                parse = row[f"{side}_binary_parse"].split()
                assert parse.count("(") == parse.count(")") == len([t for t in parse if t not in "()"]) - 1
        gold = Counter(row["gold_label"] for row in rows)
        assert gold["-"] == 15 and max(gold.values()) - min(gold[g] for g in gold if g != "-") < 15
        pairs = read_snli(corpus / f"snli/{part}.jsonl")
        assert len(pairs) == 600 and sum(not p.scored for p in pairs) == 15


def test_every_recipe_of_the_table_is_used():
    assert set(GOLD) == {recipe for recipes in SETS.values() for recipe in recipes}
