"""A corpus of graphs as flat arrays: the sparse W_s (properties) and X_s (relations) of every sentence.

Sentence s holds the tokens token_offsets[s] : token_offsets[s + 1]. Tokens are numbered over the
whole corpus. W is CSR over tokens; X is a list of arcs, grouped by sentence.
"""

from dataclasses import dataclass, field
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
