"""Sentence pairs, and the file `pairs.jsonl` that the later stages read."""

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from bove.errors import BoveError
from bove.files import read_lines
from bove.text.json_lines import check_text, read_object
from bove.text.pair_forms import TASKS


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences with a gold score or label.

    Attributes:
        id: `<subset>-<id in the file>`, or `<subset>-<line number, 5 digits>` where the file has no ids.
        dataset: name in the configuration.
        label: name in the tables, such as "STS-2014".
        task: "similarity" or "entailment".
        subset: part of the data set, such as "images" or "dev".
        first, second: the sentences; the first is the premise.
        gold: score (similarity), or what the label means (entailment); None where there is no score, "-"
            where there is no label.
        scored: whether the pair counts in a result.
    """

    id: str
    dataset: str
    label: str
    task: str
    subset: str
    first: str
    second: str
    gold: float | str | None
    scored: bool


def write_pairs(stream: IO[str], pairs: Iterable[Pair]) -> None:
    """Write pairs as JSON, one object a line."""
    for pair in pairs:
        stream.write(json.dumps(asdict(pair), ensure_ascii=False, allow_nan=False) + "\n")


def read_pairs(path: str | Path) -> list[Pair]:
    """Pairs of a file that `write_pairs` wrote.

    Raises:
        BoveError: a line that is no pair, or a pair id that stands twice.
    """
    pairs: list[Pair] = []
    seen: set[str] = set()
    for number, line in read_lines(path):
        record = read_object(path, number, line)
        try:
            pair = Pair(**record)
        except TypeError as e:
            raise BoveError(f"{path}, line {number}: not a sentence pair ({e}); make the file again") from e
        _check_pair(path, number, pair)
        if pair.id in seen:
            raise BoveError(f"{path}, line {number}: pair id {pair.id!r} stands twice; give each its own")
        seen.add(pair.id)
        pairs.append(pair)
    return pairs


def _check_pair(path, number, pair) -> None:
    texts = (pair.id, pair.dataset, pair.label, pair.task, pair.subset, pair.first, pair.second)
    sound = all(isinstance(text, str) for text in texts) and pair.task in TASKS
    gold = isinstance(pair.gold, str) if pair.task == "entailment" else _is_score(pair.gold)
    if not sound or not gold or not isinstance(pair.scored, bool):
        raise BoveError(f"{path}, line {number}: a value of the wrong kind; make the file again")
    for text in texts if pair.task == "similarity" else (*texts, pair.gold):
        check_text(path, number, text)


def _is_score(gold) -> bool:
    if gold is None or isinstance(gold, bool) or not isinstance(gold, int | float):
        return gold is None
    try:
        return math.isfinite(gold)
    except OverflowError:  # an integer beyond all floats
        return False
