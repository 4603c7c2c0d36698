"""What both trainers share: their arguments, their data, and the model that they write."""

import argparse
import csv
import hashlib
import json
import logging
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from glob import escape
from pathlib import Path

import numpy as np

from bove import artefacts
from bove.cli.common import Progress
from bove.errors import BoveError
from bove.factor.als import AlsSettings, AlsState
from bove.factor.model import Model
from bove.factor.parallel import Peers, joined
from bove.factor.penalties import PENALTIES
from bove.factor.training import (
    E_STEPS,
    Checks,
    TrainingData,
    als_training,
    findings,
    make_model,
    sgd_library,
    start_properties,
)
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


# Where a training by ALS stands, in a file beside its model; of several processes each has its own.
#
# A process's file has P and R, the token vectors of its own sentences, and the log. They are gone on from
# only
# together: by the same number of processes, and from the same round.

FORMAT = "bove-als-checkpoint"


class Checkpoint:
    """The checkpoint of one training.

    Args:
        model: path of the model; the files are beside it.
        key: a hash of all that decides what a round gives this process.
        peers: the processes that train.
    """

    def __init__(self, model: str | Path, key: str, peers: Peers):
        self.first, self.key, self.peers = Path(f"{model}.checkpoint"), key, peers
        part = f".{peers.number + 1}-of-{peers.count}" if peers.number else ""
        self.path = Path(f"{self.first}{part}")

    def save(self, state: AlsState, passed: tuple) -> None:
        """Write the state, and the seconds of training up to each of its rounds.

        Raises:
            BoveError: the file can not be written; in all processes if in one.
        """
        arrays = {"P": state.P, "R": state.R, "E": state.E}
        metadata = {"key": self.key, "log": json.dumps(state.log), "finished": json.dumps(state.finished)}
        metadata["passed"] = json.dumps(passed)
        with self.peers.together():
            artefacts.save(self.path, FORMAT, arrays, metadata)

    def load(self) -> tuple[AlsState, tuple] | None:
        """Where this training stands, with the seconds up to each round; None without a checkpoint."""
        found = self._load()
        rounds = self.peers.every(found[0].round if found else 0)
        if len(set(rounds)) > 1:
            log.warning("%s and those beside it do not belong together; starting afresh", self.first)
            return None
        if found:
            log.info("going on from round %d of %s", rounds[0], self.first)
        return found

    def _load(self) -> tuple[AlsState, tuple] | None:
        if not self.path.exists():
            return None
        try:
            arrays, metadata = artefacts.load(self.path, FORMAT)
        except BoveError as e:
            log.warning("%s; starting afresh", e)
            return None
        if metadata.get("key") != self.key or "passed" not in metadata:
            log.warning("%s belongs to another training, or to another version; starting afresh", self.path)
            return None
        try:
            rows, passed = (tuple(json.loads(metadata[name])) for name in ("log", "passed"))
            finished = json.loads(metadata["finished"])
            return AlsState(arrays["P"], arrays["R"], arrays["E"], len(rows), rows, finished), passed
        except (KeyError, ValueError, TypeError, RecursionError) as e:
            log.warning("%s is damaged (%r); starting afresh", self.path, e)
            return None

    def remove(self) -> None:
        """Delete it, when the model is there; those of other numbers of processes too."""
        if self.peers.number == 0:
            parts = self.first.parent.glob(f"{escape(self.first.name)}.*-of-*")
            for path in (self.first, *parts):
                path.unlink(missing_ok=True)


# `bove train-als`: a model by alternating least squares.


def register_train_als(parser: argparse.ArgumentParser) -> None:
    add_common_arguments(parser)
    add_penalty_arguments(parser)
    add = parser.add_argument
    add("--max-rounds", type=int, required=True, help="most rounds")
    add("--tolerance", type=float, required=True, help="stop where L improves by less than this share")
    add("--restart-every", type=int, required=True, help="rounds between restarts of E from 0 (0: none)")
    add("--restart-iterations", type=int, required=True, help="inference iterations of a restart")
    add("--e-step", choices=E_STEPS, required=True, help="how E is updated")
    add("--e-tolerance", type=float, required=True, help="fixed-point E-step: relative change of a token")
    add("--e-energy", type=float, required=True, help="fixed-point E-step: energy of R that is kept")
    add("--r-tolerance", type=float, required=True, help="relative residual of the R-step")
    add("--r-iterations", type=int, required=True, help="most iterations of the R-step")
    add("--batch-tokens", type=int, required=True, help="tokens in a batch")
    add("--checkpoint-every", type=int, required=True, help="rounds between checkpoints (0: only when ended)")
    add_mpi_argument(parser)


