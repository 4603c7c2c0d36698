"""Held-out cells of a knowledge base taken as zeros, and as unknown.

    python tests/bench/unknown_cells.py FOLDER [--rank 100] [--penalties 10] [--folds 3] [--no-loops]

The first folds of the ten of `link_prediction.py`, over all cells (head, relation, dependent). With
--no-loops the cells of a node with itself are in no fold, and always unknown. On each fold's cells: the area
under the precision-recall curve of scores as they are (raw) and of those divided by their length over all
relations of the pair (pairs), and the mean reciprocal rank of each held-out fact among the held-out cells of
its head and relation, and of its dependent and relation. Other cells are no candidates: the model has seen
their answers. Of several penalties each fold takes the one with which a tenth of the other cells, held out in
the same way, has the largest area of raw scores.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from link_prediction import FOLDS, KINDS, area, read_cells, without

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


def predicted(X: np.ndarray, rank: int, penalty: float, unknown: np.ndarray) -> np.ndarray:
    """[d, n, n] scores of a model of X whose cells `unknown`, numbered as they lie, are unknown."""
    d, n, _ = X.shape
    cells = np.unravel_index(unknown, X.shape) if len(unknown) else None
    corpus = bove.Corpus.from_arrays(n, np.nonzero(X), [*map(str, range(d))], unknown=cells)
    model = bove.BoVE(
        rank, scale="absolute", alpha=1, init="eigenvectors", max_rounds=30, tolerance=0, r_tolerance=1e-4,
        r_iterations=100, lambda_R=penalty, lambda_E=penalty,
    ).fit(corpus)  # fmt: skip
    (E,) = model.bags_
    return E @ model.relations_ @ E.T


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rank", type=int, default=100)
    parser.add_argument("--penalties", type=float, nargs="+", default=[10.0])
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--no-loops", action="store_true", help="cells of a node with itself are unknown")
    args = parser.parse_args()
    warnings.simplefilter("ignore", bove.BoveWarning)
    X = read_cells(args.folder)
    loops = np.flatnonzero(np.broadcast_to(np.eye(X.shape[1]) * args.no_loops, X.shape))
    cells = np.random.default_rng(0).permutation(np.setdiff1d(np.arange(X.size), loops))
    rows = {"zeros": [], "unknown": []}
    for held in np.array_split(cells, FOLDS)[: args.folds]:
        known = cells[~np.isin(cells, held)]
        for how, own in rows.items():

            def scores(held, penalty, how=how):
                unknown = np.concatenate([loops, held]) if how == "unknown" else loops
                return predicted(without(X, held), args.rank, penalty, unknown)

            penalty, inner = args.penalties[0], known[: len(known) // FOLDS]
            if len(args.penalties) > 1:
                both = np.concatenate([held, inner])
                penalty = max(args.penalties, key=lambda p: area("raw", X, scores(both, p), inner))
            began = time.process_time()
            Y = scores(held, penalty)
            seconds = time.process_time() - began
            areas = [area(kind, X, Y, held) for kind in KINDS]
            own.append([*areas, np.mean(reciprocal_ranks(X, Y, held)), seconds])
            print(how, f"penalty {penalty:g}", *(f"{value:.4f}" for value in own[-1]), flush=True)
    for how, own in rows.items():
        print(f"{how}, mean: raw, pairs, MRR, seconds:", *(f"{v:.4f}" for v in np.mean(own, axis=0)))
        print(f"{how}, standard deviation:", *(f"{v:.4f}" for v in np.std(own, axis=0)))


if __name__ == "__main__":
    main()
