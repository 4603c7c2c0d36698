"""The model as an estimator after scikit-learn's conventions, on the code of the workflow's stages."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bove.api.corpus import Corpus, Names, Unseen, Vectors, mapped, names_of, shown, split, stacked
from bove.api.graph import Graph, bag_of, seed_of
from bove.errors import BoveError, BoveWarning
from bove.factor.als import AlsSettings
from bove.factor.graphs import GraphCorpus
from bove.factor.inference import SOLVERS, Inference, Options
from bove.factor.model import Model
from bove.factor.objective import objective
from bove.factor.training import (
    Checks,
    TrainingData,
    als_training,
    findings,
    make_model,
    sgd_library,
    start_properties,
)

# Where the node vectors of a training may start, if not at 0.

STARTS = ("zero", "random", "eigenvectors")
# up to this many nodes all eigenvectors are made, which is exact
DENSE = 1000


def start_tokens(corpus: GraphCorpus, rank: int, start: str, seed: int) -> np.ndarray | None:
    """[T, r] node vectors to start from; None for 0.

    random: normal, of length about 1. eigenvectors: those of Σ_k X_k + X_kᵀ over the whole corpus with the
    largest eigenvalues in size, as RESCAL starts; columns that there are no eigenvectors for are 0.

    Raises:
        BoveError: an unknown start, or one at 0 where no node has a property, so that all would stay 0.
    """
    if start not in STARTS:
        raise BoveError(f"init {start!r}: must be one of {', '.join(STARTS)}")
    if start == "zero":
        if corpus.n_tokens and not len(corpus.properties):
            raise BoveError(
                "no node has a property, so node vectors that start at 0 stay there; give nodes properties, "
                "such as one of its own each, or set init to 'random' or 'eigenvectors'"
            )
        return None
    n = corpus.n_tokens
    rng = np.random.default_rng(seed)
    if start == "random":
        return rng.standard_normal((n, rank)) / np.sqrt(rank)
    ones = np.ones(len(corpus.arc_head))
    X = sp.csr_array((ones, (corpus.arc_head, corpus.arc_dependent)), shape=(n, n))
    S, E = X + X.T, np.zeros((n, rank))
    most = min(rank, n)
    if n <= max(DENSE, rank + 1):
        values, vectors = np.linalg.eigh(S.toarray())
    else:
        values, vectors = eigsh(S, most, v0=rng.standard_normal(n))
    order = np.argsort(-np.abs(values), kind="stable")[:most]
    E[:, :most] = vectors[:, order]
    return E


# How much of a graph its bag explains.


@dataclass(frozen=True)
class Reconstruction:
    """How much of the cells of some graphs a model's bags explain; 1 is all, 0 what zeros would.

    1 − ||W − P Eᵀ||² / ||W||² for the properties, 1 − Σ_k ||X_k − E R_k Eᵀ||² / ||X||² for the relations;
    not a number where there are none. What the model does not know is in neither.

    Attributes:
        properties, relations: of all cells of either kind.
        by_relation: of each relation that the graphs have, by name.
    """

    properties: float
    relations: float
    by_relation: Mapping[str, float]


def explained(model: Model, corpus: Corpus, E: np.ndarray, batch_tokens: int, threads: int) -> Reconstruction:
    """What the bags E [T, r] of a corpus in the model's numbers explain of it."""
    arrays, names = corpus.without_extra().arrays, corpus.names
    row = objective(
        arrays, model.properties, model.dense_relations(), E, groups=names.slices(), alpha=1.0, lambda_P=0.0,
        lambda_R=0.0, lambda_E=0.0, batch_tokens=batch_tokens, threads=threads,
    )  # fmt: skip
    counts = np.bincount(arrays.arc_relation, minlength=len(names.relations))
    left = np.array([row[f"relation:{k}"] for k in range(len(names.relations))])
    by = {name: float(1 - left[k] / counts[k]) for k, name in enumerate(names.relations) if counts[k]}
    ones, arcs = len(arrays.properties), int(counts.sum())
    terms = sum(row[name] for name in names.groups)
    return Reconstruction(
        properties=float(1 - terms / ones) if ones else float("nan"),
        relations=float(1 - left.sum() / arcs) if arcs else float("nan"),
        by_relation=by,
    )


# Training of the estimator, on what the workflow's trainers do.

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


# The model as an estimator after scikit-learn's conventions, on the code of the workflow's stages.

Graphs = Iterable[Graph] | Corpus


