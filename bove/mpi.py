"""Processes that an MPI launcher has started, as the peers of one training.

    mpiexec -n 4 bove train-als … --mpi 4

mpi4py is imported only where there are several. How many there should be is said, and not taken from MPI
alone: a launcher of another MPI would start as many processes, but these would know nothing of each other.
"""

import atexit
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np

from bove.errors import BoveError
from bove.factor.peers import Peers

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
