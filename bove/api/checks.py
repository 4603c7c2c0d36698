"""What is handed over from Python, looked at before it is used: what it can not be is one sentence."""

import numbers
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from bove.errors import BoveError


def seed_of(random_state: Any) -> int:
    """A seed of what scikit-learn takes as random_state.

    Raises:
        BoveError: something else than a whole number of at least 0, a RandomState or None.
    """
    whole = isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool)
    if whole and int(random_state) >= 0:
        return int(random_state)
    if random_state is not None and not isinstance(random_state, np.random.RandomState):
        raise BoveError(
            f"random_state {random_state!r}: must be a whole number of at least 0, a RandomState or None"
        )
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(2**31 - 1))


def bag_of(bag: Any, rank: int | None = None) -> np.ndarray:
    """A bag [n, r] as an array; of any width where the rank is None.

    Raises:
        BoveError: no table of finite numbers, or one of another width than the rank.
    """
    try:
        array = np.asarray(bag)
    except ValueError:  # rows of different lengths
        array = np.empty(0)
    if array.ndim != 2 or array.dtype.kind not in "fiu" or not np.isfinite(array).all():
        raise BoveError(
            "no bag: give one array of finite numbers, a row a node, as transform does for a graph"
        )
    if rank is not None and array.shape[1] != rank:
        raise BoveError(f"a bag of vectors of {array.shape[1]} dimensions, but the model has rank {rank}")
    return array


def vector_of(name: str, vector: Any, rank: int | None) -> np.ndarray:
    """The vector [r] of a property as single-precision numbers; of any length where the rank is None.

    Raises:
        BoveError: no row of finite numbers, or one of another length.
    """
    try:
        row = np.asarray(vector, np.float32)
    except (TypeError, ValueError):
        row = np.empty((0, 0), np.float32)
    if row.ndim != 1 or not np.isfinite(row).all():
        raise BoveError(f"vector of {name!r}: give one row of finite numbers")
    if rank is not None and len(row) != rank:
        raise BoveError(f"vector of {name!r}: {len(row)} numbers, but {rank} are due, as the rank says")
    return row


def missing(value: Any) -> bool:
    """Whether a value stands for none: None, or not a number or a time, as tables have it in empty cells."""
    if value is None or type(value).__name__ == "NAType":  # pandas.NA, which is neither equal nor different
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # an array
        return False


def series(given: Any, what: str, due: str) -> Iterator[Any]:
    """An iterator over what was given.

    Raises:
        BoveError: a text, or something that is no series: what it is, and what is due.
    """
    if isinstance(given, str) or not isinstance(given, Iterable):
        found = f"the text {given!r}" if isinstance(given, str) else f"{given!r} is no series"
        raise BoveError(f"{what}: {found}; give {due}")
    return iter(given)
