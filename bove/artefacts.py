"""Binary artefacts: safetensors files that carry a format name and a version beside their arrays.

Layout of a safetensors file: the header's length as a little-endian 64-bit number, a JSON header, the raw
arrays one after another. Arrays are written widest element first, so each lies on a multiple of its
element size and can be mapped as it is. The same content always gives the same bytes.
"""

import itertools
import json
import mmap
import struct
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open

from bove.errors import BoveError
from bove.files import atomic_write, check_file, encoded

VERSION = "1"
_CODES = {
    "float16": "F16",
    "float32": "F32",
    "float64": "F64",
    "int8": "I8",
    "int16": "I16",
    "int32": "I32",
    "int64": "I64",
    "uint8": "U8",
    "uint16": "U16",
    "uint32": "U32",
    "uint64": "U64",
    "bool": "BOOL",
}
_DTYPES = {code: np.dtype(name).newbyteorder("<") for name, code in _CODES.items()}


def layout(
    format: str, shapes: Mapping[str, tuple[np.dtype, tuple[int, ...]]], metadata: Mapping[str, str]
) -> tuple[bytes, list[str]]:
    """Header bytes of a file, and the order in which its arrays' raw bytes must follow.

    Args:
        format: name of the format, such as "bove-graphs".
        shapes: dtype and shape of each array.
        metadata: further strings to store; "format" and "version" are added.

    Raises:
        BoveError: half a surrogate pair in one of these.
    """
    for text in metadata.values():
        encoded(text)
    order = sorted(shapes, key=lambda name: (-np.dtype(shapes[name][0]).itemsize, name))
    header: dict = {"__metadata__": dict(sorted({"version": VERSION, **metadata, "format": format}.items()))}
    start = 0
    for name in order:
        dtype, shape = np.dtype(shapes[name][0]), shapes[name][1]
        end = start + dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        header[name] = {"dtype": _CODES[dtype.name], "shape": list(shape), "data_offsets": [start, end]}
        start = end
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text, order


def save(
    path: str | Path, format: str, arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str]
) -> None:
    """Write arrays and metadata atomically; see `layout` for the arguments."""
    header, order = layout(format, {name: (a.dtype, a.shape) for name, a in arrays.items()}, metadata)
    with atomic_write(path, "wb") as stream:
        stream.write(header)
        for name in order:
            array = arrays[name]
            array = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
            stream.write(array.reshape(-1).view(np.uint8).data)


def load(
    path: str | Path, format: str, required: Iterable[str] = ()
) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Read a file whole: its arrays (writable copies) and its metadata.

    Raises:
        BoveError: the file is missing, damaged, not of this format, of another version, or lacks one of the
            `required` arrays.
    """
    arrays, metadata = open_mapped(path, format, required)
    return {name: array.copy() for name, array in arrays.items()}, metadata


def open_mapped(
    path: str | Path, format: str, required: Iterable[str] = ()
) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Map a file: read-only arrays whose pages are read when touched, and its metadata.

    Raises:
        BoveError: as in `load`.
    """
    path = Path(path)
    metadata = _check(path, format)
    with open(path, "rb") as stream:
        raw = np.frombuffer(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
    (length,) = struct.unpack("<Q", raw[:8].tobytes())
    header = json.loads(raw[8 : 8 + length].tobytes())
    arrays = {}
    for name, entry in header.items():
        if name != "__metadata__":
            if entry["dtype"] not in _DTYPES:
                raise BoveError(f"{path}: its array {name!r} is {entry['dtype']}; make the file again")
            start, end = (8 + length + offset for offset in entry["data_offsets"])
            arrays[name] = raw[start:end].view(_DTYPES[entry["dtype"]]).reshape(entry["shape"])
    for name in required:
        if name not in arrays:
            raise BoveError(f"{path}: a {format} file without its array {name!r}; make it again")
    return arrays, metadata


def _check(path: Path, format: str) -> dict[str, str]:
    """Metadata of a sound file of this format; BoveError for anything else."""
    check_file(path)
    try:
        with safe_open(path, framework="numpy") as stream:
            metadata = stream.metadata() or {}
    except (SafetensorError, OSError) as e:
        raise BoveError(f"{path}: not a {format} file, or a damaged one ({e}); make it again") from e
    found = metadata.get("format")
    if found != format:
        raise BoveError(f"{path}: holds {found or 'an unnamed format'}, not {format}; give the right file")
    if metadata.get("version") != VERSION:
        raise BoveError(
            f"{path}: {format} version {metadata.get('version')}, but this program reads version {VERSION}; "
            f"make the file again"
        )
    return metadata


def pack_words(words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Strings as one uint8 blob of UTF-8 bytes and [V + 1] int64 offsets into it.

    Raises:
        BoveError: half a surrogate pair, which UTF-8 can not hold.
    """
    raw = [encoded(word) for word in words]
    offsets = np.zeros(len(raw) + 1, np.int64)
    np.cumsum([len(word) for word in raw], out=offsets[1:])
    return np.frombuffer(b"".join(raw), np.uint8), offsets


def unpack_words(blob: np.ndarray, offsets: np.ndarray) -> list[str]:
    """The strings that `pack_words` packed."""
    raw, ends = blob.tobytes(), offsets.tolist()
    return [raw[start:end].decode() for start, end in itertools.pairwise(ends)]


def pack_lines(names: Sequence[str]) -> np.ndarray:
    r"""Names as one uint8 blob, joined by \n.

    Raises:
        BoveError: a name is empty or holds a \n or half a surrogate pair, so that it could not be read back.
    """
    for name in names:
        if not name or "\n" in name:
            raise BoveError(
                f"{name!r} can not name a row: it is empty or has a line break; give it another id"
            )
    return np.frombuffer(encoded("\n".join(names)), np.uint8)


def unpack_lines(blob: np.ndarray) -> tuple[str, ...]:
    """The names that `pack_lines` packed."""
    text = blob.tobytes().decode()
    return tuple(text.split("\n")) if text else ()
