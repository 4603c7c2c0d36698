"""The model as an estimator after scikit-learn's conventions, on the code of the workflow's stages."""

import warnings
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bove.api.checks import bag_of, seed_of
from bove.api.corpus import Corpus, Unseen, Vectors, shown, split
from bove.api.fitting import fit_als, fit_sgd, inference_of, parameters_of, settings_of, training_data
from bove.api.graph import Graph
from bove.api.names import Names, names_of
from bove.api.reconstruction import Reconstruction, explained
from bove.errors import BoveError, BoveWarning
from bove.factor.embedding import Inference, infer_tokens
from bove.factor.model import Model
from bove.factor.training import Checks, findings, make_model

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
        arrays = corpus.arrays
        infer, every = inference.solver(arrays, "the graphs"), np.arange(arrays.n_graphs)
        return infer_tokens(infer, arrays, every, self.batch_tokens, self.model_.properties, self.threads)

    def _explained(self, corpus: Corpus) -> Reconstruction:
        return explained(self.model_, corpus, self._infer(corpus), self.batch_tokens, self.threads)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags
