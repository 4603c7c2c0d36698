"""Random clauses under selection restrictions: plain, news and caption style; and glosses of nouns."""

from __future__ import annotations

from dataclasses import replace

from bove.demo import verbs
from bove.demo.frames import Clause, Thing
from bove.demo.lexicon import Word, choose, lexicon
from bove.demo.things import ThingSampler, noun_pool, verb_pool

KINDS = {
    "plain": {"trans": 54, "ditrans": 9, "intrans": 6, "motion": 9, "say": 7, "want": 5, "ask": 4, "state": 5,
              "exist": 3},
    "news": {"trans": 42, "ditrans": 3, "say": 22, "want": 7, "ask": 4, "change": 18, "state": 3},
    "caption": {"trans": 62, "ditrans": 6, "intrans": 10, "motion": 16, "exist": 6},
}  # fmt: skip
CONJUNCTIONS = ("because", "after", "before", "while", "when", "although", "if")
ACTIONS = ("trans", "ditrans", "intrans", "motion")


class Sampler(ThingSampler):
    """Draws clauses: first a verb, then the roles that it selects, then what surrounds them."""

    def clause(self, style: str = "plain", kind: str = "", depth: int = 0) -> Clause:
        """A clause of the style; `kind` fixes its verb's frame, `depth` above 0 keeps it simple."""
        kind = kind or self.weighted(KINDS[style])
        if depth and kind in ("say", "ask", "want"):
            kind = "trans"
        return self.decorated(getattr(self, f"_{kind}")(style), style, depth)

    def _trans(self, style: str) -> Clause:
        verb = choose(self.rng, verb_pool("trans", style))
        selects = tuple(c for c in verb.selects[0] if style != "news" or c != "animal")
        subject = self.thing(selects, verb, style=style)
        object_ = self.thing(verb.selects[1], verb, *subject.company, style=style)
        if style == "plain" and self.chance(0.06):
            subject = Thing(pronoun=self.rng.choice(("he", "she", "they", "I", "we")))
        able = verb.instrument and subject.cls == "person" and self.chance(0.4)
        return Clause(self.word(verb), subject, object_, adjuncts=(self.instrument(verb),) if able else ())

    def _ditrans(self, style: str) -> Clause:
        verb = choose(self.rng, verb_pool("ditrans"))
        subject = self.thing(("person",), verb, style=style)
        recipient = self.thing(("person",), verb, *subject.company, style=style, rich=0.6)
        object_ = self.thing(verb.selects[1], verb, *subject.company, rich=0.7)
        return Clause(self.word(verb), subject, object_, recipient, double_object=self.chance(0.5))

    def _intrans(self, style: str) -> Clause:
        verb = choose(self.rng, verb_pool("intrans", style))
        return Clause(self.word(verb), self.thing(verb.selects[0], verb, style=style))

    def _motion(self, style: str) -> Clause:
        verb = choose(self.rng, verb_pool("motion", style))
        subject = self.thing(verb.selects[0], verb, style=style)
        ways = ("to", "from") if verb.lemmas[0] == "return" else ("to", "toward", "across", "into", "from")
        goal = self.place(*subject.company, label="DIR", role="AM-DIR")
        return Clause(self.word(verb), subject, adjuncts=(replace(goal, preposition=self.rng.choice(ways)),))

    def _say(self, style: str) -> Clause:
        verb = choose(self.rng, verb_pool("say", style))
        quoted = verb.lemmas[0] == "say" and self.chance(0.3)
        selects = verb.selects[0] if style == "news" else ("person",)
        subject = replace(self.thing(selects, verb, style=style), appositive=None)
        content = replace(self.clause(style, depth=1), front=False)
        that = quoted or verb.lemmas[0] != "say" or self.chance(0.7)
        word = Word(verb) if quoted else self.word(verb)
        return Clause(word, subject, content=content, quoted=quoted, that=that)

    def _want(self, style: str) -> Clause:
        verb = choose(self.rng, verb_pool("want", style))
        subject = self.thing(verb.selects[0] if style == "news" else ("person",), verb, style=style)
        return Clause(self.word(verb), subject, infinitive=self.deed(subject.cls))

    def _ask(self, style: str) -> Clause:
        verb = choose(self.rng, verb_pool("ask"))
        subject = self.thing(("person",), verb, style=style)
        whom = self.thing(("person",), verb, style=style, rich=0.6).simple
        return Clause(self.word(verb), subject, whom, infinitive=self.deed("person"))

    def deed(self, cls: str) -> Clause:
        """What somebody of a class does, without saying who."""
        verb = choose(self.rng, verb_pool("trans", subject=cls))
        return Clause(self.word(verb), None, self.thing(verb.selects[1], verb, rich=0.6))

    def _state(self, style: str) -> Clause:
        thing = self.thing(("person", "animal", "vehicle", "place", "document"), style=style, rich=0)
        model = (
            thing if thing.noun is not None else Thing(self.word(choose(self.rng, noun_pool(("person",)))))
        )
        quality = self.described(model).qualities[0]
        gradable = quality.word.synset.lemmas[0] not in verbs.UNGRADABLE and not quality.degree
        than = None
        if thing.noun is not None and gradable and self.chance(0.3):
            than = self.thing((thing.cls,), *thing.company, rich=0.2).simple
        return Clause(None, thing, state=quality, than=than, tense=self.rng.choice(("past", "present")))

    def _exist(self, style: str) -> Clause:
        classes = ("person", "animal", "vehicle", "furniture", "food", "container")
        thing = self.thing(classes, style="caption").simple
        thing = replace(
            thing, determiner="some" if thing.plural or thing.noun.synset.mass else "a", numeral=""
        )
        where = self.place(*thing.company, role="AM-LOC")
        return Clause(None, None, state=thing, adjuncts=(where,), tense=self.rng.choice(("past", "present")))

    def _change(self, style: str) -> Clause:
        verb = choose(self.rng, verb_pool("change"))
        figure = self.attached(self.thing(("money",), verb, rich=0.5).simple, style)
        unit = self.rng.choice(("million", "billion"))
        ends = sorted(round(self.rng.uniform(1, 90), 1) for _ in range(2))
        before, after = ends if verb.lemmas[0] in ("rise", "surge") else reversed(ends)
        return Clause(
            self.word(verb),
            figure,
            change=(
                f"{self.rng.randint(1, 60)} %" if self.chance(0.8) else "",
                f"$ {before} {unit}" if self.chance(0.4) else "",
                f"$ {after} {unit}" if self.chance(0.6) else "",
            ),
        )

    def decorated(self, clause: Clause, style: str, depth: int = 0) -> Clause:
        """The clause with tense, voice, negation, adverbs, places, times and further clauses."""
        if style == "caption":
            return self._captioned(clause)
        clause = self._tensed(clause)
        clause = self._modified(clause)
        return self.extended(clause, style) if depth == 0 and clause.kind != "say" else clause

    def _tensed(self, clause: Clause) -> Clause:
        if clause.kind == "state":
            return replace(clause, negated=self.chance(0.05))
        continuous = clause.kind in ACTIONS and clause.verb.synset.lemmas[0] not in verbs.STATIVE
        aspect = self.weighted({"": 84, "perfect": 8, "progressive": 8 * continuous})
        tense, modal = "past", ""
        if self.chance(0.08):
            aspect, modal = "", self.rng.choice(verbs.MODALS)
        elif self.chance(0.12):
            tense = "present"
        passive = clause.kind == "trans" and not clause.subject.pronoun and aspect != "progressive"
        passive = passive and self.chance(0.16)
        negated = self.chance(0.05)
        return replace(clause, aspect=aspect, tense=tense, modal=modal, passive=passive, negated=negated)

    def _modified(self, clause: Clause) -> Clause:
        simple_past = clause.tense == "past" and not clause.modal and clause.aspect != "perfect"
        if clause.kind in ACTIONS:
            if self.chance(0.18):
                clause = replace(clause, manner=self.manner(clause), manner_first=self.chance(0.3))
            placed = clause.kind == "motion" or (clause.object is not None and clause.object.cls == "place")
            if not placed and self.chance(0.25):
                where = self.place(*clause.subject.company, role="AM-LOC")
                clause = replace(clause, adjuncts=(*clause.adjuncts, where))
        if simple_past and clause.kind != "state" and self.chance(0.22):
            return replace(clause, time=self.when(), front=not clause.quoted and self.chance(0.3))
        if clause.kind in ("trans", "motion", "intrans") and not clause.negated and self.chance(0.05):
            return replace(clause, frequency=self.rng.choice(verbs.FREQUENCIES))
        return clause

    def manner(self, clause: Clause) -> Word:
        """An adverb that suits the verb."""
        return self.word(choose(self.rng, tuple(lexicon().manners), clause.verb.synset))

    def extended(self, clause: Clause, style: str) -> Clause:
        """At times a subordinate or coordinate clause, a purpose, a question or a second subject."""
        personal = (
            clause.subject is not None and clause.subject.noun is not None and clause.subject.cls == "person"
        )
        active = personal and clause.verb is not None and not clause.passive and clause.infinitive is None
        draw = self.rng.random()
        if draw < 0.08:
            inner = self.clause(style, self.rng.choice(("trans", "motion", "intrans")), depth=1)
            inner = replace(inner, tense=clause.tense, modal="", aspect="", front=False)
            subordinate = (self.rng.choice(CONJUNCTIONS), inner)
            return replace(clause, subordinate=subordinate, subordinate_first=self.chance(0.4), front=False)
        if draw < 0.11:
            other = replace(self.clause(style, "trans", depth=1), front=False)
            return replace(clause, coordinate=other, joiner=self.rng.choice(("and", "but")))
        if draw < 0.14 and active and not (clause.modal or clause.aspect or clause.negated):
            return replace(clause, coordinate=replace(self.deed("person"), tense=clause.tense))
        if draw < 0.18 and active:
            return replace(clause, purpose=self.deed("person"), front=False)
        if draw < 0.21 and style == "plain" and clause.verb is not None:
            return replace(clause, question=True, front=False, negated=False)
        if draw < 0.28 and personal and clause.kind in ACTIONS:
            return replace(clause, subject=self.joined(clause.subject, self.rng.choice(("and", "and", "or"))))
        return clause

    def joined(self, thing: Thing, joiner: str = "and") -> Thing:
        """The thing and another of its class."""
        other = self.thing((thing.cls,), *thing.company, rich=0.3).simple
        if joiner == "and" and self.chance(0.15):
            other = replace(other, other=self.thing((thing.cls,), *thing.company, rich=0).simple)
        return replace(thing.simple, other=other, joiner=joiner)

    def _captioned(self, clause: Clause) -> Clause:
        if clause.verb is None:
            return replace(clause, tense="present")
        placed = clause.kind == "motion" or (clause.object is not None and clause.object.cls == "place")
        if not placed and self.chance(0.5):
            where = self.place(*clause.subject.company, role="AM-LOC")
            clause = replace(clause, adjuncts=(*clause.adjuncts, where))
        manner = self.manner(clause) if self.chance(0.12) else None
        fragment = self.chance(0.15)
        return replace(
            clause,
            tense="present",
            aspect="" if fragment else "progressive",
            manner=manner,
            fragment=fragment,
        )

    def gloss(self) -> Thing:
        """A noun phrase that defines somebody by what they do: `a person who treats sick animals`."""
        cls = self.weighted({"person": 6, "animal": 3, "organisation": 2})
        noun = choose(self.rng, noun_pool((cls,)))
        verb = choose(self.rng, verb_pool("trans", subject=cls), noun)
        object_ = self.thing(verb.selects[1], verb, noun, rich=0.8)
        object_ = object_.simple if object_.noun is not None else Thing(self.word(noun))
        clause = Clause(self.word(verb), None, object_, tense="present")
        if verb.instrument and cls == "person" and self.chance(0.5):
            clause = replace(clause, adjuncts=(self.instrument(verb),))
        elif self.chance(0.3):
            clause = replace(clause, adjuncts=(self.place(noun, role="AM-LOC"),))
        thing = Thing(self.word(noun), determiner="a", relative=clause)
        return self.described(thing) if self.chance(0.4) else thing
