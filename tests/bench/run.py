"""`make bench`: speed and memory of the kernels, as ratios within one run; prints and stores one table.

    python tests/bench/run.py [--run results/NAME] [--output results/bench]

With --run, inference is measured on that run's model, graphs and pairs instead of random ones.
"""

import argparse
import csv
import multiprocessing
import os
import resource
import sys
import time
from pathlib import Path

for name in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{name}_NUM_THREADS"] = "1"
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

import numpy as np  # noqa: E402
import reference  # noqa: E402
from made import corpus_of, factors, treebank_lengths  # noqa: E402
from threadpoolctl import threadpool_limits  # noqa: E402

from bove.factor.batches import Workers, plan_batches, take_batch  # noqa: E402
from bove.factor.inference import FixedPoint, infer_averaged, relative_change  # noqa: E402
from bove.factor.lowrank import compress  # noqa: E402
from bove.factor.objective import arcs_by_relation, gram  # noqa: E402
from bove.factor.operators import apply, r_step  # noqa: E402
from bove.factor.steps import EStep, p_step  # noqa: E402

BATCH = 1024
THREADS = min(2, os.cpu_count() or 1)


def timed(function, *args):
    """Seconds, and what it gave."""
    start = time.perf_counter()
    result = function(*args)
    return time.perf_counter() - start, result


def peak(threads: int) -> float:
    """float32 matrix products a second, in flops: the best of five of 3000 × 3000."""
    A = np.ones((3000, 3000), np.float32)
    with threadpool_limits(threads):
        A @ A
        return 2 * 3000**3 / min(timed(np.matmul, A, A)[0] for _ in range(5))


def batches_of(corpus, budget=BATCH):
    return [take_batch(corpus, graphs, np.float32) for graphs in plan_batches(corpus.lengths, budget)]


def bench_peak():
    for threads in sorted({1, THREADS}):
        yield "peak", f"{threads} threads", "GFLOP/s", peak(threads) / 1e9


def bench_kernels(r):
    """E-step, R-step's operator and inference on a treebank's lengths, as a share of the peak around them."""
    corpus = corpus_of(treebank_lengths(600))
    c, d, T = corpus.n_properties, corpus.n_relations, corpus.n_tokens
    P, R = factors(c, d, r)
    PtP = P.T @ P
    batches = batches_of(corpus)
    kernel = EStep(P, PtP, R, 10, 100)
    E = np.random.default_rng(0).standard_normal((T, r), dtype=np.float32)

    def e_step(batch):
        return kernel.step(E[batch.tokens], batch.n, kernel.base(batch), kernel.neighbours(batch))

    low = compress(R, 0.99)
    fast = FixedPoint(P, PtP, low, 10, 100)
    long = np.maximum(0, corpus.lengths - r).sum() / T
    flops = {
        "E-step": 6 * d * r * r * T,
        "R-step operator": 4 * d * r * r * T,
        "inference, averaged": 6 * d * r * r * T,
        "inference, fixed point, 99 %": 8 * r * int(low.ranks.sum()) * T,
    }
    runs = {
        "E-step": lambda w: list(w.map(e_step, batches)),
        "R-step operator": lambda w: apply(R, E, batches, w),
        "inference, averaged": lambda w: list(
            w.map(lambda b: infer_averaged(kernel, b, iterations=1, tolerance=0, E0=E[b.tokens]), batches)
        ),
        "inference, fixed point, 99 %": lambda w: list(
            w.map(lambda b: fast.infer(b, iterations=1, tolerance=0, E0=E[b.tokens]), batches)
        ),
    }
    assert long < 0.2
    with Workers(THREADS) as workers:
        for name, run in runs.items():
            run(workers)
            before = peak(THREADS)
            seconds = min(timed(run, workers)[0] for _ in range(3))
            best = max(before, peak(THREADS))
            yield name, f"r = {r}", "share of peak", flops[name] / seconds / best
            yield name, f"r = {r}", "tokens/s", T / seconds


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
    batches = [take_batch(corpus, g, np.float64) for g in plan_batches(corpus.lengths, BATCH)]
    with Workers(THREADS) as workers:
        G, R0 = gram(E, workers), np.zeros((5, r, r))
        quick, got = timed(
            lambda: r_step(
                E, G, corpus.token_offsets, arcs_by_relation(corpus), batches, workers,
                ridge=0.1, R0=R0, tolerance=1e-7, max_iterations=100,
            )
        )  # fmt: skip
    yield "R-step", "r = 50, 1,500 sentences", "times faster than the normal equations", slow / quick
    yield (
        "R-step",
        "r = 50, 1,500 sentences",
        "relative difference",
        np.abs(got.R - want).max() / np.abs(want).max(),
    )


