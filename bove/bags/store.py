"""Bags of vectors in one safetensors file: read mapped, written in any order.

The file holds `offsets` [B + 1] and `index` [S] int64, `vectors` [N, r] float32, and `ids`, the S
sentence ids as UTF-8 bytes joined by a newline. Bag b is vectors[offsets[b] : offsets[b + 1]] and
sentence s has bag index[s], so sentences that are alike share one. A file without `index` has one
bag per sentence, in order. `evidence` [N] float64, which may be missing, says how much each vector counts
in scores by evidence; it is of more bytes than the vectors, since it may be as large as their squares. A file
of `bove embed` has the sentences too: their UTF-8 bytes in `texts`, and [S + 1] `text_offsets` into these.
Files from elsewhere may have vectors of 2, 4 or 8 bytes and need no metadata; `write_bags` writes one from
arrays.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

import numpy as np

from bove import artefacts
from bove.errors import BoveError, check_finite

FORMAT = "bove-bags"
_NOT_FINITE = (
    "a value that is not finite, or beyond single precision; make the vectors again with finite numbers"
)
_INTEGERS = "i1 i2 i4 i8 u1 u2 u4 u8"
# types and number of axes of each array
_KINDS = {"vectors": ("f2 f4 f8", 2), "offsets": (_INTEGERS, 1), "index": (_INTEGERS, 1), "ids": ("u1", 1)}
_KINDS |= {"evidence": ("f2 f4 f8", 1)}
_BLOCK = 1 << 16  # rows that are looked at together


def _checked_arrays(path: str | Path, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays, with an index where the file has none; BoveError where they do not fit together."""
    if missing := {"vectors", "offsets", "ids"} - arrays.keys():
        raise BoveError(
            f"{path}: has no '{min(missing)}', so holds no bags; a file of bags has vectors, offsets and ids"
        )
    for name, (codes, axes) in _KINDS.items():
        array = arrays.get(name)
        if array is not None and (array.dtype.str[1:] not in codes.split() or array.ndim != axes):
            kind = "floats" if "f8" in codes else "whole numbers"
            raise BoveError(
                f"{path}: '{name}' is {array.dtype} with {array.ndim} axes; give {kind} with {axes}"
            )
    vectors, evidence = arrays["vectors"], arrays.get("evidence")
    if evidence is not None and len(evidence) != len(vectors):
        raise BoveError(f"{path}: 'evidence' has {len(evidence)} numbers of {len(vectors)} vectors")
    found = {"index": np.arange(max(len(arrays["offsets"]) - 1, 0)), **arrays}
    found |= {name: found[name].astype(np.int64) for name in ("offsets", "index")}
    _check_layout(path, found["offsets"], found["index"], len(vectors))
    return found


def _check_layout(path, offsets, index, n_vectors) -> None:
    """Raise BoveError where offsets do not cut the vectors into bags, or the index names none of these."""
    ends = [*offsets[:1], *offsets[-1:]]
    if ends != [0, n_vectors] or (np.diff(offsets) < 0).any():
        raise BoveError(
            f"{path}: the offsets do not rise from 0 to {n_vectors}, the number of vectors; bag b lies "
            f"between offsets b and b + 1"
        )
    if len(wrong := np.flatnonzero((index < 0) | (index >= len(offsets) - 1))):
        s = int(wrong[0])
        raise BoveError(f"{path}: the index names bag {index[s]} of {len(offsets) - 1}, numbered from 0")


def _unpack_ids(path: Path, blob: np.ndarray, count: int) -> tuple[str, ...]:
    """The `count` sentence ids; BoveError where there are others."""
    try:
        ids = artefacts.unpack_lines(blob)
    except UnicodeDecodeError as e:
        raise BoveError(f"{path}: the ids are not UTF-8; write them so, with line breaks between") from e
    if not len(ids) == len(set(ids)) == count:
        raise BoveError(f"{path}: has {len(set(ids))} sentence ids for {count} sentences; give each its own")
    return ids


