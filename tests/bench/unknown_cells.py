"""Held-out cells of a knowledge base taken as zeros, and as unknown.

    python tests/bench/unknown_cells.py FOLDER [--rank 100] [--penalty 10] [--folds 3]

The first folds of the ten of `link_prediction.py`, over all cells (head, relation, dependent). On each fold's
cells: the area under the precision-recall curve of scores as they are (raw) and of those divided by their
length over all relations of the pair (pairs), and the mean reciprocal rank of each held-out fact among the
held-out cells of its head and relation, and of its dependent and relation. Other cells are no candidates: the
model has seen their answers.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from link_prediction import FOLDS, area, read_cells

import bove


def reciprocal_ranks(X: np.ndarray, Y: np.ndarray, held: np.ndarray) -> list[float]:
    """Realistic, of each fact among the held-out cells [d n n] of its row and of its column."""
    mask = np.zeros(X.size, bool)
    mask[held] = True
    mask, found = mask.reshape(X.shape), []
    for k, i, j in np.argwhere(mask & (X > 0)):
        for scores, facts, open_, place in (
            (Y[k, i], X[k, i], mask[k, i], j),
            (Y[k, :, j], X[k, :, j], mask[k, :, j], i),
        ):
            others = scores[open_ & (facts == 0)]
            ahead, level = (others > scores[place]).sum(), (others == scores[place]).sum()
            found.append(1 / (1 + ahead + level / 2))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rank", type=int, default=100)
    parser.add_argument("--penalty", type=float, default=10.0)
    parser.add_argument("--folds", type=int, default=3)
    args = parser.parse_args()
    warnings.simplefilter("ignore", bove.BoveWarning)
    X = read_cells(args.folder)
    d, n, _ = X.shape
    folds = np.array_split(np.random.default_rng(0).permutation(X.size), FOLDS)[: args.folds]
    penalties = {"lambda_R": args.penalty, "lambda_E": args.penalty}
    rows = {"zeros": [], "unknown": []}
    for held in folds:
        training = X.copy()
        training.ravel()[held] = 0
        for how, own in rows.items():
            began = time.process_time()
            unknown = np.unravel_index(held, X.shape) if how == "unknown" else None
            corpus = bove.Corpus.from_arrays(n, np.nonzero(training), [*map(str, range(d))], unknown=unknown)
            model = bove.BoVE(
                args.rank, scale="absolute", alpha=1, init="eigenvectors", max_rounds=30, tolerance=0,
                r_tolerance=1e-4, r_iterations=100, **penalties,
            ).fit(corpus)  # fmt: skip
            (E,) = model.bags_
            Y = E @ model.relations_ @ E.T
            seconds = time.process_time() - began
            areas = [area(kind, X, Y, held) for kind in ("raw", "pairs")]
            own.append([*areas, np.mean(reciprocal_ranks(X, Y, held)), seconds])
            print(how, *(f"{value:.4f}" for value in own[-1]), flush=True)
    for how, own in rows.items():
        print(f"{how}, mean: raw, pairs, MRR, seconds:", *(f"{v:.4f}" for v in np.mean(own, axis=0)))


if __name__ == "__main__":
    main()
