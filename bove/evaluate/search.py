"""Late interaction: the bags of a collection that answer a query best, found exactly, block by block.

    score(bag, query) = mean over the query's vectors of the largest cosine with a vector of the bag

which is SNLI(bag, query) of `bove.evaluate.alignment`: how well the bag entails the query. A file of bags is
the index: its vectors are mapped, and one matrix product a block serves all queries.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from bove.bags.store import Bags
from bove.errors import BoveError
from bove.evaluate.alignment import DECIMALS, unit_rows
from bove.files import atomic_folder, atomic_write, sha256

# The rows of a large array that are nearest to a few vectors by cosine, found exactly, block by block.

BLOCK = 16384  # rows at a time, so that a mapped array is never in memory whole


@dataclass(frozen=True)
class Nearest:
    """The nearest rows of one query, the nearest first; of rows that tie, the first comes first.

    Attributes:
        rows: [k] int64.
        cosines: [k] float64.
    """

    rows: np.ndarray
    cosines: np.ndarray


def nearest(
    queries: np.ndarray, vectors: np.ndarray, count: int, allowed: np.ndarray | None = None
) -> list[Nearest]:
    """The nearest rows of each query; a zero vector has cosine 0 with all.

    Args:
        queries: [q, r].
        vectors: [N, r], maybe mapped.
        count: how many rows to find, where there are so many.
        allowed: [N] bool, the rows that count; all by default.
    """
    targets = unit_rows(queries)
    best = [(np.empty(0), np.empty(0, np.int64)) for _ in targets]
    for start in range(0, len(vectors), BLOCK):
        rows = np.arange(start, min(start + BLOCK, len(vectors)))
        if allowed is not None:
            rows = rows[allowed[rows]]
        block = unit_rows(vectors[rows]) @ targets.T
        for q, (cosines, found) in enumerate(best):
            cosines = np.concatenate([cosines, np.clip(block[:, q], -1, 1)])
            found = np.concatenate([found, rows])
            order = np.argsort(-cosines.round(DECIMALS), kind="stable")[:count]
            best[q] = cosines[order], found[order]
    return [Nearest(found, cosines) for cosines, found in best]


# Late interaction: the bags of a collection that answer a query best, found exactly, block by block.
#
#     score(bag, query) = mean over the query's vectors of the largest cosine with a vector of the bag
#
# which is SNLI(bag, query) of `bove.evaluate.alignment`: how well the bag entails the query. A file of bags
# is
# the index: its vectors are mapped, and one matrix product a block serves all queries.


@dataclass(frozen=True)
class Hits:
    """The best bags of one query, the best first; of bags that tie, the first comes first.

    Attributes:
        bags: [k] int64. scores: [k] float64.
    """

    bags: np.ndarray
    scores: np.ndarray


def search(
    queries: Sequence[np.ndarray], vectors: np.ndarray, offsets: np.ndarray, count: int, block: int = BLOCK
) -> list[Hits]:
    """The best bags of each query; an empty bag, and any bag for an empty query, scores 0.

    Args:
        queries: [m, r] arrays.
        vectors: [N, r], maybe mapped. offsets: [B + 1]; bag b is vectors[offsets[b] : offsets[b + 1]].
        count: how many bags to find, where there are so many.
        block: vectors at a time, unless a bag has more.
    """
    sizes = np.array([len(query) for query in queries], np.int64)
    starts = np.cumsum(sizes) - sizes
    rows = [unit_rows(query) for query in queries if len(query)]
    some = np.flatnonzero(sizes)
    targets = np.concatenate(rows) if rows else np.zeros((0, vectors.shape[1]))
    best = [(np.empty(0), np.empty(0, np.int64)) for _ in queries]
    for first, last in blocks(offsets, block):
        scores = np.zeros((last - first, len(queries)))
        bags = np.arange(first, last)
        full = np.diff(offsets[first : last + 1]) > 0
        if full.any() and len(some):
            cosines = unit_rows(vectors[offsets[first] : offsets[last]]) @ targets.T
            largest = np.maximum.reduceat(cosines, (offsets[first:last] - offsets[first])[full], axis=0)
            means = np.add.reduceat(largest, starts[some], axis=1) / sizes[some]
            scores[np.ix_(full, some)] = np.minimum(means.round(DECIMALS), 1) + 0.0
        for q, (kept, found) in enumerate(best):
            kept, found = np.concatenate([kept, scores[:, q]]), np.concatenate([found, bags])
            order = np.argsort(-kept, kind="stable")[:count]
            best[q] = kept[order], found[order]
    return [Hits(found, kept) for kept, found in best]


def search_among(
    query: np.ndarray, bag: Callable[[int], np.ndarray], candidates: np.ndarray, count: int
) -> Hits:
    """The best bags of one query among some of a collection, with the scores and the order of `search`.

    Args:
        query: [m, r].
        bag: gives the [n, r] vectors of a bag number.
        candidates: [k] bag numbers, in any order.
        count: how many bags to find, where there are so many.
    """
    # bags that tie go by number
    numbers = np.unique(np.asarray(candidates, np.int64))
    bags = [bag(b) for b in numbers.tolist()]
    offsets = np.concatenate([[0], np.cumsum([len(vectors) for vectors in bags])]).astype(np.int64)
    vectors = np.concatenate(bags) if bags else np.zeros((0, query.shape[1]))
    (hits,) = search([query], vectors, offsets, count)
    return Hits(numbers[hits.bags], hits.scores)


def blocks(offsets: np.ndarray, size: int) -> Iterator[tuple[int, int]]:
    """(first, last) bag of blocks of at most `size` vectors, or of one bag with more."""
    first, bags = 0, len(offsets) - 1
    while first < bags:
        last = int(np.searchsorted(offsets, offsets[first] + size, side="right")) - 1
        last = min(max(last, first + 1), bags)
        yield first, last
        first = last


# An index over a file of bags, for searches that do not read the whole of it.
#
# A folder with `index.json` and the shard of an engine, Qdrant Edge: a graph of near neighbours (HNSW) over
# the bags, which it compares as the score does,
#
#     MaxSim(bag, query) = sum over the query's vectors of the largest cosine with a vector of the bag
#
# The engine compares by the signs of the vectors' numbers alone, which is fast, then what is best by eight
# bits
# of each number (short vectors at once), and gives candidates. Their scores come from the file of bags and
# are
# exact: what is missed is all that can differ from the search without an index.

FORMAT, VERSION = "bove-index", "1"
ENGINE = "qdrant-edge-py"
MANIFEST, SHARD = "index.json", "engine"
# vectors that are handed to the engine at once
BATCH = 16384
# with fewer dimensions, signs alone tell too little
SIGNS_FROM = 128
# bags that are scored exactly beyond twice as many as are asked for, since the engine rounds
SPARE = 50
# what opening an index needs of index.json
_KEPT = {"bags": str, "bags_sha256": str, "model_hash": str, "links": int, "breadth": int}
_ONE_SEGMENT_KB = 2**40


@dataclass(frozen=True)
class GraphSettings:
    """How the graph of near neighbours is made.

    Attributes:
        links: of each bag to others; twice as many on the lowest level.
        breadth: how many bags are kept in view when the neighbours of a new one are looked for.
    """

    links: int = 16
    breadth: int = 100


class BagIndex:
    """An index that fits a file of bags.

    Attributes:
        folder: where it lies. bags: the file that it is of. told: what index.json says.
    """

    def __init__(self, folder: Path, bags: Bags, told: dict[str, Any], threads: int):
        self.folder, self.bags, self.told = folder, bags, told
        self._empty = np.flatnonzero(np.diff(bags.offsets) == 0)
        edge = _engine()
        self._shard = None
        if len(self._empty) < bags.n_bags:
            with _translated(folder):
                settings = GraphSettings(told["links"], told["breadth"])
                config = _config(edge, bags.rank, settings, threads)
                self._shard = edge.EdgeShard.load(str(folder / SHARD), config)

    @classmethod
    def open(cls, folder: str | Path, bags: str | Path | None = None, threads: int = 1) -> "BagIndex":
        """Open an index and its file of bags.

        Args:
            folder: what `build` made.
            bags: the file, where it is no longer where it was, seen from the folder.
            threads: of the engine; they do not change what it finds.

        Raises:
            BoveError: no index, a damaged one, or one of other bags.
            ModuleNotFoundError: the engine is not installed.
        """
        folder = Path(folder)
        told = _manifest(folder)
        path = folder / told["bags"] if bags is None else Path(bags)
        if bags is None and not path.is_file():
            raise BoveError(f"{folder}: its bags are no longer at {told['bags']}; name them with --bags")
        opened = Bags.open(path)
        _check(folder, told, opened)
        return cls(folder, opened, told, threads)

    def search(self, query: np.ndarray, count: int, candidates: int) -> Hits:
        """The best bags of a query [m, r], with exact scores; one that the engine misses is not there.

        Args:
            count: how many bags to find, where there are so many.
            candidates: how many the engine looks at closely; the more, the less is missed and the longer it
                takes.

        Raises:
            BoveError: the engine fails.
        """
        # a query of zeros alone scores 0 with all, an empty bag with all queries: the first are the best
        if np.any(query):
            found = self._candidates(query, 2 * count + SPARE, candidates)
        else:
            found = np.arange(min(count, self.bags.n_bags))
        return search_among(query, self._vectors, np.concatenate([found, self._empty[:count]]), count)

    def _vectors(self, bag: int) -> np.ndarray:
        """As the file has them, and the search without an index takes them."""
        return self.bags.vectors[slice(*self.bags.offsets[bag : bag + 2])]

    def close(self) -> None:
        """Let the engine go."""
        if self._shard is not None:
            self._shard.close()
            self._shard = None

    def _candidates(self, query: np.ndarray, count: int, looked_at: int) -> np.ndarray:
        """Numbers of the bags that the engine finds best: by signs, then by eight bits of each number."""
        if self._shard is None:
            return np.zeros(0, np.int64)
        edge, looked_at = _engine(), max(looked_at, count)
        how = edge.QuantizationSearchParams(rescore=True, oversampling=looked_at / count)
        request = edge.QueryRequest(
            limit=count,
            query=edge.Query.Nearest(unit_rows(query).astype(np.float32)),
            params=edge.SearchParams(hnsw_ef=looked_at, quantization=how),
            with_payload=False,
            with_vector=False,
        )
        with _translated(self.folder):
            return np.array([point.id for point in self._shard.query(request)], np.int64)


def build(bags: Bags, folder: str | Path, settings: GraphSettings, threads: int = 1) -> dict[str, Any]:
    """Make an index of a file of bags, whole or not at all; what index.json then says.

    An index that lies there already is replaced. The engine draws lots: the graph differs from one
    time to the next, and with it what a search misses.

    Raises:
        BoveError: a value that is not finite, something else lies there, or it cannot be written.
        ModuleNotFoundError: the engine is not installed.
    """
    edge, path = _engine(), Path(folder)
    with atomic_folder(path, MANIFEST) as made:
        if np.any(np.diff(bags.offsets) > 0):
            (made / SHARD).mkdir()
            with _translated(path):
                _fill(edge, bags, made / SHARD, settings, threads)
        told = {"format": FORMAT, "version": VERSION, **_told(bags, path), **asdict(settings)}
        with atomic_write(made / MANIFEST) as stream:
            json.dump(told, stream, indent=1)
    return told


def _config(edge: Any, rank: int, settings: GraphSettings, threads: int) -> Any:
    signs = rank >= SIGNS_FROM
    vectors = edge.EdgeVectorParams(
        size=rank,
        distance=edge.Distance.Cosine,
        multivector_config=edge.MultiVectorConfig(edge.MultiVectorComparator.MaxSim),
        datatype=edge.VectorStorageDatatype.Turbo8,
        quantization_config=edge.BinaryQuantizationConfig(memory=edge.Memory.Cold) if signs else None,
        memory=edge.Memory.Cold,
    )
    graph = edge.HnswIndexConfig(
        m=settings.links,
        ef_construct=settings.breadth,
        full_scan_threshold=10,
        max_indexing_threads=threads,
        memory=edge.Memory.Cold,
    )
    sizes = edge.EdgeOptimizersConfig(
        default_segment_number=1, max_segment_size=_ONE_SEGMENT_KB, indexing_threshold=1
    )
    return edge.EdgeConfig(
        vectors=vectors, hnsw_config=graph, optimizers=sizes, max_search_threads=threads, wal_enabled=False
    )


def _fill(edge: Any, bags: Bags, folder: Path, settings: GraphSettings, threads: int) -> None:
    shard = edge.EdgeShard.create(str(folder), _config(edge, bags.rank, settings, threads))
    try:
        for points in _points(edge, bags):
            shard.update(edge.UpdateOperation.upsert_points(points))
        shard.optimize()
        shard.flush()
    finally:
        shard.close()


def _points(edge: Any, bags: Bags) -> Iterator[list[Any]]:
    """The bags that have vectors, as the engine takes them, some at a time."""
    offsets = bags.offsets
    for first, last in blocks(offsets, BATCH):
        rows, start = slice(offsets[first], offsets[last]), offsets[first]
        bags.check_finite(rows)
        units = unit_rows(bags.vectors[rows]).astype(np.float32)
        yield [
            edge.Point(b, units[offsets[b] - start : offsets[b + 1] - start])
            for b in range(first, last)
            if offsets[b + 1] > offsets[b]
        ]


def _engine() -> Any:
    import qdrant_edge

    return qdrant_edge


class _translated:
    """Context in which the engine's errors, which have no class of their own, become BoveError."""

    def __init__(self, folder: Path):
        self._folder = folder

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind, error, trace) -> None:
        if kind in (Exception, OverflowError, ValueError):
            raise BoveError(
                f"{self._folder}: {ENGINE} {version(ENGINE)} can not use it ({error}); see that "
                "it may be written, or else build the index again"
            ) from error


