"""Search by cosine: the nearest rows of an array, and the bags of a collection that answer a query best.

    score(bag, query) = mean over the query's vectors of the largest cosine with a vector of the bag

is SNLI(bag, query) of `bove.evaluate.alignment`: how well the bag entails the query (late interaction). With
weights of tokens the mean is weighted by those of the query, and vectors of weight 0 count on neither side.

`nearest` and `search` are exact and read the whole array block by block. `BagIndex` reads less: it is a
folder with `index.json` and the shard of an engine, Qdrant Edge, which keeps a graph of near neighbours
(HNSW) over the bags. The engine compares bags by

    MaxSim(bag, query) = sum over the query's vectors of the largest cosine with a vector of the bag

first by the signs of the vectors' numbers alone (short vectors at once by eight bits of each number), then
what is best by eight bits, and gives candidates. Their scores come from the file of bags and are exact: only
bags that the engine misses make a difference to `search`.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from bove.bags.store import Bags
from bove.errors import BoveError
from bove.evaluate.alignment import DECIMALS, EVIDENCE, NONE, Side, side_of, token_weights, unit_rows
from bove.factor.graphs import offsets_of, ranges
from bove.files import atomic_folder, atomic_write, sha256

PER_SHOWN, LEAST = 100, 200  # bags that an index gives to choose from: for each one asked for, and at least
BLOCK = 16384  # rows at a time, so that a mapped array is never in memory whole
# vectors of bags and of queries at a time, whose products stay in a cache; and scores that are kept
ROWS, COLUMNS, SCORES = 2048, 4096, 1 << 22
WIDE = 64  # columns from which on their largest numbers are found bag by bag
_SMALL, _LARGE = 1e-15, 1e15  # beyond these a length in single precision may be wrong


@dataclass(frozen=True)
class Hits:
    """The best rows or bags of one query, the best first; of those that tie, the first comes first.

    Attributes:
        numbers: [k] int64. scores: [k] float64.
    """

    numbers: np.ndarray
    scores: np.ndarray

    def joined(self, numbers: np.ndarray, scores: np.ndarray, count: int) -> "Hits":
        """The best of these and of later ones."""
        numbers, scores = np.concatenate([self.numbers, numbers]), np.concatenate([self.scores, scores])
        order = np.argsort(-scores.round(DECIMALS), kind="stable")[:count]
        return Hits(numbers[order], scores[order])


def ranked(hits: Hits, index: np.ndarray, count: int) -> list[tuple[int, float]]:
    """(sentence, score) of the best sentences, those of one bag in their order.

    Args:
        hits: the best bags. index: [S] the bag of each sentence. count: how many sentences at most.
    """
    order = np.argsort(index, kind="stable")
    first = np.searchsorted(index, hits.numbers, "left", order)
    last = np.searchsorted(index, hits.numbers, "right", order)
    found = zip(hits.scores.tolist(), first.tolist(), last.tolist(), strict=True)
    return [(s, score) for score, a, b in found for s in order[a:b].tolist()][:count]


_NONE = Hits(np.empty(0, np.int64), np.empty(0))


def nearest(
    queries: np.ndarray, vectors: np.ndarray, count: int, allowed: np.ndarray | None = None
) -> list[Hits]:
    """The rows of vectors [N, r] of the largest cosine with each query [q, r]; a zero vector has cosine 0.

    Args:
        count: how many rows to find, where there are so many.
        allowed: [N] bool, the rows that count; all by default.
    """
    targets = unit_rows(queries)
    best = [_NONE] * len(targets)
    for start in range(0, len(vectors), BLOCK):
        rows = np.arange(start, min(start + BLOCK, len(vectors)))
        if allowed is not None:
            rows = rows[allowed[rows]]
        cosines = np.clip(unit_rows(vectors[rows]) @ targets.T, -1, 1)
        best = [hits.joined(rows, cosines[:, q], count) for q, hits in enumerate(best)]
    return best


# Which of some rows of a collection's vectors count: [k] bool.
Counting = Callable[[slice | np.ndarray], np.ndarray]


def counting(bags: Bags, weight: str) -> Counting | None:
    """What says which vectors of a file have a weight; None where all do. For errors see `evidence_at`."""
    if weight == NONE:
        return None

    def counts(rows):
        evidence = bags.evidence_at(rows) if weight == EVIDENCE else None
        return token_weights(weight, 1, bags.vectors[rows], evidence) > 0

    return counts


def search(
    queries: Sequence[np.ndarray],
    vectors: np.ndarray,
    offsets: np.ndarray,
    count: int,
    weights: Sequence[np.ndarray | None] | None = None,
    counts: Counting | None = None,
    odd: Callable[[slice], object] = lambda rows: None,
) -> list[Hits]:
    """The best bags of each query; an empty bag, and any bag for an empty query, scores 0.

    Single precision gives every score but for a small error, in blocks that stay in the processor's cache;
    the bags that may be among the best are then scored again in double precision.

    Args:
        queries: [m, r] arrays.
        vectors: [N, r], maybe mapped. offsets: [B + 1]; bag b is vectors[offsets[b] : offsets[b + 1]].
        count: how many bags to find, where there are so many.
        weights: [m] of each query's vectors; None for equal ones.
        counts: which of the vectors count; all by default.
        odd: is called with each block that has a zero vector, an extreme one or one that is not finite.
    """
    weights, best, most = weights or [None] * len(queries), [_NONE] * len(queries), len(offsets) - 1
    for first, last in blocks(offsets_of(np.array(list(map(len, queries)), np.int64)), COLUMNS):
        sides = list(map(side_of, queries[first:last], weights[first:last]))
        own = np.array([len(side.units) for side in sides])
        scorer, step = _scorer(sides, np.float32), max(1, SCORES // (last - first))
        for start in range(0, most, step):
            rough = _rough(scorer, vectors, offsets[start : min(start + step, most) + 1], counts, odd)
            few, error = min(count, len(rough)), (2 * vectors.shape[1] + own + 16) * 2.0**-24
            known = [hits.scores[-1] if len(hits.scores) == count else -1 for hits in best[first:last]]
            near = rough >= np.maximum(np.partition(rough, -few, axis=0)[-few] - error, known) - error
            near[few:, own == 0] = False  # all bags score 0, so the first ones will do
            for q, (side, column) in enumerate(zip(sides, near.T, strict=True), first):
                numbers = start + np.flatnonzero(column)
                best[q] = _exact(side, vectors, offsets, numbers, count, counts, best[q])
    return best


def _rough(
    scorer: Callable[..., np.ndarray],
    vectors: np.ndarray,
    offsets: np.ndarray,
    counts: Counting | None,
    odd: Callable[[slice], object],
) -> np.ndarray:
    """[B, m] float32 SNLI(bag, query): each within (2 r + the query's vectors + 16) 2⁻²⁴ of the score."""
    found = []
    for first, last in blocks(offsets, ROWS):
        rows, own = slice(offsets[first], offsets[last]), offsets[first : last + 1] - offsets[first]
        with np.errstate(over="ignore", invalid="ignore"):
            block = np.asarray(vectors[rows], np.float32)
            norms = np.sqrt(np.vecdot(block, block))
        # no comparison holds for what is not a number
        if not (norms.min(initial=1) > _SMALL and norms.max(initial=1) < _LARGE):
            odd(rows)
            strange = ~((norms > _SMALL) & (norms < _LARGE))
            block, norms[strange] = block.copy(), 1
            block[strange] = unit_rows(vectors[rows][strange])
        if counts is not None:
            alive = counts(rows)
            block, norms, own = block[alive], norms[alive], offsets_of(alive)[own]
        found.append(scorer(block, own, norms[:, None]))
    return np.concatenate(found)


def _exact(
    side: Side,
    vectors: np.ndarray,
    offsets: np.ndarray,
    numbers: np.ndarray,
    count: int,
    counts: Counting | None,
    best: Hits = _NONE,
) -> Hits:
    """The best of some numbered bags, in their order, for one query, and of those known; see `search`."""
    scorer = _scorer([side], np.float64)
    for start in range(0, len(numbers), ROWS):
        some = numbers[start : start + ROWS]
        rows, bag = ranges(offsets, some)
        if counts is not None:
            alive = counts(rows)
            rows, bag = rows[alive], bag[alive]
        scores = scorer(unit_rows(vectors[rows]), offsets_of(np.bincount(bag, minlength=len(some))))
        best = best.joined(some, _rounded(scores[:, 0]), count)
    return best


def entailments(
    queries: Sequence[np.ndarray],
    vectors: np.ndarray,
    offsets: np.ndarray,
    block: int = BLOCK,
    weights: Sequence[np.ndarray | None] | None = None,
    counts: Counting | None = None,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield bag numbers [b] with SNLI(bag, query) [b, m] of each query, in double precision.

    Args:
        block: vectors at a time, unless a bag has more. For the others see `search`.
    """
    scorer = _scorer(list(map(side_of, queries, weights or [None] * len(queries))), np.float64)
    for first, last in blocks(offsets, block):
        rows, own = slice(offsets[first], offsets[last]), offsets[first : last + 1] - offsets[first]
        alive = slice(None) if counts is None else counts(rows)
        own = own if counts is None else offsets_of(alive)[own]
        yield np.arange(first, last), _rounded(scorer(unit_rows(vectors[rows][alive]), own))


def _scorer(sides: Sequence[Side], dtype: type) -> Callable[..., np.ndarray]:
    """What says SNLI [B, m] of bags and each of some queries, in this precision.

    It takes the bags' vectors [N, r], one bag after the other, their offsets [B + 1], and the vectors'
    lengths [N, 1] where these are not 1.
    """
    sizes = np.array([len(units) for units, _ in sides], np.int64)
    some, starts = np.flatnonzero(sizes), offsets_of(sizes)[sizes.nonzero()]
    targets = np.concatenate([units for units, _ in sides] or [np.zeros((0, 0))]).T.astype(dtype, order="C")
    shares = [np.ones(len(units)) / max(len(units), 1) if own is None else own for units, own in sides]
    shares = np.concatenate([*shares, np.zeros(0)]).astype(dtype)

    def scores(bags, offsets, norms=None):
        found, full = np.zeros((len(offsets) - 1, len(sides)), dtype), np.flatnonzero(np.diff(offsets))
        if len(full) and len(some):
            if norms is not None and len(shares) > bags.shape[1]:
                bags, norms = bags / norms, None  # the fewer numbers are divided
            cosines = bags @ targets
            if norms is not None:
                cosines /= norms
            means = np.add.reduceat(_largest(cosines, offsets[full]) * shares, starts, axis=1)
            found[full[:, None], some] = means
        return found

    return scores


def _rounded(scores: np.ndarray) -> np.ndarray:
    return np.minimum(scores.round(DECIMALS), 1) + 0.0


def _largest(cosines: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """[b, k] the largest of the rows from each start to the next, column by column."""
    if cosines.shape[1] < WIDE:
        return np.maximum.reduceat(cosines, starts, axis=0)
    # which goes down one column after the other, and is slow where there are many
    each = pairwise([*starts.tolist(), len(cosines)])
    return np.array([np.maximum.reduce(cosines[a:b], axis=0) for a, b in each])


def blocks(offsets: np.ndarray, size: int) -> Iterator[tuple[int, int]]:
    """(first, last) bag of blocks of at most `size` vectors, or of one bag with more."""
    first, bags = 0, len(offsets) - 1
    while first < bags:
        last = int(np.searchsorted(offsets, offsets[first] + size, side="right")) - 1
        last = min(max(last, first + 1), bags)
        yield first, last
        first = last


# --- an index over a file of bags

FORMAT, VERSION = "bove-index", "1"
ENGINE = "qdrant-edge-py"
MANIFEST, SHARD, OWN = "index.json", "engine", "bags.safetensors"
SIGNS_FROM = 128  # with fewer dimensions, signs alone say too little
SPARE = 50  # bags that are scored exactly beyond twice as many as are asked for, since the engine rounds
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
        bags: the file that it is of.
    """

    def __init__(self, folder: Path, bags: Bags, settings: GraphSettings, threads: int):
        self.bags, self._folder, self._shard = bags, folder, None
        self._empty = np.flatnonzero(np.diff(bags.offsets) == 0)
        if len(self._empty) < bags.n_bags:
            with _engine(folder) as edge:
                config = _config(edge, bags.rank, settings, threads)
                self._shard = edge.EdgeShard.load(str(folder / SHARD), config)

    @classmethod
    def open(cls, folder: str | Path, bags: str | Path | None = None, threads: int = 1) -> "BagIndex":
        """Open an index and its file of bags.

        Args:
            bags: the file, where it is no longer where it was, seen from the folder.
            threads: of the engine; they do not change what it finds.

        Raises:
            BoveError: no index, a damaged one, or one of other bags.
            ModuleNotFoundError: the engine is not installed.
        """
        folder = Path(folder)
        manifest = _manifest(folder)
        path = folder / manifest["bags"] if bags is None else Path(bags)
        if bags is None and not path.is_file():
            raise BoveError(f"{folder}: its bags are no longer at {manifest['bags']}; name them with --bags")
        opened = Bags.open(path)
        _check(folder, manifest, opened)
        return cls(folder, opened, GraphSettings(manifest["links"], manifest["breadth"]), threads)

    def search(
        self,
        query: np.ndarray,
        count: int,
        candidates: int | None = None,
        weights: np.ndarray | None = None,
        counts: Counting | None = None,
    ) -> Hits:
        """The best bags of a query [m, r], with exact scores; one that the engine misses is not there.

        Args:
            count: how many bags to find, where there are so many.
            candidates: how many the engine looks at closely; more take longer, and miss less. By default 100
                for each that is asked for, and at least 200.
            weights, counts: as in `search`; the engine, which gives the candidates, knows of the weights of 0
                alone, in the query.

        Raises:
            BoveError: the engine fails.
        """
        candidates = candidates or max(LEAST, PER_SHOWN * count)
        if weights is not None:
            query, weights = query[weights > 0], weights[weights > 0]
        # a query of zeros alone scores 0 with all, an empty bag with all queries: the first are the best
        if np.any(query):
            found = self._candidates(query, 2 * count + SPARE, candidates)
        else:
            found = np.arange(min(count, self.bags.n_bags))
        numbers = np.unique(np.concatenate([found, self._empty[:count]]))  # bags that tie go by number
        of = self.bags.vectors, self.bags.offsets
        return _exact(side_of(query, weights), *of, numbers, count, counts)

    def close(self) -> None:
        """Let the engine go."""
        if self._shard is not None:
            self._shard.close()
            self._shard = None

    def _candidates(self, query: np.ndarray, count: int, looked_at: int) -> np.ndarray:
        """Numbers of the bags that the engine finds best: by signs, then by eight bits of each number."""
        if self._shard is None:
            return np.zeros(0, np.int64)
        looked_at = max(looked_at, count)
        with _engine(self._folder) as edge:
            how = edge.QuantizationSearchParams(rescore=True, oversampling=looked_at / count)
            request = edge.QueryRequest(
                limit=count,
                query=edge.Query.Nearest(unit_rows(query).astype(np.float32)),
                params=edge.SearchParams(hnsw_ef=looked_at, quantization=how),
                with_payload=False,
                with_vector=False,
            )
            return np.array([point.id for point in self._shard.query(request)], np.int64)


def answers(
    asked: Sequence[tuple[np.ndarray, np.ndarray | None]],
    bags: Bags,
    index: BagIndex | None,
    count: int,
    weight: str,
    power: float,
    candidates: int | None = None,
) -> list[Hits]:
    """The best bags of a file, by its index where there is one, for each query's vectors and evidence.

    Raises:
        BoveError: bags without evidence or with values that are not finite, or the engine fails.
    """
    weights, counts = [token_weights(weight, power, *one) for one in asked], counting(bags, weight)
    queries = [vectors for vectors, _ in asked]
    if index is None:
        of = bags.vectors, bags.offsets
        return search(queries, *of, count, weights, counts, odd=bags.check_finite)
    each = zip(queries, weights, strict=True)
    return [index.search(query, count, candidates, own, counts) for query, own in each]


def build(
    bags: Bags, folder: str | Path, settings: GraphSettings, threads: int = 1, move: bool = False
) -> None:
    """Make an index of a file of bags, whole or not at all.

    An existing index is replaced. The engine is random: the graph differs from one build to the next, and
    with it what a search misses.

    Args:
        move: whether the file of bags becomes a part of the index, which then needs no other.

    Raises:
        BoveError: a value that is not finite, something else is there, or it cannot be written.
        ModuleNotFoundError: the engine is not installed.
    """
    path = Path(folder)
    with _engine(path) as edge, atomic_folder(path, MANIFEST) as made:
        if np.any(np.diff(bags.offsets) > 0):
            (made / SHARD).mkdir()
            shard = edge.EdgeShard.create(str(made / SHARD), _config(edge, bags.rank, settings, threads))
            try:
                for points in _points(edge, bags):
                    shard.update(edge.UpdateOperation.upsert_points(points))
                shard.optimize()
                shard.flush()
            finally:
                shard.close()
        kept = made / OWN if move else bags.path
        if move:
            bags.path.replace(kept)
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "bags": OWN if move else Path(os.path.relpath(bags.path, path)).as_posix(),
            "bags_sha256": sha256(kept),
            **_stamp(kept),
            "model_hash": bags.model_hash,
            "system": bags.system,
            "n_bags": bags.n_bags,
            "n_vectors": len(bags.vectors),
            "rank": bags.rank,
            "engine": f"{ENGINE} {version(ENGINE)}",
            **asdict(settings),
        }
        with atomic_write(made / MANIFEST) as stream:
            json.dump(manifest, stream, indent=1)


def _config(edge: Any, rank: int, settings: GraphSettings, threads: int) -> Any:
    cold = edge.Memory.Cold
    vectors = edge.EdgeVectorParams(
        size=rank,
        distance=edge.Distance.Cosine,
        multivector_config=edge.MultiVectorConfig(edge.MultiVectorComparator.MaxSim),
        datatype=edge.VectorStorageDatatype.Turbo8,
        quantization_config=edge.BinaryQuantizationConfig(memory=cold) if rank >= SIGNS_FROM else None,
        memory=cold,
    )
    links = {"m": settings.links, "ef_construct": settings.breadth, "full_scan_threshold": 10}
    graph = edge.HnswIndexConfig(**links, max_indexing_threads=threads, memory=cold)
    sizes = {"default_segment_number": 1, "max_segment_size": _ONE_SEGMENT_KB, "indexing_threshold": 1}
    how = {"optimizers": edge.EdgeOptimizersConfig(**sizes), "max_search_threads": threads}
    return edge.EdgeConfig(vectors=vectors, hnsw_config=graph, wal_enabled=False, **how)


def _points(edge: Any, bags: Bags) -> Iterator[list[Any]]:
    """The bags that have vectors, as the engine takes them, some at a time."""
    offsets = bags.offsets
    for first, last in blocks(offsets, BLOCK):
        rows, start = slice(offsets[first], offsets[last]), offsets[first]
        bags.check_finite(rows)
        units = unit_rows(bags.vectors[rows]).astype(np.float32)
        yield [
            edge.Point(b, units[offsets[b] - start : offsets[b + 1] - start])
            for b in range(first, last)
            if offsets[b + 1] > offsets[b]
        ]


@contextmanager
def _engine(folder: Path) -> Iterator[Any]:
    """The engine's module; its errors, which have no class of their own, become BoveError."""
    import qdrant_edge

    try:
        yield qdrant_edge
    except Exception as e:
        if type(e) not in (Exception, OverflowError, ValueError):
            raise
        raise BoveError(
            f"{folder}: {ENGINE} {version(ENGINE)} cannot use it ({e}); check that it can be written, or "
            "build the index again"
        ) from e


def _stamp(path: Path) -> dict[str, int]:
    found = path.stat()
    return {"bags_size": found.st_size, "bags_time": found.st_mtime_ns}


def _manifest(folder: Path) -> dict[str, Any]:
    advice = "make it with `bove index`"
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as e:
        raise BoveError(f"{folder}: no index, or a damaged one; {advice}") from e
    made_by = (manifest.get("format"), manifest.get("version")) if isinstance(manifest, dict) else ()
    if made_by != (FORMAT, VERSION):
        raise BoveError(f"{folder}: no index that this version reads; {advice}")
    return manifest


def _check(folder: Path, manifest: dict[str, Any], bags: Bags) -> None:
    """BoveError where the index is of other bags; these are hashed only if size or time have changed."""
    if all(manifest.get(name) == value for name, value in _stamp(bags.path).items()):
        return
    if manifest["bags_sha256"] != sha256(bags.path):
        raise BoveError(f"{folder}: made of other bags than {bags.path}; build the index again")
