"""`bove search` with an index beside the search of all bags: recall, time, memory, size on disk.

    python tests/bench/search.py BAGS … [--copies 1 12] [--candidates 50 200 1000] [--output FILE]

The bags of all files are put together, different ones once. Some, drawn at random, are the queries and
leave the collection. Of each further copy every vector is turned by noise of a given share of its length, so
that larger collections can be made of real bags. Searches and building run in processes of their own, on one
thread; times are of the processor, since the engine builds at low priority; memory is their peak, and what
of it is no page of a mapped file. Recall at k is the share of the k best bags that is found; a bag whose
score has the same six digits as that of the k-th is as good.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from made import write_rows

from bove.bags.store import Bags, BagWriter

DEPTHS = (1, 10, 100)
TICK = 0.02
PRINTED = 5e-7


def bytes_now(name: str) -> int:
    """A line of /proc/self/status, in bytes."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").split("\n"):
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return 0


class Peak:
    """Context in which the memory that is no page of a file is watched."""

    def __enter__(self):
        self.own, self._ended = 0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()
        self.whole = bytes_now("VmHWM")

    def _watch(self):
        while not self._ended.wait(TICK):
            self.own = max(self.own, bytes_now("RssAnon"))


def work(task: dict) -> dict:
    """What a process of its own does: "exact", "build" or "index"."""
    from bove.evaluate.search import BagIndex, GraphSettings, build, search

    bags = Bags.open(task["bags"])
    queries = [Bags.open(task["queries"]).bag(b) for b in range(task["count"])]
    found = []
    with Peak() as peak:
        began = time.process_time()
        if task["kind"] == "build":
            build(bags, task["index"], GraphSettings(task["links"], task["breadth"]))
        elif task["kind"] == "exact":
            found = search(queries, bags.vectors, bags.offsets, max(DEPTHS))
        else:
            index = BagIndex.open(task["index"])
            began = time.process_time()
            found = [index.search(query, max(DEPTHS), task["candidates"]) for query in queries]
        seconds = time.process_time() - began
    scores = [hits.scores.tolist() for hits in found]
    return {"seconds": seconds, "rss": peak.whole, "own": peak.own, "scores": scores}


def in_a_process(**task) -> dict:
    words = [sys.executable, __file__, "--work", json.dumps(task)]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def write_bags(path: Path, bags: list[np.ndarray], copies: int, noise: float, seed: int) -> int:
    """Write copies of bags, all but the first with noise; the number of vectors."""
    rng, sizes = np.random.default_rng(seed), np.array([len(bag) for bag in bags])
    lengths = np.tile(sizes, copies)
    ids = [str(b) for b in range(len(lengths))]
    with BagWriter(path, ids, lengths, np.arange(len(ids)), bags[0].shape[1], "bove", "") as writer:
        for copy in range(copies):
            for b, bag in enumerate(bags):
                added = rng.standard_normal(bag.shape) * np.linalg.norm(bag, axis=1, keepdims=True)
                turned = bag + (copy > 0) * noise / np.sqrt(bag.shape[1]) * added
                writer.put(copy * len(bags) + b, turned.astype(np.float32))
    return int(lengths.sum())


def recall(exact: list[list[float]], found: list[list[float]], depth: int) -> float:
    """Mean share of the best `depth` scores that is found."""
    shares = []
    for best, got in zip(exact, found, strict=True):
        due = best[:depth]
        shares.append(sum(score >= due[-1] - PRINTED for score in got[:depth]) / len(due))
    return float(np.mean(shares))


def size_of(folder: Path) -> int:
    """Bytes of the files under a folder, as they lie on the disk."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def measure(args: argparse.Namespace, folder: Path) -> list[dict]:
    opened = [Bags.open(path) for path in args.bags]
    every = [given.bag(b) for given in opened for b in range(given.n_bags)]
    every = list({bag.tobytes(): bag for bag in every if 0 < len(bag) <= args.longest}.values())
    order = np.random.default_rng(args.seed).permutation(len(every))
    queries = [every[b] for b in order[: args.queries]]
    kept = [every[b] for b in np.sort(order[args.queries :])]
    write_bags(folder / "queries", queries, 1, 0, args.seed)
    rows = []
    for copies in args.copies:
        bags, index = folder / f"bags-{copies}", folder / f"index-{copies}"
        n = write_bags(bags, kept, copies, args.noise, args.seed)
        sizes = {
            "bags": len(kept) * copies,
            "vectors": n,
            "rank": every[0].shape[1],
            "queries": len(queries),
        }
        given = {"bags": str(bags), "queries": str(folder / "queries"), "count": len(queries)}
        given |= {"index": str(index), "links": args.links, "breadth": args.breadth}
        one = in_a_process(kind="exact", **(given | {"count": 1}))
        exact = in_a_process(kind="exact", **given)
        rows.append(row(sizes, "exact, one query", one, 1, bags.stat().st_size))
        rows.append(row(sizes, "exact, all queries", exact, len(queries), bags.stat().st_size))
        made = in_a_process(kind="build", **given)
        rows.append(row(sizes, "build the index", made, 1, size_of(index)))
        for candidates in args.candidates:
            got = in_a_process(kind="index", candidates=candidates, **given)
            rows.append(row(sizes, f"index, {candidates} candidates", got, len(queries), size_of(index)))
            for depth in DEPTHS:
                rows[-1][f"recall@{depth}"] = recall(exact["scores"], got["scores"], depth)
            print(rows[-1], flush=True)
    return rows


def row(sizes: dict, what: str, got: dict, queries: int, disk: int) -> dict:
    found = sizes | {"what": what, "ms": 1000 * got["seconds"] / queries, "MB": got["rss"] / 1e6}
    found |= {"MB not mapped": got["own"] / 1e6, "MB on disk": disk / 1e6}
    print(found, flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("bags", nargs="*", metavar="BAGS")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--copies", type=int, nargs="+", default=[1])
    parser.add_argument("--noise", type=float, default=0.5, help="length of the noise, vectors having 1")
    parser.add_argument(
        "--longest", type=int, default=1000, help="of a bag, in vectors; longer ones stay out"
    )
    parser.add_argument("--candidates", type=int, nargs="+", default=[100, 200, 500, 1000])
    parser.add_argument("--links", type=int, default=16)
    parser.add_argument("--breadth", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", help="for the collections, which may be large")
    parser.add_argument("--output", metavar="FILE", help="CSV of all that was measured")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        print(json.dumps(work(json.loads(args.work))))
        return
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        rows = measure(args, Path(folder))
    if args.output:
        write_rows(args.output, rows)


if __name__ == "__main__":
    main()
