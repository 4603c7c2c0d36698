"""`bove contamination`: what data sets share with those that choices were made on, and with the treebank."""

import io
import logging
from collections.abc import Iterator

from bove.cli.notes import add_table_notes_argument, write_notes
from bove.cli.outputs import add_development_argument, write_files
from bove.contamination import (
    contamination_page,
    labels_of,
    shared_pairs,
    shared_sentences,
    table_notes,
    write_csv,
)
from bove.errors import BoveError
from bove.text.conll import Sentence, read_sentences
from bove.text.pairs import Pair, read_pairs

log = logging.getLogger("bove")


def register(parser) -> None:
    parser.add_argument(
        "--pairs", required=True, nargs="+", action="extend", metavar="FILE", help="pairs of each data set"
    )
    add_development_argument(parser)
    parser.add_argument("--treebank", metavar="FILE", help="training treebank, to look for sentences in it")
    parser.add_argument(
        "--columns",
        choices=("gold", "predicted"),
        default="gold",
        help="columns of CoNLL-2009 (default gold)",
    )
    parser.add_argument("--encoding", default="utf-8", help="of the treebank (default utf-8)")
    add_table_notes_argument(parser)
    parser.add_argument("--output", required=True, help="folder that gets contamination.csv and .md")


def run(args) -> None:
    """Write both files, each whole, and print the Markdown page."""
    pairs = _read(args.pairs)
    labels = labels_of(pairs)
    for name in args.development:
        if name not in labels:
            raise BoveError(f"--development {name}: no such data set; the pairs have {', '.join(labels)}")
    shared = shared_pairs(pairs, args.development)
    sentences = shared_sentences(pairs, _treebank(args)) if args.treebank else None
    page, stream = contamination_page(pairs, args.development, shared, sentences), io.StringIO()
    write_csv(stream, shared, sentences or [])
    write_files(args.output, {"contamination.csv": stream.getvalue(), "contamination.md": page})
    write_notes(args.table_notes, table_notes(pairs, args.development, shared))
    _log(shared, sentences)
    print(page, end="")


def _read(paths: list[str]) -> list[Pair]:
    found: dict[str, list[Pair]] = {}
    for path in paths:
        pairs = read_pairs(path)
        if not pairs:
            raise BoveError(f"{path}: holds no pairs; make the file again with `bove pairs`")
        for name in dict.fromkeys(pair.dataset for pair in pairs):
            if name in found:
                raise BoveError(f"{path}: data set '{name}' stands in another file already; give each once")
            found[name] = [pair for pair in pairs if pair.dataset == name]
    return [pair for pairs in found.values() for pair in pairs]


def _treebank(args) -> Iterator[Sentence]:
    """Its sentences; BoveError at the end if there was none, for then nothing was looked for."""
    sentence = None
    for sentence in read_sentences(args.treebank, columns=args.columns, encoding=args.encoding):
        yield sentence
    if sentence is None:
        raise BoveError(f"{args.treebank}: holds no sentences; give the training treebank")


def _log(shared, sentences) -> None:
    counts: dict[tuple[str, str, str], set[str]] = {}
    for match in shared:
        key = (match.pair.dataset, match.pair.subset, match.other.dataset)
        counts.setdefault(key, set()).add(match.pair.id)
    for (dataset, subset, other), ids in counts.items():
        log.warning("%s %s: %d scored pairs stand in %s too", dataset, subset, len(ids), other)
    if not shared:
        log.info("no scored pair to report on stands in a development data set")
    if sentences is not None:
        log.info("%d sides of scored pairs are sentences of the treebank", len(sentences))
