"""`bove pairs`: STS or SNLI files to sentence pairs."""

import argparse
import logging

from bove.errors import BoveError
from bove.files import atomic_write
from bove.text.pairs import TASKS, Pair, read_snli, read_sts, write_pairs

log = logging.getLogger("bove")


def register(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dataset", required=True, metavar="NAME", help="the data set's name in the configuration"
    )
    parser.add_argument(
        "--label", required=True, metavar="NAME", help="its name in the tables, such as STS-2014"
    )
    parser.add_argument("--task", choices=TASKS, required=True, help="similarity: STS; entailment: SNLI")
    parser.add_argument(
        "--subset",
        nargs="+",
        action="append",
        required=True,
        metavar=("NAME", "FILE"),
        help="a part's name, its input file, and for similarity its gold file; repeatable",
    )
    parser.add_argument("--output", required=True, metavar="FILE", help="pairs.jsonl to write")


def run(args: argparse.Namespace) -> None:
    wanted = 3 if args.task == "similarity" else 2
    pairs: list[Pair] = []
    seen: set[str] = set()
    for name, *files in args.subset:
        if len(files) + 1 != wanted:
            parts = "NAME INPUT GOLD" if wanted == 3 else "NAME FILE"
            raise BoveError(f"--subset {' '.join([name, *files])}: {args.task} takes {parts}; give these")
        if name in seen or not name.strip() or name != " ".join(name.split()):
            raise BoveError(
                f"--subset {name!r}: empty, spaced oddly, or given twice; give each subset its own name"
            )
        seen.add(name)
        read = read_sts if args.task == "similarity" else read_snli
        found = read(*files, args.dataset, args.label, name)
        scored = sum(pair.scored for pair in found)
        log.info(
            "%s %s: %d pairs, %d scored, %d not", args.label, name, len(found), scored, len(found) - scored
        )
        if not scored:
            raise BoveError(f"{files[-1]}: no pair has a gold score or label; check the file")
        pairs += found
    with atomic_write(args.output) as stream:
        write_pairs(stream, pairs)
