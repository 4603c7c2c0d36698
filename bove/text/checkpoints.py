"""Stanza's model files: what BoVE adds to them, and a hash of what they compute.

A model file is read with PyTorch's restricted loader, which builds tensors and plain values only; Stanza
reads it the same way. BoVE adds one entry, `bove`: a JSON text with the model's kind and the treebank's
conventions.
"""

import hashlib
import json
from pathlib import Path

from bove.errors import BoveError
from bove.files import atomic_path, check_file
from bove.text.conventions import Conventions

# Settings of the training run that say where it ran, not what was learnt.
_PLACES = (
    "train_file",
    "eval_file",
    "save_dir",
    "save_name",
    "data_dir",
    "wordvec_dir",
    "charlm_save_dir",
    "checkpoint_save_name",
)
_KIND_SIGNS = {"tagger": "upos", "parser": "deprel"}


def load_safely(path: str | Path, kind: str):
    """What a file of PyTorch holds, of tensors and plain values only.

    Raises:
        BoveError: no such file, or one that can not be read so.
    """
    import torch

    check_file(path)
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as e:  # a damaged file can fail in any step of unpickling
        reason = str(e).split("\n")[0][:120]
        raise BoveError(
            f"{path}: not a Stanza {kind} that can be read safely ({reason}); make or fetch it again"
        ) from e


def read_checkpoint(path: str | Path, kind: str) -> dict:
    """A tagger's or parser's file as a dictionary.

    Args:
        path: file that Stanza, or `bove train-tagger` or `bove train-parser`, wrote.
        kind: "tagger" or "parser".

    Raises:
        BoveError: no such file, not a model, or one of another kind.
    """
    content = load_safely(path, kind)
    if not is_model(content):
        raise BoveError(f"{path}: not a Stanza model; give the file that `bove train-{kind}` wrote")
    if "deprel" in content["vocab"] and kind == "tagger":
        raise BoveError(f"{path}: a parser where a tagger is due; exchange the two files")
    if _KIND_SIGNS[kind] not in content["vocab"]:
        raise BoveError(
            f"{path}: a Stanza model, but no {kind}; give the file that `bove train-{kind}` wrote"
        )
    read_conventions(path, content)
    return content


def is_model(content: object) -> bool:
    """Whether what a file holds has the parts of a tagger or parser."""
    return isinstance(content, dict) and all(
        isinstance(content.get(name), dict) for name in ("model", "vocab", "config")
    )


def units(vocab: object) -> list[str]:
    """The names that one of a model's vocabularies numbers; none where it is of another make."""
    found = vocab.get("_id2unit") if isinstance(vocab, dict) else None
    return [str(unit) for unit in found] if isinstance(found, list) else []


def write_checkpoint(path: str | Path, content: dict, kind: str, conventions: Conventions) -> None:
    """Write a model without the paths of its training run; the same content gives the same bytes."""
    import torch

    config = {name: value for name, value in content["config"].items() if name not in _PLACES}
    note = json.dumps({"kind": kind, "conventions": conventions.as_json()}, sort_keys=True)
    kept = {name: value for name, value in content.items() if "optimizer" not in name}
    with atomic_path(path) as tmp, open(tmp, "wb") as stream:
        torch.save(kept | {"config": config, "bove": note}, stream)


def read_conventions(path: str | Path, content: dict) -> Conventions | None:
    """The treebank's conventions that a checkpoint holds; None for a model that BoVE did not train.

    Raises:
        BoveError: they are damaged.
    """
    note = content.get("bove")
    try:
        return None if note is None else Conventions.from_json(json.loads(note)["conventions"])
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as e:
        raise BoveError(f"{path}: its note of the treebank's conventions is damaged; train it again") from e


def state_hash(content: dict) -> str:
    """Hex SHA-256 of a checkpoint's tensors, by name; equal for models with equal weights."""
    import torch

    digest = hashlib.sha256()
    for name, tensor in sorted(content["model"].items()):
        if isinstance(tensor, torch.Tensor):
            digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
            digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()
