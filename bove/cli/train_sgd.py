"""`bove train-sgd`: a model by stochastic gradient descent."""

import argparse
import logging
import sys
import time
from dataclasses import asdict
from pathlib import Path

from bove.cli.progress import Progress
from bove.cli.training import (
    Stopped,
    add_common_arguments,
    add_penalty_arguments,
    checks,
    load_training_data,
    model_of,
    say_findings,
    stoppable,
    write_times,
    write_training_log,
)
from bove.errors import BoveError
from bove.factor.training import TrainingData, sgd_library, start_properties

log = logging.getLogger("bove")


def register(parser: argparse.ArgumentParser) -> None:
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


def run(args: argparse.Namespace) -> None:
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
