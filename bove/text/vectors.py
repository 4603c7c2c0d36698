"""Pretrained word vectors in one mapped file: converted once, opened in no time, read row by row.

The file holds `vectors` [V, r] float32, all words' UTF-8 bytes in `words`, [V + 1] `word_offsets`, and an
index: `keys`, the sorted 64-bit hashes of the words, with `rows`, the row of each.
"""

import hashlib
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import compress
from pathlib import Path

import numpy as np

from bove import artefacts
from bove.errors import BoveError
from bove.files import Oddities, atomic_path, check_file, note, read_lines, sha256
from bove.text.vector_files import read_blocks
from bove.text.vocabulary import Vocabulary

FORMAT = "bove-vectors"
NOT_UTF8 = "words that are not UTF-8, left out"
EMPTY = "empty words, left out"
MARKED = "words with an invisible byte order mark, U+FEFF, left out"
DUPLICATE = "repeated words, left out"
# type and number of axes of each array
_ARRAYS = {"vectors": ("<f4", 2), "words": ("|u1", 1), "word_offsets": ("<i8", 1)}
_ARRAYS |= {"keys": ("<u8", 1), "rows": ("<i8", 1)}
_MOST = 2**31 - 1  # of an option of word2vec: beyond it gensim's thread ends, and gensim waits for it forever


def _key(word: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(word, digest_size=8).digest(), "little")


class WordVectors:
    """The vectors of a file, looked up by word.

    Attributes:
        path: the file.
        vectors: [V, r] float32, mapped; pages are read when touched.
        source_sha256: hash of the file that they came from.
    """

    def __init__(self, arrays: dict[str, np.ndarray], source_sha256: str = "", path: str | Path = ""):
        self.path = path
        self.vectors = arrays["vectors"]
        self.source_sha256 = source_sha256
        self._blob, self._offsets = arrays["words"], arrays["word_offsets"]
        self._keys, self._rows = arrays["keys"], arrays["rows"]

    @classmethod
    def open(cls, path: str | Path) -> "WordVectors":
        """Map a file that `bove vectors` wrote.

        Raises:
            BoveError: the file is missing, damaged or holds something else.
        """
        arrays, metadata = artefacts.open_mapped(path, FORMAT)
        sound = {name: (array.dtype.str, array.ndim) for name, array in arrays.items()} == _ARRAYS
        if sound:
            sizes = {len(arrays[name]) for name in ("keys", "vectors", "rows")}
            ends = arrays["word_offsets"]
            sound = sizes == {len(ends) - 1} and (ends[0], ends[-1]) == (0, len(arrays["words"]))
        if not sound:
            raise BoveError(f"{path}: vectors whose parts do not fit together; make the file again")
        return cls(arrays, metadata.get("source_sha256", ""), path)

    def __len__(self) -> int:
        return len(self.vectors)

    @property
    def dimensions(self) -> int:
        return self.vectors.shape[1]

    def word(self, row: int) -> str:
        """The word of a row."""
        return self._word(row).decode()

    def _word(self, row: int) -> bytes:
        if not 0 <= row < len(self):
            raise BoveError(f"{self.path}: an index to rows that it lacks; make the file again")
        return self._blob[self._offsets[row] : self._offsets[row + 1]].tobytes()

    def find(self, words: Sequence[str]) -> np.ndarray:
        """[len(words)] int64: the row of each word, spelt exactly so, or -1. BoveError for a damaged file."""
        raw = [word.encode("utf-8", "surrogatepass") for word in words]
        wanted = np.array([_key(word) for word in raw], np.uint64)
        found = np.full(len(raw), -1, np.int64)
        starts = np.searchsorted(self._keys, wanted, "left")
        ends = np.searchsorted(self._keys, wanted, "right")
        for i in np.flatnonzero(ends > starts).tolist():
            # Two words can share a key, so the word itself decides.
            rows = self._rows[starts[i] : ends[i]].tolist()
            found[i] = next((row for row in rows if self._word(row) == raw[i]), -1)
        return found

    def first(self, variants: Sequence[str]) -> int:
        """Row of the first of a word's variants that has a vector, or -1."""
        return int(next((row for row in self.find(variants) if row >= 0), -1))

    def rows(self, index: np.ndarray) -> np.ndarray:
        """[len(index), r] float32 copy of the rows `index`, none of which may be below 0."""
        index = np.asarray(index, np.int64)
        if index.size and index.min() < 0:
            raise IndexError("a row below 0: select the words that were found first")
        return self.vectors[index]


