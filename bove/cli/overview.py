"""`bove overview`: what a run is made of, in tables: treebank, data sets, parser."""

import json
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bove.cli.outputs import write_files
from bove.errors import BoveError
from bove.evaluate.plot_scores import in_order
from bove.evaluate.tables import ABSENT, escape, markdown_table
from bove.text.conll import read_sentences
from bove.text.graphs import load_graphs
from bove.text.pairs import Pair, read_pairs
from bove.text.vocabulary import Vocabulary

log = logging.getLogger("bove")
ROUTES = {
    "exact": "words found as they stand",
    "lower": "words found in lower case",
    "capitalised": "words found capitalised",
    "NB": "numbers",
    "PUNCT": "punctuation",
    "unknown": "unknown words",
}


def register(parser) -> None:
    add = parser.add_argument
    add("--vocabulary", required=True, help="vocabulary.json")
    add("--graphs", help="the treebank's graphs, if there are any")
    add(
        "--data",
        required=True,
        nargs=2,
        action="append",
        metavar=("PAIRS", "PARSES"),
        help="a data set: its pairs.jsonl and its parses.conllu.gz; once for each data set",
    )
    add("--accuracy", help="accuracy.json of `bove evaluate-parser`")
    add("--output", required=True, help="folder that gets data.md and, with --accuracy, parser.md")


def run(args) -> None:
    """Write the files, each whole."""
    sets = [_read_set(pairs, parses) for pairs, parses in args.data]
    vocabulary = Vocabulary.load(args.vocabulary)
    graphs = load_graphs(args.graphs) if args.graphs else None
    files = {"data.md": "# Data\n\n" + _treebank(vocabulary, graphs) + _data_sets(sets)}
    if args.accuracy:
        files["parser.md"] = "# Parser\n\n" + parser_page(args.accuracy)
    write_files(args.output, files)


@dataclass(frozen=True)
class _Set:
    """The pairs of a data set, and the tokens of each sentence by its id."""

    pairs: Sequence[Pair]
    tokens: dict[str, int]


def _read_set(pairs_path: str, parses_path: str) -> _Set:
    pairs = read_pairs(pairs_path)
    tokens = {sentence.id: len(sentence.forms) for sentence in read_sentences(parses_path)}
    for pair in pairs:
        for side in (1, 2):
            if pair.scored and f"{pair.id}.{side}" not in tokens:
                raise BoveError(
                    f"{parses_path}: has no sentence '{pair.id}.{side}', which {pairs_path} has; "
                    f"parse the pairs again"
                )
    return _Set(pairs, tokens)


def _treebank(vocabulary: Vocabulary, graphs) -> str:
    coverage = vocabulary.coverage
    rows = []
    if graphs is not None:
        rows.append(["sentences that the model is trained on", _count(graphs.n_graphs)])
        rows.append(["tokens in them", _count(graphs.n_tokens)])
        rows.append(["arcs, adjacency included", _count(len(graphs.arc_relation))])
    rows += [
        ["words of the vocabulary", _count(vocabulary.n_words)],
        ["tags", _count(vocabulary.n_tags)],
        ["relations", _count(vocabulary.n_relations)],
    ]
    total = coverage.get("tokens", 0)
    routes = coverage.get("tokens_by_route", {})
    shares = [
        [ROUTES.get(route, route), _count(routes[route]), f"{100 * routes[route] / total:.2f}%"]
        for route in sorted(routes, key=lambda route: list(ROUTES).index(route) if route in ROUTES else 99)
    ]
    counts = zip(vocabulary.relations, vocabulary.relation_counts, strict=False)
    arcs = ", ".join(f"{name} {_count(count)}" for name, count in counts)
    return (
        f"## Treebank\n\n{markdown_table(['what', 'count'], rows, 1)}\n"
        f"Arcs by relation: {escape(arcs)}.\n\n"
        f"How its tokens are found in the vocabulary:\n\n"
        f"{markdown_table(['tokens', 'count', 'share'], shares, 1)}\n"
    )


def _data_sets(sets: Sequence[_Set]) -> str:
    header = ["data set", "subset", "task", "gold", "pairs", "with gold", "sentences", "mean tokens", "most"]
    rows = []
    for one in sets:
        for subset in dict.fromkeys(pair.subset for pair in one.pairs):
            pairs = [pair for pair in one.pairs if pair.subset == subset]
            scored = [pair for pair in pairs if pair.scored]
            lengths = [one.tokens[f"{pair.id}.{side}"] for pair in scored for side in (1, 2)]
            mean = f"{np.mean(lengths):.1f}" if lengths else ABSENT
            counts = [_count(len(counted)) for counted in (pairs, scored, lengths)]
            most = str(max(lengths)) if lengths else ABSENT
            rows.append([pairs[0].label, subset, pairs[0].task, _gold(scored), *counts, mean, most])
    empty = sum(length == 0 for one in sets for length in one.tokens.values())
    table = markdown_table(header, rows, 4)
    return (
        f"## Data sets\n\n{table}\nPairs without gold are read, but neither parsed nor scored. "
        f"Sentences are those of pairs with gold, two each, as they were parsed; {_count(empty)} of them "
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
    return ", ".join(f"{label} {_count(found[label])}" for label in in_order(found))


def parser_page(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as stream:
            found = json.load(stream)
        rows = [
            [title, _count(found[tokens]), *(_share(found[shares][key]) for key in ("tags", "UAS", "LAS"))]
            for title, tokens, shares in (
                ("all tokens", "tokens", "accuracy"),
                ("without punctuation", "tokens_without_punctuation", "accuracy_without_punctuation"),
            )
        ]
        counts = ", ".join(f"{_count(number)} {escape(kind)}" for kind, number in found["sentences"].items())
        cut, known = _count(found["sentences_cut"]), _share(found["arcs_with_known_labels"])
    except FileNotFoundError as e:
        raise BoveError(f"{path}: no such file; check the path") from e
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError) as e:
        raise BoveError(f"{path}: no report of `bove evaluate-parser` ({e!r}); measure again") from e
    table = markdown_table(
        ["development part", "tokens", "tags", "heads (UAS)", "heads and labels (LAS)"], rows, 1
    )
    return (
        f"{table}\nTagger and parser together, on the treebank's own tokens: the parser sees predicted tags. "
        f"Sentences: {counts}; {cut} longer than the limit, parsed in pieces. "
        f"The parser knows the labels of {known} of the arcs.\n"
    )


def _share(value: float | None) -> str:
    return ABSENT if value is None else f"{100 * value:.2f}%"


def _count(number: int) -> str:
    return f"{number:,}"
