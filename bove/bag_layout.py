"""What a file of bags must hold: the checks and the parts of reading one (see `bove.bags`)."""

import json
import math
from pathlib import Path

import numpy as np
from safetensors import safe_open

from bove.artefacts import VERSION
from bove.errors import BoveError

FORMAT = "bove-bags"
_FLOATS = {"F16": np.dtype("<f2"), "F32": np.dtype("<f4"), "F64": np.dtype("<f8")}


def check_format(path: Path, metadata: dict[str, str]) -> None:
    """Raise BoveError for another format of this package; files from elsewhere need not name theirs."""
    found, version = metadata.get("format", ""), metadata.get("version", "")
    if found.startswith("bove-") and found != FORMAT:
        raise BoveError(f"{path}: holds {found}, not {FORMAT}; give the output of `bove infer`")
    if found == FORMAT and version != VERSION:
        raise BoveError(
            f"{path}: {FORMAT} version {version}, but this program reads {VERSION}; infer the bags again"
        )


def small_tensors(path: Path, stream: safe_open) -> dict[str, np.ndarray]:
    """All but the vectors, with an index where the file has none; BoveError for what can be none of them."""
    names = set(stream.keys())
    missing = {"vectors", "offsets", "ids"} - names
    if missing:
        raise BoveError(
            f"{path}: has no '{min(missing)}', so holds no bags; a file of bags has vectors, offsets and ids"
        )
    tensors = {name: stream.get_tensor(name) for name in ("offsets", "index", "ids") if name in names}
    for name, array in tensors.items():
        kinds = "u" if name == "ids" else "iu"
        if array.ndim != 1 or array.dtype.kind not in kinds or (name == "ids" and array.itemsize != 1):
            raise BoveError(
                f"{path}: '{name}' is {array.dtype} with {array.ndim} axes; give whole numbers in one"
            )
    tensors.setdefault("index", np.arange(max(len(tensors["offsets"]) - 1, 0)))
    for name in ("offsets", "index"):
        tensors[name] = tensors[name].astype(np.int64)
    return tensors


def map_vectors(path: Path) -> np.ndarray:
    """[N, r], mapped read-only, of a file whose header is sound; BoveError for another shape or type."""
    with open(path, "rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        entry = json.loads(stream.read(length))["vectors"]
    shape, dtype = tuple(entry["shape"]), entry["dtype"]
    if dtype not in _FLOATS or len(shape) != 2:
        raise BoveError(
            f"{path}: 'vectors' is {dtype} with {len(shape)} axes; give {', '.join(_FLOATS)} with 2"
        )
    if math.prod(shape) == 0:
        return np.zeros(shape, _FLOATS[dtype])
    return np.memmap(path, _FLOATS[dtype], "r", 8 + length + entry["data_offsets"][0], shape)


def check_layout(path: Path, tensors: dict[str, np.ndarray]) -> None:
    """Raise BoveError where offsets do not cut the vectors into bags, or the index names none of these."""
    offsets, index, n_vectors = tensors["offsets"], tensors["index"], len(tensors["vectors"])
    if not len(offsets) or offsets[0] != 0:
        found = f"begin with {offsets[0]}" if len(offsets) else "are empty"
        raise BoveError(f"{path}: the offsets {found}; the first is 0, the last the number of vectors")
    if len(falls := np.flatnonzero(np.diff(offsets) < 0)):
        b = int(falls[0])
        raise BoveError(
            f"{path}: the offsets fall from {offsets[b]} to {offsets[b + 1]} at bag {b}; they must not, "
            f"since bag b lies between offsets b and b + 1"
        )
    if offsets[-1] != n_vectors:
        raise BoveError(
            f"{path}: the offsets end with {offsets[-1]}, but there are {n_vectors} vectors; give as many"
        )
    if len(wrong := np.flatnonzero((index < 0) | (index >= len(offsets) - 1))):
        s = int(wrong[0])
        raise BoveError(
            f"{path}: the index names bag {index[s]} for sentence {s}, but there are {len(offsets) - 1} "
            f"bags, counted from 0"
        )


def unpack_ids(path: Path, blob: np.ndarray, count: int) -> tuple[str, ...]:
    """The `count` sentence ids; BoveError where there are others."""
    try:
        text = blob.tobytes().decode("utf-8")
    except UnicodeDecodeError as e:
        raise BoveError(
            f"{path}: the sentence ids are not UTF-8; write them as one, joined by line breaks"
        ) from e
    ids = tuple(text.split("\n")) if count or text else ()
    if len(ids) != count:
        raise BoveError(
            f"{path}: has {len(ids)} sentence ids for {count} sentences; without an index "
            f"every sentence has a bag of its own"
        )
    if len(set(ids)) != count:
        raise BoveError(f"{path}: a sentence id stands twice; give each sentence its own")
    return ids
