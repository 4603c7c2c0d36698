"""What every training has, by command line or from Python: its data, its checks, its start and its model."""

import math
import numbers
import os
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from bove._version import __version__
from bove.errors import BoveError
from bove.factor.als import AlsSettings, AlsState, AlsTrainer, initial_properties, initial_state
from bove.factor.graphs import GraphCorpus
from bove.factor.model import Model
from bove.factor.objective import Groups
from bove.factor.parallel import Peers
from bove.factor.penalties import P_ITERATIONS, P_TOLERANCE, check_penalty

# how token vectors are updated
E_STEPS = ("averaged", "fixed-point", "single")
# a model that leaves more than this share of the properties' ones unexplained has shrunk to nothing
NOTHING_EXPLAINED = 0.999
# a matrix of more in each of its axes has no place in any machine
MOST_DIMENSIONS = 1 << 20


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
    """

    corpus: GraphCorpus
    vectors: np.ndarray
    frozen: np.ndarray
    groups: Groups
    relation_names: tuple[str, ...]
    property_names: tuple[str, ...] = ()


class Checks:
    """Checks of values by their names; BoveError names the value as its user knows it.

    Args:
        values: all values by name.
        shown: how a name is shown, such as with the dashes of the command line.
    """

    def __init__(self, values: Mapping[str, Any], shown: Callable[[str], str] = str):
        self.values, self.shown = values, shown

    def fail(self, name: str, due: str) -> None:
        """Raise BoveError: what the value is, and what is due."""
        raise BoveError(f"{self.shown(name)} {self.values[name]}: must be {due}")

    def number(self, name: str, due: str, allowed: Callable[[Any], bool]) -> None:
        """A finite number for which `allowed` holds; else raise BoveError with what is due."""
        value = self.values[name]
        if not isinstance(value, numbers.Real) or isinstance(value, bool):
            raise BoveError(f"{self.shown(name)} {value!r}: must be {due}")
        try:
            fits = math.isfinite(value) and allowed(value)
        except OverflowError:  # a whole number beyond all floats
            fits = False
        if not fits:
            self.fail(name, due)

    def least(self, bounds: Mapping[str, int]) -> None:
        """Whole numbers of at least the bound given for each."""
        for name, bound in bounds.items():
            value = self.values[name]
            if not isinstance(value, numbers.Integral) or isinstance(value, bool):
                raise BoveError(f"{self.shown(name)} {value!r}: must be a whole number of at least {bound}")
            if value < bound:
                self.fail(name, f"at least {bound}")

    def weights(self, names: Sequence[str]) -> None:
        """Finite numbers of at least 0."""
        for name in names:
            self.number(name, "a number of at least 0", lambda value: value >= 0)

    def common(self) -> None:
        """What every trainer has: rank, alpha, the penalties and their weights."""
        for factor in ("P", "R"):
            name = f"{factor.lower()}_penalty"
            check_penalty(factor, self.values[name], self.shown(name))
        self.least({"rank": 1})
        if self.values["rank"] > MOST_DIMENSIONS:
            self.fail("rank", f"at most {MOST_DIMENSIONS:,}")
        self.weights(("alpha", "lambda_P", "lambda_R", "lambda_E"))

    def als(self) -> None:
        """Values of `AlsSettings`, and the rank."""
        self.common()
        counts = ("max_rounds", "batch_tokens", "restart_iterations", "r_iterations")
        self.least(dict.fromkeys(counts, 1))
        self.weights(("tolerance", "e_tolerance", "r_tolerance"))
        if self.values["e_step"] not in E_STEPS:
            self.fail("e_step", f"one of {', '.join(E_STEPS)}")
        self.number("e_energy", "above 0 and at most 1", lambda value: 0 < value <= 1)

    def sgd(self) -> None:
        """Values of `bove.factor.sgd.SgdSettings`, and the rank."""
        self.common()
        self.least({"epochs": 1, "batch_sentences": 1, "negatives": 0, "patience": 1})
        self.number("learning_rate", "a number above 0", lambda value: value > 0)
        self.number("held_out", "at least 0 and below 1", lambda value: 0 <= value < 1)
        weight = self.values["negative_weight"]
        if isinstance(weight, str) and weight != "unbiased":
            self.fail("negative_weight", "a number of at least 0, or unbiased")
        if not isinstance(weight, str):
            self.number("negative_weight", "a number of at least 0, or unbiased", lambda value: value >= 0)


def start_properties(data: TrainingData, seed: int, dtype: str) -> np.ndarray:
    """[c, r] where property vectors start: the frozen ones as they are, the others random."""
    return initial_properties(data.corpus.n_properties, data.vectors, data.frozen, seed, np.dtype(dtype).type)


def als_training(
    data: TrainingData,
    P: np.ndarray,
    settings: AlsSettings,
    threads: int = 1,
    E: np.ndarray | None = None,
    peers: Peers | None = None,
) -> tuple[AlsTrainer, AlsState]:
    """The trainer, and the state that it starts from: P [c, r] as given, R = 0, E = 0 or as given."""
    trainer = AlsTrainer(data.corpus, data.frozen, data.groups, settings, threads, peers)
    return trainer, initial_state(data.corpus, P, E)


def sgd_library(device: str, threads: int):
    """`bove.factor.sgd`, with PyTorch told how many threads to use and to give the same bytes each time.

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
    data: TrainingData, P: np.ndarray, R: np.ndarray, hyperparameters: Mapping[str, object]
) -> Model:
    """The model of P [c, r] and R [d, r, r] with its provenance."""
    versions = {"bove": __version__, "python": platform.python_version()}
    versions |= {name: version(name) for name in ("numpy", "scipy")}
    return Model(
        properties=P,
        relations=np.ascontiguousarray(R),
        frozen=data.frozen,
        groups={name: (rows.start, rows.stop) for name, rows in data.groups.items()},
        relation_names=data.relation_names,
        vocabulary_hash=data.corpus.vocabulary_hash,
        hyperparameters=dict(hyperparameters),
        versions=versions,
        property_names=data.property_names,
    )


