"""Trees that a user brings, matched with the sentences of the pairs."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from bove.errors import BoveError
from bove.text.conll import SENT_ID, Sentence, blocks, first_comment, read_sentences

_TEXT = re.compile(r"#[ \t]*text[ \t]*=[ \t]*(.*?)[ \t]*$")


def match_parses(path: str | Path, ids: Sequence[str], texts: Sequence[str]) -> Iterator[Sentence]:
    """Yield the tree of each sentence, in order, found by its `sent_id`.

    Where a tree has a `text` comment, it must be the sentence's, white space aside. Trees of other sentences
    are passed over.

    Raises:
        BoveError: a sentence without a tree or with two, or a tree of another text.
    """
    trees: dict[str, Sentence] = {}
    wanted = set(ids)
    for tree in read_sentences(path):
        if tree.id in trees:
            raise BoveError(f"{path}: two trees have sent_id {tree.id}; keep one")
        if tree.id in wanted:
            trees[tree.id] = tree
    missing = [name for name in ids if name not in trees]
    if missing:
        raise BoveError(
            f"{path}: no tree has sent_id {missing[0]} (the first of {len(missing)} missing, of {len(ids)} "
            f"sentences); name each tree by its pair, with .1 or .2 for the side"
        )
    given = _texts(path)
    for name, text in zip(ids, texts, strict=True):
        found, line = given.get(name, (text, 0))
        if found.split() != text.split():
            raise BoveError(
                f"{path}, line {line}: the tree {name} is of {found!r}, but the sentence is {text!r}; "
                f"parse the sentences of these pairs"
            )
        yield trees[name]


def _texts(path) -> dict[str, tuple[str, int]]:
    """Text and line number by sent_id, where both comments stand before a tree."""
    found: dict[str, tuple[str, int]] = {}
    for comments, _ in blocks(path):
        _, name = first_comment(SENT_ID, comments)
        number, text = first_comment(_TEXT, comments)
        if name is not None and text is not None:
            found[name] = text, number
    return found
