"""Kernels: share of the machine's product speed, memory, growth; R-step and round against plain formulas."""

import time
import tracemalloc
from dataclasses import replace
from itertools import pairwise

import numpy as np
import reference
import scipy.sparse as sp
from made import PRODUCT, THREADS, batches_of, corpus_of, factors, product_seconds, timed, treebank_lengths
from threadpoolctl import threadpool_limits

from bove.evaluate.search import search
from bove.factor.inference import FixedPoint, infer_averaged
from bove.factor.model import compress
from bove.factor.parallel import Batch, Workers
from bove.factor.steps import EStep, apply, gram, p_step, r_step


def bench_peak():
    for threads in sorted({1, THREADS}):
        best = min(product_seconds(threads) for _ in range(5))
        yield "peak", f"{threads} threads", "GFLOP/s", PRODUCT / best / 1e9


def bench_kernels(r):
    """E-step, R-step's operator and inference on a treebank's lengths, as a share of the peak around them."""
    corpus = corpus_of(treebank_lengths(1500))
    d, T, batches = corpus.n_relations, corpus.n_tokens, batches_of(corpus)
    P, R = factors(corpus.n_properties, d, r)
    E = np.random.default_rng(0).standard_normal((T, r), dtype=np.float32)
    kernel, low = EStep(P, P.T @ P, R, 10, 100), compress(R, 0.99)
    fast = FixedPoint(P, P.T @ P, low, 10, 100)
    once = {"iterations": 1, "tolerance": 0}

    def each(solve):
        return lambda workers: list(workers.map(lambda b: solve(b, E[b.tokens]), batches))

    averaged = each(lambda b, E0: infer_averaged(kernel, b, E0=E0, **once))
    fixed_point = each(lambda b, E0: fast.infer(b, E0=E0, **once))
    parts = {
        "E-step": (6 * d * r * r * T, each(lambda b, E0: kernel.step(E0, b))),
        "R-step operator": (4 * d * r * r * T, lambda w: apply(R, E, batches, w)),
        "inference, averaged": (6 * d * r * r * T, averaged),
        "inference, fixed point, 99 %": (8 * r * int(low.ranks.sum()) * T, fixed_point),
    }
    assert np.maximum(0, corpus.lengths - r).sum() / T < 0.2
    with Workers(THREADS) as workers:
        for name, (flops, run) in parts.items():
            turns = [
                (timed(run, workers)[0], product_seconds()) for _ in range(5)
            ]  # a machine's speed drifts
            seconds, product = map(min, zip(*turns, strict=True))
            share = flops / seconds / (PRODUCT / product)
            yield name, f"r = {r}", "share of peak", share
            yield name, f"r = {r}", "tokens/s", T / seconds


def bench_memory():
    """What the R-step holds at r = 300, in bytes for each cell of R, its inputs apart."""
    r, corpus = 300, corpus_of(treebank_lengths(600))
    _, R = factors(corpus.n_properties, corpus.n_relations, r)
    E = np.random.default_rng(0).standard_normal((corpus.n_tokens, r), dtype=np.float32) / 17
    batches = batches_of(corpus)
    with Workers(THREADS) as workers:
        G = gram(E, workers)
        tracemalloc.start()
        r_step(E, G, corpus, batches, workers, ridge=0.01, R0=R, tolerance=0, max_iterations=3)
        held = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    yield "R-step", "r = 300", "bytes for each cell of R", held / R.size


def bench_kronecker():
    """The R-step against the literal normal equations with r² unknowns."""
    r, corpus = 50, corpus_of(treebank_lengths(1500), d=5)
    E = np.random.default_rng(1).standard_normal((corpus.n_tokens, r)) / np.sqrt(r)
    dense = []
    for s in range(corpus.n_graphs):
        first, last = corpus.token_offsets[s : s + 2]
        X = np.zeros((5, last - first, last - first))
        arcs = slice(*corpus.arc_offsets[s : s + 2])
        X[corpus.arc_relation[arcs], corpus.arc_head[arcs] - first, corpus.arc_dependent[arcs] - first] = 1
        dense.append((None, X))
    with threadpool_limits(THREADS):
        slow, want = timed(reference.r_step, dense, np.split(E, corpus.token_offsets[1:-1]), 0.1)
    batches, options = (
        batches_of(corpus, np.float64),
        {"ridge": 0.1, "tolerance": 1e-7, "max_iterations": 100},
    )
    with Workers(THREADS) as workers:
        G, R0 = gram(E, workers), np.zeros((5, r, r))
        quick, got = timed(lambda: r_step(E, G, corpus, batches, workers, R0=R0, **options))
    where, off = "r = 50, 1,500 sentences", np.abs(got.R - want).max() / np.abs(want).max()
    yield "R-step", where, "times faster than the normal equations", slow / quick
    yield "R-step", where, "relative difference", off


