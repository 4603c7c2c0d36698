"""`bove ablations`: hold the scores of several variants of a run against those of a base."""

import io
import logging

from bove.cli.outputs import add_development_argument, write_files
from bove.cli.variant_scores import add_scores_arguments, read_variants
from bove.evaluate.ablations import Ablations, ablation_table, compare, panels, write_csv
from bove.evaluate.plots import draw_ablations, figure_files
from bove.evaluate.results import results_of
from bove.evaluate.tables import undefined

log = logging.getLogger("bove")


def register(parser) -> None:
    add_scores_arguments(parser, "NAME", "a variant: its name")
    add_development_argument(parser)
    parser.add_argument(
        "--output", required=True, help="folder that gets ablations.csv, ablations.md, ablations.svg and .png"
    )


def run(args) -> None:
    """Write the four files, each whole, and print the Markdown table."""
    scores = read_variants(args)
    order = list(scores[args.base])
    labels = {dataset: found.label for dataset, found in scores[args.base].items()}
    results = {
        name: [result for dataset in order for result in results_of(of_dataset[dataset])]
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
                "%s: %s %s: %s is %s", c.variant, c.result.dataset, c.result.subset, c.result.metric,
                undefined(c.result),
            )  # fmt: skip
    print(table, end="")
