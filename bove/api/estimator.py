"""The model as an estimator after scikit-learn's conventions, on the code of the workflow's stages."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bove.api.corpus import (
    BagList,
    Corpus,
    Names,
    Unseen,
    check_pool,
    kind_of,
    names_of,
    pool_names,
    pooled,
    shown,
    split,
    stacked,
)
from bove.api.graph import Graph, Vectors, mapped, seed_of
from bove.errors import BoveError, BoveWarning, similar
from bove.evaluate.alignment import bag_of
from bove.factor.als import AlsTrainer, initial_state
from bove.factor.graphs import GraphCorpus, filled
from bove.factor.inference import Inference
from bove.factor.model import Model
from bove.factor.objective import objective
from bove.factor.settings import (
    TRAINERS,
    AlsSettings,
    InferenceSettings,
    ModelSettings,
    SgdSettings,
    make,
    setting,
)  # fmt: skip
from bove.factor.training import (
    Start,
    TrainingData,
    findings,
    make_model,
    sgd_library,
    start,
)

Graphs = Iterable[Graph] | Corpus
# up to this many nodes all eigenvectors are made, which is exact
DENSE = 1000


@dataclass(frozen=True)
class OwnSettings:
    """What the estimator has beside the settings of the workflow's stages."""

    trainer: str = setting("als", help="Alternating least squares or SGD.", enum=tuple(TRAINERS))
    init: str = setting("zero", help="Where node vectors start.", enum=("zero", "random", "eigenvectors"))
    threads: int = setting(1, help="Threads to use.", minimum=1)


_EITHER, _NAMED = Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY
# training by ALS has a tolerance too
_INFERENCE = {"tolerance": "infer_tolerance"}


def inference_settings(parameters: Mapping[str, Any]) -> InferenceSettings:
    """The settings of inference among an estimator's parameters; BoveError for one that is not allowed."""
    values = {**parameters, "tolerance": parameters["infer_tolerance"]}
    return make(InferenceSettings, values, lambda name: _INFERENCE.get(name, name))


def training_settings(parameters: Mapping[str, Any]) -> tuple[AlsSettings | SgdSettings, OwnSettings]:
    """The settings of training among them; BoveError for one that is not allowed, those of inference too."""
    inference_settings(parameters)
    own = make(OwnSettings, parameters)
    never = {"restart_every": 0} if own.init != "zero" else {}
    return make(TRAINERS[own.trainer], {**parameters, **never}), own


def _signature() -> Signature:
    """The estimator's: every setting by its name, rank first."""
    kinds = (ModelSettings, OwnSettings, AlsSettings, SgdSettings)
    found = {one.name: one.default for kind in kinds for one in fields(kind)}
    del found["checkpoint_every"]
    found |= {_INFERENCE.get(one.name, one.name): one.default for one in fields(InferenceSettings)}
    first = [Parameter("self", _EITHER), Parameter("rank", _EITHER, default=found.pop("rank"))]
    named = {**found, "pool": None, "random_state": 1}
    return Signature([*first, *(Parameter(name, _NAMED, default=value) for name, value in named.items())])


_SIGNATURE = _signature()


def start_tokens(corpus: GraphCorpus, rank: int, start: str, seed: int) -> np.ndarray | None:
    """[T, r] node vectors to start from; None for 0.

    random: normal, of length about 1. eigenvectors: those of Σ_k X_k + X_kᵀ over the whole corpus with the
    largest eigenvalues in size, as RESCAL starts; columns that there are no eigenvectors for are 0.

    Raises:
        BoveError: a start at 0 where no node has a property, so that all would stay 0.
    """
    if start == "zero":
        if corpus.n_tokens and not len(corpus.properties):
            raise BoveError(
                "no node has a property, so node vectors that start at 0 stay there; give nodes properties, "
                "such as one of its own each, or set init to 'random' or 'eigenvectors'"
            )
        return None
    n, rng = corpus.n_tokens, np.random.default_rng(seed)
    if start == "random":
        return rng.standard_normal((n, rank)) / np.sqrt(rank)
    arcs = corpus.arc_head, corpus.arc_dependent
    X = sp.csr_array((filled(corpus.arc_weight, slice(None), len(arcs[0]), float), arcs), shape=(n, n))
    S, E, most = X + X.T, np.zeros((n, rank)), min(rank, n)
    if n <= max(DENSE, rank + 1):
        values, vectors = np.linalg.eigh(S.toarray())
    else:
        values, vectors = eigsh(S, most, v0=rng.standard_normal(n))
    order = np.argsort(-np.abs(values), kind="stable")[:most]
    E[:, :most] = vectors[:, order]
    return E


