"""Changes that keep a frame's content words and bind them otherwise: who did it, what modifies what."""

from __future__ import annotations

from dataclasses import replace

from bove.demo.frames import Clause, Frame, Quality, Thing
from bove.demo.sampler import Sampler


def _fits(thing: Thing | None, classes: tuple[str, ...]) -> bool:
    return thing is not None and not thing.pronoun and thing.cls in classes


def roles(s: Sampler, frame: Frame) -> Frame | None:
    """Two participants change places: `the dog chased the man`, `the man chased the dog`."""
    if isinstance(frame, Thing):
        return _gloss_roles(frame)
    subject, object_, verb = frame.subject, frame.object, frame.verb
    if frame.purpose or (frame.coordinate and frame.coordinate.subject is None):
        return None
    if frame.kind == "trans" and not any(a.label == "MNR" for a in frame.adjuncts):
        selects = verb.synset.selects
        if _fits(subject, selects[1]) and _fits(object_, selects[0]) and _differ(subject, object_):
            return replace(frame, subject=object_, object=subject)
    if frame.kind == "ditrans" and _fits(subject, ("person",)) and _differ(subject, frame.recipient):
        return replace(frame, subject=frame.recipient, recipient=subject)
    if frame.kind == "ask" and _fits(subject, ("person",)) and _differ(subject, object_):
        return replace(frame, subject=object_, object=subject)
    if frame.than is not None and _differ(subject, frame.than):
        return replace(frame, subject=frame.than, than=subject)
    return None


def _differ(one: Thing, other: Thing) -> bool:
    return one.company != other.company or one.name != other.name


def _gloss_roles(thing: Thing) -> Thing | None:
    """`a nurse who helps the cook` becomes `a cook who helps the nurse`, or `a nurse whom the cook helps`."""
    clause = thing.relative
    if clause is None or clause.object is None or clause.subject is not None:
        return None
    selects = clause.verb.synset.selects
    if (
        thing.cls not in selects[1]
        or not _fits(clause.object, selects[0])
        or not _differ(thing, clause.object)
    ):
        return None
    if any(a.label == "MNR" for a in clause.adjuncts):
        return None
    return replace(thing, relative=replace(clause, subject=clause.object, object=None))


def speakers(s: Sampler, frame: Frame) -> Frame | None:
    """Who says it and whom it is said of change places."""
    if not isinstance(frame, Clause) or frame.content is None or frame.content.subject is None:
        return None
    inner = frame.content
    able = inner.verb.synset.selects[0] if inner.verb is not None else ()
    if inner.kind == "change" or not _fits(frame.subject, able) or not _differ(frame.subject, inner.subject):
        return None
    if not _fits(inner.subject, frame.verb.synset.selects[0]) or inner.purpose or inner.subject.appositive:
        return None
    return replace(frame, subject=inner.subject, content=replace(inner, subject=frame.subject))


def clauses(s: Sampler, frame: Frame) -> Frame | None:
    """The main and the subordinate clause change places; or two coordinate clauses their subjects."""
    if not isinstance(frame, Clause) or frame.front:
        return None
    if frame.subordinate is not None:
        word, inner = frame.subordinate
        if inner.subordinate or inner.coordinate or frame.coordinate or frame.purpose or frame.question:
            return None
        if (inner.verb and inner.verb.synset) is (frame.verb and frame.verb.synset):
            return None
        main = replace(frame, subordinate=None, subordinate_first=False)
        return replace(inner, subordinate=(word, main), subordinate_first=frame.subordinate_first)
    other = frame.coordinate
    if other is None or other.subject is None or other.verb is None or frame.verb is None:
        return None
    if frame.passive or other.passive or frame.kind != "trans" or not _differ(frame.subject, other.subject):
        return None
    able = _fits(frame.subject, other.verb.synset.selects[0])
    if not able or not _fits(other.subject, frame.verb.synset.selects[0]):
        return None
    return replace(frame, subject=other.subject, coordinate=replace(other, subject=frame.subject))


def bindings(s: Sampler, frame: Frame) -> Frame | None:
    """Two things exchange modifiers: `the old man saw the young dog`, `the young man saw the old dog`."""
    if isinstance(frame, Thing):
        if frame.relative is None or frame.relative.object is None:
            return None
        pair = _rebound(frame, frame.relative.object)
        return replace(pair[0], relative=replace(frame.relative, object=pair[1])) if pair else None
    names = [n for n in ("subject", "object", "recipient") if getattr(frame, n) is not None]
    couples = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    s.rng.shuffle(couples)
    for a, b in couples:
        pair = _rebound(getattr(frame, a), getattr(frame, b))
        if pair:
            return replace(frame, **{a: pair[0], b: pair[1]})
    if frame.content is not None:
        inner = bindings(s, frame.content)
        return replace(frame, content=inner) if inner is not None else None
    return None


def _rebound(one: Thing, other: Thing) -> tuple[Thing, Thing] | None:
    if one.noun is None or other.noun is None or one.other or other.other or not _differ(one, other):
        return None
    same = [q.word.synset for q in one.qualities] == [q.word.synset for q in other.qualities]
    if not same and _suit(one.qualities, other) and _suit(other.qualities, one):
        return replace(one, qualities=other.qualities), replace(other, qualities=one.qualities)
    worn = [a for a in one.adjuncts + other.adjuncts if a.label == "NMOD" and a.preposition in ("in", "with")]
    if len(worn) == 1 and one.cls == other.cls == "person" and not one.relative and not other.relative:
        return replace(one, adjuncts=other.adjuncts), replace(other, adjuncts=one.adjuncts)
    return None


def _suit(qualities: tuple[Quality, ...], thing: Thing) -> bool:
    return all(thing.cls in q.word.synset.selects[0] for q in qualities)


def attachment(s: Sampler, frame: Frame) -> Frame | None:
    """A prepositional phrase moves between a noun and the verb: `the man in the park saw the dog`."""
    if not isinstance(frame, Clause) or frame.kind not in ("trans", "ditrans") or frame.front:
        return None
    options = []
    outer = [a for a in frame.adjuncts if a.label == "LOC"]
    inner = replace(outer[-1], role="") if outer else None
    for name in ("subject", "object"):
        thing = getattr(frame, name)
        if thing is None or thing.noun is None or thing.relative or thing.other:
            continue
        where = [a for a in thing.adjuncts if a.label == "LOC"]
        if inner is not None and not thing.adjuncts and name == "subject":
            rest = tuple(a for a in frame.adjuncts if a is not outer[-1])
            options.append({name: replace(thing, adjuncts=(inner,)), "adjuncts": rest})
        elif where and inner is None and name == "subject":
            moved = (*frame.adjuncts, replace(where[0], role="AM-LOC"))
            options.append({name: replace(thing, adjuncts=()), "adjuncts": moved})
    return replace(frame, **s.rng.choice(options)) if options else None
