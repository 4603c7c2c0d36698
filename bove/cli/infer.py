"""`bove infer`: a bag of vectors for every graph."""

import argparse
import csv
import json
import logging
from dataclasses import asdict
from pathlib import Path

import numpy as np

from bove import __version__
from bove.bags.shards import REPORT, Layout, ShardWriter, read_shard
from bove.bags.store import Bags, BagWriter
from bove.cli.common import Progress, add_settings, count_kept, flag, kept_tokens, log_left_out
from bove.errors import BoveError
from bove.evaluate.comparisons import by_length, compare_bags, summarise_bags
from bove.factor.graphs import GraphCorpus
from bove.factor.inference import Inference, infer_batches
from bove.factor.model import Model
from bove.factor.parallel import Batch, Workers, plan_batches
from bove.factor.settings import InferenceSettings, make
from bove.files import atomic_write, sha256
from bove.text.conll import read_sentences
from bove.text.graphs import load_graphs
from bove.text.tokens import is_punctuation
from bove.text.vectors import WordLookup, WordVectors
from bove.text.vocabulary import Vocabulary

log = logging.getLogger("bove")
NEEDS = {
    "word-vectors": ("vectors", "vocabulary", "sentences"),
    "properties-only": ("model", "graphs"),
    "bove": ("model", "graphs"),
}


