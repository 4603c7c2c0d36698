"""The trainers: `bove train-als`, `bove train-sgd`, and `bove train-again` with another model's settings."""

import argparse
import csv
import hashlib
import json
import logging
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from glob import escape
from pathlib import Path
from typing import Any

import numpy as np

from bove import artefacts
from bove.cli.common import Progress, add_seed, add_settings, flag
from bove.errors import BoveError
from bove.factor.als import AlsState, AlsTrainer, initial_state
from bove.factor.graphs import GraphCorpus
from bove.factor.model import Model
from bove.factor.parallel import Peers, joined
from bove.factor.scale import SCALED
from bove.factor.settings import AlsSettings, SgdSettings, from_record, make, record
from bove.factor.training import Start, TrainingData, findings, make_model, sgd_library, start
from bove.files import atomic_write, check_target
from bove.text.graphs import load_graphs
from bove.text.vectors import WordVectors, pretrained_rows
from bove.text.vocabulary import Vocabulary

log = logging.getLogger("bove")


@dataclass(frozen=True)
class Job:
    """What a training reads, writes and is given beside its settings; vectors and times may be None."""

    graphs: str
    vocabulary: str
    vectors: str | None
    output: str
    training_log: str
    times: str | None
    seed: int
    threads: int

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Job":
        """The job among other values by name."""
        return cls(**{one.name: values[one.name] for one in fields(cls)})

    def model(self, data: TrainingData, P, R, begun: Start, **more: object) -> Model:
        """The model, with what the job says of its origin."""
        return make_model(data, P, R, begun, **more, seed=self.seed, graphs=Path(self.graphs).name)

    def write(self, model: Model, settings, rows, seconds: Sequence[float]) -> None:
        """Write a model with its log and times, and warn of what its user should know; see `findings`."""
        # of a property for each token a model of few dimensions explains next to nothing
        groups = model.groups if model.own is None else ()
        for line in findings(rows, model.relations, settings, groups):
            log.warning("%s", line)
        if settings.alpha and model.relation_names:
            log_relations(rows[-1], model.relation_names)
        write_training_log(self.training_log, rows, model.relation_names)
        if self.times is not None:
            write_times(self.times, rows, seconds)
        model.save(self.output)


def add_job_arguments(parser: argparse.ArgumentParser) -> None:
    """The files and the seed."""
    add = parser.add_argument
    add("--graphs", required=True, metavar="FILE", help="graphs of the treebank")
    add("--vocabulary", required=True, metavar="FILE", help="vocabulary.json")
    add("--vectors", metavar="FILE", help="pretrained vectors; their words are frozen")
    add_seed(parser, "of the random start")
    add("--output", required=True, metavar="FILE", help="model.safetensors to write")
    add("--training-log", required=True, metavar="FILE", help="CSV to write: L by term, one row per round")
    add("--times", metavar="FILE", help="CSV to write: L and the seconds of training after each round")


def add_mpi_argument(parser: argparse.ArgumentParser) -> None:
    """How many processes of MPI share the training."""
    said = "processes that mpiexec -n N has started, each to have a part of the graphs (default 1: no MPI)"
    parser.add_argument("--mpi", type=int, default=1, metavar="N", help=said)


@contextmanager
def stoppable() -> Iterator[None]:
    """Within the block SIGTERM is as ^C; who does not catch it leaves without a trace."""
    old = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        log.warning("stopped; nothing was written")
        sys.exit(143)
    finally:
        signal.signal(signal.SIGTERM, old)


