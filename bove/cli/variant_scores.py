"""Reading the scores of several variants of a run, for the stages that hold them against each other."""

import dataclasses

from bove.errors import BoveError
from bove.evaluate.scores import Scores, read_scores


def add_scores_arguments(parser, name: str, what: str) -> None:
    """`--scores`, `--base` and `--system`; `name` and `what` say how a variant is called."""
    parser.add_argument(
        "--scores",
        required=True,
        nargs="+",
        action="append",
        metavar=(name, "FILE"),
        help=f"{what}, and the scores.parquet of each data set; once for each",
    )
    parser.add_argument("--base", required=True, metavar=name, help="the one of the run itself")
    parser.add_argument("--system", default="bove", help="system whose scores count (default bove)")


def read_variants(args) -> dict[str, dict[str, Scores]]:
    """Scores of the one system, by variant and data set; base and `args.development` are seen to be there.

    Raises:
        BoveError: a variant or a data set that stands twice or is missing, other pairs than in the others.
    """
    files = _variants(args.scores)
    if args.base not in files:
        raise BoveError(f"--base {args.base}: no such variant; --scores names {', '.join(files)}")
    found = {name: _read(paths, args.system) for name, paths in files.items()}
    _check(found, args.development)
    return {name: {d: scores for d, (_, scores) in sets.items()} for name, sets in found.items()}


def _variants(groups: list[list[str]]) -> dict[str, list[str]]:
    files: dict[str, list[str]] = {}
    for name, *paths in groups:
        if not name.strip() or not paths:
            raise BoveError(f"--scores {name}: not a name with files; write: --scores NAME FILE…")
        if name in files:
            raise BoveError(f"--scores {name}: the variant stands twice; give each its own name")
        files[name] = paths
    return files


def _read(paths: list[str], system: str) -> dict[str, tuple[str, Scores]]:
    """Path and scores, of the one system, of each data set."""
    found: dict[str, tuple[str, Scores]] = {}
    for path in paths:
        scores = read_scores(path)
        if system not in scores.values:
            raise BoveError(
                f"{path}: has no system '{system}'; choose with --system from: {', '.join(scores.values)}"
            )
        if scores.dataset in found:
            raise BoveError(
                f"{path}: data set '{scores.dataset}' stands in {found[scores.dataset][0]} already; "
                f"give a variant one file for each data set"
            )
        only = {"values": {system: scores.values[system]}, "empty": {system: scores.empty[system]}}
        found[scores.dataset] = (path, dataclasses.replace(scores, **only))
    return found


def _check(variants: dict[str, dict[str, tuple[str, Scores]]], development: list[str]) -> None:
    """All variants have the same data sets, and of each the same pairs."""
    first: dict[str, tuple[str, Scores]] = {}
    for of_dataset in variants.values():
        for dataset, entry in of_dataset.items():
            first.setdefault(dataset, entry)
    for name, of_dataset in variants.items():
        for dataset, (path, scores) in first.items():
            if dataset not in of_dataset:
                raise BoveError(
                    f"--scores {name}: has no scores of data set '{dataset}', which {path} has; "
                    f"give every variant the same data sets"
                )
            other, found = of_dataset[dataset]
            if found.pairs_sha256 != scores.pairs_sha256:
                raise BoveError(
                    f"{other}: data set '{dataset}' has other pairs than in {path}; "
                    f"score all variants on one pair file"
                )
    for dataset in development:
        if dataset not in first:
            raise BoveError(f"--development {dataset}: no such data set; the scores have {', '.join(first)}")
