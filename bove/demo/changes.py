"""Changes to frames, from which pairs of sentences are made.

Every change is a function of a sampler and a frame; it returns the changed frame, or None where the frame
gives no room for it. None of them looks at word vectors or at a score.
"""

from __future__ import annotations

from dataclasses import replace

from bove.demo import nouns
from bove.demo.frames import Clause, Frame, Quality, Thing, rewrite
from bove.demo.lexicon import Word, choose, lexicon
from bove.demo.sampler import Sampler
from bove.demo.things import noun_pool, verb_pool

ROLES = ("subject", "object", "recipient")


def synonyms(s: Sampler, frame: Frame, share: float = 0.7) -> Frame | None:
    """Other lemmas of the same synsets."""

    def other(word: Word) -> Word:
        count = len(word.synset.lemmas)
        if count == 1 or not s.chance(share):
            return word
        return Word(word.synset, (word.variant + 1) % count)

    changed = rewrite(frame, other)
    return changed if changed != frame else None


def voice(s: Sampler, frame: Frame) -> Frame | None:
    """Active to passive, passive to active."""
    if not isinstance(frame, Clause) or frame.kind != "trans" or frame.fragment or frame.purpose:
        return None
    if frame.subject is None or frame.subject.pronoun or (frame.coordinate and not frame.coordinate.subject):
        return None
    return replace(frame, passive=not frame.passive)


def order(s: Sampler, frame: Frame) -> Frame | None:
    """The same content in another order: dative, fronted adverbial, fronted clause, manner adverb."""
    if not isinstance(frame, Clause):
        return None
    options = []
    if frame.recipient is not None:
        options.append({"double_object": not frame.double_object})
    if (
        (frame.time or (frame.adjuncts and frame.kind != "motion"))
        and not frame.fragment
        and not frame.question
    ):
        options.append({"front": not frame.front})
    if frame.subordinate is not None:
        options.append({"subordinate_first": not frame.subordinate_first})
    if frame.manner is not None and not frame.fragment:
        options.append({"manner_first": not frame.manner_first})
    return replace(frame, **s.rng.choice(options)) if options else None


def fragment(s: Sampler, frame: Frame) -> Frame | None:
    """A caption with or without its auxiliary."""
    if not isinstance(frame, Clause) or frame.verb is None or frame.passive or frame.tense != "present":
        return None
    if frame.fragment:
        return replace(frame, fragment=False, aspect="progressive")
    plain = frame.aspect == "progressive" and not frame.negated and not frame.front and not frame.coordinate
    return replace(frame, fragment=True, aspect="", manner_first=False) if plain else None


def _things(frame: Frame) -> list[str]:
    return [n for n in ROLES if isinstance(frame, Clause) and getattr(frame, n) and getattr(frame, n).noun]


def hypernym(s: Sampler, frame: Frame) -> Frame | None:
    """One noun becomes the word for its class."""
    if isinstance(frame, Thing):
        if s.chance(0.5) and frame.relative is not None:
            inner = hypernym(s, frame.relative)
            return replace(frame, relative=inner) if inner is not None else None
        return _general(frame)
    names = [n for n in _things(frame) if _general(getattr(frame, n))]
    if not names:
        return None
    name = s.rng.choice(names)
    return replace(frame, **{name: _general(getattr(frame, name))})


def _general(thing: Thing) -> Thing | None:
    word = nouns.HYPERNYMS.get(thing.cls, "")
    if thing.noun is None or not word or thing.noun.lemma == word:
        return None
    synset = next(n for n in lexicon().select(thing.cls) if n.lemmas[0] == word)
    if synset.mass != thing.noun.synset.mass:
        return None
    return replace(thing, noun=Word(synset))


def _exchange(s: Sampler, thing: Thing, *company) -> Thing | None:
    """The thing with another noun of its class, its modifiers kept; None for a word of a whole class."""
    synset = thing.noun.synset
    if synset.topic == "any":
        return None
    fitting = (n for n in noun_pool((thing.cls,)) if n.mass == synset.mass)
    fitting = tuple(n for n in fitting if n is not synset and n.topic != "any")
    return replace(thing, noun=s.word(choose(s.rng, fitting, *company))) if fitting else None


def argument(s: Sampler, frame: Frame) -> Frame | None:
    """Another noun in one role."""
    if isinstance(frame, Thing):
        if frame.relative is not None and s.chance(0.6):
            inner = argument(s, frame.relative)
            return replace(frame, relative=inner) if inner is not None else None
        return _exchange(s, frame)
    names = _things(frame)
    if not names:
        return None
    name = s.rng.choice(names)
    company = (frame.verb.synset,) if frame.verb else ()
    other = _exchange(s, getattr(frame, name), *company)
    return replace(frame, **{name: other}) if other is not None else None


