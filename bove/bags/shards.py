"""Shards of parsing, of inference and of encoders: how many there are, and the whole again from all of them.

A shard says of itself which one it is and of how many, and in further entries what made it. Those of one
whole agree in all of the latter. Results are the same to the byte, whatever the number of shards.

Inference computes equal graphs once, and those of one length together, in batches; the last digits of a bag
may depend on the others in its batch. So a shard is whole batches of the plan for all graphs, every n-th of
n: each has its share of long graphs, and batches, and so results, do not depend on the number of shards. Its
file is one of bags, each under the id of the first sentence that has it. Encoders do likewise.
"""

import csv
import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np

from bove.bags import SENTENCES as OF_SENTENCES
from bove.bags.baselines import comparison_of
from bove.bags.store import Bags, BagWriter
from bove.errors import BoveError
from bove.factor.graphs import GraphCorpus
from bove.files import atomic_write, csv_rows, open_bytes
from bove.text.conll import Sentence
from bove.text.encoders import distinct
from bove.text.tokens import is_punctuation

SHARD = "shard"
_TOTAL = "number of shards"
_INPUTS = "inputs_sha256"
_NAMED = 10  # shards that are missing and named
AUTO = "auto"
# So many keep a job busy for a minute or a few, as docs/parsing.md, docs/speed.md and docs/encoders.md let
# expect.
SENTENCES = {"parsing": 4_000, "averaged": 8_000, "fixed-point": 100_000, "encoding": 20_000}
_BLOCK = 1 << 20
# Columns of the report on inference, whose first two say which sentence and how long it is.
REPORT = ("id", "tokens", "iterations", "change")


def read_shard(text: str) -> tuple[int, int]:
    """(number from 1, how many there are) of a shard that is written 2/4.

    Raises:
        BoveError: anything else, or a number beyond the last.
    """
    match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
    number, total = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= total:
        raise BoveError(f"shard {text!r}: write NUMBER/HOW_MANY, such as 2/4; numbers start at 1")
    return number, total


def in_order(
    paths: Sequence[str | Path], entries: Sequence[Mapping[str, str]], again: str
) -> tuple[list[str | Path], dict[str, str]]:
    """The shards of a whole by their numbers, and what all of them say alike.

    Args:
        entries: what each says of itself, under SHARD which one it is.
        again: what to do about shards that differ, such as "parse all shards alike".

    Raises:
        BoveError: shards that differ in an entry, one that is missing, or one that is given twice.
    """
    shards: dict[int, str | Path] = {}
    common: dict[str, str] = {}
    for path, found in zip(paths, entries, strict=True):
        number, total = read_shard(found[SHARD])
        header = {key: value for key, value in found.items() if key != SHARD} | {_TOTAL: str(total)}
        if number in shards:
            raise BoveError(f"{path}: shard {number}, as {shards[number]} is; give each shard once")
        shards[number] = path
        common = common or header
        for key in common | header:
            is_, due = header.get(key, "missing"), common.get(key, "missing")
            if is_ != due:
                raise BoveError(f"{path}: its {key} is {is_}, but that of {paths[0]} is {due}; {again}")
    total = int(common.pop(_TOTAL))
    if len(shards) < total:
        missing = list(islice((str(n) for n in range(1, total + 1) if n not in shards), _NAMED))
        more = f" and {others} others" if (others := total - len(shards) - len(missing)) else ""
        raise BoveError(f"of {total} shards, {', '.join(missing)}{more} not given; give all of them")
    return [path for _, path in sorted(shards.items())], common


