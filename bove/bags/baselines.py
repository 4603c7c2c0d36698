"""Baselines: what simpler systems make of the same words and vectors.

With p_w the pretrained vector of word w, and words without one left out:

* `mean`: one vector, the mean of p_w over the sentence's words.
* `sif`: one vector, s - u uᵀs, with s the mean of p_w a / (a + f_w) over the words, f_w the share of w among
  the treebank's tokens, u the first right singular vector of s [N, r] of the treebank's sentences, a = 0.001.
  Arora, Liang and Ma (2017), A Simple but Tough-to-Beat Baseline for Sentence Embeddings, algorithm 1, whose
  u is of the sentences that are compared.
* `whitened`: a vector of each word, (PᵀP + lambda I)⁻¹ p_w, where P [V, r] has the vectors of the words of
  the vocabulary and lambda is tr(PᵀP) / r: the first step of inference, with words as the only properties.
* `rwmd`: p_w of each word. The relaxed word mover's distance takes every word to the nearest of the other
  sentence, d(S1, S2) = mean over j in S2 of min over i in S1 of ‖S1_i - S2_j‖. The score of entailment is
  1 / (1 + d(S1, S2)), that of similarity 1 / (1 + max(d(S1, S2), d(S2, S1))), as gensim makes similarities of
  distances. Kusner et al. (2015), From Word Embeddings to Document Distances, section 4.
* `overlap`: the words in lower case, without vectors. The score of entailment is the share of the words of S2
  that are in S1, that of similarity the harmonic mean of both directions: the paper's alignment with cosine 1
  for equal words and 0 for others.
* `arcs`: the words of `whitened` and the arcs of the tree between them. Two arcs are as near as cos(heads)
  cos(dependents), halved where their labels differ. The score is the paper's alignment of words, weighted by
  evidence, and 0.15 times that of arcs, weighted by the product of both ends' evidence, over 1.15; what is
  opposed counts as 0. It says what explicit structure gives, against what the vectors of `bove` carry.

One vector per sentence gives the cosine as the score of both tasks (`mean`, `sif`); `whitened` is scored by
the paper's alignment. bove/evaluate/alignment.py computes the scores.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bove.bags import ARCS, MEAN, OVERLAP, RWMD, SENTENCES, SIF

A = 1e-3
ARCS_TO_WORDS = 0.15
# What bags of a baseline are compared by, where it is not the paper's alignment.
COMPARED_BY = {MEAN: "cosine", SIF: "cosine", RWMD: "rwmd", OVERLAP: "overlap", ARCS: "arcs"}


def comparison_of(system: str) -> dict[str, str]:
    """What bags of a system say that they are compared by; nothing where it is the paper's alignment."""
    how = "cosine" if system.endswith(SENTENCES) else COMPARED_BY.get(system)
    return {"comparison": how} if how else {}


def mean(vectors: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """[1, r] float64, the mean of n vectors [n, r], each times its weight where there are weights [n]; [0, r]
    where n is 0."""
    vectors = np.asarray(vectors, np.float64)
    if not len(vectors):
        return vectors
    return (vectors.mean(axis=0) if weights is None else weights @ vectors / len(vectors))[None]


@dataclass(frozen=True)
class Sif:
    """Weights and component of `sif`.

    Attributes:
        shares: share of a word among the treebank's tokens, by its row of the vectors; others have 0.
        component: [r] unit vector u.
    """

    shares: dict[int, float]
    component: np.ndarray

    @classmethod
    def learn(cls, sentences: Sequence[Sequence[int]], tokens: int, vectors: np.ndarray) -> "Sif":
        """Learn both from a treebank.

        Args:
            sentences: rows of the vectors of each sentence's words.
            tokens: how many tokens they have, with those that have no vector.
            vectors: [V, r].
        """
        counts = Counter(row for rows in sentences for row in rows)
        shares = {row: count / tokens for row, count in counts.items()}
        plain, r = cls(shares, np.zeros(vectors.shape[1])), vectors.shape[1]
        products = np.zeros((r, r))
        for rows in sentences:
            s = plain(rows, vectors[np.array(rows, np.int64)])
            products += s.T @ s
        return cls(shares, np.linalg.eigh(products)[1][:, -1])

    def __call__(self, rows: Sequence[int], vectors: np.ndarray) -> np.ndarray:
        """[1, r] float64, the vector of a sentence of n words, from their rows and vectors [n, r]."""
        s = mean(vectors, np.array([A / (A + self.shares.get(row, 0)) for row in rows]))
        return s - np.outer(s @ self.component, self.component)


def whitening(P: np.ndarray) -> np.ndarray:
    """[r, r] float64 (PᵀP + lambda I)⁻¹ with lambda = tr(PᵀP) / r, of vectors P [V, r]."""
    P = np.asarray(P, np.float64)
    products, r = P.T @ P, P.shape[1]
    return np.linalg.inv(products + np.trace(products) / r * np.eye(r))


def with_arcs(vectors: np.ndarray, evidence: np.ndarray, arcs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The bag of `arcs`.

    Args:
        vectors: [n, r] of the words. evidence: [n], above 0.
        arcs: [m, 3] head and dependent, as words from 0, and number of the label.

    Returns:
        [n + m, 2 r + 1] a row for each word (its vector, zeros, -1) and for each arc (the vectors of head and
        dependent, the label); and their weights.
    """
    head, dependent, label = arcs.T
    words = np.hstack([vectors, np.zeros_like(vectors), np.full((len(vectors), 1), -1.0)])
    rows = np.vstack([words, np.hstack([vectors[head], vectors[dependent], label[:, None]])])
    of_arcs = evidence[head] * evidence[dependent]
    parts = evidence / (evidence.sum() or 1), ARCS_TO_WORDS * of_arcs / (of_arcs.sum() or 1)
    return rows, np.concatenate(parts)
