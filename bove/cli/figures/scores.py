"""`bove figures scores`: how each system's scores of a data set lie by gold score or label."""

from bove.cli.outputs import write_files
from bove.errors import BoveError
from bove.evaluate.plot_scores import by_gold, draw_distributions
from bove.evaluate.plots import figure_files
from bove.evaluate.scores import read_scores


def register(parser) -> None:
    parser.add_argument(
        "--scores", required=True, nargs="+", action="extend", help="scores.parquet of each data set"
    )
    parser.add_argument(
        "--output", required=True, help="folder that gets scores-DATASET.svg and .png for each of them"
    )


def run(args) -> None:
    """Write two files for each data set, each whole."""
    files: dict[str, bytes] = {}
    for path in args.scores:
        scores = read_scores(path)
        if f"scores-{scores.dataset}.svg" in files:
            raise BoveError(f"{path}: data set '{scores.dataset}' stands twice; give one file for each")
        drawn = figure_files(draw_distributions, by_gold(scores))
        files |= {f"scores-{scores.dataset}.{kind}": content for kind, content in drawn.items()}
    write_files(args.output, files)
