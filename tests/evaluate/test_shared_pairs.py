"""Pairs and sentences are the same whatever their order, case, spaces and Unicode form, and no further."""

import csv
import io

import pytest

from bove.evaluate.contamination import (
    contamination_csv,
    contamination_notes,
    contamination_page,
    normalised,
    scored_pairs,
    shared_pairs,
    shared_sentences,
)
from bove.text.conll import Sentence
from bove.text.pairs import Pair


def pair(name, first, second, dataset="test", scored=True, subset="a"):
    gold = 1.0 if scored else None
    names = f"{subset}-{name}", dataset, dataset.upper(), "similarity", subset
    return Pair(*names, first, second, gold, scored)


def shared(*pairs, development=("dev",)):
    return shared_pairs(scored_pairs(pairs, development))


def found(*pairs):
    return [(match.id, match.other_id, match.swapped) for match in shared(*pairs).itertuples()]


def page(pairs, development=("dev",), sentences=None):
    return contamination_page(
        scored_pairs(pairs, development), shared(*pairs, development=development), sentences
    )


def rows_of(text):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.split("\n") if "|" in line]


def notes(pairs, development=("dev",)):
    return contamination_notes(scored_pairs(pairs, development), shared(*pairs, development=development))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("A dog runs.", "Cafés close."),
        ("a  DOG\truns. ", "\u00a0Cafe\u0301s close."),
        ("A dog runs.", "CAFE\u0301S CLOSE."),
    ],
)
def test_case_spaces_and_unicode_forms_make_no_difference(first, second):
    dev = pair("1", "A dog runs.", "Cafés close.", "dev")
    assert found(dev, pair("2", first, second)) == [("a-2", "a-1", False)]
    assert found(pair("2", second, first), dev) == [("a-2", "a-1", True)]


def test_folding_may_undo_the_normal_form_which_is_then_made_again():
    assert normalised("\u0345\u03b1") == normalised("\u03b9\u03b1")
    assert normalised("Straße") == normalised("STRASSE")


@pytest.mark.parametrize(
    "other", [("A dog runs", "B"), ("A dog runs.", "C"), ("Adog runs.", "B"), ("B", "B")]
)
def test_another_pair_is_not_the_same(other):
    assert found(pair("1", "A dog runs.", "B", "dev"), pair("2", *other)) == []


def test_only_scored_pairs_count_and_those_of_two_development_sets_or_of_two_others_do_not():
    dev, same = pair("1", "x", "y", "dev"), pair("2", "x", "y")
    assert found(pair("1", "x", "y", "dev", scored=False), same) == []
    assert found(dev, pair("2", "x", "y", scored=False)) == []
    assert found(same, pair("3", "x", "y", "other")) == []
    assert shared(dev, pair("3", "x", "y", "dev2"), development=("dev", "dev2")).empty


def test_two_equal_sentences_are_not_swapped():
    assert found(pair("1", "x", "X", "dev"), pair("2", "X", "x")) == [("a-2", "a-1", False)]


PAIRS = [
    pair("1", "x", "y", "dev"),
    pair("2", "y", "x", "dev"),
    pair("3", "u", "v", "dev"),
    pair("4", "X", "y"),
    pair("5", "v", "u"),
    pair("6", "q", "The dog runs ."),
    pair("7", "the dog runs.", "z", subset="b"),
]


def test_the_page_counts_pairs_not_matches_and_names_each_match():
    text = page(PAIRS)
    assert rows_of(text)[2:] == [["TEST", "a", "3", "2", "1"], ["TEST", "b", "1", "0", "0"]]
    assert [line for line in text.split("\n") if line.startswith("* ")] == [
        "* TEST a-4: DEV (development) a-1",
        "* TEST a-4: DEV (development) a-2, sides swapped",
        "* TEST a-5: DEV (development) a-3, sides swapped",
    ]
    said = "TEST a: 2 of 3 scored pairs stand in DEV (development) too; contamination.md names them."
    assert notes(PAIRS) == {"similarity": [said]}


def test_what_the_page_does_not_name_is_counted_and_is_in_the_csv():
    pairs = [pair(str(i), f"x{i}", "y", name) for name in ("dev", "test") for i in range(23)]
    assert "* 3 more are in contamination.csv." in page(pairs)
    rows = list(csv.DictReader(io.StringIO(contamination_csv(shared(*pairs), None))))
    assert len(rows) == 23
    assert rows[2] == {
        "kind": "pair", "dataset": "test", "subset": "a", "id": "a-2", "other_dataset": "dev",
        "other_subset": "a", "other_id": "a-2", "swapped": "false",
    }  # fmt: skip


def test_without_two_kinds_of_data_sets_nothing_is_compared():
    assert "No data set is for development" in page(PAIRS, [])
    assert "No data set is left to report on" in page(PAIRS, ["dev", "test"])
    assert notes(PAIRS, []) == notes(PAIRS, ["dev", "test"]) == {}
    apart = [pair("1", "x", "y", "dev"), pair("2", "u", "v")]
    assert notes(apart)["similarity"][0].startswith("No scored pair to report on stands in a development")


def test_sentences_of_the_treebank_are_found_however_their_tokens_are_spaced():
    words = {"t1": "The dog runs .", "t2": "The dog runs .", "t3": "", "t4": "z z"}
    trees = [Sentence(name, tuple(text.split()), (), (), ()) for name, text in words.items()]
    sentences = shared_sentences(scored_pairs([*PAIRS, pair("8", "", "w")], ["dev"]), trees)
    assert list(zip(sentences.id, sentences.other_id, strict=True)) == [("a-6.2", "t1"), ("b-7.1", "t1")]
    assert rows_of(page(PAIRS, sentences=sentences))[-3:] == [
        ["DEV", "a", "4", "0", "0.00%"],
        ["TEST", "a", "6", "1", "16.67%"],
        ["TEST", "b", "2", "1", "50.00%"],
    ]
    lines = contamination_csv(shared(pair("1", "x", "y")), sentences).split("\n")
    assert lines[1] == "sentence,test,a,a-6.2,treebank,,t1,"
