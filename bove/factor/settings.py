"""The settings of training and inference. Each is declared here once: name, type, default, range and help.

The rest is made from these fields: the options of commands, the blocks of the configuration's schema, the
defaults and checks of the estimator, and what a model's file records. A range is written in the words of JSON
Schema: minimum, exclusiveMinimum, maximum, exclusiveMaximum and enum. A field with `recorded=False` makes no
difference to a model, or the model shows it anyway.
"""

import numbers
import operator
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from inspect import get_annotations
from types import UnionType
from typing import Any, ClassVar, TypeVar

from bove.errors import BoveError, finite

# a matrix with more rows or columns than this fits in no memory
MOST_DIMENSIONS = 1 << 20
_BOUNDS = {
    "minimum": ("at least", operator.ge),
    "exclusiveMinimum": ("above", operator.gt),
    "maximum": ("at most", operator.le),
    "exclusiveMaximum": ("below", operator.lt),
}
_TYPES = {int: "integer", float: "number", bool: "boolean", str: "string"}
_NUMBERS = {int: ("a whole number", numbers.Integral), float: ("a finite number", numbers.Real)}


def setting(default: Any, help: str, recorded: bool = True, **rules: Any) -> Any:
    """A field of the classes below."""
    return field(default=default, metadata={"help": help, "recorded": recorded, "rules": rules})


@dataclass(frozen=True)
class ModelSettings:
    """What both trainers need; `model` in the configuration."""

    rank: int = setting(300, help="Dimension of every vector.", minimum=1, maximum=MOST_DIMENSIONS)
    scale: str = setting(
        "relative",
        help="Whether alpha and the lambdas are multiples of what the training graphs weigh, so that the "
        "same four numbers suit any vectors and any treebank, or those of the objective itself.",
        enum=("relative", "absolute"),
    )
    alpha: float = setting(
        0.07,
        help="Weight of relations against properties; 0 switches relations off. Relative: how far their "
        "first pull moves the token vectors, as a share of their size.",
        minimum=0,
    )
    lambda_P: float = setting(
        100,
        help="Regularisation of property vectors. Relative: how many times shorter than pretrained vectors "
        "the trained ones are, roughly. Too small a value lets the tags swamp the words.",
        minimum=0,
    )
    lambda_R: float = setting(
        0.1,
        help="Regularisation of relation matrices. Relative: a multiple of the mean diagonal of the operator "
        "that gives them.",
        minimum=0,
    )
    lambda_E: float = setting(
        1,
        help="Regularisation of token vectors. Relative: a multiple of the mean diagonal of PᵀP.",
        minimum=0,
    )
    penalty_P: str = setting(
        "l2",
        help="What lambda_P weighs. Squares, or absolute values, which give exact zeros.",
        enum=("l2", "l1"),
    )
    penalty_R: str = setting(
        "l2",
        help="What lambda_R weighs. Squares, absolute values, or each matrix's singular values (nuclear), "
        "which gives exact low rank; nuclear-shrink only lowers those of the least-squares solution. "
        "l1 and nuclear need a smaller lambda_R and more als.r_iterations.",
        enum=("l2", "l1", "nuclear", "nuclear-shrink"),
    )
    dtype: str = setting(
        "float32", help="Precision of training.", recorded=False, enum=("float32", "float64")
    )


@dataclass(frozen=True)
class AlsSettings(ModelSettings):
    """What alternating least squares needs; `model.als` in the configuration."""

    trainer: ClassVar[str] = "als"
    max_rounds: int = setting(20, help="Most rounds (E, P, R) to do.", minimum=1)
    tolerance: float = setting(
        0.01,
        help="Training stops when a round lowers the loss by less than this share of what is explained; 0 "
        "does all rounds.",
        minimum=0,
    )
    stop: str = setting(
        "explained",
        help="What tolerance is a share of: what the model explains of the graphs, or the whole loss, as the "
        "paper has it, most of which cannot change.",
        enum=("explained", "loss"),
    )
    restart_every: int = setting(
        10, help="Rounds after which token vectors start again from 0; 0 never.", minimum=0
    )
    restart_iterations: int = setting(10, help="Inference iterations of such a restart.", minimum=1)
    e_step: str = setting(
        "averaged",
        help="Mean of two steps from the last round's token vectors, their fixed point, or a single step as "
        "RESCAL's.",
        enum=("averaged", "fixed-point", "single"),
    )
    e_tolerance: float = setting(
        0.001,
        help="Relative change of a token vector at which the fixed point counts as reached (fixed-point).",
        minimum=0,
    )
    e_energy: float = setting(
        0.9,
        help="Share of each relation matrix's energy that its factors keep (fixed-point).",
        exclusiveMinimum=0,
        maximum=1,
    )
    r_tolerance: float = setting(
        0.01,
        help="Relative residual at which the solver of the relation matrices stops; up to ten times it while "
        "rounds gain more than this share.",
        minimum=0,
        exclusiveMaximum=1,
    )
    r_iterations: int = setting(50, help="Most iterations of that solver.", minimum=1)
    batch_tokens: int = setting(4096, help="Tokens worked on at once.", minimum=1)
    checkpoint_every: int = setting(
        5, help="Rounds between checkpoints; 0 writes none.", recorded=False, minimum=0
    )