class WordLookup:
    """Words of a text, looked up under the variants of a vocabulary."""

    def __init__(self, vocabulary: Vocabulary, vectors: WordVectors):
        self.vectors = vectors
        self.row = cache(lambda form: vectors.first(vocabulary.variants(form)))

    def places(self, forms: Sequence[str]) -> list[int]:
        """The tokens, from 0, whose form has a vector."""
        return [place for place, form in enumerate(forms) if self.row(form) >= 0]


def word_evidence(vectors: np.ndarray) -> np.ndarray:
    """[n] float64 ‖p‖², the evidence pᵀe of words whose own vectors p [n, r] are their bag's."""
    return np.square(vectors, dtype=np.float64).sum(axis=1)


def pretrained_rows(vocabulary: Vocabulary, vectors: WordVectors) -> np.ndarray:
    """[n_words] int64: the row of each word's vector under its first variant that has one, else -1.

    Replacements (NB, PUNCT, UNKNOWN_…) have none, even where the vectors know such a word.
    """
    rows = [
        -1 if vocabulary.is_reserved(word) else vectors.first(vocabulary.variants(word))
        for word in vocabulary.words
    ]
    return np.array(rows, np.int64)


def convert(
    source: str | Path, output: str | Path, format: str = "auto", limit: int | None = None
) -> Oddities:
    """Turn a word2vec (binary or text) or GloVe file into a mapped file, in little memory.

    All words are kept, since a later data set may ask for any of them; opening the result costs nothing.

    Args:
        format: "word2vec", "glove", or "auto": by content.
        limit: number of rows to read, from the first; all where None.

    Returns:
        Rows left out, by kind, with the number of each kind's first; a repeated word keeps its first vector.

    Raises:
        BoveError: the file is truncated, damaged, or not in the format.
    """
    counts = Oddities(keep=1)
    left_out = array("q")
    blocks = _decodable(read_blocks(source, format, limit), counts, left_out)
    repeated = write_vectors(output, blocks, {"source_sha256": sha256(source)})
    # `repeated` numbers the rows that were handed over; the file's numbers count those left out before too.
    gaps = np.array(left_out, np.int64) - np.arange(len(left_out))
    for row in (repeated + np.searchsorted(gaps, repeated, "right")).tolist():
        note(counts, DUPLICATE, row + 1)
    return counts


def fault_of_word(word: bytes) -> str | None:
    """Why a row with this word is left out; None where it is not."""
    try:
        return MARKED if "\ufeff" in word.decode() else None if word else EMPTY
    except UnicodeDecodeError:
        return NOT_UTF8


def _decodable(blocks, counts, left_out) -> Iterator[tuple[list[bytes], np.ndarray]]:
    """Blocks without the rows whose word is empty or not UTF-8; their numbers, from 0, are appended."""
    first = 0
    for words, rows in blocks:
        keep = np.ones(len(words), bool)
        for i, word in enumerate(words):
            fault = fault_of_word(word)
            if fault:
                keep[i] = False
                left_out.append(first + i)
                note(counts, fault, first + i + 1)
        first += len(words)
        yield (words, rows) if keep.all() else (list(compress(words, keep)), rows[keep])


def write_vectors(
    output: str | Path, blocks: Iterable[tuple[list[bytes], np.ndarray]], metadata: dict[str, str]
) -> np.ndarray:
    """Write blocks of words (UTF-8) and rows [n, r] to a mapped file, atomically.

    The number of rows is known at the end only, so they wait in an unnamed file beside the output.

    Returns:
        Numbers, from 0 and ascending, of the rows that were left out because an earlier one has their word.
    """
    output, piece = Path(output), 1 << 24
    with atomic_path(output) as tmp, tempfile.TemporaryFile(dir=output.parent) as scratch:
        blob, ends, keys, dimensions = bytearray(), array("q", [0]), array("Q"), 0
        for words, rows in blocks:
            dimensions = rows.shape[1]
            for word in words:
                blob += word
                ends.append(len(blob))
                keys.append(_key(word))
            scratch.write(np.ascontiguousarray(rows, "<f4").reshape(-1).view(np.uint8).data)
        if not keys:
            raise BoveError(f"{output}: there is no word to write; check the source")
        arrays, drop = _index(blob, ends, keys)
        shapes = {name: (values.dtype, values.shape) for name, values in arrays.items()}
        shapes["vectors"] = (np.dtype("<f4"), (len(keys) - len(drop), dimensions))
        shapes["words"] = (np.dtype("u1"), (int(arrays["word_offsets"][-1]),))
        with artefacts.create(tmp, FORMAT, shapes, metadata) as writer:
            for name, values in arrays.items():
                writer.put(name, values)
            for start, end in zip([0, *(drop + 1).tolist()], [*drop.tolist(), len(keys)], strict=True):
                writer.put("words", memoryview(blob)[ends[start] : ends[end]])
                scratch.seek(4 * dimensions * start)
                for left in range(4 * dimensions * (end - start), 0, -piece):
                    writer.put("vectors", scratch.read(min(left, piece)))
    return drop