class Bags(Mapping[str, np.ndarray]):
    """The bags of a file: the [n, r] float32 vectors of each sentence by its id, read when asked for.

    Attributes:
        path: the file.
        ids: the S sentence ids, in the file's order.
        vectors: [N, r], mapped; pages are read when touched.
        evidence: [N] of each vector, mapped; None where the file has none.
        offsets: [B + 1] int64, first vector of each bag.
        index: [S] int64, bag of each sentence.
        system, model_hash: what made the bags; "" where the file does not say.
        metadata: all that the file says of itself.
    """

    def __init__(self, path: Path, tensors: dict[str, np.ndarray], metadata: dict[str, str]):
        self.path = path
        self.vectors, self.offsets, self.index = (tensors[name] for name in ("vectors", "offsets", "index"))
        self.evidence = tensors.get("evidence")
        self.ids = _unpack_ids(path, tensors["ids"], len(self.index))
        self.system = metadata.get("system", "")
        self.model_hash = metadata.get("model_hash", "")
        self.metadata = metadata
        self._texts = tensors.get("texts"), tensors.get("text_offsets")

    @classmethod
    def open(cls, path: str | Path) -> "Bags":
        """The bags of a file, as `write_bags`, `bove infer` and `bove embed` write it (`bove.read_bags`).

        Vectors are read when they are asked for. The file may have the sentences, `texts`, and the evidence
        of bag b, `evidence_of(b)`.

        Raises:
            BoveError: the file is missing, damaged or something else.
        """
        arrays, metadata = artefacts.open_mapped(path, FORMAT, foreign=True)
        return cls(Path(path), _checked_arrays(path, arrays), metadata)

    @property
    def rank(self) -> int:
        """r, the dimensions of a vector."""
        return self.vectors.shape[1]

    @property
    def n_bags(self) -> int:
        """B, the number of distinct bags."""
        return len(self.offsets) - 1

    @cached_property
    def texts(self) -> list[str] | None:
        """The S sentences, where the file has them."""
        blob, offsets = self._texts
        if blob is None or offsets is None:
            return None
        return artefacts.unpack_words(blob, offsets)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: s for s, name in enumerate(self.ids)}

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def __contains__(self, sentence_id: object) -> bool:
        return sentence_id in self._places

    def get(self, sentence_id, default=None):
        """[n, r] float32, the vectors of a sentence; the default where the file has no such sentence."""
        found = sentence_id in self
        return self[sentence_id] if found else default

    __eq__, __hash__ = object.__eq__, object.__hash__  # arrays have no truth value

    def bag_of(self, sentence_id: str) -> int:
        """Number of the sentence's bag; BoveError where the file has no such sentence."""
        if sentence_id not in self._places:
            raise BoveError(
                f"{self.path}: has no bag for sentence '{sentence_id}'; infer the bags from the same pairs"
            )
        return int(self.index[self._places[sentence_id]])

    def bag(self, b: int) -> np.ndarray:
        """[n, r] float32, the vectors of bag b; what is too large for it becomes infinite."""
        with np.errstate(over="ignore"):
            return np.asarray(self.vectors[self.offsets[b] : self.offsets[b + 1]], np.float32)

    def check_model(self, rank: int, model_hash: str, name: str) -> None:
        """BoveError where `name`, with vectors of this rank and model, does not go with these bags."""
        if rank != self.rank:
            raise BoveError(
                f"{name}: vectors of {rank} dimensions, but {self.path} has {self.rank}; use one model"
            )
        if model_hash and self.model_hash and model_hash != self.model_hash:
            raise BoveError(
                f"{name}: of model {model_hash[:12]}, but {self.path} is of {self.model_hash[:12]}; use one "
                f"model"
            )

    def check_finite(self, rows: slice = slice(None)) -> None:
        """BoveError where one of the vectors, or of some rows of them, is not finite in single precision."""
        first, end, _ = rows.indices(len(self.vectors))
        for start in range(first, end, _BLOCK):
            with np.errstate(over="ignore"):
                block = self.vectors[start : min(start + _BLOCK, end)].astype(np.float32, copy=False)
            if not (finite := np.isfinite(block).all(axis=1)).all():
                b = int(np.searchsorted(self.offsets, start + int(np.argmin(finite)), "right")) - 1
                names = [self.ids[s] for s in np.flatnonzero(self.index == b)[:1]]
                of = f"the bag of sentence '{names[0]}'" if names else f"bag {b}"
                raise BoveError(f"{self.path}: {of} holds {_NOT_FINITE}")

    def finite_bag(self, b: int) -> np.ndarray:
        """[n, r] float32, the vectors of bag b; BoveError where one is not finite."""
        self.check_finite(slice(self.offsets[b], self.offsets[b + 1]))
        return self.bag(b)

    def evidence_of(self, b: int) -> np.ndarray:
        """[n] the evidence of the vectors of bag b; errors are those of `evidence_at`."""
        return self.evidence_at(slice(self.offsets[b], self.offsets[b + 1]))

    def evidence_at(self, rows: slice | np.ndarray) -> np.ndarray:
        """The evidence of some rows of the vectors.

        Raises:
            BoveError: the file has none, or it is not finite.
        """
        if self.evidence is None:
            raise BoveError(
                f"{self.path}: has no evidence of its vectors; weight them by length, or make the bags again "
                f"with `bove infer` or with the evidence that `write_bags` takes"
            )
        evidence = self.evidence[rows]
        check_finite(evidence, f"{self.path}: its evidence", "make the bags again")
        return evidence

    def __getitem__(self, sentence_id: str) -> np.ndarray:
        """[n, r] float32, the vectors of a sentence; BoveError where the file has no such sentence."""
        return self.bag(self.bag_of(sentence_id))


