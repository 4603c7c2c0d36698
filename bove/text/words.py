r"""What a word form is by its characters, and the forms under which it is looked up.

A number has Unicode digits or fractions with . , : / - between or after them, a sign or a currency before
them, and after them an ending s, st, nd, rd, th, a per cent sign or a currency. Numbers are 1,000.5 · 3/4 ·
1\/2 · ½ · 10:30 · 2004-11-17 · 1990s · '90s · 21st · 2.5% · $5; none are 10-year, 5pm, two.

Punctuation has no character but Unicode punctuation (P*), mathematical signs (Sm) and modifier signs (Sk), or
is a Penn Treebank bracket such as -LRB-. The single signs % ‰ & # @ § are words all the same, as are
currencies, emoji and other symbols. Punctuation is '' · `` · … · :-) · =; none are $ · % · U.S. · ©.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from unicodedata import category

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
    """NUMBER, PUNCTUATION or None, as this module describes."""
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


VARIANTS = {"exact": lambda form: form, "lower": str.lower, "capitalised": str.capitalize}
LOOKUP = tuple(VARIANTS)


def form_variants(form: str, lookup: Iterable[str]) -> list[str]:
    """The forms under which a word is looked up, in order, none twice."""
    return list(dict.fromkeys(VARIANTS[name](form) for name in lookup))
