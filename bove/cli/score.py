"""`bove score`: score sentence pairs by the alignment of their bags.

With --weight a system is scored once for each weight of its tokens, and each is a column of its own. The
first weight is the one that models are chosen and compared by. A sentence's length is the number of vectors
in the longest of its bags: its tokens, without punctuation where that takes no part in the alignment. Word
vectors alone give the number of words that have one.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path

import numpy as np

from bove.bags.store import Bags
from bove.cli.common import add_weights, named_values
from bove.errors import BoveError
from bove.evaluate.alignment import (
    ALIGNMENT,
    COMPARISONS,
    EVIDENCE,
    NONE,
    Comparison,
    check_weighting,
    score_pairs,
    score_probes,
    token_weights,
)
from bove.evaluate.results import Scores, parted, weighted, write_scores
from bove.files import sha256
from bove.text.pairs import ROLES, Pair, read_pairs

log = logging.getLogger("bove")


def register_score(parser) -> None:
    add = parser.add_argument
    bags = "a system's name in the tables and its bags (bags.safetensors, from `bove infer` or elsewhere)"
    add("--pairs", required=True, help="pairs of one data set (pairs.jsonl)")
    add("--bags", required=True, nargs="+", action="extend", metavar="NAME=FILE", help=bags)
    add_weights(parser, nargs="+", default=[NONE])
    add("--output", required=True, help="scores.parquet to write")


def run_score(args) -> None:
    """Score every scored pair of the file by every system with every weight."""
    opened = _open(args.bags)
    check_weighting(NONE, args.power, "--power")
    pairs = read_pairs(args.pairs)
    _check_pairs(args.pairs, pairs)
    scored = np.array([pair.scored for pair in pairs], bool)
    log.info("%s: %d pairs, %d of them with gold", args.pairs, len(pairs), scored.sum())
    sides = {name: _sides(bags, pairs) for name, bags in opened.items()}
    values, empty, lengths = {}, {}, np.zeros((len(pairs), 2), np.int64)
    for system, weight in _columns(opened, args.weight):
        name, bags = weighted(system, weight), opened[system]
        how = _comparison(bags)
        chosen = (weight, args.power) if how.weight is None else (how.weight, 1)
        read = bags.finite_bag, weigher(bags, *chosen)
        if pairs[0].task == ROLES:
            found = score_probes(*sides[system].T, *read, how)
        else:
            found = score_pairs(*sides[system].T, read[0], pairs[0].task, read[1], how)
        values[name], empty[name] = np.full(len(pairs), np.nan), np.zeros(len(pairs), bool)
        values[name][scored], empty[name][scored] = found.values, found.empty
        if how.weight != EVIDENCE:  # arcs are not tokens
            lengths[scored] = np.maximum(lengths[scored], np.diff(bags.offsets)[sides[system][:, :2]])
        log.info(
            "%s: %d pairs scored, %d with an empty bag (scored 0), %d similarities with a direction that is "
            "not positive",
            *(name, len(found.values), found.empty.sum(), found.opposed.sum()),
        )
        if found.weightless:
            log.info("%s: %d tokens have no weight and take no part", name, found.weightless)
    scores = Scores(
        dataset=pairs[0].dataset,
        label=pairs[0].label,
        task=pairs[0].task,
        ids=tuple(pair.id for pair in pairs),
        subsets=tuple(pair.subset for pair in pairs),
        gold=tuple(repr(float(p.gold)) if isinstance(p.gold, int | float) else p.gold for p in pairs),
        scored=scored,
        values=values,
        empty=empty,
        pairs_sha256=sha256(args.pairs),
        model_hashes={name: opened[parted(name)[0]].model_hash for name in values},
        lengths=lengths,
        power=args.power,
    )
    write_scores(scores, args.output)
    log.info("wrote %s", args.output)


def _open(arguments: list[str]) -> dict[str, Bags]:
    """The bags of each system."""
    files = named_values("--bags", arguments)
    for name in files:
        if name != " ".join(name.split()):
            raise BoveError(f"--bags {name}=…: the name has odd spaces; write it as tables should show it")
        if parted(name)[0] != name:
            raise BoveError(f"--bags {name}=…: the name ends as if weighted; leave that to --weight")
    return {name: Bags.open(path) for name, path in files.items()}


def _columns(opened: dict[str, Bags], weights: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each system and weight to score, all systems by one weight after another.

    Bags without evidence, such as those from elsewhere, have no column of it beside others that have one.
    Bags whose tokens have weights of their own, or can have none, have one column.
    """
    some = any(bags.evidence is not None for bags in opened.values())
    weights = list(dict.fromkeys(weights))
    plain = NONE if NONE in weights else weights[0]
    for weight, (system, bags) in product(weights, opened.items()):
        if _comparison(bags).weight is not None:
            if weight == plain:
                yield system, NONE
        elif weight == EVIDENCE and some and bags.evidence is None:
            log.warning("%s: has no evidence, so %s gets no column of it", bags.path, system)
        else:
            yield system, weight


def _comparison(bags: Bags) -> Comparison:
    """How the file says that its bags are compared."""
    name = bags.metadata.get("comparison")
    if name is None:
        return ALIGNMENT
    if name not in COMPARISONS:
        known = ", ".join(COMPARISONS)
        raise BoveError(f"{bags.path}: its comparison is {name!r}; make the bags again with one of {known}")
    return COMPARISONS[name]


def weigher(bags: Bags, weight: str, power: float) -> Callable[[int, np.ndarray], np.ndarray | None]:
    """A function from a bag's number and vectors to its tokens' weights; BoveError where they are lacking."""
    return lambda b, vectors: token_weights(
        weight, power, vectors, bags.evidence_of(b) if weight == EVIDENCE else None
    )


def _check_pairs(path: str | Path, pairs: list[Pair]) -> None:
    kind = (pairs[0].dataset, pairs[0].label, pairs[0].task)
    for number, pair in enumerate(pairs, 1):
        if (pair.dataset, pair.label, pair.task) != kind:
            raise BoveError(
                f"{path}, line {number}: data set '{pair.dataset}' ({pair.label}, {pair.task}), but the "
                f"first line has '{kind[0]}' ({kind[1]}, {kind[2]}); keep one data set in a file"
            )


def _sides(bags: Bags, pairs: list[Pair]) -> np.ndarray:
    """[k, 2] bag numbers of the scored pairs' sentences ([k, 3] for roles); BoveError where there is none."""
    wanted = [list(pair.sentences) for pair in pairs if pair.scored]
    if missing := [name for names in wanted for name in names if name not in bags]:
        others = f" and {len(missing) - 1} others" if len(missing) > 1 else ""
        raise BoveError(
            f"{bags.path}: has no bag for sentence '{missing[0]}'{others} of {sum(map(len, wanted))}; "
            f"give one for each sentence, PAIR.1 and PAIR.2 (and .3 for roles), of every scored pair"
        )
    rows = [[bags.bag_of(name) for name in names] for names in wanted]
    return np.array(rows, np.int64).reshape(-1, len(pairs[0].sentences))
