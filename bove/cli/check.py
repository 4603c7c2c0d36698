"""`bove check`: what files are, what they hold, what is odd in them, and whether a run can use them."""

import argparse
import json
from collections import Counter

from bove.check import KINDS, Check, check_files
from bove.errors import BoveError, visible
from bove.files import check_encoding

FEW, SHOWN = 5, 8  # places of an oddity and names of a count that are listed


def register_check(parser: argparse.ArgumentParser) -> None:
    parser.description += (
        " The kind of a file is recognised by its content: treebank, word vectors, sentences, pairs of "
        "them, gold scores, graphs, arrays that a stage wrote, a configuration. Exit code 0: all files can "
        "be used; 2: one cannot."
    )
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="files, gzip or not")
    add("--as", dest="kind", choices=KINDS, help="the files' kind, if it is recognised wrongly")
    add("--columns", choices=("gold", "predicted"), default="gold", help="of CoNLL-2009 (default gold)")
    add("--encoding", default="utf-8", help="of treebanks, pairs and triples (default utf-8)")
    add("--all", action="store_true", help=f"all places of odd things, not the first {FEW}")
    add("--json", action="store_true", help="the report as JSON, one object on each line")


def run_check(args: argparse.Namespace) -> None:
    """Check all files and print a report on each; BoveError where one cannot be used."""
    check_encoding(args.encoding)
    places = None if args.all else FEW
    checks = check_files(args.files, args.kind or "", args.columns, args.encoding, places)
    for number, check in enumerate(checks):
        if args.json:
            print(json.dumps(_as_json(check), ensure_ascii=False))
        else:
            print("\n" * (number > 0) + visible(_as_text(check)))
    if bad := [check.path for check in checks if check.error]:
        raise BoveError(f"{len(bad)} of {len(checks)} files cannot be used: {', '.join(bad)}")


def _as_json(check: Check) -> dict:
    return {
        "file": check.path,
        "kind": check.kind or None,
        "usable": not check.error,
        "error": check.error or None,
        "holds": check.facts,
        "odd": [
            {"what": what, "count": count, f"{check.unit}s": check.oddities.places.get(what, [])}
            for what, count in check.oddities.items()
        ],
        "remarks": check.remarks,
    }


def _as_text(check: Check) -> str:
    lines = [f"{check.path}: {check.kind or 'not recognised'}"]
    for name, value in check.facts.items():
        if isinstance(value, dict) and not isinstance(value, Counter):
            lines += [f"  {name}", *(f"    {inner}: {_shown(x)}" for inner, x in value.items())]
        else:
            lines.append(f"  {name}: {_shown(value)}")
    for what, count in check.oddities.items():
        places = check.oddities.places[what]
        more = ", …" * (count > len(places))
        unit = f"{check.unit}{'s' * (len(places) > 1)}"
        lines.append(f"  odd: {count} {what}, {unit} {', '.join(map(str, places))}{more}")
    lines += [f"  odd: {remark}" for remark in check.remarks]
    return "\n".join([*lines, f"  cannot be used: {check.error}" if check.error else "  can be used"])


def _shown(value: str | int | Counter) -> str:
    """A text, a number with thousands separated, or how many names a count has, and the most frequent."""
    if isinstance(value, Counter):
        found = sorted(value.items(), key=lambda item: (-item[1], item[0]))
        listed = ", ".join(f"{name} {count:,}" for name, count in found[:SHOWN])
        return f"{len(found):,}: {listed}{', …' * (len(found) > SHOWN)}"
    return f"{value:,}" if isinstance(value, int) else value
