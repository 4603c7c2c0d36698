"""Converting, mapping and looking up word vectors."""

import gzip
import struct
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bove.errors import BoveError
from bove.text import vector_files, vectors
from bove.text.conll import Sentence
from bove.text.vectors import WordVectors, convert, pretrained_rows, write_vectors
from bove.text.vocabulary import build

WORDS = ("the", "café", "New_York", "“", "</s>")
ROWS = np.array([[0.5, -1, 2], [1e-3, 0, 7], [3, 3, 3], [0, 0, 0], [-4, 5, -6]], np.float32)


def binary(words=WORDS, rows=ROWS, end=b"", size=None):
    head = b"%d %d\n" % (len(words) if size is None else size, rows.shape[1])
    raw = (word if isinstance(word, bytes) else word.encode() for word in words)
    return head + b"".join(w + b" " + r.astype("<f4").tobytes() + end for w, r in zip(raw, rows, strict=True))


def text(words=WORDS, rows=ROWS, head="", end="\n"):
    lines = [f"{w} {' '.join(map(repr, r.tolist()))}{end}" for w, r in zip(words, rows, strict=False)]
    return (head + "".join(lines)).encode()


@pytest.fixture
def load(tmp_path):
    def run(data, format="auto", limit=None):
        (tmp_path / "source").write_bytes(data)
        counts = convert(tmp_path / "source", tmp_path / "out.safetensors", format, limit)
        return WordVectors.open(tmp_path / "out.safetensors"), counts

    return run


def check(found, words=WORDS, rows=ROWS):
    assert len(found) == len(words) and found.dimensions == rows.shape[1]
    assert [found.word(i) for i in range(len(words))] == list(words)
    np.testing.assert_array_equal(found.rows(found.find(words)), rows)


@pytest.mark.parametrize(
    ("data", "format"),
    [
        *((binary(end=end), "word2vec") for end in (b"", b"\n")),
        (binary(end=b"\n")[:-1], "word2vec"),
        (text(head="5 3\n"), "word2vec"),
        (text(head="5 3\n", end=" \n") + b"\n", "word2vec"),
        *((text(end=end), "glove") for end in ("\n", "\r\n")),
        (text().rstrip(b"\n"), "glove"),
        *((text().replace(b" ", between), "glove") for between in (b"\t", b"  ")),
    ],
)
def test_every_format_is_known_by_its_content(load, data, format):
    for name in ("auto", format):
        for packed in (data, gzip.compress(data)):
            found, counts = load(packed, name)
            check(found)
            assert counts == {}


@pytest.mark.parametrize("data", [text(), text(head="5 3\n"), binary()], ids=["glove", "text", "bin"])
def test_a_byte_order_mark_is_no_part_of_the_first_word(load, data):
    check(load(b"\xef\xbb\xbf" + data)[0])


def test_blocks_of_any_size_give_the_same(load, monkeypatch):
    for size in (1, 7, 40, 10_000):
        monkeypatch.setattr(vector_files, "BLOCK_BYTES", size)
        monkeypatch.setattr(vector_files, "BLOCK_ROWS", 1 + size % 3)
        for data in (binary(), binary(end=b"\n"), text(head="5 3\n"), text()):
            check(load(data)[0])


def test_vectors_that_hold_spaces_and_line_breaks_in_their_bytes_are_read(load):
    tricky = np.array([struct.unpack("<3f", b" \n \n\n\n    \n ")] * 3, np.float32)
    for end in (b"", b"\n"):
        check(load(binary(("a", "b", "c"), tricky, end))[0], ("a", "b", "c"), tricky)


def test_the_limit_keeps_the_first_rows(load):
    for data in (binary(), text(head="5 3\n"), text()):
        check(load(data, limit=2)[0], WORDS[:2], ROWS[:2])
        check(load(data, limit=99)[0])


@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.parametrize("phrase", ["New York", "ice tea", "the end of it", "Euro 2008", "Los Angeles"])
@pytest.mark.parametrize("first", [False, True])
def test_a_phrase_in_a_binary_file_is_refused_where_it_stands(load, phrase, end, first):
    words = (phrase, "a", "New", "b") if first else ("a", phrase, "New", "b")
    rows = np.random.default_rng(0).normal(size=(4, 50)).astype(np.float32)
    byte = 5 if first else 5 + 202 + len(end)
    with pytest.raises(BoveError, match=rf"row {2 - first} \(byte {byte}\): .* has a space, which"):
        load(binary(words, rows, end))
    words = [word.replace(" ", "_") for word in words]
    check(load(binary(words, rows, end))[0], words, rows)
    spaced = [word.replace("_", " ") for word in words]
    if not phrase[-1].isdigit():
        check(load(text(spaced, rows))[0], spaced, rows)


