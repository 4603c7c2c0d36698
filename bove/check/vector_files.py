"""Checking word2vec and GloVe files."""

import hashlib
from array import array

import numpy as np

from bove.check.report import IN_PARTS, Report, in_parts
from bove.oddities import note
from bove.text.vector_files import find_kind, read_blocks
from bove.text.vectors import DUPLICATE, fault_of_word

PARTS = f"words {IN_PARTS}, which are others than whole ones"
ZERO = "vectors of zeros"


def check_vectors(report: Report) -> None:
    """Fill in a report on a file of word vectors, which is read as a stream.

    Raises:
        BoveError: the file is truncated, damaged, or not in its format.
    """
    report.kind, report.unit = "word vectors", "row"
    form = find_kind(report.path, "auto")
    name = "word2vec, binary" if form.binary else "word2vec, text" if form.header else "GloVe"
    report.kind = f"word vectors ({name})"
    report.facts["dimensions"] = form.dimensions
    number, norms, first = 0, [], []
    keys, places = array("Q"), array("q")
    for words, rows in read_blocks(report.path):
        first += [word.decode("utf-8", "replace") for word in words[: 8 - len(first)]]
        for row, word in enumerate(words, number + 1):
            fault = fault_of_word(word)
            if fault:
                note(report.oddities, fault, row)
                continue
            if in_parts(word.decode()):
                note(report.oddities, PARTS, row)
            places.append(row)
            keys.append(int.from_bytes(hashlib.blake2b(word, digest_size=8).digest(), "little"))
        lengths = np.linalg.norm(rows.astype(np.float64), axis=1)
        for row in np.flatnonzero(lengths == 0).tolist():
            note(report.oddities, ZERO, number + row + 1)
        norms.append(lengths)
        number += len(words)
    for i in _repeated(np.frombuffer(keys, np.uint64)):
        note(report.oddities, DUPLICATE, places[i])
    lengths = np.concatenate(norms)
    report.facts |= {
        "rows": number,
        "words": len(places) - report.oddities[DUPLICATE],
        "first words": " ".join(first),
        "lengths of the vectors": f"{lengths.min():.3g} to {lengths.max():.3g}, mean {lengths.mean():.3g}",
    }


def _repeated(keys: np.ndarray) -> list[int]:
    """Numbers from 0, ascending, of the keys that stood before."""
    order = np.argsort(keys, kind="stable")
    again = np.flatnonzero(keys[order][1:] == keys[order][:-1]) + 1
    return sorted(order[again].tolist())
