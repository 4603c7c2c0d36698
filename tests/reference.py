"""A slow oracle: every formula of the model in plain loops and dense cells, float64.

A graph is a pair (W [c, n], X [d, n, n]) of dense 0/1 arrays.
"""

import numpy as np


def objective(graphs, P, R, E, alpha, lambda_P, lambda_R, lambda_E):
    """Equation 3."""
    total = lambda_P * np.sum(P**2) + lambda_R * np.sum(R**2)
    for (W, X), e in zip(graphs, E, strict=True):
        total += np.sum((W - P @ e.T) ** 2) + lambda_E * np.sum(e**2)
        for k in range(len(R)):
            total += alpha * np.sum((X[k] - e @ R[k] @ e.T) ** 2)
    return total


def p_step(graphs, E, lambda_P):
    W = np.concatenate([W for W, _ in graphs], axis=1)
    E = np.concatenate(E)
    return W @ E @ np.linalg.inv(E.T @ E + lambda_P * np.eye(E.shape[1]))


def r_step(graphs, E, ridge):
    """The literal normal equations with r² unknowns; vec by rows, so G R G ↔ (G ⊗ G) vec(R)."""
    r, d = E[0].shape[1], len(graphs[0][1])
    A = ridge * np.eye(r * r)
    b = np.zeros((d, r * r))
    for (_, X), e in zip(graphs, E, strict=True):
        G = e.T @ e
        A += np.kron(G, G)
        for k in range(d):
            b[k] += (e.T @ X[k] @ e).ravel()
    return np.linalg.solve(A, b.T).T.reshape(d, r, r)


def e_step(graph, P, R, E, alpha, lambda_E):
    W, X = graph
    G = E.T @ E
    A = P.T @ P + lambda_E * np.eye(P.shape[1])
    B = W.T @ P
    for k in range(len(R)):
        A = A + alpha * (R[k] @ G @ R[k].T + R[k].T @ G @ R[k])
        B = B + alpha * (X[k] @ E @ R[k].T + X[k].T @ E @ R[k])
    return B @ np.linalg.inv(A)


def infer(graph, P, R, alpha, lambda_E, iterations):
    """The paper's inference: step(0), then averages."""
    E = e_step(graph, P, R, np.zeros((graph[0].shape[1], P.shape[1])), alpha, lambda_E)
    for _ in range(iterations - 1):
        E = (E + e_step(graph, P, R, E, alpha, lambda_E)) / 2
    return E


def cosine(a, b):
    size = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / size) if size > 0 else 0.0


def snli_score(first, second):
    """mean over j in the second bag of max over i in the first of cos; 0 for an empty bag."""
    if not len(first) or not len(second):
        return 0.0
    return sum(max(cosine(a, b) for a in first) for b in second) / len(second)


def sts_score(first, second):
    forth, back = snli_score(first, second), snli_score(second, first)
    return 2 * forth * back / (forth + back) if forth + back > 0 else 0.0