def bench_solvers(folder):
    """The averaged dense step against the fixed point at several energies, to the same tolerance."""
    if folder:
        from bove.factor.model import Model
        from bove.text.graphs import load_graphs

        model = Model.load(Path(folder, "model/model.safetensors"))
        pairs = _similarity_pairs(folder)
        corpus = load_graphs(Path(folder, "graphs", f"{pairs[0].dataset}.safetensors"))
        P, R = model.properties, model.dense_relations()
        alpha, lambda_E = model.hyperparameters["alpha"], model.hyperparameters["lambda_E"]
        PtP = P.T @ P
        P = np.concatenate([P, corpus.extra.astype(P.dtype)]) if len(corpus.extra) else P
        where = Path(folder).name
    else:
        corpus = corpus_of(treebank_lengths(800))
        P, R = factors(corpus.n_properties, corpus.n_relations, 300)
        PtP, alpha, lambda_E, where = P.T @ P, 10, 100, "random, r = 300"
        pairs = []
    first, index = corpus.distinct()
    plan = plan_batches(corpus.lengths[first], BATCH)
    batches = [take_batch(corpus, first[part], np.float32) for part in plan]
    kernel = EStep(P, PtP, R, alpha, lambda_E)

    def bags(solve):
        with Workers(THREADS) as workers:
            return list(workers.map(solve, batches))

    options = {"iterations": 50, "tolerance": 1e-3}
    slow, dense = timed(bags, lambda b: infer_averaged(kernel, b, **options))
    yield "inference, averaged", where, "sentences/s", len(first) / slow
    yield "inference, averaged", where, "iterations, mean", _mean_iterations(dense)
    base = _mean_pearson(pairs, corpus, plan, index, dense) if pairs else None
    if pairs:
        yield "inference, averaged", where, "mean Pearson", base
    for energy in (0.9, 0.97, 0.99, 0.999, 1):
        low = compress(R, energy)
        fast = FixedPoint(P, PtP, low, alpha, lambda_E, lambda: kernel)
        quick, got = timed(bags, lambda b, fast=fast: fast.infer(b, **options))
        what = f"inference, fixed point, {energy:.1%} of the energy"
        moved = np.concatenate([relative_change(g.E, w.E, 1) for g, w in zip(got, dense, strict=True)])
        yield what, where, "times faster than averaged", slow / quick
        yield what, where, "sentences/s", len(first) / quick
        yield what, where, "iterations, mean", _mean_iterations(got)
        yield what, where, "singular values kept", float(low.ranks.sum())
        if pairs:
            yield what, where, "change of mean Pearson", _mean_pearson(pairs, corpus, plan, index, got) - base
        yield what, where, "change of a token, median", float(np.median(moved))
        yield what, where, "change of a token, 99th hundredth", float(np.quantile(moved, 0.99))


def _similarity_pairs(folder):
    """Scored pairs of the run's first similarity data set."""
    from bove.text.pairs import read_pairs

    for path in sorted(Path(folder, "pairs").glob("*.jsonl")):
        pairs = [pair for pair in read_pairs(path) if pair.scored]
        if pairs and pairs[0].task == "similarity":
            return pairs
    raise SystemExit(f"{folder}: no similarity pairs; give a finished run")


def _mean_pearson(pairs, corpus, plan, index, results):
    """Unweighted mean over the subsets."""
    from bove.evaluate.alignment import score_pairs
    from bove.evaluate.metrics import pearson

    bags = {}
    for part, got in zip(plan, results, strict=True):
        r = got.E.shape[1]
        bags |= dict(zip(part.tolist(), got.E.reshape(len(part), -1, r), strict=True))
    empty = np.zeros((0, 1), np.float32)
    place = {name: s for s, name in enumerate(corpus.ids)}
    first, second = ([int(index[place[f"{pair.id}.{side}"]]) for pair in pairs] for side in (1, 2))
    scores = score_pairs(first, second, lambda b: bags.get(b, empty), "similarity").values
    subsets = np.array([pair.subset for pair in pairs])
    gold = np.array([pair.gold for pair in pairs], float)
    return float(np.mean([pearson(gold[subsets == s], scores[subsets == s]) for s in dict.fromkeys(subsets)]))


def _mean_iterations(results):
    return float(np.concatenate([got.iterations for got in results]).mean())


def bench_round(lengths_of, count, what):
    """One round of training at r = 100: E-, P- and R-step."""
    lengths = np.full(count, lengths_of) if lengths_of else treebank_lengths(count)
    corpus, r = corpus_of(lengths), 100
    P, R = factors(corpus.n_properties, corpus.n_relations, r)
    batches = batches_of(corpus)
    E = np.zeros((corpus.n_tokens, r), np.float32)
    kernel = EStep(P, P.T @ P, R, 10, 100)

    def update(batch):
        base, neighbours = kernel.base(batch), kernel.neighbours(batch)
        return kernel.step(kernel.step(base * 0.01, batch.n, base, neighbours), batch.n, base, neighbours)

    def one_round():
        with Workers(THREADS) as workers:
            for batch, part in zip(batches, workers.map(update, batches), strict=True):
                E[batch.tokens] = part
            arcs = arcs_by_relation(corpus)
            r_step(
                E, gram(E, workers), corpus.token_offsets, arcs, batches, workers,
                ridge=0.01, R0=R, tolerance=0, max_iterations=4,
            )  # fmt: skip

    seconds, _ = timed(one_round)
    yield "round at r = 100", what, "seconds", seconds
    yield "round at r = 100", what, "µs a token", 1e6 * seconds / corpus.n_tokens


