"""`bove baseline`: bags of the baselines, from the words of sentences and their vectors."""

import argparse
import logging
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from bove.bags import BASELINES, MEAN, OVERLAP, SIF, WHITENED
from bove.bags.baselines import COMPARED_BY, Sif, mean, whitening
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


def run_baseline(args: argparse.Namespace) -> None:
    """Write the bags of one baseline."""
    missing = [name for name in NEEDS[args.system] if getattr(args, name) is None]
    if missing:
        raise BoveError(f"--system {args.system} needs {', '.join(map(flag, missing))}")
    if args.system == OVERLAP:
        numbers: dict[str, int] = {}
        sentences, found, tokens = _rows(
            read_sentences(args.sentences),
            lambda form: numbers.setdefault(form.lower(), len(numbers)),
            args.punctuation,
        )
        _write(args, sentences, 1, "", lambda rows: (np.array(rows, np.float64)[:, None], None))
    else:
        vocabulary, vectors = Vocabulary.load(args.vocabulary), WordVectors.open(args.vectors)
        row = WordLookup(vocabulary, vectors).row
        sentences, found, tokens = _rows(read_sentences(args.sentences), row, args.punctuation)
        make = _maker(args, vocabulary, vectors, row)
        _write(args, sentences, vectors.dimensions, vectors.source_sha256, make)
    log.info("%d sentences, %d of %d tokens count", len(sentences), found, tokens)


def _rows(
    sentences: Iterable[Sentence], row: Callable[[str], int], punctuation: bool
) -> tuple[list[tuple[str, tuple[int, ...]]], int, int]:
    """Id and numbers, at least 0, of each sentence's words; how many words have one, of how many tokens."""
    found, known, tokens = [], 0, 0
    for sentence in sentences:
        forms = [form for form in sentence.forms if punctuation or not is_punctuation(form)]
        rows = tuple(number for number in map(row, forms) if number >= 0)
        found.append((sentence.id, rows))
        known, tokens = known + len(rows), tokens + len(forms)
    return found, known, tokens


def _maker(
    args: argparse.Namespace, vocabulary: Vocabulary, vectors: WordVectors, row: Callable[[str], int]
) -> Callable[[Sequence[int]], Bag]:
    """A function from the rows [n] of a sentence's words to its bag; no words give [0, r]."""

    def own(rows):
        return vectors.rows(np.array(rows, np.int64))

    if args.system == MEAN:
        return lambda rows: (mean(own(rows)), None)
    if args.system == SIF:
        treebank = read_files(args.treebank, args.columns, args.encoding, what="treebank: ")
        sentences, _, tokens = _rows(treebank, row, args.punctuation)
        sif = Sif.learn([rows for _, rows in sentences], tokens, vectors.vectors)
        return lambda rows: (sif(rows, own(rows)), None)
    if args.system == WHITENED:
        words = pretrained_rows(vocabulary, vectors)
        inverse = whitening(vectors.rows(words[words >= 0]))

        def whitened(rows):
            p = own(rows)
            e = p @ inverse
            return e, np.einsum("ij,ij->i", p, e)

        return whitened
    return lambda rows: (own(rows), None)


def _write(args, sentences, rank: int, source: str, make: Callable[[Sequence[int]], Bag]) -> None:
    """Write the bags; sentences of the same words share one where their order does not matter."""
    pooled = args.system in (MEAN, SIF)
    ids, all_rows = zip(*sentences, strict=True) if sentences else ((), ())
    check_ids(args.sentences, ids)
    # In one order, so that the same words have the same sum to the last digit.
    all_rows = [tuple(sorted(rows)) for rows in all_rows] if pooled else all_rows
    bags = {rows: b for b, rows in enumerate(dict.fromkeys(all_rows))}
    lengths = [min(len(rows), 1) if pooled else len(rows) for rows in bags]
    index = [bags[rows] for rows in all_rows]
    more = {"comparison": COMPARED_BY[args.system]} if args.system in COMPARED_BY else {}
    has_evidence = args.system == WHITENED
    with BagWriter(args.output, ids, lengths, index, rank, args.system, source, more, has_evidence) as writer:
        for rows, b in bags.items():
            writer.put(b, *make(rows))
