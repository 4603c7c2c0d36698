"""`bove parse`: a dependency graph for each sentence of the scored pairs."""

import argparse
import logging
from collections.abc import Iterator
from importlib.metadata import version

from bove._version import __version__
from bove.cli.parser_files import add_parser_files, further_files
from bove.cli.progress import Progress
from bove.errors import BoveError
from bove.files import gzip_text
from bove.shards import read_shard
from bove.text.conll import Sentence, write_conllu
from bove.text.pairs import read_pairs
from bove.text.parsing import one_line

log = logging.getLogger("bove")
PROGRESS_SECONDS = 5


def register(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--pairs", required=True, metavar="pairs.jsonl", help="from `bove pairs`")
    add_parser_files(parser, required=False)
    parser.add_argument("--max-tokens", type=int, metavar="N", help="a longer sentence is parsed in pieces")
    parser.add_argument(
        "--shard",
        metavar="I/N",
        help="parse the I-th of N slices of the distinct sentences, for `bove gather-parses`",
    )
    parser.add_argument(
        "--parses",
        metavar="FILE.conllu",
        help="instead of a tagger and a parser: your own trees, with sent_id = PAIR.1 and PAIR.2",
    )
    parser.add_argument("--vocabulary", metavar="FILE", help="check the parser's relations against this")
    parser.add_argument(
        "--min-coverage", type=float, metavar="X", help="least share of the vocabulary's arcs it must know"
    )
    parser.add_argument(
        "--output", required=True, metavar="parses.conllu.gz", help="trees in the pairs' order, or of a shard"
    )


def run(args: argparse.Namespace) -> None:
    """Parse, or take over, one tree a pair side, in order."""
    _check(args)
    ids, texts = read_sides(args.pairs)
    if args.parses:
        from bove.text.own_parses import match_parses

        trees, comments = match_parses(args.parses, ids, texts), [f"bove = {__version__}", "parses = given"]
        write_trees(args.output, ids, texts, trees, comments)
    else:
        _parse(args, ids, texts)


def read_sides(path) -> tuple[list[str], list[str]]:
    """Ids and texts of both sides of the scored pairs."""
    pairs = [pair for pair in read_pairs(path) if pair.scored]
    ids = [f"{pair.id}.{side}" for pair in pairs for side in (1, 2)]
    return ids, [text for pair in pairs for text in (pair.first, pair.second)]


def _check(args) -> None:
    models = [args.tagger, args.parser, args.max_tokens]
    if args.parses and (further_files(args) or any(value is not None for value in models)):
        raise BoveError("--parses takes over finished trees; leave out --tagger, --parser and all of theirs")
    if args.parses and args.shard:
        raise BoveError("--parses takes over finished trees, all at once; leave out --shard")
    if not args.parses and None in models:
        raise BoveError("give --tagger, --parser and --max-tokens, or finished trees with --parses")
    if (args.vocabulary is None) != (args.min_coverage is None):
        raise BoveError("give both --vocabulary and --min-coverage, or neither")


def _parse(args, ids, texts) -> None:
    from bove.cli.stanza_log import stanza_messages
    from bove.text.parse_shards import slice_of, write_shard
    from bove.text.parsing import Parser, distinct

    shard = read_shard(args.shard) if args.shard else None
    with stanza_messages():
        parser = Parser(args.tagger, args.parser, args.max_tokens, further=further_files(args))
        if args.vocabulary:
            _check_relations(parser.relations, args.vocabulary, args.min_coverage)
        items = distinct(ids, texts)
        log.info("%d sentences, %d of them distinct", len(texts), len(items))
        todo = slice_of(items, *shard) if shard else list(zip(ids, texts, strict=True))
        trees = parser.parse([text for _, text in todo], [name for name, _ in todo])
        with Progress(len(todo), "sentences", every=PROGRESS_SECONDS) as progress:
            if shard:
                write_shard(args.output, items, shard, _counted(trees, progress), _provenance(parser))
                log.info("shard %s: %d trees: %s", args.shard, len(todo), args.output)
            else:
                write_trees(args.output, ids, texts, _counted(trees, progress), _provenance(parser))
        log.info("parsed %d sentences, %.0f a second", progress.done, progress.rate)
    for kind, count in parser.counts.items():
        log.info("%d %s", count, kind)


def _provenance(parser) -> list[str]:
    """What makes the trees what they are, as comments."""
    comments = [f"bove = {__version__}", *(f"{name} = {version(name)}" for name in ("stanza", "torch"))]
    comments += [f"{kind}_sha256 = {digest}" for kind, digest in parser.hashes.items()]
    return [*comments, f"max_tokens = {parser.max_tokens}"]


def _check_relations(known, path, least) -> None:
    """Raise unless the parser knows the labels of most arcs of the vocabulary."""
    from bove.text.vocabulary import ADJACENCY, UNKNOWN_RELATION, Vocabulary

    vocabulary = Vocabulary.load(path)
    if not vocabulary.has_dependencies:
        log.info("dependencies are switched off in the vocabulary: the parser's labels are not checked")
        return
    counts = dict(zip(vocabulary.relations, vocabulary.relation_counts, strict=True))
    labels = {label: n for label, n in counts.items() if label not in (ADJACENCY, UNKNOWN_RELATION)}
    share = sum(count for label, count in labels.items() if label in known) / max(1, sum(labels.values()))
    log.info("the parser knows the labels of %.1f %% of the vocabulary's arcs", 100 * share)
    if share < least:
        example, other = min(labels.keys() - known, default=""), min(known - labels.keys(), default="")
        raise BoveError(
            f"{path}: the parser knows the labels of {100 * share:.1f} % of its arcs, less than "
            f"{100 * least:g} % (it has no {example!r}, but {other!r}); train the parser on the same treebank"
        )


def _counted(trees: Iterator[Sentence], progress: Progress) -> Iterator[Sentence]:
    for tree in trees:
        yield tree
        progress.step()


def write_trees(path, ids, texts, trees, comments) -> None:
    """Write one tree for each id, in order; the comments stand above the first."""
    with gzip_text(path) as stream:
        for name, text, tree in zip(ids, texts, trees, strict=True):
            if tree.id != name:
                raise AssertionError(f"tree {tree.id} where {name} was due")
            write_conllu(stream, tree, one_line(text), comments)
            comments = ()
    log.info("%d trees for %d scored pairs: %s", len(ids), len(ids) // 2, path)
