"""Kill runs of the small demo in every stage, finish them, and compare their results byte by byte.

    python tests/cluster/chaos.py --kills 50 --seed 1
    python tests/cluster/chaos.py --kills 20 --slurm

Each round changes seed, corpus and labels, so that every stage is due again beside the results of before.
The run is killed in each stage in turn, at a random moment of the stage's usual length, and started again;
then it runs to its end. What Snakemake asks for after a kill (`--unlock`) is done, as a person would, and
with Slurm sometimes `scancel`; nothing else is. After each kill every result must be that of a finished run,
the old or the new one, and after the round all must be the new ones.
"""

import argparse
import getpass
import hashlib
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

from mini_slurm import FLAGS, MiniSlurm  # noqa: E402 the folders above make these known
from small_demo import FILES, RUN, SHARDED, SmallDemo  # noqa: E402
from victim import WAYS, Hangs, Victim  # noqa: E402

JOB = "SIGKILL to the job"  # where Slurm runs it; Snakemake goes on and submits it again
PATTERNS = ("tables/*", "bags/**/*", "parses/**/*", "model/*.safetensors", "scores/*", "graphs/*", "pairs/*")
SLURM_STARTS = 10  # seconds or so until a job that is submitted runs its stage
TRIES = 3  # a stage may be over when the signal comes


class Disagreement(Exception):
    """What a run left is not what it should be."""


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every result whose bytes depend on the configuration alone, by its path."""
    results = folder / "results" / RUN
    files = {path for pattern in PATTERNS for path in results.glob(pattern) if path.is_file()}
    return {
        str(path.relative_to(results)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(files)
        if not path.name.startswith(".") and path.name != "run.json"
    }


class Chaos:
    """Rounds of kills on one checkout, at moments of a seed; the folder `logs` gets what each run says.

    Jobs run on the cluster, or else on this machine.
    """

    def __init__(self, checkout: SmallDemo, logs: Path, seed: int, cluster: MiniSlurm | None = None) -> None:
        self.checkout, self.logs, self.cluster = checkout, logs, cluster
        logs.mkdir()
        self.random = random.Random(seed)
        self.words = [*FILES, *(FLAGS if cluster else ())]
        environment = cluster.environment if cluster else os.environ
        self.environment = {name: value for name, value in environment.items() if name != "PYTHONPATH"}
        self.environment["OMP_NUM_THREADS"] = "1"
        self.kills, self.stood_still = 0, 0
        self.killed: Counter[str] = Counter()
        self.lengths: dict[str, float] = {}
        self.expected: dict[tuple[str, ...], dict[str, str]] = {}
        self.before: dict[str, str] = {}

    def undisturbed(self, *settings: str) -> None:
        """Run to the end on this machine; take each stage's length, and what the results must be."""
        self.lengths |= self._finish(self._start([*FILES, *settings]))
        self.before = self.expected[settings] = digests(self.checkout.folder)

    def round(self, stages: Mapping[str, str], *settings: str) -> None:
        """Kill a run once in each stage that it comes to, in the stage's way; finish it; compare.

        An undisturbed run has been made with these settings before. `Disagreement` is raised if the run does
        not finish, or leaves other results.
        """
        left, victims = dict(stages), []
        tries = Counter({stage: TRIES for stage in stages})
        try:
            while left:
                victim = self._start([*self.words, *settings])
                victims.append(victim)
                if not self._strike(victim, left, tries, settings):
                    break
                self._recover()
            last = self._start([*self.words, *settings])
            self._finish(last)
        finally:
            for victim in victims:
                victim.bury()
            if self.cluster:  # a job that goes on would work with these settings beside the next ones
                self.cluster.run("scancel", "--user", getpass.getuser())
        found, expected = digests(self.checkout.folder), self.expected[settings]
        if found != expected:
            names = [name for name in expected | found if found.get(name) != expected.get(name)]
            raise Disagreement(f"not as in the undisturbed run: {names}\n{last.said()}")
        self.before = expected

    def _strike(self, victim: Victim, left: dict, tries: Counter, settings: Sequence[str]) -> bool:
        """Kill a run in one of some stages, the first of those that have begun; False if it ends before."""
        while stage := victim.wait_for(left):
            time.sleep(self.random.uniform(0, self.lengths[stage] + (SLURM_STARTS if self.cluster else 0)))
            way, running = left[stage], set(victim.running().values())
            killed = self._kill_job(stage) if way == JOB else victim.kill(*WAYS[way])
            self.stood_still += victim.stood_still
            tries[stage] -= 1
            if killed:
                hit = {stage} if way == JOB else running or {"between stages"}
                self.kills += 1
                self.killed.update(hit)
                print(f"{self.kills}: {way}: {', '.join(sorted(hit))}", flush=True)
            struck = running if killed and way != JOB else {stage} if killed or not tries[stage] else set()
            for name in struck & left.keys():
                del left[name]
            self._check_whole(settings)
            if way != JOB:
                return killed
        return False

    def _kill_job(self, stage: str) -> bool:
        """Kill all processes of a job of the stage where it runs; False if none runs."""
        listed = self.cluster.run("squeue", "--noheader", "--states=RUNNING", "--format=%i|%k").split()
        jobs = [job.split("|")[0] for job in listed if f"rule_{stage}" in job]
        if jobs:
            self.cluster.run("scancel", "--signal=KILL", "--full", jobs[0])
        return bool(jobs)

    def _check_whole(self, settings: Sequence[str]) -> None:
        """See that every result that is there is a whole one, of this run or of the one before."""
        for name, digest in digests(self.checkout.folder).items():
            if digest not in (self.before.get(name), self.expected[settings].get(name)):
                raise Disagreement(f"{name} is neither the old result nor the new one")

    def _recover(self) -> None:
        """Do what Snakemake asks for, if it does; on a cluster, end the jobs that go on, or do not."""
        if self.cluster and self.random.random() < 0.5:
            self.cluster.run("scancel", "--user", getpass.getuser())
        if any((self.checkout.folder / ".snakemake" / "locks").glob("*")):
            self.checkout.snakemake(*self.words, "--unlock", **self.environment)

    def _start(self, words) -> Victim:
        log = self.logs / f"{len(list(self.logs.iterdir())) + 1:03}.log"
        return Victim(self.checkout.folder, words, log, self.environment)

    def _finish(self, victim: Victim) -> dict[str, float]:
        """Wait for a run's end; the length of each stage."""
        try:
            lengths = victim.lengths()
        finally:
            victim.bury()
        if victim.process.returncode:
            said = f"{victim.said()}\n{self._errors()}"
            raise Disagreement(f"a run that nothing disturbs does not finish:\n{said}")
        return lengths

    def _errors(self) -> str:
        """What stages and Slurm have said of errors."""
        lines = [
            f"{path.relative_to(self.checkout.folder)}: {line}\n"
            for path in sorted((self.checkout.folder / "results").rglob("*.log"))
            for line in path.read_text(encoding="utf-8", errors="replace").split("\n")
            if line.startswith("bove ") or "rror" in line
        ]
        return "".join(lines[-100:])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=50, help="how many at least (default 50)")
    parser.add_argument("--seed", type=int, default=1, help="of the moments (default 1)")
    parser.add_argument("--slurm", action="store_true", help="on a cluster of two nodes on this machine")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        with MiniSlurm(folder / "cluster") if args.slurm else nullcontext() as cluster:
            chaos = Chaos(SmallDemo(folder / "checkout", SHARDED), folder / "logs", args.seed, cluster)
            return play(chaos, args.kills)


