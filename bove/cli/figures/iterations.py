"""`bove figures iterations`: how many iterations inference took, against the length of sentences."""

import numpy as np

from bove.cli.outputs import write_files
from bove.csv_rows import csv_rows
from bove.errors import BoveError
from bove.evaluate.plot_model import Iterations, draw_iterations
from bove.evaluate.plots import figure_files

COLUMNS = ["id", "tokens", "iterations", "change"]


def register(parser) -> None:
    parser.add_argument(
        "--report",
        required=True,
        nargs=2,
        action="append",
        metavar=("NAME", "FILE"),
        dest="reports",
        help="a data set: its name in print and the CSV of `bove infer --report`; once for each data set",
    )
    parser.add_argument("--iterations", type=int, help="most iterations that were allowed, to be marked")
    parser.add_argument(
        "--tolerance", type=float, default=0.0, help="change at which a sentence was done (0: all iterations)"
    )
    parser.add_argument("--output", required=True, help="folder that gets iterations.svg and iterations.png")


def run(args) -> None:
    """Write the two files, each whole."""
    names = [name for name, _ in args.reports]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise BoveError(f"--report {name}: the name stands twice; give each data set its own")
    runs = {name: read_iterations(path, args.tolerance) for name, path in args.reports}
    drawn = figure_files(draw_iterations, runs, args.iterations)
    write_files(args.output, {f"iterations.{kind}": content for kind, content in drawn.items()})


def _number(text: str) -> int:
    number = int(text)
    if not 0 <= number < 2**31:
        raise ValueError(f"{number} is out of range")
    return number


def read_iterations(path: str, tolerance: float) -> Iterations:
    """Sentences with tokens; one without has nothing to iterate."""
    advice = "give the CSV of `bove infer --report`"
    rows = csv_rows(path, advice)
    if next(rows, (1, None))[1] != COLUMNS:
        raise BoveError(f"{path}, line 1: not {','.join(COLUMNS)}; {advice}")
    found = []
    for line, row in rows:
        try:
            _, tokens, iterations, change = row
            found.append((_number(tokens), _number(iterations), float(change)))
        except ValueError as e:
            raise BoveError(
                f"{path}, line {line}: {','.join(row)!r} is no sentence's row; infer the bags again"
            ) from e
    table = np.array([row for row in found if row[0] > 0], np.float64).reshape(-1, 3)
    moving = table[:, 2] >= tolerance if tolerance else np.zeros(len(table), bool)
    return Iterations(table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), moving)
