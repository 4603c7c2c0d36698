"""Alignment scores by plain loops, one cosine at a time: the oracle for bove.evaluate.alignment."""

import math


def cosine(u, v):
    norms = math.sqrt(sum(float(x) ** 2 for x in u)) * math.sqrt(sum(float(y) ** 2 for y in v))
    return sum(float(x) * float(y) for x, y in zip(u, v, strict=True)) / norms if norms else 0.0


def snli(first, second):
    """Mean over the second bag's vectors of the best cosine with one of the first bag's."""
    if not len(first) or not len(second):
        return 0.0
    total = 0.0
    for v in second:
        best = -math.inf
        for u in first:
            best = max(best, cosine(u, v))
        total += best
    return total / len(second)


def sts(first, second):
    """Harmonic mean of both directions; 0 where their sum is not positive."""
    a, b = snli(first, second), snli(second, first)
    return 2 * a * b / (a + b) if a + b > 0 else 0.0
