"""Changes to frames that take modifiers or clauses away, or add modifiers."""

from __future__ import annotations

from dataclasses import replace

from bove.demo.changes import ROLES
from bove.demo.frames import Clause, Frame, Thing
from bove.demo.sampler import Sampler


def _fewer(s: Sampler, thing: Thing) -> Thing | None:
    options = []
    for i in range(len(thing.qualities)):
        options.append({"qualities": thing.qualities[:i] + thing.qualities[i + 1 :]})
    for name, empty in (("adjuncts", ()), ("relative", None), ("appositive", None)):
        if getattr(thing, name):
            options.append({name: empty})
    return replace(thing, **s.rng.choice(options)) if options else None


def drop(s: Sampler, frame: Frame) -> Frame | None:
    """One modifier fewer."""
    if isinstance(frame, Thing):
        if frame.relative is not None and s.chance(0.7):
            inner = drop(s, frame.relative)
            return replace(frame, relative=inner) if inner is not None else None
        bare = _fewer(s, replace(frame, relative=None))
        return replace(bare, relative=frame.relative) if bare is not None else None
    things = {name: getattr(frame, name) for name in (*ROLES, "state")}
    fewer = {name: _fewer(s, thing) for name, thing in things.items() if isinstance(thing, Thing)}
    options = [{name: thing} for name, thing in fewer.items() if thing is not None]
    if frame.adjuncts and frame.kind != "motion":
        options.append({"adjuncts": frame.adjuncts[:-1], "front": frame.front and frame.time is not None})
    if frame.time is not None:
        options.append({"time": None, "front": False})
    for name, empty in (("manner", None), ("purpose", None), ("frequency", "")):
        if getattr(frame, name):
            options.append({name: empty})
    return replace(frame, **s.rng.choice(options)) if options else None


def part(s: Sampler, frame: Frame) -> Frame | None:
    """One clause, or one of two participants, fewer."""
    if not isinstance(frame, Clause):
        return None
    options = [{name: None} for name in ("subordinate", "coordinate") if getattr(frame, name)]
    if frame.subject is not None and frame.subject.other is not None and frame.subject.joiner == "and":
        options.append({"subject": replace(frame.subject, other=None)})
    return replace(frame, **s.rng.choice(options)) if options else None


def add(s: Sampler, frame: Frame) -> Frame | None:
    """One modifier more."""
    if isinstance(frame, Thing):
        if frame.relative is not None and frame.relative.object is not None and s.chance(0.7):
            inner = add(s, frame.relative)
            return replace(frame, relative=inner) if inner is not None else None
        more = s.described(frame)
        return more if more != frame and len(more.qualities) < 3 else None
    options = [more for name in ROLES for more in _described(s, frame, name)]
    if frame.verb is not None and frame.kind not in ("say", "want", "ask", "change"):
        options += _circumstances(s, frame)
    return replace(frame, **s.rng.choice(options)) if options else None


def _described(s: Sampler, frame: Clause, name: str) -> list[dict]:
    thing = getattr(frame, name)
    if thing is None or thing.noun is None or len(thing.qualities) > 1:
        return []
    options = [{name: s.described(thing)}]
    if thing.cls == "person" and not thing.adjuncts and not thing.relative:
        options.append({name: replace(thing, adjuncts=(s.worn(thing),))})
    return options


def _circumstances(s: Sampler, frame: Clause) -> list[dict]:
    """A place, a manner, a time or a purpose, where the clause has none."""
    options = []
    company = frame.subject.company if frame.subject is not None else ()
    placed = frame.kind == "motion" or any(a.label == "LOC" for a in frame.adjuncts)
    if not placed and not frame.front:
        options.append({"adjuncts": (*frame.adjuncts, s.place(*company, role="AM-LOC"))})
    if frame.manner is None:
        options.append({"manner": s.manner(frame)})
    if frame.subject is None:
        return options
    if frame.tense == "past" and not (frame.aspect or frame.modal or frame.time):
        options.append({"time": s.when(), "front": False})
    closed = frame.passive or frame.fragment or frame.purpose or frame.subordinate or frame.coordinate
    if frame.kind in ("trans", "motion") and frame.subject.cls == "person" and not closed:
        options.append({"purpose": s.deed("person")})
    return options
