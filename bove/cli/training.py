"""What both trainers share: their arguments, their data, and the model that they write."""

import argparse
import csv
import logging
import math
import platform
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np

from bove import __version__
from bove.errors import BoveError
from bove.factor.model import Model
from bove.factor.penalties import PENALTIES, check_penalty
from bove.files import atomic_write
from bove.graphs import GraphCorpus
from bove.text.graphs import load_graphs
from bove.text.vectors import WordVectors, pretrained_rows
from bove.text.vocabulary import Vocabulary

log = logging.getLogger("bove")
TIMES = (
    "L and the seconds of training (wall clock) up to the end of each round; checkpoints do not count, nor "
    "do L and held-out sentences in train-sgd; a resumed training counts on from its checkpoint"
)


@dataclass(frozen=True)
class TrainingData:
    """Graphs with their vocabulary, and the pretrained vectors [m, r] of its frozen words [c] bool."""

    corpus: GraphCorpus
    vocabulary: Vocabulary
    vectors: np.ndarray
    frozen: np.ndarray

    @property
    def groups(self) -> dict[str, slice]:
        """Rows of P by kind; each is a term of L."""
        words = self.vocabulary.n_words
        return {"words": slice(0, words), "tags": slice(words, self.vocabulary.n_properties)}


def add_common_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of every trainer."""
    add = parser.add_argument
    add("--graphs", required=True, metavar="FILE", help="graphs of the treebank")
    add("--vocabulary", required=True, metavar="FILE", help="vocabulary.json")
    add("--vectors", metavar="FILE", help="pretrained vectors; their words are frozen")
    add("--rank", type=int, required=True, help="length of all vectors")
    add("--alpha", type=float, required=True, help="weight of relations against properties")
    for name in ("P", "R", "E"):
        add(f"--lambda-{name}", dest=f"lambda_{name}", type=float, required=True, help=f"penalty on {name}")
    add("--dtype", choices=("float32", "float64"), required=True, help="precision of training")
    add("--seed", type=int, required=True, help="of the random start")
    add("--output", required=True, metavar="FILE", help="model.safetensors to write")
    add("--training-log", required=True, metavar="FILE", help="CSV to write: L by term, a row a round")
    add("--times", metavar="FILE", help=f"CSV to write: {TIMES}")


def add_penalty_arguments(parser: argparse.ArgumentParser) -> None:
    """What lambda_P and lambda_R weigh; `check_penalties` says whether the factor has such a penalty."""
    for factor, kinds in PENALTIES.items():
        parser.add_argument(
            f"--{factor.lower()}-penalty", required=True, metavar="KIND",
            help=f"form of the penalty on {factor}: {', '.join(kinds)}",
        )  # fmt: skip


def check_penalties(args) -> None:
    """Raise BoveError for a penalty that is none, or none of its factor."""
    for factor in PENALTIES:
        check_penalty(factor, getattr(args, f"{factor.lower()}_penalty"), f"--{factor.lower()}-penalty")


def check_least(args, least: Mapping[str, int]) -> None:
    """Raise BoveError for an argument below the number given for it."""
    for name, bound in least.items():
        if getattr(args, name) < bound:
            raise BoveError(f"--{name.replace('_', '-')} {getattr(args, name)}: must be at least {bound}")


def check_weights(args, names: Sequence[str]) -> None:
    """Raise BoveError for an argument that is no finite number of at least 0."""
    for name in names:
        value = getattr(args, name)
        if not (math.isfinite(value) and value >= 0):
            raise BoveError(f"--{name.replace('_', '-')} {value}: must be a number of at least 0")


class Stopped(BaseException):
    """SIGTERM came."""


@contextmanager
def stoppable() -> Iterator[None]:
    """Within the block SIGTERM raises Stopped, so that the stage can leave in good order."""

    def stop(*_):
        raise Stopped

    old = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, old)


def load_training_data(args) -> TrainingData:
    """Read graphs, vocabulary and vectors, and see that they fit together."""
    vocabulary = Vocabulary.load(args.vocabulary)
    corpus = load_graphs(args.graphs)
    if corpus.vocabulary_hash != vocabulary.hash:
        raise BoveError(
            f"{args.graphs}: encoded with another vocabulary than {args.vocabulary}; encode it again"
        )
    if len(corpus.extra):
        raise BoveError(
            f"{args.graphs}: has words from outside the vocabulary; encode the treebank without --vectors"
        )
    if not corpus.n_tokens:
        raise BoveError(f"{args.graphs}: holds no tokens, so there is nothing to train on; give a treebank")
    frozen = np.zeros(vocabulary.n_properties, bool)
    rows = np.zeros((0, args.rank), np.float32)
    if args.vectors:
        vectors = WordVectors.open(args.vectors)
        if vectors.dimensions != args.rank:
            raise BoveError(
                f"{args.vectors}: vectors of {vectors.dimensions} dimensions, but the rank is {args.rank}; "
                f"set rank to {vectors.dimensions} or give other vectors"
            )
        found = pretrained_rows(vocabulary, vectors)
        frozen[: vocabulary.n_words] = found >= 0
        rows = vectors.rows(found[found >= 0])
    counts = np.array(vocabulary.word_counts, np.int64)
    held = int(counts[frozen[: vocabulary.n_words]].sum())
    log.info(
        "%d graphs, %d tokens, %d arcs of %d relations", corpus.n_graphs, corpus.n_tokens,
        len(corpus.arc_relation), corpus.n_relations,
    )  # fmt: skip
    log.info(
        "%d of %d words (%d of %d tokens) have a pretrained vector and are frozen",
        int(frozen.sum()), vocabulary.n_words, held, int(counts.sum()),
    )  # fmt: skip
    return TrainingData(corpus, vocabulary, rows, frozen)


def warn_of_no_relations(R, settings) -> None:
    """Say where the penalty has left nothing of R, though relations have a weight."""
    if settings.alpha and not R.any():
        log.warning("every relation is 0: lambda_R is too large for the %s penalty", settings.r_penalty)


def log_terms(rows, relations, seconds: float) -> None:
    """One line for the last round, which took so many seconds."""
    row = rows[-1]
    change = f"{row['total'] / rows[-2]['total'] - 1:+.3%}" if len(rows) > 1 else "first"
    arcs = sum(row[f"relation:{k}"] for k in range(len(relations)))
    log.info(
        "round %d%s: L %.6g (%s) = words %.5g + tags %.5g + relations %.5g + penalties %.5g; "
        "R-step %d iterations, residual %.1e%s; %.1f s",
        row["round"], " (restart)" if row["restart"] else "", row["total"], change, row["words"], row["tags"],
        arcs, row["lambda_P"] + row["lambda_R"] + row["lambda_E"], row["r_iterations"], row["r_residual"],
        f"; P-step {row['p_iterations']}, {row['p_residual']:.1e}" if row["p_iterations"] else "",
        seconds,
    )  # fmt: skip


def write_training_log(path, rows, relations) -> None:
    """CSV with a row a round and a column a term of L, relations by name."""
    names = {f"relation:{k}": f"relation:{name}" for k, name in enumerate(relations)}
    with atomic_write(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([names.get(column, column) for column in rows[0]])
        writer.writerows(
            [repr(value) if isinstance(value, float) else value for value in row.values()] for row in rows
        )


def write_times(path, rows, seconds: Sequence[float]) -> None:
    """CSV with a row a round: its number, the seconds of training up to its end, and L; none without a path.

    A file of its own, since it is not the same bytes each time.
    """
    if path is None:
        return
    with atomic_write(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["round", "seconds", "total"])
        writer.writerows(
            [row["round"], f"{passed:.3f}", repr(row["total"])]
            for row, passed in zip(rows, seconds, strict=True)
        )


def make_model(data: TrainingData, args, P, R, hyperparameters: dict) -> Model:
    """The model with its provenance."""
    versions = {"bove": __version__, "python": platform.python_version()}
    versions |= {name: version(name) for name in ("numpy", "scipy")}
    return Model(
        properties=P,
        relations=np.ascontiguousarray(R),
        frozen=data.frozen,
        groups={name: (rows.start, rows.stop) for name, rows in data.groups.items()},
        relation_names=tuple(data.vocabulary.relations),
        vocabulary_hash=data.vocabulary.hash,
        hyperparameters=hyperparameters
        | {"rank": args.rank, "seed": args.seed, "graphs": Path(args.graphs).name},
        versions=versions,
    )
