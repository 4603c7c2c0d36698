"""`bove figures KIND …`: figures that look inside a run, each kind a module of this package."""

import argparse
import csv
import io
import logging
from collections.abc import Callable, Collection, Sequence

import numpy as np

from bove.bags.store import Bags
from bove.cli.common import add_development_argument, check_confidence, is_punctuation, write_files
from bove.errors import BoveError
from bove.evaluate.alignment import entailment_score, similarity_score
from bove.evaluate.metrics import METRICS
from bove.evaluate.plot_tokens import Cloud, Pairing, draw_tokens
from bove.evaluate.plots import (
    Iterations,
    Rows,
    Spectrum,
    Value,
    by_gold,
    draw_distributions,
    draw_iterations,
    draw_results,
    draw_spectra,
    figure_files,
    in_order,
)
from bove.evaluate.results import AGGREGATES, read_scores
from bove.factor.model import Model, effective_rank, needed, singular_values
from bove.files import csv_rows
from bove.text.conll import read_sentences
from bove.text.pairs import Pair, read_pairs
from bove.text.vectors import WordVectors
from bove.text.vocabulary import Vocabulary

KINDS = {
    "results": "results and differences of the systems on every subset, with intervals",
    "scores": "scores by gold score or label",
    "iterations": "iterations of inference against the length of sentences",
    "relations": "singular values of the relation matrices",
    "tokens": "token vectors of chosen pairs, in two dimensions",
}


def register_figures(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="|".join(KINDS))
    for name, line in KINDS.items():
        kind = kinds.add_parser(name, help=line, description=f"{line[0].upper()}{line[1:]}.")
        globals()[f"register_figures_{name}"](kind)
        # Each stage's parser has these; here they may follow the kind too.
        kind.add_argument("--threads", type=int, default=argparse.SUPPRESS, help="threads to use (default 1)")
        kind.add_argument("--log", default=argparse.SUPPRESS, help="file that gets the log, beside stderr")


def run_figures(args: argparse.Namespace) -> None:
    """Draw one kind of figure."""
    globals()[f"run_figures_{args.kind}"](args)


# `bove figures results`: systems on every subset and their differences, with intervals, for each task.

COLUMNS = ("task", "dataset", "subset", "metric", "system", "low", "high")
# Of each task: units of values and of differences, and the factor that gives them.
UNITS = {
    "similarity": ("Pearson's correlation", "difference in Pearson's correlation", 1),
    "entailment": ("average precision (%)", "difference in average precision (percentage points)", 100),
}


def register_figures_results(parser) -> None:
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


def run_figures_results(args) -> None:
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


# `bove figures scores`: how each system's scores of a data set lie by gold score or label.


def register_figures_scores(parser) -> None:
    parser.add_argument(
        "--scores", required=True, nargs="+", action="extend", help="scores.parquet of each data set"
    )
    parser.add_argument(
        "--output", required=True, help="folder that gets scores-DATASET.svg and .png for each of them"
    )


def run_figures_scores(args) -> None:
    """Write two files for each data set, each whole."""
    files: dict[str, bytes] = {}
    for path in args.scores:
        scores = read_scores(path)
        if f"scores-{scores.dataset}.svg" in files:
            raise BoveError(f"{path}: data set '{scores.dataset}' stands twice; give one file for each")
        drawn = figure_files(draw_distributions, by_gold(scores))
        files |= {f"scores-{scores.dataset}.{kind}": content for kind, content in drawn.items()}
    write_files(args.output, files)


# `bove figures tokens`: the token vectors of chosen pairs of a data set, in two dimensions.

log = logging.getLogger("bove")
DEFAULT_PAIRS = 3
SCORES = {"similarity": ("STS", similarity_score), "entailment": ("SNLI", entailment_score)}


def register_figures_tokens(parser) -> None:
    add = parser.add_argument
    add("--pairs", required=True, help="pairs of one data set (pairs.jsonl)")
    add("--sentences", required=True, help="their trees (parses.conllu.gz)")
    add(
        "--bags",
        required=True,
        nargs="+",
        action="extend",
        metavar="NAME=FILE",
        help="a system's bags (bags.safetensors) and its name above the panel",
    )
    add("--vectors", help="vectors of the words, needed for bags of the system word-vectors")
    add("--vocabulary", help="how words are looked up, needed likewise")
    add(
        "--pair",
        nargs="+",
        action="extend",
        default=[],
        metavar="ID",
        help=f"pairs to show (default: the first of each of {DEFAULT_PAIRS} subsets, or of each label)",
    )
    add("--output", required=True, help="folder that gets tokens-DATASET.svg and .png")