def play(chaos: Chaos, kills: int) -> int:
    """Rounds of all stages, until there are so many kills; the exit code."""
    changed = ("seed=2", "sources={corpus: {sentences: 299}}", "datasets={sts: {label: Changed}}")
    settings = [("--config", "seed=1"), ("--config", *changed)]
    ways, rounds = [*WAYS, *([JOB] if chaos.cluster else [])], 0
    try:
        for words in settings:
            chaos.undisturbed(*words)
        stages = [stage for stage in chaos.lengths if stage != "default"]
        print(f"{len(chaos.before)} files to compare; {len(stages)} stages", flush=True)
        while chaos.kills < kills:
            plan = {stage: ways[(i + rounds) % len(ways)] for i, stage in enumerate(stages)}
            rarest = sorted(plan, key=lambda stage: chaos.killed[stage])
            chaos.round({stage: plan[stage] for stage in rarest}, *settings[rounds % 2])
            rounds += 1
            print(f"{chaos.kills} kills, {rounds} rounds, the same to the byte", flush=True)
    except (Disagreement, Hangs) as e:
        print(e, file=sys.stderr)
        return 1
    finally:
        print(*(f"{stage}: {count} kills" for stage, count in chaos.killed.items()), sep="\n")
        print(f"{chaos.stood_still} times Snakemake did not end after a signal, and was killed", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
