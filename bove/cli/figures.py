"""`bove figures KIND …`: figures that look inside a run; `run_figures_KIND` draws each kind."""

import argparse
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bove.bags import OF_TOKENS, WORD_VECTORS
from bove.bags.store import Bags
from bove.cli.common import (
    add_development_argument,
    add_keys,
    check_confidence,
    named_pairs,
    named_values,
    trees_of,
    write_files,
)
from bove.errors import BoveError
from bove.evaluate import plots
from bove.evaluate.alignment import entailment_score, similarity_score
from bove.evaluate.metrics import METRICS, in_order
from bove.evaluate.plot_tokens import Cloud, draw_tokens
from bove.evaluate.results import csv_text, read_scores
from bove.evaluate.tables import once
from bove.factor.model import Model, effective_rank, needed, singular_values
from bove.files import csv_records
from bove.text.pairs import Pair, read_pairs
from bove.text.tokens import is_punctuation
from bove.text.vectors import WordLookup, WordVectors
from bove.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from pandas import DataFrame

log = logging.getLogger("bove")
DEFAULT_PAIRS = 3


def register_figures(parser: argparse.ArgumentParser) -> None:
    """Add the kinds with their arguments."""
    parsers = parser.add_subparsers(dest="kind", required=True, metavar="|".join(KINDS))
    kinds = {
        name: parsers.add_parser(name, help=line, description=f"{line[0].upper()}{line[1:]}.")
        for name, (line, _) in KINDS.items()
    }
    for kind in kinds.values():
        add = kind.add_argument
        add("--output", required=True, help="folder that gets the figures, each as .svg and .png")
        # Each stage's parser has these; here they may follow the kind too.
        add("--threads", type=int, default=argparse.SUPPRESS, help="threads to use (default 1)")
        add("--log", default=argparse.SUPPRESS, help="file that gets the log, beside stderr")
    add = kinds["results"].add_argument
    add("--results", required=True, metavar="FILE", help="scores.csv of `bove tables`")
    add("--differences", required=True, metavar="FILE", help="differences.csv of `bove tables`")
    add_keys(kinds["results"], "statistics", confidence="differences are sure where p is below 1 less this")
    add("--name", nargs=2, action="append", default=[], metavar=("DATASET", "NAME"), dest="names",
        help="a data set's name above its panel (default: as in the file)")  # fmt: skip
    add_development_argument(kinds["results"])
    add = kinds["scores"].add_argument
    add("--scores", required=True, nargs="+", action="extend", help="scores.parquet of each data set")
    add = kinds["tokens"].add_argument
    add("--pairs", required=True, help="pairs of one data set (pairs.jsonl)")
    add("--sentences", required=True, help="their trees (parses.conllu.gz)")
    add("--bags", required=True, nargs="+", action="extend", metavar="NAME=FILE",
        help="a system's bags (bags.safetensors) and its name above the panel")  # fmt: skip
    add("--vectors", help="vectors of words, needed for bags of the system word-vectors that are of these")
    add("--vocabulary", help="how words are looked up, needed likewise")
    add("--pair", nargs="+", action="extend", default=[], metavar="ID",
        help=f"to show (default: the first of each of {DEFAULT_PAIRS} subsets or labels)")  # fmt: skip
    add = kinds["iterations"].add_argument
    add("--report", required=True, nargs=2, action="append", metavar=("NAME", "FILE"), dest="reports",
        help="a data set's name in print and the CSV of `bove infer --report`; may be repeated")  # fmt: skip
    add("--iterations", type=int, help="most iterations that were allowed, to be marked")
    add("--tolerance", type=float, default=0, help="change at which a sentence was done (0: all iterations)")
    kinds["relations"].add_argument("--model", required=True, help="model.safetensors")


def run_figures(args: argparse.Namespace) -> None:
    """Draw one kind of figure."""
    KINDS[args.kind][1](args)


# --- bove figures results

# Of each task: units of values and of differences, and the factor that gives them.
UNITS = {
    "similarity": ("Pearson's correlation", "difference in Pearson's correlation", 1),
    "entailment": ("average precision (%)", "difference in average precision (percentage points)", 100),
    "roles": ("accuracy (%)", "difference in accuracy (percentage points)", 100),
}


