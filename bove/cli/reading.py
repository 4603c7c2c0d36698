"""Reading treebanks in a stage: what is odd in a file goes to the log, with the first line of each kind."""

import logging
from collections.abc import Iterator, Sequence

from bove.oddities import Oddities
from bove.text.conll import Sentence, read_sentences

log = logging.getLogger("bove")


def add_strict_argument(parser) -> None:
    """`--strict`: refuse what is not a tree."""
    parser.add_argument(
        "--strict", action="store_true", help="stop at the first sentence that is not one whole tree"
    )


def read_files(
    paths: Sequence[str], columns: str, encoding: str, strict: bool = False, what: str = ""
) -> Iterator[Sentence]:
    """Stream the sentences of files, one after another.

    Args:
        paths, columns, encoding, strict: as in `read_sentences`.
        what: what the files are, for the log, such as "treebank: ".
    """
    for path in paths:
        counts = Oddities(keep=1)
        yield from read_sentences(path, columns, encoding, counts, strict)
        where = f" of {path}" if len(paths) > 1 else ""
        for kind, count in counts.items():
            log.info("%s%d %s, first in line %d%s", what, count, kind, counts.places[kind][0], where)
