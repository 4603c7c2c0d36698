"""A corpus of graphs as flat arrays: the sparse W_s (properties) and X_s (relations) of every sentence.

Sentence s holds the tokens token_offsets[s] : token_offsets[s + 1]. Tokens are numbered over the
whole corpus. W is CSR over tokens; X is a list of arcs, grouped by sentence.
"""

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class GraphCorpus:
    """Flat arrays of all graphs of a corpus.

    Attributes:
        token_offsets: [S + 1] int64, first token of each graph.
        property_offsets: [T + 1] int64, first entry in `properties` of each token.
        properties: [nnz W] int64, rows of P. Rows at `n_properties` and beyond are `extra` ones.
        arc_offsets: [S + 1] int64, first arc of each graph.
        arc_relation, arc_head, arc_dependent: [nnz X] int64; heads and dependents number tokens
            over the whole corpus; no cell stands twice.
        n_properties, n_relations: c and d of the vocabulary.
        extra: [m, r] float32, vectors of words outside the vocabulary, property c + i at row i.
        ids: one name a graph.
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

    def part(self, number: int, count: int) -> "GraphCorpus":
        """The `number`-th (from 0) of `count` runs of graphs with about as many tokens each, without ids.

        Every graph is whole in one of them, and one may have none.
        """
        ends = [self.n_tokens * i // count for i in range(1, count)]
        cuts = [0, *np.searchsorted(self.token_offsets, ends).tolist(), self.n_graphs]
        tokens = self.token_offsets[cuts[number] : cuts[number + 1] + 1]
        arcs = self.arc_offsets[cuts[number] : cuts[number + 1] + 1]
        owned = self.property_offsets[tokens[0] : tokens[-1] + 1]
        own = slice(arcs[0], arcs[-1])
        return replace(
            self,
            token_offsets=tokens - tokens[0],
            property_offsets=owned - owned[0],
            properties=self.properties[owned[0] : owned[-1]],
            arc_offsets=arcs - arcs[0],
            arc_relation=self.arc_relation[own],
            arc_head=self.arc_head[own] - tokens[0],
            arc_dependent=self.arc_dependent[own] - tokens[0],
            ids=(),
        )

    def signature(self, s: int) -> bytes:
        """Bytes that two graphs share just when they have the same properties and arcs in the same places."""
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
