"""Files of PyTorch as arrays and JSON, and back: the models of tagger and parser without a pickle.

What a model's file holds is made of tensors, dictionaries, lists and plain values. The tensors become arrays
of a safetensors file, the rest one JSON text in its array `content`, in which {"tensor": "3"} stands for an
array, and a dictionary is a list of its entries, since its keys need not be texts.
"""

import json
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

from bove import artefacts
from bove.errors import BoveError
from bove.files import atomic_path
from bove.text.parser import load_safely

FORMAT = "bove-checkpoint"
_KINDS = {"list": list, "tuple": tuple, "set": set, "dict": dict, "ordered": OrderedDict}


def pack_checkpoint(source: str | Path, output: str | Path, kind: str) -> None:
    """Write a file of PyTorch as arrays and JSON.

    Args:
        kind: what it is of, for messages, such as "tagger".

    Raises:
        BoveError: a file that cannot be read safely, or that holds something else.
    """
    arrays: dict[str, np.ndarray] = {}
    try:
        content = json.dumps(_plain(load_safely(source, kind), arrays))
    except (TypeError, RecursionError) as e:
        raise BoveError(f"{source}: cannot be packed ({e}); make the {kind} again") from e
    arrays["content"] = np.frombuffer(content.encode(), np.uint8)
    artefacts.save(output, FORMAT, arrays, {"kind": kind})


def unpack_checkpoint(source: str | Path, output: str | Path) -> None:
    """Write the file of PyTorch again that `pack_checkpoint` packed.

    Raises:
        BoveError: a damaged file, or another one.
    """
    import torch

    arrays, _ = artefacts.load(source, FORMAT)
    content = _restored(json.loads(arrays.pop("content").tobytes()), arrays)
    with atomic_path(output) as made, open(made, "wb") as stream:
        torch.save(content, stream)


def _plain(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """A value as JSON has it; its tensors go to the arrays."""
    import torch

    if value is None or type(value) in (str, int, float, bool):
        return value
    if isinstance(value, torch.Tensor):
        name = str(len(arrays))
        arrays[name] = value.detach().cpu().numpy()
        return {"tensor": name}
    name = next((name for name, kind in _KINDS.items() if type(value) is kind), None)
    if name is None:
        raise TypeError(f"it holds a {type(value).__name__}")
    items = value.items() if isinstance(value, dict) else value
    if isinstance(value, dict):
        return {name: [[_plain(key, arrays), _plain(own, arrays)] for key, own in items]}
    return {name: [_plain(item, arrays) for item in items]}


def _restored(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    import torch

    if not isinstance(value, dict):
        return value
    ((name, own),) = value.items()
    if name == "tensor":
        return torch.from_numpy(arrays[own])
    if issubclass(_KINDS[name], dict):
        return _KINDS[name]((_restored(key, arrays), _restored(item, arrays)) for key, item in own)
    return _KINDS[name](_restored(item, arrays) for item in own)
