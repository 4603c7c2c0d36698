"""Parsing in shards: the trees of one slice of the distinct texts, and all trees again from all slices.

Equal texts are parsed once, so it is the distinct texts, in order of their first appearance, that are sliced.
A slice is whole chunks of `parsing.CHUNK`: a tree may depend, in the last digits of its scores, on the
sentences that are computed with it, and this way every text keeps its company however many shards there are.

A shard is a CoNLL-U file: a block of comments that says what made it, then one tree for each of its texts,
under the first sentence id that has the text.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from bove.errors import BoveError
from bove.files import gzip_text, read_lines
from bove.shards import SHARD, in_order
from bove.text import parsing
from bove.text.conll import Sentence, read_sentences, write_conllu

_INPUTS = "inputs_sha256"


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
    comments = [*provenance, f"{_INPUTS} = {_inputs_hash(items)}", f"{SHARD} = {shard[0]}/{shard[1]}"]
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
    inputs, headers = _inputs_hash(items), []
    for path in paths:
        headers.append(_read_header(path))
        if headers[-1].pop(_INPUTS) != inputs:
            raise BoveError(f"{path}: a shard of other sentences than these pairs'; parse these pairs")
    ordered, common = in_order(paths, headers, "parse all shards alike")
    provenance = [f"{key} = {value}" for key, value in common.items()]
    return provenance, parsing.spread(ids, texts, _all_trees(ordered, items))


def _read_header(path) -> dict[str, str]:
    """The comments `# key = value` of a shard's first block."""
    header: dict[str, str] = {}
    for _, line in read_lines(path):
        key, equals, value = line.removeprefix("# ").partition(" = ")
        if not line.startswith("# ") or not equals:
            break
        header[key] = value
    if not {SHARD, _INPUTS} <= header.keys():
        raise BoveError(f"{path}: no shard; give files that `bove parse --shard` wrote")
    return header


def _all_trees(paths, items) -> Iterator[Sentence]:
    """The trees of all distinct texts, each shard's compared with the ids that it should have."""
    for number, path in enumerate(paths, 1):
        trees = read_sentences(path)
        for name, _ in slice_of(items, number, len(paths)):
            tree = next(trees, None)
            if tree is None or tree.id != name:
                found = "ends" if tree is None else f"has the tree {tree.id}"
                raise BoveError(f"{path}: {found} where {name} was due; parse this shard again")
            yield tree
        if (tree := next(trees, None)) is not None:
            raise BoveError(f"{path}: has the tree {tree.id} after its last one; parse this shard again")
