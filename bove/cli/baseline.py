"""`bove baseline`: bags of the baselines, from the words of sentences and their vectors."""

import argparse
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from bove.bags import ARCS, BASELINES, MEAN, OVERLAP, SIF, WHITENED
from bove.bags.baselines import Sif, comparison_of, mean, whitening, with_arcs
from bove.bags.store import BagWriter
from bove.cli.common import SWITCH, add_treebank_arguments, check_ids, flag, read_files
from bove.errors import BoveError
from bove.text.conll import Sentence, read_sentences
from bove.text.tokens import is_punctuation
from bove.text.vectors import WordLookup, WordVectors, pretrained_rows
from bove.text.vocabulary import Vocabulary

log = logging.getLogger("bove")
Bag = tuple[np.ndarray, np.ndarray | None]  # vectors [n, r], perhaps with their evidence [n]
NEEDS = {name: ("vectors", "vocabulary") for name in BASELINES} | {OVERLAP: ()}
NEEDS[SIF] += ("treebank",)


def register_baseline(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--system", choices=BASELINES, default=MEAN, help=f"which baseline (default {MEAN})")
    add("--sentences", required=True, metavar="FILE", help="the sentences, CoNLL-U")
    add("--vectors", metavar="FILE", help="vectors of words; overlap needs none")
    add("--vocabulary", metavar="FILE", help="how words are looked up; whitened: its words' vectors are P")
    add("--treebank", nargs="+", metavar="FILE", help="sif: what frequencies and component come from")
    add_treebank_arguments(parser)
    add("--punctuation", action=SWITCH, default=True, help="whether it counts as words")
    add("--output", required=True, metavar="FILE", help="bags.safetensors to write")


class Words(NamedTuple):
    """Numbers of a sentence's words, at least 0, and its arcs: places of head and dependent, and label."""

    rows: tuple[int, ...]
    arcs: tuple[tuple[int, int, str], ...] = ()


def run_baseline(args: argparse.Namespace) -> None:
    """Write the bags of one baseline."""
    missing = [name for name in NEEDS[args.system] if getattr(args, name) is None]
    if missing:
        raise BoveError(f"--system {args.system} needs {', '.join(map(flag, missing))}")
    if args.system == OVERLAP:
        numbers: dict[str, int] = {}
        row, rank, source = (lambda form: numbers.setdefault(form.lower(), len(numbers))), 1, ""
    else:
        vocabulary, vectors = Vocabulary.load(args.vocabulary), WordVectors.open(args.vectors)
        row, rank, source = WordLookup(vocabulary, vectors).row, vectors.dimensions, vectors.source_sha256
    ids, words, tokens = _words(read_sentences(args.sentences), row, args.punctuation, args.system == ARCS)
    check_ids(args.sentences, ids)
    if args.system == OVERLAP:
        _write(args, ids, words, rank, source, lambda own: (np.array(own.rows, np.float64)[:, None], None))
    elif args.system == ARCS:
        _write(args, ids, words, 2 * rank + 1, source, _arcs(_whitened(vocabulary, vectors), words))
    else:
        _write(args, ids, words, rank, source, _maker(args, vocabulary, vectors, row))
    log.info("%d sentences, %d of %d tokens count", len(ids), sum(len(own.rows) for own in words), tokens)


def _words(
    sentences: Iterable[Sentence], row: Callable[[str], int], punctuation: bool, arcs: bool = False
) -> tuple[list[str], list[Words], int]:
    """Id and words of each sentence, perhaps with its arcs, and how many tokens there are."""
    ids, found, tokens = [], [], 0
    for sentence in sentences:
        kept = [t for t, form in enumerate(sentence.forms) if punctuation or not is_punctuation(form)]
        rows = {t: number for t in kept if (number := row(sentence.forms[t])) >= 0}
        place = {t + 1: p for p, t in enumerate(rows)}
        ends = zip(sentence.heads, range(1, len(sentence.forms) + 1), sentence.relations, strict=True)
        linked = [(place[h], place[d], label) for h, d, label in ends if arcs and h in place and d in place]
        ids.append(sentence.id)
        found.append(Words(tuple(rows.values()), tuple(linked)))
        tokens += len(kept)
    return ids, found, tokens


def _maker(
    args: argparse.Namespace, vocabulary: Vocabulary, vectors: WordVectors, row: Callable[[str], int]
) -> Callable[[Words], Bag]:
    """A function from a sentence's n words to its bag of n vectors or one; no words give none."""

    def own(words):
        return vectors.rows(np.array(words.rows, np.int64))

    if args.system == MEAN:
        return lambda words: (mean(own(words)), None)
    if args.system == SIF:
        treebank = read_files(args.treebank, args.columns, args.encoding, what="treebank: ")
        _, sentences, tokens = _words(treebank, row, args.punctuation)
        sif = Sif.learn([words.rows for words in sentences], tokens, vectors.vectors)
        return lambda words: (sif(words.rows, own(words)), None)
    if args.system == WHITENED:
        return _whitened(vocabulary, vectors)
    return lambda words: (own(words), None)


def _whitened(vocabulary: Vocabulary, vectors: WordVectors) -> Callable[[Words], Bag]:
    rows = pretrained_rows(vocabulary, vectors)
    inverse = whitening(vectors.rows(rows[rows >= 0]))

    def make(words):
        p = vectors.rows(np.array(words.rows, np.int64))
        e = p @ inverse
        return e, np.einsum("ij,ij->i", p, e)

    return make


def _arcs(whitened: Callable[[Words], Bag], sentences: Sequence[Words]) -> Callable[[Words], Bag]:
    names = dict.fromkeys(label for words in sentences for *_, label in words.arcs)
    labels = {label: number for number, label in enumerate(names)}

    def make(words):
        arcs = [(head, dependent, labels[label]) for head, dependent, label in words.arcs]
        return with_arcs(*whitened(words), np.array(arcs, np.int64).reshape(-1, 3))

    return make


def _write(
    args, ids: Sequence[str], sentences: Sequence[Words], rank: int, source: str, make: Callable[[Words], Bag]
) -> None:
    """Write the bags; sentences of the same words share one, in any order where that does not matter."""
    pooled = args.system in (MEAN, SIF)
    if pooled:  # in one order, so that the same words have the same sum to the last digit
        sentences = [Words(tuple(sorted(words.rows))) for words in sentences]
    bags = {words: b for b, words in enumerate(dict.fromkeys(sentences))}
    lengths = [min(len(rows), 1) if pooled else len(rows) + len(arcs) for rows, arcs in bags]
    index = [bags[words] for words in sentences]
    more = comparison_of(args.system)
    evidence = args.system in (WHITENED, ARCS)
    with BagWriter(args.output, ids, lengths, index, rank, args.system, source, more, evidence) as writer:
        for words, b in bags.items():
            writer.put(b, *make(words))
