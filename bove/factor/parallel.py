"""How the work is divided: batches of graphs, processes (MPI) and threads.

A batch holds b graphs of n tokens. Its token vectors are one [b n, r] array; everything sparse about its
graphs is kept as arcs and as the CSR matrix of its properties.

Processes each have a part of the graphs. Every quantity of ALS that P and R depend on is a sum over graphs:
each process sums over its own part, and `Peers.sum` adds these up; token vectors stay where they are. All
processes then do the same steps. What decides how a step goes on is taken from the first of them: on
computers of different kinds, rounding could have one process do an iteration more than another.

Threads take whole batches. Sums over batches have a fixed order, so results do not depend on their number.
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
from functools import cache, cached_property
from typing import TypeVar

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from bove.errors import BoveError
from bove.factor.graphs import GraphCorpus, filled, offsets_of, ranges

T = TypeVar("T")


class Batch:
    """Graphs [b] of one corpus with `n` tokens each, at least one; its arrays are made when first asked for.

    Floating-point arrays have the type `dtype`.
    """

    def __init__(self, corpus: GraphCorpus, graphs: np.ndarray, dtype: np.typing.DTypeLike):
        self.corpus, self.graphs, self.dtype = corpus, graphs, dtype
        self.n = int(corpus.lengths[graphs[0]])
        self._incidence: dict[tuple[int, int], sp.csr_array] = {}

    @property
    def size(self) -> int:
        """b, the number of graphs."""
        return len(self.graphs)

    @cached_property
    def tokens(self) -> np.ndarray:
        """[b n] rows of the corpus' token array, graph by graph."""
        return (self.corpus.token_offsets[self.graphs][:, None] + np.arange(self.n)).ravel()

    @cached_property
    def W(self) -> sp.csr_array:
        """[b n, c (+ extra)] CSR, the properties of each token (the transpose of the paper's W)."""
        entries, owner = ranges(self.corpus.property_offsets, self.tokens)
        cells = (owner, self.corpus.properties[entries])
        columns = self.corpus.n_properties + len(self.corpus.extra)
        values = filled(self.corpus.property_value, entries, len(entries), self.dtype)
        return sp.csr_array((values, cells), shape=(len(self.tokens), columns))

    @cached_property
    def arcs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Relation, graph within the batch, head and dependent within the graph of each arc, [m] each."""
        return self._within("arc")

    def _within(self, kind):
        c = self.corpus
        cells, graph = ranges(getattr(c, f"{kind}_offsets"), self.graphs)
        first = c.token_offsets[self.graphs][graph]
        head, dependent = (getattr(c, f"{kind}_{end}")[cells] - first for end in ("head", "dependent"))
        return getattr(c, f"{kind}_relation")[cells], graph, head, dependent

    @cached_property
    def weights(self) -> np.ndarray:
        """[m] what the cell of each arc holds."""
        arcs, _ = ranges(self.corpus.arc_offsets, self.graphs)
        return filled(self.corpus.arc_weight, arcs, len(arcs), self.dtype)

    def incidence(self, relations: range) -> sp.csr_array:
        """[b n, b n 2m] for m relations k; made once.

        Row i takes (j, k, 0) for each arc i→j of relation k, and (j, k, 1) for each arc j→i, by its weight.
        """
        key = (relations.start, relations.stop)
        if key not in self._incidence:
            relation, graph, head, dependent = self.arcs
            on = (relation >= relations.start) & (relation < relations.stop)
            side = 2 * (relation[on] - relations.start)
            head, dependent = (graph[on] * self.n + token[on] for token in (head, dependent))
            row, width = np.concatenate([head, dependent]), 2 * len(relations)
            column = np.concatenate([dependent * width + side, head * width + side + 1])
            rows = self.size * self.n
            values = np.tile(self.weights[on], 2)
            self._incidence[key] = sp.csr_array((values, (row, column)), shape=(rows, rows * width))
        return self._incidence[key]

    @cached_property
    def cells(self) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """Relation k → flat places of its arcs in a [b, n, n] array, and their weights."""
        relation, graph, head, dependent = self.arcs
        flat = (graph * self.n + head) * self.n + dependent
        return {k: (flat[at], self.weights[at]) for k, at in grouped(relation)}

    @cached_property
    def unknown(self) -> dict[int, np.ndarray]:
        """Relation k → flat places of its unknown cells in a [b, n, n] array."""
        if self.corpus.unknown_offsets is None:
            return {}
        relation, graph, head, dependent = self._within("unknown")
        flat = (graph * self.n + head) * self.n + dependent
        return {k: flat[at] for k, at in grouped(relation)}

    @cached_property
    def around(self) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """What the unknown cells leave out of each row's sums; None where all cells are known.

        [b n + 1] offsets of the rows' entries; of each entry the other row and 2 k, or 2 k + 1 where that
        one is the head.
        """
        if self.corpus.unknown_offsets is None:
            return None
        relation, graph, *ends = self._within("unknown")
        head, dependent = (graph * self.n + end for end in ends)
        row, other = np.concatenate([head, dependent]), np.concatenate([dependent, head])
        side, order = np.concatenate([2 * relation, 2 * relation + 1]), np.argsort(row, kind="stable")
        return offsets_of(np.bincount(row, minlength=self.size * self.n)), other[order], side[order]

    def select(self, keep: np.ndarray) -> "Batch":
        """The batch of those graphs for which `keep` [b] is true."""
        return Batch(self.corpus, self.graphs[keep], self.dtype)


def grouped(keys: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """Each of the keys with the places that have it, both rising."""
    order = np.argsort(keys, kind="stable")
    names, starts = np.unique(keys[order], return_index=True)
    return list(zip(names.tolist(), np.split(order, starts[1:]), strict=True)) if len(names) else []


def plan_batches(lengths: np.ndarray, budget: int) -> list[np.ndarray]:
    """Group graphs of equal length so that no group exceeds `budget` tokens; a longer graph is alone.

    Empty graphs are left out. The plan depends on the lengths and the budget alone.

    Raises:
        BoveError: a budget of less than one token.
    """
    if budget < 1:
        raise BoveError(f"batches of {budget} tokens: must be at least 1")
    plan = []
    for n in np.unique(lengths[lengths > 0]):
        graphs, size = np.flatnonzero(lengths == n), max(1, budget // int(n))
        plan += [graphs[i : i + size] for i in range(0, len(graphs), size)]
    return plan


def make_batches(
    corpus: GraphCorpus, budget: int, dtype: np.typing.DTypeLike, graphs: np.ndarray | None = None
) -> Iterator[Batch]:
    """The graphs of a corpus, or some of them, in batches of at most `budget` tokens (see `plan_batches`)."""
    graphs = np.arange(corpus.n_graphs) if graphs is None else graphs
    for places in plan_batches(corpus.lengths[graphs], budget):
        yield Batch(corpus, graphs[places], dtype)


class Peers:
    """The processes that train one model together: here one alone, whose sums are the whole.

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
        messages = [message for message in self.every(str(failed or "")) if message]
        if failed or messages:
            raise failed or BoveError(messages[0])


