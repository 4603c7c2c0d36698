"""A corpus of graphs as flat arrays: the sparse W_s (properties) and X_s (relations) of every graph.

Graph s holds the tokens token_offsets[s] : token_offsets[s + 1]; tokens are numbered over the whole corpus.
W is CSR over tokens; X is a list of arcs, grouped by graph.
"""

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp


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

    @property
    def n_graphs(self) -> int:
        return len(self.token_offsets) - 1

    @property
    def n_tokens(self) -> int:
        return int(self.token_offsets[-1])

    @cached_property
    def lengths(self) -> np.ndarray:
        """[S] number of tokens of each graph."""
        return np.diff(self.token_offsets)

    def property_matrix(self, dtype=np.float32) -> sp.csr_array:
        """[c, T] CSR: W of the whole corpus, the graphs side by side."""
        token = np.repeat(np.arange(self.n_tokens), np.diff(self.property_offsets))
        ones = np.ones(len(token), dtype)
        return sp.csr_array((ones, (self.properties, token)), shape=(self.n_properties, self.n_tokens))

    @cached_property
    def arcs_by_relation(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """X of the whole corpus: heads and dependents, as tokens, of each of the d relations."""
        order = np.argsort(self.arc_relation, kind="stable")
        cuts = np.searchsorted(np.asarray(self.arc_relation)[order], np.arange(self.n_relations + 1))
        return [
            (self.arc_head[order[a:b]], self.arc_dependent[order[a:b]])
            for a, b in zip(cuts[:-1], cuts[1:], strict=True)
        ]

    @property
    def arc_counts(self) -> np.ndarray:
        """[d] float64, the arcs of each relation."""
        return np.bincount(self.arc_relation, minlength=self.n_relations).astype(np.float64)

    def select(self, graphs: slice | np.ndarray) -> "GraphCorpus":
        """The corpus of some graphs in the given order, its tokens numbered anew.

        A slice of graphs (a step of 1) has views of the arrays, and reads no more of mapped ones.
        """
        tokens, token_offsets = _entries(self.token_offsets, graphs)
        entries, property_offsets = _entries(self.property_offsets, tokens)
        arcs, arc_offsets = _entries(self.arc_offsets, graphs)
        if isinstance(graphs, slice):
            shift, ids = -tokens.start, self.ids[graphs]
        else:
            shift = np.repeat(token_offsets[:-1] - self.token_offsets[graphs], np.diff(arc_offsets))
            ids = tuple(self.ids[s] for s in graphs) if self.ids else ()
        return replace(
            self,
            token_offsets=token_offsets,
            property_offsets=property_offsets,
            properties=self.properties[entries],
            arc_offsets=arc_offsets,
            arc_relation=self.arc_relation[arcs],
            arc_head=self.arc_head[arcs] + shift,
            arc_dependent=self.arc_dependent[arcs] + shift,
            ids=ids,
        )

    def part(self, number: int, count: int) -> "GraphCorpus":
        """The `number`-th (from 0) of `count` runs of whole graphs with about as many tokens each.

        A part may have no graph.
        """
        ends = [self.n_tokens * i // count for i in range(1, count)]
        cuts = [0, *np.searchsorted(self.token_offsets, ends).tolist(), self.n_graphs]
        return self.select(slice(cuts[number], cuts[number + 1]))

    def signature(self, s: int) -> bytes:
        """Bytes that two graphs share only if they have the same properties and arcs in the same places."""
        first, last = self.token_offsets[s], self.token_offsets[s + 1]
        owned = self.property_offsets[first : last + 1]
        arcs = slice(self.arc_offsets[s], self.arc_offsets[s + 1])
        parts = (
            owned - owned[0],
            self.properties[owned[0] : owned[-1]],
            self.arc_relation[arcs],
            self.arc_head[arcs] - first,
            self.arc_dependent[arcs] - first,
        )
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
