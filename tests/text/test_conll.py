"""Reading and writing CoNLL-2009 and CoNLL-U; what keeps sentences from being trees is counted or refused."""

import bz2
import gzip
import io
import lzma
import re
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from functools import partial

import pytest
from conll_rows import DOGS, DOGS_09, DOGS_U, read_text, row09, row_u, tree
from hypothesis import given
from hypothesis import strategies as st

from bove.errors import BoveError
from bove.files import Oddities
from bove.text import conll
from bove.text.conll import Sentence, read_sentences, write_conllu


@pytest.fixture
def read(tmp_path):
    return partial(read_text, tmp_path)


@pytest.mark.parametrize("text", [DOGS_09, DOGS_U])
def test_both_formats_are_told_apart_by_their_columns(read, text):
    assert read(text) == [DOGS]


def test_gold_and_predicted_columns_are_both_there(read):
    assert read(DOGS_09, columns="predicted") == [
        Sentence("1", ("Dogs", "bark"), ("PNNS", "PVBP"), (0, 0), ("pnsubj", "proot"))
    ]
    with pytest.raises(BoveError, match="choose gold or predicted"):
        read(DOGS_09, columns="silver")


@pytest.mark.parametrize(
    "text",
    {
        "no last line end": DOGS_09.rstrip("\n"),
        "blank lines": "\n\n" + DOGS_09 + "\n\n \t\n\n",
        "crlf": DOGS_09.replace("\n", "\r\n") + "\r\n",
        "two carriage returns": DOGS_09.replace("\n", "\r\r\n"),
        "bom": "\ufeff" + DOGS_09,
        "gzip": gzip.compress(DOGS_09.encode(), mtime=0),
        "xz": lzma.compress(DOGS_09.encode()),
        "bzip2": bz2.compress(DOGS_09.encode()),
        "header": "# from a corpus\n\n" + DOGS_U,
        "padding": DOGS_09.replace("\n", "\t\t\n"),
        "u padding": DOGS_U.replace("\n", "\t\n"),
        "12 columns": "".join(line.rsplit("\t", 2)[0] + "\n" for line in DOGS_09.splitlines()),
        "13 columns": "".join("\t".join(line.split("\t")[:13]) + "\n" for line in DOGS_09.splitlines()),
        "30 columns": DOGS_09.replace("\n", "\t" * 16 + "\n"),
        "u 30 columns": DOGS_U.replace("\n", "\t" * 20 + "\n"),
        "u 30 columns, last two empty": DOGS_U.replace("\t_\n", "\n").replace("\t_\n", "\t" * 22 + "\n"),
    }.values(),
)
def test_harmless_shapes_of_a_file_give_the_same_sentence(read, text):
    assert read(text) == [DOGS]


# GPOS, PPOS, SPLIT_FORM, SPLIT_LEMMA and PPOSS; a hyphenated word is three tokens
DOGS_08 = (
    "1\tDogs\tdog\tNN\tNN\tDogs\tdog\tNNS\t2\tnsubj\t_\tA1\tA0\n"
    "2\tre-bark\tre-bark\tVB\tVB\tre\tre\tVBP\t0\troot\tre.01\t_\t_\n"
    "3\t_\t_\t_\t_\tbark\tbark\tVBP\t2\tdep\treview.01\t_\t_\n"
)


@pytest.mark.parametrize("text", [DOGS_08, re.sub("(\t[^\t]+){3}\n", "\n", DOGS_08)], ids=["13", "10"])
def test_conll_2008_is_known_by_its_one_head_and_read_in_split_forms(read, text):
    wanted = Sentence("1", ("Dogs", "re", "bark"), ("NNS", "VBP", "VBP"), (2, 0, 2), ("nsubj", "root", "dep"))
    assert read(text, strict=True) == [wanted]
    no_predicate = "1\tYes\tyes\tUH\tUH\tYes\tyes\tUH\t0\troot\t_\n"
    assert [s.forms for s in read(no_predicate + "\n" + DOGS_08)] == [("Yes",), wanted.forms]


