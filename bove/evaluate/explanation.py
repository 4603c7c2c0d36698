"""What the alignment scores are made of: every cosine of two bags, and each vector's best partner.

    SNLI(S1, S2) is the mean of `second.cosines`, the best cosine of each vector of S2 with one of S1;
    SNLI(S2, S1) that of `first.cosines`; STS is their harmonic mean.

The scores are those of `bove.evaluate.alignment`; this module only keeps what they are the means of.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from bove.evaluate.alignment import entailment_score, similarity_score, unit_rows

# Cosines that differ by less than this tie; of several best partners the nearest in place is named.
TIE = 1e-9


@dataclass(frozen=True)
class Partners:
    """The best partner of each vector of one side.

    Attributes:
        places: [n] token of each vector.
        partners: [n] token of its best partner in the other sentence; -1 where that has no vectors.
        cosines: [n] float64, their cosine; 0 where there is no partner.
    """

    places: np.ndarray
    partners: np.ndarray
    cosines: np.ndarray


@dataclass(frozen=True)
class Alignment:
    """How two bags of one system are aligned.

    Attributes:
        cosines: [n, m] float64, of each vector of the first bag with each of the second.
        first, second: the partners of either side.
        forward: SNLI(S1, S2), how well the first entails the second.
        backward: SNLI(S2, S1).
        similarity: STS(S1, S2).
    """

    cosines: np.ndarray
    first: Partners
    second: Partners
    forward: float
    backward: float
    similarity: float


def align(
    first: np.ndarray, second: np.ndarray, places: tuple[Sequence[int], Sequence[int]] | None = None
) -> Alignment:
    """Align two bags.

    Args:
        first, second: [n, r] and [m, r].
        places: token of each vector of either bag, by default 0, 1, …
    """
    ours, theirs = places or (range(len(first)), range(len(second)))
    ours, theirs = np.asarray(ours, np.int64), np.asarray(theirs, np.int64)
    if len(first) and len(second):
        cosines = np.clip(unit_rows(first) @ unit_rows(second).T, -1, 1)  # rounding may go beyond
    else:
        cosines = np.zeros((len(first), len(second)))
    return Alignment(
        cosines=cosines,
        first=_partners(cosines, ours, theirs),
        second=_partners(cosines.T, theirs, ours),
        forward=entailment_score(first, second),
        backward=entailment_score(second, first),
        similarity=similarity_score(first, second),
    )


def _partners(cosines: np.ndarray, ours: np.ndarray, theirs: np.ndarray) -> Partners:
    """Best partner of each row of [n, m] cosines."""
    if not cosines.size:
        return Partners(ours, np.full(len(ours), -1), np.zeros(len(ours)))
    best = cosines.max(axis=1)
    away = np.abs(ours[:, None] - theirs[None, :])
    away = np.where(cosines >= best[:, None] - TIE, away, np.iinfo(np.int64).max)
    return Partners(ours, theirs[away.argmin(axis=1)], best)


@dataclass(frozen=True)
class Token:
    """A token of a tree.

    Attributes:
        form, tag, relation: as in the tree.
        head: number of its head, from 1; 0 for a root, -1 for none.
        known_as: the vocabulary's word that stands for it.
    """

    form: str
    tag: str
    relation: str
    head: int
    known_as: str


@dataclass(frozen=True)
class Explanation:
    """Two sentences and how each system aligns them.

    Attributes:
        texts: of the two sentences.
        tokens: of either sentence.
        alignments: by system, in the order in which they are shown.
        own: [n] and [m], cosine of each token's `bove` vector with its `properties-only` one, by place in
            the bag of `bove`: how far the relations moved it.
    """

    texts: tuple[str, str]
    tokens: tuple[tuple[Token, ...], tuple[Token, ...]]
    alignments: dict[str, Alignment]
    own: tuple[np.ndarray, np.ndarray]


def as_json(explanation: Explanation) -> dict:
    """The whole at full precision; tokens are numbered from 0, but heads, as in trees, from 1."""
    sides = [
        {
            "text": text,
            "tokens": [asdict(token) for token in tokens],
            "own_cosines": own.tolist(),
        }
        for text, tokens, own in zip(explanation.texts, explanation.tokens, explanation.own, strict=True)
    ]
    systems = {
        system: {
            "sts": alignment.similarity,
            "snli_first_entails_second": alignment.forward,
            "snli_second_entails_first": alignment.backward,
            "cosines": alignment.cosines.tolist(),
            "first": _listed(alignment.first),
            "second": _listed(alignment.second),
        }
        for system, alignment in explanation.alignments.items()
    }
    return {"format": "bove-explanation", "sentences": sides, "systems": systems}


def _listed(partners: Partners) -> dict:
    """Partners with null where there is none."""
    some = [place if place >= 0 else None for place in partners.partners.tolist()]
    return {"places": partners.places.tolist(), "partners": some, "cosines": partners.cosines.tolist()}


def row_cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """[n] cosine of each row of one [n, r] array with that row of the other; 0 with a zero vector."""
    return np.einsum("ij,ij->i", unit_rows(first), unit_rows(second))