@pytest.mark.parametrize("word", ["\n", "\nNew", "a\x00b", "\x7f", "a\tb"])
def test_a_control_character_is_a_fault_of_a_binary_file_alone(load, word):
    words = ("the", word, "b")
    with pytest.raises(
        BoveError, match=r"row 2 \(byte 2\d\): (a control character in the word '|no line br)"
    ):
        load(binary(words, ROWS[:3]))
    if "\n" not in word and "\t" not in word:
        check(load(text(words, ROWS[:3]))[0], words, ROWS[:3])


def test_numbers_that_no_vector_has_are_refused_in_a_binary_file(load):
    for scale in (1e-30, 1e-9, 1, 1e8, 1e11, 1e30):
        rows = np.array([[1, 2], [3, 4], [5 * scale, 6], [7, 8]], np.float32)
        check(load(text("abcd", rows))[0], "abcd", rows)
        if scale < 1e9:
            check(load(binary("abcd", rows))[0], "abcd", rows)
        else:
            with pytest.raises(
                BoveError, match=r"row 3 \(byte 24\): the number 5e\+.*, which no vector has; "
            ):
                load(binary("abcd", rows))
    rows = np.random.default_rng(0).normal(size=(4, 50)).astype(np.float32)
    with pytest.raises(BoveError, match=r"row 1 \(byte 5\): "):  # as other programs write it, big end first
        load(binary("abcd", rows.byteswap().view(np.float32)))


def test_words_that_can_not_be_kept_are_counted(load):
    words = (b"a", b"\xff\xfe", b"", b"b", b"a", b"b", b"c", b"\xef\xbb\xbfa")
    rows = np.arange(16, dtype=np.float32).reshape(8, 2)
    found, counts = load(binary(words, rows))
    check(found, ("a", "b", "c"), rows[[0, 3, 6]])
    assert counts.pop(vectors.MARKED) == 1 and counts.places.pop(vectors.MARKED) == [8]
    assert counts == {vectors.NOT_UTF8: 1, vectors.EMPTY: 1, vectors.DUPLICATE: 2}
    assert counts.places == {vectors.NOT_UTF8: [2], vectors.EMPTY: [3], vectors.DUPLICATE: [5]}


@pytest.mark.parametrize(
    ("words", "row"),
    [(b"\xff a a", 3), (b"a \xff a", 3), (b"a a \xff", 2), (b"\xff \xff a b \xff \xff b", 7)],
)
def test_the_row_of_a_repeated_word_is_the_file_s(load, words, row):
    words = words.split(b" ")
    _, counts = load(binary(words, np.ones((len(words), 2), np.float32)))
    assert counts.places[vectors.DUPLICATE] == [row]


def test_words_with_spaces_in_glove(load):
    words = ("the", ". . .", "at name@domain.com", "a\u00a0b", "1")
    check(load(text(words))[0], words)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (binary(size=6), r"row 6: the file ends there, but its header says 6 rows"),
        (binary()[:-1], r"row 5: the file ends there"),
        (binary(end=b"\n")[:40], r"row 3: the file ends there"),
        (binary(size=4), r"more follows the 4 rows of 3"),
        (binary().replace(b"5 3\n", b"5 2\n", 1), r"more follows|row \d"),
        (binary().replace(b"5 3\n", b"5 4\n", 1), r"row \d"),
        (binary(end=b"\n").replace(b"5 3\n", b"5 2\n", 1), r"more follows|row \d"),
        (b"0 3\n", r"header says 0 rows of 3"),
        (b"5 3\n", r"row 1: the file ends there"),
        (b"9" * 5000 + b" 3\nx", r"row 2: 0 numbers, not 1"),
        (b"3 2\n" + b"x" * 10_000, r"row 1: no word of a sane length"),
        (text(head="6 3\n"), r"row 6: the file ends there, but its header says 6 rows"),
        (text(head="4 3\n"), r"more follows the 4 rows"),
        (text(head="5 2\n"), r"header says 2 numbers a row, but the first row has 3"),
        (text(head="5 4\n"), r"header says 4 numbers a row, but the first row has 3"),
        (text() + b"cut 1 2\n", r"row 6: 2 numbers, not 3"),
        (text() + b"long 1 2 3 4\n", r"row 6: 4 numbers, not 3"),
        (text() + b"odd 1 x 3\n", r"row 6: 'x' is not a number"),
        (b"a 1\nb \x0b\nc 3\n", r"row 2: 0 numbers, not 1"),
        (b"1 1\na \x0b\n", r"row 1: "),
        (text() + b"odd 1  3\n", r"row 6: 2 numbers, not 3"),
        (text() + b"odd 1 nan 3\n", r"row 6: a number that is not finite"),
        (text() + b"odd 1 2,5 3\n", r"row 6: '2,5' is not a number"),
        (text() + b"odd 1 2 3x\n" + text(), r"row 6: '3x' is not a number"),
        (text() + b"odd 1 2 3x\n", r"row 6: '3x' is not a number"),
        (binary(rows=np.where(ROWS == 7, np.inf, ROWS)), r"row 2 \(byte 20\): a number that is not"),
        (b"Once upon a time\n", r"neither a word2vec nor a GloVe file"),
        (b"", r"neither a word2vec nor a GloVe file"),
        (gzip.compress(binary(), mtime=0)[:-20], r"damaged or truncated packed file"),
    ],
)
def test_damaged_files_are_refused_and_nothing_is_left(load, tmp_path, data, message):
    with pytest.raises(BoveError, match=message):
        load(data)
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_a_format_that_the_file_has_not_is_refused(load):
    with pytest.raises(BoveError, match="no word2vec header"):
        load(text(), "word2vec")


