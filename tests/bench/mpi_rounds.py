"""What a round of training costs each of several processes, by phase: CPU seconds, and the bytes exchanged.

    mpiexec -n 2 python tests/bench/mpi_rounds.py RUN 2 --share 1/4 --rounds 2

RUN is a finished run's folder, whose graphs, vocabulary, vectors and settings are used. CPU seconds do not
depend on what else the machine does; those of an exchange are left out, since a process that waits is busy.
A phase is divided if each process does its sentences' part of it, and repeated if each does the whole.
"""

import argparse
import json
import sys
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

import numpy as np
import yaml

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from bove.factor import als
from bove.factor import steps as operators
from bove.factor.als import AlsTrainer, initial_properties, initial_state
from bove.factor.parallel import Peers, joined
from bove.factor.settings import AlsSettings
from bove.text.graphs import load_graphs
from bove.text.vectors import WordVectors, pretrained_rows
from bove.text.vocabulary import Vocabulary

REPEATED, EXCHANGE = "repeated", "exchange"
# function or class → the phase that its calls belong to
PHASES = {
    **dict.fromkeys([(als, "compress"), (als.EStep, "__init__"), (als.FixedPoint, "__init__"), (als, "terms"),
                     (AlsTrainer, "_p_step"), (AlsTrainer, "_r_step")], REPEATED),
    (AlsTrainer, "_e_step"): "E-step", (operators, "right_hand_side"): "right-hand sides",
    (operators, "apply"): "operator", (operators.Preconditioner, "__init__"): "preconditioner",
}  # fmt: skip


class Clock:
    """CPU seconds of each phase, without those of the phases within it."""

    def __init__(self):
        self.seconds: Counter[str] = Counter()
        self._open, self._since = ["sums"], time.process_time()

    def _turn(self) -> None:
        now = time.process_time()
        self.seconds[self._open[-1]] += now - self._since
        self._since = now

    @contextmanager
    def phase(self, name: str):
        self._turn()
        self._open.append(name)
        try:
            yield
        finally:
            self._turn()
            self._open.pop()

    def watch(self, owner, name: str, phase: str) -> None:
        """Count every call of a function or method from now on."""
        function = getattr(owner, name)

        def watched(*args, **options):
            with self.phase(phase):
                return function(*args, **options)

        setattr(owner, name, watched)


def read(run: Path, share: tuple[int, int], peers: Peers):
    """The own part of a share of the run's graphs, and how its training begins."""
    config = yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8"))["model"]
    vocabulary = Vocabulary.load(run / "vocabulary.json")
    vectors = WordVectors.open(run / "vectors.safetensors")
    words, c = vocabulary.n_words, vocabulary.n_properties
    corpus = load_graphs(run / "graphs" / "train.safetensors", share).part(peers.number, peers.count)
    found = pretrained_rows(vocabulary, vectors)
    frozen = np.zeros(c, bool)
    frozen[:words] = found >= 0
    own, dtype = vectors.rows(found[found >= 0]), np.dtype(config["dtype"]).type
    P = initial_properties(c, own, frozen, 1, dtype)
    groups = {"words": slice(0, words), "tags": slice(words, c)}
    known = {**config, **config["als"]}
    return corpus, P, frozen, groups, {f.name: known[f.name] for f in fields(AlsSettings) if f.name in known}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("processes", type=int)
    parser.add_argument("--share", default="1/1", help="I/N of the graphs")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--iterations", type=int, help="of the R-step, in any case")
    args = parser.parse_args()
    number, of = map(int, args.share.split("/"))
    with joined(args.processes) as peers:
        corpus, P, frozen, groups, known = read(args.run, (number - 1, of), peers)
        if args.iterations:
            known |= {"r_iterations": args.iterations, "r_tolerance": 0}
        settings = AlsSettings(**known | {"max_rounds": args.rounds, "tolerance": 0})
        clock = Clock()
        for (owner, name), phase in PHASES.items():
            clock.watch(owner, name, phase)
        for name in ("sum", "first", "every"):
            clock.watch(type(peers), name, EXCHANGE)
        tokens = peers.every(corpus.n_tokens)
        before: Counter[str] = Counter()
        trainer = AlsTrainer(corpus, frozen, groups, settings, peers=peers)
        for state in trainer.rounds(initial_state(corpus, P)):
            clock._turn()
            spent = {name: clock.seconds[name] - before[name] for name in clock.seconds}
            before = clock.seconds.copy()
            row = state.log[-1]
            everyone = peers.every(spent)
            if peers.number == 0:
                report = {"round": state.round, "total": row["total"], "r_iterations": row["r_iterations"]}
                report |= {"exchanged_bytes": row.get("exchanged_bytes", 0), "tokens": tokens}
                names = [name for name in everyone[0] if name != EXCHANGE]
                report["seconds"] = {name: [round(one[name], 2) for one in everyone] for name in names}
                print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main()
