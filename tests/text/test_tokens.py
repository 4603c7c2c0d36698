"""Tokens and sentences follow the Penn Treebank's rules and the treebank's own habits; what a token is."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bove.text.tokens import (
    NUMBER,
    PUNCTUATION,
    Conventions,
    character_class,
    find_conventions,
    normalise,
    sentences,
    split_sentences,
    tokenise,
)  # fmt: skip

UD = Conventions()
PENN = find_conventions(
    [["``", "The", "well-known", "firm", "-LRB-", "and\\/or", "bank", "-RRB-", "''", "--", "here", "..."]] * 3
)

PIECES = {
    "I don't, can't and cannot.": "I do n't , ca n't and can not .",
    "It's the workers' pay, the firm's": "It 's the workers ' pay , the firm 's",
    "it 's do n't already": "it 's do n't already",
    "the U.S.'s": "the U.S. 's",
    "We're gonna wanna": "We 're gon na wan na",
    "dont didnt": "do nt did nt",
    "Mr. Smith of the U.S. paid $5.50 at 10:30 a.m.": "Mr. Smith of the U.S. paid $ 5.50 at 10:30 a.m.",
    "N. Korea and S.Korea": "N. Korea and S. Korea",
    "1,000.50 on 3/4/2001 or 9/11 for 1990s '90s": "1,000.50 on 3/4/2001 or 9/11 for 1990s '90s",
    "at 5pm 20%": "at 5 pm 20 %",
    "state-of-the-art e-mail and/or": "state - of - the - art e-mail and / or",
    "see http://a.org/b?c=d. Or mail x.y@z.com!": "see http://a.org/b?c=d . Or mail x.y@z.com !",
    "@bob loves #guns :) <3": "@bob loves #guns :) <3",
    "AT&T's plan ... wait!!! (yes?!)": "AT&T 's plan ... wait !!! ( yes ?! )",
    'O\'Brien said "no".': 'O\'Brien said " no " .',
    "hi😀👍🏽 👩\u200d👩\u200d👧": "hi 😀 👍🏽 👩\u200d👩\u200d👧",
}


@pytest.mark.parametrize("text", PIECES)
def test_text_is_divided_as_in_the_penn_treebank(text):
    assert tokenise(normalise(text), UD) == PIECES[text].split(" ")


@given(
    st.text(st.characters(codec="utf-8"), max_size=60) | st.from_regex(r"[A-Za-z'’.,:;()/@#&!? 0-9-]{0,60}")
)
def test_no_character_is_lost_or_rewritten(text):
    line = normalise(text)
    for conventions in (UD, PENN):
        pieces = tokenise(line, conventions)
        assert "".join(pieces) == line.replace(" ", "")
        assert all(pieces)
        flat = [token for sentence in sentences(text, conventions) for token in sentence]
        assert len(flat) == len(pieces)
        assert not any(mark.isspace() for token in flat for mark in token)


@pytest.mark.parametrize(
    "text", ["", "  \n\t", "\u200b\u00ad\u2060", "\x00\x1f\ufeff", "\u200d", "\u3000\u00a0"]
)
def test_what_can_not_be_seen_gives_no_token(text):
    assert sentences(text, UD) == []


def test_line_breaks_are_spaces_and_surrogates_become_writable():
    assert normalise("a\r\nb\u2028c\x85d\te") == "a b c d e"
    assert normalise("x\ud83dy") == "x\ufffdy"
    assert normalise("e\u0301") == "é"


def test_signs_are_written_as_in_the_treebank():
    text = 'He said "this (and/or that) is well-known" \u2013 isn\u2019t it\u2026'
    [penn] = sentences(text, PENN)
    assert " ".join(penn) == "He said `` this -LRB- and\\/or that -RRB- is well-known '' -- is n't it ..."
    [ud] = sentences("`` it '' -LRB- is -RRB- [x]", UD)
    assert ud[:3] == ['"', "it", '"'] and ud[-3:] == ["[", "x", "]"]


def test_a_quotation_over_two_sentences_is_closed_in_the_second():
    assert sentences('"We go. They stay," he said.', PENN) == [
        ["``", "We", "go", "."],
        ["They", "stay", ",", "''", "he", "said", "."],
    ]


def test_habits_are_counted_in_the_treebank():
    forms = [
        ["a", "day", "-", "long", "trip"],
        ["non-stop", "e-mail"],
        ["a", "two", "-", "way", "b/c", "b/c", "St."],
    ]
    found = find_conventions(forms)
    assert found.hyphens and {"non", "e"} <= found.prefixes and "day" not in found.prefixes
    assert not found.slashes and found.quotes == ('"', '"')
    assert tokenise("day-long non-stop b/c", found) == ["day", "-", "long", "non-stop", "b/c"]
    assert not PENN.hyphens and PENN.escape and PENN.quotes == ("``", "''")
    assert tokenise("day-long", PENN) == ["day-long"]


def test_a_form_that_the_treebank_mostly_keeps_stays_whole():
    kept = find_conventions([["Approx.", "x^_^x", "^_^", "hm", "^_^"]] * 2)
    assert "^_^" in kept.whole and tokenise("(^_^),", kept) == ["(", "^_^", ")", ","]
    split = find_conventions([["no", "."]] * 5 + [["no."]] * 2)
    assert "no." not in split.whole


def test_conventions_survive_json():
    assert Conventions.from_json(json.loads(json.dumps(PENN.as_json()))) == PENN


TEXTS = {
    "One here. Two there.": 2,
    "Really?! Yes... Maybe.": 3,
    'He said "Go." She went.': 2,
    "Mr. J. Smith left the U.S. Monday.": 1,
    "It costs 5.50. 20 were sold.": 2,
    "well... you know it. ok": 1,
    "... And then.": 1,
    "no stop": 1,
}


@pytest.mark.parametrize("text", TEXTS)
def test_sentences_end_where_another_can_begin(text):
    assert len(sentences(text, UD)) == TEXTS[text]


def test_sentences_divide_the_tokens():
    tokens = tokenise("One. Two! (Three.) Four", UD)
    assert [len(part) for part in split_sentences(tokens)] == [2, 2, 4, 1]


@pytest.mark.parametrize("unit", ["!", "(", "'", "a-", "a.", "1-1", "x", ". A ", "a@", "&a", '"A '])
def test_long_monotonous_text_takes_no_quadratic_time(unit):
    start = time.process_time()
    sentences(unit * 5000, UD)
    assert time.process_time() - start < 2


def test_a_word_of_thousands_of_clitics_needs_no_recursion():
    (tokens,) = sentences("dog" + "'s" * 3000, UD)
    assert tokens == ["dog", *["'s"] * 3000]


NUMBERS = (
    "5 1,000.5 1990s 1990's '90s 3/4 1\\/2 ½ 1½ ² ٣٤ 10:30 2004-11-17 +1-800-555 -5 .5 10. 1st 22ND 3rd 4th "
    "2.5% 5€ $5 -$5 ±3 \u22125 3\u20134 \u201990s"
)
MARKS = (
    ", . ... … ' '' ` `` \" - -- — _ / \\ * ( ) [ ] « » ¿ 。 ? !? :-) = + < > | ~ ^ && #@%! "
    "-LRB- -RRB- -LSB- -RSB- -LCB- -RCB-"
)
OTHERS = "$ US$ € % ‰ & # @ § © 😀 ° U.S. 's n't 10-year 5pm two A-10 B2B 1) :D :P <3 1?!? x.x -lrb- II 五"


@pytest.mark.parametrize("form", [*NUMBERS.split(" "), "1\u00a0000", "1\u202f000"])
def test_numbers(form):
    assert character_class(form) == NUMBER


@pytest.mark.parametrize("form", MARKS.split(" "))
def test_punctuation(form):
    assert character_class(form) == PUNCTUATION


@pytest.mark.parametrize("form", [*OTHERS.split(" "), "", "\u00a0"])
def test_words(form):
    assert character_class(form) is None
