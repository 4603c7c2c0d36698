"""A finished run in one zip file, and its unpacking: what `bove pack` writes and --run reads.

The members lie as in a run's folder, so that unpacking them by hand gives one too. There is no pickle among
them: tagger and parser are arrays and JSON (`bove.text.checkpoints`). `card.json` says what the model was
trained on and how it scored, and has the SHA-256 of every other member.
"""

import tempfile
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from bove.config.sources import PARSER_FILES, extract
from bove.errors import BoveError
from bove.files import atomic_path, read_object, read_text, sha256
from bove.text.checkpoints import unpack_checkpoint

FORMAT, VERSION, CARD = "bove-packed", "1", "card.json"
NEEDED = ("config.yaml", "vocabulary.json", "vectors.safetensors", "model/model.safetensors")
PARSER = {name: f"parser/{name}.safetensors" for name in PARSER_FILES}
_FIRST = (1980, 1, 1, 0, 0, 0)  # the same files give the same archive


def write_archive(path: str | Path, members: Mapping[str, Path]) -> None:
    """Write a zip file of files by their names in it, whole or not at all."""
    with atomic_path(path) as made, zipfile.ZipFile(made, "w") as archive:
        for name, file in members.items():
            info = zipfile.ZipInfo(name, _FIRST)
            info.external_attr = 0o644 << 16
            # numbers hardly shrink
            info.compress_type = zipfile.ZIP_STORED if name.endswith(".safetensors") else zipfile.ZIP_DEFLATED
            with open(file, "rb") as source, archive.open(info, "w", force_zip64=True) as target:
                while block := source.read(1 << 20):
                    target.write(block)


def unpack(path: Path) -> Path:
    """The folder of a packed run, which is there until the program ends.

    Raises:
        BoveError: not a packed run, one of another version, or a member that is missing or has changed.
    """
    if not zipfile.is_zipfile(path):
        raise BoveError(f"{path}: no packed run; give a run's folder or a file that `bove pack` made")
    found = path.stat()
    return Path(_unpacked(path.absolute(), found.st_mtime_ns, found.st_size).name) / "run"


@cache
def _unpacked(path: Path, *_: int) -> tempfile.TemporaryDirectory:
    place = tempfile.TemporaryDirectory(prefix="bove.")  # removed with the last reference to it
    flat, folder = Path(place.name) / "flat", Path(place.name) / "run"
    files = _files(path, extract(path, (CARD,), flat, str(path))[0])
    by_base = {name.rpartition("/")[2]: name for name in files}
    for file in extract(path, tuple(files), flat, str(path)):
        name = by_base[file.name]
        if sha256(file) != files[name]:
            raise BoveError(f"{path}: its member {name} is not the one that was packed; fetch it again")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        file.replace(folder / name)
    return place


def _files(path: Path, card: Path) -> dict[str, str]:
    """SHA-256 of each member that the card names."""
    content = read_object(path, 1, read_text(card))
    made_by, files = (content.get("format"), content.get("version")), content.get("files")
    if made_by != (FORMAT, VERSION) or not isinstance(files, dict):
        raise BoveError(f"{path}: no packed run that this version reads; make one with `bove pack`")
    if other := [name for name in files if name not in (*NEEDED, *PARSER.values())]:
        raise BoveError(
            f"{path}: its card names {other[0]!r}, which a packed run has not; pack the run again"
        )
    return files


def packed_parser(folder: Path) -> dict[str, Path]:
    """Tagger, parser and what these need, by name, of an unpacked run; none where it has no parser."""
    return {
        name: _restored_parser(folder / place) for name, place in PARSER.items() if (folder / place).is_file()
    }


@cache
def _restored_parser(packed: Path) -> Path:
    place = tempfile.TemporaryDirectory(prefix="bove.")
    _kept.append(place)
    output = Path(place.name) / f"{packed.stem}.pt"
    unpack_checkpoint(packed, output)
    return output


_kept: list[tempfile.TemporaryDirectory] = []
