"""A word in its sentence beside the training tokens nearest to it, and beside the nearest word types."""

from dataclasses import dataclass

from bove.errors import one_line
from bove.evaluate.explain import digits, table

AROUND = 7  # words shown to either side of a token


@dataclass(frozen=True)
class TokenNeighbour:
    """A training token near to a word in its sentence.

    Attributes:
        cosine: of the two bove vectors.
        word_cosine: of the two words' own vectors; None where one has none.
        sentence_id: of the training sentence, the first of the `alike` ones that share their vectors.
        forms: its words. place: which of them, from 0.
    """

    cosine: float
    word_cosine: float | None
    sentence_id: str
    forms: tuple[str, ...]
    place: int
    alike: int


@dataclass(frozen=True)
class WordNeighbour:
    """A word type near to a word: the word and the cosine of their own vectors."""

    word: str
    cosine: float


@dataclass(frozen=True)
class Neighbours:
    """What is near to one word of a sentence.

    Attributes:
        forms: the sentence. place: which of its words, from 0.
        tokens: the nearest training tokens.
        words: the nearest word types; None where the word has no vector of its own.
    """

    forms: tuple[str, ...]
    place: int
    tokens: tuple[TokenNeighbour, ...]
    words: tuple[WordNeighbour, ...] | None


def find_places(word: str, forms: tuple[str, ...]) -> list[int]:
    """The places of a word in a sentence, from 0: spelt so, or else in any case.

    `WORD:2` is the second place alone, unless that is itself a word of the sentence. Empty where none is.
    """
    for spelt in (str, str.casefold):
        if found := [place for place, form in enumerate(forms) if spelt(form) == spelt(word)]:
            return found
    name, separator, number = word.rpartition(":")
    if separator and number.isascii() and number.isdigit() and len(number) < 10:
        return find_places(name, forms)[int(number) - 1 : int(number)] if int(number) else []
    return []


def marked(forms: tuple[str, ...], place: int, around: int = AROUND) -> str:
    """The words around a place, with that word in [brackets]; … where words are left out."""
    start, stop = max(0, place - around), place + around + 1
    words = [f"[{form}]" if i == place else form for i, form in enumerate(forms)]
    return " ".join([*["…"] * (start > 0), *words[start:stop], *["…"] * (stop < len(forms))])


def as_text(found: Neighbours, searched: str) -> str:
    """The neighbours for a terminal; `searched` says among what tokens, such as "9 tokens of 2 sentences"."""
    form = one_line(found.forms[found.place])
    rows = []
    for token in found.tokens:
        times = f"  ({token.alike} times)" if token.alike > 1 else ""
        word_cosine = "-" if token.word_cosine is None else digits(token.word_cosine)
        sentence = marked(token.forms, token.place) + times
        rows.append([digits(token.cosine), word_cosine, token.forms[token.place], sentence])
    in_context = table(["bove", "word vectors", "word", "sentence"], rows, (0, 1))
    as_word = f"as a word: {form} has no vector of its own"
    if found.words is not None:
        listed = [[digits(near.cosine), near.word] for near in found.words]
        as_word = "as a word: the nearest word vectors among the vocabulary's words\n"
        as_word += table(["cosine", "word"], listed, (0,))
    return (
        f"{form}, word {found.place + 1} of: {one_line(marked(found.forms, found.place))}\n\n"
        f"in context: the nearest bove vectors among {searched}\n{in_context}\n\n{as_word}\n"
    )
