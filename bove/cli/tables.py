"""`bove tables`, `select`, `ablations`, `seeds`: from scores to tables, of one run or of its variants."""

import dataclasses
import json
import logging
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np

from bove._version import __version__
from bove.bags import BOVE
from bove.cli import common
from bove.errors import BoveError
from bove.evaluate import comparisons, statistics
from bove.evaluate.metrics import METRICS, is_positive, pearson
from bove.evaluate.results import RESULT_COLUMNS, Scores, csv_text, parted, read_scores, results_of
from bove.evaluate.summary import summary_files
from bove.evaluate.tables import Findings, named, task_files, undefined
from bove.files import atomic_path
from bove.text.pairs import TASKS

log = logging.getLogger("bove")
LIBRARIES = {"numpy": "NumPy", "scipy": "SciPy", "scikit-learn": "scikit-learn"}
HASH_DIGITS = 8
MOST_RESAMPLES = 1_000_000  # all are held at once
MODEL_FILES = ("model.safetensors", "log.csv", "times.csv")


def read_datasets(paths: Iterable[str], system: str | None = None) -> dict[str, Scores]:
    """Scores by data set, of one system alone where it is named.

    A system without a weight in its name is taken with the first weight that it is scored by.

    Raises:
        BoveError: two files of one data set, or a file without that system.
    """
    found: dict[str, Scores] = {}
    for path in paths:
        scores = read_scores(path)
        if scores.dataset in found:
            raise BoveError(
                f"{path}: data set '{scores.dataset}' is in another file already; give one file for each "
                f"data set, of one pair file scored by all systems at once"
            )
        if system is not None:
            name = next((name for name in scores.values if system in (name, parted(name)[0])), None)
            if name is None:
                raise BoveError(
                    f"{path}: has no scores by '{system}', only by {', '.join(scores.values)}; score its "
                    f"bags or name one of these"
                )
            only = {"values": {name: scores.values[name]}, "empty": {name: scores.empty[name]}}
            scores = dataclasses.replace(scores, **only)
        found[scores.dataset] = scores
    return found


def check_development(development: Iterable[str], datasets: Collection[str]) -> None:
    """BoveError where a development set is not among the data sets."""
    for name in development:
        if name not in datasets:
            raise BoveError(f"--development {name}: no such data set; the scores have {', '.join(datasets)}")


def read_variants(files: Mapping[str, Sequence[str]], system: str) -> dict[str, dict[str, Scores]]:
    """Scores of one system, by variant and data set.

    Raises:
        BoveError: the variants differ in their data sets or pairs.
    """
    found = {name: read_datasets(paths, system) for name, paths in files.items()}
    pairs = {name: {dataset: of[dataset].pairs_sha256 for dataset in of} for name, of in found.items()}
    first = next(iter(pairs))
    for name, own in pairs.items():
        if own != pairs[first]:
            raise BoveError(f"{name}: has other data sets or pairs than {first}; score all on the same files")
    return found


def results_of_variants(variants: Mapping[str, Mapping[str, Scores]], datasets: Collection[str]):
    """The frame of all results, with a column `variant`."""
    import pandas as pd

    frames = [results_of(of[d]).assign(variant=name) for name, of in variants.items() for d in datasets]
    return pd.concat(frames, ignore_index=True)


def _log_undefined(results) -> None:
    for row in results[results.value.isna()].itertuples():
        reason = undefined(row.metric, row.n_scored, row.subset)
        who = f"{row.variant}: {row.dataset}" if "variant" in results else f"{row.dataset}"
        log.warning("%s %s, %s: %s is %s", who, row.subset, row.system, row.metric, reason)


# `bove tables`: the result tables of all scored data sets.


def register_tables(parser) -> None:
    add = parser.add_argument
    add("--scores", required=True, nargs="+", action="extend", help="scores.parquet of each data set")
    resamples, level = "resamples of the pairs, for intervals and p-values", "confidence level of intervals"
    common.add_keys(parser, "statistics", resamples=resamples, confidence=level)
    common.add_seed(parser, "of the resamples")
    what = "summary, sts, snli and roles as .md and .tex, legend.md, and summary.csv, scores.csv and "
    add("--output", required=True, help=f"folder that gets {what}differences.csv")
    common.add_development_argument(parser)
    notes = "notes below the tables, as other stages write them (--table-notes)"
    add("--notes", nargs="+", action="extend", default=[], metavar="FILE", help=notes)


