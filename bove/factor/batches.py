"""Sentences of one length as one array, and the workers that share them out.

A batch holds b graphs of n tokens. Its token vectors are one [b n, r] array; everything sparse about
its graphs is kept as arcs and as the CSR matrix of its properties.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from bove.graphs import GraphCorpus


@dataclass(frozen=True)
class Batch:
    """b graphs of n tokens each.

    Attributes:
        graphs: [b] which graphs of the corpus.
        n: tokens of each.
        tokens: [b n] rows of the corpus' token array, graph by graph.
        W: [b n, c (+ extra)] CSR, the properties of each token (the transpose of the paper's W).
        relation, graph, head, dependent: [m] the arcs: label, graph within the batch, tokens within it.
    """

    graphs: np.ndarray
    n: int
    tokens: np.ndarray
    W: sp.csr_array
    relation: np.ndarray
    graph: np.ndarray
    head: np.ndarray
    dependent: np.ndarray

    @property
    def size(self) -> int:
        return len(self.graphs)

    def neighbours(self, d: int, dtype) -> sp.csr_array:
        """[b n, b n 2d] incidence: row i picks (j, k) for each arc i→j and (j, d + k) for each arc j→i."""
        rows = self.size * self.n
        head = self.graph * self.n + self.head
        dependent = self.graph * self.n + self.dependent
        row = np.concatenate([head, dependent])
        column = np.concatenate([dependent * 2 * d + self.relation, head * 2 * d + d + self.relation])
        ones = np.ones(len(row), dtype)
        return sp.csr_array((ones, (row, column)), shape=(rows, rows * 2 * d))

    @cached_property
    def _adjacency(self) -> dict:
        return {}

    def adjacency(self, k: int, dtype) -> sp.csr_array:
        """[b n, b n] X_k of every graph of the batch, block by block; made once."""
        if (k, dtype) not in self._adjacency:
            self._adjacency[k, dtype] = self._make_adjacency(k, dtype)
        return self._adjacency[k, dtype]

    def _make_adjacency(self, k, dtype):
        arcs = self.relation == k
        head = self.graph[arcs] * self.n + self.head[arcs]
        dependent = self.graph[arcs] * self.n + self.dependent[arcs]
        shape = (self.size * self.n,) * 2
        return sp.csr_array((np.ones(len(head), dtype), (head, dependent)), shape=shape)

    @cached_property
    def cells(self) -> dict[int, np.ndarray]:
        """Relation k → flat positions of its arcs in a [b, n, n] array."""
        flat = (self.graph * self.n + self.head) * self.n + self.dependent
        order = np.argsort(self.relation, kind="stable")
        names, starts = np.unique(self.relation[order], return_index=True)
        return dict(zip(names.tolist(), np.split(flat[order], starts[1:]), strict=True)) if len(names) else {}

    def select(self, keep: np.ndarray) -> "Batch":
        """The batch of those graphs for which `keep` [b] is true."""
        place = np.cumsum(keep) - 1
        arcs = keep[self.graph]
        rows = np.repeat(keep, self.n)
        return Batch(
            self.graphs[keep],
            self.n,
            self.tokens[rows],
            self.W[rows],
            self.relation[arcs],
            place[self.graph[arcs]],
            self.head[arcs],
            self.dependent[arcs],
        )


def plan_batches(lengths: np.ndarray, budget: int) -> list[np.ndarray]:
    """Group graphs of equal length so that no group exceeds `budget` tokens (a longer graph stands alone).

    Empty graphs are left out. The plan depends on the lengths and the budget alone.
    """
    order = np.argsort(lengths, kind="stable")
    plan = []
    for n, start, count in zip(
        *np.unique(lengths[order], return_index=True, return_counts=True), strict=True
    ):
        if n:
            members, size = order[start : start + count], max(1, budget // int(n))
            plan += [members[i : i + size] for i in range(0, count, size)]
    return plan


def take_batch(corpus: GraphCorpus, graphs: np.ndarray, dtype) -> Batch:
    """The batch of some graphs of one length."""
    n = int(corpus.lengths[graphs[0]])
    tokens = (corpus.token_offsets[graphs][:, None] + np.arange(n)).ravel()
    entries, owner = ranges(corpus.property_offsets, tokens)
    columns = corpus.n_properties + len(corpus.extra)
    W = sp.csr_array(
        (np.ones(len(entries), dtype), (owner, corpus.properties[entries])), shape=(len(tokens), columns)
    )
    arcs, graph = ranges(corpus.arc_offsets, graphs)
    first = corpus.token_offsets[graphs][graph]
    return Batch(
        graphs,
        n,
        tokens,
        W,
        np.asarray(corpus.arc_relation[arcs], np.int64),
        graph,
        corpus.arc_head[arcs] - first,
        corpus.arc_dependent[arcs] - first,
    )


def ranges(offsets, members):
    """All positions in offsets[m] : offsets[m + 1] for each member, and which member each belongs to."""
    starts, sizes = offsets[members], offsets[members + 1] - offsets[members]
    owner = np.repeat(np.arange(len(members)), sizes)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return starts[owner] + within, owner


class Workers:
    """Threads that each run single-threaded matrix products on whole batches.

    Results come back in the order of the items, so that sums over batches do not depend on the number
    of threads. At most one item more than there are threads is under way, which bounds the memory.
    """

    def __init__(self, threads: int = 1):
        self.threads = threads

    def __enter__(self) -> "Workers":
        self._limit = threadpool_limits(1)
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        return self

    def __exit__(self, *_) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=True)
        self._limit.restore_original_limits()

    def map(self, function: Callable, items: Iterable) -> Iterator:
        """Yield function(item) in order."""
        if not self._pool:
            yield from map(function, items)
            return
        waiting = deque()
        for item in items:
            waiting.append(self._pool.submit(function, item))
            if len(waiting) > self.threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
