"""The objective (equation 3 of the paper), which all trainers minimise:

    L(P, R, E) = Σ_s ‖W_s − P E_sᵀ‖² + alpha Σ_s Σ_k ‖X_sk − E_s R_k E_sᵀ‖²
               + lambda_P ‖P‖² + lambda_R ‖R‖² + lambda_E Σ_s ‖E_s‖²

where ‖P‖² and ‖R‖² may be other penalties (see `bove.factor.penalties`). Every cell counts, the zeros too,
but dense cells are never built. With G_s = E_sᵀE_s,

    ‖W_s − P E_sᵀ‖²        = nnz(W_s) − 2 <P, W_s E_s> + <PᵀP, G_s>
    ‖X_sk − E_s R_k E_sᵀ‖² = nnz(X_sk) − 2 <R_k, Σ_{(i,j) in X_sk} e_i e_jᵀ> + <R_k, G_s R_k G_s>
"""

from collections.abc import Mapping

import numpy as np

from bove.factor.graphs import GraphCorpus
from bove.factor.parallel import Workers, make_batches
from bove.factor.penalties import value
from bove.factor.steps import apply, gram, right_hand_side

Groups = Mapping[str, slice]


def terms(
    *, P, R, WE, G, B, AR, nnz_W, nnz_X, groups: Groups, alpha, lambda_P, lambda_R, lambda_E,
    penalty_P="l2", penalty_R="l2",
) -> dict[str, float]:  # fmt: skip
    """L by term from the sums that the steps have at hand.

    Args:
        P, R: [c, r], [d, r, r]. WE: [c, r] Σ of token vectors by property. G: [r, r] EᵀE.
        B, AR: [d, r, r] Σ e_i e_jᵀ and Σ_s G_s R_k G_s.
        nnz_W: [c] tokens that have each property. nnz_X: [d] arcs of each relation.
        groups: rows of P that form one term each (words, tags).
        penalty_P, penalty_R: what lambda_P and lambda_R weigh, see `bove.factor.penalties`.

    Returns:
        One term per property group, `relation:<k>` (weighted by alpha), the penalties, `total`.
    """
    out = {}
    for name, rows in groups.items():
        p = P[rows].astype(np.float64)
        out[name] = nnz_W[rows].sum() - 2 * np.vdot(p, WE[rows]) + np.vdot(p.T @ p, G)
    for k in range(len(R)):
        r = R[k].astype(np.float64)
        out[f"relation:{k}"] = alpha * (nnz_X[k] - 2 * np.vdot(r, B[k]) + np.vdot(r, AR[k]))
    out["lambda_P"] = lambda_P * value(P, penalty_P)
    out["lambda_R"] = lambda_R * value(R, penalty_R)
    out["lambda_E"] = lambda_E * float(np.trace(G))
    out = {name: float(term) for name, term in out.items()}
    return out | {"total": sum(out.values())}


def objective(
    corpus: GraphCorpus, P, R, E, *, batch_tokens: int = 4096, threads: int = 1, **weights
) -> dict[str, float]:
    """L by term of any P [c, r], R [d, r, r] and token vectors E [T, r].

    Args:
        weights: groups, alpha, lambda_P, lambda_R, lambda_E, penalty_P and penalty_R, as of `terms`.
    """
    batches = list(make_batches(corpus, batch_tokens, E.dtype))
    W = corpus.property_matrix(E.dtype)
    with Workers(threads) as workers:
        return terms(
            P=P,
            R=R,
            WE=W @ E,
            G=gram(E, workers),
            B=right_hand_side(E, corpus, workers),
            AR=apply(R, E, batches, workers),
            nnz_W=np.diff(W.indptr),
            nnz_X=corpus.arc_counts,
            **weights,
        )
