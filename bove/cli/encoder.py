"""`bove encoder`: bags of an encoder, one of each sentence's vector and one of its tokens' vectors."""

import argparse
import logging

import numpy as np

from bove.bags import SENTENCES, TOKENS
from bove.bags.baselines import comparison_of
from bove.bags.store import BagWriter
from bove.cli.common import SWITCH, Progress, check_ids
from bove.text.conll import read_sentences
from bove.text.encoders import Encoder
from bove.text.tokens import is_punctuation
from bove.text.vectors import word_evidence

log = logging.getLogger("bove")


def register_encoder(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--encoder", required=True, metavar="FOLDER", help="the encoder, as Hugging Face lays it out")
    add("--name", default="encoder", help="what the bags' systems begin with (default encoder)")
    add("--sentences", required=True, metavar="FILE", help="the sentences, CoNLL-U")
    about = "whether the tokens' bags have it; the encoder reads it anyway"
    add("--punctuation", action=SWITCH, default=True, help=about)
    add("--output", required=True, metavar="FILE", help="bags of the tokens to write")
    add("--sentence-output", required=True, metavar="FILE", help="bags of the sentences to write")


def run_encoder(args: argparse.Namespace) -> None:
    """Encode each distinct sentence once, and write both files of bags."""
    encoder = Encoder(args.encoder, args.threads)
    sentences = list(read_sentences(args.sentences))
    ids = [sentence.id for sentence in sentences]
    check_ids(args.sentences, ids)
    bags = {forms: b for b, forms in enumerate(dict.fromkeys(sentence.forms for sentence in sentences))}
    texts, index = list(bags), [bags[sentence.forms] for sentence in sentences]
    everything = args.punctuation
    kept = [np.array([everything or not is_punctuation(form) for form in forms], bool) for forms in texts]
    outputs = (
        (args.output, TOKENS, [int(some.sum()) for some in kept], encoder.rank),
        (args.sentence_output, SENTENCES, [min(len(forms), 1) for forms in texts], encoder.sentence_rank),
    )
    writers = [_writer(args.name + kind, path, ids, lengths, index, rank, encoder.hash)
               for path, kind, lengths, rank in outputs]  # fmt: skip
    lost = cut = 0
    with writers[0] as of_tokens, writers[1] as of_sentences, Progress(len(texts), "sentences") as progress:
        for b, found in encoder.encode(texts):
            own = found.tokens[kept[b]]
            of_tokens.put(b, own, word_evidence(own))
            if texts[b]:
                of_sentences.put(b, found.sentence[None])
            lost, cut = lost + int((~own.any(axis=1)).sum()), cut + found.cut
            progress.step(1)
    log.info("%d sentences, %d distinct, %.0f of these a second", len(ids), len(texts), progress.rate)
    if lost:
        said = "%d tokens have no vector; %d tokens are beyond what the encoder reads of a sentence"
        log.warning(said, lost, cut)


def _writer(system: str, path: str, ids, lengths, index, rank: int, source: str) -> BagWriter:
    more = comparison_of(system)
    return BagWriter(path, ids, lengths, index, rank, system, source, more, evidence=not more)