class BagWriter:
    """Context manager that fills a file of bags in any order and puts it in place when all are there.

    Args:
        path: the file, which appears once the block ends without an error.
        ids: [S] sentence ids, none twice, none empty, none with a newline.
        lengths: [B] number of vectors of each distinct bag.
        index: [S] bag of each sentence.
        system, model_hash: what made the bags.
        more: further strings to keep with them.
        evidence: whether the file has it too; then bags are put with theirs.
        texts: [S] the sentences, to be kept too.

    Raises ValueError for vectors that do not fit and for bags left unfilled, BoveError where the file
    cannot be written.
    """

    def __init__(
        self,
        path: str | Path,
        ids: Sequence[str],
        lengths: np.ndarray,
        index: np.ndarray,
        rank: int,
        system: str,
        model_hash: str,
        more: Mapping[str, str] | None = None,
        evidence: bool = False,
        texts: Sequence[str] | None = None,
    ):
        lengths, index = np.asarray(lengths, np.int64), np.asarray(index, np.int64)
        self._path = path
        self.offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self._shape, self._evidence = (int(self.offsets[-1]), int(rank)), evidence
        self._small = {"offsets": self.offsets, "index": index, "ids": artefacts.pack_lines(ids)}
        if texts is not None:
            self._small["texts"], self._small["text_offsets"] = artefacts.pack_words(texts)
        self._metadata = {**(more or {}), "system": system, "model_hash": model_hash}
        self._filled = lengths == 0

    def __enter__(self) -> "BagWriter":
        shapes = {name: (array.dtype, array.shape) for name, array in self._small.items()}
        shapes["vectors"] = (np.dtype(np.float32), self._shape)
        if self._evidence:
            shapes["evidence"] = (np.dtype(np.float64), self._shape[:1])
        with ExitStack() as stack:
            writer = stack.enter_context(artefacts.create(self._path, FORMAT, shapes, self._metadata))
            for name, array in self._small.items():
                writer.put(name, array)
            self._arrays = {name: writer.map(name) for name in shapes if name not in self._small}
            self._stack = stack.pop_all()
        return self

    def put(self, b: int, vectors: np.ndarray, evidence: np.ndarray | None = None) -> None:
        """Fill bag b with [n, r] vectors and their evidence [n]."""
        self.put_many(np.array([b]), vectors, evidence)

    def put_many(self, bags: np.ndarray, vectors: np.ndarray, evidence: np.ndarray | None = None) -> None:
        """Fill k bags: bags [k], vectors [m, r] and their evidence [m], one bag's after another's."""
        bags, vectors = np.asarray(bags, np.int64), np.asarray(vectors)
        lengths = self.offsets[bags + 1] - self.offsets[bags]
        if vectors.shape != (lengths.sum(), self._shape[1]):
            raise ValueError(f"vectors of shape {vectors.shape} do not fit bags {bags.tolist()}")
        # where each bag starts in the file, less where it starts in `vectors`
        shift = np.repeat(self.offsets[bags] - (np.cumsum(lengths) - lengths), lengths)
        rows = shift + np.arange(len(vectors))
        self._arrays["vectors"][rows] = vectors
        if self._evidence:
            self._arrays["evidence"][rows] = evidence
        self._filled[bags] = True

    def __exit__(self, kind, error, trace) -> None:
        self._arrays = {}
        if kind is not None:
            self._stack.__exit__(kind, error, trace)
            return
        with self._stack:
            if not self._filled.all():
                raise ValueError(f"{int((~self._filled).sum())} bags were not filled")


