"""What keeps a sentence's heads from being one tree.

Heads number tokens from 1; 0 is the root and None no head. Nothing here recurs, so a sentence may have any
length.
"""

from collections.abc import Iterator, Sequence

NO_HEAD = "tokens without a head"
OUT_OF_RANGE = "heads beyond the sentence"
NEGATIVE = "negative heads"
SELF_LOOP = "tokens that head themselves"
CYCLE = "sentences with a cycle"
NO_ROOT = "sentences without a root"
TWO_ROOTS = "sentences with several roots"


def oddities(heads: Sequence[int | None]) -> Iterator[tuple[str, int]]:
    """(kind, token from 0) of everything that keeps the heads from being one tree."""
    if not heads:
        return
    for token, head in enumerate(heads):
        if head is None:
            yield NO_HEAD, token
        elif head < 0:
            yield NEGATIVE, token
        elif head > len(heads):
            yield OUT_OF_RANGE, token
        elif head == token + 1:
            yield SELF_LOOP, token
    roots = heads.count(0)
    if roots == 0:
        yield NO_ROOT, 0
    elif roots > 1:
        yield TWO_ROOTS, heads.index(0, heads.index(0) + 1)
    token = _first_in_cycle(heads)
    if token is not None:
        yield CYCLE, token


def _first_in_cycle(heads) -> int | None:
    """A token (from 0) that is its own ancestor through another one, if there is any."""
    seen = [0] * (len(heads) + 1)
    for start in range(1, len(heads) + 1):
        token = start
        while token and 0 < token <= len(heads) and not seen[token]:
            seen[token] = start
            token = heads[token - 1]
        if token and 0 < token <= len(heads) and seen[token] == start and heads[token - 1] != token:
            return token - 1
    return None
