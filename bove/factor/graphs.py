"""A corpus of graphs as flat arrays: the sparse W_s (properties) and X_s (relations) of every graph.

Graph s holds the tokens token_offsets[s] : token_offsets[s + 1]; tokens are numbered over the whole corpus.
W is CSR over tokens; X is a list of arcs, grouped by graph. Their cells are 1, or numbers where there are
values or weights. Some cells of X may be unknown: L does not count them.
"""

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy  # its parts are loaded where they are used

# the arrays that only graphs with values, weights or unknown cells have
OPTIONAL = (
    "property_value", "arc_weight", "unknown_offsets", "unknown_relation", "unknown_head",
    "unknown_dependent",
)  # fmt: skip


@dataclass(frozen=True)
class GraphCorpus:
    """Flat arrays of all graphs of a corpus.

    Attributes:
        token_offsets: [S + 1] int64, first token of each graph.
        property_offsets: [T + 1] int64, first entry in `properties` of each token.
        properties: [nnz W] int64, rows of P. Rows at `n_properties` and beyond are `extra` ones.
        arc_offsets: [S + 1] int64, first arc of each graph.
        arc_relation, arc_head, arc_dependent: [nnz X] int64; heads and dependents number tokens
            over the whole corpus; no cell is repeated.
        n_properties, n_relations: c and d of the vocabulary.
        extra: [m, r] float32, vectors of words outside the vocabulary, property c + i at row i.
        ids: one name per graph, or none at all.
        vocabulary_hash: hash of the vocabulary that numbered properties and relations.
        property_value, arc_weight: [nnz W] and [nnz X] float64, what the cells hold; None where all hold 1.
        unknown_offsets: [S + 1] int64, first unknown cell of each graph; None where all cells are known.
        unknown_relation, unknown_head, unknown_dependent: as of arcs; none of these cells is an arc.
    """

    token_offsets: np.ndarray
    property_offsets: np.ndarray
    properties: np.ndarray
    arc_offsets: np.ndarray
    arc_relation: np.ndarray
    arc_head: np.ndarray
    arc_dependent: np.ndarray
    n_properties: int
    n_relations: int
    extra: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    ids: tuple[str, ...] = ()
    vocabulary_hash: str = ""
    property_value: np.ndarray | None = None
    arc_weight: np.ndarray | None = None
    unknown_offsets: np.ndarray | None = None
    unknown_relation: np.ndarray | None = None
    unknown_head: np.ndarray | None = None
    unknown_dependent: np.ndarray | None = None

    @property
    def n_graphs(self) -> int:
        return len(self.token_offsets) - 1

    @property
    def n_tokens(self) -> int:
        return int(self.token_offsets[-1])

    @property
    def optional(self) -> dict[str, np.ndarray]:
        """The arrays of OPTIONAL that are there, by name."""
        found = {name: getattr(self, name) for name in OPTIONAL}
        return {name: array for name, array in found.items() if array is not None}

    @cached_property
    def lengths(self) -> np.ndarray:
        """[S] number of tokens of each graph."""
        return np.diff(self.token_offsets)

    def property_matrix(self, dtype=np.float32) -> "scipy.sparse.csr_array":
        """[c, T] CSR: W of the whole corpus, the graphs side by side."""
        token = np.repeat(np.arange(self.n_tokens), np.diff(self.property_offsets))
        cells = (self.properties, token)
        values = filled(self.property_value, slice(None), len(token), dtype)
        return scipy.sparse.csr_array((values, cells), shape=(self.n_properties, self.n_tokens))

    @cached_property
    def arcs_by_relation(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray | None]]:
        """X of the whole corpus: heads and dependents, as tokens, and weights of each of the d relations."""
        places = self._by_relation(self.arc_relation)
        return [(self.arc_head[at], self.arc_dependent[at], some(self.arc_weight, at)) for at in places]

    @cached_property
    def unknown_by_relation(self) -> list[tuple[np.ndarray, np.ndarray]] | None:
        """Heads and dependents of the unknown cells of each of the d relations; None where all are known."""
        if self.unknown_relation is None:
            return None
        places = self._by_relation(self.unknown_relation)
        return [(self.unknown_head[at], self.unknown_dependent[at]) for at in places]

    def _by_relation(self, relation):
        order = np.argsort(relation, kind="stable")
        cuts = np.searchsorted(np.asarray(relation)[order], np.arange(self.n_relations + 1))
        return [order[a:b] for a, b in zip(cuts[:-1], cuts[1:], strict=True)]

    @property
    def arc_squares(self) -> np.ndarray:
        """[d] float64, Σ x² over the cells of each relation: without weights the number of its arcs."""
        return _squares(self.arc_relation, self.arc_weight, self.n_relations)

    @property
    def property_squares(self) -> np.ndarray:
        """[c (+ extra)] float64, Σ w² of each property: without values the number of its tokens."""
        return _squares(self.properties, self.property_value, self.n_properties + len(self.extra))

    def select(self, graphs: slice | np.ndarray) -> "GraphCorpus":
        """The corpus of some graphs in the given order, its tokens numbered anew.

        A slice of graphs (a step of 1) has views of the arrays, and reads no more of mapped ones.
        """
        tokens, token_offsets = _entries(self.token_offsets, graphs)
        entries, property_offsets = _entries(self.property_offsets, tokens)
        arcs, arc_offsets = _entries(self.arc_offsets, graphs)
        if isinstance(graphs, slice):
            ids = self.ids[graphs]
        else:
            ids = tuple(self.ids[s] for s in graphs) if self.ids else ()

        def shift(offsets):
            if isinstance(graphs, slice):
                return -tokens.start
            return np.repeat(token_offsets[:-1] - self.token_offsets[graphs], np.diff(offsets))

        hidden = {}
        if self.unknown_offsets is not None:
            cells, offsets = _entries(self.unknown_offsets, graphs)
            hidden = {"unknown_offsets": offsets, "unknown_relation": self.unknown_relation[cells]}
            for end in ("unknown_head", "unknown_dependent"):
                hidden[end] = getattr(self, end)[cells] + shift(offsets)
        return replace(
            self,
            token_offsets=token_offsets,
            property_offsets=property_offsets,
            properties=self.properties[entries],
            property_value=some(self.property_value, entries),
            arc_offsets=arc_offsets,
            arc_relation=self.arc_relation[arcs],
            arc_head=self.arc_head[arcs] + shift(arc_offsets),
            arc_dependent=self.arc_dependent[arcs] + shift(arc_offsets),
            arc_weight=some(self.arc_weight, arcs),
            ids=ids,
            **hidden,
        )

    def part(self, number: int, count: int) -> "GraphCorpus":
        """The `number`-th (from 0) of `count` runs of whole graphs with about as many tokens each.

        A part may have no graph.
        """
        ends = [self.n_tokens * i // count for i in range(1, count)]
        cuts = [0, *np.searchsorted(self.token_offsets, ends).tolist(), self.n_graphs]
        return self.select(slice(cuts[number], cuts[number + 1]))

    def signature(self, s: int) -> bytes:
        """Bytes that two graphs share only if they have the same cells, and the same unknown ones."""
        first, last = self.token_offsets[s], self.token_offsets[s + 1]
        owned = self.property_offsets[first : last + 1]
        arcs = slice(self.arc_offsets[s], self.arc_offsets[s + 1])
        parts = [
            owned - owned[0],
            self.properties[owned[0] : owned[-1]],
            self.arc_relation[arcs],
            self.arc_head[arcs] - first,
            self.arc_dependent[arcs] - first,
        ]
        numbers = some(self.property_value, slice(owned[0], owned[-1])), some(self.arc_weight, arcs)
        parts += [part for part in numbers if part is not None]
        if self.unknown_offsets is not None:
            at = slice(self.unknown_offsets[s], self.unknown_offsets[s + 1])
            ends = (self.unknown_head[at] - first, self.unknown_dependent[at] - first)
            parts += [self.unknown_relation[at], *ends]
        return b"".join(len(part).to_bytes(8, "little") + part.tobytes() for part in parts)

    def distinct(self, marks: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """[B] the first of each set of equal graphs, and [S] which of these B each graph equals.

        Graphs are equal only where their tokens have the same marks [T] too, if these are given.
        """
        seen: dict[bytes, int] = {}
        index = np.empty(self.n_graphs, np.int64)
        first = []
        for s in range(self.n_graphs):
            own = slice(self.token_offsets[s], self.token_offsets[s + 1])
            content = self.signature(s) + (b"" if marks is None else marks[own].tobytes())
            key = hashlib.blake2b(content, digest_size=16).digest()
            if key not in seen:
                seen[key] = len(first)
                first.append(s)
            index[s] = seen[key]
        return np.array(first, np.int64), index


def some(array: np.ndarray | None, places) -> np.ndarray | None:
    """Some entries of an optional array, None without one."""
    return None if array is None else array[places]


def filled(values: np.ndarray | None, places, count: int, dtype) -> np.ndarray:
    """Some values of an optional array in a type, or `count` ones without it."""
    return np.ones(count, dtype) if values is None else values[places].astype(dtype)


def _squares(rows, values, count):
    squares = None if values is None else np.square(values, dtype=np.float64)
    return np.bincount(rows, squares, count).astype(np.float64)


def ranges(offsets: np.ndarray, members: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All places in offsets[m] : offsets[m + 1] for each member m, and which member each belongs to."""
    starts, sizes = offsets[members], offsets[members + 1] - offsets[members]
    owner = np.repeat(np.arange(len(members)), sizes)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return starts[owner] + within, owner


def offsets_of(sizes: np.ndarray) -> np.ndarray:
    """[m + 1] int64: where each of m groups of these sizes starts, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _entries(offsets, members):
    """The places of some members' entries, and these members' offsets, counted from 0."""
    if isinstance(members, slice):
        first, last, _ = members.indices(len(offsets) - 1)
        own = offsets[first : last + 1]
        return slice(own[0], own[-1]), own - own[0]
    return ranges(offsets, members)[0], offsets_of(offsets[members + 1] - offsets[members])
