"""Parsing: tagger and parser trained and measured, and a tree for each sentence of the scored pairs.

Equal texts are parsed once, so shards are slices of the distinct texts, in order of their first appearance. A
slice is whole chunks of `parsing.CHUNK`: a tree may depend, in the last digits of its scores, on sentences
that are computed with it, and this way the trees do not depend on the number of shards. A shard is a CoNLL-U
file: a block of comments that says what made it, then one tree for each of its texts, under the first
sentence id that has the text.
"""

import argparse
import hashlib
import json
import logging
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from functools import partial
from itertools import tee, zip_longest
from pathlib import Path

from bove._version import __version__
from bove.bags.shards import SHARD, in_order, read_shard
from bove.cli.common import (
    Progress,
    add_keys,
    add_parser_files,
    add_seed,
    add_treebank_arguments,
    further_files,
    stanza_messages,
    versions_of,
)
from bove.config.load import defaults, fill, load_schema
from bove.errors import BoveError
from bove.files import atomic_write, gzip_text, read_lines, sha256, write_json
from bove.text import parser as parsing
from bove.text.conll import Sentence, read_sentences, write_conllu
from bove.text.pairs import ROLES, match_parses, read_pairs, write_pairs
from bove.text.parser import Parser
from bove.text.roles import probes
from bove.text.vocabulary import Vocabulary

log = logging.getLogger("bove")
FEW = 50  # development sentences, of which an accuracy is rough
PROGRESS_SECONDS = 5
ACCURACY_FORMAT = "bove-parser-accuracy"
_INPUTS = "inputs_sha256"


def register_train_tagger(parser: argparse.ArgumentParser) -> None:
    add, option = parser.add_argument, "change an option of Stanza's trainer; a switch is true or false"
    add("--treebank", required=True, metavar="FILE", help="training part, CoNLL-2009 or CoNLL-U")
    add("--dev", required=True, metavar="FILE", help="development part, to choose the best step")
    add_treebank_arguments(parser, strict=True)
    add_keys(parser, "parser", preset="sizes and steps")
    add("--option", action="append", nargs="+", default=[], metavar="KEY=VALUE", help=option)
    add_seed(parser, "equal seeds give equal weights")
    add("--output", required=True, metavar="FILE.pt", help="the model")
    add("--report", required=True, metavar="FILE.json", help="accuracy, counts, options, versions")


register_train_parser = register_train_tagger


def train_kind(kind: str, args: argparse.Namespace) -> None:
    """Train a tagger or a parser, and report it."""
    from bove.text.parser_training import find_options, train

    options = find_options(kind, args.preset, [word for words in args.option for word in words])
    if args.threads > 1:
        log.info("training takes one thread: others make it slower, and its result vary")
    oddities: Counter = Counter()
    training = read_sentences(args.treebank, args.columns, args.encoding, oddities, args.strict)
    development = read_sentences(args.dev, args.columns, args.encoding, strict=args.strict)
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
        "treebank_oddities": oddities,
        "versions": _versions(),
    }
    write_json(args.report, content)


run_train_tagger, run_train_parser = partial(train_kind, "tagger"), partial(train_kind, "parser")


def _versions() -> dict[str, str]:
    return {"bove": __version__, **versions_of(("stanza", "torch"))}


def register_evaluate_parser(parser: argparse.ArgumentParser) -> None:
    add, trees = parser.add_argument, "CoNLL-U to write: the predicted tree of every sentence; gzip if .gz"
    add("--treebank", required=True, metavar="FILE", help="gold trees, CoNLL-2009 or CoNLL-U, not trained on")
    add_treebank_arguments(parser)
    add_parser_files(parser, required=True)
    add_keys(parser, "parser", max_tokens="a longer sentence is parsed in pieces")
    add("--trees", metavar="FILE", help=trees)
    add("--output", required=True, metavar="FILE.json", help="accuracy and counts")


def run_evaluate_parser(args: argparse.Namespace) -> None:
    """Tag and parse the treebank's own tokens, and report how many are right."""
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
        "format": ACCURACY_FORMAT,
        "accuracy": accuracy.shares(punctuation=True),
        "accuracy_without_punctuation": accuracy.shares(punctuation=False),
        "tokens": accuracy.tokens[True],
        "tokens_without_punctuation": accuracy.tokens[False],
        "sentences": dict(counts),
        "sentences_cut": parser.counts[parsing.CUT],
        "arcs_with_known_labels": 1 - sum(unknown.values()) / total,
        "labels_the_parser_lacks": unknown,
        "max_tokens": args.max_tokens,
        **{f"{kind}_sha256": digest for kind, digest in parser.hashes.items()},
        "treebank_sha256": sha256(args.treebank),
        "treebank_oddities": dict(oddities),
        "versions": _versions(),
    }
    write_json(args.output, content)
    _report(content, counts["read"] / max(seconds, 1e-9))