def register_infer(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--system", choices=tuple(NEEDS), required=True, help="what makes the vectors")
    add("--model", metavar="FILE", help="model.safetensors")
    add("--graphs", metavar="FILE", help="graphs to embed")
    add_settings(parser, InferenceSettings)
    add("--vectors", metavar="FILE", help="word-vectors: the vectors")
    add("--vocabulary", metavar="FILE", help="word-vectors: how words are looked up")
    add(
        "--sentences",
        nargs="+",
        metavar="FILE",
        help="word-vectors, --no-punctuation: the sentences (of the graphs), CoNLL-U",
    )
    add(
        "--punctuation",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="write vectors of punctuation too; in inference it takes part anyway",
    )
    add("--shard", metavar="I/N", help="infer the I-th of N slices of the graphs, for `bove gather-bags`")
    add("--report", metavar="FILE", help="CSV to write: tokens, iterations and last change of each sentence")
    add("--output", required=True, metavar="FILE", help="bags.safetensors to write")


def run_infer(args: argparse.Namespace) -> None:
    needs = dict.fromkeys(NEEDS[args.system] + (() if args.punctuation else ("sentences",)))
    missing = [name for name in needs if getattr(args, name) is None]
    if missing:
        flags = ", ".join(map(flag, missing))
        given = f"--system {args.system}" + ("" if args.punctuation else " --no-punctuation")
        raise BoveError(f"{given} needs {flags}")
    if args.shard and args.system == "word-vectors":
        raise BoveError("--shard is of inference from graphs; look words up at once, without it")
    if args.system == "word-vectors":
        _word_vectors(args)
    else:
        _infer(args)


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
    _check_ids(", ".join(args.sentences), ids)
    bags = {bag: b for b, bag in enumerate(dict.fromkeys(rows))}
    index = [bags[bag] for bag in rows]
    with BagWriter(
        args.output,
        ids,
        [len(bag) for bag in bags],
        index,
        vectors.dimensions,
        "word-vectors",
        vectors.source_sha256,
    ) as writer:
        for bag, b in bags.items():
            writer.put(b, vectors.rows(np.array(bag, np.int64)))
    log.info("%d sentences, %d of %d tokens have a vector", len(ids), sum(found), tokens)
    if not args.punctuation:
        log_left_out(found, [len(row) for row in rows])


def _check_ids(where, ids) -> None:
    """A bag is found by its sentence's id, so none may stand twice."""
    seen: set[str] = set()
    for name in ids:
        if name in seen:
            raise BoveError(
                f"{where}: two sentences have the id {name!r}; give each its own in a comment '# sent_id = …'"
            )
        seen.add(name)


def _infer(args) -> None:
    settings = make(InferenceSettings, vars(args), flag)
    shard = read_shard(args.shard) if args.shard else None
    model, corpus = Model.load(args.model), load_graphs(args.graphs)
    model.check(corpus, args.graphs)
    _check_ids(args.graphs, corpus.ids)
    inference = Inference(model, args.system, settings)
    if args.system == "bove" and inference.factors is not None:
        ranks = inference.factors.ranks
        log.info("relations: %d of %d singular values kept", ranks.sum(), len(ranks) * model.rank)
    infer = inference.solver(corpus, args.graphs)
    layout, kept = bag_layout(args, corpus)
    plan = plan_batches(corpus.lengths[layout.first], settings.batch_tokens)
    used, change = np.zeros(len(layout.first), np.int64), np.zeros(len(layout.first))
    if shard:
        plan = plan[shard[0] - 1 :: shard[1]]
        made_by = (model.rank, args.system, model.hash, _common(settings))
        writer = ShardWriter(args.output, layout, shard, plan, *made_by)
    else:
        writer = layout.writer(args.output, model.rank, args.system, model.hash)
    batches = (Batch(corpus, layout.first[bags], model.properties.dtype) for bags in plan)
    with writer, Workers(args.threads) as workers, Progress(sum(map(len, plan)), "sentences") as progress:
        for batch, got in infer_batches(infer, batches, workers):
            bags = layout.index[batch.graphs]
            writer.put_many(bags, got.E[kept[batch.tokens]])
            used[bags], change[bags] = got.iterations, got.change
            progress.step(len(bags))
    rows = layout.first[np.sort(np.concatenate([np.zeros(0, np.int64), *plan]))] if shard else None
    _report(args, corpus, layout.index, used, change, progress.rate, rows)
    if not (args.punctuation or shard):
        log_left_out(corpus.lengths, count_kept(corpus, kept))


def bag_layout(args: argparse.Namespace, corpus: GraphCorpus) -> tuple[Layout, np.ndarray]:
    """The bags that are asked for, and [T] which tokens of the corpus are in them.

    Args:
        args: graphs, the name of the corpus' file; punctuation, and without it the sentences' files.

    Raises:
        BoveError: sentences that are not those of the graphs.
    """
    kept = np.ones(corpus.n_tokens, bool)
    if not args.punctuation:
        kept = kept_tokens(corpus, args.graphs, args.sentences)
    first, index = corpus.distinct(kept)
    return Layout.of(corpus.ids, first, index, count_kept(corpus, kept), kept, sha256(args.graphs)), kept


def _common(settings: InferenceSettings) -> dict[str, str]:
    """What all shards of a whole have in common, as their files say it."""
    return {"bove": __version__} | {name: str(value) for name, value in asdict(settings).items()}


def _report(args, corpus, index, used, change, rate, rows=None) -> None:
    """Say how inference went; the file has the sentences `rows`, by default all."""
    some = used > 0
    log.info(
        "%d sentences (%d distinct, %d empty), %.0f distinct a second; iterations: mean %.1f, most %d",
        corpus.n_graphs, len(used), int((corpus.lengths == 0).sum()), rate,
        used[some].mean() if some.any() else 0, used.max(initial=0),
    )  # fmt: skip
    if args.system == "bove" and args.tolerance:
        open_ = int((change >= args.tolerance).sum())
        if open_:
            log.warning("%d distinct sentences still moved by %g or more", open_, args.tolerance)
    if args.report:
        with atomic_write(args.report) as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(REPORT)
            for s in range(corpus.n_graphs) if rows is None else rows:
                b = index[s]
                writer.writerow([corpus.ids[s], int(corpus.lengths[s]), int(used[b]), repr(float(change[b]))])


# `bove gather-bags`: the bags of all shards of `bove infer`, in the graphs' order.


def register_gather_bags(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add = parser.add_argument
    add("--graphs", required=True, metavar="FILE", help="the graphs of all shards")
    add("--shards", required=True, nargs="+", metavar="FILE", help="all files of `bove infer --shard`")
    add("--sentences", nargs="+", metavar="FILE", help="--no-punctuation: the graphs' sentences, CoNLL-U")
    add(
        "--punctuation",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="whether the shards have vectors of punctuation",
    )
    add("--reports", nargs="+", metavar="FILE", help="what `bove infer --shard --report` wrote of all shards")
    add("--report", metavar="FILE", help="CSV to write from these: tokens, iterations, last change")
    add("--output", required=True, metavar="FILE", help="bags.safetensors, as inference at once writes it")


def run_gather_bags(args: argparse.Namespace) -> None:
    """Check that the shards are one whole and of these graphs, and write all bags."""
    from bove.bags.shards import gather, gather_reports
    from bove.cli.common import count_kept, log_left_out
    from bove.text.graphs import load_graphs

    if not args.punctuation and args.sentences is None:
        raise BoveError("--no-punctuation needs --sentences")
    if (args.reports is None) != (args.report is None):
        raise BoveError("--reports and --report belong together; give both or neither")
    corpus = load_graphs(args.graphs)
    layout, kept = bag_layout(args, corpus)
    gather(args.shards, layout, args.output)
    if args.report:
        gather_reports(args.reports, layout, corpus.lengths, args.report)
    log.info(
        "%d sentences, %d distinct bags of %d shards", len(layout.ids), len(layout.first), len(args.shards)
    )
    if not args.punctuation:
        log_left_out(corpus.lengths, count_kept(corpus, kept))


# `bove compress`: a model whose relations are kept as low-rank factors.


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


# `bove compare-bags`: how far two files of bags agree, token by token.


def register_compare_bags(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    for name, example in (("first", "gold trees"), ("second", "predicted trees")):
        parser.add_argument(
            f"--{name}", required=True, metavar="BAGS", help=f"bags.safetensors, such as from {example}"
        )
    parser.add_argument(
        "--output", required=True, metavar="FILE.json", help="mean and quantiles of the tokens' cosines"
    )


def run_compare_bags(args: argparse.Namespace) -> None:
    """Compare the vectors of each token in both files."""
    first, second = Bags.open(args.first), Bags.open(args.second)
    if first.model_hash != second.model_hash:
        log.warning(
            "different models: %s (%s), %s (%s)",
            first.path,
            first.model_hash[:12] or "unknown",
            second.path,
            second.model_hash[:12] or "unknown",
        )
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
    with atomic_write(args.output) as stream:
        json.dump(content, stream, ensure_ascii=False, indent=1)
        stream.write("\n")
    log.info(
        "%d sentences (%d empty), %d tokens; zero vectors: %d in the first file, %d in the second",
        content["sentences"],
        content["empty_sentences"],
        content["tokens"],
        found.zeros["first"],
        found.zeros["second"],
    )
    for name, part in [("all", whole), *((f"{part['length']} tokens", part) for part in classes)]:
        if part["tokens"]:
            log.info(
                "%s: cosine %.4f on average, %.4f median, %.4f at 5 %%; %.1f %% of %d below 0.9",
                name,
                part["mean"],
                part["quantiles"]["0.5"],
                part["quantiles"]["0.05"],
                100 * part["share_below"]["0.9"],
                part["tokens"],
            )
