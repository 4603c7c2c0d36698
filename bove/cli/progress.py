"""How far a stage is: a bar on a terminal, a plain line every few seconds elsewhere."""

import logging
import sys
import time

from tqdm import tqdm

log = logging.getLogger("bove")


class Progress:
    """Context manager that counts steps.

    Args:
        total: steps in all. unit: what a step is.
        every: seconds between two lines where there is no terminal.
    """

    def __init__(self, total: int, unit: str, every: float = 10.0):
        self.total, self.unit, self.every = total, unit, every
        self.done, self.start = 0, time.monotonic()
        self.said = self.start
        self.bar = tqdm(total=total, unit=unit, disable=not sys.stderr.isatty(), leave=False)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_) -> None:
        self.bar.close()

    @property
    def rate(self) -> float:
        """Steps a second so far."""
        return self.done / max(time.monotonic() - self.start, 1e-9)

    def step(self, count: int = 1, note: str = "") -> None:
        """Count steps; `note` stands behind the bar."""
        self.done += count
        self.bar.set_postfix_str(note, refresh=False)
        self.bar.update(count)
        now = time.monotonic()
        if now - self.said >= self.every:
            self.said = now
            left = (self.total - self.done) / max(self.rate, 1e-9)
            log.info(
                "%d of %d %s, %.1f a second, %.0f s left", self.done, self.total, self.unit, self.rate, left
            )