def run_figures_tokens(args) -> None:
    """Write the two files, each whole."""
    pairs = read_pairs(args.pairs)
    if not pairs:
        raise BoveError(f"{args.pairs}: holds no pairs; make the file again with `bove pairs`")
    chosen = _named(args, pairs) if args.pair else _first(pairs)
    wanted = {f"{pair.id}.{side}" for pair in chosen for side in (1, 2)}
    sentences = {s.id: s.forms for s in read_sentences(args.sentences) if s.id in wanted}
    missing = sorted(wanted - sentences.keys())
    if missing:
        raise BoveError(f"{args.sentences}: has no sentence '{missing[0]}'; give the trees of these pairs")
    bags = {}
    for argument in args.bags:
        name, _, path = argument.partition("=")
        if not name.strip() or not path or name in bags:
            raise BoveError(f"--bags {argument}: not NAME=FILE with a new name; write bove=bags.safetensors")
        bags[name] = Bags.open(path)
    known = _known(args, bags.values())
    rows = [
        Pairing(_above(pair), [_cloud(name, of, pair, sentences, known) for name, of in bags.items()])
        for pair in chosen
    ]
    log.info("%s: %s", pairs[0].dataset, ", ".join(pair.id for pair in chosen) or "no pair to show")
    drawn = figure_files(draw_tokens, rows)
    write_files(
        args.output, {f"tokens-{pairs[0].dataset}.{kind}": content for kind, content in drawn.items()}
    )


def _named(args, pairs: Sequence[Pair]) -> list[Pair]:
    by_id = {pair.id: pair for pair in pairs}
    for name in args.pair:
        if name not in by_id:
            raise BoveError(f"--pair {name}: {args.pairs} has no such pair; ids look like {pairs[0].id}")
        if not by_id[name].scored:
            raise BoveError(f"--pair {name}: has no gold, so was not parsed; choose a pair that is scored")
    return [by_id[name] for name in dict.fromkeys(args.pair)]


def _first(pairs: Sequence[Pair]) -> list[Pair]:
    """The first scored pair of two different sentences of each subset (similarity) or label (entailment)."""
    found: dict[str, Pair] = {}
    for pair in pairs:
        if pair.scored and pair.first != pair.second:
            found.setdefault(pair.subset if pair.task == "similarity" else str(pair.gold), pair)
    order = in_order(found) if pairs[0].task == "entailment" else list(found)
    return [found[key] for key in order[:DEFAULT_PAIRS]]


def _above(pair: Pair) -> str:
    gold = pair.gold if isinstance(pair.gold, str) else f"{pair.gold:g}"
    return f"{pair.id}, gold {gold}\n  1: {pair.first}\n  2: {pair.second}"


def _known(args, bags):
    """Whether a word has a vector of its own; asked of bags of word vectors alone."""
    if not any(of.system == "word-vectors" for of in bags):
        return lambda form: True
    if not (args.vectors and args.vocabulary):
        raise BoveError("--bags: bags of word-vectors need --vectors and --vocabulary, to tell their words")
    vocabulary, vectors = Vocabulary.load(args.vocabulary), WordVectors.open(args.vectors)
    return lambda form: vectors.first(vocabulary.variants(form)) >= 0


def _cloud(name: str, bags: Bags, pair: Pair, sentences, known) -> Cloud:
    label, score = SCORES[pair.task]
    sides = [f"{pair.id}.{side}" for side in (1, 2)]
    vectors = tuple(np.asarray(bags[side], np.float64) for side in sides)
    words = tuple(
        _words(bags, side, sentences[side], len(rows), known)
        for side, rows in zip(sides, vectors, strict=True)
    )
    return Cloud(f"{name}: {label} {score(*vectors):.3f}", words, vectors)


def _words(bags: Bags, sentence: str, forms: Sequence[str], count: int, known) -> tuple[str, ...]:
    """The words that a bag's vectors belong to: all, or those with a vector, with punctuation or without."""
    if bags.system == "word-vectors":
        forms = [form for form in forms if known(form)]
    for words in (forms, [form for form in forms if not is_punctuation(form)]):
        if len(words) == count:
            return tuple(words)
    raise BoveError(
        f"{bags.path}: {count} vectors for sentence '{sentence}' of {len(forms)} words; "
        f"give the sentences, vectors and vocabulary that the bags were made from"
    )


# `bove figures iterations`: how many iterations inference took, against the length of sentences.

ITERATION_COLUMNS = ["id", "tokens", "iterations", "change"]


def register_figures_iterations(parser) -> None:
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


def run_figures_iterations(args) -> None:
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
    if next(rows, (1, None))[1] != ITERATION_COLUMNS:
        raise BoveError(f"{path}, line 1: not {','.join(ITERATION_COLUMNS)}; {advice}")
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


# `bove figures relations`: the singular values of a model's relation matrices.

ENERGIES = (0.9, 0.99)


def register_figures_relations(parser) -> None:
    parser.add_argument("--model", required=True, help="model.safetensors")
    parser.add_argument(
        "--output", required=True, help="folder that gets relations.csv, relations.svg and relations.png"
    )


def run_figures_relations(args) -> None:
    """Write the three files, each whole."""
    model = Model.load(args.model)
    values = singular_values(model.relations)
    spectra = [
        Spectrum(name, of_relation, effective_rank(of_relation))
        for name, of_relation in zip(model.relation_names, values, strict=True)
    ]
    stream = io.StringIO()
    table = csv.writer(stream, lineterminator="\n")
    table.writerow(["relation", "norm", "effective_rank", *(f"for_{e:g}_of_energy" for e in ENERGIES)])
    for spectrum in spectra:
        norm = float(np.linalg.norm(spectrum.values))
        counts = [needed(spectrum.values, energy) for energy in ENERGIES]
        table.writerow([spectrum.name, repr(norm), repr(spectrum.effective_rank), *counts])
    contents = {"csv": stream.getvalue()} | figure_files(draw_spectra, spectra)
    write_files(args.output, {f"relations.{kind}": content for kind, content in contents.items()})
