"""Sentences of one length as one array, and the workers that share them out.

A batch holds b graphs of n tokens. Its token vectors are one [b n, r] array; everything sparse about
its graphs is kept as arcs and as the CSR matrix of its properties.
"""

import atexit
import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TypeVar

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from bove.errors import BoveError
from bove.factor.graphs import GraphCorpus

# Processes that train one model together, each with a part of the sentences.
#
# Every quantity of ALS that P and R depend on is a sum over sentences. Each process makes the sum of its
# own
# part, and `Peers.sum` adds these up; token vectors stay where they are. All processes then do the same
# steps.
# What decides how a step goes on is taken from the first of them: on computers of different kinds, rounding
# could have one process do an iteration more than another.

T = TypeVar("T")


class Peers:
    """A process alone, whose sums are the whole. `bove.mpi.World` is many.

    All processes must call the methods in the same order.

    Attributes:
        number, count: which process this is, from 0, and how many there are.
        bytes: size of all arrays that this process has summed or passed on so far.
    """

    number, count, bytes = 0, 1, 0

    def sum(self, array: np.ndarray) -> np.ndarray:
        """The sum of the arrays of all processes, the same everywhere; `array` may be changed."""
        return array

    def first(self, value: T) -> T:
        """What the first process has for `value`."""
        return value

    def every(self, value: T) -> list[T]:
        """The values of all processes, in order."""
        return [value]

    @contextmanager
    def together(self) -> Iterator[None]:
        """A block that succeeds everywhere or nowhere: BoveError of one process is raised in all of them.

        Within it no process may wait for another one.
        """
        failed = None
        try:
            yield
        except BoveError as e:
            failed = e
        said = [message for message in self.every(str(failed) if failed else "") if message]
        if failed:
            raise failed
        if said:
            raise BoveError(said[0])


# Sentences of one length as one array, and the workers that share them out.
#
# A batch holds b graphs of n tokens. Its token vectors are one [b n, r] array; everything sparse about
# its graphs is kept as arcs and as the CSR matrix of its properties.


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


# Processes that an MPI launcher has started, as the peers of one training.
#
#     mpiexec -n 4 bove train-als … --mpi 4
#
# mpi4py is imported only where there are several. How many there should be is said, and not taken from MPI
# alone: a launcher of another MPI would start as many processes, but these would know nothing of each
# other.

# where launchers say how many processes there are, and which one this is
_COUNTS = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
_NUMBERS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID")
# seconds after which a process that failed gives up waiting for the others to fail too
PATIENCE = 10


class World(Peers):
    """All processes of this MPI run; make it by `world`."""

    def __init__(self, MPI):
        self._MPI, self._all = MPI, MPI.COMM_WORLD
        self._ending = self._all.Dup()  # of its own, so that an end can be agreed on whatever is going on
        self.number, self.count, self.bytes = self._all.rank, self._all.size, 0

    def sum(self, array):
        array = np.ascontiguousarray(array)
        self._all.Allreduce(self._MPI.IN_PLACE, array)
        self.bytes += array.nbytes
        return array

    def first(self, value):
        if not isinstance(value, np.ndarray):
            return self._all.bcast(value)
        value = np.ascontiguousarray(value)
        self._all.Bcast(value)
        self.bytes += value.nbytes
        return value

    def every(self, value):
        return self._all.allgather(value)

    def all_end(self) -> bool:
        """Whether every process comes here before long; if not, some wait for this one."""
        arrived, end = self._ending.Ibarrier(), time.monotonic() + PATIENCE
        while not arrived.Test():
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
        return True

    def abort_at_exit(self, code: int) -> None:
        """End all processes when this one ends, with its exit code; it can say before what is wrong."""
        atexit.register(self._all.Abort, code)


@cache
def world(count: int) -> Peers:
    """The processes of this run, which must be `count`.

    Raises:
        BoveError: the launcher started another number of them, or there is no MPI; in the first alone.
        ModuleNotFoundError: mpi4py is not installed.
    """
    started = _told(_COUNTS, 1)
    try:
        if count < 1:
            raise BoveError(f"--mpi {count}: must be at least 1")
        if count == 1 and started == 1:
            return Peers()
        if count == 1:
            raise BoveError(f"started by MPI as {started} processes; say so with --mpi {started}")
        found = World(_library())
        if found.count != count:
            raise BoveError(
                f"--mpi {count}: MPI finds {found.count}; start {count} processes with a launcher of the "
                f"same MPI, such as mpiexec -n {count} or srun -n {count} --mpi=pmix"
            )
    except (BoveError, ModuleNotFoundError):
        if _told(_NUMBERS, 0):
            raise SystemExit(2) from None
        raise
    return found


def _library():
    try:
        from mpi4py import MPI
    except ModuleNotFoundError:
        raise
    except (ImportError, RuntimeError) as e:
        raise BoveError(f"--mpi: no MPI library is found ({e}); install one, such as Open MPI") from e
    return MPI


def _told(names, default: int) -> int:
    return next((int(os.environ[name]) for name in names if os.environ.get(name, "").isdecimal()), default)


@contextmanager
def joined(count: int) -> Iterator[Peers]:
    """The processes of this run, for as long as they work together.

    BoveError in all of them is raised in the first alone; the others end with code 2. Whatever else ends one
    of them ends them all.
    """
    peers = world(count)
    if not isinstance(peers, World):
        yield peers
        return
    try:
        yield peers
    except BoveError:
        if not peers.all_end():
            peers.abort_at_exit(2)
        elif peers.number:
            raise SystemExit(2) from None
        raise
    except BaseException as e:
        code = e.code if isinstance(e, SystemExit) else 1
        peers.abort_at_exit(code if isinstance(code, int) else 1)
        raise
