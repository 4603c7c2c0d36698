r"""Sentence pairs of STS and SNLI, and the file `pairs.jsonl` that the later stages read.

STS: an input file of lines `sentence TAB sentence`, without any quoting, and a gold file of one score a line,
blank where the pair was not scored. SNLI: JSON lines, or tab-separated text with a header, told apart by
content; the label `-` says that the annotators did not agree. One line is one pair, whatever it holds.
"""

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from bove.errors import BoveError
from bove.files import read_lines

LABELS = ("entailment", "neutral", "contradiction")
NO_LABEL = "-"
TASKS = ("similarity", "entailment")
_SNLI_KEYS = ("gold_label", "sentence1", "sentence2", "pairID")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences with a gold score or label.

    Attributes:
        id: `<subset>-<line number, 5 digits>` (STS) or `<subset>-<pairID>` (SNLI).
        dataset: name in the configuration.
        label: name in the tables, such as "STS-2014".
        task: "similarity" or "entailment".
        subset: part of the data set, such as "images" or "dev".
        first, second: the sentences; the first is SNLI's premise.
        gold: score (similarity) or label (entailment); None where a similarity was not scored.
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


def read_sts(
    input_path: str | Path, gold_path: str | Path, dataset: str, label: str, subset: str
) -> list[Pair]:
    """Pairs of one STS set, one a line of the input file.

    Columns after the second are left out (some years name the source there); spaces around a sentence too.

    Raises:
        BoveError: a line without two columns, a gold line that is no finite number, unequal line counts.
    """
    scores = [_score(gold_path, number, line) for number, line in read_lines(gold_path)]
    pairs: list[Pair] = []
    for number, line in read_lines(input_path):
        cells = line.split("\t")
        if len(cells) < 2:
            raise BoveError(f"{input_path}, line {number}: one column; put a tab between the two sentences")
        gold = scores[number - 1] if number <= len(scores) else None
        name = f"{subset}-{number:05d}"
        first, second = (cell.strip(" ") for cell in cells[:2])
        pairs.append(Pair(name, dataset, label, "similarity", subset, first, second, gold, gold is not None))
    if len(pairs) != len(scores):
        raise BoveError(
            f"{input_path} has {len(pairs)} lines, but {gold_path} has {len(scores)}; give the gold "
            f"file of this input, with a blank line where a pair has no score"
        )
    return pairs


def _score(path, number, line) -> float | None:
    cell = line.strip(" \t")
    if not cell:
        return None
    try:
        score = float(cell) if "_" not in cell else math.nan
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise BoveError(f"{path}, line {number}: {cell!r} is no score; write a number, or nothing for none")
    return score


def read_snli(path: str | Path, dataset: str, label: str, subset: str) -> list[Pair]:
    """Pairs of one part of SNLI, from its JSON lines or from its tab-separated text.

    Raises:
        BoveError: another kind of file, a damaged row, an unknown label, a pair id that stands twice.
    """
    pairs: list[Pair] = []
    lines: dict[str, int] = {}
    for number, (gold, first, second, name) in _snli_rows(path):
        if gold not in LABELS and gold != NO_LABEL:
            raise BoveError(
                f"{path}, line {number}: unknown label {gold!r}; write {', '.join(LABELS)} or {NO_LABEL}"
            )
        if not name or name != name.strip(" ") or any(mark in name for mark in "\t\r\n"):
            raise BoveError(f"{path}, line {number}: {name!r} is no pair id; give each pair a plain name")
        if name in lines:
            raise BoveError(f"{path}, line {number}: pair id {name!r} stands in line {lines[name]} already")
        lines[name] = number
        scored = gold != NO_LABEL
        pairs.append(
            Pair(f"{subset}-{name}", dataset, label, "entailment", subset, first, second, gold, scored)
        )
    return pairs


def _snli_rows(path) -> Iterator[tuple[int, tuple[str, str, str, str]]]:
    """Line number and (label, premise, hypothesis, pair id) of each row; blank lines are none."""
    header = None
    for number, line in read_lines(path):
        if not line.strip(" \t\r"):
            continue
        if header is None and not line.startswith("{"):
            header = line.split("\t")
            missing = [key for key in _SNLI_KEYS if key not in header]
            if missing:
                raise BoveError(
                    f"{path}, line {number}: neither a JSON object nor a header with a column {missing[0]}; "
                    f"give SNLI as released, .jsonl or .txt"
                )
            continue
        if header is None:
            header = []
        row = _text_row(path, number, line, header) if header else _json_row(path, number, line)
        yield number, row


def _text_row(path, number, line, header):
    cells = line.split("\t")
    places = [header.index(key) for key in _SNLI_KEYS]
    if not max(places) < len(cells) <= len(header):
        raise BoveError(
            f"{path}, line {number}: {len(cells)} columns, but the header has {len(header)}; repair the row"
        )
    return tuple(cells[place] for place in places)


def _json_row(path, number, line):
    record = _object(path, number, line)
    for key in _SNLI_KEYS:
        if not isinstance(record.get(key), str):
            raise BoveError(f"{path}, line {number}: no text under {key!r}; give SNLI as released")
        _check_text(path, number, record[key])
    return tuple(record[key] for key in _SNLI_KEYS)


def _object(path, number, line) -> dict:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as e:
        raise BoveError(f"{path}, line {number}: not JSON ({e}); is the file cut off?") from e
    if not isinstance(record, dict):
        raise BoveError(f"{path}, line {number}: not a JSON object; one object a line is due")
    return record


def _check_text(path, number, text) -> None:
    """JSON escapes can write half of a surrogate pair, which no UTF-8 file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError as e:
        raise BoveError(
            f"{path}, line {number}: half a surrogate pair in {text[:40]!r}; repair the text"
        ) from e


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
        record = _object(path, number, line)
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
    kind = str if pair.task == "entailment" else (int, float, type(None))
    sound = all(isinstance(text, str) for text in texts) and pair.task in TASKS
    if not sound or not isinstance(pair.gold, kind) or not isinstance(pair.scored, bool):
        raise BoveError(f"{path}, line {number}: a value of the wrong kind; make the file again")
    for text in texts:
        _check_text(path, number, text)
