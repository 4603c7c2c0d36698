"""Sound files changed in their parts: what they hold is odd, and what holds it is sound.

Bytes changed anywhere hardly ever get past a header or a checksum. Here a file of arrays, JSON, a tar archive
or one of these packed by gzip is taken apart, one to three of its parts are changed, and it is put together
again.
"""

import gzip
import json
import struct
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

import numpy as np

from bove.artefacts import _CODES, _DTYPES

_DEEP, _LONG = "(deep)", "(long)"  # what json itself would not write
NAMES = ["ids", "vectors", "P", "R", "id", "", "\n", "a", "é"]
ODD: list[Any] = [None, True, False, 0, -1, 1, 7, 2**31, 2**63, 10**400, 0.5, -0.0, 1e308, float("nan")]
ODD += [float("inf"), "", "\n", "nan", "1e999", "[]", "{}", "\ud800", "é", [], {}, [[]], [None], {"a": 1}]
ODD += [_DEEP, _LONG, "[" * 3000, "9" * 5000, "1/0", "2/1", "similarity", "entailment"]


def change(content: bytes, chance: Random) -> bytes:
    """The content with some part changed; as it is where it has none that could be."""
    with suppress(Exception):  # a file that is damaged already
        if content.startswith(b"\x1f\x8b"):
            return gzip.compress(change(gzip.decompress(content), chance), 1, mtime=0)
        if content[8:9] == b"{" and content[4:8] == bytes(4):
            return _file_of_arrays(content, chance)
        if content[257:262] == b"ustar":
            return _tar(content, chance)
        if content.lstrip()[:1] in (b"{", b"["):
            return _json_text(content, chance)
    return content


def _some(chance: Random, step: Callable[[], None]) -> None:
    for _ in range(chance.randint(1, 3)):
        with suppress(Exception):  # some steps are impossible for some parts
            step()


def _json_text(content: bytes, chance: Random) -> bytes:
    """JSON, or one of its lines."""
    text = content.decode()
    try:
        return _written(changed_value(json.loads(text), chance)).encode()
    except ValueError:
        lines = text.splitlines()
        row = chance.randrange(len(lines))
        lines[row] = _written(changed_value(json.loads(lines[row]), chance))
        return "\n".join(lines).encode()


def _written(value: Any) -> str:
    text = json.dumps(value)
    return text.replace(f'"{_DEEP}"', "[" * 3000 + "]" * 3000).replace(f'"{_LONG}"', "9" * 5000)


def changed_value(value: Any, chance: Random) -> Any:
    """Nested values of which one, however deep, is another, is gone, is repeated or has another key."""
    if not isinstance(value, dict | list) or not value or chance.random() < 0.1:
        return _other(value, chance)
    keys = list(value) if isinstance(value, dict) else range(len(value))
    key = chance.choice(keys)
    what = chance.random()
    copy = value.copy()
    if what < 0.1:
        del copy[key]
    elif what < 0.2 and isinstance(copy, list):
        copy.insert(key, chance.choice(copy))
    elif what < 0.2:
        copy[chance.choice(NAMES)] = copy.pop(key)
    elif what < 0.3:
        copy[key] = copy[chance.choice(keys)]
    else:
        copy[key] = changed_value(copy[key], chance)
    return copy


def _other(value: Any, chance: Random) -> Any:
    if isinstance(value, str) and value and chance.random() < 0.4:
        at = chance.randrange(len(value))
        return value[:at] + chance.choice(["", "\0", "\n", "\t", "é", "0", "-", value[at:]]) + value[at + 1 :]
    if getattr(value, "ndim", 0) and chance.random() < 0.7:  # an array or a tensor
        return chance.choice([value[:0], value[1:], value[None], value.reshape(-1), value * float("nan")])
    if isinstance(value, int | float) and chance.random() < 0.4:
        return value + chance.choice([-1, 1, 0.5, -value, value])
    return chance.choice(ODD)


