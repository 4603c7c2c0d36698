"""`bove parse`: a dependency graph for each sentence of the scored pairs."""

import argparse
import hashlib
import json
import logging
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from itertools import tee
from pathlib import Path

from bove._version import __version__
from bove.bags.shards import SHARD, in_order, read_shard
from bove.cli.common import Progress, add_parser_files, add_strict_argument, further_files
from bove.errors import BoveError
from bove.files import atomic_write, gzip_text, read_lines, sha256
from bove.text import parser as parsing
from bove.text.conll import Sentence, read_sentences, write_conllu
from bove.text.pairs import read_pairs

# `bove train-tagger`: a part-of-speech tagger from a treebank.

log = logging.getLogger("bove")
FEW = 50


def register_train_tagger(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--treebank", required=True, metavar="FILE", help="training part, CoNLL-2009 or CoNLL-U"
    )
    parser.add_argument(
        "--dev", required=True, metavar="FILE", help="development part, to choose the best step"
    )
    parser.add_argument(
        "--columns", choices=("gold", "predicted"), default="gold", help="of CoNLL-2009 files"
    )
    parser.add_argument("--encoding", default="utf-8", help="of both files (default utf-8)")
    add_strict_argument(parser)
    parser.add_argument("--preset", required=True, choices=("tiny", "demo", "full"), help="sizes and steps")
    parser.add_argument(
        "--option",
        action="append",
        nargs="+",
        default=[],
        metavar="KEY=VALUE",
        help="change an option of Stanza's trainer; a switch is true or false",
    )
    parser.add_argument("--seed", type=int, required=True, help="equal seeds give equal weights")
    parser.add_argument("--output", required=True, metavar="FILE.pt", help="the model")
    parser.add_argument(
        "--report", required=True, metavar="FILE.json", help="accuracy, counts, options, versions"
    )


def run_train_tagger(args: argparse.Namespace) -> None:
    """Train the tagger."""
    train_kind("tagger", args)


def train_kind(kind: str, args: argparse.Namespace) -> None:
    """Train a tagger or a parser, and report it."""
    from bove.cli.common import stanza_messages
    from bove.text.conll import read_sentences
    from bove.text.parser_training import find_options, train

    options = find_options(kind, args.preset, [word for words in args.option for word in words])
    if args.threads > 1:
        log.info("training takes one thread: others make it slower, and its result vary")
    oddities: dict[str, Counter] = {"training": Counter(), "development": Counter()}
    training, development = (
        read_sentences(path, args.columns, args.encoding, counts, args.strict)
        for path, counts in zip((args.treebank, args.dev), oddities.values(), strict=True)
    )
    with stanza_messages():
        result = train(kind, training, development, options, args.seed, args.output)
    for part, counts in (("training", result.training), ("development", result.development)):
        log.info("%s sentences: %s", part, ", ".join(f"{count} {name}" for name, count in counts.items()))
    if result.development["used"] < FEW:
        log.warning("only %d development sentences: take the accuracy as rough", result.development["used"])
    log.info("%s: %s", kind, ", ".join(f"{name} {100 * x:.2f} %" for name, x in result.accuracy.items()))
    content = {
        "format": "bove-parser-report",
        "kind": kind,
        "preset": args.preset,
        "seed": args.seed,
        **asdict(result),
        "treebank_sha256": sha256(args.treebank),
        "treebank_oddities": oddities["training"],
        "versions": {"bove": __version__, **{name: version(name) for name in ("stanza", "torch")}},
    }
    with atomic_write(args.report) as stream:
        json.dump(content, stream, ensure_ascii=False, indent=1)
        stream.write("\n")


# `bove train-parser`: a dependency parser from a treebank.


def register_train_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments, which are the tagger's."""
    register_train_tagger(parser)


def run_train_parser(args: argparse.Namespace) -> None:
    """Train the parser."""
    train_kind("parser", args)


# `bove evaluate-parser`: how well a tagger and a parser do together, on a treebank's own tokens.