# where launchers say how many processes there are, and which one this is
_COUNTS = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
_NUMBERS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID")
# seconds after which a process that failed gives up waiting for the others to fail too
PATIENCE = 10


class World(Peers):
    """All processes of an MPI run, such as `mpiexec -n 4 bove train-als … --mpi 4`; made by `world`."""

    def __init__(self):
        try:
            from mpi4py import MPI
        except ModuleNotFoundError:
            raise
        except (ImportError, RuntimeError) as e:
            raise BoveError(f"--mpi: no MPI library is found ({e}); install one, such as Open MPI") from e
        self._MPI, self._all = MPI, MPI.COMM_WORLD
        self._ending = self._all.Dup()  # an end can be agreed on whatever is going on in the other
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

    The number is stated, not taken from MPI alone: a launcher of another MPI would start as many processes,
    but each would be alone in its own world. mpi4py is imported only where there are several.

    Raises:
        BoveError: the launcher started another number of them, or there is no MPI; in the first alone.
        ModuleNotFoundError: mpi4py is not installed.
    """
    started = _environment_number(_COUNTS, 1)
    try:
        if count < 1:
            raise BoveError(f"--mpi {count}: must be at least 1")
        if count == 1 and started == 1:
            return Peers()
        if count == 1:
            raise BoveError(f"started by MPI as {started} processes; say so with --mpi {started}")
        found = World()
        if found.count != count:
            raise BoveError(
                f"--mpi {count}: MPI finds {found.count}; start {count} processes with a launcher of the "
                f"same MPI, such as mpiexec -n {count} or srun -n {count} --mpi=pmix"
            )
    except (BoveError, ModuleNotFoundError):
        if _environment_number(_NUMBERS, 0):
            raise SystemExit(2) from None
        raise
    return found


def _environment_number(names, default: int) -> int:
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


class Space(threading.local):
    """One piece of memory per thread, reused from batch to batch instead of page faults for every array."""

    def array(self, *shape: int, dtype) -> np.ndarray:
        """An uninitialised array; the thread's next one takes its place."""
        dtype = np.dtype(dtype)
        size = math.prod(shape) * dtype.itemsize
        if size > len(getattr(self, "memory", b"")):
            self.memory = np.empty(size, np.uint8)
        return self.memory[:size].view(dtype).reshape(shape)


class Workers:
    """Threads that each run single-threaded matrix products on whole batches.

    `peers` are the processes that have the other graphs, for whatever sums over all of them.
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
        """Yield function(item) in order; at most one item more than there are threads is under way."""
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