def start_bare(corpus: GraphCorpus, rank: int, init: str, seed: int) -> tuple[np.ndarray, np.ndarray | None]:
    """The graphs whose nodes have no property at all, and [T, r] where inference starts these.

    From 0 it would leave them there. Each starts by itself; None where none has to.

    Raises:
        BoveError: a start at 0.
    """
    owners = np.repeat(np.arange(corpus.n_graphs), corpus.lengths)
    owned = np.bincount(owners, np.diff(corpus.property_offsets), corpus.n_graphs)
    bare = np.flatnonzero((owned == 0) & (corpus.lengths > 0))
    if not len(bare):
        return bare, None
    if init == "zero":
        raise BoveError(
            f"graph {corpus.ids[bare[0]]!r}, of {len(bare)} such: no node has a property that the model has, "
            "so that its bag would be 0; give some nodes one, or fit with init 'random' or 'eigenvectors'"
        )
    start = np.zeros((corpus.n_tokens, rank))
    for s in bare:
        start[owners == s] = start_tokens(corpus.select(np.array([s])), rank, init, seed)
    return bare, start


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
    P, R, unweighted = model.properties, model.dense_relations(), ModelSettings(alpha=1)
    row = objective(arrays, P, R, E, names.slices(), unweighted, batch_tokens, threads)
    counts = arrays.arc_squares
    left = np.array([row[f"relation:{k}"] for k in range(len(names.relations))])
    by = {name: float(1 - left[k] / counts[k]) for k, name in enumerate(names.relations) if counts[k]}
    ones, arcs = arrays.property_squares.sum(), counts.sum()
    terms = sum(row[name] for name in names.groups)
    return Reconstruction(
        properties=float(1 - terms / ones) if ones else float("nan"),
        relations=float(1 - left.sum() / arcs) if arcs else float("nan"),
        by_relation=by,
    )


@dataclass(frozen=True)
class Fitted:
    """What a training gives.

    Attributes:
        P, R: [c, r] and [d, r, r].
        rows: L by term, one dict per round.
        said: what else a model tells of its training.
        E: [T, r] of the training graphs, or None.
        unfinished: it ended with all rounds done, and before its stopping rule held.
    """

    P: np.ndarray
    R: np.ndarray
    rows: list[dict[str, Any]]
    said: dict[str, object]
    E: np.ndarray | None = None
    unfinished: bool = False


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
    check_keys(known, names)
    frozen = np.array([name in known for name in names.properties], bool)
    held = [names.properties[row] for row in np.flatnonzero(frozen)]
    pretrained = stacked(known, held, rank)
    own = names.properties if names.are_own else ()
    return TrainingData(corpus.arrays, pretrained, frozen, names.slices(), names.relations, own)


def fit_als(data: TrainingData, begun: Start, seed: int, own: OwnSettings) -> Fitted:
    """Train by alternating least squares from node vectors as `init` says.

    Raises:
        BoveError: a start at 0 where no node has a property, or training that diverges.
    """
    E = start_tokens(data.corpus, begun.settings.rank, own.init, seed)
    trainer = AlsTrainer(data.corpus, data.frozen, data.groups, begun.settings, own.threads)
    state = initial_state(data.corpus, begun.P, begun.E if E is None else E, begun.R)
    for state in trainer.rounds(state):
        pass
    said = {"rounds": state.round, "init": own.init}
    unfinished = not state.finished and begun.settings.tolerance > 0
    return Fitted(state.P, state.R, list(state.log), said, state.E, unfinished)