def register_evaluate_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--treebank", required=True, metavar="FILE", help="gold trees, CoNLL-2009 or CoNLL-U, not trained on"
    )
    parser.add_argument(
        "--columns", choices=("gold", "predicted"), default="gold", help="of a CoNLL-2009 file"
    )
    parser.add_argument("--encoding", default="utf-8", help="of the treebank (default utf-8)")
    add_parser_files(parser, required=True)
    parser.add_argument(
        "--max-tokens", type=int, required=True, metavar="N", help="a longer sentence is parsed in pieces"
    )
    parser.add_argument(
        "--trees", metavar="FILE", help="CoNLL-U to write: the predicted tree of every sentence; gzip if .gz"
    )
    parser.add_argument("--output", required=True, metavar="FILE.json", help="accuracy and counts")


def run_evaluate_parser(args: argparse.Namespace) -> None:
    """Tag and parse the treebank's sentences, and report how many tokens are right."""
    from bove.cli.common import stanza_messages
    from bove.text.parser import CUT, Parser

    oddities: Counter = Counter()
    sentences = read_sentences(args.treebank, args.columns, args.encoding, oddities)
    with stanza_messages():
        parser = Parser(args.tagger, args.parser, args.max_tokens, further=further_files(args))
        start = time.monotonic()
        accuracy, counts = _evaluate(parser, args.treebank, sentences, args.trees)
        seconds = time.monotonic() - start
    total = sum(accuracy.labels.values())
    unknown = {label: n for label, n in accuracy.labels.most_common() if label not in parser.relations}
    content = {
        "format": "bove-parser-accuracy",
        "accuracy": accuracy.shares(punctuation=True),
        "accuracy_without_punctuation": accuracy.shares(punctuation=False),
        "tokens": accuracy.tokens[True],
        "tokens_without_punctuation": accuracy.tokens[False],
        "sentences": dict(counts),
        "sentences_cut": parser.counts[CUT],
        "arcs_with_known_labels": 1 - sum(unknown.values()) / total,
        "labels_the_parser_lacks": unknown,
        "max_tokens": args.max_tokens,
        **{f"{kind}_sha256": digest for kind, digest in parser.hashes.items()},
        "treebank_sha256": sha256(args.treebank),
        "treebank_oddities": dict(oddities),
        "versions": {"bove": __version__, **{name: version(name) for name in ("stanza", "torch")}},
    }
    with atomic_write(args.output) as stream:
        json.dump(content, stream, ensure_ascii=False, indent=1)
        stream.write("\n")
    _report(content, counts["read"] / max(seconds, 1e-9))


def _evaluate(parser, path, sentences, trees) -> tuple:
    """Parse all sentences, compare those that have a gold tree, and write all trees if asked to."""
    from bove.text.parser_training import Accuracy, find_fault

    accuracy, counts = Accuracy(), Counter(read=0, used=0)
    gold, given = tee(sentences)  # holds a chunk at most
    with _opened(trees) as stream:
        comments = [f"bove = {__version__}"]
        comments += [f"{kind}_sha256 = {digest}" for kind, digest in parser.hashes.items()]
        for sentence, tree in zip(gold, parser.parse_tokens(given), strict=True):
            fault = find_fault(sentence, "parser")
            counts["read"] += 1
            counts[fault or "used"] += 1
            if not fault:
                accuracy.add(sentence, tree)
            if stream:
                write_conllu(stream, tree, " ".join(tree.forms), comments)
                comments = []
        _check(path, counts)
    return accuracy, counts


@contextmanager
def _opened(path):
    """A stream to write the trees to; None without a path."""
    if path is None:
        yield None
    else:
        with gzip_text(path) if path.endswith(".gz") else atomic_write(path) as stream:
            yield stream


def _check(path, counts) -> None:
    if not counts["used"]:
        faults = ", ".join(f"{n} {kind}" for kind, n in counts.items() if kind not in ("read", "used"))
        raise BoveError(
            f"{path}: none of its {counts['read']} sentences has a gold tree to compare with "
            f"({faults or 'it is empty'}); give a treebank"
        )
    if counts["used"] < FEW:
        log.warning("only %d sentences: take the accuracy as rough", counts["used"])