def test_a_comment_names_the_columns_of_conll_u_plus(read):
    named = "# global.columns = ID FORM XPOS UPOS HEAD DEPREL PARSEME:MWE\n"
    text = named + "1\tDogs\tNNS\tNOUN\t2\tnsubj\t*\n2\tbark\tVBP\tVERB\t0\troot\t*\n"
    assert read(text) == [DOGS]
    columns = "ID FORM LEMMA XPOS UPOS FEATS HEAD DEPREL DEPS MISC"
    exchanged = f"# global.columns = {columns}\n{row_u(1, 'Dogs', 'NNS', 'NOUN', 0, 'root')}"
    assert read(exchanged)[0].tags == ("NNS",)
    for odd in (named.replace(" HEAD", ""), named.replace("ID ", "")):
        with pytest.raises(BoveError, match=r"line 1: global.columns names no (HEAD|ID) where it is due"):
            read(odd + text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (DOGS_U.replace("Dogs", "Do\tgs") + "\n" + DOGS_U, "line 1: 11 columns, but 10 are due .* CoNLL-U "),
        (DOGS_U + "\n" + DOGS_U.replace("bark", "ba\trk"), "line 5: 11 columns, but 10 are due .* CoNLL-U "),
        (DOGS_U + "\n" + DOGS_U + "\n" + DOGS_09, "line 7: 14 columns, but 10 are due"),
        (tree(0, 1, 1).replace("2\tw", "2\tw\tv"), "line 2: 15 columns, but 14 are due .* CoNLL-2009 "),
        (tree(0, 1, 1).replace("2\tw\t_", "2\tw"), "line 2: 13 columns, but 14 are due .* CoNLL-2009 "),
    ],
)
def test_a_row_of_another_width_is_refused_with_its_line(read, text, message):
    with pytest.raises(BoveError, match=message):
        read(text)


def test_number_of_predicate_columns_may_differ_between_sentences(read):
    first = row09(1, "Go", "VB", 0, "root", more=("A0", "_", "A1"))
    assert [s.forms for s in read(first + "\n" + DOGS_09)] == [("Go",), ("Dogs", "bark")]


def test_ranges_and_empty_nodes_are_no_tokens_and_are_counted(read):
    counts = Counter()
    text = (
        "# sent_id = weekend-1\n"
        + row_u("1-2", "don't", "_", "_", "_", "_")
        + row_u(1, "do", "AUX", "VB", 3, "aux")
        + row_u(2, "n't", "PART", "RB", 3, "advmod")
        + row_u("3-3", "go", "_", "_", "_", "_")
        + row_u(3, "go", "VERB", "_", 0, "root")
        + row_u("3.1", "ghost", "_", "_", "_", "_")
        + row_u(4, "now", "ADV", "RB", 3, "advmod")
    )
    forms, tags = ("do", "n't", "go", "now"), ("VB", "RB", "VERB", "RB")
    expected = Sentence("weekend-1", forms, tags, (3, 3, 0, 3), ("aux", "advmod", "root", "advmod"))
    assert read(text, counts=counts) == [expected]
    assert counts == {conll.RANGE: 2, conll.EMPTY_NODE: 1}


def test_a_range_is_an_error_in_conll_2009(read):
    with pytest.raises(BoveError, match=r"line 1: token number '1-2' in the place of 1"):
        read(row09("1-2", "don't", "_", "_", "_") + DOGS_09)


def test_odd_forms_are_tokens(read):
    forms = ["_", "#", "#tag", "two words", " ", "a\u00a0b", "\u00a0", "“", "\u2028", "\x85", "-LRB-"]
    text = "".join(row09(i, form, "T", i - 1, "r") for i, form in enumerate(forms, 1))
    assert list(read(text)[0].forms) == forms


def test_comments_stand_before_and_inside_sentences(read):
    counts = Counter()
    first, second = DOGS_U.splitlines(keepends=True)
    text = "# newdoc\n#sent_id=a b \n# text = Dogs bark\n" + first + "# inside\n" + second + "\n" + DOGS_U
    assert [s.id for s in read(text, counts=counts)] == ["a b", "2"]
    assert counts == {conll.INNER_COMMENT: 1}


def test_a_block_of_comments_with_an_id_is_an_empty_sentence(read):
    text = "# sent_id = a\n# text =\n# bove_empty = yes\n\n" + DOGS_U + "\n# sent_id = c"
    assert read(text) == [Sentence("a"), replace(DOGS, id="2"), Sentence("c")]


@pytest.mark.parametrize("layout", ["gold", "predicted"])
def test_a_file_without_any_head_is_refused_at_its_end(read, layout):
    text = DOGS_09.replace("\t2\t0\t", "\t_\t_\t").replace("\t0\t0\t", "\t_\t_\t")
    with pytest.raises(BoveError, match=f"none of its 2 tokens has a head in the {layout} columns; parse"):
        read(text, columns=layout)