def bench_round(lengths_of, count, what):
    """One round of training at r = 100: E-, P- and R-step."""
    lengths = np.full(count, lengths_of) if lengths_of else treebank_lengths(count)
    corpus, r = corpus_of(lengths), 100
    P, R = factors(corpus.n_properties, corpus.n_relations, r)
    batches = batches_of(corpus)
    E = np.zeros((corpus.n_tokens, r), np.float32)
    kernel = EStep(P, P.T @ P, R, 10, 100)

    def update(batch):
        return kernel.step(kernel.step((batch.W @ P) * np.float32(0.01), batch), batch)

    def one_round():
        with Workers(THREADS) as workers:
            for batch, part in zip(batches, workers.map(update, batches), strict=True):
                E[batch.tokens] = part
            options = {"ridge": 0.01, "R0": R, "tolerance": 0, "max_iterations": 4}
            r_step(E, gram(E, workers), corpus, batches, workers, **options)

    seconds, _ = timed(one_round)
    yield "round at r = 100", what, "seconds", seconds
    yield "round at r = 100", what, "µs a token", 1e6 * seconds / corpus.n_tokens


def bench_rescal():
    """One graph of 2,000 nodes and 20 relations at rank 50: our round against RESCAL's formulas."""
    rng, n, d, r = np.random.default_rng(2), 2000, 20, 50
    base = corpus_of(np.array([n]), c=10, d=d)
    head, dependent = rng.integers(0, n, (2, 40000))
    cells = np.unique(np.stack([rng.integers(0, d, 40000), head, dependent]), axis=1)
    corpus = replace(
        base, arc_relation=cells[0], arc_head=cells[1], arc_dependent=cells[2],
        arc_offsets=np.array([0, cells.shape[1]]), properties=np.zeros(0, np.int64),
        property_offsets=np.zeros(n + 1, np.int64),
    )  # fmt: skip
    A0 = rng.random((n, r))
    of_relation = [cells[1:, cells[0] == k] for k in range(d)]
    X = [sp.csr_array((np.ones(ends.shape[1]), tuple(ends)), (n, n)) for ends in of_relation]
    R0, ridge = rng.random((d, r, r)), 0.1

    def rescal():
        AtA, F, S = A0.T @ A0, np.zeros((n, r)), np.zeros((r, r))
        for k in range(d):
            F += X[k] @ (A0 @ R0[k].T) + X[k].T @ (A0 @ R0[k])
            S += R0[k] @ AtA @ R0[k].T + R0[k].T @ AtA @ R0[k]
        A = np.linalg.solve(S + ridge * np.eye(r), F.T).T
        U, s, Vt = np.linalg.svd(A, full_matrices=False)
        shrink = np.outer(s, s) / (np.outer(s, s) ** 2 + ridge)
        return A, np.stack([Vt.T @ (shrink * (U.T @ (X[k] @ U))) @ Vt for k in range(d)])

    batches = [Batch(corpus, np.array([0]), np.float64)]
    P = np.zeros((10, r))

    def ours(workers):
        kernel = EStep(P, P.T @ P, R0, 1.0, ridge)
        E = kernel.step(A0, batches[0])
        G = gram(E, workers)
        p_step(np.zeros((10, r)), G, ridge, P, np.zeros(10, bool))
        options = {"ridge": ridge, "R0": R0, "tolerance": 1e-6, "max_iterations": 20}
        return E, r_step(E, G, corpus, batches, workers, **options).R

    with threadpool_limits(1), Workers(1) as workers:
        ours(workers), rescal()
        turns = [(timed(ours, workers), timed(rescal)) for _ in range(15)]
        (quick, (_, R)), (slow, (_, S)) = (min(own, key=lambda t: t[0]) for own in zip(*turns, strict=True))
    what, off = "one graph, 2,000 nodes, 20 relations, r = 50", np.abs(R - S).max() / np.abs(S).max()
    yield what, "1 thread", "times RESCAL's speed", slow / quick
    yield what, "1 thread", "relative difference of R", float(off)


