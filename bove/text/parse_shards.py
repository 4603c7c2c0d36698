"""Parsing in shards: the trees of one slice of the distinct texts, and all trees again from all slices.

Equal texts are parsed once, so it is the distinct texts, in order of their first appearance, that are sliced.
A slice is whole chunks of `parsing.CHUNK`: a tree may depend, in the last digits of its scores, on the
sentences that are computed with it, and this way every text keeps its company however many shards there are.

A shard is a CoNLL-U file: a block of comments that says what made it, then one tree for each of its texts,
under the first sentence id that has the text.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from bove.errors import BoveError
from bove.files import gzip_text, read_lines
from bove.text import parsing
from bove.text.conll import Sentence, read_sentences, write_conllu

_SHARD, _TOTAL, _INPUTS = "shard", "number of shards", "inputs_sha256"


def read_shard(text: str) -> tuple[int, int]:
    """(number from 1, how many there are) of a shard that is written 2/4.

    Raises:
        BoveError: anything else, or a number beyond the last.
    """
    match = re.fullmatch(r"([0-9]+)/([0-9]+)", text)
    number, total = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= total:
        raise BoveError(f"shard {text!r}: write NUMBER/HOW_MANY, such as 2/4; numbers start at 1")
    return number, total


def slice_of(items: Sequence, number: int, total: int) -> Sequence:
    """The items of a shard: whole chunks, as many as in any other shard or one fewer; maybe none."""
    chunks = -(-len(items) // parsing.CHUNK)
    start, stop = ((i * chunks // total) * parsing.CHUNK for i in (number - 1, number))
    return items[start:stop]


def _inputs_hash(items) -> str:
    """Hex SHA-256 of all distinct texts with their ids, and of how they are sliced."""
    return hashlib.sha256(json.dumps([parsing.CHUNK, items]).encode()).hexdigest()


def write_shard(
    path: str | Path,
    items: Sequence[tuple[str, str]],
    shard: tuple[int, int],
    trees: Iterable[Sentence],
    provenance: Sequence[str],
) -> None:
    """Write the trees of a shard.

    Args:
        path: gzip file to write.
        items: (id, text) of all distinct texts, from `parsing.distinct`.
        shard: its number from 1, and how many there are.
        trees: one for each item of the shard's slice, in order.
        provenance: comments `key = value` that all shards of a whole have in common.
    """
    comments = [*provenance, f"{_INPUTS} = {_inputs_hash(items)}", f"{_SHARD} = {shard[0]}/{shard[1]}"]
    with gzip_text(path) as stream:
        stream.write("".join(f"# {comment}\n" for comment in comments) + "\n")
        for (_, text), tree in zip(slice_of(items, *shard), trees, strict=True):
            write_conllu(stream, tree, parsing.one_line(text))


def gather(
    paths: Sequence[str | Path], ids: Sequence[str], texts: Sequence[str]
) -> tuple[list[str], Iterator[Sentence]]:
    """The provenance that all shards have in common, and one tree a text, in order.

    Args:
        paths: all shards, in any order.
        ids, texts: of the sentences, as they were given to each shard.

    Raises:
        BoveError: a file that is no shard, shards of other sentences or of different makes, one that is
            missing or given twice, or (while the trees are read) one without the trees it should have.
    """
    items = parsing.distinct(ids, texts)
    inputs = _inputs_hash(items)
    shards: dict[int, str | Path] = {}
    common: dict[str, str] = {}
    for path in paths:
        header, number = _read_header(path)
        if header.pop(_INPUTS) != inputs:
            raise BoveError(f"{path}: a shard of other sentences than these pairs'; parse these pairs")
        if number in shards:
            raise BoveError(f"{path}: shard {number}, as {shards[number]} is; give each shard once")
        shards[number] = path
        common = common or header
        _check_equal(path, header, paths[0], common)
    total = int(common.pop(_TOTAL))
    missing = [str(number) for number in range(1, total + 1) if number not in shards]
    if missing:
        raise BoveError(f"of {total} shards, {', '.join(missing)} not given; give all of them")
    provenance = [f"{key} = {value}" for key, value in common.items()]
    return provenance, parsing.spread(ids, texts, _all_trees(shards, total, items))


def _read_header(path) -> tuple[dict[str, str], int]:
    """The comments `# key = value` of a shard's first block, and its number."""
    header: dict[str, str] = {}
    for _, line in read_lines(path):
        key, equals, value = line.removeprefix("# ").partition(" = ")
        if not line.startswith("# ") or not equals:
            break
        header[key] = value
    if not {_SHARD, _INPUTS} <= header.keys():
        raise BoveError(f"{path}: no shard; give files that `bove parse --shard` wrote")
    number, total = read_shard(header.pop(_SHARD))
    return header | {_TOTAL: str(total)}, number


def _check_equal(path, header, other, expected) -> None:
    for key in expected | header:
        found, wanted = header.get(key, "missing"), expected.get(key, "missing")
        if found != wanted:
            raise BoveError(
                f"{path}: its {key} is {found}, but that of {other} is {wanted}; parse all shards alike"
            )


def _all_trees(shards, total, items) -> Iterator[Sentence]:
    """The trees of all distinct texts, each shard's compared with the ids that it should have."""
    for number, path in sorted(shards.items()):
        trees = read_sentences(path)
        for name, _ in slice_of(items, number, total):
            tree = next(trees, None)
            if tree is None or tree.id != name:
                found = "ends" if tree is None else f"has the tree {tree.id}"
                raise BoveError(f"{path}: {found} where {name} was due; parse this shard again")
            yield tree
        if (tree := next(trees, None)) is not None:
            raise BoveError(f"{path}: has the tree {tree.id} after its last one; parse this shard again")
