"""Random noun phrases under selection restrictions."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

from bove.demo import nouns, verbs
from bove.demo.frames import Adjunct, Clause, Quality, Thing, Time
from bove.demo.lexicon import Synset, Word, choose, lexicon

DETERMINERS = {  # singular, then plural and mass
    "plain": ({"the": 56, "a": 34, "this": 3, "his": 2, "her": 2}, {"the": 5, "": 3, "some": 2}),
    "caption": ({"the": 2, "a": 9}, {"the": 2, "": 5, "some": 3}),
}
NAMED = {"news": 0.35, "plain": 0.08, "caption": 0.0}
OWNED = ("tool", "vehicle", "clothes", "instrument", "document", "furniture")


@cache
def noun_pool(selectors: tuple[str, ...]) -> tuple[Synset, ...]:
    """The nouns of any of the classes."""
    return tuple(dict.fromkeys(n for s in selectors for n in lexicon().select(s)))


@cache
def adjective_pool(noun: Synset) -> tuple[Synset, ...]:
    """The adjectives that may describe a noun."""
    return tuple(a for a in lexicon().adjectives if noun.cls in a.selects[0])


@cache
def verb_pool(frame: str, style: str = "plain", subject: str = "", object_: str = "") -> tuple[Synset, ...]:
    """The verbs of a frame that may take the classes.

    For news, those that an organisation may do; for captions, those that can be seen going on.
    """
    found = (v for v in lexicon().verbs if v.cls == frame)
    if style == "news" and frame in ("trans", "say", "want"):
        found = (v for v in found if "organisation" in v.selects[0])
    if style == "caption":
        found = (v for v in found if v.lemmas[0] not in verbs.STATIVE and "event" not in v.selects[1])
    fitting = (v for v in found if not subject or subject in v.selects[0])
    return tuple(v for v in fitting if not object_ or object_ in v.selects[1])


class ThingSampler:
    """Draws noun phrases, places and times; every choice comes from `rng`, so a seed fixes them all."""

    def __init__(self, rng: random.Random):
        self.rng = rng

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def weighted(self, weights: dict[str, float]) -> str:
        return self.rng.choices(tuple(weights), tuple(weights.values()))[0]

    def word(self, synset: Synset) -> Word:
        """One of the synset's lemmas, each as likely."""
        return Word(synset, self.rng.randrange(len(synset.lemmas)))

    def thing(
        self, selectors: tuple[str, ...], *company: Synset, style: str = "plain", rich: float = 1.0
    ) -> Thing:
        """A noun phrase of the classes that suits the company; `rich` scales the chance of modifiers."""
        synset = choose(self.rng, noun_pool(selectors), *company)
        if synset.cls == "person" and self.chance(NAMED[style]):
            return self.person(synset)
        if synset.cls == "organisation" and self.chance(NAMED[style]):
            suffix = self.rng.choice(nouns.FIRM_SUFFIXES)
            return Thing(name=((self.rng.choice(nouns.FIRMS), "last"), (suffix, "suffix")))
        many = not synset.mass and self.chance(0.2)
        determiner = self.weighted(DETERMINERS.get(style, DETERMINERS["plain"])[many or synset.mass])
        thing = Thing(self.word(synset), many, determiner)
        for probability in (0.42, 0.06):
            if self.chance(rich * probability):
                thing = self.described(thing)
        if many and determiner in ("the", "") and self.chance(0.25):
            thing = replace(thing, numeral=self.rng.choice(nouns.NUMERALS))
        return self.attached(thing, style) if self.chance(0.12 * rich) else thing

    def person(self, synset: Synset | None = None) -> Thing:
        """A person's name, with a title or a first name; at times with an apposition of the synset."""
        sex = self.rng.choice(("male", "female"))
        first = (self.rng.choice(nouns.MALE if sex == "male" else nouns.FEMALE), "first")
        last = (self.rng.choice(nouns.SURNAMES), "last")
        name = self.rng.choice(
            (((self.rng.choice(nouns.TITLES[sex]), "title"), last), (first, last), (first,))
        )
        appositive = Thing(self.word(synset), determiner="a") if synset and self.chance(0.2) else None
        return Thing(name=name, appositive=appositive)

    def described(self, thing: Thing) -> Thing:
        """The thing with one more adjective, or itself where none goes with it."""
        if thing.noun is None:
            return thing
        used = {q.word.synset.lemmas[0] for q in thing.qualities} | {
            q.word.synset.antonym for q in thing.qualities
        }
        if used & verbs.COLOURS:
            used |= verbs.COLOURS
        fitting = tuple(a for a in adjective_pool(thing.noun.synset) if a.lemmas[0] not in used)
        if not fitting:
            return thing
        synset = choose(self.rng, fitting, thing.noun.synset)
        gradable = synset.lemmas[0] not in verbs.UNGRADABLE
        degree = self.rng.choice(verbs.DEGREES) if gradable and self.chance(0.1) else ""
        return replace(thing, qualities=(*thing.qualities, Quality(self.word(synset), degree)))

    def attached(self, thing: Thing, style: str) -> Thing:
        """The thing with a prepositional phrase, an owner or a relative clause, as suits its class."""
        cls, company = thing.cls, thing.company
        if cls == "person" and self.chance(0.45):
            return replace(thing, adjuncts=(self.worn(thing),))
        if cls in ("person", "animal") and style != "caption" and self.chance(0.6):
            return replace(thing, relative=self.relative(thing))
        if cls == "money":
            owner = self.thing(("organisation",), *company, style=style, rich=0.3)
            return replace(thing, adjuncts=(Adjunct("of", owner, "NMOD"),), determiner="the")
        if cls in ("document", "abstract", "event") and self.chance(0.6):
            about = self.thing(("abstract", "event", "animal", "vehicle"), *company, rich=0.2)
            return replace(thing, adjuncts=(Adjunct("about" if cls == "document" else "on", about, "NMOD"),))
        if cls in OWNED and self.chance(0.5):
            return replace(thing, owner=self.thing(("person",), *company, rich=0.3).simple, determiner="")
        return replace(thing, adjuncts=(self.place(*company, label="LOC"),))

    def worn(self, thing: Thing) -> Adjunct:
        """`in a red coat`, `with a hat`."""
        preposition = self.rng.choice(tuple(nouns.WORN))
        clothes = self.thing(tuple(nouns.WORN[preposition]), *thing.company, style="caption", rich=0.8).simple
        return Adjunct(preposition, replace(clothes, plural=False, numeral="", determiner="a"), "NMOD")

    def relative(self, thing: Thing) -> Clause:
        """A short clause about the thing, as its subject or its object."""
        if self.chance(0.7):
            verb = choose(self.rng, verb_pool("trans", subject=thing.cls), *thing.company)
            return Clause(self.word(verb), None, self.thing(verb.selects[1], verb, rich=0.3))
        verb = choose(self.rng, verb_pool("trans", object_=thing.cls), *thing.company)
        return Clause(self.word(verb), self.thing(verb.selects[0], verb, rich=0.3))

    def place(self, *company: Synset, label: str = "LOC", role: str = "") -> Adjunct:
        """Where: a preposition and a place that it suits, at times a city."""
        if label == "LOC" and self.chance(0.12):
            *first, last = self.rng.choice(nouns.CITIES)
            return Adjunct("in", Thing(name=(*((f, "first") for f in first), (last, "last"))), label, role)
        place = self.thing(("place",), *company, rich=0.45).simple
        determiner = "the" if self.chance(0.8) else "a"
        place = replace(place, plural=False, numeral="", determiner=determiner)
        usual = nouns.PLACE_PREPOSITIONS.get("/".join(place.noun.synset.lemmas), "in")
        return Adjunct("near" if self.chance(0.12) else usual, place, label, role)

    def instrument(self, verb: Synset) -> Adjunct:
        """`with the hammer`, as suits the verb."""
        tool = self.thing((verb.instrument,), verb, rich=0.4).simple
        tool = replace(tool, plural=False, numeral="", determiner=self.rng.choice(("a", "the")))
        return Adjunct("with", tool, "MNR", "AM-MNR")

    def when(self) -> Time:
        """A past time."""
        kind = self.weighted({"word": 4, "span": 4, "day": 5, "date": 3, "month": 2, "year": 2})
        if kind == "word":
            return Time(("word", self.rng.choice(("yesterday", "recently"))))
        if kind == "span":
            return Time(
                ("span", "last", self.rng.choice(("week", "month", "year", "night", "summer", "winter")))
            )
        if kind == "day":
            return Time(("day", self.rng.choice(nouns.DAYS)))
        if kind == "year":
            return Time(("year", str(self.rng.randint(1975, 2012))))
        month = self.rng.choice(nouns.MONTHS)
        return Time(("date", month, str(self.rng.randint(1, 28))) if kind == "date" else ("month", month))