def load_training_data(job: Job, rank: int, peers: Peers) -> TrainingData:
    """Read vocabulary, vectors and graphs, with peers this process' part; BoveError if they do not fit."""
    with peers.together():
        # now, not after hours of training
        for path in filter(None, (job.output, job.training_log, job.times)):
            check_target(path)
        vocabulary, data = _read_training_data(job, rank, (peers.number, peers.count))
    corpus = data.corpus
    graphs, tokens, arcs = peers.sum(np.array([corpus.n_graphs, corpus.n_tokens, len(corpus.arc_relation)]))
    if not tokens:
        raise BoveError(f"{job.graphs}: holds no tokens, so there is nothing to train on; give a treebank")
    log.info("%d graphs, %d tokens, %d arcs of %d relations", graphs, tokens, arcs, corpus.n_relations)
    counts = np.array(vocabulary.word_counts, np.int64)
    held = int(counts[data.frozen[: vocabulary.n_words]].sum())
    if vocabulary.has_words:
        log.info(
            "%d of %d words (%d of %d tokens) have a pretrained vector and are frozen",
            int(data.frozen.sum()), vocabulary.n_words, held, int(counts.sum()),
        )  # fmt: skip
    else:
        log.info("%d vectors of the tokens of different sentences are frozen", data.own)
    if peers.count > 1:
        shares = [int(n) for n in peers.every(corpus.n_tokens)]
        log.info("%d processes have %d to %d tokens each", peers.count, min(shares), max(shares))
    return data


def _read_training_data(job: Job, rank: int, part: tuple[int, int]) -> tuple[Vocabulary, TrainingData]:
    vocabulary = Vocabulary.load(job.vocabulary)
    corpus = load_graphs(job.graphs, part)
    if corpus.vocabulary_hash != vocabulary.hash:
        raise BoveError(f"{job.graphs}: not encoded with {job.vocabulary}; encode it again")
    if not vocabulary.has_words:
        return vocabulary, _own_vectors(job, corpus, vocabulary, rank)
    if len(corpus.extra):
        raise BoveError(f"{job.graphs}: has words outside the vocabulary; encode it without --vectors")
    frozen = np.zeros(vocabulary.n_properties, bool)
    rows = np.zeros((0, rank), np.float32)
    if job.vectors:
        vectors = WordVectors.open(job.vectors)
        if vectors.dimensions != rank:
            raise BoveError(
                f"{job.vectors}: vectors of {vectors.dimensions} dimensions, but the rank is {rank}; "
                f"set rank to {vectors.dimensions} or give other vectors"
            )
        found = pretrained_rows(vocabulary, vectors)
        frozen[: vocabulary.n_words] = found >= 0
        rows = vectors.rows(found[found >= 0])
    words, end = vocabulary.n_words, vocabulary.n_properties
    groups = {"words": slice(0, words), "tags": slice(words, end)}
    return vocabulary, TrainingData(corpus, rows, frozen, groups, vocabulary.relations)


def _own_vectors(job: Job, corpus: GraphCorpus, vocabulary: Vocabulary, rank: int) -> TrainingData:
    """Tags as the vocabulary has them, and each token's own vector as a frozen row behind them."""
    if corpus.extra.shape[1] != rank:
        raise BoveError(
            f"{job.graphs}: tokens with vectors of {corpus.extra.shape[1]} dimensions, but the rank is "
            f"{rank}; make components of this rank and encode the treebank with them"
        )
    tags, own = vocabulary.n_properties, len(corpus.extra)
    frozen, groups = np.arange(tags + own) >= tags, {"words": slice(tags, tags + own), "tags": slice(0, tags)}
    whole = replace(corpus, n_properties=tags + own, extra=corpus.extra[:0])
    return TrainingData(whole, corpus.extra, frozen, groups, vocabulary.relations, own=own)


def _start(data: TrainingData, settings, job: Job, peers: Peers | None = None) -> Start:
    """Where training starts, with a line in the log on what relative settings are in numbers."""
    found = start(data, settings, job.seed, job.threads, peers)
    if found.given.scale == "relative":
        numbers = (
            f"{name} {getattr(found.given, name):g} is {getattr(found.settings, name):.5g}" for name in SCALED
        )
        log.info("relative settings: %s", ", ".join(numbers))
    return found


def log_round(kind: str, row: dict, relations: Sequence[str], change: str, more: str, seconds: float) -> None:
    """One line on a round or an epoch, which took so many seconds: L by term, and what is explained."""
    arcs = sum(row[f"relation:{k}"] for k in range(len(relations)))
    penalties = row["lambda_P"] + row["lambda_R"] + row["lambda_E"]
    terms = {"words": row["words"], "tags": row["tags"], "relations": arcs, "penalties": penalties}
    shares = ", ".join(f"{name} {term / row['total']:.2%}" for name, term in terms.items() if row["total"])
    said = ", ".join(f"{name} {row[f'explained:{name}']:.2%}" for name in ("words", "tags", "relations"))
    log.info(
        "%s %d%s: L %.8g%s, of which %s; explained: %s; %s; %.1f s",
        kind, row["round"], " (restart)" if row["restart"] else "", row["total"], change, shares, said, more,
        seconds,
    )  # fmt: skip