def run_figures_results(args: argparse.Namespace) -> None:
    """Systems on every subset, and their differences: two figures per task, be there results or not."""
    check_confidence(args.confidence)
    results, differences = read_results(args.results), read_results(args.differences)
    results, differences = once(results, results), once(differences, results)
    files: dict[str, bytes] = {}
    for task, (unit, of_difference, factor) in UNITS.items():
        drawn = plots.draw_results, *_panels(args, results, "value", task, factor)
        files |= plots.figure_files(task, *drawn, unit)
        drawn = plots.draw_results, *_panels(args, differences, "difference", task, factor)
        files |= plots.figure_files(f"{task}-differences", *drawn, of_difference, True)
    write_files(args.output, files)


def read_results(path: str) -> "DataFrame":
    """A CSV of `bove tables`: names as text, other columns as numbers, NaN where empty."""
    import pandas as pd

    numbers = ("value", "difference", "low", "high", "p_value", "p_adjusted")
    empty = {"keep_default_na": False, "na_values": dict.fromkeys(numbers, "")}
    names = dict.fromkeys(("task", "dataset", "subset", "metric", "system", "against"), str)
    return pd.read_csv(path, dtype=names, **empty)


def _panels(args, rows: "DataFrame", column: str, task: str, factor: float):
    """Title and rows of each data set's panel, and the names of what is shown in them."""
    found: dict[str, dict] = {}
    shown: dict[str, None] = {}
    for row in rows[(rows.task == task) & (rows.metric == METRICS[task])].itertuples():
        name = row.system if column == "value" else f"{row.system} against {row.against}"
        ends = (getattr(row, column), row.low, row.high)
        sure = column == "value" or row.p_adjusted < 1 - args.confidence
        value = plots.Value(*(None if np.isnan(end) else factor * end for end in ends), sure)
        found.setdefault(row.dataset, {}).setdefault(row.subset, {})[name] = value
        shown[name] = None
    names, marks = dict(args.names), dict.fromkeys(args.development, " (development)")
    return [(names.get(d, d) + marks.get(d, ""), subsets) for d, subsets in found.items()], list(shown)


# --- bove figures scores


def run_figures_scores(args: argparse.Namespace) -> None:
    """The distribution of each system's scores by gold score or label: one figure per data set."""
    files: dict[str, bytes] = {}
    for path in args.scores:
        scores = read_scores(path)
        drawn = plots.draw_distributions, plots.by_gold(scores), scores.task
        files |= plots.figure_files(f"scores-{scores.dataset}", *drawn)
    write_files(args.output, files)


# --- bove figures tokens

SCORES = {
    "similarity": ("STS", similarity_score),
    "entailment": ("SNLI", entailment_score),
    "roles": ("SNLI", entailment_score),  # of the first sentence and the second
}


def run_figures_tokens(args: argparse.Namespace) -> None:
    """The token vectors of chosen pairs of a data set, in two dimensions: one figure."""
    pairs = read_pairs(args.pairs)
    chosen = _chosen(args, pairs)
    wanted = [f"{pair.id}.{side}" for pair in chosen for side in (1, 2)]
    sentences = {tree.id: tree.forms for tree in trees_of(args.sentences, wanted, len(wanted))}
    bags = {name: Bags.open(path) for name, path in named_values("--bags", args.bags).items()}
    lookup = None
    if any(map(_looked_up, bags.values())):
        if not (args.vectors and args.vocabulary):
            raise BoveError("--bags: to name the words of word-vectors, give --vectors and --vocabulary too")
        lookup = WordLookup(Vocabulary.load(args.vocabulary), WordVectors.open(args.vectors))
    drawn = []
    for pair in chosen:
        gold = pair.gold if isinstance(pair.gold, str) else f"{pair.gold:g}"
        title = f"{pair.id}, gold {gold}\n  1: {pair.first}\n  2: {pair.second}"
        drawn.append((title, [_cloud(name, of, pair, sentences, lookup) for name, of in bags.items()]))
    log.info("%s: %s", pairs[0].dataset, ", ".join(pair.id for pair in chosen) or "no pair to show")
    write_files(args.output, plots.figure_files(f"tokens-{pairs[0].dataset}", draw_tokens, drawn))


