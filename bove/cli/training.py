"""What both trainers share: their arguments, their data, and the model that they write."""

import argparse
import csv
import logging
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from bove.errors import BoveError
from bove.factor.model import Model
from bove.factor.peers import Peers
from bove.factor.penalties import PENALTIES
from bove.factor.training import Checks, TrainingData, findings, make_model
from bove.files import atomic_write, check_target
from bove.text.graphs import load_graphs
from bove.text.vectors import WordVectors, pretrained_rows
from bove.text.vocabulary import Vocabulary

log = logging.getLogger("bove")
TIMES = (
    "L and the seconds of training (wall clock) up to the end of each round; checkpoints do not count, nor "
    "do L and held-out sentences in train-sgd; a resumed training counts on from its checkpoint"
)


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
    """What lambda_P and lambda_R weigh; `Checks` says whether the factor has such a penalty."""
    for factor, kinds in PENALTIES.items():
        parser.add_argument(
            f"--{factor.lower()}-penalty", required=True, metavar="KIND",
            help=f"form of the penalty on {factor}: {', '.join(kinds)}",
        )  # fmt: skip


def add_mpi_argument(parser: argparse.ArgumentParser) -> None:
    """How many processes of MPI share the training."""
    parser.add_argument(
        "--mpi", type=int, default=1, metavar="N",
        help="processes that an MPI launcher has started (mpiexec -n N bove … --mpi N), each to have a part "
        "of the graphs (default 1: no MPI)",
    )  # fmt: skip


def checks(args, **other) -> Checks:
    """Checks of the arguments, shown as options; `other` values stand for those of the same name."""
    return Checks({**vars(args), **other}, lambda name: f"--{name.replace('_', '-')}")


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


def load_training_data(args, peers: Peers | None = None) -> TrainingData:
    """Read graphs, vocabulary and vectors, and see that they fit together.

    With peers the graphs are the part of this process.
    """
    peers = peers or Peers()
    with peers.together():
        # hours before they are written
        for path in filter(None, (args.output, args.training_log, args.times)):
            check_target(path)
        vocabulary, data = _read_training_data(args, (peers.number, peers.count))
    corpus = data.corpus
    graphs, tokens, arcs = peers.sum(np.array([corpus.n_graphs, corpus.n_tokens, len(corpus.arc_relation)]))
    if not tokens:
        raise BoveError(f"{args.graphs}: holds no tokens, so there is nothing to train on; give a treebank")
    log.info("%d graphs, %d tokens, %d arcs of %d relations", graphs, tokens, arcs, corpus.n_relations)
    counts = np.array(vocabulary.word_counts, np.int64)
    held = int(counts[data.frozen[: vocabulary.n_words]].sum())
    log.info(
        "%d of %d words (%d of %d tokens) have a pretrained vector and are frozen",
        int(data.frozen.sum()), vocabulary.n_words, held, int(counts.sum()),
    )  # fmt: skip
    if peers.count > 1:
        shares = [int(n) for n in peers.every(corpus.n_tokens)]
        log.info("%d processes have %d to %d tokens each", peers.count, min(shares), max(shares))
    return data


def _read_training_data(args, part: tuple[int, int]) -> tuple[Vocabulary, TrainingData]:
    vocabulary = Vocabulary.load(args.vocabulary)
    corpus = load_graphs(args.graphs, part)
    if corpus.vocabulary_hash != vocabulary.hash:
        raise BoveError(
            f"{args.graphs}: encoded with another vocabulary than {args.vocabulary}; encode it again"
        )
    if len(corpus.extra):
        raise BoveError(
            f"{args.graphs}: has words from outside the vocabulary; encode the treebank without --vectors"
        )
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
    words, end = vocabulary.n_words, vocabulary.n_properties
    groups = {"words": slice(0, words), "tags": slice(words, end)}
    return vocabulary, TrainingData(corpus, rows, frozen, groups, vocabulary.relations)


def say_findings(rows, R, settings, ones: int, groups) -> None:
    """Warn of what the trained model's user should know."""
    for line in findings(rows, R, settings, ones, groups):
        log.warning("%s", line)


def log_terms(rows, relations, seconds: float) -> None:
    """One line for the last round, which took so many seconds."""
    row = rows[-1]
    change = f"{row['total'] / rows[-2]['total'] - 1:+.3%}" if len(rows) > 1 else "first"
    arcs = sum(row[f"relation:{k}"] for k in range(len(relations)))
    log.info(
        "round %d%s: L %.6g (%s) = words %.5g + tags %.5g + relations %.5g + penalties %.5g; "
        "R-step %d iterations, residual %.1e%s%s; %.1f s",
        row["round"], " (restart)" if row["restart"] else "", row["total"], change, row["words"], row["tags"],
        arcs, row["lambda_P"] + row["lambda_R"] + row["lambda_E"], row["r_iterations"], row["r_residual"],
        f"; P-step {row['p_iterations']}, {row['p_residual']:.1e}" if row["p_iterations"] else "",
        f"; {row['exchanged_bytes'] / 1e6:.1f} MB exchanged" if "exchanged_bytes" in row else "",
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


def model_of(data: TrainingData, args, P, R, hyperparameters: dict) -> Model:
    """The model, with what the arguments say of its origin."""
    origin = {"rank": args.rank, "seed": args.seed, "graphs": Path(args.graphs).name}
    return make_model(data, P, R, hyperparameters | origin)