def fit_sgd(data: TrainingData, begun: Start, seed: int, own: OwnSettings) -> Fitted:
    """Train by stochastic gradient descent; the best epoch is kept.

    Raises:
        BoveError: another start than 0, no node with a property, or training that diverges.
    """
    if own.init != "zero":
        raise BoveError(f"init {own.init!r}: only for trainer 'als'; the other one has its own start")
    settings, P = begun.settings, begun.P
    start_tokens(data.corpus, settings.rank, own.init, seed)
    sgd = sgd_library(settings.device, own.threads)
    trainer = sgd.SgdTrainer(data.corpus, P, data.frozen, data.groups, settings, seed, own.threads)
    best: Any = None
    rows = []
    for epoch in trainer.epochs():
        rows.append(epoch.row)
        best = epoch if epoch.best else best
    said = {"epoch": best.row["round"], "epochs_done": len(rows)}
    return Fitted(best.P, best.R, rows, said)


def check_keys(vectors: Vectors, names: Names) -> None:
    """BoveError where vectors are of no property of the graphs, or some of a kind that no property has."""
    kinds, listed = set(map(kind_of, names.properties)), vectors if isinstance(vectors, dict) else ()
    strange = [key for key in listed if not isinstance(key, str) or kind_of(key) not in kinds]
    if not strange and len(vectors) and not any(name in vectors for name in names.properties):
        strange = [next(iter(vectors))]
    if strange:
        raise BoveError(
            f"vectors of {strange[0]!r}: no node has a property of that name or kind; properties are called "
            f"as {', '.join(map(repr, names.properties[:3])) or 'nothing, since there are none'}"
        )


