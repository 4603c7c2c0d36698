"""`bove tables`: write the result tables of all scored data sets."""

import dataclasses
import io
import logging
import re
from importlib.metadata import version

import numpy as np

from bove import __version__
from bove.cli.common import (
    add_development_argument,
    add_table_notes_argument,
    check_confidence,
    read_notes,
    write_files,
    write_notes,
)
from bove.errors import BoveError
from bove.evaluate.comparisons import (
    Ablations,
    ablation_table,
    compare,
    panels,
    seeds_table,
    spreads,
    table_notes,
    write_ablations,
    write_seeds,
)
from bove.evaluate.metrics import is_positive, pearson
from bove.evaluate.results import Result, Scores, read_scores, results_of, write_results
from bove.evaluate.statistics import Bootstrap, Difference, adjust, evidence, write_differences
from bove.evaluate.tables import Findings, dataset_name, task_files, undefined, undefined_value
from bove.text.pairs import TASKS

# Reading the scores of several variants of a run, for the stages that hold them against each other.


def add_scores_arguments(parser, name: str, what: str) -> None:
    """`--scores`, `--base` and `--system`; `name` and `what` say how a variant is called."""
    parser.add_argument(
        "--scores",
        required=True,
        nargs="+",
        action="append",
        metavar=(name, "FILE"),
        help=f"{what}, and the scores.parquet of each data set; once for each",
    )
    parser.add_argument("--base", required=True, metavar=name, help="the one of the run itself")
    parser.add_argument("--system", default="bove", help="system whose scores count (default bove)")


def read_variants(args) -> dict[str, dict[str, Scores]]:
    """Scores of the one system, by variant and data set; base and `args.development` are seen to be there.

    Raises:
        BoveError: a variant or a data set that stands twice or is missing, other pairs than in the others.
    """
    files = _variants(args.scores)
    if args.base not in files:
        raise BoveError(f"--base {args.base}: no such variant; --scores names {', '.join(files)}")
    found = {name: _read(paths, args.system) for name, paths in files.items()}
    _check(found, args.development)
    return {name: {d: scores for d, (_, scores) in sets.items()} for name, sets in found.items()}


def _variants(groups: list[list[str]]) -> dict[str, list[str]]:
    files: dict[str, list[str]] = {}
    for name, *paths in groups:
        if not name.strip() or not paths:
            raise BoveError(f"--scores {name}: not a name with files; write: --scores NAME FILE…")
        if name in files:
            raise BoveError(f"--scores {name}: the variant stands twice; give each its own name")
        files[name] = paths
    return files


def _read(paths: list[str], system: str) -> dict[str, tuple[str, Scores]]:
    """Path and scores, of the one system, of each data set."""
    found: dict[str, tuple[str, Scores]] = {}
    for path in paths:
        scores = read_scores(path)
        if system not in scores.values:
            raise BoveError(
                f"{path}: has no system '{system}'; choose with --system from: {', '.join(scores.values)}"
            )
        if scores.dataset in found:
            raise BoveError(
                f"{path}: data set '{scores.dataset}' stands in {found[scores.dataset][0]} already; "
                f"give a variant one file for each data set"
            )
        only = {"values": {system: scores.values[system]}, "empty": {system: scores.empty[system]}}
        found[scores.dataset] = (path, dataclasses.replace(scores, **only))
    return found


def _check(variants: dict[str, dict[str, tuple[str, Scores]]], development: list[str]) -> None:
    """All variants have the same data sets, and of each the same pairs."""
    first: dict[str, tuple[str, Scores]] = {}
    for of_dataset in variants.values():
        for dataset, entry in of_dataset.items():
            first.setdefault(dataset, entry)
    for name, of_dataset in variants.items():
        for dataset, (path, scores) in first.items():
            if dataset not in of_dataset:
                raise BoveError(
                    f"--scores {name}: has no scores of data set '{dataset}', which {path} has; "
                    f"give every variant the same data sets"
                )
            other, found = of_dataset[dataset]
            if found.pairs_sha256 != scores.pairs_sha256:
                raise BoveError(
                    f"{other}: data set '{dataset}' has other pairs than in {path}; "
                    f"score all variants on one pair file"
                )
    for dataset in development:
        if dataset not in first:
            raise BoveError(f"--development {dataset}: no such data set; the scores have {', '.join(first)}")


