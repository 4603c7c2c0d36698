"""The objective L(P, R, E), by term, without dense cells.

||W_s − P E_sᵀ||²        = nnz(W_s) − 2 <W_sᵀP, E_s> + <PᵀP, G_s>
||X_sk − E_s R_k E_sᵀ||² = nnz(X_sk) − 2 <R_k, Σ e_i e_jᵀ> + <R_k, G_s R_k G_s>
"""

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

from bove.factor.graphs import GraphCorpus
from bove.factor.parallel import Workers, plan_batches, take_batch
from bove.factor.penalties import value
from bove.factor.steps import apply, right_hand_side

Groups = Mapping[str, slice]


def property_matrix(corpus: GraphCorpus, dtype=np.float32) -> sp.csr_array:
    """[c, T] CSR: W of the whole corpus, the sentences side by side."""
    token = np.repeat(np.arange(corpus.n_tokens), np.diff(corpus.property_offsets))
    ones = np.ones(len(token), dtype)
    return sp.csr_array((ones, (corpus.properties, token)), shape=(corpus.n_properties, corpus.n_tokens))


def arcs_by_relation(corpus: GraphCorpus) -> list[tuple[np.ndarray, np.ndarray]]:
    """Heads and dependents, as token rows, of each of the d relations."""
    order = np.argsort(corpus.arc_relation, kind="stable")
    cuts = np.searchsorted(np.asarray(corpus.arc_relation)[order], np.arange(corpus.n_relations + 1))
    return [
        (corpus.arc_head[order[a:b]], corpus.arc_dependent[order[a:b]])
        for a, b in zip(cuts[:-1], cuts[1:], strict=True)
    ]


def gram(E: np.ndarray, workers: Workers) -> np.ndarray:
    """[r, r] EᵀE in float64, summed in blocks of fixed size."""
    blocks = [E[i : i + 8192] for i in range(0, len(E), 8192)]
    out = np.zeros((E.shape[1], E.shape[1]))
    for part in workers.map(lambda e: e.T @ e, blocks):
        out += part
    return out


def terms(
    *, P, R, WE, G, B, AR, nnz_W, nnz_X, groups: Groups, alpha, lambda_P, lambda_R, lambda_E,
    p_penalty="l2", r_penalty="l2",
):  # fmt: skip
    """L by term from the sums that the steps have at hand.

    Args:
        P, R: [c, r], [d, r, r]. WE: [c, r] Σ of token vectors by property. G: [r, r] EᵀE.
        B, AR: [d, r, r] Σ e_i e_jᵀ and Σ_s G_s R_k G_s.
        nnz_W: [c] tokens that have each property. nnz_X: [d] arcs of each relation.
        groups: rows of P that form one term each (words, tags).
        p_penalty, r_penalty: what lambda_P and lambda_R weigh, see `bove.factor.penalties`.

    Returns:
        dict of float64: a term a property group, `relation:<k>` (weighted by alpha), the penalties, `total`.
    """
    out = {}
    for name, rows in groups.items():
        p = P[rows].astype(np.float64)
        out[name] = nnz_W[rows].sum() - 2 * np.vdot(p, WE[rows]) + np.vdot(p.T @ p, G)
    for k in range(len(R)):
        r = R[k].astype(np.float64)
        out[f"relation:{k}"] = alpha * (nnz_X[k] - 2 * np.vdot(r, B[k]) + np.vdot(r, AR[k]))
    out["lambda_P"] = lambda_P * value(P, p_penalty)
    out["lambda_R"] = lambda_R * value(R, r_penalty)
    out["lambda_E"] = lambda_E * float(np.trace(G))
    out = {name: float(term) for name, term in out.items()}
    return out | {"total": sum(out.values())}


def objective(
    corpus, P, R, E, *, groups, alpha, lambda_P, lambda_R, lambda_E, p_penalty="l2", r_penalty="l2",
    batch_tokens=4096, threads=1,
):  # fmt: skip
    """L by term (see `terms`) of any P [c, r], R [d, r, r] and token vectors E [T, r] (equation 3)."""
    plan = plan_batches(corpus.lengths, batch_tokens)
    batches = [take_batch(corpus, graphs, E.dtype) for graphs in plan]
    arcs = arcs_by_relation(corpus)
    W = property_matrix(corpus, E.dtype)
    with Workers(threads) as workers:
        return terms(
            P=P,
            R=R,
            WE=W @ E,
            G=gram(E, workers),
            B=right_hand_side(E, arcs, workers),
            AR=apply(R, E, batches, workers),
            nnz_W=np.diff(W.indptr),
            nnz_X=np.array([len(head) for head, _ in arcs], float),
            groups=groups,
            alpha=alpha,
            lambda_P=lambda_P,
            lambda_R=lambda_R,
            lambda_E=lambda_E,
            p_penalty=p_penalty,
            r_penalty=r_penalty,
        )
