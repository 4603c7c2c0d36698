"""`bove infer`: a bag of vectors for every graph."""

import argparse
import csv
import logging
from functools import cache

import numpy as np

from bove.bags import BagWriter
from bove.cli.progress import Progress
from bove.cli.punctuation import count_kept, is_punctuation, kept_tokens, log_left_out
from bove.errors import BoveError
from bove.factor.batches import Workers, plan_batches, ranges, take_batch
from bove.factor.inference import FixedPoint, infer_averaged
from bove.factor.lowrank import LowRank
from bove.factor.model import Model
from bove.factor.steps import EStep
from bove.files import atomic_write
from bove.text.conll import read_sentences
from bove.text.graphs import load_graphs
from bove.text.vectors import WordVectors
from bove.text.vocabulary import Vocabulary

log = logging.getLogger("bove")
SYSTEMS = ("word-vectors", "properties-only", "bove")
NEEDS = {
    "word-vectors": ("vectors", "vocabulary", "sentences"),
    "properties-only": ("model", "graphs", "batch_tokens"),
    "bove": ("model", "graphs", "batch_tokens", "solver", "iterations", "tolerance", "energy"),
}


def register(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--system", choices=SYSTEMS, required=True, help="what makes the vectors")
    add("--model", metavar="FILE", help="model.safetensors")
    add("--graphs", metavar="FILE", help="graphs to embed")
    add("--solver", choices=("fixed-point", "averaged"), help="how the fixed point is found")
    add("--iterations", type=int, help="most iterations")
    add(
        "--tolerance",
        type=float,
        help="stop where no token vector changes by more than this share (0: never)",
    )
    add("--energy", type=float, help="share of each relation's energy that its factors keep (fixed-point)")
    add("--batch-tokens", type=int, help="tokens in a batch")
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
    add("--report", metavar="FILE", help="CSV to write: tokens, iterations and last change of each sentence")
    add("--output", required=True, metavar="FILE", help="bags.safetensors to write")


def run(args: argparse.Namespace) -> None:
    needs = dict.fromkeys(NEEDS[args.system] + (() if args.punctuation else ("sentences",)))
    missing = [name for name in needs if getattr(args, name) is None]
    if missing:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in missing)
        given = f"--system {args.system}" + ("" if args.punctuation else " --no-punctuation")
        raise BoveError(f"{given} needs {flags}")
    if args.system == "word-vectors":
        _word_vectors(args)
    else:
        _infer(args)


def _word_vectors(args) -> None:
    """The baseline: the pretrained vectors of the sentence's words; words without one are left out."""
    vocabulary, vectors = Vocabulary.load(args.vocabulary), WordVectors.open(args.vectors)
    row_of = cache(lambda form: vectors.first(vocabulary.variants(form)))
    ids, rows, found, tokens = [], [], [], 0
    for path in args.sentences:
        for sentence in read_sentences(path):
            known = [form for form in sentence.forms if row_of(form) >= 0]
            kept = known if args.punctuation else [form for form in known if not is_punctuation(form)]
            ids.append(sentence.id)
            rows.append(tuple(map(row_of, kept)))
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
    model, corpus = Model.load(args.model), load_graphs(args.graphs)
    model.check(corpus, args.graphs)
    _check_ids(args.graphs, corpus.ids)
    if args.batch_tokens < 1 or (args.iterations is not None and args.iterations < 1):
        raise BoveError("--batch-tokens and --iterations must be at least 1")
    if len(corpus.extra) and corpus.extra.shape[1] != model.rank:
        raise BoveError(
            f"{args.graphs}: words with vectors of {corpus.extra.shape[1]} dimensions, but the model has "
            f"rank {model.rank}; encode the sentences with the model's vectors"
        )
    infer = _solver(args, model, corpus)
    kept = np.ones(corpus.n_tokens, bool)
    if not args.punctuation:
        kept = kept_tokens(corpus, args.graphs, args.sentences)
    first, index = corpus.distinct(kept)
    sizes = count_kept(corpus, kept)
    plan = plan_batches(corpus.lengths[first], args.batch_tokens)
    used, change = np.zeros(len(first), np.int64), np.zeros(len(first))
    writer = BagWriter(args.output, corpus.ids, sizes[first], index, model.rank, args.system, model.hash)
    dtype = model.properties.dtype
    with writer, Workers(args.threads) as workers, Progress(len(first), "sentences") as progress:
        results = workers.map(lambda bags: infer(take_batch(corpus, first[bags], dtype)), plan)
        for bags, got in zip(plan, results, strict=True):
            _check_finite(got.E, corpus, first[bags])
            tokens, _ = ranges(corpus.token_offsets, first[bags])
            writer.put_many(bags, got.E[kept[tokens]])
            used[bags], change[bags] = got.iterations, got.change
            progress.step(len(bags))
    _report(args, corpus, index, used, change, progress.rate)
    if not args.punctuation:
        log_left_out(corpus.lengths, sizes)


def _check_finite(E, corpus, graphs) -> None:
    """BoveError for a batch [b n, r] of which a graph has diverged under every solver."""
    bad = ~np.isfinite(E).reshape(len(graphs), -1).all(axis=1)
    if bad.any():
        name = corpus.ids[graphs[np.flatnonzero(bad)[0]]]
        raise BoveError(
            f"sentence '{name}': its bag is not finite, since inference diverged; "
            "train with a lower alpha, or a higher lambda_R or lambda_E"
        )


def _solver(args, model: Model, corpus):
    """A function from a batch to its bags."""
    P = model.properties
    PtP = P.T @ P
    if len(corpus.extra):
        P = np.concatenate([P, corpus.extra.astype(P.dtype)])
    alpha, lambda_E = model.hyperparameters["alpha"], model.hyperparameters["lambda_E"]
    if args.system == "properties-only":
        none = LowRank(
            np.zeros((model.rank, 0), P.dtype), np.zeros((model.rank, 0), P.dtype), np.zeros(0, int)
        )
        solver = FixedPoint(P, PtP, none, 0.0, lambda_E)
        return lambda batch: solver.infer(batch, iterations=1, tolerance=0)
    options = {"iterations": args.iterations, "tolerance": args.tolerance}
    if args.solver == "averaged":
        kernel = EStep(P, PtP, model.dense_relations(), alpha, lambda_E)
        return lambda batch: infer_averaged(kernel, batch, **options)
    factors = model.relations
    if args.energy < 1 or not isinstance(factors, LowRank):
        factors = model.compress(args.energy).relations
    log.info("relations: %d of %d singular values kept", factors.ranks.sum(), len(factors.ranks) * model.rank)
    solver = FixedPoint(
        P, PtP, factors, alpha, lambda_E, lambda: EStep(P, PtP, factors.dense(), alpha, lambda_E)
    )
    return lambda batch: solver.infer(batch, **options)


def _report(args, corpus, index, used, change, rate) -> None:
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
            writer.writerow(["id", "tokens", "iterations", "change"])
            for s, (name, b) in enumerate(zip(corpus.ids, index, strict=True)):
                writer.writerow([name, int(corpus.lengths[s]), int(used[b]), repr(float(change[b]))])
