"""Semantic frames: what a sentence says, before it has words in an order.

Frames are immutable; a pair of sentences comes from a frame and a changed copy of it (`dataclasses.replace`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace

from bove.demo.lexicon import Synset, Word


@dataclass(frozen=True)
class Quality:
    """An adjective, with an optional degree adverb."""

    word: Word
    degree: str = ""


@dataclass(frozen=True)
class Thing:
    """A noun phrase: a noun with modifiers, a name, or a pronoun (given in its subject form)."""

    noun: Word | None = None
    plural: bool = False
    determiner: str = "the"
    qualities: tuple[Quality, ...] = ()
    numeral: str = ""
    owner: Thing | None = None
    adjuncts: tuple[Adjunct, ...] = ()
    relative: Clause | None = None
    name: tuple[tuple[str, str], ...] = ()  # (form, role): title, first, last, suffix
    appositive: Thing | None = None
    pronoun: str = ""
    other: Thing | None = None  # joined by `joiner`
    joiner: str = "and"

    @property
    def cls(self) -> str:
        """The noun's class; names are those of people or firms, pronouns those of people."""
        if self.noun is not None:
            return self.noun.synset.cls
        return "organisation" if self.name and self.name[-1][1] == "suffix" else "person"

    @property
    def company(self) -> tuple[Synset, ...]:
        """The noun's synset, as company for what is chosen next; nothing for names and pronouns."""
        return (self.noun.synset,) if self.noun is not None else ()

    @property
    def simple(self) -> Thing:
        """The noun phrase without what stands behind its noun, and without an owner."""
        determiner = self.determiner or ("the" if self.owner is not None else "")
        return replace(self, adjuncts=(), relative=None, appositive=None, owner=None, determiner=determiner)

    @property
    def counts_as_plural(self) -> bool:
        return (
            self.plural or (self.other is not None and self.joiner == "and") or self.pronoun in ("they", "we")
        )


@dataclass(frozen=True)
class Adjunct:
    """A prepositional phrase; `label` is its CoNLL-2009 relation, `role` its predicate argument role."""

    preposition: str
    thing: Thing
    label: str
    role: str = ""


@dataclass(frozen=True)
class Time:
    """When, as a kind and its words: day, date (month, number), month, year, word, span (last, week)."""

    parts: tuple[str, ...]


@dataclass(frozen=True)
class Clause:
    """A predicate with its roles and modifiers; no verb: copula and `state`; no subject: `there is`."""

    verb: Word | None
    subject: Thing | None
    object: Thing | None = None
    recipient: Thing | None = None
    double_object: bool = False
    tense: str = "past"  # past, present
    aspect: str = ""  # perfect, progressive
    modal: str = ""
    negated: bool = False
    passive: bool = False
    question: bool = False
    manner: Word | None = None
    manner_first: bool = False
    frequency: str = ""
    adjuncts: tuple[Adjunct, ...] = ()
    time: Time | None = None
    front: bool = False  # the time, or else the last adjunct, opens the sentence
    state: Quality | Thing | Adjunct | None = None
    than: Thing | None = None
    content: Clause | None = None  # what is said
    that: bool = True
    quoted: bool = False
    infinitive: Clause | None = None  # what is wanted or asked for; its subject is understood
    purpose: Clause | None = None  # "to buy bread"
    subordinate: tuple[str, Clause] | None = None  # (conjunction, clause)
    subordinate_first: bool = False
    coordinate: Clause | None = None  # "and" another clause; without a subject it shares this one's
    joiner: str = "and"
    change: tuple[str, ...] = ()  # per cent, from, to
    fragment: bool = False  # a caption without a finite verb

    @property
    def kind(self) -> str:
        """The verb's frame; `state` for the copula."""
        return self.verb.synset.cls if self.verb is not None else "state"


Frame = Thing | Clause


def rewrite(value, change: Callable):
    """A copy of a frame with `change` applied to every Word in it."""
    if isinstance(value, Word):
        return change(value)
    if isinstance(value, tuple):
        return tuple(rewrite(v, change) for v in value)
    if is_dataclass(value):
        now = {f.name: getattr(value, f.name) for f in fields(value)}
        new = {k: rewrite(v, change) for k, v in now.items() if isinstance(v, tuple) or is_dataclass(v)}
        return replace(value, **{k: v for k, v in new.items() if v is not now[k]})
    return value
