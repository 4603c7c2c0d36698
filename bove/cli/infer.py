"""Bags: `bove infer`, its shards gathered again, a model compressed, and two files of bags compared."""

import argparse
import csv
import logging
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from bove._version import __version__
from bove.bags import BOVE, OF_TOKENS, PROPERTIES_ONLY, WORD_VECTORS
from bove.bags.shards import REPORT, Layout, ShardWriter, gather, gather_reports, read_shard
from bove.bags.store import Bags, BagWriter
from bove.cli.common import SWITCH, Progress, add_settings, check_ids, flag, read_files
from bove.errors import BoveError
from bove.evaluate.comparisons import by_length, compare_bags, summarise_bags
from bove.factor.graphs import GraphCorpus
from bove.factor.inference import Inference, infer_batches
from bove.factor.model import Model
from bove.factor.parallel import Batch, Workers, plan_batches
from bove.factor.settings import InferenceSettings, make
from bove.files import atomic_write, sha256, write_json
from bove.text.conll import read_sentences
from bove.text.graphs import load_graphs, sentences_of
from bove.text.tokens import is_punctuation
from bove.text.vectors import WordLookup, WordVectors, word_evidence
from bove.text.vocabulary import Vocabulary

log = logging.getLogger("bove")
NEEDS = {WORD_VECTORS: ("vectors", "vocabulary", "sentences")}
NEEDS |= dict.fromkeys((PROPERTIES_ONLY, BOVE), ("model", "graphs"))


