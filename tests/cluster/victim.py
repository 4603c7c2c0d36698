"""A run of Snakemake that can be watched and killed."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Sequence
from pathlib import Path

PATIENCE = 900  # seconds; a run, or one stage of it, that takes longer hangs
STANDSTILL = 120  # seconds in which a run ends after a signal
BEGUN = re.compile(r"^(?:local)?rule (\w+):\n(?:    .*\n)*?    jobid: (\d+)$", re.M)
FINISHED = re.compile(r"^Finished jobid: (\d+) ", re.M)


# A signal, and whether every process of the run gets it or Snakemake alone: Ctrl-C; a shutdown; a polite end;
# what a machine does that is out of memory; a power cut. After the third and the fourth the stage goes on.
WAYS = {
    "SIGINT to all": (signal.SIGINT, True),
    "SIGTERM to all": (signal.SIGTERM, True),
    "SIGTERM to Snakemake": (signal.SIGTERM, False),
    "SIGKILL to Snakemake": (signal.SIGKILL, False),
    "SIGKILL to all": (signal.SIGKILL, True),
}


class Hangs(Exception):
    """A run does not go on, or not end."""


class Victim:
    """A run in a session of its own in a folder, whose output goes to the file `log`.

    When it has ended its number is kept, and not free for another process, until `bury`. `stood_still` says
    whether it did not end after a signal, and had to be killed.
    """

    def __init__(self, folder: Path, words: Sequence[str], log: Path, environment: dict[str, str]) -> None:
        self.log, self.stood_still = log, False
        with open(log, "wb") as stream:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "snakemake", "--cores", "2", "--nocolor", *words],
                cwd=folder,
                env=environment,
                stdout=stream,
                stderr=stream,
                start_new_session=True,
                # what a shell starts in the background ignores Ctrl-C, and so would this
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def ended(self) -> bool:
        """Whether Snakemake has ended; what it started may go on."""
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def running(self) -> dict[str, str]:
        """The stages that have begun and are not finished, by the numbers of their jobs."""
        said = self.said()
        finished = set(FINISHED.findall(said))
        return {job: stage for stage, job in BEGUN.findall(said) if job not in finished}

    def wait_for(self, stages: Collection[str]) -> str | None:
        """Wait until one of some stages has begun, and say which, the first of them; None if the run ends."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            over, running = self.ended(), set(self.running().values())
            if found := next((stage for stage in stages if stage in running), None):
                return None if over else found
            if over:
                return None
            time.sleep(0.05)
        raise Hangs(f"none of {', '.join(stages)} began within {PATIENCE} s:\n{self.said()}")

    def lengths(self) -> dict[str, float]:
        """Wait for the end; how long the longest job of each stage took, in seconds."""
        begun: dict[str, float] = {}
        longest: dict[str, float] = {}
        end, over = time.monotonic() + PATIENCE, False
        while not over:
            if time.monotonic() > end:
                raise Hangs(f"the run takes more than {PATIENCE} s:\n{self.said()}")
            over, said, now = self.ended(), self.said(), time.monotonic()
            finished = set(FINISHED.findall(said))
            for stage, job in BEGUN.findall(said):
                begun.setdefault(job, now)
                if job in finished:
                    longest[stage] = max(longest.get(stage, 0.0), now - begun[job])
                    begun[job] = now  # what it took is counted once
            time.sleep(0.05)
        return longest

    def kill(self, number: int, everyone: bool) -> bool:
        """Send the signal and wait for Snakemake's end; False if it had ended by itself, or ends well.

        SIGTERM can stop Snakemake forever, waiting for a lock that it holds itself. It is then killed, as a
        person would do who sees that nothing happens any more.
        """
        if self.ended():
            return False
        (os.killpg if everyone else os.kill)(self.process.pid, number)
        end = time.monotonic() + STANDSTILL
        while not self.ended():
            if time.monotonic() > end:
                self.stood_still = True
                os.killpg(self.process.pid, signal.SIGKILL)
            time.sleep(0.05)
        status = os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT)
        return (status.si_code, status.si_status) != (os.CLD_EXITED, 0)

    def bury(self) -> None:
        """End what is left of the session."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
