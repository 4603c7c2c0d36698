"""`bove training`: how L fell, by seconds and by term, in one training or several."""

import io
import logging
from pathlib import Path

from bove.errors import BoveError
from bove.evaluate.plots import draw_training, figure_files
from bove.evaluate.training_runs import read_run, training_table, write_csv
from bove.files import atomic_write

log = logging.getLogger("bove")


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
    texts = {"csv": stream.getvalue().encode(), "md": table.encode()}
    for kind, content in (texts | figure_files(draw_training, curves)).items():
        path = Path(args.output) / f"training.{kind}"
        with atomic_write(path, "wb") as file:
            file.write(content)
        log.info("wrote %s", path)
    print(table, end="")
