"""`bove infer`: a bag of vectors for every graph."""

import argparse
import csv
import logging

import numpy as np

from bove.bags import BagWriter
from bove.cli.progress import Progress
from bove.cli.punctuation import count_kept, kept_tokens, log_left_out
from bove.errors import BoveError
from bove.factor.batches import Workers, ranges
from bove.factor.embedding import SOLVERS, Inference, Options, infer_batches
from bove.factor.model import Model
from bove.files import atomic_write
from bove.text.conll import read_sentences
from bove.text.graphs import load_graphs
from bove.text.vectors import WordLookup, WordVectors
from bove.text.vocabulary import Vocabulary
from bove.text.words import is_punctuation

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
    add("--solver", choices=SOLVERS, help="how the fixed point is found")
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
    model, corpus = Model.load(args.model), load_graphs(args.graphs)
    model.check(corpus, args.graphs)
    _check_ids(args.graphs, corpus.ids)
    options = None
    if args.system == "bove":
        options = Options(args.solver, args.iterations, args.tolerance, args.energy)
    inference = Inference(model, args.system, options)
    if inference.factors is not None:
        ranks = inference.factors.ranks
        log.info("relations: %d of %d singular values kept", ranks.sum(), len(ranks) * model.rank)
    infer = inference.solver(corpus, args.graphs)
    kept = np.ones(corpus.n_tokens, bool)
    if not args.punctuation:
        kept = kept_tokens(corpus, args.graphs, args.sentences)
    first, index = corpus.distinct(kept)
    sizes = count_kept(corpus, kept)
    used, change = np.zeros(len(first), np.int64), np.zeros(len(first))
    writer = BagWriter(args.output, corpus.ids, sizes[first], index, model.rank, args.system, model.hash)
    with writer, Workers(args.threads) as workers, Progress(len(first), "sentences") as progress:
        dtype = model.properties.dtype
        for bags, got in infer_batches(infer, corpus, first, args.batch_tokens, dtype, workers):
            tokens, _ = ranges(corpus.token_offsets, first[bags])
            writer.put_many(bags, got.E[kept[tokens]])
            used[bags], change[bags] = got.iterations, got.change
            progress.step(len(bags))
    _report(args, corpus, index, used, change, progress.rate)
    if not args.punctuation:
        log_left_out(corpus.lengths, sizes)


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