read_bags = Bags.open


def write_bags(
    path: str | Path,
    bags: Mapping[str, np.ndarray],
    system: str = "",
    evidence: Mapping[str, np.ndarray] | None = None,
) -> None:
    """Write bags that any system made, whole or not at all; values become single precision.

    Args:
        path: where the file goes.
        bags: [n, r] vectors of each sentence, by its id; n may differ, and 0 is an empty bag.
        system: what made them.
        evidence: [n] of each bag's vectors, by the same ids, for scores weighted by it.

    Raises:
        BoveError: no vector at all, a bag of another shape or with a value that is not finite, evidence that
            does not fit, an id that is no text, is empty or has a line break.
    """
    if not isinstance(bags, Mapping):
        raise BoveError(f"{path}: {type(bags).__name__} is given; give the bag of each sentence by its id")
    arrays = {name: _checked(name, bag) for name, bag in bags.items()}
    ranks = {name: array.shape[1] for name, array in arrays.items() if len(array)}
    if not ranks:
        raise BoveError(f"{path}: no sentence has a vector, so there is nothing to write")
    first, rank = next(iter(ranks.items()))
    for name, other in ranks.items():
        if other != rank:
            raise BoveError(
                f"the bag of '{name}' has vectors of {other} dimensions, that of '{first}' of {rank}; "
                f"give all the same"
            )
    artefacts.pack_lines(list(arrays))
    known = None if evidence is None else {name: _fitting(name, a, evidence) for name, a in arrays.items()}
    layout = [len(array) for array in arrays.values()], np.arange(len(arrays)), rank
    with BagWriter(path, list(arrays), *layout, system, "", evidence=known is not None) as writer:
        for b, (name, array) in enumerate(arrays.items()):
            if len(array):
                writer.put(b, array, known and known[name])


def _fitting(name: str, bag: np.ndarray, evidence: Mapping[str, np.ndarray]) -> np.ndarray:
    """[n] float64, the evidence of a bag's vectors."""
    try:
        found = np.asarray(evidence[name], np.float64)
    except (KeyError, TypeError, ValueError):
        found = np.empty((0, 0))
    if found.shape != (len(bag),) or not np.isfinite(found).all():
        raise BoveError(f"the evidence of '{name}': give a finite number for each of its {len(bag)} vectors")
    return found


def _checked(name: str, bag) -> np.ndarray:
    if not isinstance(name, str):
        raise BoveError(f"{name!r} is no sentence's id; give each bag by a text")
    try:
        array = np.asarray(bag)
    except ValueError as e:
        raise BoveError(f"the bag of '{name}' has rows of different lengths; give all the same") from e
    if array.size == 0:
        return np.zeros((0, 0), np.float32)
    if array.ndim != 2 or array.dtype.kind not in "fiu":
        raise BoveError(
            f"the bag of '{name}' is {array.dtype} of shape {array.shape}; give numbers of shape [n, r]"
        )
    with np.errstate(over="ignore"):
        array = array.astype(np.float32)
    if not np.isfinite(array).all():
        raise BoveError(f"the bag of '{name}' holds {_NOT_FINITE}")
    return array
