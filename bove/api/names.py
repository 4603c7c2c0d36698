"""The names of properties and relations by row: the dictionaries of a corpus or of a model."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from bove.errors import BoveError
from bove.factor.model import Model
from bove.text.vocabulary import Vocabulary

# with more kinds than this they are not told apart: each is a term of the loss
MOST_KINDS = 64
_ALL = "properties"


@dataclass(frozen=True)
class Names:
    """What each row of P and each relation matrix is of.

    Attributes:
        properties: [c] names, by row of P.
        relations: [d] names, by matrix of R.
        groups: kind of property → (first, last) of its rows, which lie side by side.
        hash: names the dictionaries; graphs and models of the same hash fit together.
    """

    properties: tuple[str, ...]
    relations: tuple[str, ...]
    groups: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    hash: str = ""

    def __post_init__(self) -> None:
        if not self.hash:
            object.__setattr__(self, "hash", self._own_hash())
        if not self.groups:
            object.__setattr__(self, "groups", {_ALL: (0, len(self.properties))})

    def _own_hash(self) -> str:
        text = json.dumps([self.properties, self.relations], separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def are_own(self) -> bool:
        """Whether the names are all that there is to know, and no vocabulary stands behind them."""
        return self.hash == self._own_hash()

    @classmethod
    def counted(cls, properties: Counter[str], relations: Counter[str]) -> "Names":
        """Rows ordered by kind (as first met), then count (highest first), then name."""
        kinds = dict.fromkeys(map(kind_of, properties))
        place = (
            {kind: i for i, kind in enumerate(kinds)} if len(kinds) <= MOST_KINDS else dict.fromkeys(kinds, 0)
        )
        rows = sorted(properties, key=lambda name: (place[kind_of(name)], -properties[name], name))
        order = tuple(sorted(relations, key=lambda name: (-relations[name], name)))
        return cls(tuple(rows), order, groups_of(rows) if len(kinds) <= MOST_KINDS else {})

    @classmethod
    def of_vocabulary(cls, vocabulary: Vocabulary) -> "Names":
        """Those of a vocabulary of the workflow, its words as `word:…` and its tags as `pos:…`."""
        words, tags = (
            (f"word:{name}" for name in vocabulary.words),
            (f"pos:{name}" for name in vocabulary.tags),
        )
        groups = {"words": (0, vocabulary.n_words), "tags": (vocabulary.n_words, vocabulary.n_properties)}
        return cls((*words, *tags), vocabulary.relations, groups, vocabulary.hash)

    @cached_property
    def property_rows(self) -> dict[str, int]:
        """Row of each property."""
        return {name: row for row, name in enumerate(self.properties)}

    @cached_property
    def relation_rows(self) -> dict[str, int]:
        """Index of each relation."""
        return {name: row for row, name in enumerate(self.relations)}

    def slices(self) -> dict[str, slice]:
        """Rows of P of each kind."""
        return {name: slice(*rows) for name, rows in self.groups.items()}


def kind_of(name: str) -> str:
    """What stands before a property's first colon; "" without one."""
    return name.partition(":")[0] if ":" in name else ""


def groups_of(rows: Iterable[str]) -> dict[str, tuple[int, int]]:
    """(first, last) of the rows of each kind, as terms of the loss are called."""
    found: dict[str, tuple[int, int]] = {}
    for row, name in enumerate(rows):
        kind = f"property:{kind_of(name)}"
        found[kind] = (found.get(kind, (row, row))[0], row + 1)
    return found


def names_of(model: Model, path: str | Path, vocabulary: str | Path | None) -> Names:
    """The names of a model that was read from `path`, its own or those of a vocabulary's file.

    Raises:
        BoveError: the model has none and no vocabulary is given, or it was made with others.
    """
    if vocabulary is not None:
        names = Names.of_vocabulary(Vocabulary.load(vocabulary))
    elif model.property_names or not len(model.properties):
        names = Names(model.property_names, model.relation_names, model.groups)
    else:
        raise BoveError(
            f"{path}: a model whose names lie elsewhere; give the vocabulary.json that it goes with"
        )
    if names.hash != model.vocabulary_hash:
        raise BoveError(f"{path}: made with other names; give the vocabulary.json that it was made with")
    return names