def test_a_file_of_empty_sentences_needs_no_head(read):
    assert read("# sent_id = a\n\n# sent_id = b\n") == [Sentence("a"), Sentence("b")]
    assert read("") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            DOGS_09.replace("\t", "  "),
            r"line 1: its columns are separated by spaces; separate them by single t",
        ),
        (DOGS_09 + DOGS_09, r"line 3: token number '1' in the place of 3; .* blank line between"),
        (row09(2, "a", "T", 0, "r"), r"line 1: token number '2' in the place of 1"),
        (row09("1", "a", "T", "two", "r"), r"line 1: head 'two' is not a number"),
        (row_u(1, "a", "T", "T", "8.1", "r"), r"line 1: head '8.1' is not a number"),
        (row09(1, "", "T", 0, "r"), r"line 1: an empty cell; write _"),
        ("just some words\n", r"line 1: 1 column, but CoNLL-2009 has 12"),
        ("1\ta\t_\n", r"line 1: 3 columns, but CoNLL-2009 has 12"),
        (
            DOGS_09 + "\n" + DOGS_U,
            r"line 4: 10 columns, but 12 are due in a file that is CoNLL-2009 by its first sentences; repair",
        ),
        (DOGS_U + "3\tloud\n", r"line 3: 2 columns, but 10 are due in a file that is CoNLL-U"),
        (
            DOGS_U.encode() + b"\n\xe9\n",
            r"line 4: byte 0xe9 is not utf-8; give the file's encoding \(often l",
        ),
        (DOGS_U.encode("utf-16"), r"file.conll: UTF-16 text; convert it to UTF-8"),
        (DOGS_U.replace("\n", "\r"), r"line 1: a carriage return inside the line; end lines with line feeds"),
        ("# a\r" + DOGS_U.replace("\n", "\r"), r"line 1: a carriage return inside the line"),
        (row09(1, "a", "T", "9" * 5000, "r"), r"line 1: head '9+' is not a number"),
        (row_u(1, "a", "T", "T", "٣", "r"), r"line 1: head '٣' is not a number"),
    ],
)
def test_malformed_rows_are_refused_with_their_line(read, text, message):
    with pytest.raises(BoveError, match=message):
        read(text)


def test_other_encodings_are_read_when_named(read):
    text = row09(1, "café", "NN", 0, "root").encode("latin-1")
    assert read(text, encoding="latin-1")[0].forms == ("café",)
    for encoding in ("utf-16", "no-such-code", "undefined", "rot13", "a\0b"):
        with pytest.raises(BoveError, match=r"name another, such as latin-1"):
            read(text, encoding=encoding)


def test_an_encoding_that_says_no_place_is_refused_with_its_line(read):
    with pytest.raises(BoveError, match=r"line 1: something is not idna; give the file's encoding"):
        read(b"xn--99999999a", encoding="idna")


def test_reading_is_streamed(tmp_path):
    path = tmp_path / "file.conll"
    path.write_text(DOGS_09 + "\nbroken\n", encoding="utf-8")
    stream = read_sentences(path)
    assert next(stream) == DOGS
    with pytest.raises(BoveError, match="line 4"):
        next(stream)


def test_written_tree_has_comments_first_and_its_tag_twice():
    stream = io.StringIO()
    write_conllu(stream, Sentence("a.1", ("Hi",), ("UH",), (-1,), ("_",)), "Hi\tthere\n", ("parser = x",))
    write_conllu(stream, Sentence("a.2"))
    assert stream.getvalue() == (
        "# parser = x\n# sent_id = a.1\n# text = Hi there\n1\tHi\t_\tUH\tUH\t_\t_\t_\t_\t_\n\n"
        "# sent_id = a.2\n# text =\n# bove_empty = yes\n\n"
    )


@pytest.mark.parametrize("form", ["", "a\tb", "a\nb", "a\r", "\ufeffa"])
def test_a_form_that_would_break_the_row_is_not_written(form):
    with pytest.raises(BoveError, match="cannot be a CoNLL-U cell"):
        write_conllu(io.StringIO(), Sentence("a", (form,), ("T",), (0,), ("r",)))


@pytest.mark.parametrize(
    ("heads", "kept", "kinds"),
    [
        ((0, 1), (0, 1), {}),
        ((0, "_"), (0, -1), {conll.NO_HEAD: 1}),
        ((0, 3), (0, -1), {conll.OUT_OF_RANGE: 1}),
        ((0, -1), (0, -1), {conll.NEGATIVE: 1}),
        ((0, 2), (0, 2), {conll.SELF_LOOP: 1}),
        ((2, 1), (2, 1), {conll.CYCLE: 1, conll.NO_ROOT: 1}),
        ((0, 4, 2, 3), (0, 4, 2, 3), {conll.CYCLE: 1}),
        ((0, 0), (0, 0), {conll.TWO_ROOTS: 1}),
        ((2, "_"), (2, -1), {conll.NO_HEAD: 1, conll.NO_ROOT: 1}),
    ],
)
def test_odd_trees_are_kept_and_counted_or_refused(read, heads, kept, kinds):
    counts = Counter()
    assert read(tree(*heads), counts=counts)[0].heads == kept
    assert counts == kinds
    if kinds:
        with pytest.raises(BoveError, match=r"file\.conll, line \d: (tokens|heads|negative|sentences)"):
            read(tree(*heads), strict=True)
    else:
        assert read(tree(*heads), strict=True)


