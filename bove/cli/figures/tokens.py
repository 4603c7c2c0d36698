"""`bove figures tokens`: the token vectors of chosen pairs of a data set, in two dimensions."""

import logging
from collections.abc import Sequence

import numpy as np

from bove.bags import Bags
from bove.cli.outputs import write_files
from bove.cli.punctuation import is_punctuation
from bove.errors import BoveError
from bove.evaluate.alignment import entailment_score, similarity_score
from bove.evaluate.plot_scores import in_order
from bove.evaluate.plot_tokens import Cloud, Pairing, draw_tokens
from bove.evaluate.plots import figure_files
from bove.text.conll import read_sentences
from bove.text.pairs import Pair, read_pairs
from bove.text.vectors import WordVectors
from bove.text.vocabulary import Vocabulary

log = logging.getLogger("bove")
DEFAULT_PAIRS = 3
SCORES = {"similarity": ("STS", similarity_score), "entailment": ("SNLI", entailment_score)}


def register(parser) -> None:
    add = parser.add_argument
    add("--pairs", required=True, help="pairs of one data set (pairs.jsonl)")
    add("--sentences", required=True, help="their trees (parses.conllu.gz)")
    add(
        "--bags",
        required=True,
        nargs="+",
        action="extend",
        metavar="NAME=FILE",
        help="a system's bags (bags.safetensors) and its name above the panel",
    )
    add("--vectors", help="vectors of the words, needed for bags of the system word-vectors")
    add("--vocabulary", help="how words are looked up, needed likewise")
    add(
        "--pair",
        nargs="+",
        action="extend",
        default=[],
        metavar="ID",
        help=f"pairs to show (default: the first of each of {DEFAULT_PAIRS} subsets, or of each label)",
    )
    add("--output", required=True, help="folder that gets tokens-DATASET.svg and .png")


def run(args) -> None:
    """Write the two files, each whole."""
    pairs = read_pairs(args.pairs)
    if not pairs:
        raise BoveError(f"{args.pairs}: holds no pairs; make the file again with `bove pairs`")
    chosen = _named(args, pairs) if args.pair else _first(pairs)
    wanted = {f"{pair.id}.{side}" for pair in chosen for side in (1, 2)}
    sentences = {s.id: s.forms for s in read_sentences(args.sentences) if s.id in wanted}
    missing = sorted(wanted - sentences.keys())
    if missing:
        raise BoveError(f"{args.sentences}: has no sentence '{missing[0]}'; give the trees of these pairs")
    bags = {}
    for argument in args.bags:
        name, _, path = argument.partition("=")
        if not name.strip() or not path or name in bags:
            raise BoveError(f"--bags {argument}: not NAME=FILE with a new name; write bove=bags.safetensors")
        bags[name] = Bags.open(path)
    known = _known(args, bags.values())
    rows = [
        Pairing(_above(pair), [_cloud(name, of, pair, sentences, known) for name, of in bags.items()])
        for pair in chosen
    ]
    log.info("%s: %s", pairs[0].dataset, ", ".join(pair.id for pair in chosen) or "no pair to show")
    drawn = figure_files(draw_tokens, rows)
    write_files(
        args.output, {f"tokens-{pairs[0].dataset}.{kind}": content for kind, content in drawn.items()}
    )


def _named(args, pairs: Sequence[Pair]) -> list[Pair]:
    by_id = {pair.id: pair for pair in pairs}
    for name in args.pair:
        if name not in by_id:
            raise BoveError(f"--pair {name}: {args.pairs} has no such pair; ids look like {pairs[0].id}")
        if not by_id[name].scored:
            raise BoveError(f"--pair {name}: has no gold, so was not parsed; choose a pair that is scored")
    return [by_id[name] for name in dict.fromkeys(args.pair)]


def _first(pairs: Sequence[Pair]) -> list[Pair]:
    """The first scored pair of two different sentences of each subset (similarity) or label (entailment)."""
    found: dict[str, Pair] = {}
    for pair in pairs:
        if pair.scored and pair.first != pair.second:
            found.setdefault(pair.subset if pair.task == "similarity" else str(pair.gold), pair)
    order = in_order(found) if pairs[0].task == "entailment" else list(found)
    return [found[key] for key in order[:DEFAULT_PAIRS]]


def _above(pair: Pair) -> str:
    gold = pair.gold if isinstance(pair.gold, str) else f"{pair.gold:g}"
    return f"{pair.id}, gold {gold}\n  1: {pair.first}\n  2: {pair.second}"


def _known(args, bags):
    """Whether a word has a vector of its own; asked of bags of word vectors alone."""
    if not any(of.system == "word-vectors" for of in bags):
        return lambda form: True
    if not (args.vectors and args.vocabulary):
        raise BoveError("--bags: bags of word-vectors need --vectors and --vocabulary, to tell their words")
    vocabulary, vectors = Vocabulary.load(args.vocabulary), WordVectors.open(args.vectors)
    return lambda form: vectors.first(vocabulary.variants(form)) >= 0


def _cloud(name: str, bags: Bags, pair: Pair, sentences, known) -> Cloud:
    label, score = SCORES[pair.task]
    sides = [f"{pair.id}.{side}" for side in (1, 2)]
    vectors = tuple(np.asarray(bags[side], np.float64) for side in sides)
    words = tuple(
        _words(bags, side, sentences[side], len(rows), known)
        for side, rows in zip(sides, vectors, strict=True)
    )
    return Cloud(f"{name}: {label} {score(*vectors):.3f}", words, vectors)


def _words(bags: Bags, sentence: str, forms: Sequence[str], count: int, known) -> tuple[str, ...]:
    """The words that a bag's vectors belong to: all, or those with a vector, with punctuation or without."""
    if bags.system == "word-vectors":
        forms = [form for form in forms if known(form)]
    for words in (forms, [form for form in forms if not is_punctuation(form)]):
        if len(words) == count:
            return tuple(words)
    raise BoveError(
        f"{bags.path}: {count} vectors for sentence '{sentence}' of {len(forms)} words; "
        f"give the sentences, vectors and vocabulary that the bags were made from"
    )
