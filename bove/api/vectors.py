"""Pretrained word vectors as vectors of properties."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from bove.text.vectors import WordVectors


class _WordProperties(Mapping[str, np.ndarray]):
    """Properties `word:…` of a mapped file, read when asked for."""

    def __init__(self, vectors: WordVectors, prefix: str):
        self._vectors, self._prefix = vectors, prefix

    def _row(self, name: object) -> int:
        if not isinstance(name, str) or not name.startswith(self._prefix):
            return -1
        return int(self._vectors.find([name.removeprefix(self._prefix)])[0])

    def __contains__(self, name: object) -> bool:
        return self._row(name) >= 0

    def __getitem__(self, name: str) -> np.ndarray:
        row = self._row(name)
        if row < 0:
            raise KeyError(name)
        return self._vectors.rows(np.array([row]))[0]

    def __len__(self) -> int:
        return len(self._vectors)

    def __iter__(self) -> Iterator[str]:
        return (self._prefix + self._vectors.word(row) for row in range(len(self)))


def read_vectors(path: str | Path, prefix: str = "word:") -> Mapping[str, np.ndarray]:
    """Word vectors that `bove vectors` wrote, by the name of the property that a word is.

    Args:
        path: vectors.safetensors; it is mapped, not read.
        prefix: what stands before the word in the property's name.

    Raises:
        BoveError: the file is missing, damaged or something else.
    """
    return _WordProperties(WordVectors.open(path), prefix)
