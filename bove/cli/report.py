"""`bove provenance`, `overview`, `training` and `pages`: what a run is made of and how it went."""

import argparse
import logging
import platform
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from bove import artefacts
from bove._version import __version__
from bove.cli.common import named_values, versions_of, write_files
from bove.cli.parse import ACCURACY_FORMAT
from bove.errors import BoveError
from bove.evaluate.metrics import in_order
from bove.evaluate.results import csv_text
from bove.evaluate.tables import ABSENT, escape, markdown_table
from bove.evaluate.training_log import read_run, training_frame, training_table
from bove.factor.model import Model
from bove.files import read_json, read_text, sha256, write_json
from bove.text.conll import read_sentences
from bove.text.encoders import FORMAT as COMPONENTS
from bove.text.encoders import Components
from bove.text.graphs import load_graphs
from bove.text.pairs import Pair, read_pairs
from bove.text.vectors import WordVectors
from bove.text.vocabulary import Vocabulary

log = logging.getLogger("bove")

# --- bove provenance: what a run was made from and with, in one JSON file
#
# Nothing in it says when or where the run was made, so the same run gives the same bytes. The hash of the
# vectors' own file, which may be large, was made when they were read, and is taken from there.

FORMAT, VERSION = "bove-run", 1
LIBRARIES = (
    "numpy", "scipy", "scikit-learn", "pyarrow", "safetensors", "torch", "stanza", "gensim", "matplotlib",
    "snakemake",
)  # fmt: skip


def register_provenance(parser: argparse.ArgumentParser) -> None:
    def named(flag, metavar, line, **options):
        options |= {"nargs": "+", "action": "extend", "default": []}
        parser.add_argument(flag, metavar=metavar, help=line, **options)

    parser.add_argument("--config", required=True, metavar="FILE", help="the run's resolved configuration")
    named("--input", "KEY=FILE", "file that the run reads, by its key in the configuration")
    named("--vocabulary", "NAME=FILE", "vocabulary.json, by the name of its variant", required=True)
    named("--vectors", "NAME=FILE", "vectors.safetensors, likewise")
    named("--model", "NAME=FILE", "model.safetensors, likewise")
    named("--rule-threads", "RULE=N", "threads that a rule of the workflow asks for")
    named("--result", "FILE", "result table")
    parser.add_argument("--output", required=True, metavar="FILE", help="run.json to write")


def run_provenance(args: argparse.Namespace) -> None:
    """Write the record; the same arguments and files give the same bytes."""
    import yaml

    def read(option: str, reader: Callable[[str], object]) -> dict:
        flag = f"--{option.replace('_', '-')}"
        return {name: reader(value) for name, value in named_values(flag, getattr(args, option)).items()}

    versions = {"bove": __version__, "python": platform.python_version(), **versions_of(LIBRARIES)}
    config = yaml.safe_load(read_text(args.config))
    record = {
        "format": FORMAT,
        "version": VERSION,
        "run": config["run"],
        "versions": versions,
        "seeds": {"run": config["seed"], "model": sorted({config["seed"], *config["seeds"]})},
        "threads": read("rule_threads", int),
        "inputs": read("input", _file),
        "vocabularies": read("vocabulary", _vocabulary),
        "vectors": read("vectors", _vectors),
        "models": read("model", _model),
        "results": {Path(path).name: sha256(path) for path in args.result},
        "configuration": config,
    }
    write_json(args.output, record)
    for kind, key in (("inputs", "sha256"), ("models", "hash")):
        for name, entry in record[kind].items():
            log.info("%s %s: %s", kind[:-1], name, entry[key])
    log.info("wrote %s", args.output)


def _file(path: str) -> dict:
    return {"file": path, "sha256": sha256(path), "bytes": Path(path).stat().st_size}


def _vocabulary(path: str) -> dict:
    found = Vocabulary.load(path)
    counts = {"words": found.n_words, "tags": found.n_tags, "relations": found.n_relations}
    return {"file": path, "hash": found.hash, **counts}


