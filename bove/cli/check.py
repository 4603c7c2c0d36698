"""`bove check`: what files are, what they hold, what is odd in them, and whether a run can use them."""

import argparse
import json

from bove import check as pair_files
from bove import check as run_files
from bove.check import (
    KINDS,
    Report,
    check_config,
    check_json_graphs,
    check_treebank,
    check_triples,
    check_vectors,
    sniff,
)
from bove.errors import BoveError, visible
from bove.files import Oddities, check_encoding, check_file, open_bytes

FEW = 5


def register_check(parser: argparse.ArgumentParser) -> None:
    parser.description += (
        " The kind of a file is told by its content: treebank, word vectors, sentence pairs, gold scores, a "
        "file that a stage wrote, a Stanza model, a configuration. Exit code 0: all files can be used; 2: "
        "one can not."
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="files, gzip or not")
    parser.add_argument("--as", dest="kind", choices=KINDS, help="the files' kind, if it is told wrongly")
    parser.add_argument(
        "--columns", choices=("gold", "predicted"), default="gold", help="of CoNLL-2009 (default gold)"
    )
    parser.add_argument("--encoding", default="utf-8", help="of treebanks, pairs and triples (default utf-8)")
    parser.add_argument("--all", action="store_true", help=f"all places of odd things, not the first {FEW}")
    parser.add_argument("--json", action="store_true", help="the report as JSON, one object a line")


def run_check(args: argparse.Namespace) -> None:
    """Check the files one after another, then what belongs together."""
    check_encoding(args.encoding)
    reports: list[tuple[str, Report]] = []
    for path in args.files:
        report = Report(path, oddities=Oddities(None if args.all else FEW))
        kind = ""
        try:
            check_file(path)
            with open_bytes(path):  # what cannot be read is told of alike, whatever kind is named
                kind = args.kind or sniff(path)
            configurations = [other.path for name, other in reports if name == "config" and other.usable]
            _check(kind, report, args, configurations)
        except BoveError as e:
            report.error = str(e)
        reports.append((kind, report))
    _check_together(reports, args.encoding)
    for number, (_, report) in enumerate(reports):
        if args.json:
            print(json.dumps(report.as_json(), ensure_ascii=False))
        else:
            print("\n" * (number > 0) + visible(report.as_text()))
    bad = [report.path for _, report in reports if not report.usable]
    if bad:
        raise BoveError(f"{len(bad)} of {len(reports)} files can not be used: {', '.join(bad)}")


def _check(kind: str, report: Report, args, configurations: list[str]) -> None:
    if kind == "treebank":
        check_treebank(report, args.columns, args.encoding)
    elif kind == "config":
        check_config(report, configurations)
    elif kind in ENCODED:
        ENCODED[kind](report, args.encoding)
    else:
        CHECKS[kind](report)


ENCODED = {
    "sts": pair_files.check_sts,
    "gold": pair_files.check_gold,
    "snli": pair_files.check_snli,
    "triples": check_triples,
}
CHECKS = {
    "graphs": check_json_graphs,
    "vectors": check_vectors,
    "pairs": pair_files.check_pairs,
    "vocabulary": run_files.check_vocabulary,
    "arrays": run_files.check_arrays,
    "scores": run_files.check_scores,
    "stanza": run_files.check_stanza,
}


def _check_together(reports: list[tuple[str, Report]], encoding: str) -> None:
    """Hold each input file of a similarity set against its gold file: first against first, and so on."""
    inputs, golds = (
        [report for kind, report in reports if kind == wanted and report.usable] for wanted in ("sts", "gold")
    )
    if len(inputs) == len(golds):
        for sts, gold in zip(inputs, golds, strict=True):
            pair_files.check_together(sts, gold, encoding)
    elif inputs and golds:
        golds[-1].remarks.append(
            f"{len(golds)} gold files for {len(inputs)} files of pairs, so their lines were not compared"
        )
