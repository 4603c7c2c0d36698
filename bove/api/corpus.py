"""Graphs as flat arrays, with the names of their properties and relations."""

import hashlib
import json
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy

from bove.api.graph import Graph, Vectors, checked, mapped
from bove.errors import BoveError, similar
from bove.factor.graphs import GraphCorpus, some
from bove.factor.model import Model
from bove.files import encoded
from bove.text.conll import Sentence
from bove.text.graphs import Counts, encode
from bove.text.vectors import WordVectors
from bove.text.vocabulary import Vocabulary

POOLS = ("mean", "gram", "both")
# each kind of property is a term of the loss; more kinds than this are one
MOST_KINDS = 64


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
            object.__setattr__(self, "groups", {"properties": (0, len(self.properties))})

    def _own_hash(self) -> str:
        text = json.dumps([self.properties, self.relations], separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def are_own(self) -> bool:
        """Whether the names are the graphs' own, and not those of a vocabulary."""
        return self.hash == self._own_hash()

    @classmethod
    def counted(cls, properties: Counter[str], relations: Counter[str]) -> "Names":
        """Rows ordered by kind (as first met), then count (highest first), then name."""
        kinds = list(dict.fromkeys(map(kind_of, properties)))
        few = len(kinds) <= MOST_KINDS
        place = {kind: few * i for i, kind in enumerate(kinds)}
        rows = sorted(properties, key=lambda name: (place[kind_of(name)], -properties[name], name))
        order = sorted(relations, key=lambda name: (-relations[name], name))
        return cls(tuple(rows), tuple(order), groups_of(rows) if few else {})

    @classmethod
    def of_vocabulary(cls, vocabulary: Vocabulary) -> "Names":
        """Those of a vocabulary of the workflow, its words as `word:…` and its tags as `pos:…`."""
        names = (*(f"word:{name}" for name in vocabulary.words), *(f"pos:{name}" for name in vocabulary.tags))
        groups = {"words": (0, vocabulary.n_words), "tags": (vocabulary.n_words, vocabulary.n_properties)}
        return cls(names, vocabulary.relations, groups, vocabulary.hash)

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
    """The part before a property's first colon; "" without one."""
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
        raise BoveError(f"{path}: a model without names; give the vocabulary.json that it was made with")
    if names.hash != model.vocabulary_hash:
        raise BoveError(f"{path}: made with other names; give the vocabulary.json that it was made with")
    return names


class Unseen(NamedTuple):
    """What a model does not know of some graphs: names with their counts.

    Attributes:
        properties: of nodes. relations: of edges. cells: relations of unknown cells.
    """

    properties: Counter[str]
    relations: Counter[str]
    cells: Counter[str]


@dataclass(frozen=True)
class Corpus:
    """Graphs, read once and kept as flat arrays.

    Attributes:
        arrays: the graphs; their ids are the graphs' own, or numbers from 1.
        names: of the properties and relations, as the arrays number them.
        repeated: properties and edges that were repeated and count once.
    """

    arrays: GraphCorpus
    names: Names
    repeated: int = 0

    @classmethod
    def of(cls, graphs: "Iterable[Graph] | Corpus") -> "Corpus":
        """Number the properties and relations of graphs, and put these into arrays.

        Args:
            graphs: read once; a corpus is returned as it is.

        Raises:
            BoveError: something else than a series of graphs.
        """
        if isinstance(graphs, Corpus):
            return graphs
        flat = _Flat()
        for graph in checked(graphs):
            graph.check()
            flat.add(graph)
        return flat.corpus()

    @classmethod
    def from_arrays(
        cls,
        n: int,
        edges: tuple[np.ndarray, np.ndarray, np.ndarray],
        relations: Sequence[str],
        properties: Any = None,
        property_names: Sequence[str] = (),
        *,
        weights: np.ndarray | None = None,
        unknown: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
        id: str = "1",
    ) -> "Corpus":
        """One large graph of arrays, without an object for each node or edge.

        Args:
            n: number of nodes.
            edges: relation, head and dependent of each edge, whole numbers [m] each; a repeated one counts
                once.
            relations: [d] names.
            properties: [n, c] sparse matrix of SciPy, what its cells hold are the values; none by default.
            property_names: [c].
            weights: [m] of the edges, 1 by default.
            unknown: relations, heads and dependents of cells of which nothing is known.
            id: the graph's name.

        Raises:
            BoveError: arrays of other shapes, numbers out of range or not finite, a name that is repeated, or
                an edge that is repeated with another weight.
        """
        for what, given in (("relations", relations), ("property_names", property_names)):
            if len(set(given)) < len(given) or not all(isinstance(name, str) for name in given):
                raise BoveError(f"{what}: give different texts")
            encoded("\n".join(given))
        d, hidden = len(relations), dict[str, Any]()
        cells, first, back = np.unique(
            _numbered("edges", edges, d, n), return_index=True, return_inverse=True
        )
        repeated = len(back) - len(cells)
        if weights is not None:
            numbers = _finite_numbers("weights", weights, len(back))
            if not np.array_equal(numbers[first][back], numbers):
                raise BoveError("weights: a repeated edge has several; give one")
            weights = numbers[first] if (numbers != 1).any() else None
        if unknown is not None and len(never := np.unique(_numbered("unknown", unknown, d, n))):
            known = ~np.isin(cells, never, assume_unique=True)
            cells, weights = cells[known], some(weights, known)
            parts = dict(zip(("relation", "head", "dependent"), _placed(never, n), strict=True))
            hidden = {f"unknown_{name}": part for name, part in parts.items()}
            hidden["unknown_offsets"] = np.array([0, len(never)])
        W = scipy.sparse.csr_array((n, len(property_names)) if properties is None else properties)
        if W.shape != (n, len(property_names)):
            raise BoveError(f"properties: of shape {W.shape}, but {(n, len(property_names))} is due")
        W.sum_duplicates()
        W.eliminate_zeros()
        values = _finite_numbers("properties", W.data, W.nnz)
        names, (relation, head, dependent) = Names(tuple(property_names), tuple(relations)), _placed(cells, n)
        arrays = GraphCorpus(
            token_offsets=np.array([0, n]), property_offsets=W.indptr.astype(np.int64),
            properties=W.indices.astype(np.int64), arc_offsets=np.array([0, len(cells)]),
            arc_relation=relation, arc_head=head, arc_dependent=dependent,
            n_properties=len(property_names), n_relations=d, ids=(id,), vocabulary_hash=names.hash,
            property_value=values if (values != 1).any() else None, arc_weight=weights, **hidden,
        )  # fmt: skip
        return cls(arrays, names, repeated)

    @classmethod
    def of_sentences(
        cls,
        sentences: Iterable[Sentence],
        vocabulary: Vocabulary,
        vectors: WordVectors | None = None,
        counts: Counts | None = None,
    ) -> "Corpus":
        """Graphs of sentences as the workflow makes them: numbers, punctuation and rare words replaced.

        The arguments are those of `bove.text.graphs.encode`.
        """
        return cls(encode(sentences, vocabulary, vectors, counts), Names.of_vocabulary(vocabulary))

    def __len__(self) -> int:
        """Number of graphs."""
        return self.arrays.n_graphs

    def digest(self) -> str:
        """Hex SHA-256 of the graphs: the same for the same nodes, properties and edges in the same order."""
        found, arrays = hashlib.sha256(self.names.hash.encode()), self.arrays
        for one in (
            arrays.token_offsets, arrays.property_offsets, arrays.properties, arrays.arc_offsets,
            arrays.arc_relation, arrays.arc_head, arrays.arc_dependent,
        ):  # fmt: skip
            found.update(np.ascontiguousarray(one, np.int64).data)
        for name, one in arrays.optional.items():
            found.update(name.encode() + np.ascontiguousarray(one).tobytes())
        return found.hexdigest()

    def unlinked(self) -> list[str]:
        """A sentence on each relation that has unknown cells and not one edge, of which nothing is learnt."""
        arrays, names = self.arrays, self.names.relations
        linked = _count(names, arrays.arc_relation)
        hidden = _count(names, [] if arrays.unknown_relation is None else arrays.unknown_relation)
        return [
            f"{count} unknown cells of relation {name!r}, which has no edge, and so nothing to learn; "
            f"{similar(name, linked)}".rstrip("; ")
            for name, count in hidden.items()
            if name not in linked
        ]

    def without_extra(self) -> "Corpus":
        """The corpus without properties that lie beyond its names."""
        arrays = self.arrays
        keep = arrays.properties < arrays.n_properties
        if keep.all():
            return self
        offsets = _thinned(arrays.property_offsets, keep)
        values = some(arrays.property_value, keep)
        own: dict[str, Any] = {
            "property_offsets": offsets,
            "properties": arrays.properties[keep],
            "property_value": values,
        }
        return replace(self, arrays=replace(arrays, **own))

    def numbered_as(
        self, names: Names, vectors: Vectors | None = None, rank: int | None = None
    ) -> "tuple[Corpus, Unseen]":
        """The corpus in the numbers of a model, and what the model does not know, which is left out.

        Args:
            names: the model's.
            vectors: of properties that the model lacks; those that have one stay, as extra properties.
            rank: the length that these must have, where it is known.

        Raises:
            BoveError: vectors of different lengths, or of another than the rank.
        """
        if names.hash == self.names.hash:
            return self, Unseen(Counter(), Counter(), Counter())
        old, ours = self.arrays, self.names
        if len(old.extra):
            raise BoveError("graphs with words outside of their vocabulary fit its models alone")
        used = np.bincount(old.properties, minlength=len(ours.properties))
        place, extra = _places(ours, names, used, vectors, rank)
        relation = np.array([names.relation_rows.get(name, -1) for name in ours.relations], np.int64)
        properties, arcs = place[old.properties], relation[old.arc_relation]
        keep, kept = properties >= 0, arcs >= 0
        lost = _count(ours.properties, old.properties[~keep])
        unseen = Unseen(lost, _count(ours.relations, old.arc_relation[~kept]), Counter())
        hidden = dict[str, Any]()
        if old.unknown_relation is not None and old.unknown_offsets is not None:
            cells = relation[old.unknown_relation]
            unseen = unseen._replace(cells=_count(ours.relations, old.unknown_relation[cells < 0]))
            hidden = {"unknown_offsets": _thinned(old.unknown_offsets, cells >= 0)}
            hidden["unknown_relation"] = cells[cells >= 0]
            for end in ("unknown_head", "unknown_dependent"):
                hidden[end] = getattr(old, end)[cells >= 0]
        arrays = replace(
            old, property_value=some(old.property_value, keep), arc_weight=some(old.arc_weight, kept),
            property_offsets=_thinned(old.property_offsets, keep), properties=properties[keep],
            arc_offsets=_thinned(old.arc_offsets, kept), arc_relation=arcs[kept], arc_head=old.arc_head[kept],
            arc_dependent=old.arc_dependent[kept], n_properties=len(names.properties),
            n_relations=len(names.relations), extra=extra, vocabulary_hash=names.hash,
            **hidden,
        )  # fmt: skip
        return Corpus(arrays, names, self.repeated), unseen


class _Flat:
    """Arrays that grow graph by graph; rows are numbered as met, and ordered at the end."""

    def __init__(self) -> None:
        self.tokens, self.owned, self.arcs, self.hidden = (array("q", [0]) for _ in range(4))
        self.properties, self.cells, self.unknown = array("q"), array("q"), array("q")
        # what is not 1, by its place among the properties and among the arcs
        self.values: dict[int, float] = {}
        self.weights: dict[int, float] = {}
        self.rows: dict[str, int] = {}
        self.labels: dict[str, int] = {}
        self.ids: list[str] = []
        self.repeated = 0

    def add(self, graph: Graph) -> None:
        first, rows, labels = self.tokens[-1], self.rows, self.labels
        for properties in graph.nodes:
            own: Any = dict.fromkeys(properties)
            self.repeated += len(properties) - len(own)
            if any(type(one) is tuple for one in own):
                pairs = [(one, 1.0) if isinstance(one, str) else one for one in own]
                own = _once(graph, "property", pairs)
                start = len(self.properties)
                self.values.update((start + i, v) for i, v in enumerate(own.values()) if v != 1)
            self.properties.extend([rows.setdefault(name, len(rows)) for name in own])
            self.owned.append(len(self.properties))
        edges: Any = dict.fromkeys(graph.edges)
        self.repeated += len(graph.edges) - len(edges)
        unknown = dict.fromkeys(graph.unknown)
        if unknown:
            edges = [edge for edge in edges if edge[:3] not in unknown]
        if any(len(edge) > 3 for edge in edges):
            edges = _once(graph, "edge", ((edge[:3], (*edge, 1.0)[3]) for edge in edges))
            start = len(self.cells) // 3
            self.weights.update((start + i, w) for i, w in enumerate(edges.values()) if w != 1)
        for label, head, dependent in edges:
            self.cells.extend((labels.setdefault(label, len(labels)), first + head, first + dependent))
        self.arcs.append(len(self.cells) // 3)
        for label, head, dependent in unknown:
            self.unknown.extend((labels.setdefault(label, len(labels)), first + head, first + dependent))
        self.hidden.append(len(self.unknown) // 3)
        self.tokens.append(first + len(graph))
        self.ids.append(graph.id or str(len(self.ids) + 1))

    def corpus(self) -> Corpus:
        encoded("\n".join(chain(self.rows, self.labels, self.ids)))
        properties = np.array(self.properties, np.int64)
        cells = np.array(self.cells, np.int64).reshape(-1, 3)
        counts = _count(self.labels, cells[:, 0])
        counts.update(dict.fromkeys(self.labels, 0))  # relations of unknown cells alone
        names = Names.counted(_count(self.rows, properties), counts)
        row = np.array([names.property_rows[name] for name in self.rows], np.int64)
        relation = np.array([names.relation_rows[name] for name in self.labels], np.int64)
        arrays = GraphCorpus(
            token_offsets=np.array(self.tokens, np.int64),
            property_offsets=np.array(self.owned, np.int64),
            properties=row[properties],
            arc_offsets=np.array(self.arcs, np.int64),
            arc_relation=relation[cells[:, 0]],
            arc_head=cells[:, 1].copy(),
            arc_dependent=cells[:, 2].copy(),
            n_properties=len(row),
            n_relations=len(relation),
            ids=tuple(self.ids),
            vocabulary_hash=names.hash,
            property_value=_but(self.values, len(properties)),
            arc_weight=_but(self.weights, len(cells)),
            **self._hidden(relation),
        )
        return Corpus(arrays, names, self.repeated)

    def _hidden(self, relation: np.ndarray) -> dict[str, Any]:
        """The arrays of unknown cells, none where all are known."""
        cells = np.array(self.unknown, np.int64).reshape(-1, 3)
        names = ("unknown_relation", "unknown_head", "unknown_dependent")
        arrays = (relation[cells[:, 0]], cells[:, 1].copy(), cells[:, 2].copy())
        found: dict[str, Any] = {
            "unknown_offsets": np.array(self.hidden, np.int64),
            **dict(zip(names, arrays, strict=True)),
        }
        return found if len(cells) else {}


def _numbered(what: str, cells: Any, d: int, n: int) -> np.ndarray:
    """[m] one number for each cell (relation, head, dependent) of [d, n, n]; BoveError for one beyond."""
    given = [np.asarray(part) for part in cells]
    if len(given) != 3 or len({part.shape for part in given}) != 1 or given[0].ndim != 1:
        raise BoveError(f"{what}: give relation, head and dependent as three arrays of one length")
    for part, most, name in zip(given, (d, n, n), ("relation", "head", "dependent"), strict=True):
        if part.dtype.kind not in "iu" or (len(part) and not 0 <= part.min() <= part.max() < most):
            raise BoveError(f"{what}: a {name} is not a whole number from 0 to {most - 1}")
    relation, head, dependent = (part.astype(np.int64) for part in given)
    return (relation * n + head) * n + dependent


def _placed(cells: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Relation, head and dependent of cells as `_numbered` numbers them."""
    return cells // n**2, cells // n % n, cells % n


def _finite_numbers(what: str, given: Any, count: int) -> np.ndarray:
    found = np.asarray(given, np.float64)
    if found.shape != (count,) or not np.isfinite(found).all():
        raise BoveError(f"{what}: {count} finite numbers are due")
    return found


def _once(graph: Graph, what: str, pairs: Iterable[tuple[Any, float]]) -> dict[Any, float]:
    """Each cell with its number; BoveError for one that is given with several."""
    found: dict[Any, float] = {}
    for cell, number in pairs:
        if found.setdefault(cell, number) != number:
            raise graph._error(f"the {what} {cell!r} is given as {found[cell]:g} and as {number:g}; give one")
    return found


def _but(numbers: Mapping[int, float], count: int) -> np.ndarray | None:
    """[count] ones but for some numbers; None where there are none."""
    if not numbers:
        return None
    found = np.ones(count)
    found[list(numbers)] = list(numbers.values())
    return found


def _count(names: Collection[str], rows: Any) -> Counter[str]:
    """The count of each name's row, in the order of the names."""
    counts = np.bincount(rows, minlength=len(names)).tolist()
    return Counter({name: count for name, count in zip(names, counts, strict=True) if count})


def _places(
    ours: Names, names: Names, used: np.ndarray, vectors: Vectors | None, rank: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """The model's row of each of our properties, -1 where it has none; and the extra rows that follow."""
    place = np.array([names.property_rows.get(name, -1) for name in ours.properties], np.int64)
    known = mapped(vectors)
    found = [row for row in np.flatnonzero((place < 0) & (used > 0)) if ours.properties[row] in known]
    place[found] = len(names.properties) + np.arange(len(found))
    extra = stacked(known, [ours.properties[row] for row in found], rank if found else 0)
    return place, extra


def stacked(vectors: Vectors, names: Iterable[str], rank: int | None = None) -> np.ndarray:
    """[m, r] float32: the vectors of some properties.

    Raises:
        BoveError: a vector that is not one row of finite numbers, or of another length than the others or
            than `rank`.
    """
    rows = []
    for name in names:
        try:
            row = np.asarray(vectors[name], np.float32)
        except (TypeError, ValueError):
            row = np.empty((0, 0), np.float32)
        if row.ndim != 1 or not np.isfinite(row).all():
            raise BoveError(f"vector of {name!r}: give one row of finite numbers")
        if rank is not None and len(row) != rank:
            raise BoveError(f"vector of {name!r}: {len(row)} numbers, but {rank} are due, as the rank says")
        rows.append(row)
        rank = len(row)
    return np.stack(rows) if rows else np.zeros((0, rank or 0), np.float32)


def _thinned(offsets: np.ndarray, keep: np.ndarray) -> np.ndarray:
    """The offsets after entries have gone."""
    return np.concatenate([[0], np.cumsum(keep)])[offsets].astype(np.int64)


class BagList(list[np.ndarray]):
    """The bags of some graphs; what wants an array of them, as scikit-learn's steps do, hears of `pool`."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if len({len(bag) for bag in self}) > 1:
            raise BoveError(
                "bags of different lengths cannot be one array; set pool to 'mean', 'gram' or 'both' for one "
                "row for each graph"
            )
        return np.array(list(self), dtype)


def split(E: np.ndarray, corpus: Corpus) -> list[np.ndarray]:
    """The rows of E [T, r] as one array a graph."""
    offsets = corpus.arrays.token_offsets
    return [E[offsets[s] : offsets[s + 1]] for s in range(len(corpus))]


def check_pool(pool: Any) -> None:
    """BoveError unless bags stay as they are (None) or become one vector each (one of POOLS)."""
    if pool is not None and not (isinstance(pool, str) and pool in POOLS):
        raise BoveError(f"pool {pool!r}: must be None or one of {', '.join(map(repr, POOLS))}")


def pooled(bags: Sequence[np.ndarray], rank: int, pool: str, dtype: Any = np.float32) -> np.ndarray:
    """One vector for each bag E [n, r], 0 for an empty one: [len(bags), m] for the m names of `pool_names`.

    mean: the mean of its rows, m = r.
    gram: the upper triangle of EᵀE / n by rows, cells off the diagonal times √2, so that two such vectors
        have the inner product of their two matrices; m = r (r + 1) / 2.
    both: one after the other.
    """
    means, upper = np.zeros((len(bags), rank)), np.triu_indices(rank)
    grams = np.zeros((len(bags), len(upper[0]) if pool != "mean" else 0))
    scale = np.where(upper[0] == upper[1], 1, 2**0.5)
    for s, bag in enumerate(bags):
        if len(bag):
            means[s] = bag.mean(axis=0, dtype=np.float64)
            if pool != "mean":
                exact = bag.astype(np.float64)
                grams[s] = (exact.T @ exact)[upper] * scale / len(bag)
    parts = {"mean": [means], "gram": [grams], "both": [means, grams]}[pool]
    return np.concatenate(parts, axis=1, dtype=dtype)


def pool_names(rank: int, pool: str) -> list[str]:
    """Names of the numbers of a pooled vector: bove0, bove1, …, and gram0_0, gram0_1, …"""
    means = [f"bove{i}" for i in range(rank)]
    grams = [f"gram{i}_{j}" for i in range(rank) for j in range(i, rank)]
    return {"mean": means, "gram": grams, "both": means + grams}[pool]


def shown(counts: Mapping[str, int], most: int = 5) -> str:
    """The most frequent names of a count, for a message."""
    first = sorted(counts, key=lambda name: (-counts[name], name))[:most]
    return ", ".join(chain(first, ["…"] if len(counts) > most else []))