def event(s: Sampler, frame: Frame) -> Frame | None:
    """Another verb that may take the same arguments, neither its antonym nor its synonym."""
    if isinstance(frame, Thing):
        inner = event(s, replace(frame.relative, subject=frame)) if frame.relative is not None else None
        return replace(frame, relative=replace(inner, subject=None)) if inner is not None else None
    if frame.kind not in ("trans", "intrans", "motion") or frame.subject is None:
        return None
    style = (
        "caption"
        if frame.tense == "present" and (frame.aspect == "progressive" or frame.fragment)
        else "plain"
    )
    object_ = frame.object.cls if frame.object is not None else ""
    old = frame.verb.synset
    fitting = [v for v in verb_pool(frame.kind, style, frame.subject.cls, object_) if v is not old]
    fitting = tuple(v for v in fitting if v.lemmas[0] != old.antonym and v.lemmas[0] != "return")
    return replace(frame, verb=s.word(choose(s.rng, fitting, *frame.subject.company))) if fitting else None


def antonym(s: Sampler, frame: Frame) -> Frame | None:
    """The opposite verb, adjective or adverb."""
    if isinstance(frame, Thing):
        if frame.qualities and s.chance(0.5):
            return _opposed_quality(s, frame)
        inner = antonym(s, frame.relative) if frame.relative is not None else None
        return replace(frame, relative=inner) if inner is not None else None
    options = []
    for name in ("verb", "manner"):
        word = getattr(frame, name)
        opposite = lexicon().antonym(word.synset) if word is not None else None
        if (
            opposite is not None
            and opposite.cls == word.synset.cls
            and (name == "manner" or not frame.change or not any(frame.change[1:]))
        ):
            options.append({name: s.word(opposite)})
    for name in _things(frame):
        changed = _opposed_quality(s, getattr(frame, name))
        if changed is not None:
            options.append({name: changed})
    if isinstance(frame.state, Quality) and frame.than is None and lexicon().antonym(frame.state.word.synset):
        opposite = lexicon().antonym(frame.state.word.synset)
        options.append({"state": replace(frame.state, word=s.word(opposite))})
    return replace(frame, **s.rng.choice(options)) if options else None


def _opposed_quality(s: Sampler, thing: Thing) -> Thing | None:
    opposites = [lexicon().antonym(q.word.synset) for q in thing.qualities]
    places = [i for i, o in enumerate(opposites) if o is not None]
    if not places:
        return None
    i = s.rng.choice(places)
    changed = replace(thing.qualities[i], word=s.word(opposites[i]), degree="")
    return replace(thing, qualities=(*thing.qualities[:i], changed, *thing.qualities[i + 1 :]))


def negate(s: Sampler, frame: Frame) -> Frame | None:
    """Affirmed to denied, or back."""
    if not isinstance(frame, Clause) or frame.fragment or frame.question or frame.frequency:
        return None
    return replace(frame, negated=not frame.negated)


def tense(s: Sampler, frame: Frame) -> Frame | None:
    """Another tense, aspect or modal verb: other function words, the same structure."""
    if not isinstance(frame, Clause) or frame.time or frame.question or frame.fragment or frame.verb is None:
        return None
    if frame.coordinate or frame.subordinate:
        return None
    options = [
        {"tense": "past"},
        {"aspect": "perfect", "tense": "past"},
        {"modal": "will"},
        {"tense": "present"},
    ]
    changed = replace(frame, modal="", aspect="", tense="past")
    changed = replace(changed, **s.rng.choice(options))
    return changed if changed != frame else None


def figures(s: Sampler, frame: Frame) -> Frame | None:
    """Other amounts, another numeral or another time."""
    if not isinstance(frame, Clause):
        return None
    if frame.change:
        new = replace(s.clause("news", "change"), subject=frame.subject, verb=frame.verb).change
        new = tuple(b if a and b else a for a, b in zip(frame.change, new, strict=True))
        if new[1:] == frame.change[1:] and new != frame.change:
            return replace(frame, change=new)
        return replace(frame, change=(new[0], *frame.change[1:])) if new[0] != frame.change[0] else None
    if frame.time is not None:
        new = s.when()
        return replace(frame, time=new) if new != frame.time else None
    return None
