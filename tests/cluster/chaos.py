"""Kill a run of the small demo at random moments, finish it, and compare its results byte by byte.

    python tests/cluster/chaos.py --kills 50 --seed 1

Each round has one stage and all that follow from it made again, kills that some moments after the stage has
begun, goes on from there and is killed again at any moment, and then runs to the end. What Snakemake asks for
after a kill (`--unlock`) is done, as a person would; nothing else is.
"""

import argparse
import contextlib
import hashlib
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

from checkout import Checkout  # noqa: E402 the folders above make these two known
from small_demo import RUN, arguments  # noqa: E402

# The signal, and whether every process gets it or Snakemake alone: Ctrl-C, a polite end, an abrupt one, and a
# power cut. After an abrupt one the stage itself goes on.
WAYS = (
    ("SIGINT to all", signal.SIGINT, True),
    ("SIGTERM to Snakemake", signal.SIGTERM, False),
    ("SIGKILL to Snakemake", signal.SIGKILL, False),
    ("SIGKILL to all", signal.SIGKILL, True),
)
PATTERNS = (
    "tables/*",
    "bags/**/*",
    "parses/**/*",
    "model/model.safetensors",
    "scores/*",
    "graphs/*",
    "pairs/*",
)
MOMENT = 5  # a stage is killed within so many seconds of its beginning
PATIENCE = 600


class Disagreement(Exception):
    """What a run left is not what it should be."""


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every result whose bytes depend on the configuration alone, by its path."""
    results = folder / "results" / RUN
    files = {path for pattern in PATTERNS for path in results.glob(pattern) if path.is_file()}
    return {
        str(path.relative_to(results)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(files)
        if not path.name.startswith(".")
    }


class Victim:
    """A run of Snakemake in a session of its own, whose output goes to a file.

    When it has ended its number is kept, and not free for another process, until `bury`.
    """

    def __init__(self, checkout: Checkout, words: list[str], log: Path) -> None:
        self.log = log
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        with open(log, "wb") as stream:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "snakemake", "--cores", "2", "--nocolor", *words],
                cwd=checkout.folder,
                env={**environment, "OMP_NUM_THREADS": "1"},
                stdout=stream,
                stderr=stream,
                start_new_session=True,
            )

    def ended(self) -> bool:
        """Whether Snakemake has ended; what it started may go on."""
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def begun(self) -> list[str]:
        """The stages that have begun so far."""
        return re.findall(r"^(?:local)?rule (\w+):$", self.log.read_text(encoding="utf-8"), re.M)

    def wait_for(self, stage: str) -> bool:
        """Wait until a stage has begun; False if the run ends first."""
        end = time.monotonic() + PATIENCE
        while stage not in self.begun():
            if self.ended():
                return stage in self.begun()
            if time.monotonic() > end:
                raise Disagreement(f"{stage} did not begin within {PATIENCE} s:\n{self.log.read_text()}")
            time.sleep(0.05)
        return True

    def kill(self, number: int, everyone: bool) -> bool:
        """Send the signal and wait for Snakemake's end; False if it had ended by itself."""
        if self.ended():
            return False
        (os.killpg if everyone else os.kill)(self.process.pid, number)
        end = time.monotonic() + PATIENCE
        while not self.ended():
            if time.monotonic() > end:
                raise Disagreement(f"Snakemake does not end after signal {number}")
            time.sleep(0.05)
        return True

    def bury(self) -> None:
        """End what is left of the session."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Chaos:
    """Rounds of kills on one finished run.

    Args:
        folder: for the checkout; made if it is not there.
        seed: of stages and moments.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.random, self.checkout = random.Random(seed), Checkout(folder / "checkout")
        self.words, self.log = arguments(self.checkout.folder), folder / "log"
        self.killed: Counter[str] = Counter()
        self.stages: Counter[str] = Counter()
        said = self._finish("the first run")
        self.expected = digests(self.checkout.folder)
        # A stage that was killed may leave nothing, although the tables are there from before. Snakemake then
        # makes its file again where it is asked for, so all are.
        self.words = [*(f"results/{RUN}/{name}" for name in self.expected), *self.words]
        self.all_stages = sorted(self.checkout.jobs(said))
        self.random.shuffle(self.all_stages)

    def round(self, stage: str, kills: int) -> None:
        """Kill so many times, if the run lasts that long, from some stage on; finish; compare.

        Raises:
            Disagreement: the run does not finish, or its results are others.
        """
        victims, more = [], ["--forcerun", stage]
        try:
            for _ in range(kills):
                way, signal_, everyone = WAYS[sum(self.killed.values()) % len(WAYS)]
                victim = Victim(self.checkout, [*self.words, *more], self.log)
                victims.append(victim)
                if more:
                    victim.wait_for(stage)
                    time.sleep(self.random.uniform(0, MOMENT))
                else:
                    # reading the workflow takes some seconds, in which it may be killed too
                    time.sleep(self.random.uniform(0, 2 * MOMENT))
                if victim.kill(signal_, everyone):
                    self.killed[way] += 1
                    self.stages[(victim.begun() or ["before any stage"])[-1]] += 1
                self._unlock()
                more = []
            self._finish(f"from {stage} on")
        finally:
            for victim in victims:
                victim.bury()
        found = digests(self.checkout.folder)
        if found != self.expected:
            names = [name for name in self.expected | found if found.get(name) != self.expected.get(name)]
            raise Disagreement(f"from {stage} on: not as in the undisturbed run: {names}")

    def _unlock(self) -> None:
        """Do what Snakemake asks for, if it does."""
        if any((self.checkout.folder / ".snakemake" / "locks").glob("*")):
            self.checkout.snakemake(*self.words, "--unlock")

    def _finish(self, what: str) -> str:
        done = self.checkout.snakemake(*self.words)
        if done.returncode:
            raise Disagreement(f"{what}: does not finish:\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=50, help="how many at least (default 50)")
    parser.add_argument("--kills-a-round", type=int, default=3, help="until the run is finished (default 3)")
    parser.add_argument("--seed", type=int, default=1, help="of stages and moments (default 1)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        chaos, rounds = Chaos(Path(folder), args.seed), 0
        print(f"{len(chaos.expected)} files to compare, stages: {', '.join(chaos.all_stages)}", flush=True)
        while (done := sum(chaos.killed.values())) < args.kills:
            try:
                stage = chaos.all_stages[rounds % len(chaos.all_stages)]
                chaos.round(stage, min(args.kills_a_round, args.kills - done))
            except Disagreement as e:
                print(e, file=sys.stderr)
                return 1
            rounds += 1
            print(
                f"{sum(chaos.killed.values())} kills, {rounds} rounds, all the same to the byte", flush=True
            )
    for title, counts in (("signals", chaos.killed), ("during, or after the start of", chaos.stages)):
        print(f"{title}: " + ", ".join(f"{name} {count}" for name, count in counts.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
