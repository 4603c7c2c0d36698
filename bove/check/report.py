"""The report on a file: what it is, what it holds, what is odd, and whether a run can use it."""

from dataclasses import dataclass, field
from unicodedata import is_normalized

from bove.oddities import Oddities

IN_PARTS = "with letters in parts (not NFC)"  # what is said where `in_parts` holds

Fact = str | int | float | dict


@dataclass
class Report:
    """What a check found.

    Attributes:
        path: the file, as the user named it.
        kind: what it is, in words; "" where that can not be told.
        facts: what it holds, by name; a value may be a map of such values.
        oddities: what is odd or would be left out, with places.
        remarks: what else is odd, each a sentence without its full stop.
        unit: what a place counts: "line" or "row".
        error: why it can not be used; "" where it can.
    """

    path: str
    kind: str = ""
    facts: dict[str, Fact] = field(default_factory=dict)
    oddities: Oddities = field(default_factory=Oddities)
    remarks: list[str] = field(default_factory=list)
    unit: str = "line"
    error: str = ""

    @property
    def usable(self) -> bool:
        return not self.error

    def as_json(self) -> dict:
        """The report as plain values."""
        odd = [
            {"what": kind, "count": count, f"{self.unit}s": self.oddities.places.get(kind, [])}
            for kind, count in self.oddities.items()
        ]
        return {
            "file": self.path,
            "kind": self.kind or None,
            "usable": self.usable,
            "error": self.error or None,
            "holds": self.facts,
            "odd": odd,
            "remarks": self.remarks,
        }

    def as_text(self) -> str:
        """The report for people, a line for each thing."""
        lines = [f"{self.path}: {self.kind or 'not recognised'}"]
        for name, value in self.facts.items():
            if isinstance(value, dict):
                lines.append(f"  {name}")
                lines += [f"    {inner}: {_written(x)}" for inner, x in value.items()]
            else:
                lines.append(f"  {name}: {_written(value)}")
        lines += [
            f"  odd: {count} {kind}{self._places(kind, count)}" for kind, count in self.oddities.items()
        ]
        lines += [f"  odd: {remark}" for remark in self.remarks]
        lines.append(f"  can not be used: {self.error}" if self.error else "  can be used")
        return "\n".join(lines)

    def _places(self, kind: str, count: int) -> str:
        places = self.oddities.places.get(kind, [])
        if not places:
            return ""
        more = ", …" if count > len(places) else ""
        return f", {self.unit}{'s' * (len(places) > 1)} {', '.join(map(str, places))}{more}"


def _written(value: Fact) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def in_parts(text: str) -> bool:
    """Whether letters of a text are written in parts, such as e and an accent, not whole (NFC) as usual.

    Words are looked up as they are written, so that two spellings of one word do not meet.
    """
    return not (text.isascii() or is_normalized("NFC", text))


def most_frequent(counts, number: int = 8) -> str:
    """The most frequent names of a Counter with their counts, most frequent first."""
    found = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    more = ", …" if len(found) > number else ""
    return ", ".join(f"{name} {count:,}" for name, count in found[:number]) + more
