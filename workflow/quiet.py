"""Run Snakemake with all that it and its jobs print in a file, and a line that says how far it is.

    python workflow/quiet.py RUN ARGUMENTS…

gives the arguments to Snakemake. RUN is the run's folder, such as results/demo. When it is finished, what
it found is printed; when it fails, the end of what was printed.
"""

import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DONE = re.compile(r"(\d+) of (\d+) steps \(\d+%\) done")
STARTED = re.compile(r"(?:local)?rule (\w+):")
SHOWN = 15  # lines of a run that fails
EVERY = 30  # seconds between two lines where there is no terminal


class Progress:
    """A line that is written over on a terminal, or else one every few seconds."""

    def __init__(self) -> None:
        self.start = self.said = time.monotonic()
        self.terminal = sys.stdout.isatty()

    def show(self, text: str) -> None:
        now = time.monotonic()
        line = f"{text}, {now - self.start:.0f} s"
        if self.terminal:
            print(f"\r\x1b[K{line[:78]}", end="", flush=True)
        elif now - self.said >= EVERY:
            self.said = now
            print(line, flush=True)

    def clear(self) -> None:
        if self.terminal:
            print("\r\x1b[K", end="", flush=True)


def run(command: list[str], path: Path) -> int:
    """Exit status of the command, whose output goes to the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    progress, done, rule, last = Progress(), "starting", "", []
    with open(path, "w", encoding="utf-8") as log:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        process = subprocess.Popen(command, **pipes, encoding="utf-8", errors="backslashreplace")
        try:
            for line in process.stdout:
                log.write(line)
                last = [*last, line][-SHOWN:]
                if found := DONE.search(line):
                    done = f"{found[1]} of {found[2]} steps"
                elif found := STARTED.match(line):
                    rule = f", now {found[1]}"
                progress.show(done + rule)
        except KeyboardInterrupt:
            pass  # Snakemake has it too, and stops its jobs
        status = process.wait()
    progress.clear()
    if status:
        print("".join(last), end="")
        print(f"Stopped with exit status {status}; all that was printed is in {path}.")
    return status


def main(folder: str, arguments: list[str]) -> int:
    """Run Snakemake, then print the end."""
    path = Path(folder, "logs", "workflow.log")
    print(f"Running the workflow; what it prints goes to {path}.", flush=True)
    status = run([sys.executable, "-m", "snakemake", *arguments], path)
    if not status:
        sys.path.insert(0, str(ROOT))
        from bove.evaluate.summary import ending

        print(ending(folder, Path(folder, "tables", "summary.md").read_text(encoding="utf-8")))
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
