"""`bove encode`: sentences to graphs."""

import argparse
import logging
from collections import Counter

from bove.cli.reading import read_files
from bove.errors import BoveError
from bove.text.graphs import Counts, encode, save_graphs
from bove.text.vectors import WordVectors
from bove.text.vocabulary import Vocabulary

log = logging.getLogger("bove")


def register(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sentences", nargs="+", required=True, metavar="FILE", help="CoNLL-2009 or CoNLL-U files with heads"
    )
    parser.add_argument(
        "--columns",
        choices=("gold", "predicted"),
        default="gold",
        help="columns of CoNLL-2009 (default gold)",
    )
    parser.add_argument("--encoding", default="utf-8", help="of the sentences (default utf-8)")
    parser.add_argument("--vocabulary", required=True, metavar="FILE", help="vocabulary.json")
    parser.add_argument("--vectors", metavar="FILE", help="vectors for words that the vocabulary lacks")
    parser.add_argument(
        "--min-coverage", type=float, metavar="X", help="stop if fewer tags or relations (0 to 1) are known"
    )
    parser.add_argument("--output", required=True, metavar="FILE", help="graphs.safetensors to write")


def run(args: argparse.Namespace) -> None:
    least = args.min_coverage
    if least is not None and not 0 <= least <= 1:
        raise BoveError(f"--min-coverage {least}: not between 0 and 1; give a share such as 0.95")
    vocabulary = Vocabulary.load(args.vocabulary)
    vectors = WordVectors.open(args.vectors) if args.vectors else None
    counts = Counts()
    sentences = read_files(args.sentences, args.columns, args.encoding)
    graphs = encode(sentences, vocabulary, vectors, counts)
    source = ", ".join(args.sentences)
    if not graphs.n_graphs:
        raise BoveError(f"{source}: no sentences; check the file")
    _log_counts(graphs, counts, vocabulary)
    for kind, names, coverage in (
        ("relation", counts.new_relations, counts.relation_coverage),
        ("tag", counts.new_tags, counts.tag_coverage),
    ):
        if least is not None and coverage < least:
            raise _too_few(source, kind, names, coverage, least)
    save_graphs(graphs, args.output)


def _log_counts(graphs, counts: Counts, vocabulary: Vocabulary) -> None:
    empty = int((graphs.lengths == 0).sum())
    log.info("%d graphs (%d empty), %d tokens", graphs.n_graphs, empty, graphs.n_tokens)
    for route, count in sorted(counts.words.items()):
        log.info("%7d tokens (%.1f %%): word by %s", count, 100 * count / max(graphs.n_tokens, 1), route)
    kinds = {
        "tags": (counts.tags, counts.new_tags, counts.tag_coverage),
        "relations": (counts.relations, counts.new_relations, counts.relation_coverage),
    }
    if not vocabulary.has_tags:
        log.info("tags are switched off in the vocabulary: none is encoded")
        del kinds["tags"]
    if not vocabulary.has_dependencies:
        log.info("dependencies are switched off in the vocabulary: no arc of a tree is encoded")
        del kinds["relations"]
    for kind, (fates, new, coverage) in kinds.items():
        log.info(
            "%.2f %% of %s known (%s)", 100 * coverage, kind, ", ".join(f"{n} {f}" for f, n in fates.items())
        )
        if new:
            log.warning("%s that the treebank lacks: %s", kind, _most_frequent(new))
    for kind, count in counts.dropped.items():
        log.warning("%d %s left out: the vocabulary has no row for unknown ones", count, kind)


def _most_frequent(names: Counter) -> str:
    return ", ".join(f"{name} ({count})" for name, count in names.most_common(5))


def _too_few(source, kind, names, coverage, least) -> BoveError:
    return BoveError(
        f"{source}: the vocabulary's treebank has {100 * coverage:.1f} % of its {kind}s, below the "
        f"{100 * least:g} % asked for; most frequent unknown ones: {_most_frequent(names)}; labels must be "
        f"the treebank's: parse with a tagger and parser trained on that treebank"
    )
