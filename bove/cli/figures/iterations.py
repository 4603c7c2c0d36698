"""`bove figures iterations`: how many iterations inference took, against the length of sentences."""

import csv

import numpy as np

from bove.cli.outputs import write_files
from bove.errors import BoveError
from bove.evaluate.plot_model import Iterations, draw_iterations
from bove.evaluate.plots import figure_files
from bove.files import read_lines

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
    runs = {name: _read(path, args.tolerance) for name, path in args.reports}
    drawn = figure_files(draw_iterations, runs, args.iterations)
    write_files(args.output, {f"iterations.{kind}": content for kind, content in drawn.items()})


def _read(path: str, tolerance: float) -> Iterations:
    """Sentences with tokens; one without has nothing to iterate."""
    rows = csv.reader(f"{text}\n" for _, text in read_lines(path))
    if next(rows, None) != COLUMNS:
        raise BoveError(f"{path}, line 1: not {','.join(COLUMNS)}; give the CSV of `bove infer --report`")
    found = []
    for row in rows:
        try:
            _, tokens, iterations, change = row
            found.append((int(tokens), int(iterations), float(change)))
        except ValueError as e:
            raise BoveError(
                f"{path}, line {rows.line_num}: {','.join(row)!r} is no sentence's row; infer the bags again"
            ) from e
    table = np.array([row for row in found if row[0] > 0], np.float64).reshape(-1, 3)
    moving = table[:, 2] >= tolerance if tolerance else np.zeros(len(table), bool)
    return Iterations(table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), moving)
