"""Stanza's own messages, in BoVE's log."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

log = logging.getLogger("bove")


@contextmanager
def stanza_messages() -> Iterator[None]:
    """Send what Stanza reports to the handlers of BoVE's log instead of its own."""
    import stanza.models._training_logging  # noqa: F401 sets handler and level when first imported

    messages = logging.getLogger("stanza")
    before = messages.handlers[:], messages.level, messages.propagate
    messages.handlers[:], messages.propagate = log.handlers, False
    messages.setLevel(logging.INFO)
    try:
        yield
    finally:
        messages.handlers[:], messages.propagate = before[0], before[2]
        messages.setLevel(before[1])