def findings(rows: Sequence[dict], R: np.ndarray, settings, ones: int, groups: Iterable[str]) -> list[str]:
    """What the user of a trained model should know, one sentence each.

    Args:
        rows: L by term, a dict a round. R: [d, r, r].
        settings: AlsSettings or SgdSettings.
        ones: properties of all tokens of the graphs that L was summed over.
        groups: the terms of L that are about properties.
    """
    found = _shrunk(rows[-1], R, settings, ones, groups)
    if isinstance(settings, AlsSettings):
        found += _limits(rows, settings)
    return found


def _shrunk(row: dict, R, settings, ones: int, groups: Iterable[str]) -> list[str]:
    """Where penalties have left nothing of R or of P."""
    found = []
    if settings.alpha and len(R) and not R.any():
        found.append(f"every relation is 0: lambda_R is too large for the {settings.r_penalty} penalty")
    left = sum(row[name] for name in groups)
    if ones and left > NOTHING_EXPLAINED * ones:
        found.append(
            f"the model explains {max(0.0, 1 - left / ones):.2%} of the {ones} properties: lambda_P and "
            "lambda_E are too large for so few nodes; lower both, to 1 for a small graph"
        )
    return found


def _limits(rows, settings: AlsSettings) -> list[str]:
    """Steps that ran out of iterations short of their tolerance."""
    steps = (
        ("R", settings.r_tolerance, settings.r_iterations, "r_iterations or r_tolerance"),
        ("P", P_TOLERANCE, P_ITERATIONS, "lambda_P"),
    )
    found = []
    for name, tolerance, most, advice in steps:
        taken = [(row[f"{name.lower()}_iterations"], row[f"{name.lower()}_residual"]) for row in rows]
        short = [residual for iterations, residual in taken if iterations >= most and residual > tolerance]
        if short:
            found.append(
                f"{name}-step: still above its tolerance of {tolerance:g} after all {most} iterations in "
                f"{len(short)} of {len(rows)} rounds, at worst by a residual of {max(short):.1e}; "
                f"raise {advice}"
            )
    return found
