"""`bove figures results`: every system's value on every subset, with intervals, a figure a task."""

import csv
from collections.abc import Sequence

from bove.cli.outputs import add_development_argument, write_files
from bove.errors import BoveError
from bove.evaluate.metrics import METRICS
from bove.evaluate.plot_results import Rows, Value, draw_results
from bove.evaluate.plots import figure_files
from bove.evaluate.results import AGGREGATES
from bove.files import read_lines

NEEDED = ("task", "dataset", "subset", "system", "metric", "value")
UNITS = {"similarity": ("Pearson's correlation", 1), "entailment": ("average precision (%)", 100)}


def register(parser) -> None:
    add = parser.add_argument
    add("--results", required=True, help="scores.csv of `bove tables`")
    add(
        "--name",
        nargs=2,
        action="append",
        default=[],
        metavar=("DATASET", "NAME"),
        dest="names",
        help="a data set's name above its panel (default: as in the file)",
    )
    add_development_argument(parser)
    add("--output", required=True, help="folder that gets similarity.svg, entailment.svg and both as .png")


def run(args) -> None:
    """Write the four files, each whole; of a task without data sets, the figure says so."""
    rows = _read(args.results)
    names = dict(args.names)
    files: dict[str, bytes] = {}
    for task, (unit, factor) in UNITS.items():
        of_task = [row for row in rows if row["task"] == task and row["metric"] == METRICS[task]]
        datasets = [
            _panel(dataset, of_task, names.get(dataset, dataset), dataset in args.development, factor)
            for dataset in dict.fromkeys(row["dataset"] for row in of_task)
        ]
        systems = list(dict.fromkeys(row["system"] for row in of_task))
        drawn = figure_files(draw_results, datasets, systems, unit)
        files |= {f"{task}.{kind}": content for kind, content in drawn.items()}
    write_files(args.output, files)


def _read(path: str) -> list[dict]:
    """Rows by column; `value`, `low` and `high` are numbers, None where empty."""
    table = csv.reader(f"{text}\n" for _, text in read_lines(path))
    header = next(table, [])
    missing = [name for name in NEEDED if name not in header]
    if missing:
        raise BoveError(f"{path}, line 1: has no column '{missing[0]}'; give scores.csv of `bove tables`")
    rows = []
    for cells in table:
        row = dict(zip(header, cells, strict=False))
        try:
            if len(cells) != len(header):
                raise ValueError(f"{len(cells)} cells for {len(header)} columns")
            for name in ("value", "low", "high"):
                row[name] = float(row[name]) if row.get(name) else None
        except ValueError as e:
            raise BoveError(f"{path}, line {table.line_num}: {e}; make the tables again") from e
        rows.append(row)
    return rows


def _panel(dataset: str, rows: Sequence[dict], name: str, development: bool, factor: float) -> Rows:
    values: dict[str, dict[str, Value]] = {}
    for row in rows:
        if row["dataset"] == dataset:
            ends = (None if row[key] is None else factor * row[key] for key in ("value", "low", "high"))
            values.setdefault(row["subset"], {})[row["system"]] = Value(*ends)
    summaries = [subset for subset in values if subset in AGGREGATES]
    return Rows(f"{name} (development)" if development else name, values, summaries)
