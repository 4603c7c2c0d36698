"""`bove encoder`: bags of an encoder, one of each sentence's vector and one of its tokens' vectors.
`bove components`: what shortens the latter to the rank of a model."""

import argparse
import logging
from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np

from bove._version import __version__
from bove.bags import SENTENCES, TOKENS
from bove.bags.shards import Layout, ShardWriter, read_shard
from bove.bags.store import Bags, BagWriter
from bove.cli.common import SWITCH, Progress, add_treebank_arguments, check_ids, read_files, versions_of
from bove.config.load import defaults
from bove.errors import BoveError
from bove.text.conll import Sentence
from bove.text.encoders import Components, Encoder, batches, distinct
from bove.text.tokens import is_punctuation
from bove.text.vectors import word_evidence

log = logging.getLogger("bove")


def register_encoder(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--encoder", required=True, metavar="FOLDER", help="the encoder, as Hugging Face lays it out")
    add("--name", default="encoder", help="what the bags' systems begin with (default encoder)")
    add("--sentences", required=True, metavar="FILE", help="the sentences, CoNLL-U or CoNLL-2009")
    add_treebank_arguments(parser)
    about = "whether the tokens' bags have it; the encoder reads it anyway"
    add("--punctuation", action=SWITCH, default=True, help=about)
    add("--shard", metavar="I/N", help="encode the I-th of N slices of the sentences, for `bove gather-bags`")
    add("--output", required=True, metavar="FILE", help="bags of the tokens to write")
    add("--sentence-output", metavar="FILE", help="bags of the sentences to write")
    add("--whole-output", metavar="FILE", help="bags of the tokens to write, punctuation included")


def run_encoder(args: argparse.Namespace) -> None:
    """Encode each distinct sentence once, and write the files of bags that are asked for."""
    shard = read_shard(args.shard) if args.shard else None
    encoder = Encoder(args.encoder, args.threads)
    sentences = list(read_files([args.sentences], args.columns, args.encoding))
    check_ids(args.sentences, [sentence.id for sentence in sentences])
    texts, _ = distinct([sentence.forms for sentence in sentences])
    plan = batches(texts)
    if shard:
        plan = plan[shard[0] - 1 :: shard[1]]
    everything = args.punctuation
    kept = [np.array([everything or not is_punctuation(form) for form in forms], bool) for forms in texts]
    writers = _writers(args, sentences, encoder, shard, plan)
    lost = cut = 0
    with ExitStack() as stack, Progress(sum(map(len, plan)), "sentences") as progress:
        of_tokens, of_sentences, of_all = (writer and stack.enter_context(writer) for writer in writers)
        for b, found in encoder.encode(texts, plan):
            own = found.tokens[kept[b]]
            of_tokens.put(b, own, word_evidence(own))
            if of_sentences and texts[b]:
                of_sentences.put(b, found.sentence[None])
            if of_all:
                of_all.put(b, found.tokens, word_evidence(found.tokens))
            lost, cut = lost + int((~own.any(axis=1)).sum()), cut + found.cut
            progress.step(1)
    log.info("%d sentences, %d distinct, %.0f of these a second", len(sentences), len(texts), progress.rate)
    if lost:
        said = "%d tokens have no vector; %d tokens are beyond what the encoder reads of a sentence"
        log.warning(said, lost, cut)


def _writers(args, sentences: list[Sentence], encoder: Encoder, shard, plan) -> Iterator[BagWriter | None]:
    """What fills the files of the tokens, the sentences and all tokens; None for what is not asked for."""
    common = {"bove": __version__, **versions_of(("sentence-transformers", "transformers", "torch"))}
    for path, kind, punctuation, rank in (
        (args.output, TOKENS, args.punctuation, encoder.rank),
        (args.sentence_output, SENTENCES, True, encoder.sentence_rank),
        (args.whole_output, TOKENS, True, encoder.rank),
    ):
        layout = Layout.encoded(sentences, args.name + kind, punctuation) if path else None
        made_by = rank, args.name + kind, encoder.hash
        if layout and shard:
            yield ShardWriter(path, layout, shard, plan, *made_by, common)
        else:
            yield layout and layout.writer(path, *made_by)


def register_components(parser: argparse.ArgumentParser) -> None:
    add, rank = parser.add_argument, defaults()["model"]["rank"]
    add("--tokens", required=True, metavar="FILE", help="an encoder's bags of the treebank's tokens")
    add("--rank", type=int, default=rank, metavar="N", help=f"of the model (default {rank})")
    add("--output", required=True, metavar="FILE", help="vectors.safetensors to write")


def run_components(args: argparse.Namespace) -> None:
    """Write what shortens the vectors of an encoder's tokens to the rank."""
    if args.rank < 1:
        raise BoveError(f"--rank {args.rank}: must be at least 1")
    bags = Bags.open(args.tokens)
    bags.check_finite()
    found = Components.learn(bags.vectors, args.rank, bags.model_hash)
    found.save(args.output)
    said = "%d vectors of %d dimensions; %d components have %.1f %% of their squared length"
    log.info(said, len(bags.vectors), bags.rank, args.rank, 100 * found.kept)