def _report(content, rate) -> None:
    log.info("sentences: %s", ", ".join(f"{n} {kind}" for kind, n in content["sentences"].items()))
    if content["sentences_cut"]:
        log.warning("%d sentences longer than the limit, parsed in pieces", content["sentences_cut"])
    for title, tokens, name in (
        ("all", "tokens", "accuracy"),
        ("no punctuation", "tokens_without_punctuation", "accuracy_without_punctuation"),
    ):
        shares = ", ".join(f"{key} {100 * x:.2f} %" for key, x in content[name].items() if x is not None)
        log.info("%s, %d tokens: %s", title, content[tokens], shares or "none")
    log.info("the parser knows the labels of %.2f %% of arcs", 100 * content["arcs_with_known_labels"])
    if lacks := list(content["labels_the_parser_lacks"].items())[:5]:
        log.warning("labels that the parser lacks: %s", ", ".join(f"{name} ({n})" for name, n in lacks))
    log.info("%.0f sentences a second", rate)


# Parsing in shards: the trees of one slice of the distinct texts, and all trees again from all slices.
#
# Equal texts are parsed once, so it is the distinct texts, in order of their first appearance, that are
# sliced.
# A slice is whole chunks of `parsing.CHUNK`: a tree may depend, in the last digits of its scores, on the
# sentences that are computed with it, and this way every text keeps its company however many shards there
# are.
#
# A shard is a CoNLL-U file: a block of comments that says what made it, then one tree for each of its
# texts,
# under the first sentence id that has the text.

_INPUTS = "inputs_sha256"


