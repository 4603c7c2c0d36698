"""Link prediction with absolute penalties and with relative settings: one grid of either for all data.

    python tests/bench/short_grid.py FOLDER … [--ranks 50 100] [--folds 3] [--kind raw]

The first folds of the ten of `link_prediction.py`. Absolute: nodes without properties, alpha = 1, one penalty
for lambda_R and lambda_E. Relative: a property of its own for each node, lambda_R = 300, lambda_E = 1, an
alpha. Both start at the eigenvectors and take 30 rounds. Prints the mean area under the precision-recall
curve with each.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
from link_prediction import FOLDS, KINDS, area, ours, read_cells, without

import bove

ABSOLUTE, RELATIVE = (1, 2, 3, 5, 7, 10), (0.1, 0.3, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--ranks", nargs="+", type=int, default=[50, 100])
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--kind", choices=KINDS, default="raw")
    args = parser.parse_args()
    warnings.simplefilter("ignore", bove.BoveWarning)
    for folder in args.folders:
        X = read_cells(folder)
        folds = np.array_split(np.random.default_rng(0).permutation(X.size), FOLDS)[: args.folds]
        for rank in args.ranks:

            def mean(folds=folds, X=X, rank=rank, **settings) -> str:
                found = [area(args.kind, X, ours(without(X, held), rank, **settings), held) for held in folds]
                return f"{np.mean(found):.3f}"

            relative = {"scale": "relative", "lambda_R": 300, "lambda_E": 1, "own_property": True}
            absolute = [mean(weight=weight, alpha=1.0) for weight in ABSOLUTE]
            print(folder.name, rank, "absolute", dict(zip(ABSOLUTE, absolute, strict=True)), flush=True)
            found = [mean(alpha=alpha, **relative) for alpha in RELATIVE]
            print(folder.name, rank, "relative", dict(zip(RELATIVE, found, strict=True)), flush=True)


if __name__ == "__main__":
    main()
