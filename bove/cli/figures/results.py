"""`bove figures results`: systems on every subset and their differences, with intervals, for each task."""

from collections.abc import Callable, Collection, Sequence

from bove.cli.outputs import add_development_argument, check_confidence, write_files
from bove.csv_rows import csv_rows
from bove.errors import BoveError
from bove.evaluate.metrics import METRICS
from bove.evaluate.plot_results import Rows, Value, draw_results
from bove.evaluate.plots import figure_files
from bove.evaluate.results import AGGREGATES

COLUMNS = ("task", "dataset", "subset", "metric", "system", "low", "high")
# Of each task: units of values and of differences, and the factor that gives them.
UNITS = {
    "similarity": ("Pearson's correlation", "difference in Pearson's correlation", 1),
    "entailment": ("average precision (%)", "difference in average precision (percentage points)", 100),
}


def register(parser) -> None:
    add = parser.add_argument
    add("--results", required=True, metavar="FILE", help="scores.csv of `bove tables`")
    add("--differences", required=True, metavar="FILE", help="differences.csv of `bove tables`")
    add("--confidence", required=True, type=float, help="differences are sure where p is below 1 less this")
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
    add("--output", required=True, help="folder that gets TASK and TASK-differences, each as .svg and .png")


def run(args) -> None:
    """Write the eight files, each whole; where there is nothing to show, the figure says so."""
    check_confidence(args.confidence)
    values = read_results(args.results, "value")
    differences = read_results(args.differences, "difference", "p_adjusted", "against")
    _check_names(args, dict.fromkeys(row["dataset"] for row in values))
    files: dict[str, bytes] = {}

    def add(name, *drawing):
        drawn = figure_files(draw_results, *drawing)
        files.update({f"{name}.{kind}": content for kind, content in drawn.items()})

    for task, (unit, of_difference, factor) in UNITS.items():
        add(task, *_panels(args, values, task, factor, lambda row: (row["system"], row["value"], True)), unit)
        compared = _panels(args, differences, task, factor, lambda row: _difference(row, args.confidence))
        add(f"{task}-differences", *compared, of_difference, True)
    write_files(args.output, files)


def _check_names(args, known: Collection[str]) -> None:
    """BoveError where a data set is named that the results lack."""
    for flag, names in (("--development", args.development), ("--name", [name for name, _ in args.names])):
        for name in names:
            if name not in known:
                raise BoveError(
                    f"{flag} {name}: no such data set; {args.results} has {', '.join(known) or 'none'}"
                )


def _difference(row: dict, confidence: float) -> tuple[str, float | None, bool]:
    """Name, value, and whether a difference is sure."""
    sure = row["p_adjusted"] is not None and row["p_adjusted"] < 1 - confidence
    return f"{row['system']} against {row['against']}", row["difference"], sure


def read_results(path: str, value: str, *more: str) -> list[dict]:
    """Rows by column; values, ends of intervals and p-values are numbers, None where empty."""
    table = csv_rows(path, "give the CSV of `bove tables`")
    _, header = next(table, (1, []))
    missing = [name for name in (*COLUMNS, value, *more) if name not in header]
    if missing:
        raise BoveError(f"{path}, line 1: has no column '{missing[0]}'; give the CSV of `bove tables`")
    rows = []
    for line, cells in table:
        row: dict = dict(zip(header, cells, strict=False))
        try:
            if len(cells) != len(header):
                raise ValueError(f"{len(cells)} cells for {len(header)} columns")
            for name in {value, "low", "high", "p_adjusted"} & row.keys():
                row[name] = float(row[name]) if row[name] else None
        except ValueError as e:
            raise BoveError(f"{path}, line {line}: {e}; make the tables again") from e
        rows.append(row)
    return rows


def _panels(
    args, rows: Sequence[dict], task: str, factor: float, shown: Callable[[dict], tuple]
) -> tuple[list[Rows], list[str]]:
    """A panel for each data set of a task, by the metric that counts, and the names of what is shown."""
    names, found = dict(args.names), {}
    systems: dict[str, None] = {}
    for row in rows:
        if (row["task"], row["metric"]) == (task, METRICS[task]):
            system, value, sure = shown(row)
            systems[system] = None
            ends = (None if x is None else factor * x for x in (value, row["low"], row["high"]))
            found.setdefault(row["dataset"], {}).setdefault(row["subset"], {})[system] = Value(*ends, sure)
    panels = []
    for dataset, values in found.items():
        title = names.get(dataset, dataset) + (" (development)" if dataset in args.development else "")
        panels.append(Rows(title, values, [subset for subset in values if subset in AGGREGATES]))
    return panels, list(systems)
