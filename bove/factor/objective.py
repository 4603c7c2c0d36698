"""The objective (equation 3 of the paper), which all trainers minimise:

    L(P, R, E) = Σ_s ‖W_s − P E_sᵀ‖² + alpha Σ_s Σ_k ‖X_sk − E_s R_k E_sᵀ‖²
               + lambda_P ‖P‖² + lambda_R ‖R‖² + lambda_E Σ_s ‖E_s‖²

where ‖P‖² and ‖R‖² may be other penalties (see `bove.factor.penalties`). Every cell counts, the zeros too,
but dense cells are never built. With G_s = E_sᵀE_s,

    ‖W_s − P E_sᵀ‖²        = ‖W_s‖² − 2 <P, W_s E_s> + <PᵀP, G_s>
    ‖X_sk − E_s R_k E_sᵀ‖² = ‖X_sk‖² − 2 <R_k, Σ_{(i,j) in X_sk} x_ij e_i e_jᵀ> + <R_k, G_s R_k G_s>

Cells of X_sk that are unknown, (i,j) in M_sk, do not count: the second loses Σ_{M_sk} (e_i R_k e_jᵀ)².
"""

from collections.abc import Mapping

import numpy as np

from bove.factor.graphs import GraphCorpus
from bove.factor.parallel import Workers, make_batches
from bove.factor.penalties import value
from bove.factor.settings import ModelSettings
from bove.factor.steps import RStep, apply, gram, right_hand_side

Groups = Mapping[str, slice]


def terms(
    P: np.ndarray, relations: RStep, WE: np.ndarray, G: np.ndarray, nnz_W: np.ndarray, nnz_X: np.ndarray,
    groups: Groups, settings: ModelSettings,
) -> dict[str, float]:  # fmt: skip
    """L by term from the sums that the steps have at hand.

    Args:
        P: [c, r]. relations: R with the sums B and AR.
        WE: [c, r] Σ of token vectors by property. G: [r, r] EᵀE.
        nnz_W: [c] Σ w² of each property, without values its tokens. nnz_X: [d] Σ x² of each relation.
        groups: rows of P that form one term each (words, tags).
        settings: the weights and penalties.

    Returns:
        One term per property group, `relation:<k>` (weighted by alpha), the penalties, `total`; then
        `explained:` of each of these groups and relations, and of all relations together: 1 − the term / the
        same of empty bags, 0 where there is nothing to explain.
    """
    s, out, whole = settings, {}, {}
    for name, rows in groups.items():
        p = P[rows].astype(np.float64)
        whole[name] = nnz_W[rows].sum()
        out[name] = whole[name] - 2 * np.vdot(p, WE[rows]) + np.vdot(p.T @ p, G)
    for k, (R_k, B_k, AR_k) in enumerate(zip(relations.R, relations.B, relations.AR, strict=True)):
        r = R_k.astype(np.float64)
        whole[f"relation:{k}"] = s.alpha * nnz_X[k]
        out[f"relation:{k}"] = s.alpha * (nnz_X[k] - 2 * np.vdot(r, B_k) + np.vdot(r, AR_k))
    out["lambda_P"] = s.lambda_P * value(P, s.penalty_P)
    out["lambda_R"] = s.lambda_R * value(relations.R, s.penalty_R)
    out["lambda_E"] = s.lambda_E * float(np.trace(G))
    out = {name: float(term) for name, term in out.items()}
    together = {"relations": [f"relation:{k}" for k in range(len(nnz_X))]} | {name: [name] for name in whole}
    explained = {}
    for name, parts in together.items():
        n = float(sum(whole[part] for part in parts))
        explained[f"explained:{name}"] = 1 - sum(out[part] for part in parts) / n if n else 0.0
    return out | {"total": sum(out.values())} | explained


def objective(
    corpus: GraphCorpus, P: np.ndarray, R: np.ndarray, E: np.ndarray, groups: Groups, settings: ModelSettings,
    batch_tokens: int = 4096, threads: int = 1,
) -> dict[str, float]:  # fmt: skip
    """L by term, as of `terms`, of any P [c, r], R [d, r, r] and token vectors E [T, r]."""
    batches = list(make_batches(corpus, batch_tokens, E.dtype))
    W = corpus.property_matrix(E.dtype)
    with Workers(threads) as workers:
        relations = RStep(
            R, right_hand_side(E, corpus, workers), apply(R, E, batches, workers, corpus.unknown_by_relation)
        )
        G = gram(E, workers)
    return terms(P, relations, W @ E, G, corpus.property_squares, corpus.arc_squares, groups, settings)
