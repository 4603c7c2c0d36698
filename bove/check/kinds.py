"""Telling by content what kind of file something is."""

import codecs
import json
import math
import re
import zipfile
from pathlib import Path

from bove.errors import BoveError
from bove.files import open_bytes, refuse_utf_16

# Names of kinds, each with what it is in words.
KINDS = {
    "treebank": "CoNLL-2009 or CoNLL-U",
    "vectors": "word2vec (binary or text) or GloVe",
    "sts": "sentence pairs, tab between the two",
    "gold": "gold scores, one a line",
    "snli": "SNLI, JSON lines or text",
    "pairs": "pairs.jsonl of a run",
    "graphs": "graphs, JSON lines",
    "triples": "triples of one graph, tabs between the three (only where it is named)",
    "vocabulary": "vocabulary.json of a run",
    "arrays": "vectors, graphs, model or bags of a run (safetensors)",
    "scores": "scores of a run (Parquet)",
    "stanza": "a Stanza model (.pt)",
    "config": "a configuration (YAML)",
}
_HEAD = 1 << 16
_ROW = re.compile(r"[0-9]+(-[0-9]+|\.[0-9]+)?\t")
_KEY = re.compile(r"[A-Za-z_]\w*:(\s|$)")
# What a damaged line of each kind is told by.
_KEYS = {"vocabulary": "bove-vocabulary", "snli": "sentence1", "graphs": "nodes", "pairs": "dataset"}
_PAIR_KEYS = {"id", "dataset", "label", "task", "subset", "first", "second", "gold", "scored"}


def find_kind(path: str | Path) -> str:
    """The name, from KINDS, of a file's kind.

    Raises:
        BoveError: the file can not be read, is empty, or is of no kind that BoVE knows.
    """
    with open_bytes(path) as stream:
        head = stream.read(_HEAD)
    if not head:
        raise BoveError(f"{path}: an empty file; give one with content")
    head = head.removeprefix(codecs.BOM_UTF8)
    kind = _binary_kind(path, head) or _text_kind(head.decode("utf-8", "replace"))
    if kind is None:
        first = head.split(b"\n")[0][:60].decode("utf-8", "replace")
        raise BoveError(
            f"{path}: none of the kinds of file that BoVE reads, by its first line {first!r}; name its kind "
            f"with --as ({', '.join(KINDS)})"
        )
    return kind


def _binary_kind(path, head: bytes) -> str | None:
    if head.startswith(b"PAR1"):
        return "scores"
    if head.startswith(b"PK\x03\x04"):
        return _zip_kind(path)
    if head.startswith(b"\x80\x02"):
        return "stanza"
    if int.from_bytes(head[:8], "little") < 1 << 30 and head[8:9] == b"{":
        return "arrays"
    if re.match(rb"[0-9]+[ \t][0-9]+[ \t\r]*\n", head):
        return "vectors"
    refuse_utf_16(path, head)
    if b"\0" in head:
        raise BoveError(f"{path}: binary, of no kind that BoVE reads ({', '.join(KINDS.values())})")
    return None


def _zip_kind(path) -> str:
    try:
        with zipfile.ZipFile(path) as packed:
            names = packed.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as e:
        raise BoveError(f"{path}: a damaged zip archive ({e}); fetch or make it again") from e
    if any(name.endswith("data.pkl") for name in names):
        return "stanza"
    if "[Content_Types].xml" in names:
        raise BoveError(f"{path}: a document of an office program; export it as tab-separated text, UTF-8")
    raise BoveError(f"{path}: a zip archive; unpack it and give the files in it: {', '.join(names[:5])}")


def _text_kind(text: str) -> str | None:
    lines = [line.rstrip("\r") for line in text.split("\n")]
    if len(text) >= _HEAD // 4 and len(lines) > 1:
        lines.pop()  # the last one may be cut off
    lines = [line for line in lines if line.strip(" \t")]
    if not lines:
        return None
    for find in (_json_kind, _treebank, _gold, _vectors, _header, _config):
        kind = find(lines)
        if kind:
            return kind
    return "sts" if "\t" in lines[0] else None


def _json_kind(lines) -> str | None:
    if not lines[0].lstrip().startswith("{"):
        return None
    try:
        record = json.loads(lines[0])
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):  # an object of several lines, or a damaged line
        start = "".join(lines[:3])
        return next((kind for kind, key in _KEYS.items() if f'"{key}"' in start), None)
    if "format" in record:
        return "vocabulary"
    if "nodes" in record:
        return "graphs"
    return "pairs" if record.keys() >= _PAIR_KEYS else "snli"


def _treebank(lines) -> str | None:
    comments = [line for line in lines if line.startswith("#")]
    rows = [line for line in lines if not line.startswith("#")]
    if not rows:
        return "treebank" if any("sent_id" in line for line in comments) else None
    cells = rows[0].split()
    spaced = "\t" not in rows[0] and len(cells) >= 10 and cells[0] == "1" and not _is_number(cells[1])
    return "treebank" if spaced or (_ROW.match(rows[0]) and rows[0].count("\t") >= 6) else None


def _gold(lines) -> str | None:
    return "gold" if all(_is_number(line.strip(" \t")) for line in lines[:200]) else None


def _vectors(lines) -> str | None:
    sizes = set()
    for line in lines[:2]:
        cells = line.split()
        size = 0
        while size < len(cells) - 1 and _is_number(cells[-1 - size]):
            size += 1
        if size < 2 or (size < len(cells) - 1 and size < 10) or ("\t" in line and size < 10):
            return None
        sizes.add(size)
    return "vectors" if len(sizes) == 1 else None


def _header(lines) -> str | None:
    return "snli" if "gold_label" in lines[0].split("\t") else None


def _config(lines) -> str | None:
    first = next((line for line in lines if not line.startswith(("#", "---", "%"))), "")
    return "config" if _KEY.match(first) else None


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False
