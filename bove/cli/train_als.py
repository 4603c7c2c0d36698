"""`bove train-als`: a model by alternating least squares."""

import argparse
import hashlib
import json
import logging
import sys
import time
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np

from bove import artefacts
from bove.cli.progress import Progress
from bove.cli.training import (
    Stopped,
    add_common_arguments,
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
from bove.factor.training import E_STEPS, als_training, start_properties

log = logging.getLogger("bove")
CHECKPOINT = "bove-als-checkpoint"


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


def run(args: argparse.Namespace) -> None:
    settings = AlsSettings(**{f.name: getattr(args, f.name) for f in fields(AlsSettings)})
    checks(args).als()
    data = load_training_data(args)
    P = start_properties(data, args.seed, args.dtype)
    checkpoint = Path(f"{args.output}.checkpoint")
    key = _key(P, data.corpus, settings)
    trainer, state = als_training(data, P, settings, args.threads)
    start = _resume(checkpoint, key) or (state, ())
    with stoppable():
        state, passed = _train(trainer, start, settings, checkpoint, key, args.checkpoint_every, data)
    if state.round == settings.max_rounds and not state.finished:
        log.warning("stopped after %d rounds, before the stopping rule held", state.round)
    say_findings(state.log, state.R, settings, data.corpus, data.groups)
    given = {"trainer": "als", **asdict(settings), "rounds": state.round}
    model = model_of(data, args, state.P, state.R, given)
    write_training_log(args.training_log, state.log, data.relation_names)
    write_times(args.times, state.log, passed)
    model.save(args.output)
    checkpoint.unlink(missing_ok=True)
    log.info("model %s: %s", model.hash[:12], args.output)


def _train(trainer, at, settings, checkpoint, key, every, data) -> tuple[AlsState, tuple]:
    """Run all rounds; on SIGTERM or ^C save where training stands and leave.

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
                    _save(checkpoint, key, *at)
    except (Stopped, KeyboardInterrupt):
        _save(checkpoint, key, *at)
        log.warning("stopped in round %d; run again to go on from there", at[0].round + 1)
        sys.exit(143)
    except BoveError:
        _save(checkpoint, key, *at)
        raise
    return at


def _timed(rounds, passed):
    """Each state with the seconds that its rounds took, without what is done between them."""
    began = time.monotonic()
    for state in rounds:
        passed = (*passed, (passed[-1] if passed else 0.0) + time.monotonic() - began)
        yield state, passed
        began = time.monotonic()


def _key(P, corpus, settings) -> str:
    """Hash of all that decides what a round gives, so that only such a checkpoint is resumed."""
    digest = hashlib.sha256(json.dumps(asdict(settings), sort_keys=True).encode())
    for array in (P, corpus.token_offsets, corpus.properties, corpus.arc_relation, corpus.arc_head):
        digest.update(np.ascontiguousarray(array).data)
    digest.update(np.ascontiguousarray(corpus.arc_dependent).data)
    return digest.hexdigest()


def _save(path: Path, key: str, state: AlsState, passed) -> None:
    arrays = {"P": state.P, "R": state.R, "E": state.E}
    metadata = {"key": key, "log": json.dumps(state.log), "finished": json.dumps(state.finished)}
    metadata["passed"] = json.dumps(passed)
    artefacts.save(path, CHECKPOINT, arrays, metadata)


def _resume(path: Path, key: str) -> tuple[AlsState, tuple] | None:
    """Where the checkpoint of this training stands, with the seconds up to each round; None without one."""
    if not path.exists():
        return None
    try:
        arrays, metadata = artefacts.load(path, CHECKPOINT)
    except BoveError as e:
        log.warning("%s; starting afresh", e)
        return None
    if metadata.get("key") != key or "passed" not in metadata:
        log.warning("%s belongs to another training, or to another version; starting afresh", path)
        return None
    try:
        rows, passed = (tuple(json.loads(metadata[name])) for name in ("log", "passed"))
        state = AlsState(
            arrays["P"], arrays["R"], arrays["E"], len(rows), rows, json.loads(metadata["finished"])
        )
    except (KeyError, ValueError, TypeError, RecursionError) as e:
        log.warning("%s is damaged (%r); starting afresh", path, e)
        return None
    log.info("going on from round %d of %s", len(rows), path)
    return state, passed