def log_relations(row: dict, relations: Sequence[str]) -> None:
    """One line on how much of each relation's loss the model explains, the most first."""
    shares = {name: row[f"explained:relation:{k}"] for k, name in enumerate(relations)}
    order = sorted(shares, key=shares.__getitem__, reverse=True)
    log.info("relations explained: %s", ", ".join(f"{name} {shares[name]:.1%}" for name in order))


def write_training_log(path: str | Path, rows: Sequence[dict], relations: Sequence[str]) -> None:
    """CSV with one row per round and one column per term of L, relations by name."""
    names = {
        f"{of}relation:{k}": f"{of}relation:{name}"
        for k, name in enumerate(relations)
        for of in ("", "explained:")
    }
    _write_csv(path, [[names.get(column, column) for column in rows[0]], *(row.values() for row in rows)])


def write_times(path: str | Path, rows: Sequence[dict], seconds: Sequence[float]) -> None:
    """CSV with one row per round: number, seconds of training up to its end, L.

    Seconds of the wall clock, without checkpoints and, in SGD, without L and held-out sentences; they differ
    each time, so they have a file of their own.
    """
    cells = ([row["round"], f"{passed:.3f}", row["total"]] for row, passed in zip(rows, seconds, strict=True))
    _write_csv(path, [["round", "seconds", "total"], *cells])


def _write_csv(path: str | Path, rows: Iterable[Iterable]) -> None:
    with atomic_write(path) as stream:
        csv.writer(stream, lineterminator="\n").writerows(rows)


# Alternating least squares

FORMAT = "bove-als-checkpoint"


class Checkpoint:
    """Where a training by ALS stands, in a file beside its model; each of several processes has its own.

    A file holds P and R, the token vectors of the process' own sentences, and the log. Training continues
    only from files of the same number of processes and of the same round.

    Args:
        model: path of the model, which the file is beside. peers: the processes that train.
        key: a hash of all that decides what a round gives this process.
    """

    def __init__(self, model: str | Path, key: str, peers: Peers):
        self.first, self.key, self.peers = Path(f"{model}.checkpoint"), key, peers
        part = f".{peers.number + 1}-of-{peers.count}" if peers.number else ""
        self.path = Path(f"{self.first}{part}")

    def save(self, state: AlsState) -> None:
        """Write the state; BoveError in all processes where one of them cannot."""
        arrays = {"P": state.P, "R": state.R, "E": state.E}
        parts = {"log": state.log, "finished": state.finished, "seconds": state.seconds}
        metadata = {"key": self.key, **{name: json.dumps(part) for name, part in parts.items()}}
        with self.peers.together():
            artefacts.save(self.path, FORMAT, arrays, metadata)

    def load(self) -> AlsState | None:
        """Where this training stands; None without a checkpoint."""
        found = self._load()
        rounds = self.peers.every(found.round if found else 0)
        if len(set(rounds)) > 1:
            log.warning("%s and those beside it do not belong together; starting afresh", self.first)
            return None
        if found:
            log.info("going on from round %d of %s", rounds[0], self.first)
        return found

    def _load(self) -> AlsState | None:
        if not self.path.exists():
            return None
        try:
            arrays, metadata = artefacts.load(self.path, FORMAT)
            if metadata["key"] != self.key:
                raise BoveError(f"{self.path}: of another training")
            rows, finished, seconds = (json.loads(metadata[name]) for name in ("log", "finished", "seconds"))
            factors = (arrays[name] for name in ("P", "R", "E"))
            return AlsState(*factors, len(rows), tuple(rows), finished, tuple(seconds))
        except BoveError as e:
            log.warning("%s; starting afresh", e)
            return None

    def remove(self) -> None:
        """Delete it, when the model is there; those of other numbers of processes too."""
        if self.peers.number == 0:
            parts = self.first.parent.glob(f"{escape(self.first.name)}.*-of-*")
            for path in (self.first, *parts):
                path.unlink(missing_ok=True)


