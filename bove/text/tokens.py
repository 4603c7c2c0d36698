r"""Text to sentences and tokens, by the rules of the Penn Treebank.

Clitics stand alone (do n't · workers ' · can not · gon na); dotted abbreviations, numbers, dates, addresses,
@names, #tags and emoticons stay whole; runs of one sign are one token (... · !! · --). Whatever differs from
treebank to treebank (hyphens, slashes, quotation marks, brackets, dashes, abbreviations) follows the
`Conventions` that are counted in the treebank itself.
"""

import re
import unicodedata
from collections.abc import Iterable
from itertools import islice

from bove.text.conventions import Conventions

_LETTER = r"[^\W\d_]"
_JOINED = r"[\u0300-\u036f]"
_PICTURE = r"[\U0001F000-\U0001FAFF\u2600-\u27BF\u2B00-\u2BFF]"
_WORD = (
    rf"\w(?:\w|{_JOINED}|(?<={_LETTER})['’](?={_LETTER})|(?<={_LETTER})&(?={_LETTER})|(?<=\d)[.,:](?=\d))*"
)
_TOKEN = re.compile(
    rf"""
      (?P<whole> (?:https?|ftp)://[^\s<>"]*[^\s<>".,;:!?')\]]
        | www\.[^\s<>"]*[^\s<>".,;:!?')\]]
        | (?<![\w.+-])[\w.+-]+@\w[\w-]*(?:\.\w[\w-]*)+
        | (?<![\w@])(?:\w[\w-]*\.)+(?:com|net|org|edu|gov|info|biz|co\.uk|tv)\b
              (?:/[^\s<>"]*[^\s<>".,;:!?')\]])?
        | (?<![\w#-])\w[\w#-]*(?:\.[\w-]+)*\.(?:docx?|xlsx?|pdf|html?|txt|jpe?g|gif|png|pptx?|zip|exe)\b
        | &\w+; | <3(?!\d) | -[LR][RSC]B- | (?:\\/)
        | (?<!\w)[@\#]\w*{_LETTER}\w*
        | (?<!\w)[<>]?[:;=][-o*'^]?(?:[)\](\[}}{{@|*/\\]+|[dDpPoO](?!\w))
        | (?<![\w()])[)(]{{1,3}}[-o*'^]?[:;=](?!\w)
        | ``|''|`
        | (?:{_PICTURE}|[\U0001F1E6-\U0001F1FF]{{2}})(?:[\ufe0f\U0001F3FB-\U0001F3FF]|\u200d{_PICTURE})*
        | (?<!\w)(?:{_LETTER}\.){{2,}}
        | (?<!\w)(?-i:[A-HJ-Z]\.(?=[A-Z][a-z]))
        | (?<![\w.])\w{{2,}}(?:\.\w{{2,}}){{2,}}
        | \d{{3}}-\d{{3}}-\d{{4}} | \d{{3}}-\d{{4}}(?!\d) | \d{{1,4}}[/-]\d{{1,2}}[/-]\d{{1,4}}
        | \d{{1,2}}/\d{{1,2}}(?!\d)
        | (?<![\w.])\.\d+
        | (?<!\w)['’](?:\d\ds|em|til|cause|bout|n|s|re|ve|ll|d|m)(?!\w)
        | [.!?]{{2,}} | ([^\w\s()\[\]{{}}"'`])\2+ )
    | (?P<word> {_WORD}(?:[-/]{_WORD})* )
    | (?P<sign> . )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CLITIC = re.compile(r"(.*\w)(n['’]t|['’](?:s|re|ve|ll|d|m))", re.IGNORECASE)
_BARE_CLITIC = re.compile(r"(ca|do|did|does|is|was|have|has|had|could|would|should|are|were|wo|ai)(nt)", re.I)
_DIVIDED = {
    "cannot": 3,
    "gonna": 3,
    "gotta": 3,
    "wanna": 3,
    "lemme": 3,
    "gimme": 3,
    "'tis": 2,
    "'twas": 2,
    "y'all": 2,
}
_UNIT = re.compile(r"(\d[\d.,:]*)(am|pm|a\.m|p\.m|k|km|kg|cm|mm|mph|hrs?|mins?|yrs?|gb|mb)", re.IGNORECASE)
_LONGEST = 60  # characters of a form that can be kept whole
_INITIAL = re.compile(r"[A-HJ-Z]\.")  # of a name, unless it ends the text; I is a pronoun
_PARTS = re.compile(r"([-/])")

_LOOSE_JOINER = re.compile(rf"(?<!{_PICTURE})(?<![\ufe0f])\u200d|\u200d(?!{_PICTURE})")

_END = re.compile(r"[.!?…]+")
_CLOSERS = frozenset("\"'”’)]}»") | {"''"}
_OPENERS = frozenset("\"'“‘([{«") | {"``", "`"}


def normalise(text: str) -> str:
    """One line in Unicode NFC: white space is single spaces; format and control characters are gone.

    Joiners within emoji stay; a lone surrogate, which no file can hold, becomes U+FFFD.
    """
    text = _LOOSE_JOINER.sub("", unicodedata.normalize("NFC", text))
    kept = []
    for mark in text:
        kind = unicodedata.category(mark)
        if kind == "Cs":
            kept.append("\ufffd")
        elif kind not in ("Cc", "Cf") or mark == "\u200d" or mark.isspace():
            kept.append(mark)
    return " ".join("".join(kept).split())


def sentences(text: str, conventions: Conventions) -> list[list[str]]:
    """The tokens of every sentence of a text, written as in the treebank; none for a blank text."""
    tokens = tokenise(normalise(text), conventions)
    written = iter(conventions.write(tokens))  # as a whole: a quotation may span sentences
    return [list(islice(written, len(sentence))) for sentence in split_sentences(tokens)]


def tokenise(text: str, conventions: Conventions) -> list[str]:
    """Tokens of a normalised text, each a piece of it: nothing is rewritten and nothing left out."""
    tokens: list[str] = []
    chunks = text.split()
    for number, chunk in enumerate(chunks, 1):
        start, stop = _kept_core(chunk, conventions)
        if number < len(chunks) and _INITIAL.fullmatch(chunk):
            start, stop = 0, len(chunk)
        for piece, whole in ((chunk[:start], False), (chunk[start:stop], True), (chunk[stop:], False)):
            if whole and piece:
                tokens.append(piece)
            else:
                tokens.extend(_split(piece, conventions))
    return tokens


def _kept_core(chunk, conventions) -> tuple[int, int]:
    """Where the longest form stands that the treebank keeps whole, between signs; (0, 0) if there is none."""
    first = 0
    if len(chunk) > _LONGEST:
        return 0, 0
    while first < len(chunk):
        last = len(chunk)
        while last > first:
            if chunk[first:last] in conventions.whole:
                return first, last
            if chunk[last - 1].isalnum():
                break
            last -= 1
        if chunk[first].isalnum():
            break
        first += 1
    return 0, 0


def _split(text, conventions) -> Iterable[str]:
    for match in _TOKEN.finditer(text):
        piece = match[0]
        if match.lastgroup != "word":
            yield piece
            continue
        parts = [part for part in _PARTS.split(piece) if part]
        for part in conventions.join(parts):
            yield from _split_word(part)


def _split_word(word) -> list[str]:
    """A word and its clitics, of which there may be any number."""
    ends: list[str] = []
    while True:
        cut = _DIVIDED.get(word.lower().replace("’", "'"))
        match = _CLITIC.fullmatch(word) or _BARE_CLITIC.fullmatch(word) or _UNIT.fullmatch(word)
        if cut or not match:
            return [*([word[:cut], word[cut:]] if cut else [word]), *reversed(ends)]
        word = match[1]
        ends.append(match[2])


def split_sentences(tokens: Iterable[str]) -> list[list[str]]:
    """Cut after . ! ? and closing marks where a capital, a digit or an opening mark follows.

    An abbreviation holds its stop within itself, so it ends no sentence.
    """
    tokens = list(tokens)
    out: list[list[str]] = []
    start = 0
    for place in range(1, len(tokens)):
        if place > start and _ends(tokens, start, place) and _begins(tokens, start, place):
            out.append(tokens[start:place])
            start = place
    if start < len(tokens):
        out.append(tokens[start:])
    return out


def _ends(tokens, start, place) -> bool:
    """Whether the tokens before `place` end a sentence that has a word in it."""
    last = place - 1
    while last > max(start, place - 4) and tokens[last] in _CLOSERS:
        last -= 1
    if not _END.fullmatch(tokens[last]):
        return False
    return any(mark.isalnum() for token in tokens[start:last] for mark in token)


def _begins(tokens, start, place) -> bool:
    """Whether a sentence can begin at `place`; a mark that closes a quotation begins none."""
    token = tokens[place]
    if token == '"' and tokens[start:place].count('"') % 2:
        return False
    if token in _OPENERS and place + 1 < len(tokens):
        token = tokens[place + 1]
    return token[0].isupper() or token[0].isdigit() or token[0] in "@#"