def _vectors(path: str) -> dict:
    if artefacts.read_metadata(path).get("format") == COMPONENTS:
        components = Components.load(path)
        size = dict(zip(("of", "dimensions"), components.directions.shape, strict=True))
        return {"file": path, "encoder_sha256": components.encoder_hash, **size}
    vectors = WordVectors.open(path)
    size = {"words": len(vectors), "dimensions": vectors.dimensions}
    return {"file": path, "source_sha256": vectors.source_sha256, **size}


def _model(path: str) -> dict:
    model = Model.load(path)
    made_with = {"hyperparameters": model.hyperparameters, "versions": model.versions}
    return {"file": path, "hash": model.hash, "vocabulary": model.vocabulary_hash, **made_with}


# --- bove overview: what a run is made of, in tables: treebank, data sets, parser

ROUTES = {
    "exact": "words found as they stand",
    "lower": "words found in lower case",
    "capitalised": "words found capitalised",
    "NB": "numbers",
    "PUNCT": "punctuation",
    "unknown": "unknown words",
}


def register_overview(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--vocabulary", required=True, help="vocabulary.json")
    add("--graphs", help="the treebank's graphs, if there are any")
    add("--data", required=True, nargs=2, action="append", metavar=("PAIRS", "PARSES"),
        help="a data set: its pairs.jsonl and its parses.conllu.gz; once for each data set")  # fmt: skip
    add("--accuracy", help="accuracy.json of `bove evaluate-parser`")
    add("--output", required=True, help="folder that gets data.md and, with --accuracy, parser.md")


def run_overview(args: argparse.Namespace) -> None:
    """Write the files, each whole."""
    sets = [_read_set(pairs, parses) for pairs, parses in args.data]
    vocabulary = Vocabulary.load(args.vocabulary)
    graphs = load_graphs(args.graphs) if args.graphs else None
    files = {"data.md": "# Data\n\n" + _treebank(vocabulary, graphs) + _data_sets(sets)}
    if args.accuracy:
        files["parser.md"] = "# Parser\n\n" + parser_page(args.accuracy)
    write_files(args.output, files)


def _read_set(pairs_path: str, parses_path: str) -> tuple[Sequence[Pair], dict[str, int]]:
    """The pairs of a data set, and the tokens of each sentence by its id."""
    pairs = read_pairs(pairs_path)
    tokens = {sentence.id: len(sentence.forms) for sentence in read_sentences(parses_path)}
    return pairs, tokens


def _treebank(vocabulary: Vocabulary, graphs) -> str:
    counts = [
        ("words of the vocabulary", vocabulary.n_words),
        ("tags", vocabulary.n_tags),
        ("relations", vocabulary.n_relations),
    ]
    if graphs is not None:
        counts = [
            ("sentences that the model is trained on", graphs.n_graphs),
            ("tokens in them", graphs.n_tokens),
            ("arcs, adjacency included", len(graphs.arc_relation)),
            *counts,
        ]
    rows = [[what, f"{count:,}"] for what, count in counts]
    total, routes = vocabulary.coverage.get("tokens", 0), vocabulary.coverage.get("tokens_by_route", {})
    shares = [
        [what, f"{routes[route]:,}", f"{100 * routes[route] / total:.2f}%"]
        for route, what in ROUTES.items()
        if route in routes
    ]
    counts = zip(vocabulary.relations, vocabulary.relation_counts, strict=False)
    arcs = ", ".join(f"{name} {count:,}" for name, count in counts)
    return (
        f"## Treebank\n\n{markdown_table(['what', 'count'], rows, 1)}\n"
        f"Arcs by relation: {escape(arcs)}.\n\n"
        f"How its tokens are found in the vocabulary:\n\n"
        f"{markdown_table(['tokens', 'count', 'share'], shares, 1)}\n"
    )


def _data_sets(sets: Sequence[tuple[Sequence[Pair], dict[str, int]]]) -> str:
    header = ["data set", "subset", "task", "gold", "pairs", "with gold", "sentences", "mean tokens", "most"]
    rows = []
    for all_pairs, tokens in sets:
        for subset in dict.fromkeys(pair.subset for pair in all_pairs):
            pairs = [pair for pair in all_pairs if pair.subset == subset]
            scored = [pair for pair in pairs if pair.scored]
            lengths = [tokens[name] for pair in scored for name in pair.sentences]
            sizes = [f"{np.mean(lengths):.1f}", str(max(lengths))] if lengths else [ABSENT, ABSENT]
            counts = [f"{len(counted):,}" for counted in (pairs, scored, lengths)]
            rows.append([pairs[0].label, subset, pairs[0].task, _gold(scored), *counts, *sizes])
    empty = sum(length == 0 for _, tokens in sets for length in tokens.values())
    return (
        f"## Data sets\n\n{markdown_table(header, rows, 4)}\n"
        f"Pairs without gold are read, but neither parsed nor scored. Sentences are those of pairs with "
        f"gold, two each (three for roles), as they were parsed; {empty:,} of them "
        f"{'has' if empty == 1 else 'have'} no tokens.\n"
    )


def _gold(pairs: Sequence[Pair]) -> str:
    """Mean and spread of scores, or how many pairs have each label."""
    if not pairs:
        return ABSENT
    if pairs[0].task == "similarity":
        scores = np.array([pair.gold for pair in pairs], np.float64)
        return f"{scores.min():g} to {scores.max():g}, mean {scores.mean():.2f}"
    found = Counter(str(pair.gold) for pair in pairs)
    return ", ".join(f"{label} {found[label]:,}" for label in in_order(found))


def parser_page(path: str) -> str:
    """A table of what `bove evaluate-parser` found; BoveError where the file is another one."""
    found = read_json(path)
    if found.get("format") != ACCURACY_FORMAT:
        raise BoveError(f"{path}: not a report of `bove evaluate-parser`; measure again")
    header = ["development part", "tokens", "tags", "heads (UAS)", "heads and labels (LAS)"]
    rows = []
    for title, key in (("all tokens", ""), ("without punctuation", "_without_punctuation")):
        shares = [_share(found[f"accuracy{key}"][kind]) for kind in ("tags", "UAS", "LAS")]
        rows.append([title, f"{found[f'tokens{key}']:,}", *shares])
    counts = ", ".join(f"{number:,} {escape(kind)}" for kind, number in found["sentences"].items())
    return (
        f"{markdown_table(header, rows, 1)}\n"
        f"Tagger and parser together, on the treebank's own tokens: the parser sees predicted tags. "
        f"Sentences: {counts}; {found['sentences_cut']:,} longer than the limit, parsed in pieces. "
        f"The parser knows the labels of {_share(found['arcs_with_known_labels'])} of the arcs.\n"
    )


def _share(value: float | None) -> str:
    return ABSENT if value is None else f"{100 * value:.2f}%"


# --- bove pages: tables in Markdown as pages of HTML, for a report or a browser


def register_pages(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--markdown", required=True, nargs="+", action="extend", metavar="FILE.md", help="what to show")
    add("--output", required=True, help="folder that gets a page NAME.html for each NAME.md")


def run_pages(args: argparse.Namespace) -> None:
    """Write the pages, each whole."""
    from bove.evaluate.pages import page

    write_files(args.output, {f"{Path(path).stem}.html": page(read_text(path)) for path in args.markdown})


# --- bove training: how L fell, by seconds and by term, in one training or several


def register_training(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--run", required=True, nargs=3, action="append", metavar=("NAME", "LOG", "TIMES"), dest="runs",
        help="a training: its name, its --training-log and its --times; once for each training")  # fmt: skip
    add("--output", required=True, help="folder that gets training.csv, training.md, training.svg and .png")


def run_training(args: argparse.Namespace) -> None:
    """Write the four files, each whole, and print the Markdown tables."""
    from bove.evaluate import plots

    curves = [read_run(*files) for files in args.runs]
    table, text = training_table(curves), csv_text(training_frame(curves))
    drawn = plots.figure_files("training", plots.draw_training, curves)
    write_files(args.output, {"training.csv": text, "training.md": table, **drawn})
    print(table, end="")