class ShardCounts:
    """In how many shards each data set is parsed and inferred, where the configuration leaves that open.

    The number is chosen from the lines of the pairs' files that are there when the workflow is read. A
    checkpoint of Snakemake would know the sentences themselves, but then no dry run could show the jobs that
    follow it, and the whole plan would be made again after each of its jobs. But the number must not move
    under a run. So it is kept in a file of the run, from which the jobs on other machines read it too, for as
    long as anything that was made with it is there.

    Args:
        choosing: whether numbers may be chosen anew; a job of a run that has begun takes what is kept.
    """

    def __init__(self, run: str | Path, choosing: bool):
        self._run, self._choosing = Path(run), choosing
        self._file = self._run / "shards.json"
        self._kept, self._used = _read(self._file), {}

    def number(
        self, target: str, ending: str, setting: int | str, sentences: int, files: Iterable[str]
    ) -> int:
        """How many shards a file is made in.

        Args:
            target: the file within the run's folder, without its ending; shards lie in a folder of that name.
            setting: a number, or AUTO.
            sentences: for AUTO, how many of them a shard should have at most.
            files: the pairs' files; what is not there yet does not count.
        """
        kept, folder = self._kept.get(target), self._run / target
        begun = (self._run / f"{target}.{ending}").exists() or any(folder.glob("*-of-*"))
        if setting != AUTO:
            number = setting
        elif begun or (kept and not self._choosing):
            number = kept or 1
        else:
            # two sentences a line, of which equal ones are computed once
            number = max(1, -(-2 * sum(map(_lines, set(files))) // sentences))
        self._used[target] = number
        return number

    def store(self) -> None:
        """Keep the numbers in use, beside those of data sets and variants that are left out this time."""
        numbers = self._kept | self._used
        if numbers != self._kept:
            with atomic_write(self._file) as stream:
                stream.write(json.dumps(numbers, indent=0, sort_keys=True) + "\n")


def _read(path: Path) -> dict[str, int]:
    """What is kept; nothing where the file is missing or of another kind, for it only saves work."""
    try:
        found = json.loads(path.read_text(encoding="utf-8")).items()
    except (OSError, ValueError, RecursionError, AttributeError):
        return {}
    return {key: value for key, value in found if type(value) is int and value > 0}


@cache
def _lines(path: str) -> int:
    """Lines of a file, 0 if it cannot be read: the stage that reads it says so."""
    if not os.path.isfile(path):  # noqa: PTH113 a path as the configuration has it
        return 0
    try:
        with open_bytes(path) as stream:
            return sum(block.count(b"\n") for block in iter(lambda: stream.read(_BLOCK), b""))
    except BoveError:
        return 0


@dataclass(frozen=True)
class Layout:
    """The bags that a file of graphs or of sentences asks for.

    Attributes:
        ids: the S sentences.
        first: [B] for each distinct bag the first sentence that has it.
        index: [S] the bag of each sentence.
        lengths: [B] number of vectors of each bag.
        inputs: hex digest of the graphs or the sentences, and of what of them is kept.
    """

    ids: Sequence[str]
    first: np.ndarray
    index: np.ndarray
    lengths: np.ndarray
    inputs: str

    @classmethod
    def of(cls, corpus: GraphCorpus, kept: np.ndarray, graphs: str) -> "Layout":
        """The layout of a corpus whose file has this hash, of its tokens `kept` [T] bool."""
        first, index = corpus.distinct(kept)
        before = np.concatenate([[0], np.cumsum(kept)])
        lengths = before[corpus.token_offsets[first + 1]] - before[corpus.token_offsets[first]]
        inputs = hashlib.sha256(graphs.encode() + np.packbits(kept).tobytes()).hexdigest()
        return cls(corpus.ids, first, index, lengths, inputs)

    @classmethod
    def encoded(cls, sentences: Sequence[Sentence], system: str, punctuation: bool) -> "Layout":
        """The layout of an encoder's bags, of the system of its vectors of sentences or of tokens."""
        texts, places = distinct([sentence.forms for sentence in sentences])
        if system.endswith(OF_SENTENCES):
            counts = [min(len(forms), 1) for forms in texts]
        else:
            counts = [sum(punctuation or not is_punctuation(form) for form in forms) for forms in texts]
        index, lengths = np.array(places, np.int64), np.array(counts, np.int64)
        inputs = hashlib.sha256("\n".join(map(" ".join, texts)).encode() + lengths.tobytes()).hexdigest()
        ids = [sentence.id for sentence in sentences]
        return cls(ids, np.unique(index, return_index=True)[1], index, lengths, inputs)

    def writer(self, path: str | Path, rank: int, system: str, model_hash: str) -> BagWriter:
        """What fills a file of all bags; with evidence, but for bags that are compared without it."""
        sizes, more = (self.lengths, self.index, rank), comparison_of(system)
        return BagWriter(path, self.ids, *sizes, system, model_hash, more, evidence=not more)


class ShardWriter(BagWriter):
    """Fills shard (number from 1, how many) with the batches of bags of its plan.

    All shards of a whole have the layout, rank, system, hash of the model and settings in common.
    """

    def __init__(
        self,
        path: str | Path,
        layout: Layout,
        shard: tuple[int, int],
        plan: Sequence[np.ndarray],
        rank: int,
        system: str,
        model_hash: str,
        settings: Mapping[str, str],
    ):
        self._own = np.sort(np.concatenate([np.zeros(0, np.int64), *plan]))
        how = comparison_of(system)
        more = {**how, **settings, _INPUTS: layout.inputs, SHARD: f"{shard[0]}/{shard[1]}"}
        names = [layout.ids[s] for s in layout.first[self._own]]
        index, lengths = np.arange(len(self._own)), layout.lengths[self._own]
        super().__init__(path, names, lengths, index, rank, system, model_hash, more, evidence=not how)

    def put_many(self, bags: np.ndarray, vectors: np.ndarray, evidence: np.ndarray | None = None) -> None:
        """Fill k bags of the plan: bags [k] as the whole numbers them, vectors [m, r] in that order."""
        super().put_many(np.searchsorted(self._own, bags), vectors, evidence)


def gather(paths: Sequence[str | Path], layout: Layout, output: str | Path) -> None:
    """Write the bags of all shards, in any order, as they are written at once, to the byte.

    Raises:
        BoveError: a file that is not a shard of these graphs or sentences, or shards that are no whole.
    """
    opened = {path: Bags.open(path) for path in paths}
    for path, bags in opened.items():
        if not {SHARD, "system", "model_hash"} <= bags.metadata.keys():
            raise BoveError(f"{path}: not a shard; give files that --shard wrote")
        if bags.metadata.get(_INPUTS) != layout.inputs:
            raise BoveError(f"{path}: a shard of other sentences or tokens than these; make it again")
    found = [{**opened[path].metadata, "rank": str(opened[path].rank)} for path in paths]
    ordered, common = in_order(paths, found, "make all shards alike")
    missing = {layout.ids[s]: b for b, s in enumerate(layout.first)}
    system, evident = common["system"], not comparison_of(common["system"])
    with layout.writer(output, int(common["rank"]), system, common["model_hash"]) as writer:
        for path in ordered:
            for name in opened[path]:
                b, own = missing.pop(name, None), opened[path].bag_of(name)
                vectors = opened[path].bag(own)
                evidence = opened[path].evidence_of(own) if evident else None
                if b is None or len(vectors) != layout.lengths[b]:
                    raise BoveError(f"{path}: its bag of '{name}' is not its own; make it again")
                writer.put(b, vectors, evidence)
        if lost := [name for name, b in missing.items() if layout.lengths[b]]:
            raise BoveError(
                f"no shard has the bag of sentence '{lost[0]}', nor of {len(lost) - 1} more; make all again"
            )


def gather_reports(
    paths: Sequence[str | Path], layout: Layout, tokens: np.ndarray, output: str | Path
) -> None:
    """Write the report on all sentences, from those of all shards, each on the sentences of its own bags.

    `tokens` [S] are those of each graph; a graph without any is in no shard.

    Raises:
        BoveError: a file that is not a report, or a sentence that none of them has.
    """
    found: dict[str, list[str]] = {}
    advice = "give what `bove infer --report` wrote"
    for path in paths:
        rows = csv_rows(path, advice)
        if tuple(next(rows, (1, ()))[1]) != REPORT:
            raise BoveError(f"{path}: not a report of inference; {advice}")
        found |= {row[0]: row[2:] for _, row in rows if row}
    with atomic_write(output) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(REPORT)
        for name, b, length in zip(layout.ids, layout.index, tokens.tolist(), strict=True):
            first = layout.ids[layout.first[b]]
            if length and len(found.get(first, ())) != len(REPORT) - 2:
                raise BoveError(f"no report has the sentence '{first}'; give those of all shards")
            writer.writerow([name, length, *(found[first] if length else (0, 0.0))])