def test_a_long_chain_and_a_long_cycle_need_no_recursion(read):
    size = 20_000
    counts = Counter()
    read(tree(*range(size)) + "\n" + tree(*range(2, size + 1), 1), counts=counts)
    assert counts == {conll.CYCLE: 1, conll.NO_ROOT: 1}


def test_missing_tags_labels_and_repeated_ids_are_kept_counted_and_found(read):
    named = "# sent_id = a\n"
    rows = row_u(1, "go", "_", "_", 0, "root") + row_u(2, "on", "ADV", "_", 1, "_")
    text = named + rows + "\n" + named + "\n"
    counts = Oddities()
    first, second = read(text, counts=counts)
    assert (first.tags, first.relations, second) == (("_", "ADV"), ("root", "_"), Sentence("a"))
    assert counts == {conll.NO_TAG: 1, conll.NO_LABEL: 1, conll.REPEATED_ID: 1, conll.NO_TOKENS: 1}
    lines = {conll.NO_TAG: [2], conll.NO_LABEL: [3], conll.REPEATED_ID: [5], conll.NO_TOKENS: [5]}
    assert counts.places == lines


def test_the_lines_of_the_first_oddities_are_kept_or_of_all(read):
    text = (tree(0, 9) + "# inside\n" + "\n") * 7
    for keep, lines in ((2, [2, 6]), (None, [2, 6, 10, 14, 18, 22, 26])):
        counts = Oddities(keep)
        read(text, counts=counts)
        assert counts == {conll.OUT_OF_RANGE: 7, conll.INNER_COMMENT: 7}
        assert counts.places == {conll.OUT_OF_RANGE: lines, conll.INNER_COMMENT: [line + 1 for line in lines]}


@pytest.mark.parametrize(
    ("names", "ids", "lines"),
    [
        (["2", ""], ["2", "2"], [4]),
        (["", "1"], ["1", "1"], [4]),
        ([None, None, "2", "x", None], ["1", "2", "2", "x", "5"], [5]),
        (["", ""], ["1", "2"], []),
        (["01", None, "9" * 5000], ["01", "2", "9" * 5000], []),
    ],
)
def test_an_id_may_stand_before_as_the_number_of_a_sentence_without_one(read, names, ids, lines):
    row = "1\ta\t_\tX\tX\t_\t0\troot\t_\t_\n\n"
    text = "".join((f"# sent_id = {name}\n" if name is not None else "") + row for name in names)
    counts = Oddities()
    assert [sentence.id for sentence in read(text, counts=counts)] == ids
    assert counts.places.get(conll.REPEATED_ID, []) == lines


cells = st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\ufeff")
cells = st.text(cells, min_size=1, max_size=5)
names = cells.map(lambda name: name.strip(" ")).filter(bool)


@st.composite
def sentences(draw):
    size = draw(st.integers(0, 5))
    column = st.lists(cells, min_size=size, max_size=size).map(tuple)
    heads = st.lists(st.integers(-1, size), min_size=size, max_size=size).map(tuple)
    return Sentence(draw(names), draw(column), draw(column), draw(heads), draw(column))


@given(st.lists(sentences(), max_size=4))
def test_what_is_written_is_read_back(tmp_path_factory, written):
    rooted = Sentence("root", ("a",), ("T",), (0,), ("r",))
    path = tmp_path_factory.mktemp("trees") / "trees.conllu"
    with open(path, "w", encoding="utf-8", newline="\n") as stream:
        for sentence in (*written, rooted):
            write_conllu(stream, sentence, text=sentence.id)
    assert list(read_sentences(path)) == [*written, rooted]


MARKS = ["1", "2", "1-2", "1.1", "_", "#", "", "0", "-1", "3", "\t", "\t", "\t_", "\n", "\r", " ", "é"]
mark = st.sampled_from(MARKS)


@given(st.sampled_from([DOGS_09, DOGS_U]), st.data())
def test_a_changed_file_gives_sentences_or_one_clear_error(tmp_path_factory, text, data):
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        text = text[:start] + data.draw(mark) + text[start + data.draw(st.integers(0, 3)) :]
    path = tmp_path_factory.mktemp("changed") / "file"
    path.write_text(text, encoding="utf-8", newline="")
    counts = Oddities(None)
    with suppress(BoveError):
        for sentence in read_sentences(path, counts=counts):
            assert len(sentence.forms) == len(sentence.tags) == len(sentence.heads) == len(sentence.relations)
            assert all(-1 <= head <= len(sentence.forms) for head in sentence.heads)
    assert {kind: len(places) for kind, places in counts.places.items()} == counts
