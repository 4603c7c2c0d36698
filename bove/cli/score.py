"""`bove score`: score sentence pairs by the alignment of their bags.

A sentence's length is the number of vectors in the longest of its bags: its tokens, without punctuation where
that takes no part in the alignment. Word vectors alone give the number of words that have one.
"""

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bove.bags import Bags
from bove.errors import BoveError
from bove.evaluate.alignment import Alignments, score_pairs
from bove.evaluate.scores import Scores, write_scores
from bove.files import sha256
from bove.text.pairs import Pair, read_pairs

log = logging.getLogger("bove")


def register(parser) -> None:
    parser.add_argument("--pairs", required=True, help="pairs of one data set (pairs.jsonl)")
    parser.add_argument(
        "--bags",
        required=True,
        nargs="+",
        action="extend",
        metavar="NAME=FILE",
        help="a system's name in the tables and its bags (bags.safetensors, from `bove infer` or elsewhere)",
    )
    parser.add_argument("--output", required=True, help="scores.parquet to write")


def run(args) -> None:
    """Score every scored pair of the file by every system."""
    files = _systems(args.bags)
    pairs = read_pairs(args.pairs)
    _check_pairs(args.pairs, pairs)
    counted = [pair for pair in pairs if pair.scored]
    log.info("%s: %d pairs, %d of them with gold", args.pairs, len(pairs), len(counted))
    scored = np.array([pair.scored for pair in pairs], bool)
    opened = {name: Bags.open(path) for name, path in files.items()}
    sides = {name: _sides(bags, counted) for name, bags in opened.items()}
    values, empty = {}, {}
    for name, bags in opened.items():
        first, second = sides[name]
        alignments = score_pairs(first, second, _checked(bags), pairs[0].task)
        values[name] = np.full(len(pairs), np.nan)
        values[name][scored] = alignments.values
        empty[name] = np.zeros(len(pairs), bool)
        empty[name][scored] = alignments.empty
        _log(name, alignments)
    scores = Scores(
        dataset=pairs[0].dataset,
        label=pairs[0].label,
        task=pairs[0].task,
        ids=tuple(pair.id for pair in pairs),
        subsets=tuple(pair.subset for pair in pairs),
        gold=tuple(_gold(pair) for pair in pairs),
        scored=scored,
        values=values,
        empty=empty,
        pairs_sha256=sha256(args.pairs),
        model_hashes={name: bags.model_hash for name, bags in opened.items()},
        lengths=_lengths(opened, sides, scored),
    )
    write_scores(scores, args.output)
    log.info("wrote %s", args.output)


def _systems(arguments: list[str]) -> dict[str, str]:
    files: dict[str, str] = {}
    for argument in arguments:
        name, _, path = argument.partition("=")
        if not name.strip() or not path:
            raise BoveError(f"--bags {argument}: not NAME=FILE; write for example bove=bags.safetensors")
        if name != " ".join(name.split()):
            raise BoveError(f"--bags {argument}: the name has odd spaces; write it as tables should show it")
        if name in files:
            raise BoveError(f"--bags {argument}: system '{name}' stands twice; give each its own name")
        files[name] = path
    return files


def _check_pairs(path: str | Path, pairs: list[Pair]) -> None:
    if not pairs:
        raise BoveError(f"{path}: holds no pairs; make the file again with `bove pairs`")
    kind = (pairs[0].dataset, pairs[0].label, pairs[0].task)
    for number, pair in enumerate(pairs, 1):
        if (pair.dataset, pair.label, pair.task) != kind:
            raise BoveError(
                f"{path}, line {number}: data set '{pair.dataset}' ({pair.label}, {pair.task}), but the "
                f"first line has '{kind[0]}' ({kind[1]}, {kind[2]}); keep one data set in a file"
            )
        if pair.scored and pair.gold is None:
            raise BoveError(f"{path}, line {number}: scored, but without gold; make the file again")


def _sides(bags: Bags, pairs: list[Pair]) -> tuple[list[int], list[int]]:
    """Bag numbers of both sides of the pairs; BoveError for sentences that have none."""
    wanted = [f"{pair.id}.{side}" for pair in pairs for side in (1, 2)]
    if missing := [name for name in wanted if name not in bags]:
        others = f" and {len(missing) - 1} others" if len(missing) > 1 else ""
        raise BoveError(
            f"{bags.path}: has no bag for sentence '{missing[0]}'{others} of {len(wanted)}; give one for "
            f"each side, PAIR.1 and PAIR.2, of every scored pair"
        )
    both = [(bags.bag_of(f"{pair.id}.1"), bags.bag_of(f"{pair.id}.2")) for pair in pairs]
    return [first for first, _ in both], [second for _, second in both]


def _lengths(opened: dict[str, Bags], sides: dict, scored: np.ndarray) -> np.ndarray:
    """[n, 2] vectors of the longest bag of each side; 0 where not scored."""
    lengths = np.zeros((len(scored), 2), np.int64)
    for name, bags in opened.items():
        bags_of = np.array(sides[name], np.int64).T
        lengths[scored] = np.maximum(lengths[scored], np.diff(bags.offsets)[bags_of])
    return lengths


def _checked(bags: Bags) -> Callable[[int], np.ndarray]:
    """The bags' reader, which refuses values that are not finite."""

    def bag(b: int) -> np.ndarray:
        vectors = bags.bag(b)
        if not np.isfinite(vectors).all():
            sentence = bags.ids[int(np.flatnonzero(bags.index == b)[0])]
            raise BoveError(
                f"{bags.path}: the bag of sentence '{sentence}' holds a value that is not finite; "
                f"in single precision; look at what made it"
            )
        return vectors

    return bag


def _log(name: str, alignments: Alignments) -> None:
    log.info(
        "%s: %d pairs scored, %d with an empty bag (scored 0), %d similarities with a direction that is "
        "not positive",
        name,
        len(alignments.values),
        alignments.empty.sum(),
        alignments.opposed.sum(),
    )


def _gold(pair: Pair) -> str | None:
    if pair.gold is None or pair.task == "entailment":
        return pair.gold
    return repr(float(pair.gold))