def run_train_als(args: argparse.Namespace) -> None:
    with joined(args.mpi) as peers:
        train(args, peers)


def train(args: argparse.Namespace, peers: Peers) -> None:
    """Train with the processes that there are; the first writes the model."""
    settings = AlsSettings(**{f.name: getattr(args, f.name) for f in fields(AlsSettings)})
    check = checks(args)
    check.als()
    check.least({"restart_every": 0, "checkpoint_every": 0})
    data = load_training_data(args, peers)
    P = start_properties(data, args.seed, args.dtype)
    checkpoint = Checkpoint(args.output, _key(P, data.corpus, settings, peers), peers)
    trainer, state = als_training(data, P, settings, args.threads, peers=peers)
    start = checkpoint.load() or (state, ())
    with stoppable():
        state, passed = _train(trainer, start, settings, checkpoint, args.checkpoint_every, data)
    [ones] = peers.sum(np.array([len(data.corpus.properties)]))
    with peers.together():
        if peers.number == 0:
            _write(args, settings, data, state, passed, ones)
    checkpoint.remove()


def _write(args, settings, data, state: AlsState, passed, ones) -> None:
    """The model, its log and its times, and what their user should know."""
    if state.round == settings.max_rounds and not state.finished:
        log.warning("stopped after %d rounds, before the stopping rule held", state.round)
    say_findings(state.log, state.R, settings, ones, data.groups)
    given = {"trainer": "als", **asdict(settings), "rounds": state.round}
    if args.mpi > 1:
        given["processes"] = args.mpi
    model = model_of(data, args, state.P, state.R, given)
    write_training_log(args.training_log, state.log, data.relation_names)
    write_times(args.times, state.log, passed)
    model.save(args.output)
    log.info("model %s: %s", model.hash[:12], args.output)


def _train(trainer, at, settings, checkpoint: Checkpoint, every, data) -> tuple[AlsState, tuple]:
    """Run all rounds; on SIGTERM or ^C save where training stands and leave.

    One of several processes leaves without saving: it can not know in which round the others are.
    `at` is the state, with the seconds of training up to the end of each of its rounds.
    """
    try:
        with Progress(settings.max_rounds, "rounds", every=float("inf")) as progress:
            progress.step(at[0].round)
            # one name for both, so that a signal never finds a state without its seconds
            for at in _timed(trainer.rounds(at[0]), at[1]):
                state, passed = at
                progress.step(note=f"L {state.log[-1]['total']:.4g}")
                seconds = passed[-1] - (passed[-2] if len(passed) > 1 else 0)
                log_terms(state.log, data.relation_names, seconds)
                if every and state.round % every == 0:
                    checkpoint.save(*at)
    except (Stopped, KeyboardInterrupt):
        if trainer.peers.count == 1:
            checkpoint.save(*at)
            log.warning("stopped in round %d; run again to go on from there", at[0].round + 1)
        else:
            log.warning("stopped in round %d; run again to go on from the last checkpoint", at[0].round + 1)
        sys.exit(143)
    except BoveError:
        checkpoint.save(*at)
        raise
    return at


def _timed(rounds, passed):
    """Each state with the seconds that its rounds took, without what is done between them."""
    began = time.monotonic()
    for state in rounds:
        passed = (*passed, (passed[-1] if passed else 0.0) + time.monotonic() - began)
        yield state, passed
        began = time.monotonic()


def _key(P, corpus, settings, peers: Peers) -> str:
    """Hash of all that decides what a round gives, so that only such a checkpoint is resumed."""
    digest = hashlib.sha256(json.dumps(asdict(settings), sort_keys=True).encode())
    for array in (P, corpus.token_offsets, corpus.properties, corpus.arc_relation, corpus.arc_head):
        digest.update(np.ascontiguousarray(array).data)
    digest.update(np.ascontiguousarray(corpus.arc_dependent).data)
    if peers.count > 1:
        digest.update(f"{peers.number} of {peers.count}".encode())
    return digest.hexdigest()


