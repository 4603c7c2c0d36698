"""`bove pairs`: files of sentence pairs, in whatever columns, to pairs.jsonl."""

import argparse
import logging
from collections import Counter

from bove.errors import BoveError
from bove.files import atomic_write
from bove.text.pair_files import LEFT_OUT, read_pair_file
from bove.text.pair_forms import TASKS, Form
from bove.text.pairs import Pair, write_pairs

log = logging.getLogger("bove")


def register(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--dataset", required=True, metavar="NAME", help="the data set's name in the configuration"
    )
    parser.add_argument(
        "--label", required=True, metavar="NAME", help="its name in the tables, such as STS-2014"
    )
    parser.add_argument("--task", choices=TASKS, required=True, help="graded similarity, or entailment")
    parser.add_argument(
        "--subset",
        nargs="+",
        action="append",
        required=True,
        metavar=("NAME", "FILE"),
        help="a part's name, its file, and the file of its gold unless that is a column; repeatable",
    )
    parser.add_argument(
        "--column",
        action="append",
        required=True,
        metavar="ROLE=COLUMN",
        help="column of first, second, gold or id: a number from 1, or a name; repeatable",
    )
    parser.add_argument(
        "--meaning",
        action="append",
        default=[],
        metavar="LABEL=MEANING",
        help="what a gold label means: entailment, any other word, or - for no label; repeatable",
    )
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="SUBSET=COLUMN=VALUE",
        help="take only the rows that have this value; repeatable",
    )
    parser.add_argument("--separator", required=True, help="what stands between columns")
    parser.add_argument("--encoding", required=True, help="of the files")
    parser.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="whether text has a header (otherwise: if a column is named)",
    )
    parser.add_argument("--output", required=True, metavar="FILE", help="pairs.jsonl to write")


def run(args: argparse.Namespace) -> None:
    """Read the subsets one after another and write their pairs."""
    form, where = _form(args), f"datasets.{args.dataset}"
    form.check(where)
    selections = _selections(args)
    pairs: list[Pair] = []
    for name, path, gold in _subsets(args.subset):
        selection = selections.pop(name, {})
        form.check_subset(f"{where}.subsets.{name}", gold is not None, selection)
        counts: Counter[str] = Counter()
        found = read_pair_file(path, form, (args.dataset, args.label, name), gold, selection, counts)
        scored = sum(pair.scored for pair in found)
        unscored = len(found) - scored
        log.info("%s %s: %d pairs, %d scored, %d not", args.label, name, len(found), scored, unscored)
        if selection:
            log.info("%s %s: %d %s", args.label, name, counts[LEFT_OUT], LEFT_OUT)
        if not scored:
            raise BoveError(f"{gold or path}: no pair has a gold score or label; check the file")
        pairs += found
    if selections:
        raise BoveError(f"--where: there is no subset {next(iter(selections))!r}; name one of --subset")
    with atomic_write(args.output) as stream:
        write_pairs(stream, pairs)


def _form(args) -> Form:
    columns = _once("--column", [_split("--column", text, text.partition("=")) for text in args.column])
    labels = _once("--meaning", [_split("--meaning", text, text.rpartition("=")) for text in args.meaning])
    return Form(args.task, columns, labels, args.separator, args.encoding, args.header)


def _selections(args) -> dict[str, dict[str, str]]:
    """Values that the rows of a subset must have, by column."""
    selections: dict[str, dict[str, str]] = {}
    for text in args.where:
        subset, rest = _split("--where", text, text.partition("="))
        column, value = _split("--where", text, rest.partition("="))
        of_subset = [*selections.get(subset, {}).items(), (column, value)]
        selections[subset] = _once(f"--where {subset}", of_subset)
    return selections


def _once(option, parts) -> dict[str, str]:
    keys = [key for key, _ in parts]
    if twice := [key for key in dict.fromkeys(keys) if keys.count(key) > 1]:
        raise BoveError(f"{option}: {twice[0]!r} stands twice; give it once")
    return dict(parts)


def _split(option, text, parts) -> tuple[str, str]:
    key, separator, value = parts
    if not separator:
        raise BoveError(f"{option} {text}: something is missing; write its parts with = between them")
    return key, value


def _subsets(arguments) -> list[tuple[str, str, str | None]]:
    """Name, file and perhaps file of the gold of each subset."""
    subsets: dict[str, tuple[str, str, str | None]] = {}
    for name, *files in arguments:
        if len(files) not in (1, 2):
            raise BoveError(f"--subset {' '.join([name, *files])}: give NAME FILE or NAME FILE GOLD")
        if name in subsets or not name.strip() or name != " ".join(name.split()):
            raise BoveError(
                f"--subset {name!r}: empty, spaced oddly, or given twice; give each subset its own name"
            )
        subsets[name] = (name, files[0], files[1] if len(files) == 2 else None)
    return list(subsets.values())
