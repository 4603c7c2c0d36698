"""`bove training`: how L fell, by seconds and by term, in one training or several."""

import io

from bove.cli.outputs import write_files
from bove.errors import BoveError
from bove.evaluate.plots import draw_training, figure_files
from bove.evaluate.training_runs import read_run, training_table, write_csv


def register(parser) -> None:
    parser.add_argument(
        "--run",
        required=True,
        nargs=3,
        action="append",
        metavar=("NAME", "LOG", "TIMES"),
        dest="runs",
        help="a training: its name, its --training-log and its --times; once for each training",
    )
    parser.add_argument(
        "--output", required=True, help="folder that gets training.csv, training.md, training.svg and .png"
    )


def run(args) -> None:
    """Write the four files, each whole, and print the Markdown tables."""
    names = [name for name, _, _ in args.runs]
    for i, name in enumerate(names):
        if not name.strip() or name in names[:i]:
            raise BoveError(f"--run '{name}': no name, or one that stands twice; give each run its own")
    curves = [read_run(*files) for files in args.runs]
    table, stream = training_table(curves), io.StringIO()
    write_csv(stream, curves)
    contents = {"csv": stream.getvalue(), "md": table} | figure_files(draw_training, curves)
    write_files(args.output, {f"training.{kind}": content for kind, content in contents.items()})
    print(table, end="")