def register_train_als(parser: argparse.ArgumentParser) -> None:
    add_job_arguments(parser)
    add_settings(parser, AlsSettings)
    add_mpi_argument(parser)


def run_train_als(args: argparse.Namespace) -> None:
    with joined(args.mpi) as peers:
        train_als(make(AlsSettings, vars(args), flag), Job.of(vars(args)), peers)


def train_als(settings: AlsSettings, job: Job, peers: Peers) -> None:
    """Train with the processes that there are; the first writes the model."""
    data = load_training_data(job, settings.rank, peers)
    begun = _start(data, settings, job, peers)
    settings = begun.settings
    checkpoint = Checkpoint(job.output, _key(begun.P, data.corpus, settings, peers), peers)
    trainer = AlsTrainer(data.corpus, data.frozen, data.groups, settings, job.threads, peers)
    state = checkpoint.load() or initial_state(data.corpus, begun.P, begun.E, begun.R)
    with stoppable():
        state = _train(trainer, state, checkpoint, data.relation_names)
    with peers.together():
        if peers.number == 0:
            if state.round == settings.max_rounds and not state.finished:
                log.warning("stopped after %d rounds, before the stopping rule held", state.round)
            processes = {"processes": peers.count} if peers.count > 1 else {}
            model = job.model(data, state.P, state.R, begun, rounds=state.round, **processes)
            job.write(model, settings, state.log, state.seconds)
            log.info("model %s: %s", model.hash[:12], job.output)
    checkpoint.remove()


def _train(trainer: AlsTrainer, state: AlsState, checkpoint: Checkpoint, relations) -> AlsState:
    """Run all rounds; on SIGTERM or ^C save where training stands and leave.

    One of several processes leaves without saving: it cannot know in which round the others are.
    """
    every = trainer.settings.checkpoint_every
    try:
        with Progress(trainer.settings.max_rounds, "rounds", every=float("inf")) as progress:
            progress.step(state.round)
            for state in trainer.rounds(state):
                progress.step(note=f"L {state.log[-1]['total']:.4g}")
                _log_als(state, relations)
                if every and state.round % every == 0:
                    checkpoint.save(state)
    except KeyboardInterrupt:
        if alone := trainer.peers.count == 1:
            checkpoint.save(state)
        where = "there" if alone else "the last checkpoint"
        log.warning("stopped in round %d; run again to go on from %s", state.round + 1, where)
        sys.exit(143)
    except BoveError:
        checkpoint.save(state)
        raise
    return state


def _log_als(state: AlsState, relations: Sequence[str]) -> None:
    """One line on the last round."""
    row = state.log[-1]
    change = "first" if row["gain"] is None else f"gain {row['gain']:.3%}"
    more = f"R-step {row['r_iterations']} iterations, residual {row['r_residual']:.1e}"
    if row["p_iterations"]:
        more += f"; P-step {row['p_iterations']}, {row['p_residual']:.1e}"
    if "exchanged_bytes" in row:
        more += f"; {row['exchanged_bytes'] / 1e6:.1f} MB exchanged"
    start, end = (0.0, *state.seconds)[-2:]
    log_round("round", row, relations, f" ({change})", more, end - start)


def _key(P, corpus, settings, peers: Peers) -> str:
    """Hash of all that decides what a round gives, so that only such a checkpoint is resumed."""
    digest = hashlib.sha256(json.dumps(record(settings), sort_keys=True).encode())
    arcs = (corpus.arc_relation, corpus.arc_head, corpus.arc_dependent)
    for array in (P, corpus.token_offsets, corpus.properties, *arcs, *corpus.optional.values()):
        digest.update(np.ascontiguousarray(array).data)
    if peers.count > 1:
        digest.update(f"{peers.number} of {peers.count}".encode())
    return digest.hexdigest()


# Stochastic gradient descent


def register_train_sgd(parser: argparse.ArgumentParser) -> None:
    add_job_arguments(parser)
    add_settings(parser, SgdSettings)


def run_train_sgd(args: argparse.Namespace) -> None:
    train_sgd(make(SgdSettings, vars(args), flag), Job.of(vars(args)))


