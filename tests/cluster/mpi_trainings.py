"""Small trainings by one process or by several; as a program, what each process of an MPI launcher does.

mpiexec -n 2 python tests/cluster/mpi_trainings.py train OUTPUT 2   every case; the first process writes
mpiexec -n 2 python tests/cluster/mpi_trainings.py fail HOW 2       the second process alone fails
mpiexec -n 2 python tests/cluster/mpi_trainings.py stop ROUND …     `bove …`, all stopped in a round
"""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from corpora import make_corpus

from bove.cli.main import main
from bove.errors import BoveError
from bove.factor import als
from bove.factor import parallel as mpi
from bove.factor import penalties as proximal
from bove.factor import steps as operators
from bove.factor.als import AlsTrainer, initial_properties, initial_state
from bove.factor.graphs import GraphCorpus
from bove.factor.parallel import Peers
from bove.factor.settings import AlsSettings

RANK, PROPERTIES, RELATIONS = 4, 7, 3
GROUPS = {"words": slice(0, 4), "tags": slice(4, PROPERTIES)}
LENGTHS = [3, 8, 1, 0, 8, 5, 20, 2, 2, 9, 0, 4, 6, 0]
SETTINGS = AlsSettings(
    alpha=2.0, lambda_P=0.5, lambda_R=0.3, lambda_E=0.4, max_rounds=4, tolerance=1e-9, restart_every=2,
    restart_iterations=5, e_step="averaged", e_tolerance=1e-9, e_energy=1.0, r_tolerance=1e-8,
    r_iterations=300, batch_tokens=12,
)  # fmt: skip
FIXED = {"e_step": "fixed-point", "restart_iterations": 200, "lambda_E": 6.0}
# settings, lengths of the sentences and perhaps the share of unknown cells
CASES = {
    "averaged": (SETTINGS, LENGTHS),
    "single": (replace(SETTINGS, e_step="single"), LENGTHS),
    "fixed-point": (replace(SETTINGS, **FIXED), LENGTHS),
    "l1": (replace(SETTINGS, penalty_P="l1", penalty_R="l1", max_rounds=3), LENGTHS),
    "nuclear": (replace(SETTINGS, penalty_R="nuclear", max_rounds=3, **FIXED), LENGTHS),
    "nuclear-shrink": (replace(SETTINGS, penalty_R="nuclear-shrink"), LENGTHS),
    "without relations": (replace(SETTINGS, alpha=0.0), LENGTHS),
    "fewer sentences than processes": (SETTINGS, [0, 5, 0, 30]),
    "one sentence": (SETTINGS, [6]),
    "unknown cells": (SETTINGS, LENGTHS, 0.2),
    "unknown cells, l1": (replace(SETTINGS, penalty_R="l1", max_rounds=2, **FIXED), LENGTHS, 0.2),
}
# what the volume of one round is measured on: so many iterations in any case
COUNTED = replace(SETTINGS, max_rounds=3, r_tolerance=0.0, r_iterations=5)


def train(
    peers: Peers, settings: AlsSettings, lengths: list[int], unknown: float | None = None, dtype=np.float64
) -> als.AlsState:
    """Train on the same graphs, whoever has which of them."""
    rng = np.random.default_rng(1)
    corpus, _ = make_corpus(rng, lengths, PROPERTIES, RELATIONS, unknown=unknown)
    frozen = np.arange(PROPERTIES) < 2
    P = initial_properties(PROPERTIES, rng.standard_normal((2, RANK)).astype(dtype), frozen, 1, dtype)
    own: GraphCorpus = corpus.part(peers.number, peers.count)
    state = initial_state(own, P)
    for state in AlsTrainer(own, frozen, GROUPS, settings, peers=peers).rounds(state):
        pass
    return state


def _train_all(output: str, peers: Peers) -> None:
    """Every case, and the log of two corpora of which one is three times the other."""
    states = {name: train(peers, *case) for name, case in CASES.items()}
    counted = [train(peers, COUNTED, times * LENGTHS, dtype=np.float32).log for times in (1, 3)]
    sizes = peers.every({name: state.E.shape for name, state in states.items()})
    if peers.number == 0:
        np.savez(
            output, **{f"{part}:{name}": getattr(s, part) for name, s in states.items() for part in "PR"}
        )
        logs = {name: state.log for name, state in states.items()}
        reported = {"logs": logs, "counted": counted, "sizes": sizes}
        Path(output).with_suffix(".json").write_text(json.dumps(reported), encoding="utf-8")


def _fail(how: str, peers: Peers) -> None:
    """The second process fails where the others sum."""
    mpi.PATIENCE = 1
    if peers.number == 1:
        raise (BoveError if how == "with a sentence" else RuntimeError)("one of two")
    peers.sum(np.zeros(3))


def _round_alone(_: str, peers: Peers) -> None:
    """Every process sees other residuals and norms than the next, and yet all must do the same."""
    relative, dot = operators._relative, proximal._dot
    operators._relative = lambda *given: relative(*given) * 10.0**-peers.number
    proximal._dot = lambda *given: dot(*given) * 10.0**-peers.number
    for name in ("averaged", "nuclear"):
        state = train(peers, replace(CASES[name][0], max_rounds=2), LENGTHS)
        for part in (state.P, state.R, state.log[-1]["r_iterations"]):
            assert len({np.asarray(value).tobytes() for value in peers.every(part)}) == 1


def _stop(number: int) -> None:
    one_round = als.AlsTrainer._round

    def stopped(self, state, workers):
        if state.round == number:
            raise KeyboardInterrupt
        return one_round(self, state, workers)

    als.AlsTrainer._round = stopped


if __name__ == "__main__":
    what, argument, *words = sys.argv[1:]
    if what == "stop":
        _stop(int(argument))
        sys.exit(main(words))
    count = int(words[0])
    with mpi.joined(count) as peers:
        {"train": _train_all, "fail": _fail, "round": _round_alone}[what](argument, peers)
