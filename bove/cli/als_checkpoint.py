"""Where a training by ALS stands, in a file beside its model; of several processes each has its own.

A process's file has P and R, the token vectors of its own sentences, and the log. They are gone on from only
together: by the same number of processes, and from the same round.
"""

import json
import logging
from glob import escape
from pathlib import Path

from bove import artefacts
from bove.errors import BoveError
from bove.factor.als import AlsState
from bove.factor.peers import Peers

log = logging.getLogger("bove")
FORMAT = "bove-als-checkpoint"


class Checkpoint:
    """The checkpoint of one training.

    Args:
        model: path of the model; the files are beside it.
        key: a hash of all that decides what a round gives this process.
        peers: the processes that train.
    """

    def __init__(self, model: str | Path, key: str, peers: Peers):
        self.first, self.key, self.peers = Path(f"{model}.checkpoint"), key, peers
        part = f".{peers.number + 1}-of-{peers.count}" if peers.number else ""
        self.path = Path(f"{self.first}{part}")

    def save(self, state: AlsState, passed: tuple) -> None:
        """Write the state, and the seconds of training up to each of its rounds.

        Raises:
            BoveError: the file can not be written; in all processes if in one.
        """
        arrays = {"P": state.P, "R": state.R, "E": state.E}
        metadata = {"key": self.key, "log": json.dumps(state.log), "finished": json.dumps(state.finished)}
        metadata["passed"] = json.dumps(passed)
        with self.peers.together():
            artefacts.save(self.path, FORMAT, arrays, metadata)

    def load(self) -> tuple[AlsState, tuple] | None:
        """Where this training stands, with the seconds up to each round; None without a checkpoint."""
        found = self._load()
        rounds = self.peers.every(found[0].round if found else 0)
        if len(set(rounds)) > 1:
            log.warning("%s and those beside it do not belong together; starting afresh", self.first)
            return None
        if found:
            log.info("going on from round %d of %s", rounds[0], self.first)
        return found

    def _load(self) -> tuple[AlsState, tuple] | None:
        if not self.path.exists():
            return None
        try:
            arrays, metadata = artefacts.load(self.path, FORMAT)
        except BoveError as e:
            log.warning("%s; starting afresh", e)
            return None
        if metadata.get("key") != self.key or "passed" not in metadata:
            log.warning("%s belongs to another training, or to another version; starting afresh", self.path)
            return None
        try:
            rows, passed = (tuple(json.loads(metadata[name])) for name in ("log", "passed"))
            finished = json.loads(metadata["finished"])
            return AlsState(arrays["P"], arrays["R"], arrays["E"], len(rows), rows, finished), passed
        except (KeyError, ValueError, TypeError, RecursionError) as e:
            log.warning("%s is damaged (%r); starting afresh", self.path, e)
            return None

    def remove(self) -> None:
        """Delete it, when the model is there; those of other numbers of processes too."""
        if self.peers.number == 0:
            parts = self.first.parent.glob(f"{escape(self.first.name)}.*-of-*")
            for path in (self.first, *parts):
                path.unlink(missing_ok=True)
