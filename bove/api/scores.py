"""How alike two bags are, by the paper's scores of sentence pairs."""

from typing import Any

import numpy as np

from bove.api.graph import bag_of
from bove.errors import BoveError
from bove.evaluate import alignment


def similarity_score(first: Any, second: Any) -> float:
    """The paper's STS score: the harmonic mean of both directions of `entailment_score`.

    Args:
        first, second: [n, r] and [m, r] bags.

    Raises:
        BoveError: no bag, or bags of different widths.
    """
    return alignment.similarity_score(*_pair(first, second))


def entailment_score(first: Any, second: Any) -> float:
    """The paper's SNLI score, how well the first bag covers the second; 0 where either is empty.

    The mean over the second bag's vectors of the largest cosine with one of the first's.

    Args:
        first, second: [n, r] and [m, r] bags.

    Raises:
        BoveError: no bag, or bags of different widths.
    """
    return alignment.entailment_score(*_pair(first, second))


def _pair(first: Any, second: Any) -> tuple[np.ndarray, np.ndarray]:
    bags = bag_of(first), bag_of(second)
    if all(map(len, bags)) and bags[0].shape[1] != bags[1].shape[1]:
        raise BoveError(
            f"bags of vectors of {bags[0].shape[1]} and of {bags[1].shape[1]} dimensions; use one model"
        )
    return bags
