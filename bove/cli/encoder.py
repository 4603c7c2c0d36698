"""`bove encoder`: bags of an encoder, one of each sentence's vector and one of its tokens' vectors.
`bove components`: what shortens the latter to the rank of a model."""

import argparse
import logging
from contextlib import ExitStack

import numpy as np

from bove.bags import SENTENCES, TOKENS
from bove.bags.baselines import comparison_of
from bove.bags.store import Bags, BagWriter
from bove.cli.common import SWITCH, Progress, add_treebank_arguments, check_ids, read_files
from bove.config.load import defaults
from bove.errors import BoveError
from bove.text.encoders import Components, Encoder, distinct
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
    add("--output", required=True, metavar="FILE", help="bags of the tokens to write")
    add("--sentence-output", metavar="FILE", help="bags of the sentences to write")
    add("--whole-output", metavar="FILE", help="bags of the tokens to write, punctuation included")


def run_encoder(args: argparse.Namespace) -> None:
    """Encode each distinct sentence once, and write the files of bags that are asked for."""
    encoder = Encoder(args.encoder, args.threads)
    sentences = list(read_files([args.sentences], args.columns, args.encoding))
    ids = [sentence.id for sentence in sentences]
    check_ids(args.sentences, ids)
    texts, index = distinct([sentence.forms for sentence in sentences])
    everything = args.punctuation
    kept = [np.array([everything or not is_punctuation(form) for form in forms], bool) for forms in texts]
    outputs = (
        (args.output, TOKENS, [int(some.sum()) for some in kept], encoder.rank),
        (args.sentence_output, SENTENCES, [min(len(forms), 1) for forms in texts], encoder.sentence_rank),
        (args.whole_output, TOKENS, list(map(len, texts)), encoder.rank),
    )
    lost = cut = 0
    with ExitStack() as stack, Progress(len(texts), "sentences") as progress:
        of_tokens, of_sentences, of_all = (
            path and stack.enter_context(_writer(args.name + kind, path, ids, *sizes, encoder.hash))
            for path, kind, lengths, rank in outputs
            for sizes in [(lengths, index, rank)]
        )
        for b, found in encoder.encode(texts):
            own = found.tokens[kept[b]]
            of_tokens.put(b, own, word_evidence(own))
            if of_sentences and texts[b]:
                of_sentences.put(b, found.sentence[None])
            if of_all:
                of_all.put(b, found.tokens, word_evidence(found.tokens))
            lost, cut = lost + int((~own.any(axis=1)).sum()), cut + found.cut
            progress.step(1)
    log.info("%d sentences, %d distinct, %.0f of these a second", len(ids), len(texts), progress.rate)
    if lost:
        said = "%d tokens have no vector; %d tokens are beyond what the encoder reads of a sentence"
        log.warning(said, lost, cut)


def _writer(system: str, path: str, ids, lengths, index, rank: int, source: str) -> BagWriter:
    more = comparison_of(system)
    return BagWriter(path, ids, lengths, index, rank, system, source, more, evidence=not more)


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
