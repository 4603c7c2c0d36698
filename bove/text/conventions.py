"""How a treebank writes its tokens: which words it divides, and which signs it uses.

A parser knows the forms of its treebank alone, so text must be divided and written as there. Nothing is
assumed of the treebank: every choice is the more frequent one among its own tokens.
"""

# ruff: noqa: SIM905 long word lists read better unquoted

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise

# Abbreviations that keep their stop, for treebanks too small to show them.
_ABBREVIATIONS = (
    "Mr. Mrs. Ms. Dr. Prof. Rev. Gen. Sen. Rep. Gov. Lt. Col. Maj. Sgt. Capt. St. Ft. Mt. Jr. Sr. "
    "Inc. Corp. Co. Ltd. Bros. vs. v. etc. Jan. Feb. Mar. Apr. Aug. Sept. Sep. Oct. Nov. Dec. Ave. "
    "Blvd. approx. dept. ca. cf. al. Ph.D. e.g. i.e. a.m. p.m. U.S. U.K. U.N. D.C. No. Nos. Vol. "
    "Fig. Adm. Pres. Reps. Sens. Calif. Mass. Fla."
).split()
_PREFIXES = ("e", "co", "non", "pre", "post", "re", "anti", "multi", "semi", "ex", "un", "mid", "pro")

# What a sign of running text may be written as; the treebank's most frequent one is taken.
_SIGNS = {
    "(": ("(", "-LRB-"),
    ")": (")", "-RRB-"),
    "[": ("[", "-LSB-"),
    "]": ("]", "-RSB-"),
    "{": ("{", "-LCB-"),
    "}": ("}", "-RCB-"),
    "…": ("...", "…"),
    "–": ("–", "--", "-"),
    "—": ("—", "--", "-"),
    "“": ('"', "“", "``"),
    "”": ('"', "”", "''"),
    "‘": ("'", "‘", "`"),
    "’": ("'", "’"),
}
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
        found = cls(**(content | sets | {"quotes": tuple(content["quotes"])}))
        texts = [*found.prefixes, *found.whole, *found.quotes, *found.signs, *found.signs.values()]
        switches = (found.hyphens, found.slashes, found.escape)
        if not all(isinstance(text, str) for text in texts) or len(found.quotes) != 2:
            raise ValueError("its signs are no texts")
        if not all(isinstance(switch, bool) for switch in switches):
            raise ValueError("its switches are neither true nor false")
        return found


def find_conventions(
    sentences: Iterable[Sequence[str]], tokenise: Callable[[str, Conventions], list[str]]
) -> Conventions:
    """Count a treebank's habits.

    Args:
        sentences: the forms of each sentence.
        tokenise: `bove.text.tokens.tokenise`, which says what the rules would do to a form.
    """
    forms: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
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
    whole = _whole(forms, pairs, lambda form: tokenise(form, draft))
    return Conventions(**(draft.__dict__ | {"whole": whole}))


def _hyphens(forms, pairs) -> tuple[Counter, Counter]:
    """Tokens by their lower-cased first part: hyphenated in one, or before a hyphen of its own."""
    kept: Counter[str] = Counter()
    divided: Counter[str] = Counter()
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
    for sign, candidates in _SIGNS.items():
        if sign in "–—":
            candidates = candidates[:2] if forms["--"] or forms[sign] else candidates
        chosen[sign] = _most(candidates, forms)
    if forms["-LRB-"] > forms["("]:
        chosen |= {sign: _SIGNS[sign][1] for sign in "[]{}" if not forms[sign]}
    if forms["``"] > forms['"']:
        chosen["‘"] = "`"
    chosen |= {_SIGNS[sign][1]: form for sign, form in chosen.items() if sign in "()[]{}"}
    return {sign: form for sign, form in chosen.items() if sign != form}


def _whole(forms, pairs, divide) -> frozenset[str]:
    """Forms that occur more often in one piece than as the pieces that the rules make of them."""
    whole = set(_ABBREVIATIONS)
    for form, count in forms.items():
        pieces = divide(form) if any(not mark.isalnum() for mark in form) else [form]
        apart = min((pairs[pair] for pair in pairwise(pieces)), default=count)
        if len(pieces) > 1 and count > apart and count > 1:
            whole.add(form)
    return frozenset(whole)
