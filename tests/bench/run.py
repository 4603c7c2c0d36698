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
from pathlib import Path

for name in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{name}_NUM_THREADS"] = "1"
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

import kernels  # noqa: E402
import solvers  # noqa: E402


def measure(bench, *args):
    """Run one part in a process of its own; its rows, and the peak of its memory."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        rows, memory = pool.apply(_inside, (bench, args))
    return [*rows, (bench, " ".join(str(a) for a in args if a is not None), "peak memory, MB", memory)]


def _inside(bench, args):
    rows = list(getattr(kernels if hasattr(kernels, bench) else solvers, bench)(*args))
    return rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--run", help="a finished run whose model and graphs inference is measured on")
    parser.add_argument("--output", default="results/bench", help="folder for the table")
    args = parser.parse_args()
    parts = [("bench_peak",), *(("bench_kernels", r) for r in (50, 100, 200, 300))]
    parts += [("bench_memory",), ("bench_kronecker",), ("bench_rescal",)]
    parts += [("bench_search", bags, queries) for bags in (5000, 50000) for queries in (1, 400)]
    parts += [("bench_search", 5000, 1600)]
    parts += [("bench_solvers", args.run), ("bench_training", args.run)]
    sizes = (1000, 2000, 4000, 8000)
    parts += [("bench_round", None, n, f"{n} sentences of a treebank's lengths") for n in sizes]
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