def plain_search(vectors, offsets, queries, count, exact=True):
    """The search of all bags as plain NumPy has it: for blocks of vectors a product, the largest number of
    each bag, found in the faster of two ways, and a mean for each query.

    Args:
        exact: whether to score in double precision again what may be among the best.
    """
    targets = np.concatenate(queries)
    targets /= np.linalg.norm(targets, axis=1, keepdims=True)
    starts, n, wide = np.cumsum([0, *map(len, queries)]), len(offsets) - 1, len(targets) > 64
    size = 1024 if wide else 2048
    scores, first = np.empty((n, len(queries)), np.float32), 0
    while first < n:
        last = max(first + 1, int(np.searchsorted(offsets, offsets[first] + size, "right")) - 1)
        block, own = vectors[offsets[first] : offsets[last]], offsets[first : last + 1] - offsets[first]
        norms = np.sqrt(np.einsum("ij,ij->i", block, block))[:, None]
        cosines = block / norms @ targets.T if wide else block @ targets.T / norms
        each = [cosines[a:b].max(axis=0) for a, b in pairwise(own)] if wide else ()
        largest = np.array(each) if wide else np.maximum.reduceat(cosines, own[:-1], axis=0)
        scores[first:last] = np.add.reduceat(largest, starts[:-1], axis=1) / np.diff(starts)
        first = last
    kept = min(n, 2 * count if exact else count)
    best = np.argpartition(-scores, kept - 1, axis=0)[:kept].T
    score = np.take_along_axis(scores.T, best, axis=1)
    if exact:
        near = score >= np.partition(score, -count, axis=1)[:, [-count]] - 1e-4
        score = np.where(near, 0, -np.inf)
        for q, query in enumerate(queries):
            unit = query / np.linalg.norm(query.astype(float), axis=1, keepdims=True)
            for i in np.flatnonzero(near[q]):
                bag = vectors[offsets[best[q, i]] : offsets[best[q, i] + 1]].astype(float)
                cosines = bag @ unit.T / np.linalg.norm(bag, axis=1, keepdims=True)
                score[q, i] = cosines.max(axis=0).mean()
    return np.take_along_axis(best, np.argsort(-score, axis=1), axis=1)[:, :count]


def bench_search(bags, queries, r=300):
    """Search of all bags of a treebank's lengths, beside plain NumPy: processor time, and memory."""
    rng, lengths = np.random.default_rng(0), treebank_lengths(bags)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    vectors = rng.standard_normal((offsets[-1], r), dtype=np.float32)
    asked = [rng.standard_normal((n, r), dtype=np.float32) for n in treebank_lengths(queries, 1)]
    where, of = f"{bags} bags, {queries} queries", (vectors, offsets, asked, 10)
    ways = {
        "bove": lambda: np.array([hits.numbers for hits in search(asked, vectors, offsets, 10)]),
        "NumPy": lambda: plain_search(*of),
        "single precision": lambda: plain_search(*of, exact=False),
    }
    taken, found = {name: [] for name in ways}, {}
    for _ in range(1 if bags * queries > 5e6 else 2 if queries > 1 else 7):
        for name, run in ways.items():
            began = time.process_time()
            found[name] = run()
            taken[name].append(time.process_time() - began)
    ours, exact, single = found.values()
    assert (ours == exact).all() and (ours == single).mean() > 0.99  # this one exchanges near ties
    ours, exact, single = map(min, taken.values())
    yield "search of all bags", where, "ms a query", 1000 * ours / queries
    yield "search of all bags", where, "times NumPy's speed", exact / ours
    yield "search of all bags", where, "times NumPy's speed, single precision", single / ours
    tracemalloc.start()
    search(asked, vectors, offsets, 10)
    memory = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    yield "search of all bags", where, "memory beside the bags, MB", memory
