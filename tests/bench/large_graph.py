"""One large graph: building it from arrays, a round of training, and its bag; seconds and memory.

    python tests/bench/large_graph.py [--nodes 1000000] [--edges 10000000] [--relations 20] [--rank 50]

Nodes have two of a thousand properties each; edges join random nodes, half of them nodes of properties that
go with the relation. On one thread, in single precision, with the default settings but for the rounds and the
iterations of the bag.
"""

import argparse
import resource
import time
import warnings
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

import bove
from bove.api.estimator import training_data
from bove.factor.als import AlsTrainer, initial_state
from bove.factor.settings import AlsSettings
from bove.factor.training import make_model, start


def memory() -> str:
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB at most so far"


def made(rng, n: int, m: int, d: int, c: int = 1000):
    """Edges as three arrays, and the properties [n, c] of the nodes."""
    kind = rng.integers(c, size=n)
    owned = np.concatenate([kind, rng.integers(c, size=n)])
    W = sp.csr_array((np.ones(2 * n), (np.tile(np.arange(n), 2), owned)), shape=(n, c))
    W.data[:] = 1
    relation, head, dependent = rng.integers(d, size=m), rng.integers(n, size=m), rng.integers(n, size=m)
    order = np.argsort(kind, kind="stable")
    first = np.searchsorted(kind[order], np.arange(c + 1))
    some = np.arange(0, m, 2)  # their dependents are nodes of a property that head and relation decide
    wanted = (kind[head[some]] * 7 + relation[some] * 31) % c
    size = np.maximum(first[wanted + 1] - first[wanted], 1)
    dependent[some] = order[np.minimum(first[wanted] + rng.integers(size), n - 1)]
    return (relation, head, dependent), W


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    for name, value in (("nodes", 10**6), ("edges", 10**7), ("relations", 20), ("rank", 50), ("rounds", 2)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument(
        "--scale", choices=("relative", "absolute"), default="relative", help="absolute: all 1"
    )
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    edges, W = made(np.random.default_rng(0), args.nodes, args.edges, args.relations)
    names = [f"relation {k}" for k in range(args.relations)]
    kinds = [f"kind:{c}" for c in range(W.shape[1])]
    print(f"the arrays: {memory()}", flush=True)
    began = time.perf_counter(), time.process_time()

    def done(what):
        nonlocal began
        now = time.perf_counter(), time.process_time()
        print(f"{what}: {now[0] - began[0]:.1f} s, {now[1] - began[1]:.1f} s of CPU; {memory()}", flush=True)
        began = now

    corpus = bove.Corpus.from_arrays(args.nodes, edges, names, W, kinds)
    del edges, W
    done(f"corpus of {corpus.arrays.n_tokens} nodes and {len(corpus.arrays.arc_head)} edges")
    settings = AlsSettings(rank=args.rank, max_rounds=args.rounds, tolerance=0)
    if args.scale == "absolute":
        settings = replace(settings, scale="absolute", alpha=1, lambda_P=1, lambda_R=1)
    data = training_data(corpus, None, args.rank)
    begun = start(data, settings, seed=1)
    done("scale of the settings and first R-step")
    state = initial_state(data.corpus, begun.P, begun.E, begun.R)
    for state in AlsTrainer(data.corpus, data.frozen, data.groups, begun.settings).rounds(state):
        row = state.log[-1]
        done(f"round {state.round}, {row['explained:relations']:.3f} of the relations explained")
    model = bove.BoVE(args.rank, solver="averaged", iterations=5)
    model._take(make_model(data, state.P, state.R, begun, seed=1), corpus.names)
    model.transform(corpus)
    done("bag by five averaged steps")


if __name__ == "__main__":
    main()
