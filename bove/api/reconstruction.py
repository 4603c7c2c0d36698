"""How much of a graph its bag explains."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bove.api.corpus import Corpus
from bove.factor.model import Model
from bove.factor.objective import objective


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