def run_tables(args) -> None:
    """Write the files, each whole, and print the summary."""
    import pandas as pd

    bootstrap = _bootstrap(args)
    datasets = read_datasets(args.scores)
    check_development(args.development, datasets)
    tables = list(datasets.values())
    found = zip(*(statistics.evidence(scores, bootstrap) for scores in tables), strict=True)
    results, differences = (pd.concat(frames, ignore_index=True) for frames in found)
    results = named(results, args.development)
    notes = common.read_notes(args.notes) | {"length-correlation": _length_notes(tables, results)}
    adjusted, power = statistics.adjust(differences), max(scores.power for scores in tables)
    findings = Findings(results, adjusted, bootstrap, notes, _origin(tables), power)
    files = {
        "scores.csv": csv_text(results[RESULT_COLUMNS]),
        "differences.csv": csv_text(findings.differences),
    }
    for task in TASKS:
        files |= task_files(task, findings)
    files |= summary_files(findings)
    common.write_files(args.output, files)
    _log_undefined(results)
    print(files["summary.md"], end="")


def _bootstrap(args) -> statistics.Bootstrap:
    if not 1 <= args.resamples <= MOST_RESAMPLES:
        raise BoveError(f"--resamples {args.resamples}: must be at least 1 and at most {MOST_RESAMPLES}")
    common.check_confidence(args.confidence)
    return statistics.Bootstrap(args.resamples, args.confidence, args.seed)


def _origin(tables: list[Scores]) -> str:
    """Which programs and models the results come from; those of a system are the same by every weight."""
    versions = ", ".join(f"{title} {version(name)}" for name, title in LIBRARIES.items())
    models: dict[str, list[str]] = {}
    for scores in tables:
        for system, model in scores.model_hashes.items():
            models.setdefault(parted(system)[0], []).append(model[:HASH_DIGITS] or "not named")
    named = [f"{system} {' and '.join(dict.fromkeys(found))}" for system, found in models.items()]
    return f"Made by bove {__version__}, {versions}; models, by the start of their hash: {', '.join(named)}."


def _length_notes(tables: list[Scores], results) -> list[str]:
    """How far the labels of entailment depend on length themselves, subset by subset."""
    names, notes = dict(zip(results.dataset, results.name, strict=True)), []
    for scores in tables:
        for subset, pairs in scores.by_subset().items() if scores.task == "entailment" else ():
            chosen = pairs[scores.scored[pairs]]
            value = pearson(is_positive(scores.gold_of(chosen)), scores.lengths[chosen, 1])
            shown = undefined("length-correlation", len(chosen)) if np.isnan(value) else f"{value:.4f}"
            notes.append(
                f"{names[scores.dataset]} {subset}: the label itself, 1 for *entailment* and 0 for the "
                f"others, has a correlation of {shown} with that length."
            )
    return notes


# `bove select`: one of several trained models, chosen by its scores on the development sets.


def register_select(parser) -> None:
    add = parser.add_argument
    what = "a candidate: its name (key~value/key~value), its changes of the configuration as JSON, its "
    what += "model's folder, and its scores.parquet of each development set; once for each candidate"
    named = ("NAME", "CHANGES")
    add("--candidate", required=True, nargs="+", action="append", metavar=named, help=what)
    common.add_keys(parser, "select", summary="which summary of a similarity set counts")
    add("--output", required=True, help="folder that gets choice.json, chosen.yaml, candidates.csv and .md")
    add("--model", required=True, help="folder that gets the chosen model and its log")