def test_a_file_with_no_word_left_is_refused(load):
    with pytest.raises(BoveError, match="no word to write"):
        load(binary((b"\xff",), ROWS[:1]))


def test_lookup_is_exact_and_gives_minus_one_for_none(load):
    found, _ = load(binary())
    np.testing.assert_array_equal(found.find(["The", "the", "", "“", "caf"]), [-1, 0, -1, 3, -1])
    assert found.find([]).shape == (0,)
    assert found.rows(np.array([], np.int64)).shape == (0, 3)
    with pytest.raises(IndexError):
        found.rows(np.array([0, -1]))


def test_words_that_share_a_key_are_told_apart(load, monkeypatch):
    monkeypatch.setattr(vectors, "_key", lambda word: len(word) % 2)
    words = ("a", "bb", "c", "a", "dd", "c", "bb", "e")
    rows = np.arange(8, dtype=np.float32)[:, None]
    found, counts = load(binary(words, rows))
    check(found, ("a", "bb", "c", "dd", "e"), rows[[0, 1, 2, 4, 7]])
    assert counts == {vectors.DUPLICATE: 3}
    np.testing.assert_array_equal(found.find(["x", "yy"]), [-1, -1])


def test_another_file_is_refused(tmp_path):
    (tmp_path / "x").write_bytes(binary())
    with pytest.raises(BoveError, match="not a safetensors file"):
        WordVectors.open(tmp_path / "x")
    with pytest.raises(BoveError, match="no such file"):
        WordVectors.open(tmp_path / "y")


def test_vocabulary_rows_are_found_under_variants_but_not_for_replacements(tmp_path):
    known = ["NB", "PUNCT", "paris", "Paris", "dogs", "UNKNOWN_T"]
    write_vectors(tmp_path / "v", [([w.encode() for w in known], np.eye(6, dtype=np.float32))], {})
    forms = ("5", ",", "Paris", "Paris", "DOGS", "DOGS", "zebra", "zebra", "rare")
    tree = Sentence("s", forms, ("T",) * 9, (0,) + (1,) * 8, ("x",) * 9)
    options = dict.fromkeys(("numbers", "punctuation", "adjacency"), True)
    options |= {"lookup": ["exact", "lower", "capitalised"]}
    vocabulary = build([tree], {"words": 2, "tags": 1, "relations": 1}, options)
    rows = pretrained_rows(vocabulary, WordVectors.open(tmp_path / "v"))
    expected = dict.fromkeys(("zebra", "NB", "PUNCT", "UNKNOWN_T"), -1) | {"Paris": 3, "DOGS": 4}
    assert dict(zip(vocabulary.words, rows.tolist(), strict=True)) == expected


spelt = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters=" \ufeff")
spelt = st.text(spelt, min_size=1, max_size=4)


@given(st.data())
def test_binary_files_give_back_their_words_and_rows(tmp_path_factory, data):
    words = data.draw(st.lists(spelt, min_size=1, max_size=6, unique=True))
    finite = st.floats(-1e5, 1e5, width=32).filter(lambda x: not 2**-63 <= x < 2**-62)
    rows = data.draw(arrays(np.float32, (len(words), data.draw(st.integers(2, 4))), elements=finite))
    folder = tmp_path_factory.mktemp("vectors")
    end = data.draw(st.sampled_from([b"", b"\n"]))
    (folder / "in").write_bytes(binary(words, rows, end))
    assert convert(folder / "in", folder / "out") == Counter()
    check(WordVectors.open(folder / "out"), words, rows)
