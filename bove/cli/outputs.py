"""What the stages that write tables and figures share."""

import logging
from collections.abc import Mapping
from pathlib import Path

from bove.errors import BoveError
from bove.files import atomic_write
from bove.utf8 import encoded

log = logging.getLogger("bove")


def add_development_argument(parser) -> None:
    """`--development`: names of the data sets to be marked."""
    parser.add_argument(
        "--development",
        nargs="+",
        action="extend",
        default=[],
        metavar="DATASET",
        help="data sets on which hyperparameters were chosen, to be marked in the tables",
    )


def check_confidence(confidence: float) -> None:
    """BoveError unless `--confidence` is a share."""
    if not 0 < confidence < 1:
        raise BoveError(f"--confidence {confidence:g}: must be between 0 and 1, such as 0.95")


def write_files(folder: str | Path, contents: Mapping[str, str | bytes]) -> None:
    """Write files of a folder by their names, each whole, and say so."""
    for name, content in contents.items():
        path = Path(folder) / name
        with atomic_write(path, "wb") as file:
            file.write(encoded(content, f"{path}: ") if isinstance(content, str) else content)
        log.info("wrote %s", path)