@stoppable()
def train_sgd(settings: SgdSettings, job: Job) -> None:
    """Train and write the model of the best epoch; on SIGTERM or ^C nothing is written."""
    sgd = sgd_library(settings.device, job.threads)
    data = load_training_data(job, settings.rank, Peers())
    begun = _start(data, settings, job)
    settings = begun.settings
    trainer = sgd.SgdTrainer(data.corpus, begun.P, data.frozen, data.groups, settings, job.seed, job.threads)
    _log_parts(trainer)
    kept = Path(f"{job.output}.last-good")
    best, rows, seconds = None, [], []

    def model() -> Model:
        number = {"epoch": best.row["round"], "epochs_done": len(rows)}
        return job.model(data, best.P, best.R, begun, **number)

    try:
        for epoch in _epochs(trainer, data.relation_names):
            rows.append(epoch.row)
            seconds.append(epoch.seconds)
            best = epoch if epoch.best else best
    except sgd.Diverged as e:
        if best is None:
            raise BoveError(f"{e} (no epoch had ended, so there is no model to keep)") from e
        model().save(kept)
        raise BoveError(f"{e}; the best model so far, of epoch {best.row['round']}, is kept in {kept}") from e
    if len(rows) == settings.epochs:
        log.warning("stopped after %d epochs, before patience ran out", len(rows))
    made = model()
    job.write(made, settings, rows, seconds)
    kept.unlink(missing_ok=True)
    log.info("model %s, of epoch %d: %s", made.hash[:12], best.row["round"], job.output)


def _log_parts(trainer) -> None:
    parts = (trainer.training, trainer.held_out)
    sizes = [f"{part.n_graphs} sentences ({part.n_tokens} tokens)" for part in parts]
    log.info("%s to train on, %s held out", *sizes)
    for name, count in trainer.sampler.exhausted.items():
        log.warning("%d %s have no zero cell, and so get no negatives", count, name)
    rates = (trainer.settings.learning_rate, trainer.rate_P, trainer.rate_R, trainer.rate_E)
    log.info("learning rate %g is %.3g for P, %.3g for R, %.3g for E", *rates)


def _epochs(trainer, relations: Sequence[str]) -> Iterator:
    """The trainer's epochs, each with a line in the log."""
    since = time.monotonic()
    with Progress(trainer.settings.epochs, "epochs", every=float("inf")) as progress:
        for epoch in trainer.epochs():
            row, now = epoch.row, time.monotonic()
            progress.step(note=f"L {row['total']:.4g}")
            held = row["held_out"]
            watched = "nothing held out" if held is None else f"held out {held:.8g} per token"
            log_round("epoch", row, relations, "", watched + " (best)" * epoch.best, now - since)
            since = now
            yield epoch


# Another model's trainer and settings, with another seed


def register_train_again(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", required=True, metavar="FILE", help="model whose settings are used")
    add_job_arguments(parser)
    add_settings(parser, AlsSettings, ("checkpoint_every",))
    add_mpi_argument(parser)


def run_train_again(args: argparse.Namespace) -> None:
    job = Job.of(vars(args))
    with joined(args.mpi) as peers:
        settings = settings_of(args.model, job)
        if isinstance(settings, AlsSettings):
            own = make(AlsSettings, vars(args), flag)
            train_als(replace(settings, checkpoint_every=own.checkpoint_every), job, peers)
            return
        if peers.count > 1:
            log.warning("SGD trains by one process alone; %d were started", peers.count)
        with peers.together():
            if peers.number == 0:
                train_sgd(settings, job)


def settings_of(path: str, job: Job) -> AlsSettings | SgdSettings:
    """The settings of the model in a file, for a job on the same vocabulary."""
    model = Model.load(path)
    try:
        settings = from_record(model.hyperparameters)
    except BoveError as e:
        raise BoveError(f"{path}: {e}") from e
    if Vocabulary.load(job.vocabulary).hash != model.vocabulary_hash:
        raise BoveError(f"{job.vocabulary}: not the vocabulary of {path}; give that one")
    if model.frozen.any() and not job.vectors:
        raise BoveError(f"{path}: has words with a pretrained vector; give their file with --vectors")
    log.info("settings of %s (%s, seed %s)", path, settings.trainer, model.hyperparameters.get("seed"))
    return replace(settings, dtype=model.properties.dtype.name)
