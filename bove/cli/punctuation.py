"""Bags without the vectors of punctuation: which tokens of graphs stay, and what is left out."""

import logging
from collections.abc import Iterator, Sequence

import numpy as np

from bove.errors import BoveError
from bove.graphs import GraphCorpus
from bove.text.conll import read_sentences
from bove.text.words import is_punctuation

log = logging.getLogger("bove")


def kept_tokens(corpus: GraphCorpus, graphs: str, paths: Sequence[str]) -> np.ndarray:
    """[T] bool: the tokens of the corpus that are no punctuation.

    Args:
        corpus: graphs, and `graphs`, the name of their file.
        paths: files of the sentences that the graphs were encoded from, one after another.

    Raises:
        BoveError: the sentences have other ids or lengths than the graphs, or are more or fewer.
    """
    kept = np.empty(corpus.n_tokens, bool)
    source, number = ", ".join(paths), 0
    for number, (path, sentence) in enumerate(_sentences(paths), 1):
        if number > corpus.n_graphs:
            raise _mismatch(f"{source}: more sentences than the {corpus.n_graphs} graphs of {graphs}")
        s, size = number - 1, len(sentence.forms)
        name = corpus.ids[s] if corpus.ids else sentence.id
        if (sentence.id, size) != (name, corpus.lengths[s]):
            raise _mismatch(
                f"{path}: sentence {sentence.id!r} of {size} tokens where {graphs} has {name!r} of "
                f"{corpus.lengths[s]}"
            )
        first = corpus.token_offsets[s]
        kept[first : first + size] = [not is_punctuation(form) for form in sentence.forms]
    if number < corpus.n_graphs:
        raise _mismatch(f"{source}: {number} sentences for the {corpus.n_graphs} graphs of {graphs}")
    return kept


def _sentences(paths) -> Iterator:
    return ((path, sentence) for path in paths for sentence in read_sentences(path))


def _mismatch(found) -> BoveError:
    return BoveError(f"{found}; give the sentences that the graphs were encoded from")


def count_kept(corpus: GraphCorpus, kept: np.ndarray) -> np.ndarray:
    """[S] how many tokens of each graph stay."""
    before = np.concatenate([[0], np.cumsum(kept)])
    return before[corpus.token_offsets[1:]] - before[corpus.token_offsets[:-1]]


def log_left_out(before: Sequence[int], after: Sequence[int]) -> None:
    """Say how many vectors [S] sentences had, and how many of them stay."""
    before, after = np.asarray(before, np.int64), np.asarray(after, np.int64)
    log.info(
        "punctuation: %d of %d vectors left out, which leaves %d sentences without any",
        before.sum() - after.sum(), before.sum(), int(((before > 0) & (after == 0)).sum()),
    )  # fmt: skip
