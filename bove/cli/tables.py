"""`bove tables`: write the result tables of all scored data sets."""

import io
import logging
from importlib.metadata import version

import numpy as np

from bove import __version__
from bove.cli.notes import add_notes_argument, read_notes
from bove.cli.outputs import add_development_argument, check_confidence, write_files
from bove.errors import BoveError
from bove.evaluate.bootstrap import Bootstrap
from bove.evaluate.captions import Findings
from bove.evaluate.metrics import is_positive, pearson
from bove.evaluate.result_tables import task_files
from bove.evaluate.results import Result, write_csv
from bove.evaluate.scores import Scores, read_scores
from bove.evaluate.statistics import Difference, adjust, evidence, write_differences
from bove.evaluate.tables import dataset_name, undefined, undefined_value
from bove.text.pairs import TASKS

log = logging.getLogger("bove")
LIBRARIES = {"numpy": "NumPy", "scipy": "SciPy", "scikit-learn": "scikit-learn"}
HASH_DIGITS = 8
MOST_RESAMPLES = 1_000_000  # all are held at once


def register(parser) -> None:
    add = parser.add_argument
    add("--scores", required=True, nargs="+", action="extend", help="scores.parquet of each data set")
    add("--resamples", required=True, type=int, help="resamples of the pairs, for intervals and p-values")
    add("--confidence", required=True, type=float, help="confidence level of intervals, such as 0.95")
    add("--seed", required=True, type=int, help="seed of the resamples")
    add(
        "--output",
        required=True,
        help="folder that gets scores.csv, differences.csv, and sts and snli as .md and .tex",
    )
    add_development_argument(parser)
    add_notes_argument(parser)


def run(args) -> None:
    """Write the six files, each whole, and print the Markdown tables."""
    bootstrap = _bootstrap(args)
    tables = [read_scores(path) for path in args.scores]
    _check(args.scores, tables, args.development)
    _warn_of_mixed_models(tables)
    _warn_of_few(bootstrap)
    results: list[Result] = []
    differences: list[Difference] = []
    for scores in tables:
        of_dataset = evidence(scores, bootstrap)
        results += of_dataset[0]
        differences += of_dataset[1]
    differences = adjust(differences)
    findings = Findings(
        results=results,
        labels={scores.dataset: scores.label for scores in tables},
        development=args.development,
        notes=read_notes(args.notes) | {"length-correlation": _length_notes(tables)},
        differences=differences,
        bootstrap=bootstrap,
        origin=_origin(tables),
    )
    files = {"scores.csv": _csv(write_csv, results), "differences.csv": _csv(write_differences, differences)}
    for task in TASKS:
        files |= task_files(task, findings)
    write_files(args.output, files)
    _log_undefined(results)
    print("\n".join(text for name, text in files.items() if name.endswith(".md")), end="")


def _bootstrap(args) -> Bootstrap:
    if not 1 <= args.resamples <= MOST_RESAMPLES:
        raise BoveError(f"--resamples {args.resamples}: must be at least 1 and at most {MOST_RESAMPLES}")
    check_confidence(args.confidence)
    return Bootstrap(args.resamples, args.confidence, args.seed)


def _warn_of_few(bootstrap: Bootstrap) -> None:
    if bootstrap.resamples < bootstrap.least:
        log.warning(
            "%d resamples are few for intervals of %g%%; take at least %d, or a lower confidence",
            bootstrap.resamples, 100 * bootstrap.confidence, bootstrap.least,
        )  # fmt: skip


def _csv(write, rows) -> str:
    stream = io.StringIO()
    write(stream, rows)
    return stream.getvalue()


def _origin(tables: list[Scores]) -> str:
    """Which programs and models the results come from."""
    versions = ", ".join(f"{title} {version(name)}" for name, title in LIBRARIES.items())
    models: dict[str, list[str]] = {}
    for scores in tables:
        for system, model in scores.model_hashes.items():
            models.setdefault(system, []).append(model[:HASH_DIGITS] or "not named")
    named = [f"{system} {' and '.join(dict.fromkeys(found))}" for system, found in models.items()]
    return f"Made by bove {__version__}, {versions}; models, by the start of their hash: {', '.join(named)}."


def _length_notes(tables: list[Scores]) -> list[str]:
    """How far the labels of entailment depend on length themselves, subset by subset."""
    labels = {scores.dataset: scores.label for scores in tables}
    notes = []
    for scores in tables:
        if scores.task != "entailment":
            continue
        of_subset = np.array(scores.subsets, object)
        for subset in dict.fromkeys(scores.subsets):
            pairs = np.flatnonzero((of_subset == subset) & scores.scored)
            value = pearson(is_positive(scores.gold_of(pairs)), scores.lengths[pairs, 1])
            missing = undefined_value("length-correlation", len(pairs))
            shown = missing if value is None else f"{value:.4f}"
            notes.append(
                f"{dataset_name(scores.dataset, labels)} {subset}: the label itself, 1 for *entailment* and "
                f"0 for the others, has a correlation of {shown} with that length."
            )
    return notes


def _check(paths: list[str], tables: list[Scores], development: list[str]) -> None:
    """One file for each data set: scores of two pair files of one name must not be mixed."""
    seen: dict[str, tuple[str, Scores]] = {}
    for path, scores in zip(paths, tables, strict=True):
        if scores.dataset in seen:
            other, first = seen[scores.dataset]
            pairs = "" if scores.pairs_sha256 == first.pairs_sha256 else ", and of other pairs"
            raise BoveError(
                f"{path}: data set '{scores.dataset}' stands in {other} already{pairs}; give one file for "
                f"each data set, of one pair file scored by all systems at once"
            )
        seen[scores.dataset] = path, scores
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
                "%s %s, %s: %s is %s", result.dataset, result.subset, result.system, result.metric,
                undefined(result),
            )  # fmt: skip