def slice_of(items: Sequence, number: int, total: int) -> Sequence:
    """The items of a shard: whole chunks, as many as in any other shard or one fewer; maybe none."""
    chunks = -(-len(items) // parsing.CHUNK)
    start, stop = ((i * chunks // total) * parsing.CHUNK for i in (number - 1, number))
    return items[start:stop]


def _inputs_hash(items) -> str:
    """Hex SHA-256 of all distinct texts with their ids, and of how they are sliced."""
    return hashlib.sha256(json.dumps([parsing.CHUNK, items]).encode()).hexdigest()


def write_shard(
    path: str | Path,
    items: Sequence[tuple[str, str]],
    shard: tuple[int, int],
    trees: Iterable[Sentence],
    provenance: Sequence[str],
) -> None:
    """Write the trees of a shard.

    Args:
        path: gzip file to write.
        items: (id, text) of all distinct texts, from `parsing.distinct`.
        shard: its number from 1, and how many there are.
        trees: one for each item of the shard's slice, in order.
        provenance: comments `key = value` that all shards of a whole have in common.
    """
    comments = [*provenance, f"{_INPUTS} = {_inputs_hash(items)}", f"{SHARD} = {shard[0]}/{shard[1]}"]
    with gzip_text(path) as stream:
        stream.write("".join(f"# {comment}\n" for comment in comments) + "\n")
        for (_, text), tree in zip(slice_of(items, *shard), trees, strict=True):
            write_conllu(stream, tree, _plain(text))


def gather(
    paths: Sequence[str | Path], ids: Sequence[str], texts: Sequence[str]
) -> tuple[list[str], Iterator[Sentence]]:
    """The provenance that all shards have in common, and one tree a text, in order.

    Args:
        paths: all shards, in any order.
        ids, texts: of the sentences, as they were given to each shard.

    Raises:
        BoveError: a file that is no shard, shards of other sentences or of different makes, one that is
            missing or given twice, or (while the trees are read) one without the trees it should have.
    """
    items = parsing.distinct(ids, texts)
    inputs, headers = _inputs_hash(items), []
    for path in paths:
        headers.append(_read_header(path))
        if headers[-1].pop(_INPUTS) != inputs:
            raise BoveError(f"{path}: a shard of other sentences than these pairs'; parse these pairs")
    ordered, common = in_order(paths, headers, "parse all shards alike")
    provenance = [f"{key} = {value}" for key, value in common.items()]
    return provenance, parsing.spread(ids, texts, _all_trees(ordered, items))


def _read_header(path) -> dict[str, str]:
    """The comments `# key = value` of a shard's first block."""
    header: dict[str, str] = {}
    for _, line in read_lines(path):
        key, equals, value = line.removeprefix("# ").partition(" = ")
        if not line.startswith("# ") or not equals:
            break
        header[key] = value
    if not {SHARD, _INPUTS} <= header.keys():
        raise BoveError(f"{path}: no shard; give files that `bove parse --shard` wrote")
    return header


def _all_trees(paths, items) -> Iterator[Sentence]:
    """The trees of all distinct texts, each shard's compared with the ids that it should have."""
    for number, path in enumerate(paths, 1):
        trees = read_sentences(path)
        for name, _ in slice_of(items, number, len(paths)):
            tree = next(trees, None)
            if tree is None or tree.id != name:
                found = "ends" if tree is None else f"has the tree {tree.id}"
                raise BoveError(f"{path}: {found} where {name} was due; parse this shard again")
            yield tree
        if (tree := next(trees, None)) is not None:
            raise BoveError(f"{path}: has the tree {tree.id} after its last one; parse this shard again")


# `bove parse`: a dependency graph for each sentence of the scored pairs.

PROGRESS_SECONDS = 5


def register_parse(parser: argparse.ArgumentParser) -> None:
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


def run_parse(args: argparse.Namespace) -> None:
    """Parse, or take over, one tree a pair side, in order."""
    _check_parser(args)
    ids, texts = read_sides(args.pairs)
    if args.parses:
        from bove.text.pairs import match_parses

        trees, comments = match_parses(args.parses, ids, texts), [f"bove = {__version__}", "parses = given"]
        write_trees(args.output, ids, texts, trees, comments)
    else:
        _parse(args, ids, texts)


def read_sides(path) -> tuple[list[str], list[str]]:
    """Ids and texts of both sides of the scored pairs."""
    pairs = [pair for pair in read_pairs(path) if pair.scored]
    ids = [f"{pair.id}.{side}" for pair in pairs for side in (1, 2)]
    return ids, [text for pair in pairs for text in (pair.first, pair.second)]


def _check_parser(args) -> None:
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
    from bove.cli.common import stanza_messages
    from bove.text.parser import Parser, distinct

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


def _plain(text: str) -> str:
    """A text as UTF-8 can hold it, on one line."""
    return " ".join(text.encode("utf-8", "replace").decode().split())


def write_trees(path, ids, texts, trees, comments) -> None:
    """Write one tree for each id, in order; the comments stand above the first."""
    with gzip_text(path) as stream:
        for name, text, tree in zip(ids, texts, trees, strict=True):
            if tree.id != name:
                raise AssertionError(f"tree {tree.id} where {name} was due")
            write_conllu(stream, tree, _plain(text), comments)
            comments = ()
    log.info("%d trees for %d scored pairs: %s", len(ids), len(ids) // 2, path)


# `bove gather-parses`: the trees of all shards of `bove parse`, in the pairs' order.


def register_gather_parses(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--pairs", required=True, metavar="pairs.jsonl", help="from `bove pairs`")
    parser.add_argument(
        "--shards", required=True, nargs="+", metavar="FILE", help="all files of `bove parse --shard`"
    )
    parser.add_argument(
        "--output", required=True, metavar="parses.conllu.gz", help="what parsing at once would write"
    )


def run_gather_parses(args: argparse.Namespace) -> None:
    """Check that the shards are one whole and of these pairs, and write one tree a pair side."""

    ids, texts = read_sides(args.pairs)
    provenance, trees = gather(args.shards, ids, texts)
    write_trees(args.output, ids, texts, trees, provenance)