def _index(blob: bytearray, ends: array, keys: array) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The arrays that find a word, and the rows [k] of repeated words, which they leave out.

    Millions of words pass here, so arrays are views where they can be.
    """
    offsets, keys = np.frombuffer(ends, np.int64), np.frombuffer(keys, np.uint64)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    drop = _repeated(blob, offsets, keys, order)
    if len(drop):
        keep = np.ones(len(keys), bool)
        keep[drop] = False
        keys, order = keys[keep[order]], order[keep[order]]
        order = (np.cumsum(keep) - 1)[order]
        offsets = np.concatenate([offsets[:1], np.cumsum(np.diff(offsets)[keep])])
    return {"word_offsets": offsets, "keys": keys, "rows": order}, drop


def _repeated(blob, offsets, ordered_keys, order) -> np.ndarray:
    """Rows, ascending, of words that an earlier row has; two words may share a key."""
    drop = []
    seen: set[bytes] = set()
    for place in np.flatnonzero(ordered_keys[1:] == ordered_keys[:-1]).tolist():
        first, second = (bytes(blob[offsets[row] : offsets[row + 1]]) for row in order[place : place + 2])
        seen.add(first)
        if second in seen:
            drop.append(int(order[place + 1]))
        seen.add(second)
    return np.sort(np.array(drop, np.int64))


class _Lines:
    """A corpus, one sentence per line, tokens between spaces, that can be read again and again."""

    # gensim leaves out what goes beyond this many tokens of a sentence.
    LONGEST = 10_000

    def __init__(self, path: str | Path):
        self.path = path

    def __iter__(self) -> Iterator[list[str]]:
        for _, line in read_lines(self.path):
            tokens = [token for token in line.split(" ") if token]
            for start in range(0, len(tokens), self.LONGEST):
                yield tokens[start : start + self.LONGEST]


def train(
    source: str | Path,
    output: str | Path,
    dimensions: int,
    window: int,
    epochs: int,
    min_count: int,
    negative: int,
    seed: int,
) -> None:
    """Train word2vec (skip-gram, negative sampling) on raw text and write a mapped file.

    One thread, so that the same text and seed give the same bytes.

    Args:
        source: one sentence per line, its tokens between spaces.
        output: the mapped file.
        dimensions, window, epochs, min_count, negative, seed: as word2vec names them.

    Raises:
        BoveError: no word of the text occurs `min_count` times, or an option is out of its range.
    """
    counted = {"window": window, "epochs": epochs, "min_count": min_count, "negative": negative}
    for name, value in {"dimensions": dimensions, **counted}.items():
        if not 1 <= value <= _MOST:
            raise BoveError(f"{name} {value}: out of range; give 1 to {_MOST}")
    if not 0 <= seed < 2**32:
        raise BoveError(f"seed {seed}: out of range; give 0 to {2**32 - 1}")
    check_file(source)
    from gensim.models import Word2Vec

    options = {"window": window, "min_count": min_count, "negative": negative, "seed": seed}
    model = Word2Vec(vector_size=dimensions, sg=1, workers=1, **options)
    corpus = _Lines(source)
    model.build_vocab(corpus)
    if not model.wv.index_to_key:
        raise BoveError(f"{source}: no word occurs {min_count} times; lower min_count or give more text")
    model.train(corpus, total_examples=model.corpus_count, epochs=epochs)
    words = [word.encode() for word in model.wv.index_to_key]
    metadata = {"source_sha256": sha256(source), "seed": str(seed)}
    metadata |= {name: str(value) for name, value in counted.items()}
    write_vectors(output, [(words, model.wv.vectors)], metadata)
