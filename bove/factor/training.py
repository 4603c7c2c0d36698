"""Setup shared by all trainers: data, initialisation, the model, and what its user should know of it."""

import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from bove._version import __version__
from bove.errors import BoveError
from bove.factor.als import initial_properties
from bove.factor.graphs import GraphCorpus
from bove.factor.model import Model
from bove.factor.objective import Groups
from bove.factor.parallel import Peers, Workers
from bove.factor.penalties import P_ITERATIONS, P_TOLERANCE
from bove.factor.scale import SCALED, absolute
from bove.factor.settings import AlsSettings, ModelSettings, record
from bove.factor.steps import gram

# a model that explains less than this share of the properties, or of the edges, has shrunk to nothing
NOTHING = 0.001


@dataclass(frozen=True)
class TrainingData:
    """What a model is learnt from.

    Attributes:
        corpus: the graphs.
        vectors: [m, r] pretrained vectors of the frozen properties, in the order of their rows.
        frozen: [c] bool, rows of P that have one and stay.
        groups: rows of P by kind; each is a term of L.
        relation_names: [d].
        property_names: [c], or none where a vocabulary outside the model has them.
        own: how many of the last rows of P are vectors of single tokens, which a model does not keep.
    """

    corpus: GraphCorpus
    vectors: np.ndarray
    frozen: np.ndarray
    groups: Groups
    relation_names: tuple[str, ...]
    property_names: tuple[str, ...] = ()
    own: int = 0


@dataclass(frozen=True)
class Start:
    """Where training starts.

    Attributes:
        P: [c, r] property vectors: the frozen ones as they are, the others random.
        settings: the trainer's, with the numbers of equation 3 for relative ones.
        given: the trainer's, as they were given.
        E, R: [T, r] and [d, r, r] of the first R-step, which relative settings need; else None.
    """

    P: np.ndarray
    settings: Any
    given: Any
    E: np.ndarray | None = None
    R: np.ndarray | None = None


def start(
    data: TrainingData, settings: ModelSettings, seed: int, threads: int = 1, peers: Peers | None = None
) -> Start:
    """Where training starts; BoveError where settings are relative and the graphs give no scale."""
    relative = settings.scale == "relative"
    mix = 1 / max(1.0, settings.lambda_P) if relative else 0.0
    P = initial_properties(
        data.corpus.n_properties, data.vectors, data.frozen, seed, np.dtype(settings.dtype).type, mix
    )
    numbers, E, R = absolute(settings, data.corpus, P, data.frozen, threads, peers)
    return Start(P, numbers, settings, E, R)


def sgd_library(device: str, threads: int):
    """`bove.factor.sgd`, with PyTorch set to a number of threads and to the same bytes each time.

    Raises:
        BoveError: there is no PyTorch.
    """
    if device == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    try:
        import torch
    except ImportError as e:
        raise BoveError("training by SGD needs PyTorch; install it with: pip install 'bove[parse]'") from e
    torch.set_num_threads(threads)
    if device == "cuda":
        torch.use_deterministic_algorithms(True)
    from bove.factor import sgd

    return sgd


def make_model(
    data: TrainingData, P: np.ndarray, R: np.ndarray, start: Start, bag: np.ndarray | None = None,
    **more: object,
) -> Model:  # fmt: skip
    """The model of P [c, r] and R [d, r, r] with its provenance: the settings, and what else is given."""
    if start.given.scale == "relative":
        more["absolute"] = {name: getattr(start.settings, name) for name in SCALED}
    versions = {"bove": __version__, "python": platform.python_version()}
    versions |= {name: version(name) for name in ("numpy", "scipy")}
    kept = len(P) - data.own
    own = None
    if data.own:
        with Workers() as workers:
            own = gram(P[kept:], workers)
    return Model(
        properties=P[:kept],
        relations=np.ascontiguousarray(R),
        frozen=data.frozen[:kept],
        groups={name: (min(rows.start, kept), min(rows.stop, kept)) for name, rows in data.groups.items()},
        relation_names=data.relation_names,
        vocabulary_hash=data.corpus.vocabulary_hash,
        hyperparameters={**record(start.given), **more},
        versions=versions,
        property_names=data.property_names,
        bag=bag,
        own=own,
    )


def findings(
    rows: Sequence[dict], R: np.ndarray, settings: ModelSettings, groups: Iterable[str]
) -> list[str]:
    """What the user of a trained model should know, one sentence each.

    Penalties that have left nothing of R, of P or of E; steps of ALS that ran out of iterations.

    Args:
        rows: L by term, one dict per round. R: [d, r, r]. settings: the trainer's.
        groups: the terms of L that are about properties.
    """
    found, row = [], rows[-1]
    if settings.alpha and len(R) and not R.any():
        found.append(f"every relation is 0: lambda_R is too large for the {settings.penalty_R} penalty")
    edges = tuple(f"relation:{k}" for k in range(len(R)))
    for what, terms, advice in (
        ("properties", tuple(groups), "lambda_P and lambda_E are too large for so few nodes; lower both"),
        ("edges", edges, "lambda_R and lambda_E are too large for this alpha; lower both, or raise alpha"),
    ):
        explained = max((abs(row[f"explained:{name}"]) for name in terms), default=1.0)
        if explained < NOTHING and any(row[name] for name in terms):  # of what there is none, terms are 0
            found.append(f"the model explains {explained:.2%} of the {what}: {advice}")
    steps = {}
    if isinstance(settings, AlsSettings):
        steps["R"] = settings.r_tolerance, settings.r_iterations, "r_iterations or r_tolerance"
        steps["P"] = P_TOLERANCE, P_ITERATIONS, "lambda_P"
    for name, (tolerance, most, advice) in steps.items():
        taken = [(row[f"{name.lower()}_iterations"], row[f"{name.lower()}_residual"]) for row in rows]
        short = [residual for iterations, residual in taken if iterations >= most and residual > tolerance]
        if short:
            found.append(
                f"{name}-step: still above its tolerance of {tolerance:g} after all {most} iterations in "
                f"{len(short)} of {len(rows)} rounds, at worst by a residual of {max(short):.1e}; "
                f"raise {advice}"
            )
    return found
