"""Synsets with their classes, inflection, and the company that each one keeps.

Every two synsets have a fixed affinity (`affinity`), a function of their names alone; the sampler chooses the
arguments of a verb, and the modifiers of a noun, with weights in proportion. So each synset has its own
distribution in the corpus, its lemmas share it, and word vectors can learn both classes and near-synonyms.
"""

import random
import zlib
from dataclasses import dataclass, field
from functools import cache
from operator import mul

from bove.demo import nouns, verbs

VOWELS = "aeiou"


@dataclass(frozen=True, eq=False)
class Synset:
    """Lemmas that stand for each other; `selects` holds the verb's subject and object classes."""

    lemmas: tuple[str, ...]
    kind: str
    cls: str
    topic: str = ""
    mass: bool = False
    selects: tuple[tuple[str, ...], ...] = ()
    instrument: str = ""
    antonym: str = ""

    @property
    def name(self) -> str:
        return f"{self.kind}:{'/'.join(self.lemmas)}"


@dataclass(frozen=True)
class Word:
    """One lemma of a synset."""

    synset: Synset
    variant: int = 0

    @property
    def lemma(self) -> str:
        return self.synset.lemmas[self.variant]


@dataclass
class Lexicon:
    """All synsets by kind, in the order of the tables."""

    nouns: list[Synset] = field(default_factory=list)
    verbs: list[Synset] = field(default_factory=list)
    adjectives: list[Synset] = field(default_factory=list)
    manners: list[Synset] = field(default_factory=list)

    def select(self, selector: str) -> tuple[Synset, ...]:
        """Nouns of a class, of a `class:topic`, or the one whose first lemma it is."""
        cls, _, topic = selector.partition(":")
        found = tuple(n for n in self.nouns if n.cls == cls and topic in ("", n.topic))
        return found or tuple(n for n in self.nouns if n.lemmas[0] == selector)

    def antonym(self, synset: Synset) -> Synset | None:
        """The synset of the same kind whose first lemma is named as the antonym."""
        pool = {"verb": self.verbs, "adjective": self.adjectives, "manner": self.manners}.get(synset.kind, [])
        same = [s for s in pool if s.lemmas[0] == synset.antonym]
        return next((s for s in same if s.cls == synset.cls), same[0] if same else None)


def _noun_synsets() -> list[Synset]:
    out = []
    for line in nouns.NOUNS.strip().split("\n"):
        head, _, entries = line.partition(": ")
        cls, topic = head.split()
        for entry in entries.split(", "):
            lemmas = tuple(entry.removeprefix("~").split("/"))
            out.append(Synset(lemmas, "noun", cls, topic, mass=entry.startswith("~")))
    return out


def _verb_synsets() -> list[Synset]:
    out = []
    for line in verbs.VERBS.strip().split("\n"):
        frame, _, rest = line.partition(": ")
        lemmas, subject, objects, options = (part.strip() for part in rest.split("|"))
        chosen = dict(o.split("=") for o in options.split())
        selects = (tuple(subject.split()), tuple(objects.split()))
        out.append(
            Synset(
                tuple(lemmas.split("/")),
                "verb",
                frame,
                selects=selects,
                instrument=chosen.get("by", ""),
                antonym=chosen.get("anti", ""),
            )
        )
    return out


def _opposed(table: str, kind: str) -> list[Synset]:
    out = []
    for line in table.strip().split("\n"):
        left, _, right = (part.strip() for part in line.partition("<>"))
        left, _, classes = left.partition(": ")
        one, other = tuple(left.split("/")), tuple(right.split("/"))
        selects = (tuple(classes.split()),)
        out.append(Synset(one, kind, classes, selects=selects, antonym=other[0]))
        if right:
            out.append(Synset(other, kind, classes, selects=selects, antonym=one[0]))
    return out


@cache
def lexicon() -> Lexicon:
    """The lexicon, built once."""
    return Lexicon(
        _noun_synsets(),
        _verb_synsets(),
        _opposed(verbs.ADJECTIVES, "adjective"),
        _opposed(verbs.MANNERS, "manner"),
    )


def affinity(one: Synset, other: Synset) -> float:
    """How gladly two synsets keep company: 0.1, 1 or 5 by a hash of their names, times 5 within a topic."""
    weight = (0.1, 0.1, 1.0, 5.0)[zlib.crc32(f"{one.name} {other.name}".encode()) % 4]
    return weight * (5.0 if one.topic and one.topic == other.topic else 1.0)


@cache
def _weights(pool: tuple[Synset, ...], friend: Synset) -> tuple[float, ...]:
    return tuple(affinity(friend, s) for s in pool)


def choose(rng: random.Random, pool: tuple[Synset, ...], *company: Synset) -> Synset:
    """Draw a synset of the pool in proportion to its affinity with each of the company."""
    if not company:
        return rng.choice(pool)
    weights = _weights(pool, company[0])
    for friend in company[1:]:
        weights = list(map(mul, weights, _weights(pool, friend)))
    return rng.choices(pool, weights)[0]


def plural(lemma: str) -> str:
    """The plural of a noun."""
    if lemma in nouns.IRREGULAR_PLURALS:
        return nouns.IRREGULAR_PLURALS[lemma]
    return _with_s(lemma)


def _with_s(lemma: str) -> str:
    if lemma.endswith(("s", "x", "z", "ch", "sh")):
        return lemma + "es"
    if lemma.endswith("y") and lemma[-2] not in VOWELS:
        return lemma[:-1] + "ies"
    return lemma + "s"


def verb_form(lemma: str, tag: str) -> str:
    """The form of a verb for a PTB tag: VB, VBP, VBZ, VBD, VBN or VBG."""
    if tag in ("VB", "VBP"):
        return lemma
    if tag == "VBZ":
        return _with_s(lemma)
    if tag == "VBG":
        return _stem(lemma, "ing") + "ing"
    if lemma in verbs.IRREGULAR_VERBS:
        return verbs.IRREGULAR_VERBS[lemma].split()[tag == "VBN"]
    return _stem(lemma, "ed") + "ed"


def _stem(lemma: str, ending: str) -> str:
    if lemma in verbs.DOUBLING:
        return lemma + lemma[-1]
    if lemma.endswith("e") and not lemma.endswith("ee"):
        return lemma[:-1]
    if ending == "ed" and lemma.endswith("y") and lemma[-2] not in VOWELS:
        return lemma[:-1] + "i"
    return lemma


def article(following: str) -> str:
    """`a` or `an` before a form."""
    word = following.lower()
    silent = word.startswith(("hon", "8"))
    spoken = word.startswith(("uni", "use", "eu", "one"))
    vowel = silent or (word[0] in VOWELS and not spoken)
    return "an" if vowel else "a"