def _file_of_arrays(content: bytes, chance: Random) -> bytes:
    end = 8 + struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:end])
    metadata = header.pop("__metadata__", {})
    arrays = {}
    for name, entry in header.items():
        raw = content[slice(*(end + offset for offset in entry["data_offsets"]))]
        arrays[name] = np.frombuffer(raw, _DTYPES[entry["dtype"]]).reshape(entry["shape"])

    def step() -> None:
        if metadata and chance.random() < 0.4:
            _change_metadata(metadata, chance)
        else:
            _change_arrays(arrays, chance)

    _some(chance, step)
    return _joined(arrays, metadata)


def _joined(arrays: dict[str, np.ndarray], metadata: dict[str, str]) -> bytes:
    header: dict[str, Any] = {"__metadata__": metadata} if metadata else {}
    start = 0
    for name, array in arrays.items():
        place = [start, start := start + array.nbytes]
        header[name] = {"dtype": _CODES[array.dtype.name], "shape": array.shape, "data_offsets": place}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(array.tobytes() for array in arrays.values())


def _change_metadata(metadata: dict[str, str], chance: Random) -> None:
    """Metadata are texts, some of which are JSON."""
    key = chance.choice(list(metadata))
    value: Any = metadata[key]
    with suppress(ValueError):
        value = json.loads(value) if chance.random() < 0.8 else value
    if chance.random() < 0.1:
        del metadata[key]
    else:
        value = changed_value(value, chance)
        metadata[key] = value if isinstance(value, str) and value != _DEEP else _written(value)


def _change_arrays(arrays: dict[str, np.ndarray], chance: Random) -> None:
    name = chance.choice(list(arrays))
    what = chance.random()
    if what < 0.1:
        arrays[chance.choice([*NAMES, *arrays])] = arrays.pop(name)
    elif what < 0.15:
        del arrays[name]
    elif what < 0.25:
        arrays[chance.choice([*NAMES, *arrays])] = arrays[name]
    else:
        arrays[name] = np.ascontiguousarray(_other_array(arrays[name], chance))


def _other_array(array: np.ndarray, chance: Random) -> np.ndarray:
    what = chance.randrange(10)
    if what < 4 and array.size:
        copy = array.copy()
        odd = [0, 1, -1, 2, 3, 255, 10, 2**31, -(2**63), 2**62, np.nan, np.inf, 1e38]
        with np.errstate(all="ignore"):
            copy.reshape(-1)[chance.randrange(array.size)] = np.array(chance.choice(odd)).astype(array.dtype)
        return copy
    if what == 5:
        return array.astype(chance.choice(list(_DTYPES.values())))
    if what == 6:
        return chance.choice([array[:0], array[:-1], array[1:], array[::-1], array[..., :0], array[..., :-1]])
    if what == 7:
        return chance.choice([array.T, array.reshape(-1), array[None], array[..., None], array.reshape(())])
    if what == 8:
        return np.concatenate([array, array[: chance.randint(1, 3)]])
    return np.repeat(array, 2, axis=-1)


def _tar(content: bytes, chance: Random) -> bytes:
    """Bytes of one of a tar archive's headers, with the sum that they then have."""
    headers = [at for at in range(0, len(content), 512) if content[at + 257 : at + 262] == b"ustar"]
    start = chance.choice(headers)
    header = bytearray(content[start : start + 512])
    # name, mode, size, time, kind, link, number of a device, prefix
    places = [(0, 99), (100, 8), (124, 12), (136, 12), (156, 1), (157, 99), (329, 8), (345, 99)]
    odd = [b"\0", b"\xff" * 12, b"../", b"/", b"7" * 12, b"\x80" + bytes(10) + b"\xff"]
    field, size = chance.choice(places)
    value = chance.choice([*odd, b"L", b"x", b"g", b"S", b"5"])[:size]
    header[field : field + len(value)] = value
    return content[:start] + summed(header) + content[start + 512 :]


def summed(header: bytearray) -> bytes:
    """A header of a tar archive with the sum of its bytes."""
    header[148:156] = b" " * 8
    header[148:156] = f"{sum(header):06o}\0 ".encode()
    return bytes(header)
