"""Link prediction on a knowledge base: the Python interface, beside RESCAL in dense formulas.

    python tests/bench/link_prediction.py FOLDER … [--ranks 20 100] [--lambdas 1 2 3 5 7 10] [--output FILE]

Each folder has train.txt, valid.txt and test.txt, of triples: head, relation, dependent, separated by tabs.
They are put together, for ten-fold cross-validation over all cells (head, relation, dependent), zeros too:
the cells of a fold are set to 0, the model is trained on the cells as they then are, and the area under the
precision-recall curve is measured on the fold. Scores are taken as they are (raw), and divided by their
length over all relations of their pair of nodes (pairs), as `normalise="pairs"` does. For either, each fold
has a penalty of its own, chosen without its cells: a tenth of the others is set to 0 as well, and the dense
formulas say which penalty is best on these. All systems then use it. The area under the ROC curve is of the
raw scores.
"""

import argparse
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.metrics import auc, precision_recall_curve, roc_auc_score

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

import reference  # noqa: E402
from made import write_rows  # noqa: E402

import bove  # noqa: E402

FOLDS = 10
ROUNDS = 30
KINDS = ("raw", "pairs")
FIXED = {"dtype": "float64", "max_rounds": ROUNDS, "tolerance": 0}


def read_cells(folder: Path) -> np.ndarray:
    """[d, n, n] of 0 and 1 of all triples in a folder."""
    rows = []
    for part in ("train", "valid", "test"):
        lines = (folder / f"{part}.txt").read_text(encoding="utf-8").split("\n")
        rows += [line.rstrip("\r").split("\t") for line in lines if line]
    triples = set(map(tuple, rows))
    nodes = {name: i for i, name in enumerate(sorted({end for h, _, t in triples for end in (h, t)}))}
    relations = {name: k for k, name in enumerate(sorted({r for _, r, _ in triples}))}
    X = np.zeros((len(relations), len(nodes), len(nodes)))
    for head, relation, tail in triples:
        X[relations[relation], nodes[head], nodes[tail]] = 1
    return X


def eigenvectors(X: np.ndarray, rank: int) -> np.ndarray:
    """[n, r] RESCAL's start; columns of 0 where there are fewer nodes."""
    S = X.sum(0)
    values, vectors = np.linalg.eigh(S + S.T)
    order = np.argsort(-np.abs(values), kind="stable")[:rank]
    E = np.zeros((len(S), rank))
    E[:, : len(order)] = vectors[:, order]
    return E


def r_step(E: np.ndarray, X: np.ndarray, ridge: float) -> np.ndarray:
    """`reference.r_step` of one graph in RESCAL's closed form, by the singular values of E [n, r].

    The literal step solves for rank² unknowns at once, which is 10,000 at rank 100.
    """
    left, sizes, right = np.linalg.svd(E, full_matrices=False)
    shrunk = np.outer(sizes, sizes) / (np.outer(sizes**2, sizes**2) + ridge)
    return right.T @ (shrunk * (left.T @ X @ left)) @ right


def dense_rescal(X: np.ndarray, rank: int, weight: float) -> np.ndarray:
    """[d, n, n] scores after ROUNDS rounds of the dense formulas."""
    graph, none = (np.zeros((0, X.shape[1])), X), np.zeros((0, rank))
    E = eigenvectors(X, rank)
    R = r_step(E, X, weight)
    for _ in range(ROUNDS - 1):
        E = reference.e_step(graph, none, R, E, 1.0, weight)
        R = r_step(E, X, weight)
    return E @ R @ E.T


def ours(X: np.ndarray, rank: int, weight: float = 1, own_property: bool = False, **settings) -> np.ndarray:
    """[d, n, n] scores of the node vectors that training ends with."""
    nodes = [[f"node:{i}"] if own_property else [] for i in range(X.shape[1])]
    graph = bove.Graph(nodes, [(str(k), i, j) for k, i, j in np.argwhere(X).tolist()])
    settings = {"scale": "absolute", "lambda_R": weight, "lambda_E": weight, **settings}
    model = bove.BoVE(rank, init="eigenvectors", r_tolerance=1e-8, r_iterations=200, **FIXED, **settings)
    (bag,) = model.fit([graph]).bags_
    known = model.names_.relation_rows
    zero = np.zeros(X.shape[1:])
    return np.stack([model.score_edges(bag, str(k)) if str(k) in known else zero for k in range(len(X))])


