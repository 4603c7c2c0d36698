"""A slow oracle: every formula of the model in plain loops and dense cells, float64.

A graph is a pair (W [c, n], X [d, n, n]) of dense arrays, of 0 and 1 or of numbers; an unknown cell of X is
NaN.
"""

import math

import numpy as np


def objective(graphs, P, R, E, alpha, lambda_P, lambda_R, lambda_E):
    """Equation 3."""
    total = lambda_P * np.sum(P**2) + lambda_R * np.sum(R**2)
    for (W, X), e in zip(graphs, E, strict=True):
        total += np.sum((W - P @ e.T) ** 2) + lambda_E * np.sum(e**2)
        for k in range(len(R)):
            total += alpha * np.nansum((X[k] - e @ R[k] @ e.T) ** 2)
    return total


def p_step(graphs, E, lambda_P):
    W = np.concatenate([W for W, _ in graphs], axis=1)
    E = np.concatenate(E)
    return W @ E @ np.linalg.inv(E.T @ E + lambda_P * np.eye(E.shape[1]))


def r_step(graphs, E, ridge):
    """The literal normal equations with r² unknowns; vec by rows, so G R G ↔ (G ⊗ G) vec(R)."""
    r, d = E[0].shape[1], len(graphs[0][1])
    if any(np.isnan(X).any() for _, X in graphs):
        return np.stack([_least_squares(graphs, E, ridge, k) for k in range(d)])
    A = ridge * np.eye(r * r)
    b = np.zeros((d, r * r))
    for (_, X), e in zip(graphs, E, strict=True):
        G = e.T @ e
        A += np.kron(G, G)
        for k in range(d):
            b[k] += (e.T @ X[k] @ e).ravel()
    return np.linalg.solve(A, b.T).T.reshape(d, r, r)


def _least_squares(graphs, E, ridge, k):
    """One relation, each known cell an equation x = <e_i e_jᵀ, R> of its own."""
    r = E[0].shape[1]
    A, b = ridge * np.eye(r * r), np.zeros(r * r)
    for (_, X), e in zip(graphs, E, strict=True):
        for i, j in np.argwhere(~np.isnan(X[k])):
            row = np.outer(e[i], e[j]).ravel()
            A += np.outer(row, row)
            b += X[k, i, j] * row
    return np.linalg.solve(A, b).reshape(r, r)


def e_step(graph, P, R, E, alpha, lambda_E):
    W, X = graph
    if np.isnan(X).any():
        return np.stack([_node(W[:, i], X, i, P, R, E, alpha, lambda_E) for i in range(len(E))])
    G = E.T @ E
    A = P.T @ P + lambda_E * np.eye(P.shape[1])
    B = W.T @ P
    for k in range(len(R)):
        A = A + alpha * (R[k] @ G @ R[k].T + R[k].T @ G @ R[k])
        B = B + alpha * (X[k] @ E @ R[k].T + X[k].T @ E @ R[k])
    return B @ np.linalg.inv(A)


def _node(w, X, i, P, R, E, alpha, lambda_E):
    """One row of the E-step, each known cell of the node an equation of its own."""
    A, b = P.T @ P + lambda_E * np.eye(P.shape[1]), w @ P
    for k in range(len(R)):
        for j in range(len(E)):
            for x, h in ((X[k, i, j], R[k] @ E[j]), (X[k, j, i], R[k].T @ E[j])):
                if not np.isnan(x):
                    A, b = A + alpha * np.outer(h, h), b + alpha * x * h
    return np.linalg.solve(A, b)


def infer(graph, P, R, alpha, lambda_E, iterations):
    """The paper's inference: step(0), then averages."""
    E = e_step(graph, P, R, np.zeros((graph[0].shape[1], P.shape[1])), alpha, lambda_E)
    for _ in range(iterations - 1):
        E = (E + e_step(graph, P, R, E, alpha, lambda_E)) / 2
    return E


def evidence(graph, P, E, words):
    """pᵀe of each token: p the sum of its properties among the rows `words`."""
    W, _ = graph
    return [sum(P[c] @ e for c in words if W[c, i]) for i, e in enumerate(E)]


def cosine(u, v):
    norms = math.sqrt(sum(float(x) ** 2 for x in u)) * math.sqrt(sum(float(y) ** 2 for y in v))
    return sum(float(x) * float(y) for x, y in zip(u, v, strict=True)) / norms if norms else 0.0


def snli(first, second, weights=None):
    """Mean over the second bag's vectors of the best cosine with one of the first's; 0 for an empty bag.

    Weights of both bags' vectors make it a weighted mean over those that have one above 0.
    """
    ours, theirs = weights or ([1] * len(first), [1] * len(second))
    first = [u for u, w in zip(first, ours, strict=True) if w > 0]
    total = best = 0.0
    for v, w in zip(second, theirs, strict=True):
        if w > 0 and first:
            best, total = best + w * max(cosine(u, v) for u in first), total + w
    return best / total if total else 0.0


def sts(first, second, weights=None):
    """Harmonic mean of both directions; 0 where their sum is not positive."""
    a, b = snli(first, second, weights), snli(second, first, weights and weights[::-1])
    return 2 * a * b / (a + b) if a + b > 0 else 0.0