def register_infer(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--system", choices=tuple(NEEDS), default=BOVE, help=f"what makes the vectors (default {BOVE})")
    add("--model", metavar="FILE", help="model.safetensors")
    about = "graphs to embed; of word-vectors, those whose tokens have vectors of their own"
    add("--graphs", metavar="FILE", help=about)
    add_settings(parser, InferenceSettings)
    add("--vectors", metavar="FILE", help="word-vectors: the vectors")
    add("--vocabulary", metavar="FILE", help="word-vectors: how words are looked up")
    _add_punctuation(parser, "word-vectors, ", "write vectors of punctuation too; inference uses it anyway")
    add("--shard", metavar="I/N", help="infer the I-th of N slices of the graphs, for `bove gather-bags`")
    add("--report", metavar="FILE", help="CSV to write: tokens, iterations and last change of each sentence")
    add("--output", required=True, metavar="FILE", help="bags.safetensors to write")


def _add_punctuation(parser, also: str, text: str) -> None:
    about = f"{also}--no-punctuation: the sentences (of the graphs), CoNLL-U"
    parser.add_argument("--sentences", nargs="+", metavar="FILE", help=about)
    parser.add_argument("--punctuation", action=SWITCH, default=True, help=text)


def run_infer(args: argparse.Namespace) -> None:
    of_tokens = args.system == WORD_VECTORS and args.graphs and not args.vectors
    needed = ("graphs",) if of_tokens else NEEDS[args.system]
    needs = dict.fromkeys(needed + (() if args.punctuation else ("sentences",)))
    missing = [name for name in needs if getattr(args, name) is None]
    if missing:
        given = f"--system {args.system}" + ("" if args.punctuation else " --no-punctuation")
        raise BoveError(f"{given} needs {', '.join(map(flag, missing))}")
    if args.shard and args.system == WORD_VECTORS:
        raise BoveError("--shard cannot be used with --system word-vectors; leave it out")
    (_token_vectors if of_tokens else _word_vectors if args.system == WORD_VECTORS else _infer)(args)


def _word_vectors(args) -> None:
    """The baseline: the pretrained vectors of the sentence's words; words without one are left out."""
    vocabulary, vectors = Vocabulary.load(args.vocabulary), WordVectors.open(args.vectors)
    lookup = WordLookup(vocabulary, vectors)
    ids, rows, found, tokens = [], [], [], 0
    for path in args.sentences:
        for sentence in read_sentences(path):
            known = [sentence.forms[place] for place in lookup.places(sentence.forms)]
            kept = known if args.punctuation else [form for form in known if not is_punctuation(form)]
            ids.append(sentence.id)
            rows.append(tuple(map(lookup.row, kept)))
            found.append(len(known))
            tokens += len(sentence.forms)
    check_ids(", ".join(args.sentences), ids)
    bags = {bag: b for b, bag in enumerate(dict.fromkeys(rows))}
    lengths, index = [len(bag) for bag in bags], [bags[bag] for bag in rows]
    made_by = (vectors.dimensions, WORD_VECTORS, vectors.source_sha256)
    with BagWriter(args.output, ids, lengths, index, *made_by, evidence=True) as writer:
        for bag, b in bags.items():
            own = vectors.rows(np.array(bag, np.int64))
            writer.put(b, own, word_evidence(own))
    log.info("%d sentences, %d of %d tokens have a vector", len(ids), sum(found), tokens)
    if not args.punctuation:
        _log_left_out(found, [len(row) for row in rows])


def _token_vectors(args) -> None:
    """The baseline where each token has a vector of its own, which the graphs have."""
    corpus = load_graphs(args.graphs)
    check_ids(args.graphs, corpus.ids)
    own = np.flatnonzero(corpus.properties >= corpus.n_properties)
    if len(own) != corpus.n_tokens:
        raise BoveError(f"{args.graphs}: not each token has a vector of its own; give --vectors instead")
    kept = _kept_tokens(args, corpus)
    layout = Layout.of(corpus, kept, sha256(args.graphs))
    sizes = layout.lengths, layout.index, corpus.extra.shape[1]
    more = {OF_TOKENS: "yes"}
    with BagWriter(args.output, layout.ids, *sizes, WORD_VECTORS, "", more, evidence=True) as writer:
        for b, s in enumerate(layout.first):
            tokens = slice(*corpus.token_offsets[s : s + 2])
            rows = corpus.properties[own[tokens][kept[tokens]]] - corpus.n_properties
            writer.put(b, corpus.extra[rows], word_evidence(corpus.extra[rows]))
    log.info("%d sentences, %d tokens, each with a vector of its own", corpus.n_graphs, corpus.n_tokens)
    if not args.punctuation:
        _log_left_out(corpus.lengths, layout.lengths[layout.index])


def _infer(args) -> None:
    settings = make(InferenceSettings, vars(args), flag)
    shard = read_shard(args.shard) if args.shard else None
    model, corpus = Model.load(args.model), load_graphs(args.graphs)
    model.check(corpus, args.graphs)
    check_ids(args.graphs, corpus.ids)
    inference = Inference(model, settings, args.system == BOVE)
    if args.system == BOVE and inference.factors is not None:
        ranks = inference.factors.ranks
        log.info("relations: %d of %d singular values kept", ranks.sum(), len(ranks) * model.rank)
    infer = inference.solver(corpus, args.graphs)
    kept = _kept_tokens(args, corpus)
    layout = Layout.of(corpus, kept, sha256(args.graphs))
    plan = plan_batches(corpus.lengths[layout.first], settings.batch_tokens)
    used, change, lost = np.zeros(len(layout.first), np.int64), np.zeros(len(layout.first)), 0
    if shard:
        plan = plan[shard[0] - 1 :: shard[1]]
        common = {"bove": __version__, **{name: str(value) for name, value in asdict(settings).items()}}
        made_by = (model.rank, args.system, model.hash, common)
        writer = ShardWriter(args.output, layout, shard, plan, *made_by)
    else:
        writer = layout.writer(args.output, model.rank, args.system, model.hash)
    batches = (Batch(corpus, layout.first[bags], model.properties.dtype) for bags in plan)
    with writer, Workers(args.threads) as workers, Progress(sum(map(len, plan)), "sentences") as progress:
        for batch, got in infer_batches(infer, batches, workers):
            bags = layout.index[batch.graphs]
            some = kept[batch.tokens]
            writer.put_many(bags, got.E[some], got.evidence[some])
            used[bags], change[bags] = got.iterations, got.change
            lost += int(got.lost.sum())
            progress.step(len(bags))
    rows = layout.first[np.sort(np.concatenate([np.zeros(0, np.int64), *plan]))] if shard else None
    _report(args, corpus, layout.index, used, change, progress.rate, rows)
    if lost:
        log.info("%d distinct sentences fell back from the fixed point to averaged steps", lost)
    if not (args.punctuation or shard):
        _log_left_out(corpus.lengths, layout.lengths[layout.index])


def _kept_tokens(args, corpus: GraphCorpus) -> np.ndarray:
    """[T] which tokens are in the bags: all, or all but punctuation as the graphs' sentences show it."""
    if args.punctuation:
        return np.ones(corpus.n_tokens, bool)
    advice = "give the sentences that the graphs were encoded from"
    sentences = sentences_of(corpus, args.graphs, args.sentences, advice)
    return np.array([not is_punctuation(form) for sentence in sentences for form in sentence.forms], bool)


def _log_left_out(before: Sequence[int], after: Sequence[int]) -> None:
    """Say how many vectors [S] sentences had, and how many of them stay."""
    before, after = np.asarray(before, np.int64), np.asarray(after, np.int64)
    left, empty = before.sum() - after.sum(), int(((before > 0) & (after == 0)).sum())
    said = "punctuation: %d of %d vectors left out, which leaves %d sentences without any"
    log.info(said, left, before.sum(), empty)


def _report(args, corpus, index, used, change, rate, rows=None) -> None:
    """Say how inference went; the file has the sentences `rows`, by default all."""
    some = used > 0
    log.info(
        "%d sentences (%d distinct, %d empty), %.0f distinct a second; iterations: mean %.1f, most %d",
        corpus.n_graphs, len(used), int((corpus.lengths == 0).sum()), rate,
        used[some].mean() if some.any() else 0, used.max(initial=0),
    )  # fmt: skip
    moving = int((change >= args.tolerance).sum())
    if args.system == BOVE and args.tolerance and moving:
        log.warning("%d distinct sentences still moved by %g or more", moving, args.tolerance)
    if args.report:
        with atomic_write(args.report) as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(REPORT)
            for s in range(corpus.n_graphs) if rows is None else rows:
                found = int(used[index[s]]), repr(float(change[index[s]]))
                writer.writerow([corpus.ids[s], int(corpus.lengths[s]), *found])


def register_gather_bags(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add = parser.add_argument
    add("--graphs", metavar="FILE", help="the graphs of all shards; of an encoder, give --sentences instead")
    about = "all files of `bove infer --shard`, or those of `bove encoder --shard` that are of one kind"
    add("--shards", required=True, nargs="+", metavar="FILE", help=about)
    _add_punctuation(parser, "an encoder, ", "whether the shards have vectors of punctuation")
    add("--reports", nargs="+", metavar="FILE", help="what `bove infer --shard --report` wrote of all shards")
    add("--report", metavar="FILE", help="CSV to write from these: tokens, iterations, last change")
    add("--output", required=True, metavar="FILE", help="bags.safetensors, as it is written at once")


def run_gather_bags(args: argparse.Namespace) -> None:
    """Check that the shards are one whole and of these graphs or sentences, and write all bags in order."""
    if args.sentences is None and not (args.graphs and args.punctuation):
        raise BoveError(f"{'--no-punctuation' if args.graphs else 'no --graphs'}: needs --sentences")
    if (args.reports is None) != (args.report is None) or (args.reports and not args.graphs):
        raise BoveError("--reports and --report belong together, with --graphs; give all or neither report")
    if args.graphs:
        corpus = load_graphs(args.graphs)
        layout = Layout.of(corpus, _kept_tokens(args, corpus), sha256(args.graphs))
    else:
        sentences = list(read_files(args.sentences, "gold", "utf-8"))
        layout = Layout.encoded(sentences, Bags.open(args.shards[0]).system, args.punctuation)
    gather(args.shards, layout, args.output)
    if args.report:
        gather_reports(args.reports, layout, corpus.lengths, args.report)
    sizes = len(layout.ids), len(layout.first), len(args.shards)
    log.info("%d sentences, %d distinct bags of %d shards", *sizes)
    if args.graphs and not args.punctuation:
        _log_left_out(corpus.lengths, layout.lengths[layout.index])


def register_compress(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--model", required=True, metavar="FILE", help="model.safetensors")
    add_settings(parser, InferenceSettings, ["energy"])
    add("--output", required=True, metavar="FILE", help="compressed model to write")


def run_compress(args: argparse.Namespace) -> None:
    model = Model.load(args.model)
    small = model.compress(make(InferenceSettings, vars(args), flag).energy)
    small.save(args.output)
    ranks = small.relations.ranks
    log.info("%d of %d singular values kept", ranks.sum(), len(ranks) * model.rank)
    for name, rank in zip(model.relation_names, ranks, strict=True):
        log.info("%4d  %s", rank, name)
    before, after = Path(args.model).stat().st_size, Path(args.output).stat().st_size
    log.info("%.1f MB became %.1f MB", before / 1e6, after / 1e6)


def register_compare_bags(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add, what = parser.add_argument, "bags.safetensors, such as from"
    add("--first", required=True, metavar="BAGS", help=f"{what} gold trees")
    add("--second", required=True, metavar="BAGS", help=f"{what} predicted trees")
    add("--output", required=True, metavar="FILE.json", help="mean and quantiles of the tokens' cosines")


def run_compare_bags(args: argparse.Namespace) -> None:
    """Compare the vectors of each token in both files."""
    first, second = Bags.open(args.first), Bags.open(args.second)
    if first.model_hash != second.model_hash:
        made_by = [f"{bags.path} ({bags.model_hash[:12] or 'unknown'})" for bags in (first, second)]
        log.warning("different models: %s", ", ".join(made_by))
    found = compare_bags(first, second)
    whole, classes = summarise_bags(found.cosines), by_length(found)
    content = {
        "format": "bove-bag-comparison",
        **{
            name: {"file": str(bags.path), "system": bags.system, "model_hash": bags.model_hash}
            for name, bags in (("first", first), ("second", second))
        },
        "sentences": len(found.lengths),
        "empty_sentences": int((found.lengths == 0).sum()),
        "tokens": len(found.cosines),
        "zero_vectors": found.zeros,
        "cosine": whole,
        "cosine_by_length": classes,
    }
    write_json(args.output, content)
    log.info(
        "%d sentences (%d empty), %d tokens; zero vectors: %d in the first file, %d in the second",
        *(content[key] for key in ("sentences", "empty_sentences", "tokens")),
        found.zeros["first"], found.zeros["second"],
    )  # fmt: skip
    for name, part in [("all", whole), *((f"{part['length']} tokens", part) for part in classes)]:
        if part["tokens"]:
            log.info(
                "%s: cosine %.4f on average, %.4f median, %.4f at 5 %%; %.1f %% of %d below 0.9", name,
                part["mean"], part["quantiles"]["0.5"], part["quantiles"]["0.05"],
                100 * part["share_below"]["0.9"], part["tokens"],
            )  # fmt: skip