@dataclass(frozen=True)
class SgdSettings(ModelSettings):
    """What stochastic gradient descent needs; `model.sgd` in the configuration."""

    trainer: ClassVar[str] = "sgd"
    learning_rate: float = setting(
        0.5, help="Step size of AdaGrad, as a share of each factor's scale.", exclusiveMinimum=0
    )
    epochs: int = setting(30, help="Most passes over the treebank.", minimum=1)
    batch_sentences: int = setting(64, help="Sentences of a mini-batch.", minimum=1)
    negatives: int = setting(5, help="Negative samples for each observed property and relation.", minimum=0)
    negative_weight: float | str = setting(
        1,
        help="Weight of the negatives; unbiased makes the sampled gradient an estimate of the whole loss's, "
        "1 is the usual contrastive loss.",
        minimum=0,
        enum=("unbiased",),
    )
    patience: int = setting(
        3, help="Epochs without improvement on held-out sentences before training stops.", minimum=1
    )
    held_out: float = setting(
        0.05,
        help="Share of the sentences that is held out to watch; 0 of a single graph.",
        minimum=0,
        exclusiveMaximum=1,
    )
    device: str = setting("cpu", help="Where to train.", enum=("cpu", "cuda"))


@dataclass(frozen=True)
class InferenceSettings:
    """What the inference of bags needs; `inference` in the configuration."""

    solver: str = setting(
        "fixed-point",
        help="Preconditioned iteration on low-rank relations, or the mean of old and new token vectors.",
        enum=("fixed-point", "averaged"),
    )
    iterations: int = setting(30, help="Most iterations.", minimum=1)
    tolerance: float = setting(
        0.001,
        help="A sentence is done when no token vector changes by more than this share; 0 does all "
        "iterations.",
        minimum=0,
    )
    energy: float = setting(
        0.9,
        help="Share of each relation matrix's energy that the fixed-point solver keeps.",
        exclusiveMinimum=0,
        maximum=1,
    )
    batch_tokens: int = setting(4096, help="Tokens worked on at once.", minimum=1)


TRAINERS: dict[str, type[AlsSettings] | type[SgdSettings]] = {"als": AlsSettings, "sgd": SgdSettings}
# the classes whose fields are properties of the schema
BLOCKS = {kind.__name__: kind for kind in (ModelSettings, AlsSettings, SgdSettings, InferenceSettings)}
S = TypeVar("S")


def own_fields(kind: type) -> dict[str, Field]:
    """The fields that a class declares itself, by name."""
    return {one.name: one for one in fields(kind) if one.name in get_annotations(kind)}


def types_of(one: Field) -> tuple[type, ...]:
    """The types that a setting's value may have; the first is that of numbers."""
    return one.type.__args__ if isinstance(one.type, UnionType) else (one.type,)


def json_schema(one: Field) -> dict[str, Any]:
    """A setting as a property in JSON Schema."""
    rules = dict(one.metadata["rules"])
    kind, enum = types_of(one)[0], rules.pop("enum", ())
    options = [] if enum and kind is str else [{"type": _TYPES[kind], **rules}]
    options += [{"enum": list(enum)}] if enum else []
    allowed = options[0] if len(options) == 1 else {"anyOf": options}
    return {"description": one.metadata["help"], **allowed, "default": one.default}


def check(one: Field, value: Any, name: str) -> Any:
    """The value, of its field's type.

    Raises:
        BoveError: the value is not allowed; `name` is what its user calls it.
    """
    kind, rules = types_of(one)[0], one.metadata["rules"]
    bounds, enum = [key for key in rules if key in _BOUNDS], rules.get("enum", ())
    if isinstance(value, str) and value in enum:
        return value
    due = " and ".join(f"{_BOUNDS[key][0]} {rules[key]}" for key in bounds)
    if kind in _NUMBERS:
        if not _is_number(value, kind):
            due = f"{_NUMBERS[kind][0]}, {due}" if due else _NUMBERS[kind][0]
        elif all(_BOUNDS[key][1](value, rules[key]) for key in bounds):
            return kind(value)
        due += f", or {', '.join(enum)}" if enum else ""
    elif isinstance(value, kind) and not enum:
        return value
    else:
        due = f"one of {', '.join(enum)}" if enum else _TYPES[kind]
    plain = isinstance(value, numbers.Number) or (isinstance(value, str) and enum)
    raise BoveError(f"{name} {value if plain else repr(value)}: must be {due}")


def _is_number(value: Any, kind: type) -> bool:
    """Whether a value is a finite number, and a whole one for int."""
    return isinstance(value, _NUMBERS[kind][1]) and not isinstance(value, bool) and finite(value) is not None


def make(kind: type[S], values: Mapping[str, Any], shown: Callable[[str], str] = str) -> S:
    """Settings from values by name; what is missing has its default.

    Args:
        kind: one of the classes above. values: may hold other names too.
        shown: how an error names a setting, such as by its option.

    Raises:
        BoveError: a value that is not allowed.
    """
    known = {one.name: one for one in fields(kind) if one.name in values}
    return kind(**{name: check(one, values[name], shown(name)) for name, one in known.items()})


def record(settings: Any) -> dict[str, Any]:
    """What a model's file says of the settings that it was trained with, and the trainer."""
    kept = [one.name for one in fields(settings) if one.metadata["recorded"]]
    return {"trainer": settings.trainer, **{name: getattr(settings, name) for name in kept}}


def from_record(recorded: Mapping[str, Any]) -> AlsSettings | SgdSettings:
    """The settings that a model was trained with; those that are not recorded have their defaults.

    Args:
        recorded: the model's hyperparameters, whatever else they hold.

    Raises:
        BoveError: an unknown trainer, or a setting that is missing or not allowed.
    """
    trainer = recorded.get("trainer")
    if not isinstance(trainer, str) or trainer not in TRAINERS:
        raise BoveError(f"trained by {trainer!r}; known: {', '.join(TRAINERS)}")
    for one in fields(TRAINERS[trainer]):
        if one.metadata["recorded"] and one.name not in recorded:
            raise BoveError(f"does not record the setting {one.name}; train that model again")
    return make(TRAINERS[trainer], recorded)