def bench_rescal():
    """One graph of 2,000 nodes and 20 relations at rank 50: our round against RESCAL's formulas."""
    import scipy.sparse as sp

    rng, n, d, r = np.random.default_rng(2), 2000, 20, 50
    base = corpus_of(np.array([n]), c=10, d=d)
    head, dependent = rng.integers(0, n, (2, 40000))
    cells = np.unique(np.stack([rng.integers(0, d, 40000), head, dependent]), axis=1)
    from dataclasses import replace

    corpus = replace(
        base, arc_relation=cells[0], arc_head=cells[1], arc_dependent=cells[2],
        arc_offsets=np.array([0, cells.shape[1]]), properties=np.zeros(0, np.int64),
        property_offsets=np.zeros(n + 1, np.int64),
    )  # fmt: skip
    A0 = rng.random((n, r))
    X = [
        sp.csr_array((np.ones(m.sum()), (cells[1][m], cells[2][m])), (n, n))
        for m in (cells[0] == k for k in range(d))
    ]
    R0 = rng.random((d, r, r))
    ridge = 0.1

    def rescal():
        AtA, F, S = A0.T @ A0, np.zeros((n, r)), np.zeros((r, r))
        for k in range(d):
            F += X[k] @ (A0 @ R0[k].T) + X[k].T @ (A0 @ R0[k])
            S += R0[k] @ AtA @ R0[k].T + R0[k].T @ AtA @ R0[k]
        A = np.linalg.solve(S + ridge * np.eye(r), F.T).T
        U, s, Vt = np.linalg.svd(A, full_matrices=False)
        shrink = np.outer(s, s) / (np.outer(s, s) ** 2 + ridge)
        return A, np.stack([Vt.T @ (shrink * (U.T @ (X[k] @ U))) @ Vt for k in range(d)])

    batches = [take_batch(corpus, np.array([0]), np.float64)]
    P = np.zeros((10, r))
    arcs = arcs_by_relation(corpus)

    def ours(workers):
        kernel = EStep(P, P.T @ P, R0, 1.0, ridge)
        E = kernel.step(A0, n, kernel.base(batches[0]), kernel.neighbours(batches[0]))
        G = gram(E, workers)
        p_step(np.zeros((10, r)), G, ridge, P, np.zeros(10, bool))
        got = r_step(E, G, corpus.token_offsets, arcs, batches, workers, ridge=ridge, R0=R0, tolerance=1e-6,
                     max_iterations=20)  # fmt: skip
        return E, got.R

    with threadpool_limits(1), Workers(1) as workers:
        ours(workers), rescal()
        quick, (E, R) = min((timed(ours, workers) for _ in range(5)), key=lambda t: t[0])
        slow, (A, S) = min((timed(rescal) for _ in range(5)), key=lambda t: t[0])
    yield "one graph, 2,000 nodes, 20 relations, r = 50", "1 thread", "times RESCAL's speed", slow / quick
    yield (
        "one graph, 2,000 nodes, 20 relations, r = 50",
        "1 thread",
        "relative difference of R",
        float(np.abs(R - S).max() / np.abs(S).max()),
    )


def measure(bench, *args):
    """Run one part in a process of its own; its rows, and the peak of its memory."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        rows, memory = pool.apply(_inside, (bench, args))
    return [*rows, (bench, " ".join(str(a) for a in args if a is not None), "peak memory, MB", memory)]


def _inside(bench, args):
    rows = list(globals()[bench](*args))
    return rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--run", help="a finished run whose model and graphs inference is measured on")
    parser.add_argument("--output", default="results/bench", help="folder for the table")
    args = parser.parse_args()
    parts = [("bench_peak",)]
    parts += [("bench_kernels", r) for r in (50, 100, 200, 300)]
    parts += [("bench_kronecker",), ("bench_solvers", args.run), ("bench_rescal",)]
    parts += [
        ("bench_round", None, n, f"{n} sentences of a treebank's lengths") for n in (1000, 2000, 4000, 8000)
    ]
    parts += [("bench_round", n, 20000 // n, f"20,000 tokens in sentences of {n}") for n in (5, 20, 80, 320)]
    Path(args.output).mkdir(parents=True, exist_ok=True)
    with open(Path(args.output, "bench.csv"), "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["what", "where", "measure", "value"])
        for part in parts:
            for row in measure(*part):
                print(f"{row[0]:48} {row[1]:40} {row[2]:38} {row[3]:12.5g}", flush=True)
                writer.writerow(row)
    print(f"stored in {Path(args.output, 'bench.csv')}")


if __name__ == "__main__":
    main()