def area(kind: str, X: np.ndarray, Y: np.ndarray, held: np.ndarray) -> float:
    """The area under the precision-recall curve of a fold's cells, by raw scores or by those of "pairs"."""
    if kind == "pairs":
        size = np.linalg.norm(Y, axis=0)
        Y = Y / np.where(size > 0, size, 1)
    precision, recall, _ = precision_recall_curve(X.ravel()[held], Y.ravel()[held])
    return auc(recall, precision)


def without(X: np.ndarray, held: np.ndarray) -> np.ndarray:
    """X with some cells, numbered as they lie, set to 0."""
    left = X.copy()
    left.ravel()[held] = 0
    return left


def chosen(X: np.ndarray, known: np.ndarray, rank: int, weights: list[float]) -> dict[str, float]:
    """Of either kind the weight under which the dense formulas predict a tenth of the known cells best.

    Args:
        X: with 0 in all cells that are not known. known: in random order.
    """
    held = known[: len(known) // FOLDS]
    training = without(X, held)
    scores = {weight: dense_rescal(training, rank, weight) for weight in weights}
    return {kind: max(weights, key=lambda w: area(kind, X, scores[w], held)) for kind in KINDS}


def measure(X: np.ndarray, rank: int, weights: list[float], seed: int = 0) -> list[dict]:
    """Of each system: mean and standard deviation of the areas over the folds, and seconds of a training."""
    folds = np.array_split(np.random.default_rng(seed).permutation(X.size), FOLDS)
    found: dict[str, list] = {name: [] for name in SYSTEMS}
    took, used = dict.fromkeys(SYSTEMS, 0.0), []
    for f, held in enumerate(folds):
        training = without(X, held)
        known = np.concatenate(folds[:f] + folds[f + 1 :])
        one = dict.fromkeys(KINDS, weights[0])
        used.append(chosen(training, known, rank, weights) if len(weights) > 1 else one)
        for name, predict in SYSTEMS.items():
            scores = {}
            for weight in set(used[-1].values()):
                began = time.process_time()
                scores[weight] = predict(training, rank, weight)
                took[name] += (time.process_time() - began) / len(set(used[-1].values()))
            values = [area(kind, X, scores[used[-1][kind]], held) for kind in KINDS]
            roc = roc_auc_score(X.ravel()[held], scores[used[-1]["raw"]].ravel()[held])
            found[name].append([*values, roc])
    counts = {
        kind: " ".join(f"{w:g}×{n}" for w in weights if (n := [own[kind] for own in used].count(w)))
        for kind in KINDS
    }
    rows = []
    for name, values in found.items():
        means, deviations = np.mean(values, axis=0), np.std(values, axis=0)
        row = {"system": name, "rank": rank}
        for kind, mean, deviation in zip(KINDS, means, deviations, strict=False):
            row |= {f"lambda of {kind}": counts[kind], kind: mean, f"{kind} ±": deviation}
        rows.append(row | {"ROC": means[-1], "seconds": took[name] / FOLDS})
    return rows


# the settings of each system; of a training all but the weights are the same
averaged = partial(ours, alpha=1.0, e_step="averaged")
SYSTEMS = {
    "dense RESCAL": dense_rescal,
    "as RESCAL: single step": partial(ours, alpha=1.0, e_step="single"),
    "averaged steps": averaged,
    "with a property for each node": partial(averaged, lambda_P=1.0, own_property=True),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--ranks", nargs="+", type=int, default=[20, 100])
    parser.add_argument(
        "--lambdas", nargs="+", type=float, default=[1.0, 2.0, 3.0, 5.0, 7.0, 10.0], help="to choose from"
    )
    parser.add_argument("--output", type=Path, help="CSV of the table")
    args = parser.parse_args()
    warnings.simplefilter("ignore", bove.BoveWarning)
    rows = []
    for folder in args.folders:
        X = read_cells(folder)
        size = f"{X.shape[1]} nodes, {len(X)} relations"
        print(f"{folder.name}: {size}, {int(X.sum())} of {X.size} cells are 1")
        for rank in args.ranks:
            for row in measure(X, rank, args.lambdas):
                rows.append({"data": folder.name, **row})
                print("  ", *(f"{v:.3f}" if isinstance(v, float) else v for v in row.values()), flush=True)
    if args.output:
        write_rows(args.output, rows)


if __name__ == "__main__":
    main()