class BoVE(TransformerMixin, BaseEstimator):
    """Bag-of-vector embeddings: a vector for every node of a graph, from its properties and its relations.

    Minimises over graphs (Popa and Henderson 2017)::

        Σ ||W − P Eᵀ||² + alpha Σ ||X_k − E R_k Eᵀ||²
            + lambda_P ||P||² + lambda_R ||R||² + lambda_E Σ ||E||²

    and infers E for others with P and R fixed. The penalties' defaults are those of a treebank of some
    100,000 tokens; small graphs need small ones, such as 1.

    Args:
        rank, alpha, lambda_P, lambda_R, lambda_E, penalty_P, penalty_R, trainer, dtype: as `model` in the
            workflow's configuration.
        init: where node vectors start (als): "zero", or "random" or "eigenvectors", for graphs without
            properties; "eigenvectors" are for one graph. Without "zero" nothing is restarted at 0 either.
        max_rounds, tolerance, restart_every, restart_iterations: as `model.als` there.
        e_step, e_tolerance, e_energy, r_tolerance, r_iterations: likewise.
        batch_tokens: nodes worked on at once, in training and in inference.
        learning_rate, epochs, negatives, negative_weight, patience, held_out, device: as `model.sgd` there.
        batch_graphs: as `model.sgd.batch_sentences` there.
        solver, iterations, energy: as `inference` there.
        infer_tolerance: as `inference.tolerance` there.
        threads: the result does not depend on them (als).
        random_state: whole number, RandomState or None.

    Attributes:
        model_: P, R and all that is needed to use them.
        names_: of properties and relations, by row.
        properties_: [c, r] P.
        relations_: [d, r, r] R.
        losses_: the loss by term, one dict a round; a loaded model has none.
        n_iter_: rounds or epochs done; a loaded model has none.
        bags_: the training graphs' own [n, r] E (als); a loaded model has none.
    """

    def __init__(
        self,
        rank: int = 300,
        *,
        alpha: float = 10,
        lambda_P: float = 1000,
        lambda_R: float = 0.1,
        lambda_E: float = 3000,
        penalty_P: str = "l2",
        penalty_R: str = "l2",
        trainer: str = "als",
        dtype: str = "float32",
        init: str = "zero",
        max_rounds: int = 20,
        tolerance: float = 0.001,
        restart_every: int = 10,
        restart_iterations: int = 10,
        e_step: str = "averaged",
        e_tolerance: float = 0.001,
        e_energy: float = 0.99,
        r_tolerance: float = 0.001,
        r_iterations: int = 50,
        batch_tokens: int = 4096,
        learning_rate: float = 0.5,
        epochs: int = 30,
        batch_graphs: int = 64,
        negatives: int = 5,
        negative_weight: float | str = 1,
        patience: int = 3,
        held_out: float = 0.05,
        device: str = "cpu",
        solver: str = "fixed-point",
        iterations: int = 30,
        infer_tolerance: float = 0.001,
        energy: float = 0.99,
        threads: int = 1,
        random_state: Any = 1,
    ):
        self.rank = rank
        self.alpha = alpha
        self.lambda_P = lambda_P
        self.lambda_R = lambda_R
        self.lambda_E = lambda_E
        self.penalty_P = penalty_P
        self.penalty_R = penalty_R
        self.trainer = trainer
        self.dtype = dtype
        self.init = init
        self.max_rounds = max_rounds
        self.tolerance = tolerance
        self.restart_every = restart_every
        self.restart_iterations = restart_iterations
        self.e_step = e_step
        self.e_tolerance = e_tolerance
        self.e_energy = e_energy
        self.r_tolerance = r_tolerance
        self.r_iterations = r_iterations
        self.batch_tokens = batch_tokens
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.batch_graphs = batch_graphs
        self.negatives = negatives
        self.negative_weight = negative_weight
        self.patience = patience
        self.held_out = held_out
        self.device = device
        self.solver = solver
        self.iterations = iterations
        self.infer_tolerance = infer_tolerance
        self.energy = energy
        self.threads = threads
        self.random_state = random_state

    def fit(self, X: Graphs, y: object = None, *, vectors: Vectors | None = None) -> "BoVE":
        """Learn P and R of graphs.

        Args:
            X: graphs; read once.
            y: ignored.
            vectors: pretrained [r] vectors of some properties, by name; these keep them.

        Raises:
            BoveError: a setting or a graph that can not be, no node at all, or training that diverges.
        """
        settings = settings_of(self.get_params())
        corpus = Corpus.of(X)
        data = training_data(corpus, vectors, self.rank)
        seed = seed_of(self.random_state)
        fit = fit_als if self.trainer == "als" else fit_sgd
        got = fit(data, settings, self.rank, seed, self.dtype, self.init, self.threads)
        self.losses_, self.n_iter_ = got.rows, len(got.rows)
        self.__dict__.pop("bags_", None)
        if got.E is not None:
            self.bags_ = split(got.E, corpus)
        for line in findings(got.rows, got.R, settings, len(got.corpus.properties), data.groups):
            warnings.warn(line, BoveWarning, stacklevel=2)
        origin = {"trainer": self.trainer, **asdict(settings), **got.said, "rank": self.rank, "seed": seed}
        self._take(make_model(data, got.P, got.R, {**origin, "estimator": self._kept()}), corpus.names)
        return self

    def transform(self, X: Graphs, *, vectors: Vectors | None = None) -> list[np.ndarray]:
        """The bag of each graph: [n, r] float, a row a node in the order of its nodes.

        A graph's bag depends on that graph alone. What the model does not know is left out, with a warning; a
        node without anything known has a vector from its neighbours, or 0.

        Args:
            X: graphs.
            vectors: pretrained [r] vectors of properties that the model does not know, by name.

        Raises:
            BoveError: something else than graphs, or inference that diverges.
            sklearn.exceptions.NotFittedError: before `fit`.
        """
        check_is_fitted(self, "model_")
        corpus = self._numbered(Corpus.of(X), vectors)
        return split(self._infer(corpus), corpus)

    def fit_transform(self, X: Graphs, y: object = None, **given: Any) -> list[np.ndarray]:
        """`fit`, then `transform` of the same graphs."""
        corpus = Corpus.of(X)
        return self.fit(corpus, y, **given).transform(corpus, **given)

    def score_reconstruction(self, X: Graphs, *, vectors: Vectors | None = None) -> Reconstruction:
        """How much of the graphs' properties and relations their bags explain.

        Arguments and errors are those of `transform`.
        """
        check_is_fitted(self, "model_")
        corpus = self._numbered(Corpus.of(X), vectors)
        return self._explained(corpus)

    def score(self, X: Graphs, y: object = None) -> float:
        """Share of all cells that is explained, relations weighted by alpha, for choosing among settings.

        Comparable between models of the same alpha alone.
        """
        check_is_fitted(self, "model_")
        corpus = self._numbered(Corpus.of(X), None)
        Checks(self.get_params()).weights(("alpha",))
        got = self._explained(corpus)
        weights = np.array([len(corpus.arrays.properties), self.alpha * len(corpus.arrays.arc_relation)])
        parts = np.nan_to_num([got.properties, got.relations])
        return float(weights @ parts / weights.sum()) if weights.sum() else 0.0

    def score_edges(self, bag: np.ndarray, relation: str) -> np.ndarray:
        """[n, n] E R_k Eᵀ: how much the model expects an edge of a relation from node i to node j.

        Raises:
            BoveError: a relation that the model does not know, or no bag of its rank.
        """
        check_is_fitted(self, "model_")
        bag = bag_of(bag, self.model_.rank)
        if not isinstance(relation, str) or relation not in self.names_.relation_rows:
            raise BoveError(
                f"the model has no relation {relation!r}; it has: {', '.join(self.names_.relations)}"
            )
        return bag @ self.relations_[self.names_.relation_rows[relation]] @ bag.T

    def unseen(self, X: Graphs, *, vectors: Vectors | None = None) -> Unseen:
        """What the model does not know of graphs: names, with how often each stands there."""
        check_is_fitted(self, "model_")
        return Corpus.of(X).numbered_as(self.names_, vectors)[1]

    def save(self, path: str | Path) -> None:
        """Write the model with its names and settings, whole or not at all; `bove` stages read it too.

        Raises:
            BoveError: the file can not be written.
        """
        check_is_fitted(self, "model_")
        self.model_.save(path)

    @classmethod
    def load(cls, path: str | Path, vocabulary: str | Path | None = None) -> "BoVE":
        """A fitted estimator of a file.

        Args:
            path: what `save` or the workflow wrote.
            vocabulary: the workflow's vocabulary.json, for its models, which have no names in them.

        Raises:
            BoveError: the file is missing, damaged, or without names, or of another vocabulary.
        """
        model = Model.load(path)
        names = names_of(model, path, vocabulary)
        known = cls().get_params()
        made = cls(**{name: value for name, value in parameters_of(model).items() if name in known})
        made._take(model, names)
        return made

    def _take(self, model: Model, names: Names) -> None:
        self.model_, self.names_ = model, names
        self.properties_, self.relations_ = model.properties, model.dense_relations()
        self._inference: Inference | None = None

    def _kept(self) -> dict[str, Any]:
        """The settings that a file keeps: numbers and texts."""
        return {
            name: value
            for name, value in self.get_params().items()
            if value is None or (isinstance(value, int | float | str) and not isinstance(value, np.generic))
        }

    def _numbered(self, corpus: Corpus, vectors: Vectors | None) -> Corpus:
        """The corpus in the model's numbers; a warning of what the model does not know."""
        numbered, unseen = corpus.numbered_as(self.names_, vectors, self.model_.rank)
        said = [
            f"{counts.total()} {kind} of {len(counts)} unknown names ({shown(counts)})"
            for kind, counts in zip(("properties", "edges"), unseen, strict=True)
            if counts
        ]
        if said:
            warnings.warn(f"the model leaves out {' and '.join(said)}", BoveWarning, stacklevel=3)
        return numbered

    def _infer(self, corpus: Corpus) -> np.ndarray:
        """[T, r] the bags of all graphs, one after another."""
        options = inference_of(self.get_params())
        inference = getattr(self, "_inference", None)
        if inference is None or inference.options != options:
            inference = self._inference = Inference(self.model_, "bove", options)
        return inference.tokens(corpus.arrays, "the graphs", self.batch_tokens, self.threads)

    def _explained(self, corpus: Corpus) -> Reconstruction:
        return explained(self.model_, corpus, self._infer(corpus), self.batch_tokens, self.threads)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags
