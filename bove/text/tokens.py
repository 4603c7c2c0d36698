r"""Text to sentences and tokens, by the rules of the Penn Treebank, and what a token is by its characters.

Clitics are tokens of their own (do n't · workers ' · can not · gon na); dotted abbreviations, numbers, dates,
addresses, @names, #tags and emoticons stay whole; runs of one sign are one token (... · !! · --). Whatever
differs from treebank to treebank (hyphens, slashes, quotation marks, brackets, dashes, abbreviations) follows
the `Conventions` that are counted in the treebank itself: a parser knows the forms of its treebank alone, so
text must be divided and written as there. Every choice is the more frequent one among its tokens.

A number has Unicode digits or fractions with . , : / - between or after them, a sign or a currency before
them, and after them an ending s, st, nd, rd, th, a per cent sign or a currency. Numbers are 1,000.5 · 3/4 ·
1\/2 · ½ · 10:30 · 2004-11-17 · 1990s · '90s · 21st · 2.5% · $5; none are 10-year, 5pm, two.

Punctuation has no character but Unicode punctuation (P*), mathematical signs (Sm) and modifier signs (Sk), or
is a Penn Treebank bracket such as -LRB-. The single signs % ‰ & # @ § are words all the same, as are
currencies, emoji and other symbols. Punctuation is '' · `` · … · :-) · =; none are $ · % · U.S. · ©.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from itertools import islice, pairwise
from unicodedata import category, normalize

# ruff: noqa: SIM905 long word lists read better unquoted

NUMBER, PUNCTUATION = "NB", "PUNCT"
_BRACKETS = frozenset(f"-{side}{kind}B-" for side in "LR" for kind in "RSC")
_SIGNS = frozenset("%‰&#@§")
# Over a form whose digits are all written 0, currencies $, dashes and minus signs -, apostrophes '.
_NUMBER = re.compile(
    r"[-+±~]?\$?[-+]?[.,']?0(?:[0.,:/\u00a0\u202f-]|\\/)*(?:'?s|st|nd|rd|th)?[%‰$]?", re.IGNORECASE
)
_PLAIN = str.maketrans("\u2212\u2013\u2019", "--'")


@lru_cache(maxsize=1 << 18)
def character_class(form: str) -> str | None:
    """NUMBER, PUNCTUATION or None."""
    kinds = [category(mark) for mark in form]
    if any(kind[0] == "N" for kind in kinds):
        marks = zip(form, kinds, strict=True)
        signs = "".join("0" if kind[0] == "N" else "$" if kind == "Sc" else mark for mark, kind in marks)
        return NUMBER if _NUMBER.fullmatch(signs.translate(_PLAIN)) else None
    if form in _BRACKETS:
        return PUNCTUATION
    if form and form not in _SIGNS and all(kind[0] == "P" or kind in ("Sm", "Sk") for kind in kinds):
        return PUNCTUATION
    return None


def is_punctuation(form: str) -> bool:
    """Whether a form is punctuation by its characters, whatever a vocabulary replaces."""
    return character_class(form) == PUNCTUATION


# Abbreviations that keep their stop, for treebanks too small to show them.
_ABBREVIATIONS = (
    "Mr. Mrs. Ms. Dr. Prof. Rev. Gen. Sen. Rep. Gov. Lt. Col. Maj. Sgt. Capt. St. Ft. Mt. Jr. Sr. "
    "Inc. Corp. Co. Ltd. Bros. vs. v. etc. Jan. Feb. Mar. Apr. Aug. Sept. Sep. Oct. Nov. Dec. Ave. "
    "Blvd. approx. dept. ca. cf. al. Ph.D. e.g. i.e. a.m. p.m. U.S. U.K. U.N. D.C. No. Nos. Vol. "
    "Fig. Adm. Pres. Reps. Sens. Calif. Mass. Fla."
).split()
_PREFIXES = ("e", "co", "non", "pre", "post", "re", "anti", "multi", "semi", "ex", "un", "mid", "pro")

# What a sign of running text may be written as; the treebank's most frequent one is taken.
_CONVENTION_SIGNS = {
    "(": ("(", "-LRB-"), ")": (")", "-RRB-"), "[": ("[", "-LSB-"), "]": ("]", "-RSB-"),
    "{": ("{", "-LCB-"), "}": ("}", "-RCB-"), "…": ("...", "…"), "–": ("–", "--", "-"), "—": ("—", "--", "-"),
    "“": ('"', "“", "``"), "”": ('"', "”", "''"), "‘": ("'", "‘", "`"), "’": ("'", "’"),
}  # fmt: skip
_OPENING, _CLOSING = ('"', "“", "``"), ('"', "”", "''")
_HYPHENATED = re.compile(r"\w[\w'’.]*(?:-\w[\w'’.]*)+")
_SLASHED = re.compile(r"[^\W\d_]\w*(?:\\?/[^\W\d_]\w*)+")


@dataclass(frozen=True)
class Conventions:
    """One treebank's habits. The defaults are those of English Universal Dependencies.

    Attributes:
        hyphens: hyphenated words are divided at the hyphen.
        prefixes: first parts, lower-cased, that do otherwise than `hyphens` says.
        slashes: words are divided at a slash.
        escape: a slash inside a token is written with a backslash.
        quotes: opening and closing double quotation mark.
        signs: how other signs are written.
        whole: forms that stay one token although the rules divide them.
    """

    hyphens: bool = True
    prefixes: frozenset[str] = frozenset(_PREFIXES)
    slashes: bool = True
    escape: bool = False
    quotes: tuple[str, str] = ('"', '"')
    signs: dict[str, str] = field(default_factory=lambda: {"…": "...", "’": "'", "‘": "'"})
    whole: frozenset[str] = frozenset(_ABBREVIATIONS)

    def join(self, parts: Sequence[str]) -> list[str]:
        """Parts of a word (w, -, w, /, w …) put together again where the treebank does not divide it."""
        tokens = [parts[0]]
        for mark, part in zip(parts[1::2], parts[2::2], strict=True):
            hyphens = self.hyphens != (tokens[-1].lower() in self.prefixes)
            if hyphens if mark == "-" else self.slashes:
                tokens += [mark, part]
            else:
                tokens[-1] += mark + part
        return tokens

    def write(self, tokens: Iterable[str]) -> list[str]:
        """Tokens with their quotation marks, brackets, dashes and apostrophes as in the treebank."""
        out: list[str] = []
        opened = False
        for token in tokens:
            if token in ('"', "``", "''", "“", "”"):
                opening = token in ("``", "“") or (token == '"' and not opened)
                opened = opening
                token = self.quotes[0] if opening else self.quotes[1]
            elif token in self.signs:
                token = self.signs[token]
            elif "’" in token and "’" in self.signs:
                token = token.replace("’", self.signs["’"])
            elif self.escape and "/" in token and "://" not in token:
                token = re.sub(r"(?<!\\)/", r"\\/", token)
            out.append(token)
        return out

    def as_json(self) -> dict:
        """Plain lists and strings, sorted."""
        content = asdict(self)
        return content | {"prefixes": sorted(self.prefixes), "whole": sorted(self.whole)}

    @classmethod
    def from_json(cls, content: dict) -> "Conventions":
        """The inverse of `as_json`; KeyError, TypeError or ValueError for anything else."""
        sets = {name: frozenset(content[name]) for name in ("prefixes", "whole")}
        return cls(**(content | sets | {"quotes": tuple(content["quotes"])}))


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
_DIVIDED = dict.fromkeys(("cannot", "gonna", "gotta", "wanna", "lemme", "gimme"), 3)
_DIVIDED |= dict.fromkeys(("'tis", "'twas", "y'all"), 2)
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
    text = _LOOSE_JOINER.sub("", normalize("NFC", text))
    marks = [
        mark for mark in text if category(mark) not in ("Cc", "Cf") or mark == "\u200d" or mark.isspace()
    ]
    return " ".join("".join("\ufffd" if category(mark) == "Cs" else mark for mark in marks).split())


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
        tokens += _split(chunk[:start], conventions)
        tokens += [chunk[start:stop]] if start < stop else []
        tokens += _split(chunk[stop:], conventions)
    return tokens


def _kept_core(chunk, conventions) -> tuple[int, int]:
    """Start and stop of the longest form between signs that the treebank keeps whole; (0, 0) without one."""
    if len(chunk) > _LONGEST:
        return 0, 0
    inner = [place for place, mark in enumerate(chunk) if mark.isalnum()]
    starts = range(inner[0] + 1 if inner else len(chunk))
    stops = range(len(chunk), inner[-1] if inner else 0, -1)
    spans = ((start, stop) for start in starts for stop in stops if start < stop)
    return next((span for span in spans if chunk[slice(*span)] in conventions.whole), (0, 0))


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
    tokens, starts = list(tokens), [0]
    for place in range(1, len(tokens)):
        if _ends(tokens, starts[-1], place) and _begins(tokens, starts[-1], place):
            starts.append(place)
    return [tokens[start:end] for start, end in pairwise([*starts, len(tokens)]) if start < end]


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


def find_conventions(sentences: Iterable[Sequence[str]]) -> Conventions:
    """Count a treebank's habits in the forms of its sentences."""
    forms, pairs = Counter(), Counter()
    for words in sentences:
        forms.update(words)
        pairs.update(pairwise(words))
    kept, divided = _hyphens(forms, pairs)
    hyphens = sum(divided.values()) >= sum(kept.values())
    seen = kept.keys() | divided.keys()
    prefixes = {part for part in seen if (divided[part] > kept[part]) != hyphens}
    if hyphens:
        prefixes |= set(_PREFIXES) - seen
    slashed = sum(count for form, count in forms.items() if _SLASHED.fullmatch(form))
    draft = Conventions(
        hyphens=hyphens,
        prefixes=frozenset(prefixes),
        slashes=forms["/"] >= slashed,
        escape=any("\\/" in form for form in forms),
        quotes=(_most(_OPENING, forms), _most(_CLOSING, forms)),
        signs=_signs(forms),
        whole=frozenset(),
    )
    return replace(draft, whole=_whole(forms, pairs, draft))


def _hyphens(forms, pairs) -> tuple[Counter, Counter]:
    """Tokens by their lower-cased first part: hyphenated in one, or before a hyphen of its own."""
    kept, divided = Counter(), Counter()
    for form, count in forms.items():
        if _HYPHENATED.fullmatch(form) and not form[0].isdigit():
            kept[form.split("-")[0].lower()] += count
    for (first, second), count in pairs.items():
        if second == "-" and first[-1:].isalpha():
            divided[first.lower()] += count
    return kept, divided


def _most(candidates, forms) -> str:
    """The most frequent candidate; the first where none occurs."""
    return max(candidates, key=lambda form: forms[form])


def _signs(forms) -> dict[str, str]:
    chosen = {}
    for sign, candidates in _CONVENTION_SIGNS.items():
        if sign in "–—":
            candidates = candidates[:2] if forms["--"] or forms[sign] else candidates
        chosen[sign] = _most(candidates, forms)
    if forms["-LRB-"] > forms["("]:
        chosen |= {sign: _CONVENTION_SIGNS[sign][1] for sign in "[]{}" if not forms[sign]}
    if forms["``"] > forms['"']:
        chosen["‘"] = "`"
    chosen |= {_CONVENTION_SIGNS[sign][1]: form for sign, form in chosen.items() if sign in "()[]{}"}
    return {sign: form for sign, form in chosen.items() if sign != form}


def _whole(forms, pairs, conventions) -> frozenset[str]:
    """Forms that occur more often in one piece than as the pieces that the rules make of them."""
    whole = set(_ABBREVIATIONS)
    for form, count in forms.items():
        pieces = [form] if form.isalnum() else tokenise(form, conventions)
        apart = min((pairs[pair] for pair in pairwise(pieces)), default=count)
        if len(pieces) > 1 and count > apart and count > 1:
            whole.add(form)
    return frozenset(whole)
