"""`bove train-als`: a model by alternating least squares."""

import argparse
import hashlib
import json
import logging
import sys
import time
from dataclasses import asdict, fields

import numpy as np

from bove.cli.als_checkpoint import Checkpoint
from bove.cli.progress import Progress
from bove.cli.training import (
    Stopped,
    add_common_arguments,
    add_mpi_argument,
    add_penalty_arguments,
    checks,
    load_training_data,
    log_terms,
    model_of,
    say_findings,
    stoppable,
    write_times,
    write_training_log,
)
from bove.errors import BoveError
from bove.factor.als import AlsSettings, AlsState
from bove.factor.peers import Peers
from bove.factor.training import E_STEPS, als_training, start_properties
from bove.mpi import joined

log = logging.getLogger("bove")


def register(parser: argparse.ArgumentParser) -> None:
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


def run(args: argparse.Namespace) -> None:
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
