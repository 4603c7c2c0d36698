"""Odd things met while reading a file: how many of each kind, and where the first of them stand."""

from collections import Counter


class Oddities(Counter):
    """Number of odd things by kind, which also keeps their places.

    Readers call `note`; where they are given a plain Counter instead, only the numbers are kept.

    Attributes:
        places: kind → places of the first `keep` of them, in the file's order. A place is a line number, or a
            row's where a file has no lines.
        keep: most places that are kept of a kind; None keeps all.
    """

    def __init__(self, keep: int | None = 5):
        super().__init__()
        self.keep = keep
        self.places: dict[str, list[int]] = {}


def note(counts: Counter, kind: str, place: int) -> None:
    """Count one odd thing, and keep its place where `counts` is an Oddities with room for it."""
    counts[kind] += 1
    if isinstance(counts, Oddities):
        places = counts.places.setdefault(kind, [])
        if counts.keep is None or len(places) < counts.keep:
            places.append(place)
