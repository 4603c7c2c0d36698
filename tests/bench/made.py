"""What the benchmarks measure on, and how: random corpora and models, seconds, a product's speed."""

import csv
import os
import time

import numpy as np
from threadpoolctl import threadpool_limits

from bove.factor.graphs import GraphCorpus
from bove.factor.parallel import make_batches

BATCH = 1024
THREADS = min(2, os.cpu_count() or 1)
PAIR = (np.ones((3000, 3000), np.float32),) * 2
PRODUCT = 2 * 3000**3
# Sentences of English-EWT (release 2.15, training part) by length: the 2nd, 4th … 98th hundredths.
LENGTHS = [
    1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 6, 7, 7, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 15, 15, 16, 16, 17,
    18, 18, 19, 20, 20, 21, 22, 23, 24, 25, 26, 27, 29, 30, 32, 34, 38, 41, 49,
]  # fmt: skip


def treebank_lengths(count: int, seed: int = 0) -> np.ndarray:
    """[count] sentence lengths with a treebank's distribution."""
    return np.random.default_rng(seed).choice(LENGTHS, count)


def corpus_of(lengths: np.ndarray, c: int = 9500, d: int = 30, seed: int = 0) -> GraphCorpus:
    """Random trees with adjacency: two properties a token, a head for all but one token of each graph."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    T = int(offsets[-1])
    words = np.minimum(rng.zipf(1.3, T) - 1, c - 51)
    properties = np.stack([words, c - 50 + rng.integers(0, 50, T)], axis=1).ravel()
    graph = np.repeat(np.arange(len(lengths)), lengths)
    place = np.arange(T) - offsets[graph]
    inner = place > 0
    head = offsets[graph][inner] + (rng.random(inner.sum()) * place[inner]).astype(np.int64)
    dependent = np.flatnonzero(inner)
    relation = rng.integers(0, d - 1, len(dependent))
    # [4, arcs]: graph, relation, head and dependent of the trees' arcs, then of those between neighbours
    trees, beside = (graph[inner], relation, head), (graph[inner], 0 * relation + d - 1, dependent - 1)
    arcs = np.concatenate([[*trees, dependent], [*beside, dependent]], axis=1)
    arcs = arcs[:, np.argsort(arcs[0], kind="stable")]
    ends = np.searchsorted(arcs[0], np.arange(len(lengths) + 1))
    return GraphCorpus(offsets, np.arange(0, 2 * T + 1, 2), properties, ends, *arcs[1:], c, d)


def factors(c: int, d: int, r: int, seed: int = 0):
    """P [c, r] and nearly low-rank R [d, r, r] in float32, P outweighing R."""
    rng = np.random.default_rng(seed)
    P = rng.standard_normal((c, r), dtype=np.float32) * np.float32(2.5 / np.sqrt(r))
    left, right = rng.standard_normal((2, d, r, r), dtype=np.float32) / np.sqrt(r, dtype=np.float32)
    decay = np.exp(-np.arange(r) / 8).astype(np.float32)
    return P, np.float32(3.0) * (left * decay) @ right


def batches_of(corpus, dtype=np.float32):
    return list(make_batches(corpus, BATCH, dtype))


def timed(function, *args):
    """Seconds, and what it gave."""
    start = time.perf_counter()
    result = function(*args)
    return time.perf_counter() - start, result


def product_seconds(threads: int = THREADS) -> float:
    """Of one float32 matrix product, 3000 × 3000."""
    with threadpool_limits(threads):
        return timed(np.matmul, *PAIR)[0]


def write_rows(path, rows) -> None:
    """CSV of what was measured, with the last row's columns."""
    with open(path, "w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[-1]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
