"""Inference in shards: the bags of one slice of the distinct graphs, and all bags again from all slices.

Equal graphs are computed once, and those of one length together, in batches; the last digits of a bag may
depend on the others in its batch. So a slice is whole batches of the plan for all graphs, every n-th of
n: each shard has its share of long graphs, and every graph keeps its company however many shards there are.

A shard is a file of bags, each under the id of the first sentence that has it, whose metadata say which shard
it is and what made it.
"""

import csv
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bove.bags import Bags, BagWriter
from bove.csv_rows import csv_rows
from bove.errors import BoveError
from bove.files import atomic_write
from bove.shards import SHARD, in_order

# Columns of the report on inference, whose first two say which sentence and how long it is.
REPORT = ("id", "tokens", "iterations", "change")
_INPUTS = "inputs_sha256"


@dataclass(frozen=True)
class Layout:
    """The bags that a file of graphs asks for.

    Attributes:
        ids: the S sentences.
        first: [B] for each distinct bag the first sentence that has it.
        index: [S] the bag of each sentence.
        lengths: [B] number of vectors of each bag.
        inputs: hex digest of the graphs and of what of them is kept.
    """

    ids: Sequence[str]
    first: np.ndarray
    index: np.ndarray
    lengths: np.ndarray
    inputs: str

    @classmethod
    def of(
        cls, ids: Sequence[str], first, index, sizes: np.ndarray, kept: np.ndarray, graphs: str
    ) -> "Layout":
        """The layout of sentences of `sizes` [S] vectors, tokens `kept` [T] bool, graphs of this hash."""
        inputs = hashlib.sha256(graphs.encode() + np.packbits(kept).tobytes()).hexdigest()
        return cls(ids, first, index, sizes[first], inputs)

    def writer(self, path: str | Path, rank: int, system: str, model_hash: str) -> BagWriter:
        """What fills a file of all bags."""
        return BagWriter(path, self.ids, self.lengths, self.index, rank, system, model_hash)


class ShardWriter:
    """Context manager that fills a shard, as `BagWriter` fills the whole.

    Args:
        path: where the file goes.
        layout: of all bags.
        shard: its number from 1, and how many there are.
        plan: its batches of bags.
        rank, system, model_hash: as of the whole.
        settings: what all shards of a whole have in common.
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
        more = {**settings, _INPUTS: layout.inputs, SHARD: f"{shard[0]}/{shard[1]}"}
        names = [layout.ids[s] for s in layout.first[self._own]]
        index, lengths = np.arange(len(self._own)), layout.lengths[self._own]
        self._writer = BagWriter(path, names, lengths, index, rank, system, model_hash, more)

    def __enter__(self) -> "ShardWriter":
        self._writer.__enter__()
        return self

    def __exit__(self, *error) -> bool | None:
        return self._writer.__exit__(*error)

    def put_many(self, bags: np.ndarray, vectors: np.ndarray) -> None:
        """Fill k bags of the plan: bags [k] as the whole numbers them, vectors [m, r] in that order."""
        self._writer.put_many(np.searchsorted(self._own, bags), vectors)


def gather(paths: Sequence[str | Path], layout: Layout, output: str | Path) -> None:
    """Write the bags of all shards as inference at once writes them, to the byte.

    Args:
        paths: all shards, in any order.
        layout: of the graphs from which every shard was inferred.
        output: the file of bags.

    Raises:
        BoveError: a file that is no shard, shards of other graphs or of different makes, one that is missing
            or given twice, or bags that no shard has, or two have.
    """
    opened = {path: Bags.open(path) for path in paths}
    for path, bags in opened.items():
        if not {SHARD, "system", "model_hash"} <= bags.metadata.keys():
            raise BoveError(f"{path}: no shard; give files that `bove infer --shard` wrote")
        if bags.metadata.get(_INPUTS) != layout.inputs:
            raise BoveError(f"{path}: a shard of other graphs or tokens than these; infer these again")
    found = [{**opened[path].metadata, "rank": str(opened[path].rank)} for path in paths]
    ordered, common = in_order(paths, found, "infer all shards alike")
    missing = {layout.ids[s]: b for b, s in enumerate(layout.first)}
    with layout.writer(output, int(common["rank"]), common["system"], common["model_hash"]) as writer:
        for path in ordered:
            for name in opened[path]:
                b, vectors = missing.pop(name, None), opened[path][name]
                if b is None or len(vectors) != layout.lengths[b]:
                    raise BoveError(f"{path}: its bag of '{name}' is not its own; infer it again")
                writer.put(b, vectors)
        lost = [name for name, b in missing.items() if layout.lengths[b]]
        if lost:
            raise BoveError(
                f"no shard has the bag of sentence '{lost[0]}', nor of {len(lost) - 1} more; infer all again"
            )


def gather_reports(
    paths: Sequence[str | Path], layout: Layout, tokens: np.ndarray, output: str | Path
) -> None:
    """Write the report on all sentences, from those of all shards.

    Args:
        paths: reports of all shards, each on the sentences of its own bags.
        layout: of the graphs.
        tokens: [S] of each graph; one without any is in no shard.
        output: the report.

    Raises:
        BoveError: a file that is no report, or a sentence that none of them has.
    """
    found: dict[str, list[str]] = {}
    advice = "give what `bove infer --report` wrote"
    for path in paths:
        rows = csv_rows(path, advice)
        if tuple(next(rows, (1, ()))[1]) != REPORT:
            raise BoveError(f"{path}: no report of inference; {advice}")
        found |= {row[0]: row[2:] for _, row in rows if row}
    with atomic_write(output) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(REPORT)
        for name, b, length in zip(layout.ids, layout.index, tokens.tolist(), strict=True):
            first = layout.ids[layout.first[b]]
            if length and len(found.get(first, ())) != len(REPORT) - 2:
                raise BoveError(f"no report has the sentence '{first}'; give those of all shards")
            writer.writerow([name, length, *(found[first] if length else (0, 0.0))])