def _evaluate(parser, path, sentences, trees) -> tuple:
    """Parse all sentences, compare those that have a gold tree, and write all trees if asked to."""
    from bove.text.parser_training import Accuracy, find_fault

    accuracy, counts = Accuracy(), Counter(read=0, used=0)
    gold, given = tee(sentences)  # holds a chunk at most
    write = gzip_text if trees and trees.endswith(".gz") else atomic_write
    with write(trees) if trees else nullcontext() as stream:
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
        if not counts["used"]:
            faults = ", ".join(f"{n} {kind}" for kind, n in counts.items() if kind not in ("read", "used"))
            raise BoveError(
                f"{path}: none of its {counts['read']} sentences has a gold tree to compare with "
                f"({faults or 'it is empty'}); give a treebank"
            )
        if counts["used"] < FEW:
            log.warning("only %d sentences: take the accuracy as rough", counts["used"])
    return accuracy, counts


def _report(content, rate) -> None:
    for title, ending in (("all", ""), ("no punctuation", "_without_punctuation")):
        found = content[f"accuracy{ending}"].items()
        shares = ", ".join(f"{key} {100 * x:.2f} %" for key, x in found if x is not None)
        log.info("%s, %d tokens: %s", title, content[f"tokens{ending}"], shares or "none")
    if content["sentences_cut"]:
        log.warning("%d sentences longer than the limit, parsed in pieces", content["sentences_cut"])
    if lacks := list(content["labels_the_parser_lacks"].items())[:5]:
        log.warning("labels that the parser lacks: %s", ", ".join(f"{name} ({n})" for name, n in lacks))
    log.info("%.0f sentences a second", rate)


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
    """Write the trees of shard (number from 1, how many), one for each item of its slice.

    Args:
        items: (id, text) of all distinct texts, from `parsing.distinct`.
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
    """The provenance that all shards (in any order) have in common, and one tree per text, in order.

    Raises:
        BoveError: a file that is not a shard of these sentences, shards that are no whole, or (while the
            trees are read) one without the trees it should have.
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
        raise BoveError(f"{path}: not a shard; give files that `bove parse --shard` wrote")
    return header


def _all_trees(paths, items) -> Iterator[Sentence]:
    """The trees of all distinct texts, each shard's compared with the ids that it should have."""
    for number, path in enumerate(paths, 1):
        for item, tree in zip_longest(slice_of(items, number, len(paths)), read_sentences(path)):
            due, found = item and item[0], tree and tree.id
            if due != found:
                raise BoveError(f"{path}: has the tree {found} in the place of {due}; parse this shard again")
            yield tree