def _told(bags: Bags, folder: Path) -> dict[str, Any]:
    return {
        "bags": Path(os.path.relpath(bags.path, folder)).as_posix(),
        "bags_sha256": sha256(bags.path),
        **_stamp(bags.path),
        "model_hash": bags.model_hash,
        "system": bags.system,
        "n_bags": bags.n_bags,
        "n_vectors": len(bags.vectors),
        "rank": bags.rank,
        "engine": f"{ENGINE} {version(ENGINE)}",
    }


def _stamp(path: Path) -> dict[str, int]:
    found = path.stat()
    return {"bags_size": found.st_size, "bags_time": found.st_mtime_ns}


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        told = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as e:
        raise BoveError(f"{folder}: no index, or a damaged one; make it with `bove index`") from e
    if not isinstance(told, dict) or told.get("format") != FORMAT or told.get("version") != VERSION:
        raise BoveError(f"{folder}: no index that this version reads; make it with `bove index`")
    for name, kind in _KEPT.items():
        if type(told.get(name)) is not kind:
            raise BoveError(
                f"{folder}: a damaged index, {MANIFEST} has no {name!r}; make it with `bove index`"
            )
    return told


def _check(folder: Path, told: dict[str, Any], bags: Bags) -> None:
    """BoveError where the index is of other bags; their hash is made anew if size or time have changed."""
    if all(told.get(name) == value for name, value in _stamp(bags.path).items()):
        return
    if told["model_hash"] != bags.model_hash:
        raise BoveError(
            f"{folder}: made of bags of model {told['model_hash'][:12]}, but {bags.path} is of "
            f"{bags.model_hash[:12]}; build the index again"
        )
    if told["bags_sha256"] != sha256(bags.path):
        raise BoveError(f"{folder}: made of other bags than {bags.path}; build the index again")
