"""Processes that train one model together, each with a part of the sentences.

Every quantity of ALS that P and R depend on is a sum over sentences. Each process makes the sum of its own
part, and `Peers.sum` adds these up; token vectors stay where they are. All processes then do the same steps.
What decides how a step goes on is taken from the first of them: on computers of different kinds, rounding
could have one process do an iteration more than another.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np

from bove.errors import BoveError

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