def _chosen(args, pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs that are named, or the first of two different sentences of each subset, or of each label."""
    if args.pair:
        return named_pairs(args.pairs, pairs, dict.fromkeys(args.pair))
    found: dict[str, Pair] = {}
    for pair in pairs:
        if pair.scored and pair.first != pair.second:
            found.setdefault(str(pair.gold) if pair.task == "entailment" else pair.subset, pair)
    order = in_order(found) if pairs[0].task == "entailment" else list(found)
    return [found[key] for key in order[:DEFAULT_PAIRS]]


def _looked_up(bags: Bags) -> bool:
    """Whether the vectors are of words that were looked up, so that some tokens may have none."""
    return bags.system == WORD_VECTORS and OF_TOKENS not in bags.metadata


def _cloud(name: str, bags: Bags, pair: Pair, sentences, lookup: WordLookup | None) -> Cloud:
    """A pair under a system. Its words are all, or those that have a vector, with punctuation or without."""
    words, vectors = [], []
    for sentence in (f"{pair.id}.1", f"{pair.id}.2"):
        forms = sentences[sentence]
        if lookup and _looked_up(bags):
            forms = [forms[place] for place in lookup.places(forms)]
        vectors.append(np.asarray(bags[sentence], np.float64))
        if len(vectors[-1]) != len(forms):
            forms = [form for form in forms if not is_punctuation(form)]
        if len(vectors[-1]) != len(forms):
            raise BoveError(
                f"{bags.path}: {len(vectors[-1])} vectors for sentence '{sentence}' of {len(forms)} words; "
                f"give the sentences, vectors and vocabulary that the bags were made from"
            )
        words.append(forms)
    label, score = SCORES[pair.task]
    return Cloud(f"{name}: {label} {score(*vectors):.3f}", words, vectors)


# --- bove figures iterations


def run_figures_iterations(args: argparse.Namespace) -> None:
    """How many iterations inference took, against the length of sentences: one figure."""
    runs = {name: read_iterations(path, args.tolerance) for name, path in args.reports}
    write_files(args.output, plots.figure_files("iterations", plots.draw_iterations, runs, args.iterations))


def read_iterations(path: str, tolerance: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """[n] tokens and [n] iterations of the sentences that have tokens, and [n] whether they still moved."""
    columns = ("id", "tokens", "iterations", "change")
    rows = [row for _, row in csv_records(path, columns, "give the CSV of `bove infer --report`")]
    tokens, iterations = (np.array([int(row[name]) for row in rows], np.int64) for name in columns[1:3])
    moving = (tolerance > 0) & (np.array([float(row["change"]) for row in rows]) >= tolerance)
    return tokens[tokens > 0], iterations[tokens > 0], moving[tokens > 0]


# --- bove figures relations

ENERGIES = (0.9, 0.99)


def run_figures_relations(args: argparse.Namespace) -> None:
    """The singular values of a model's relation matrices: one figure and a table."""
    import pandas as pd

    model = Model.load(args.model)
    spectra = dict(zip(model.relation_names, singular_values(model.relations), strict=True))
    rows = [
        (name, np.linalg.norm(values), effective_rank(values), *(needed(values, e) for e in ENERGIES))
        for name, values in spectra.items()
    ]
    columns = ["relation", "norm", "effective_rank", *(f"for_{e:g}_of_energy" for e in ENERGIES)]
    drawn = plots.figure_files("relations", plots.draw_spectra, spectra)
    write_files(args.output, {"relations.csv": csv_text(pd.DataFrame(rows, columns=columns)), **drawn})


KINDS = {
    "results": (
        "results and differences of systems on every subset, with intervals",
        run_figures_results,
    ),
    "scores": ("scores by gold score or label", run_figures_scores),
    "iterations": ("iterations of inference against the length of sentences", run_figures_iterations),
    "relations": ("singular values of the relation matrices, with a table", run_figures_relations),
    "tokens": ("token vectors of chosen pairs, in two dimensions", run_figures_tokens),
}
