"""Pairs of sentences with a similarity or an entailment label that follows from how they were made.

Similarity, from 5 (the same) to 0 (nothing shared), before a seeded jitter of a few tenths:

    same 5.0 · synonyms, fragment (caption with or without its auxiliary) 4.8 · order 4.7 · voice 4.6 ·
    tense 4.0 · drop, add (a modifier) 3.8 · hypernym 3.7 · figures 3.4 · attachment (of a phrase) 3.2 ·
    part (a clause dropped) 3.0 · argument (a noun replaced) 2.6 · bindings (modifiers exchanged),
    antonym 2.4 · clauses (exchanged), negate, event (verb replaced) 2.2 · speakers (exchanged) 1.8 ·
    roles (exchanged), rewritten (verb and noun replaced) 1.6 · topic (a participant shared) 0.9 ·
    unrelated 0.2

Synonyms on top of another change cost 0.1. Entailment: what is dropped, generalised or said otherwise
follows; what is added may or may not hold; other participants or events, opposites and exchanged roles
contradict.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from bove.demo import changes, modifiers, swaps
from bove.demo.clauses import sentence
from bove.demo.frames import Adjunct, Clause, Frame, Thing
from bove.demo.sampler import Sampler
from bove.demo.tree import Token, detokenise

GOLD = {
    "same": 5.0, "synonyms": 4.8, "fragment": 4.8, "order": 4.7, "voice": 4.6, "tense": 4.0, "drop": 3.8,
    "add": 3.8, "hypernym": 3.7, "figures": 3.4, "attachment": 3.2, "part": 3.0, "argument": 2.6,
    "bindings": 2.4, "antonym": 2.4, "clauses": 2.2, "negate": 2.2, "event": 2.2, "speakers": 1.8,
    "roles": 1.6, "rewritten": 1.6, "topic": 0.9, "unrelated": 0.2,
}  # fmt: skip
CHANGES = {
    change.__name__: change
    for change in (
        *(changes.synonyms, changes.fragment, changes.order, changes.voice, changes.tense, changes.hypernym),
        *(changes.figures, changes.argument, changes.antonym, changes.negate, changes.event),
        *(modifiers.drop, modifiers.part, modifiers.add),
        *(swaps.attachment, swaps.bindings, swaps.clauses, swaps.speakers, swaps.roles),
    )
}
# how often each set uses each recipe
SETS = {
    "paraphrase": {
        "same": 2, "synonyms": 14, "order": 8, "voice": 7, "tense": 6, "hypernym": 6, "argument": 8,
        "event": 8, "roles": 10, "rewritten": 8, "topic": 8, "unrelated": 8,
    },
    "roles": {
        "same": 3, "synonyms": 14, "order": 6, "voice": 6, "drop": 6, "argument": 6, "bindings": 10,
        "clauses": 10, "speakers": 12, "roles": 20, "topic": 6, "unrelated": 4,
    },
    "news": {
        "same": 2, "part": 4, "synonyms": 14, "tense": 6, "drop": 10, "figures": 10, "voice": 4,
        "antonym": 6, "argument": 8, "speakers": 10, "roles": 10, "rewritten": 6, "topic": 8,
        "unrelated": 6,
    },
    "captions": {
        "same": 2, "synonyms": 14, "fragment": 8, "drop": 8, "add": 8, "hypernym": 8, "argument": 8,
        "event": 8, "roles": 16, "bindings": 6, "topic": 8, "unrelated": 8,
    },
    "modifiers": {
        "synonyms": 12, "part": 4, "drop": 14, "add": 14, "bindings": 18, "attachment": 8, "antonym": 8,
        "negate": 4, "argument": 6, "roles": 8, "topic": 6, "unrelated": 6,
    },
    "definitions": {
        "synonyms": 16, "drop": 10, "add": 8, "hypernym": 10, "argument": 10, "event": 8, "roles": 14,
        "bindings": 6, "antonym": 6, "topic": 8, "unrelated": 8,
    },
}  # fmt: skip
KINDS = {"speakers": ("say",), "roles": ("trans", "ditrans", "ask"), "figures": ("change", "trans")}
ENTAILMENT = {
    "entailment": {
        "drop": 5, "drop drop": 4, "part": 2, "hypernym": 3, "drop hypernym": 3, "synonyms": 3,
        "drop synonyms": 3, "voice": 2, "drop voice": 2, "fragment": 1, "drop fragment": 2, "exists": 2,
    },
    "neutral": {
        "add": 6, "drop add": 6, "add add": 3, "bindings": 3, "attachment": 2, "synonyms add": 2,
    },
    "contradiction": {
        "roles": 5, "drop roles": 3, "argument": 3, "drop argument": 2, "event": 3, "drop event": 2,
        "antonym": 3, "negate": 2,
    },
}  # fmt: skip
TRIES = 1000


@dataclass(frozen=True)
class Example:
    """A pair as it was made: the recipe, both token sequences, and the label (0 to 5, or SNLI's)."""

    recipe: str
    first: tuple[Token, ...]
    second: tuple[Token, ...]
    label: float | str

    @property
    def differs(self) -> bool:
        """The two texts are not the same."""
        return self.texts[0] != self.texts[1]

    @property
    def texts(self) -> tuple[str, str]:
        return detokenise(self.first), detokenise(self.second)


def similarity_set(name: str, seed: int, size: int) -> list[Example]:
    """The pairs of one set, drawn from its recipes."""
    rng = random.Random(f"{seed}:sts:{name}")
    s = Sampler(rng)
    out = []
    while len(out) < size:
        recipe = s.weighted(SETS[name])
        first, second, label = _similar(s, name, recipe)
        if s.chance(0.5):
            first, second = second, first
        stop = name != "definitions"
        example = Example(recipe, sentence(first, stop), sentence(second, stop), label)
        if recipe == "same" or example.differs:
            out.append(example)
    return out


def base(s: Sampler, name: str, recipe: str = "") -> Frame:
    """A first sentence for a set; in `roles` each gives room for an exchange, whatever is made of it."""
    if name == "definitions":
        return s.gloss()
    style = {"news": "news", "captions": "caption"}.get(name, "plain")
    kinds = KINDS.get(recipe, ())
    for _ in range(TRIES):
        clause = s.clause(style, s.rng.choice(kinds) if kinds else "")
        if clause.question or (clause.subject is not None and clause.subject.pronoun):
            continue
        if name != "roles" or any(swap(s, clause) for swap in (swaps.roles, swaps.speakers, swaps.clauses)):
            return clause
    raise RuntimeError(f"no sentence for {name} in {TRIES} tries")


def _similar(s: Sampler, name: str, recipe: str) -> tuple[Frame, Frame, float]:
    for _ in range(TRIES):
        first = base(s, name, recipe)
        second = _made(s, name, recipe, first)
        if second is None or (second == first) != (recipe == "same"):
            continue
        label = GOLD[recipe]
        if recipe not in ("same", "synonyms", "topic", "unrelated") and s.chance(0.3):
            again = changes.synonyms(s, second, 0.5)
            second, label = (again, label - 0.1) if again is not None else (second, label)
        return first, second, round(min(5.0, max(0.0, s.rng.gauss(label, 0.2))), 1)
    raise RuntimeError(f"no {recipe} pair for {name} in {TRIES} tries")


def _made(s: Sampler, name: str, recipe: str, first: Frame) -> Frame | None:
    if recipe == "same":
        return first
    if recipe == "unrelated":
        return base(s, name)
    if recipe == "topic":
        return _topical(s, name, first)
    if recipe == "rewritten":
        other = changes.event(s, first)
        return changes.argument(s, other) if other is not None else None
    return CHANGES[recipe](s, first)


def _topical(s: Sampler, name: str, first: Frame) -> Frame | None:
    """Another sentence about one of the first one's participants."""
    other = base(s, name)
    if isinstance(first, Thing):
        return replace(other, noun=first.noun) if other.cls == first.cls else None
    if first.subject is None or other.subject is None or other.verb is None:
        return None
    return (
        replace(other, subject=first.subject) if first.subject.cls in other.verb.synset.selects[0] else None
    )


def entailment_set(part: str, seed: int, premises: int) -> list[Example]:
    """For every premise three hypotheses: entailment, neutral, contradiction.

    The recipes are drawn first, then a premise that gives room for all three: so the shares are those of the
    table, and no kind of premise goes with a label.
    """
    s = Sampler(random.Random(f"{seed}:snli:{part}"))
    out: list[Example] = []
    while len(out) < 3 * premises:
        recipes = {label: s.weighted(ENTAILMENT[label]) for label in ENTAILMENT}
        for _ in range(TRIES):
            premise = _premise(s)
            made = _hypotheses(s, premise, recipes)
            if made:
                out += made
                break
    return out


def _premise(s: Sampler) -> Clause:
    """A caption, or at times a plain sentence, about a visible event with some detail."""
    while True:
        clause = s.clause(*(("caption", "") if s.chance(0.75) else ("plain", "trans")))
        if clause.question or clause.negated or clause.modal:
            continue
        if clause.subject is not None and not clause.subject.pronoun and len(sentence(clause)) >= 7:
            return clause


def _hypotheses(s: Sampler, premise: Clause, recipes: dict[str, str]) -> list[Example]:
    """One example a label, or nothing where the premise gives no room for a recipe."""
    frames = {}
    for label in reversed(recipes):
        frame: Frame | None = premise
        for step in recipes[label].split():
            frame = exists(s, frame) if step == "exists" else CHANGES[step](s, frame)
            if frame is None:
                return []
        again = changes.synonyms(s, frame, 0.5) if s.chance(0.25) else None
        frames[label] = again or frame
    first = sentence(premise)
    made = [Example(recipe, first, sentence(frames[label]), label) for label, recipe in recipes.items()]
    return made if all(example.differs for example in made) else []


def exists(s: Sampler, clause: Clause) -> Clause | None:
    """`There is a dog in the park`: that the subject is there."""
    thing = clause.subject
    if thing.noun is None or thing.relative or thing.other or thing.owner or clause.tense != "present":
        return None
    where = tuple(a for a in clause.adjuncts if a.label == "LOC")
    determiner = "some" if thing.plural or thing.noun.synset.mass else "a"
    inner: tuple[Adjunct, ...] = thing.adjuncts if not where else ()
    state = replace(thing, determiner="" if thing.numeral else determiner, adjuncts=inner)
    return Clause(None, None, state=state, adjuncts=where, tense="present")
