"""`bove ablations`: hold the scores of several variants of a run against those of a base."""

import dataclasses
import io
import logging

from bove.cli.outputs import add_development_argument, write_files
from bove.errors import BoveError
from bove.evaluate.ablations import Ablations, ablation_table, compare, panels, write_csv
from bove.evaluate.plots import draw_ablations, figure_files
from bove.evaluate.results import results_of
from bove.evaluate.scores import Scores, read_scores
from bove.evaluate.tables import UNDEFINED

log = logging.getLogger("bove")


def register(parser) -> None:
    parser.add_argument(
        "--scores",
        required=True,
        nargs="+",
        action="append",
        metavar=("NAME", "FILE"),
        help="a variant: its name and the scores.parquet of each data set; once for each variant",
    )
    parser.add_argument("--base", required=True, metavar="NAME", help="variant to hold the others against")
    parser.add_argument("--system", default="bove", help="system whose scores count (default bove)")
    add_development_argument(parser)
    parser.add_argument(
        "--output", required=True, help="folder that gets ablations.csv, ablations.md, ablations.svg and .png"
    )


def run(args) -> None:
    """Write the four files, each whole, and print the Markdown table."""
    files = _variants(args.scores)
    if args.base not in files:
        raise BoveError(f"--base {args.base}: no such variant; --scores names {', '.join(files)}")
    scores = {name: _read(paths, args.system) for name, paths in files.items()}
    _check(scores, args.development)
    order = list(scores[args.base])
    labels = {dataset: found.label for dataset, (_, found) in scores[args.base].items()}
    results = {
        name: [result for dataset in order for result in results_of(of_dataset[dataset][1])]
        for name, of_dataset in scores.items()
    }
    comparisons = compare(results, args.base)
    ablations = Ablations(comparisons, args.base, args.system, labels, args.development)
    table, stream = ablation_table(ablations), io.StringIO()
    write_csv(stream, comparisons)
    figure = figure_files(draw_ablations, panels(ablations), ablations.variants, args.base)
    contents = {"csv": stream.getvalue(), "md": table} | figure
    write_files(args.output, {f"ablations.{kind}": content for kind, content in contents.items()})
    for c in comparisons:
        if c.result.value is None:
            log.warning(
                "%s: %s %s: %s is %s",
                c.variant,
                c.result.dataset,
                c.result.subset,
                c.result.metric,
                UNDEFINED,
            )
    print(table, end="")


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