def run_select(args) -> None:
    """Rank the candidates, write tables and the choice, copy the best one's model."""
    changes, folders, files = {}, {}, {}
    for name, text, folder, *paths in args.candidate:
        changes[name], folders[name], files[name] = json.loads(text), Path(folder), paths
    scores = read_variants(files, BOVE)
    metrics = {name: METRICS[found.task] for name, found in next(iter(scores.values())).items()}
    values = comparisons.summarise(results_of_variants(scores, metrics), args.summary)
    means = comparisons.ranked(values)
    if np.isnan(means.iloc[0]):
        raise BoveError(
            f"no candidate has a value on all of {', '.join(metrics)}: scores or gold are constant there; "
            f"choose on other data sets"
        )
    decided = comparisons.choice(values, changes, args.summary, metrics)
    # JSON is YAML too: the file can be given to --configfile as it is
    chosen = json.dumps({**decided["changes"], "select": None}, indent=1)
    table = comparisons.candidate_table(values, metrics, args.summary)
    texts = {
        "choice.json": json.dumps(decided, indent=1) + "\n",
        "chosen.yaml": f"# The chosen settings; give this file after your own ones.\n{chosen}\n",
        "candidates.csv": csv_text(comparisons.candidates_frame(values)),
        "candidates.md": table,
    }
    common.write_files(args.output, texts)
    print(table, end="")
    for file in MODEL_FILES:
        with atomic_path(Path(args.model) / file) as path:
            shutil.copyfile(folders[decided["chosen"]] / file, path)
    log.info("%s: %s", decided["chosen"], decided["reason"])


# `bove ablations` and `bove seeds`: variants of a run beside a base.


def add_scores_arguments(parser, name: str, what: str) -> None:
    """`--scores`, `--base` and `--system`; `name` and `what` say how a variant is called."""
    add, what = parser.add_argument, f"{what}, and the scores.parquet of each data set; once for each"
    add("--scores", required=True, nargs="+", action="append", metavar=(name, "FILE"), help=what)
    add("--base", required=True, metavar=name, help="the one of the run itself")
    add("--system", default=BOVE, help=f"system whose scores count (default {BOVE})")
    common.add_development_argument(parser)


def _beside_base(args):
    """Scores by variant and data set, and the frame of all results, data sets in the base's order."""
    scores = read_variants({name: paths for name, *paths in args.scores}, args.system)
    datasets = scores[args.base]
    args.system = next(iter(next(iter(datasets.values())).values))  # with its weight
    check_development(args.development, datasets)
    return scores, named(results_of_variants(scores, datasets), args.development)


def register_ablations(parser) -> None:
    add_scores_arguments(parser, "NAME", "a variant: its name")
    what = "folder that gets ablations.csv, ablations.md, ablations.svg and .png"
    parser.add_argument("--output", required=True, help=what)


def run_ablations(args) -> None:
    """Write the four files, each whole, and print the Markdown table."""
    from bove.evaluate import plots

    scores, results = _beside_base(args)
    compared = comparisons.compare(results, args.base)
    table = comparisons.ablation_table(compared, args.base, args.system)
    drawing = comparisons.panels(compared, args.base), list(scores), args.base
    drawn = plots.figure_files("ablations", plots.draw_ablations, *drawing)
    texts = {"ablations.csv": csv_text(compared[comparisons.ABLATION_COLUMNS]), "ablations.md": table}
    common.write_files(args.output, texts | drawn)
    _log_undefined(results)
    print(table, end="")


def register_seeds(parser) -> None:
    add_scores_arguments(parser, "SEED", "a seed")
    common.add_table_notes_argument(parser)
    parser.add_argument("--output", required=True, help="folder that gets seeds.csv and seeds.md")


def run_seeds(args) -> None:
    """Write both files, each whole, and print the Markdown page."""
    scores, results = _beside_base(args)
    same: dict[bytes, list[str]] = {}
    for seed, of in scores.items():
        same.setdefault(b"".join(b"".join(of[d].values.values()) for d in sorted(of)), []).append(seed)
    groups = [group for group in same.values() if len(group) > 1]
    for group in groups:
        log.warning("seeds %s have the same scores", ", ".join(group))
    found = comparisons.spreads(results, args.base)
    page = comparisons.seeds_table(found, args.base, args.system, groups)
    text = csv_text(found.drop(columns=["name", "development"]))
    common.write_files(args.output, {"seeds.csv": text, "seeds.md": page})
    common.write_notes(args.table_notes, comparisons.seed_notes(found, args.system))
    print(page, end="")
