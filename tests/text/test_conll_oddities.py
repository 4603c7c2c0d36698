"""What keeps a treebank's sentences from being whole trees: kept, counted, found by line, or refused."""

from collections import Counter
from contextlib import suppress
from functools import partial

import pytest
from conll_rows import DOGS_09, DOGS_U, read_text, row_u, tree
from hypothesis import given
from hypothesis import strategies as st

from bove.errors import BoveError
from bove.files import Oddities
from bove.text import conll
from bove.text import conll as trees
from bove.text.conll import Sentence, read_sentences


@pytest.fixture
def read(tmp_path):
    return partial(read_text, tmp_path)


@pytest.mark.parametrize(
    ("heads", "kept", "kinds"),
    [
        ((0, 1), (0, 1), {}),
        ((0, "_"), (0, -1), {trees.NO_HEAD: 1}),
        ((0, 3), (0, -1), {trees.OUT_OF_RANGE: 1}),
        ((0, -1), (0, -1), {trees.NEGATIVE: 1}),
        ((0, 2), (0, 2), {trees.SELF_LOOP: 1}),
        ((2, 1), (2, 1), {trees.CYCLE: 1, trees.NO_ROOT: 1}),
        ((0, 4, 2, 3), (0, 4, 2, 3), {trees.CYCLE: 1}),
        ((0, 0), (0, 0), {trees.TWO_ROOTS: 1}),
        ((2, "_"), (2, -1), {trees.NO_HEAD: 1, trees.NO_ROOT: 1}),
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
    assert counts == {trees.CYCLE: 1, trees.NO_ROOT: 1}


def test_missing_tags_labels_and_repeated_ids_are_kept_counted_and_found(read):
    named = "# sent_id = a\n"
    text = (
        named + row_u(1, "go", "_", "_", 0, "root") + row_u(2, "on", "ADV", "_", 1, "_") + "\n" + named + "\n"
    )
    counts = Oddities()
    first, second = read(text, counts=counts)
    assert (first.tags, first.relations, second) == (("_", "ADV"), ("root", "_"), Sentence("a"))
    assert counts == {conll.NO_TAG: 1, conll.NO_LABEL: 1, conll.REPEATED_ID: 1, conll.NO_TOKENS: 1}
    assert counts.places == {
        conll.NO_TAG: [2],
        conll.NO_LABEL: [3],
        conll.REPEATED_ID: [5],
        conll.NO_TOKENS: [5],
    }


def test_the_lines_of_the_first_oddities_are_kept_or_of_all(read):
    text = (tree(0, 9) + "# inside\n" + "\n") * 7
    for keep, lines in ((2, [2, 6]), (None, [2, 6, 10, 14, 18, 22, 26])):
        counts = Oddities(keep)
        read(text, counts=counts)
        assert counts == {trees.OUT_OF_RANGE: 7, conll.INNER_COMMENT: 7}
        assert counts.places == {
            trees.OUT_OF_RANGE: lines,
            conll.INNER_COMMENT: [line + 1 for line in lines],
        }


@given(st.binary(max_size=300), st.sampled_from(["utf-8", "latin-1", "cp1252", "utf-7"]))
def test_random_bytes_give_sentences_or_one_clear_error(tmp_path_factory, data, encoding):
    path = tmp_path_factory.mktemp("bytes") / "file"
    path.write_bytes(data)
    for columns in ("gold", "predicted"):
        with suppress(BoveError):
            list(read_sentences(path, columns, encoding))


mark = st.sampled_from(
    ["1", "2", "1-2", "1.1", "_", "#", "", "0", "-1", "3", "\t", "\t", "\t_", "\n", "\r", " ", "é"]
)


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
def test_an_id_may_stand_before_as_the_number_of_a_sentence_without_one(tmp_path, names, ids, lines):
    row = "1\ta\t_\tX\tX\t_\t0\troot\t_\t_\n\n"
    text = "".join((f"# sent_id = {name}\n" if name is not None else "") + row for name in names)
    (tmp_path / "t").write_text(text, encoding="utf-8")
    counts = Oddities()
    found = [s.id for s in conll.read_sentences(tmp_path / "t", counts=counts)]
    assert found == ids
    assert counts.places.get(conll.REPEATED_ID, []) == lines