# `bove tables`: write the result tables of all scored data sets.

log = logging.getLogger("bove")
LIBRARIES = {"numpy": "NumPy", "scipy": "SciPy", "scikit-learn": "scikit-learn"}
HASH_DIGITS = 8
MOST_RESAMPLES = 1_000_000  # all are held at once


def register_tables(parser) -> None:
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
    parser.add_argument(
        "--notes",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="notes below the tables, as other stages write them (--table-notes)",
    )


def run_tables(args) -> None:
    """Write the six files, each whole, and print the Markdown tables."""
    bootstrap = _bootstrap(args)
    tables = [read_scores(path) for path in args.scores]
    _check_scores(args.scores, tables, args.development)
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
    files = {
        "scores.csv": _csv(write_results, results),
        "differences.csv": _csv(write_differences, differences),
    }
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


def _check_scores(paths: list[str], tables: list[Scores], development: list[str]) -> None:
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


# `bove ablations`: hold the scores of several variants of a run against those of a base.


def register_ablations(parser) -> None:
    add_scores_arguments(parser, "NAME", "a variant: its name")
    add_development_argument(parser)
    parser.add_argument(
        "--output", required=True, help="folder that gets ablations.csv, ablations.md, ablations.svg and .png"
    )


def run_ablations(args) -> None:
    """Write the four files, each whole, and print the Markdown table."""
    from bove.evaluate import plots

    scores = read_variants(args)
    order = list(scores[args.base])
    labels = {dataset: found.label for dataset, found in scores[args.base].items()}
    results = {
        name: [result for dataset in order for result in results_of(of_dataset[dataset])]
        for name, of_dataset in scores.items()
    }
    comparisons = compare(results, args.base)
    ablations = Ablations(comparisons, args.base, args.system, labels, args.development)
    table, stream = ablation_table(ablations), io.StringIO()
    write_ablations(stream, comparisons)
    drawing = panels(ablations), ablations.variants, args.base
    drawn = plots.figure_files("ablations", plots.draw_ablations, *drawing)
    write_files(args.output, {"ablations.csv": stream.getvalue(), "ablations.md": table, **drawn})
    for c in comparisons:
        if c.result.value is None:
            log.warning(
                "%s: %s %s: %s is %s", c.variant, c.result.dataset, c.result.subset, c.result.metric,
                undefined(c.result),
            )  # fmt: skip
    print(table, end="")


# `bove seeds`: mean and spread of the results over models that differ in their seed alone.


def register_seeds(parser) -> None:
    add_scores_arguments(parser, "SEED", "a seed")
    add_development_argument(parser)
    add_table_notes_argument(parser)
    parser.add_argument("--output", required=True, help="folder that gets seeds.csv and seeds.md")


def run_seeds(args) -> None:
    """Write both files, each whole, and print the Markdown page."""
    for seed, *_ in args.scores:
        if not re.fullmatch("0|[1-9][0-9]{0,18}", seed):
            raise BoveError(
                f"--scores {seed}: not a seed; write a whole number of at least 0, then its files"
            )
    scores = read_variants(args)
    if len(scores) < 2:
        raise BoveError(f"--scores {args.base}: one seed has no spread; give the scores of another one too")
    order = list(scores[args.base])
    labels = {dataset: scores[args.base][dataset].label for dataset in order}
    results = {
        seed: [result for dataset in order for result in results_of(of_seed[dataset])]
        for seed, of_seed in scores.items()
    }
    found = spreads(results, args.base)
    same = _same(scores, args.system)
    for group in same:
        log.warning("seeds %s have the same scores", ", ".join(group))
    page, stream = seeds_table(found, args.base, args.system, labels, args.development, same), io.StringIO()
    write_seeds(stream, found)
    write_files(args.output, {"seeds.csv": stream.getvalue(), "seeds.md": page})
    write_notes(args.table_notes, table_notes(found, args.system, labels))
    print(page, end="")


def _same(scores: dict[str, dict[str, Scores]], system: str) -> list[list[str]]:
    """Groups of seeds that agree in the score of every pair."""
    groups: dict[bytes, list[str]] = {}
    for seed, of_seed in scores.items():
        content = b"".join(of_seed[dataset].values[system].tobytes() for dataset in sorted(of_seed))
        groups.setdefault(content, []).append(seed)
    return [group for group in groups.values() if len(group) > 1]
