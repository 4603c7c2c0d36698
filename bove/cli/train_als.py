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
    check_least,
    check_penalties,
    check_weights,
    load_training_data,
    log_terms,
    make_model,
    stoppable,
    warn_of_no_relations,
    write_times,
    write_training_log,
)
from bove.errors import BoveError
from bove.factor.als import AlsSettings, AlsState, AlsTrainer, initial_properties, initial_state
from bove.factor.proximal import P_ITERATIONS, P_TOLERANCE

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
    add("--e-step", choices=("averaged", "fixed-point"), required=True, help="how E is updated")
    add("--e-tolerance", type=float, required=True, help="fixed-point E-step: relative change of a token")
    add("--e-energy", type=float, required=True, help="fixed-point E-step: energy of R that is kept")
    add("--r-tolerance", type=float, required=True, help="relative residual of the R-step")
    add("--r-iterations", type=int, required=True, help="most iterations of the R-step")
    add("--batch-tokens", type=int, required=True, help="tokens in a batch")
    add("--checkpoint-every", type=int, required=True, help="rounds between checkpoints (0: only when ended)")


def run(args: argparse.Namespace) -> None:
    settings = AlsSettings(**{f.name: getattr(args, f.name) for f in fields(AlsSettings)})
    _check(args)
    data = load_training_data(args)
    P = initial_properties(
        data.corpus.n_properties, data.vectors, data.frozen, args.seed, np.dtype(args.dtype).type
    )
    checkpoint = Path(f"{args.output}.checkpoint")
    key = _key(P, data.corpus, settings)
    start = _resume(checkpoint, key) or (initial_state(data.corpus, P), ())
    trainer = AlsTrainer(data.corpus, data.frozen, data.groups, settings, args.threads)
    with stoppable():
        state, passed = _train(trainer, start, settings, checkpoint, key, args.checkpoint_every, data)
    if state.round == settings.max_rounds and not state.finished:
        log.warning("stopped after %d rounds, before the stopping rule held", state.round)
    warn_of_no_relations(state.R, settings)
    _warn_of_limits(state.log, settings)
    model = make_model(
        data, args, state.P, state.R, {"trainer": "als", **asdict(settings), "rounds": state.round}
    )
    write_training_log(args.training_log, state.log, data.vocabulary.relations)
    write_times(args.times, state.log, passed)
    model.save(args.output)
    checkpoint.unlink(missing_ok=True)
    log.info("model %s: %s", model.hash[:12], args.output)


def _check(args) -> None:
    check_penalties(args)
    counts = ("rank", "max_rounds", "batch_tokens", "restart_iterations", "r_iterations")
    check_least(args, dict.fromkeys(counts, 1))
    check_weights(
        args, ("alpha", "lambda_P", "lambda_R", "lambda_E", "tolerance", "e_tolerance", "r_tolerance")
    )
    if not 0 < args.e_energy <= 1:
        raise BoveError(f"--e-energy {args.e_energy}: must be above 0 and at most 1")


def _warn_of_limits(rows, settings) -> None:
    """Say where rounding swamped L, and where a step ran out of iterations short of its tolerance."""
    if below := [str(row["round"]) for row in rows if row["total"] < 0]:
        log.warning(
            "L, a sum of squares, is below 0 after round %s: token vectors grew so large that rounding "
            "swamped it; do not trust this model; raise lambda_R or lambda_E, or train with dtype float64",
            ", ".join(below),
        )
    steps = (
        ("R", settings.r_tolerance, settings.r_iterations, "r_iterations or r_tolerance"),
        ("P", P_TOLERANCE, P_ITERATIONS, "lambda_P"),
    )
    for name, tolerance, most, advice in steps:
        steps_taken = [(row[f"{name.lower()}_iterations"], row[f"{name.lower()}_residual"]) for row in rows]
        short = [residual for taken, residual in steps_taken if taken >= most and residual > tolerance]
        if short:
            log.warning(
                "%s-step: still above its tolerance of %g after all %d iterations in %d of %d rounds, "
                "at worst by a residual of %.1e; raise %s",
                name, tolerance, most, len(short), len(rows), max(short), advice,
            )  # fmt: skip


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
                log_terms(state.log, data.vocabulary.relations, seconds)
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
    rows = tuple(json.loads(metadata["log"]))
    log.info("going on from round %d of %s", len(rows), path)
    finished, passed = (json.loads(metadata[name]) for name in ("finished", "passed"))
    return AlsState(arrays["P"], arrays["R"], arrays["E"], len(rows), rows, finished), tuple(passed)
