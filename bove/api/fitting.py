"""Training of the estimator, on what the workflow's trainers do."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bove.api.corpus import Corpus, Vectors, mapped, stacked
from bove.api.starts import STARTS, start_tokens
from bove.errors import BoveError
from bove.factor.als import AlsSettings
from bove.factor.embedding import SOLVERS, Options
from bove.factor.model import Model
from bove.factor.training import Checks, TrainingData, als_training, sgd_library, start_properties
from bove.graphs import GraphCorpus

# what the trainers call those settings that the estimator calls otherwise
OTHER_NAMES = {"p_penalty": "penalty_P", "r_penalty": "penalty_R", "batch_sentences": "batch_graphs"}
_CHOICES = {
    "trainer": ("als", "sgd"), "dtype": ("float32", "float64"), "init": STARTS, "device": ("cpu", "cuda"),
}  # fmt: skip


@dataclass(frozen=True)
class Fitted:
    """What a training gives.

    Attributes:
        P, R: [c, r] and [d, r, r].
        rows: L by term, a dict a round.
        said: what else a model tells of its training.
        corpus: the graphs that L was summed over.
        E: [T, r] of the training graphs, or None.
    """

    P: np.ndarray
    R: np.ndarray
    rows: list[dict[str, Any]]
    said: dict[str, object]
    corpus: GraphCorpus
    E: np.ndarray | None = None


def settings_of(parameters: Mapping[str, Any]) -> Any:
    """The settings of the trainer that an estimator's parameters choose, checked with those of inference.

    Raises:
        BoveError: a parameter that can not be, or PyTorch is needed and missing.
    """
    values = {**parameters, **{name: parameters[own] for name, own in OTHER_NAMES.items()}}
    checks = Checks(values, lambda name: OTHER_NAMES.get(name, name))
    inference_of(values)
    for name, allowed in _CHOICES.items():
        if values[name] not in allowed:
            checks.fail(name, f"one of {', '.join(allowed)}")
    if values["init"] != "zero":
        values["restart_every"] = 0
    checks.least({"restart_every": 0})
    if values["trainer"] == "als":
        checks.als()
        kind: Any = AlsSettings
    else:
        checks.sgd()
        kind = sgd_library(values["device"], values["threads"]).SgdSettings
    return kind(**{name: values[name] for name in kind.__dataclass_fields__})


def inference_of(parameters: Mapping[str, Any]) -> Options:
    """How an estimator's parameters say that bags are inferred.

    Raises:
        BoveError: a parameter of inference that can not be.
    """
    checks = Checks(parameters)
    if parameters["solver"] not in SOLVERS:
        checks.fail("solver", f"one of {', '.join(SOLVERS)}")
    checks.least({"iterations": 1, "batch_tokens": 1, "threads": 1})
    checks.weights(("infer_tolerance",))
    checks.number("energy", "above 0 and at most 1", lambda value: 0 < value <= 1)
    return Options(*(parameters[name] for name in ("solver", "iterations", "infer_tolerance", "energy")))


def parameters_of(model: Model) -> dict[str, Any]:
    """The parameters of the estimator that made a model, or of one that would train as the workflow did."""
    told = model.hyperparameters
    kept = told.get("estimator", {})
    given = {OTHER_NAMES.get(name, name): value for name, value in told.items()}
    given |= {"dtype": model.properties.dtype.name, "random_state": told.get("seed")}
    return given | (dict(kept) if isinstance(kept, Mapping) else {})


def training_data(corpus: Corpus, vectors: Vectors | None, rank: int) -> TrainingData:
    """A corpus, with the pretrained vectors of those properties that have one.

    Raises:
        BoveError: no node at all, extra properties, or vectors of another length than the rank.
    """
    names = corpus.names
    if not corpus.arrays.n_tokens:
        raise BoveError("the graphs have no node, so there is nothing to learn from")
    if len(corpus.arrays.extra):
        raise BoveError("graphs with words outside of their vocabulary; make them without vectors to learn")
    known = mapped(vectors)
    frozen = np.array([name in known for name in names.properties], bool)
    held = [names.properties[row] for row in np.flatnonzero(frozen)]
    pretrained = stacked(known, held, rank)
    own = names.properties if names.are_own else ()
    return TrainingData(corpus.arrays, pretrained, frozen, names.slices(), names.relations, own)


def fit_als(
    data: TrainingData, settings: AlsSettings, rank: int, seed: int, dtype: str, init: str, threads: int
) -> Fitted:
    """Train by alternating least squares from node vectors as `init` says.

    Raises:
        BoveError: a start at 0 where no node has a property, or training that diverges.
    """
    E = start_tokens(data.corpus, rank, init, seed)
    trainer, state = als_training(data, start_properties(data, seed, dtype), settings, threads, E)
    for state in trainer.rounds(state):
        pass
    said = {"rounds": state.round, "init": init}
    return Fitted(state.P, state.R, list(state.log), said, data.corpus, state.E)


def fit_sgd(
    data: TrainingData, settings: Any, rank: int, seed: int, dtype: str, init: str, threads: int
) -> Fitted:
    """Train by stochastic gradient descent; the best epoch is kept.

    Raises:
        BoveError: another start than 0, no node with a property, or training that diverges.
    """
    if init != "zero":
        raise BoveError(f"init {init!r}: only for trainer 'als'; the other one has its own start")
    start_tokens(data.corpus, rank, init, seed)
    P = start_properties(data, seed, dtype)
    sgd = sgd_library(settings.device, threads)
    trainer = sgd.SgdTrainer(data.corpus, P, data.frozen, data.groups, settings, seed, threads)
    best: Any = None
    rows = []
    for epoch in trainer.epochs():
        rows.append(epoch.row)
        best = epoch if epoch.best else best
    said = {"epoch": best.row["round"], "epochs_done": len(rows)}
    return Fitted(best.P, best.R, rows, said, trainer.training)