class BoVE(TransformerMixin, BaseEstimator):
    """Bag-of-vector embeddings: a vector for every node of a graph, from its properties and its relations.

    Minimises over graphs (Popa and Henderson 2017)::

        Σ ||W − P Eᵀ||² + alpha Σ ||X_k − E R_k Eᵀ||²
            + lambda_P ||P||² + lambda_R ||R||² + lambda_E Σ ||E||²

    and infers E for others with P and R fixed. By default alpha and the penalties are relative,
    multiples of what the graphs weigh; `scale="absolute"` takes them as they stand above.

    Args:
        rank, alpha, lambda_P, lambda_R, lambda_E, scale, penalty_P, penalty_R, trainer, dtype: as `model` in
            the workflow's configuration.
        init: where node vectors start (als): "zero", or "random" or "eigenvectors", for graphs without
            properties; "eigenvectors" are for one graph. Without "zero" nothing is restarted at 0 either, and
            in inference graphs without any property start there too.
        max_rounds, tolerance, stop, restart_every, restart_iterations: as `model.als` there.
        e_step, e_tolerance, e_energy, r_tolerance, r_iterations: likewise.
        batch_tokens: nodes worked on at once, in training and in inference.
        learning_rate, epochs, negatives, negative_weight, patience, held_out, device: as `model.sgd` there.
        batch_sentences: graphs of a mini-batch, as `model.sgd` there.
        solver, iterations, energy: as `inference` there.
        infer_tolerance: as `inference.tolerance` there.
        threads: the result does not depend on them (als).
        pool: what `transform` gives. None: a bag for each graph, in a list. Else one row for each graph, as
            classifiers and other steps of a pipeline take it. "mean": the mean of the bag's vectors. "gram":
            the upper triangle of EᵀE / n by rows, cells off the diagonal times √2, so that inner products
            are those of the matrices. "both": one after the other.
        random_state: whole number, RandomState or None.

    Attributes:
        model_: P, R and all that is needed to use them.
        names_: of properties and relations, by row.
        properties_: [c, r] P.
        relations_: [d, r, r] R.
        losses_: the loss by term, one dict per round; a loaded model has none.
        n_iter_: rounds or epochs done; a loaded model has none.
        bags_: the training graphs' own [n, r] E (als); a loaded model has them only where it was fitted to
            a single graph without properties.
    """

    def __init__(self, *args: Any, **given: Any):
        for name in given.keys() - _SIGNATURE.parameters.keys():
            hint = similar(name, _SIGNATURE.parameters).rstrip()
            raise TypeError(f"BoVE() got an unexpected keyword argument {name!r}{hint and '; '}{hint}")
        bound = _SIGNATURE.bind(self, *args, **given)
        bound.apply_defaults()
        for name, value in list(bound.arguments.items())[1:]:
            setattr(self, name, value)

    __init__.__signature__ = _SIGNATURE  # type: ignore[attr-defined]

    def fit(self, X: Graphs, y: object = None, *, vectors: Vectors | None = None) -> "BoVE":
        """Learn P and R of graphs.

        Args:
            X: graphs; read once.
            y: ignored.
            vectors: pretrained [r] vectors of some properties, by name; these keep them. There may be
                more, of the kinds of property that the graphs have.

        Raises:
            BoveError: a setting or a graph that is not allowed, vectors of no property, no node at all, or
                training that diverges.
        """
        settings, own = training_settings(self.get_params())
        check_pool(self.pool)
        corpus = Corpus.of(X)
        data = training_data(corpus, vectors, settings.rank)
        seed = seed_of(self.random_state)
        begun = start(data, settings, seed, own.threads)
        got = (fit_als if own.trainer == "als" else fit_sgd)(data, begun, seed, own)
        self.losses_, self.n_iter_ = got.rows, len(got.rows)
        for name in ("bags_", "_trained_on"):
            self.__dict__.pop(name, None)
        if got.E is not None:
            self.bags_ = split(got.E, corpus)
            self._trained_on = corpus.digest() if len(corpus) == 1 else ""
        for line in (*corpus.unlinked(), *findings(got.rows, got.R, begun.settings, data.groups)):
            warnings.warn(line, BoveWarning, stacklevel=2)
        if got.unfinished:
            said = f"training did all of its {len(got.rows)} rounds and had not converged"
            advice = "raise max_rounds, or tolerance; a tolerance of 0 asks for all rounds"
            warnings.warn(f"{said}; {advice}", ConvergenceWarning, stacklevel=2)
        more: dict[str, Any] = {**got.said, "seed": seed, "estimator": self._kept()}
        bag = None
        if got.E is not None and len(corpus) == 1 and not len(corpus.arrays.properties):
            bag, more["graph_sha256"] = got.E, self._trained_on
        self._take(make_model(data, got.P, got.R, begun, bag, **more), corpus.names)
        return self

    def transform(self, X: Graphs, *, vectors: Vectors | None = None) -> list[np.ndarray] | np.ndarray:
        """The bag of each graph: [n, r] float, one row per node in the order of its nodes.

        With `pool` one array instead, a row for each graph, 0 for one without nodes: [len(X), r] of means, or
        [len(X), r (r + 1) / 2] for "gram".

        A graph's bag depends on that graph alone. What the model does not know is left out, with a warning; a
        node without anything known has a vector from its neighbours, or 0. The bag of a single graph without
        properties is kept by the model that was fitted to it.

        Args:
            X: graphs.
            vectors: pretrained [r] vectors of properties that the model does not know, by name.

        Raises:
            BoveError: something else than graphs, a graph without any property that the model knows where
                `init` is "zero", or inference that diverges.
            sklearn.exceptions.NotFittedError: before `fit`.
        """
        check_is_fitted(self, "model_")
        check_pool(self.pool)
        corpus = self._numbered(Corpus.of(X), vectors)
        bags = split(self._infer(corpus)[0], corpus)
        if self.pool is None:
            return BagList(bags)
        return pooled(bags, self.model_.rank, self.pool, self.properties_.dtype)

    @available_if(lambda self: self.pool is not None)
    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Names of the columns that `pool` gives, only with it: bove0, bove1, … and gram0_0, gram0_1, …"""
        check_is_fitted(self, "model_")
        return np.array(pool_names(self.model_.rank, self.pool), object)

    def _bag_of(self, graph: Graph) -> np.ndarray:
        """[n, r] of one graph: where training was of it alone, what that ended with; else inferred."""
        check_is_fitted(self, "model_")
        corpus = Corpus.of([graph])
        if getattr(self, "_trained_on", "") == corpus.digest():
            return self.bags_[0]
        return self._infer(self._numbered(corpus, None))[0]

    def evidence(self, X: Graphs, *, vectors: Vectors | None = None) -> list[np.ndarray]:
        """The evidence of each graph's nodes, [n] float64: weights for the scores of their bags.

        It is pᵀe, of a node's vector e and the sum p of its properties' vectors: how far the model
        reconstructs them. Of graphs of sentences the words alone count. Arguments and errors are those of
        `transform`.
        """
        check_is_fitted(self, "model_")
        corpus = self._numbered(Corpus.of(X), vectors)
        return split(self._infer(corpus)[1], corpus)

    def fit_transform(self, X: Graphs, y: object = None, **given: Any) -> list[np.ndarray] | np.ndarray:
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
        alpha = make(ModelSettings, {"alpha": self.alpha}).alpha
        got = self._explained(corpus)
        squares = corpus.arrays.property_squares, corpus.arrays.arc_squares
        weights = np.array([squares[0].sum(), alpha * squares[1].sum()])
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
        """What the model does not know of graphs: names with their counts."""
        check_is_fitted(self, "model_")
        return Corpus.of(X).numbered_as(self.names_, vectors)[1]

    def save(self, path: str | Path) -> None:
        """Write the model with its names and settings, whole or not at all; `bove` stages read it too.

        Raises:
            BoveError: the file cannot be written.
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
        names, recorded = names_of(model, path, vocabulary), model.hyperparameters
        kept = recorded.get("estimator", {})
        given = {**recorded, "dtype": model.properties.dtype.name, "random_state": recorded.get("seed")}
        given |= kept if isinstance(kept, Mapping) else {}
        made = cls(**{name: given[name] for name in cls._get_param_names() if name in given})
        made._take(model, names)
        return made

    def _take(self, model: Model, names: Names) -> None:
        self.model_, self.names_ = model, names
        self.properties_, self.relations_ = model.properties, model.dense_relations()
        if model.bag is not None:
            self.bags_ = [model.bag]
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
            for kind, counts in zip(("properties", "edges", "unknown cells"), unseen, strict=True)
            if counts
        ]
        if said:
            warnings.warn(f"the model leaves out {' and '.join(said)}", BoveWarning, stacklevel=3)
        return numbered

    def _infer(self, corpus: Corpus) -> tuple[np.ndarray, np.ndarray]:
        """[T, r] the bags of all graphs, one after another, and their evidence [T]."""
        parameters = self.get_params()
        settings, threads = inference_settings(parameters), make(OwnSettings, parameters).threads
        inference = getattr(self, "_inference", None)
        if inference is None or inference.settings != settings:
            inference = self._inference = Inference(self.model_, settings)
        arrays, bag, known = corpus.arrays, self.model_.bag, self.model_.hyperparameters.get("graph_sha256")
        if bag is not None and corpus.digest() == known:
            return bag, np.zeros(len(bag))
        seed = int(self.model_.hyperparameters.get("seed", 1))  # type: ignore[call-overload]
        bare, start = start_bare(arrays, self.model_.rank, parameters["init"], seed)
        if start is None:
            return inference.tokens(arrays, "the graphs", threads)
        rest = np.setdiff1d(np.arange(arrays.n_graphs), bare)
        E, evidence = inference.tokens(arrays, "the graphs", threads, rest)
        E += inference.tokens(arrays, "the graphs", threads, bare, start)[0]
        for s in bare if bag is not None else ():
            if replace(corpus, arrays=arrays.select(np.array([s]))).digest() == known:
                E[arrays.token_offsets[s] : arrays.token_offsets[s + 1]] = bag
        return E, evidence

    def _explained(self, corpus: Corpus) -> Reconstruction:
        return explained(self.model_, corpus, self._infer(corpus)[0], self.batch_tokens, self.threads)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags
