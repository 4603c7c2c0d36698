"""How the benchmarks measure: seconds, the machine's own product speed, and shares of it."""

import os
import time

import numpy as np
from threadpoolctl import threadpool_limits

from bove.factor.parallel import make_batches

BATCH = 1024
THREADS = min(2, os.cpu_count() or 1)
PAIR = (np.ones((3000, 3000), np.float32),) * 2
PRODUCT = 2 * 3000**3


def timed(function, *args):
    """Seconds, and what it gave."""
    start = time.perf_counter()
    result = function(*args)
    return time.perf_counter() - start, result


def peak(threads: int) -> float:
    """float32 matrix products a second, in flops: the best of five of 3000 × 3000."""
    with threadpool_limits(threads):
        return PRODUCT / min(timed(np.matmul, *PAIR)[0] for _ in range(5))


def share_of_peak(run, flops: float, threads: int) -> tuple[float, float]:
    """Share of the product's speed at which `run` does its flops, and its seconds.

    Both the best of five, measured in turn because the speed of a shared machine drifts.
    """
    ours, product = [], []
    for _ in range(5):
        with threadpool_limits(threads):
            product.append(timed(np.matmul, *PAIR)[0])
        ours.append(timed(run)[0])
    return flops / min(ours) / (PRODUCT / min(product)), min(ours)


def batches_of(corpus, budget=BATCH):
    return list(make_batches(corpus, budget, np.float32))
