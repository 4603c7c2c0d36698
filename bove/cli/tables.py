"""`bove tables`: write the result tables of all scored data sets."""

import io
import logging

from bove.cli.notes import add_notes_argument, read_notes
from bove.cli.outputs import add_development_argument, write_files
from bove.errors import BoveError
from bove.evaluate.results import Result, results_of, write_csv
from bove.evaluate.scores import Scores, read_scores
from bove.evaluate.tables import UNDEFINED, task_table

log = logging.getLogger("bove")


def register(parser) -> None:
    parser.add_argument(
        "--scores", required=True, nargs="+", action="extend", help="scores.parquet of each data set"
    )
    parser.add_argument("--output", required=True, help="folder that gets scores.csv, sts.md and snli.md")
    add_development_argument(parser)
    add_notes_argument(parser)


def run(args) -> None:
    """Write the three files, each whole, and print the Markdown tables."""
    tables = [read_scores(path) for path in args.scores]
    _check(args.scores, tables, args.development)
    _warn_of_mixed_models(tables)
    notes = read_notes(args.notes)
    results = [result for scores in tables for result in results_of(scores)]
    labels = {scores.dataset: scores.label for scores in tables}
    stream = io.StringIO()
    write_csv(stream, results)
    markdown = {
        file: task_table(task, results, labels, args.development, notes[task])
        for file, task in (("sts.md", "similarity"), ("snli.md", "entailment"))
    }
    write_files(args.output, {"scores.csv": stream.getvalue(), **markdown})
    _log_undefined(results)
    print("\n".join(markdown.values()), end="")


def _check(paths: list[str], tables: list[Scores], development: list[str]) -> None:
    """One file for each data set: scores of two pair files of one name must not be mixed."""
    seen: dict[str, str] = {}
    for path, scores in zip(paths, tables, strict=True):
        if scores.dataset in seen:
            raise BoveError(
                f"{path}: data set '{scores.dataset}' stands in {seen[scores.dataset]} already; "
                f"give one file for each data set"
            )
        seen[scores.dataset] = path
    for name in development:
        if name not in seen:
            raise BoveError(f"--development {name}: no such data set; the scores have {', '.join(seen)}")


def _warn_of_mixed_models(tables: list[Scores]) -> None:
    models: dict[str, dict[str, str]] = {}
    for scores in tables:
        for system, model in scores.model_hashes.items():
            models.setdefault(system, {}).setdefault(model, scores.dataset)
    for system, of_model in models.items():
        if len(of_model) > 1:
            log.warning(
                "%s: bags of %d different models, in %s", system, len(of_model), ", ".join(of_model.values())
            )


def _log_undefined(results: list[Result]) -> None:
    for result in results:
        if result.value is None:
            log.warning(
                "%s %s, %s: %s is %s", result.dataset, result.subset, result.system, result.metric, UNDEFINED
            )
