"""`bove pages`: tables in Markdown as pages of HTML, for a report or a browser."""

from pathlib import Path

from bove.cli.outputs import write_files
from bove.errors import BoveError
from bove.evaluate.html import page
from bove.files import read_lines


def register(parser) -> None:
    parser.add_argument(
        "--markdown", required=True, nargs="+", action="extend", metavar="FILE.md", help="what to show"
    )
    parser.add_argument("--output", required=True, help="folder that gets a page NAME.html for each NAME.md")


def run(args) -> None:
    """Write the pages, each whole."""
    pages: dict[str, str] = {}
    for path in args.markdown:
        name = f"{Path(path).stem}.html"
        if name in pages:
            raise BoveError(f"{path}: another file gives {name} too; name one of them otherwise")
        pages[name] = page("\n".join(text for _, text in read_lines(path)))
    write_files(args.output, pages)
