"""A trained model: P and R with all that is needed to use them, in one file; R dense or as low-rank factors.

Factors: R_k ≈ U_k V_kᵀ, the singular values split evenly between the two.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bove import artefacts
from bove.errors import BoveError
from bove.factor.graphs import GraphCorpus

FORMAT = "bove-model"


@dataclass(frozen=True)
class LowRank:
    """The factors of all relations side by side.

    Attributes:
        U, V: [r, Q] with Q the sum of the ranks; relation k has the columns `columns(k)`.
        ranks: [d] int64.
    """

    U: np.ndarray
    V: np.ndarray
    ranks: np.ndarray

    def columns(self, k: int) -> slice:
        """Columns of relation k in U and V."""
        end = int(self.ranks[: k + 1].sum())
        return slice(end - int(self.ranks[k]), end)

    def dense(self) -> np.ndarray:
        """[d, r, r] the matrices U_k V_kᵀ."""
        r = len(self.U)
        parts = [self.U[:, self.columns(k)] @ self.V[:, self.columns(k)].T for k in range(len(self.ranks))]
        return np.stack(parts) if parts else np.zeros((0, r, r), self.U.dtype)


def compress(R: np.ndarray, energy: float) -> LowRank:
    """Keep of each R_k [r, r] the fewest singular values that hold `energy` of its squared norm.

    At energy 1 all values above rounding are kept. A zero matrix keeps none.
    """
    r = R.shape[-1]
    U, V, ranks = [], [], []
    for R_k in R:
        left, s, right = np.linalg.svd(R_k.astype(np.float64))
        share = np.cumsum(s**2) / max(np.sum(s**2), np.finfo(float).tiny)
        above = int(np.sum(s > s[0] * r * np.finfo(R.dtype).eps)) if s[0] > 0 else 0
        q = above if energy >= 1 else min(above, int(np.searchsorted(share, energy) + 1))
        U.append(left[:, :q] * np.sqrt(s[:q]))
        V.append(right[:q].T * np.sqrt(s[:q]))
        ranks.append(q)
    empty = [np.zeros((r, 0))]
    return LowRank(
        np.concatenate(U or empty, axis=1).astype(R.dtype),
        np.concatenate(V or empty, axis=1).astype(R.dtype),
        np.array(ranks, np.int64),
    )


def singular_values(relations: np.ndarray | LowRank) -> list[np.ndarray]:
    """The singular values of each relation in float64, largest first.

    Of dense relations [d, r, r] there are r each, of factors as many as their rank.
    """
    if not isinstance(relations, LowRank):
        return [np.linalg.svd(R_k.astype(np.float64), compute_uv=False) for R_k in relations]
    found = []
    for k in range(len(relations.ranks)):
        at = relations.columns(k)
        U = np.linalg.qr(relations.U[:, at].astype(np.float64), mode="r")
        V = np.linalg.qr(relations.V[:, at].astype(np.float64), mode="r")
        found.append(np.linalg.svd(U @ V.T, compute_uv=False))
    return found


def effective_rank(values: np.ndarray) -> float:
    """exp of the entropy of the singular values' shares: q for q equal values; 0 where all are 0.

    After Roy and Vetterli (2007), "The effective rank: a measure of effective dimensionality".
    """
    total = values.sum()
    if not total > 0:
        return 0.0
    share = values[values > 0] / total
    return float(np.exp(-np.sum(share * np.log(share))))


def needed(values: np.ndarray, energy: float) -> int:
    """The fewest of the values, largest first, that hold `energy` (above 0, below 1) of the squared norm."""
    squares = np.cumsum(values**2)
    return int(np.searchsorted(squares, energy * squares[-1]) + 1) if len(values) and squares[-1] > 0 else 0


@dataclass(frozen=True)
class Model:
    """Property vectors and relation matrices.

    Attributes:
        properties: [c, r] P. frozen: [c] bool, rows held at pretrained vectors.
        relations: R, dense [d, r, r] or its factors.
        groups: name → (first, last) rows of P, such as words and tags.
        relation_names: [d] names of the relations.
        vocabulary_hash: of the vocabulary whose rows these are.
        hyperparameters: alpha, lambda_P, lambda_R, lambda_E and all else that training was given.
        versions: of the program and of the libraries it was trained with.
        property_names: [c] names of the properties; () where a vocabulary file has them.
        bag: [n, r] E of the graph that it was trained on, where no node of that has a property, so that it
            could not be inferred again; else None.
        own: [r, r] float64 Σ pᵀp of rows that are not kept, those of the training tokens' own vectors; None
            where there were none.
    """

    properties: np.ndarray
    relations: np.ndarray | LowRank
    frozen: np.ndarray
    groups: Mapping[str, tuple[int, int]]
    relation_names: tuple[str, ...]
    vocabulary_hash: str
    hyperparameters: Mapping[str, object]
    versions: Mapping[str, str] = field(default_factory=dict)
    property_names: tuple[str, ...] = ()
    bag: np.ndarray | None = None
    own: np.ndarray | None = None

    @property
    def rank(self) -> int:
        """r, the length of every vector."""
        return self.properties.shape[1]

    def gram(self) -> np.ndarray:
        """[r, r] PᵀP of all rows, kept or not."""
        PtP = self.properties.T @ self.properties
        return PtP if self.own is None else PtP + self.own

    def dense_relations(self) -> np.ndarray:
        """[d, r, r]."""
        return self.relations.dense() if isinstance(self.relations, LowRank) else self.relations

    def compress(self, energy: float) -> "Model":
        """The model with the factors of each relation that keep `energy` (0 to 1) of its squared norm."""
        return replace(self, relations=compress(self.dense_relations(), energy))

    @cached_property
    def hash(self) -> str:
        """Hex SHA-256 over the arrays and the hyperparameters; made once."""
        digest = hashlib.sha256()
        for name, array in sorted(self._arrays().items()):
            digest.update(f"{name}{array.dtype}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
        digest.update(json.dumps([dict(self.hyperparameters), self.vocabulary_hash], sort_keys=True).encode())
        return digest.hexdigest()

    def _arrays(self):
        arrays = {"P": self.properties, "frozen": self.frozen.astype(np.uint8)}
        if self.bag is not None:
            arrays["E"] = self.bag
        if self.own is not None:
            arrays["own"] = self.own
        if isinstance(self.relations, LowRank):
            return arrays | {"U": self.relations.U, "V": self.relations.V, "ranks": self.relations.ranks}
        return arrays | {"R": self.relations}

    def save(self, path: str | Path) -> None:
        """Write one safetensors file, whole or not at all."""
        metadata = {
            "groups": json.dumps(self.groups),
            "relations": json.dumps(self.relation_names),
            "vocabulary": self.vocabulary_hash,
            "hyperparameters": json.dumps(dict(self.hyperparameters), sort_keys=True),
            "versions": json.dumps(dict(self.versions), sort_keys=True),
            "hash": self.hash,
        }
        arrays = self._arrays()
        if self.property_names:
            arrays["names"], arrays["name_offsets"] = artefacts.pack_words(self.property_names)
        artefacts.save(path, FORMAT, arrays, metadata)

    @classmethod
    def load(cls, path: str | Path) -> "Model":
        """Read a model. Raises BoveError where the file is missing, damaged or not a model."""
        arrays, metadata = artefacts.load(path, FORMAT)
        names = (arrays["names"], arrays["name_offsets"]) if "names" in arrays else None
        low_rank = "U" in arrays
        return cls(
            properties=arrays["P"],
            relations=LowRank(arrays["U"], arrays["V"], arrays["ranks"]) if low_rank else arrays["R"],
            frozen=arrays["frozen"].astype(bool),
            groups={name: tuple(rows) for name, rows in json.loads(metadata["groups"]).items()},
            relation_names=tuple(json.loads(metadata["relations"])),
            vocabulary_hash=metadata["vocabulary"],
            hyperparameters=json.loads(metadata["hyperparameters"]),
            versions=json.loads(metadata["versions"]),
            property_names=tuple(artefacts.unpack_words(*names) if names else ()),
            bag=arrays.get("E"),
            own=arrays.get("own"),
        )

    def weight(self, name: str) -> float:
        """A weight of the loss, alpha or lambda_E, as it was in training."""
        relative = self.hyperparameters.get("scale") == "relative"
        numbers: Any = self.hyperparameters["absolute"] if relative else self.hyperparameters
        return float(numbers[name])

    def check(self, corpus: GraphCorpus, name: str) -> None:
        """Raise BoveError where graphs (called `name` in the message) were encoded by another vocabulary."""
        if corpus.vocabulary_hash != self.vocabulary_hash:
            raise BoveError(
                f"{name}: encoded with vocabulary {corpus.vocabulary_hash[:12]}, but the model has "
                f"{self.vocabulary_hash[:12]}; encode the sentences with the model's vocabulary"
            )
