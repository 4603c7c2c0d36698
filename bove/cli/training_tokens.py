"""The bove vectors of all tokens of a treebank, inferred once and kept in a file."""

import json
import logging
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from bove.bags import Bags, BagWriter
from bove.cli.progress import Progress
from bove.embedder import Embedder
from bove.errors import BoveError
from bove.factor.batches import Workers, plan_batches, ranges
from bove.factor.embedding import Inference, infer_batches
from bove.files import sha256
from bove.graphs import GraphCorpus
from bove.text.conll import Sentence

log = logging.getLogger("bove")


@dataclass(frozen=True)
class TrainingTokens:
    """Token vectors of a treebank; sentences whose graphs are equal share theirs, and count once.

    Attributes:
        vectors: [N, r], mapped.
        sentences: [N] int64, the first sentence that each vector belongs to.
        places: [N] int64, its token there.
        alike: [N] int64, how many sentences share it.
    """

    vectors: np.ndarray
    sentences: np.ndarray
    places: np.ndarray
    alike: np.ndarray


@contextmanager
def training_tokens(
    embedder: Embedder, corpus: GraphCorpus, graphs: Path, cache: Path | None, limit: int | None, threads: int
) -> Iterator[TrainingTokens]:
    """The token vectors of a treebank's graphs: from the file `cache` if it has them, else inferred.

    Args:
        corpus: the treebank's graphs. graphs: their file.
        cache: where the vectors are kept; None keeps them nowhere.
        limit: take only so many sentences, from the first; what is inferred is then not kept.

    Raises:
        BoveError: graphs of another vocabulary, or a damaged file.
    """
    identity = _identity(embedder, graphs)
    with tempfile.TemporaryDirectory() as folder:
        kept = _kept(cache, identity)
        if kept is None:
            whole = limit is None and cache is not None and _can_write(cache)
            file = cache if whole else Path(folder, "tokens.safetensors")
            some = _first(corpus, limit)
            if whole:
                log.info("training tokens: inferring %d sentences once, for %s", some.n_graphs, file)
            _infer(embedder, some, graphs, file, identity, threads)
            kept = Bags.open(file)
        yield _tokens(kept, limit)


def check_treebank(corpus: GraphCorpus, sentences: Sequence[Sentence], path: Path) -> None:
    """BoveError unless the graphs are of the sentences of the file `path`, by number, ids and lengths."""
    ours = list(zip(corpus.ids or [""] * corpus.n_graphs, corpus.lengths.tolist(), strict=True))
    theirs = [(sentence.id if corpus.ids else "", len(sentence.forms)) for sentence in sentences]
    if ours == theirs:
        return
    what = f"{len(theirs)} sentences, but the graphs are of {len(ours)}"
    if len(ours) == len(theirs):
        s = next(s for s, (one, other) in enumerate(zip(ours, theirs, strict=True)) if one != other)
        (name, size), (other, length) = ours[s], theirs[s]
        what = f"sentence {other!r} of {length} tokens where the graphs have {name!r} of {size}"
    raise BoveError(f"{path}: {what}; give the treebank that the model was trained on")


def _identity(embedder, graphs) -> dict[str, str]:
    """What the vectors depend on."""
    options = json.dumps(asdict(embedder.settings.options), sort_keys=True)
    return {"inference": options, "graphs_sha256": sha256(graphs), "model_hash": embedder.model.hash}


def _kept(cache, identity) -> Bags | None:
    """The file of vectors, if it is there and of this model, these graphs and settings."""
    if cache is None or not cache.is_file():
        return None
    bags = Bags.open(cache)
    if all(bags.metadata.get(name) == value for name, value in identity.items()):
        return bags
    log.info("%s: of another model or other settings, so it is made again", cache)
    return None


def _can_write(path: Path) -> bool:
    folder = next(parent for parent in path.absolute().parents if parent.is_dir())
    if os.access(folder, os.W_OK):
        return True
    log.info("%s: can not be written, so the training tokens are not kept", path)
    return False


def _first(corpus: GraphCorpus, limit: int | None) -> GraphCorpus:
    """The corpus of the first sentences."""
    size = corpus.n_graphs if limit is None else min(limit, corpus.n_graphs)
    tokens, arcs = corpus.token_offsets[size], corpus.arc_offsets[size]
    entries = corpus.property_offsets[tokens]
    return GraphCorpus(
        token_offsets=corpus.token_offsets[: size + 1],
        property_offsets=corpus.property_offsets[: tokens + 1],
        properties=corpus.properties[:entries],
        arc_offsets=corpus.arc_offsets[: size + 1],
        arc_relation=corpus.arc_relation[:arcs],
        arc_head=corpus.arc_head[:arcs],
        arc_dependent=corpus.arc_dependent[:arcs],
        n_properties=corpus.n_properties,
        n_relations=corpus.n_relations,
        extra=corpus.extra,
        ids=corpus.ids[:size],
        vocabulary_hash=corpus.vocabulary_hash,
    )


def _infer(embedder: Embedder, corpus, graphs, file, identity, threads) -> None:
    model, settings = embedder.model, embedder.settings
    infer = Inference(model, "bove", settings.options).solver(corpus, str(graphs))
    first, index = corpus.distinct()
    # a treebank may give an id twice, so its sentences are numbered
    numbers = [str(s) for s in range(corpus.n_graphs)]
    more = {name: value for name, value in identity.items() if name != "model_hash"}
    writer = BagWriter(file, numbers, corpus.lengths[first], index, model.rank, "bove", model.hash, more)
    with writer, Workers(threads) as workers, Progress(len(first), "sentences") as progress:
        dtype = model.properties.dtype
        plan = plan_batches(corpus.lengths[first], settings.batch_tokens)
        for bags, got in infer_batches(infer, corpus, first, plan, dtype, workers):
            writer.put_many(bags, got.E)
            progress.step(len(bags))


def _tokens(bags: Bags, limit: int | None) -> TrainingTokens:
    """Bags stand in the order in which their graphs first appear, so the first sentences have the first."""
    index = bags.index if limit is None else bags.index[:limit]
    _, first, alike = np.unique(index, return_index=True, return_counts=True)
    members = np.arange(len(first))
    rows, bag = ranges(bags.offsets, members)
    return TrainingTokens(
        vectors=bags.vectors[: len(rows)],
        sentences=first[bag],
        places=rows - bags.offsets[:-1][bag],
        alike=alike[bag],
    )
