"""Notes that one stage leaves for the tables of another: JSON, a list of sentences for each task."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from bove.errors import BoveError
from bove.files import atomic_write
from bove.text.pairs import TASKS


def add_notes_argument(parser) -> None:
    """`--notes`: files to take notes over from."""
    parser.add_argument(
        "--notes",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="notes to stand below the tables, as other stages write them (--table-notes)",
    )


def add_table_notes_argument(parser) -> None:
    """`--table-notes`: where to leave notes."""
    parser.add_argument("--table-notes", metavar="FILE", help="notes for `bove tables --notes` to write")


def write_notes(path: str | Path | None, notes: Mapping[str, Sequence[str]]) -> None:
    """Write the notes of each task; without a path nothing."""
    if path is not None:
        with atomic_write(path) as stream:
            json.dump(
                {task: list(notes.get(task, ())) for task in TASKS}, stream, ensure_ascii=False, indent=1
            )
            stream.write("\n")


def read_notes(paths: Iterable[str | Path]) -> dict[str, list[str]]:
    """The notes of each task, of one file after another.

    Raises:
        BoveError: a file that is missing or holds something else.
    """
    found: dict[str, list[str]] = {task: [] for task in TASKS}
    for path in paths:
        try:
            notes = json.loads(Path(path).read_text(encoding="utf-8"))
            sound = all(isinstance(note, str) for task in TASKS for note in notes[task])
        except OSError as e:
            raise BoveError(f"{path}: can not be read ({e.strerror}); check the path") from e
        except (ValueError, KeyError, TypeError, RecursionError) as e:
            raise BoveError(f"{path}: holds no notes; make the file again") from e
        if not sound:
            raise BoveError(f"{path}: holds a note that is no text; make the file again")
        for task in TASKS:
            found[task] += notes[task]
    return found