def register_parse(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    shard = "parse the I-th of N slices of the distinct sentences, for `bove gather-parses`"
    parses = "instead of a tagger and a parser: your own trees, with sent_id = PAIR.1 and PAIR.2"
    usual = defaults()["parser"]
    coverage = f"least share of the vocabulary's arcs it must know (default {usual['min_coverage']})"
    add("--pairs", required=True, metavar="pairs.jsonl", help="from `bove pairs`")
    add_parser_files(parser, required=False)
    longest = f"a longer sentence is parsed in pieces (default {usual['max_tokens']})"
    add("--max-tokens", type=int, metavar="N", help=longest)
    add("--shard", metavar="I/N", help=shard)
    add("--parses", metavar="FILE.conllu", help=parses)
    add("--vocabulary", metavar="FILE", help="check the parser's relations against this")
    add("--min-coverage", type=float, metavar="X", help=coverage)
    add("--output", required=True, metavar="parses.conllu.gz", help="trees in the pairs' order, or a shard's")


def run_parse(args: argparse.Namespace) -> None:
    """Parse, or take over, one tree per side of a pair, in order."""
    _check_parser(args)
    ids, texts = read_sides(args.pairs)
    if args.parses:
        trees, comments = match_parses(args.parses, ids, texts), [f"bove = {__version__}", "parses = given"]
        write_trees(args.output, ids, texts, trees, comments)
    else:
        _parse(args, ids, texts)


def read_sides(path) -> tuple[list[str], list[str]]:
    """Ids and texts of both sides of the scored pairs."""
    pairs = [pair for pair in read_pairs(path) if pair.scored]
    sides = [side for pair in pairs for side in pair.sentences.items()]
    return [name for name, _ in sides], [text for _, text in sides]


def _check_parser(args) -> None:
    given = [args.tagger, args.parser, args.max_tokens, args.shard, *further_files(args).values()]
    if args.parses and any(value is not None for value in given):
        raise BoveError("--parses takes over finished trees; leave out --tagger, --parser and all of theirs")
    if not args.parses and None in given[:2]:
        raise BoveError("give --tagger and --parser, or finished trees with --parses")
    if args.vocabulary is None and args.min_coverage is not None:
        raise BoveError("--min-coverage is of a vocabulary's relations; give --vocabulary too")
    for name in ("max_tokens", "min_coverage"):
        if getattr(args, name) is None:
            setattr(args, name, defaults()["parser"][name])


def _parse(args, ids, texts) -> None:
    shard = read_shard(args.shard) if args.shard else None
    with stanza_messages():
        parser = Parser(args.tagger, args.parser, args.max_tokens, further=further_files(args))
        if args.vocabulary:
            _check_relations(parser.relations, args.vocabulary, args.min_coverage)
        items = parsing.distinct(ids, texts)
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
    comments = [f"{name} = {found}" for name, found in _versions().items()]
    comments += [f"{kind}_sha256 = {digest}" for kind, digest in parser.hashes.items()]
    return [*comments, f"max_tokens = {parser.max_tokens}"]


def _check_relations(known, path, least) -> None:
    """Raise unless the parser knows the labels of most arcs of the vocabulary."""
    vocabulary = Vocabulary.load(path)
    if not vocabulary.has_dependencies:
        log.info("dependencies are switched off in the vocabulary: the parser's labels are not checked")
        return
    counts = dict(zip(vocabulary.relations, vocabulary.relation_counts, strict=True))
    labels = {label: n for label, n in counts.items() if vocabulary.is_own_relation(label)}
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
    """Write one tree for each id, in order; the comments come before the first."""
    with gzip_text(path) as stream:
        for text, tree in zip(texts, trees, strict=True):
            write_conllu(stream, tree, _plain(text), comments)
            comments = ()
    log.info("%d trees for %d scored pairs: %s", len(ids), sum(name.endswith(".1") for name in ids), path)


def register_gather_parses(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--pairs", required=True, metavar="pairs.jsonl", help="from `bove pairs`")
    add("--shards", required=True, nargs="+", metavar="FILE", help="all files of `bove parse --shard`")
    add("--output", required=True, metavar="parses.conllu.gz", help="what parsing at once would write")


def run_gather_parses(args: argparse.Namespace) -> None:
    """Check that the shards are one whole and of these pairs, and write one tree per side of a pair."""
    ids, texts = read_sides(args.pairs)
    provenance, trees = gather(args.shards, ids, texts)
    write_trees(args.output, ids, texts, trees, provenance)


def register_roles(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    source = "a data set's pairs.jsonl and its parses.conllu.gz; once for each data set"
    add("--from", required=True, nargs=2, action="append", dest="sources", metavar=("PAIRS", "PARSES"),
        help=source)  # fmt: skip
    add("--dataset", default=ROLES, metavar="NAME", help=f"name of the data set to make (default {ROLES})")
    add("--label", default=ROLES, metavar="NAME", help=f"its name in the tables (default {ROLES})")
    usual = fill({"task": ROLES}, load_schema()["properties"]["datasets"]["additionalProperties"], ROLES)
    for key in ("subjects", "objects"):
        shown = f"labels of the arcs from a verb to its {key} (default {' '.join(usual[key])})"
        add(f"--{key}", nargs="+", default=usual[key], metavar="LABEL", help=shown)
    least = "least score of a similarity pair whose first sentence counts as entailing the second"
    shown = f"{least} (default {usual['min_gold']:g})"
    add("--min-gold", type=float, default=usual["min_gold"], metavar="X", help=shown)
    add("--parses", required=True, metavar="parses.conllu.gz", help="trees to write, three for each probe")
    add("--output", required=True, metavar="pairs.jsonl", help="probes to write")


def run_roles(args: argparse.Namespace) -> None:
    """Make probes of the pairs of parsed data sets, one data set after another."""
    found = []
    for pairs_path, parses_path in args.sources:
        pairs, counts = read_pairs(pairs_path), Counter()
        trees = {tree.id: tree for tree in read_sentences(parses_path)}
        labels = (args.subjects, args.objects)
        try:
            made = list(probes(pairs, trees, (args.dataset, args.label), labels, args.min_gold, counts))
        except BoveError as e:
            raise BoveError(f"{parses_path}: {e}") from e
        left_out = ", ".join(f"{number} {reason}" for reason, number in counts.items()) or "none"
        log.info("%s: %d probes of %d pairs; left out %s", pairs_path, len(made), len(pairs), left_out)
        found += made
    if not found:
        raise BoveError(
            f"no pair of {', '.join(path for path, _ in args.sources)} makes a probe of roles, with subjects "
            f"{' '.join(args.subjects)} and objects {' '.join(args.objects)}; name the trees' labels of "
            f"subjects and objects, take a larger parser.preset, or leave this data set out"
        )
    sides = [side for probe, _ in found for side in probe.sentences.items()]
    with atomic_write(args.output) as stream:
        write_pairs(stream, (probe for probe, _ in found))
    comments = [f"bove = {__version__}", f"exchanged = {' '.join(args.subjects)}, {' '.join(args.objects)}"]
    trees = (tree for _, made in found for tree in made)
    write_trees(args.parses, [name for name, _ in sides], [text for _, text in sides], trees, comments)