# `bove train-sgd`: a model by stochastic gradient descent.


def register_train_sgd(parser: argparse.ArgumentParser) -> None:
    add_common_arguments(parser)
    add_penalty_arguments(parser)
    add = parser.add_argument
    add("--learning-rate", type=float, required=True, help="AdaGrad's, as a share of each factor's scale")
    add("--epochs", type=int, required=True, help="most passes over the treebank")
    add("--batch-sentences", type=int, required=True, help="sentences of a mini-batch")
    add("--negatives", type=int, required=True, help="zeros drawn for each observed property and relation")
    add("--negative-weight", required=True, help="of each of them: a number, or `unbiased`")
    add("--patience", type=int, required=True, help="epochs without improvement before training stops")
    add("--held-out", type=float, required=True, help="share of the sentences held out to watch (0: watch L)")
    add("--device", choices=("cpu", "cuda"), required=True, help="where to train")


def run_train_sgd(args: argparse.Namespace) -> None:
    try:
        with stoppable():
            _run(args)
    except (Stopped, KeyboardInterrupt):
        log.warning("stopped; nothing was written")
        sys.exit(143)


def _run(args) -> None:
    weight = _weight(args.negative_weight)
    checks(args, negative_weight=weight).sgd()
    sgd = sgd_library(args.device, args.threads)
    settings = sgd.SgdSettings(
        **{name: getattr(args, name) for name in sgd.SgdSettings.__dataclass_fields__}
        | {"negative_weight": weight}
    )
    data = load_training_data(args)
    P = start_properties(data, args.seed, args.dtype)
    began = time.monotonic()
    trainer = sgd.SgdTrainer(data.corpus, P, data.frozen, data.groups, settings, args.seed, args.threads)
    # the token vectors that training starts from are made here
    passed = [time.monotonic() - began]
    _say_parts(trainer, settings)
    kept = Path(f"{args.output}.last-good")
    best, rows = None, []
    try:
        for epoch in _epochs(trainer, settings, data):
            rows.append(epoch.row)
            passed.append(passed[-1] + epoch.seconds)
            best = epoch if epoch.best else best
    except sgd.Diverged as e:
        if best is None:
            raise BoveError(f"{e} (no epoch had ended, so there is no model to keep)") from e
        _model(best, settings, data, args, len(rows)).save(kept)
        raise BoveError(f"{e}; the best model so far, of epoch {best.row['round']}, is kept in {kept}") from e
    if len(rows) == settings.epochs:
        log.warning("stopped after %d epochs, before patience ran out", len(rows))
    say_findings(rows, best.R, settings, len(trainer.training.properties), data.groups)
    model = _model(best, settings, data, args, len(rows))
    write_training_log(args.training_log, rows, data.relation_names)
    write_times(args.times, rows, passed[1:])
    model.save(args.output)
    kept.unlink(missing_ok=True)
    log.info("model %s, of epoch %d: %s", model.hash[:12], best.row["round"], args.output)


def _weight(text: str) -> float | str:
    """The weight as a number, where it is one; the check says what is wrong with any other text."""
    try:
        return float(text)
    except ValueError:
        return text


def _say_parts(trainer, settings) -> None:
    training, held = trainer.training, trainer.held_out
    log.info(
        "%d sentences (%d tokens) to train on, %d (%d tokens) held out", training.n_graphs, training.n_tokens,
        held.n_graphs, held.n_tokens,
    )  # fmt: skip
    for name, count in trainer.sampler.exhausted.items():
        log.warning("%d %s have no zero cell, and so get no negatives", count, name)
    log.info(
        "learning rate %g is %.3g for P, %.3g for R, %.3g for E", settings.learning_rate, trainer.rate_P,
        trainer.rate_R, trainer.rate_E,
    )  # fmt: skip


