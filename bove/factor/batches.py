"""Sentences of one length as one array, and the workers that share them out.

A batch holds b graphs of n tokens. Its token vectors are one [b n, r] array; everything sparse about
its graphs is kept as arcs and as the CSR matrix of its properties.
"""

import math
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from bove.errors import BoveError
from bove.factor.peers import Peers
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

    @cached_property
    def _incidence(self) -> dict:
        return {}

    def incidence(self, relations: range, dtype) -> sp.csr_array:
        """[b n, b n 2m] for m relations k; made once.

        Row i picks (j, k, 0) for each arc i→j of relation k, and (j, k, 1) for each arc j→i.
        """
        key = (relations.start, relations.stop, dtype)
        if key not in self._incidence:
            self._incidence[key] = self._make_incidence(relations, dtype)
        return self._incidence[key]

    def _make_incidence(self, relations, dtype):
        m, rows = len(relations), self.size * self.n
        arcs = (self.relation >= relations.start) & (self.relation < relations.stop)
        side = 2 * (self.relation[arcs] - relations.start)
        head = self.graph[arcs] * self.n + self.head[arcs]
        dependent = self.graph[arcs] * self.n + self.dependent[arcs]
        row = np.concatenate([head, dependent])
        column = np.concatenate([dependent * 2 * m + side, head * 2 * m + side + 1])
        return sp.csr_array((np.ones(len(row), dtype), (row, column)), shape=(rows, rows * 2 * m))

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

    Raises:
        BoveError: a budget of less than one token.
    """
    if budget < 1:
        raise BoveError(f"batches of {budget} tokens: must be at least 1")
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


class Space(threading.local):
    """One piece of memory for each thread, used again from batch to batch.

    A large array is otherwise fetched from the system, page by page, for every batch.
    """

    def array(self, *shape: int, dtype) -> np.ndarray:
        """An array whose contents are anything; the thread's next one takes its place."""
        dtype = np.dtype(dtype)
        size = math.prod(shape) * dtype.itemsize
        if size > len(getattr(self, "memory", b"")):
            self.memory = np.empty(size, np.uint8)
        return self.memory[:size].view(dtype).reshape(shape)


class Workers:
    """Threads that each run single-threaded matrix products on whole batches.

    Results come back in the order of the items, so that sums over batches do not depend on the number
    of threads. At most one item more than there are threads is under way, which bounds the memory.

    Args:
        threads: how many.
        peers: the processes that have the other sentences, for whoever sums over all of them.
    """

    def __init__(self, threads: int = 1, peers: Peers | None = None):
        self.threads, self.peers = threads, peers or Peers()

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
