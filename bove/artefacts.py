"""The one reader and writer of safetensors files, each with a format name and a version beside its arrays.

Layout of a safetensors file: the header's length as a little-endian 64-bit number, a JSON header, the raw
arrays one after another. Arrays are written widest element first, so each starts at a multiple of its
element size and can be mapped as it is. The same content always gives the same bytes. What is written whole
has the SHA-256 of its content, by which a file that was damaged or changed is known when it is read whole.
"""

import hashlib
import itertools
import json
import math
import mmap
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np
from safetensors import SafetensorError, safe_open

from bove.errors import BoveError
from bove.files import atomic_path, check_file, encoded

VERSION = "1"
_HASH = "sha256"
_CODES = {
    "float16": "F16", "float32": "F32", "float64": "F64", "int8": "I8", "int16": "I16", "int32": "I32",
    "int64": "I64", "uint8": "U8", "uint16": "U16", "uint32": "U32", "uint64": "U64", "bool": "BOOL",
}  # fmt: skip
_DTYPES = {code: np.dtype(name).newbyteorder("<") for name, code in _CODES.items()}


class Writer:
    """The open file of `create`: each array is filled piece by piece, or through a map.

    `places` has dtype, shape and first byte of each array.
    """

    def __init__(self, stream: IO[bytes], header: bytes, places: Mapping[str, tuple]):
        self._stream, self._places = stream, places
        self._next = {name: start for name, (_, _, start) in places.items()}
        self._maps: list[mmap.mmap] = []
        ends = (start + dtype.itemsize * math.prod(shape) for dtype, shape, start in places.values())
        size = max(ends, default=len(header))
        # a full disk shows here, and not as a fault of a page
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(stream.fileno(), 0, size)
        else:
            stream.truncate(size)
        stream.write(header)

    def put(self, name: str, values: np.ndarray | bytes | memoryview) -> None:
        """Write the next values of an array, or their raw bytes, after those that were put before."""
        if isinstance(values, np.ndarray):
            values = np.ascontiguousarray(values, self._places[name][0]).reshape(-1).view(np.uint8).data
        self._stream.seek(self._next[name])
        self._stream.write(values)
        self._next[name] += len(values)

    def map(self, name: str) -> np.ndarray:
        """An array to be filled in any order before the block of `create` ends."""
        self._stream.flush()
        dtype, shape, start = self._places[name]
        self._maps.append(mmap.mmap(self._stream.fileno(), 0))
        return np.ndarray(shape, dtype, self._maps[-1], start)

    def sync(self) -> None:
        """Have the disk hold all that was written."""
        for mapped in self._maps:
            mapped.flush()
        self._stream.flush()
        os.fsync(self._stream.fileno())


@contextmanager
def create(
    path: str | Path,
    format: str,
    shapes: Mapping[str, tuple[np.dtype, tuple[int, ...]]],
    metadata: Mapping[str, str],
) -> Iterator[Writer]:
    """Write a file whose arrays come in pieces; it appears whole at the end of the block, or not at all.

    Args:
        format: name of the format, such as "bove-graphs".
        shapes: dtype and shape of each array.
        metadata: further strings to store; "format" and "version" are added.

    Raises:
        BoveError: half a surrogate pair in one of these, or the file cannot be written.
    """
    for text in metadata.values():
        encoded(text)
    header: dict = {"__metadata__": dict(sorted({"version": VERSION, **metadata, "format": format}.items()))}
    places, start = {}, 0
    for name in sorted(shapes, key=lambda name: (-np.dtype(shapes[name][0]).itemsize, name)):
        dtype, shape = np.dtype(shapes[name][0]).newbyteorder("<"), tuple(map(int, shapes[name][1]))
        places[name] = (dtype, shape, start)
        end = start + dtype.itemsize * math.prod(shape)
        header[name] = {"dtype": _CODES[dtype.name], "shape": list(shape), "data_offsets": [start, end]}
        start = end
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    first = 8 + len(text)
    places = {name: (dtype, shape, first + start) for name, (dtype, shape, start) in places.items()}
    with atomic_path(path) as temporary, open(temporary, "r+b") as stream:
        writer = Writer(stream, struct.pack("<Q", len(text)) + text, places)
        yield writer
        writer.sync()


def save(
    path: str | Path, format: str, arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str]
) -> None:
    """Write whole arrays and metadata, with their hash; see `create`."""
    metadata = {**metadata, _HASH: _hash(arrays, metadata)}
    shapes = {name: (array.dtype, array.shape) for name, array in arrays.items()}
    with create(path, format, shapes, metadata) as writer:
        for name, array in arrays.items():
            writer.put(name, array)


def load(path: str | Path, format: str) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Read a file whole that `save` wrote: its arrays (writable copies) and its metadata.

    Raises:
        BoveError: as of `open_mapped`, or the file has changed since it was written.
    """
    arrays, metadata = open_mapped(path, format)
    if _HASH not in metadata:
        raise BoveError(f"{path}: {format} of an earlier program, without a hash; make the file again")
    if metadata.pop(_HASH) != _hash(arrays, metadata):
        raise BoveError(f"{path}: changed since it was written (its hash differs); make it again")
    return {name: array.copy() for name, array in arrays.items()}, metadata


def _hash(arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> str:
    """Hex SHA-256 of arrays and metadata, but for format and version, which are looked at anyway."""
    stated = sorted((key, text) for key, text in metadata.items() if key not in ("format", "version"))
    digest = hashlib.sha256(json.dumps(stated).encode())
    for name, array in sorted(arrays.items()):
        values = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        digest.update(f"{name}{values.dtype.str}{array.shape}".encode())
        digest.update(values.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def open_mapped(
    path: str | Path, format: str, foreign: bool = False
) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Map a file: read-only arrays whose pages are read when touched, and its metadata.

    Args:
        format: the format that it must have.
        foreign: whether a file without a format of this package will do too.

    Raises:
        BoveError: the file is missing, damaged, or of another format or version.
    """
    metadata = read_metadata(path)
    found, version = metadata.get("format", ""), metadata.get("version")
    if found != format and not (foreign and not found.startswith("bove-")):
        raise BoveError(f"{path}: holds {found or 'an unnamed format'}, not {format}; give the right file")
    if found == format and version != VERSION:
        raise BoveError(
            f"{path}: {format} version {version}, but this program reads version {VERSION}; make the file "
            f"again"
        )
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
    return arrays, metadata


def read_metadata(path: str | Path) -> dict[str, str]:
    """What a sound file of any format says of itself; BoveError where it is missing or damaged."""
    check_file(path)
    try:
        with safe_open(path, framework="numpy") as stream:
            return stream.metadata() or {}
    except (SafetensorError, OSError) as e:
        raise BoveError(f"{path}: not a safetensors file, or a damaged one ({e}); make it again") from e


def pack_words(words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Strings as one uint8 blob of UTF-8 bytes and [V + 1] int64 offsets into it.

    Raises:
        BoveError: half a surrogate pair, which UTF-8 cannot hold.
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
                f"{name!r} cannot name a row: it is empty or has a line break; give it another id"
            )
    return np.frombuffer(encoded("\n".join(names)), np.uint8)


def unpack_lines(blob: np.ndarray) -> tuple[str, ...]:
    """The names that `pack_lines` packed."""
    text = blob.tobytes().decode()
    return tuple(text.split("\n")) if text else ()