def _epochs(trainer, settings, data: TrainingData):
    """The trainer's epochs, each with a line in the log."""
    arcs = [f"relation:{k}" for k in range(len(data.relation_names))]
    since = time.monotonic()
    with Progress(settings.epochs, "epochs", every=float("inf")) as progress:
        for epoch in trainer.epochs():
            row, now = epoch.row, time.monotonic()
            progress.step(note=f"L {row['total']:.4g}")
            log.info(
                "epoch %d: L %.8g = words %.5g + tags %.5g + relations %.5g + penalties %.5g; %s%s; %.1f s",
                row["round"], row["total"], row["words"], row["tags"], sum(row[name] for name in arcs),
                row["lambda_P"] + row["lambda_R"] + row["lambda_E"],
                "nothing held out" if row["held_out"] is None else f"held out {row['held_out']:.8g} a token",
                " (best)" if epoch.best else "", now - since,
            )  # fmt: skip
            since = now
            yield epoch


def _model(epoch, settings, data: TrainingData, args, epochs: int):
    given = {"trainer": "sgd", **asdict(settings), "epoch": epoch.row["round"], "epochs_done": epochs}
    return model_of(data, args, epoch.P, epoch.R, given)


# `bove train-again`: a model by the trainer and the settings of another one, with another seed.

TRAINERS = {"als": register_train_als, "sgd": register_train_sgd}
_FILES = ("graphs", "vocabulary", "vectors", "output", "training_log", "times")
_GIVEN = (*_FILES, "seed", "checkpoint_every", "mpi")


def register_train_again(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--model", required=True, metavar="FILE", help="model whose trainer and settings are used")
    add("--graphs", required=True, metavar="FILE", help="graphs of the treebank")
    add("--vocabulary", required=True, metavar="FILE", help="vocabulary.json")
    add("--vectors", metavar="FILE", help="pretrained vectors; needed where the model had some")
    add("--seed", type=int, required=True, help="of the random start")
    add("--checkpoint-every", type=int, required=True, help="als: rounds between checkpoints (0: when ended)")
    add("--output", required=True, metavar="FILE", help="model.safetensors to write")
    add("--training-log", required=True, metavar="FILE", help="CSV to write: L by term, a row a round")
    add("--times", metavar="FILE", help="CSV to write: the seconds of training up to the end of each round")
    add_mpi_argument(parser)


def run_train_again(args: argparse.Namespace) -> None:
    """Train as `bove train-als` or `bove train-sgd` would; BoveError as there."""
    with joined(args.mpi) as peers:
        _retrain(args, peers)


def _retrain(args, peers: Peers) -> None:
    model = Model.load(args.model)
    trainer = model.hyperparameters.get("trainer")
    if not isinstance(trainer, str) or trainer not in TRAINERS:
        raise BoveError(f"{args.model}: trained by {trainer!r}; known: {', '.join(TRAINERS)}")
    if Vocabulary.load(args.vocabulary).hash != model.vocabulary_hash:
        raise BoveError(f"{args.vocabulary}: not the vocabulary of {args.model}; give that one")
    if model.frozen.any() and not args.vectors:
        raise BoveError(f"{args.model}: has words with a pretrained vector; give their file with --vectors")
    log.info("settings of %s (%s, seed %s)", args.model, trainer, model.hyperparameters.get("seed"))
    arguments = _arguments(args, model, TRAINERS[trainer])
    if trainer == "als":
        train(arguments, peers)
        return
    if peers.count > 1:
        log.warning("SGD trains by one process alone; %d were started", peers.count)
    with peers.together():
        if peers.number == 0:
            run_train_sgd(arguments)


class _Arguments(argparse.ArgumentParser):
    """A parser whose mistakes are the model's, not those of the command line."""

    def error(self, message):
        raise BoveError(f"the model does not say all of its settings ({message}); train that model again")


def _arguments(args, model: Model, stage) -> argparse.Namespace:
    """The trainer's arguments: files, seed and threads as given, all else from the model."""
    parser = _Arguments(add_help=False, allow_abbrev=False)
    stage(parser)
    chosen = {**model.hyperparameters, "dtype": model.properties.dtype.name}
    given = {name: getattr(args, name) for name in _GIVEN}
    words = [
        f"--{name.replace('_', '-')}={value}"
        for name, value in {**chosen, **given}.items()
        if value is not None
    ]
    # what else a model tells, such as the rounds that it took, is no argument
    known, _ = parser.parse_known_args(words)
    known.threads = args.threads
    return known
