"""From frames to trees: noun phrases, prepositional phrases, times and amounts."""

from __future__ import annotations

from bove.demo.frames import Adjunct, Quality, Thing, Time
from bove.demo.lexicon import plural
from bove.demo.tree import Node, comma, leaf

OBJECT_FORMS = {"he": "him", "she": "her", "they": "them", "I": "me", "we": "us", "it": "it", "you": "you"}
POSSESSIVES = {"his", "her", "their", "its", "my", "our"}
QUANTIFIERS = {"some", "any", "no", "every", "each", "this", "these", "another", "several", "many", "most"}


def noun_phrase(thing: Thing, relation: str, case: str = "object") -> Node:
    """The tree of a noun phrase; the head is its noun, last name or pronoun."""
    if thing.pronoun:
        form = OBJECT_FORMS[thing.pronoun] if case == "object" else thing.pronoun
        head = leaf(form, "NN" if len(thing.pronoun) > 4 else "PRP", relation, lemma=thing.pronoun.lower())
    elif thing.name:
        head = _name(thing, relation)
    else:
        head = _common(thing, relation)
    for adjunct in thing.adjuncts:
        head.after(prepositional(adjunct))
    if thing.appositive is not None:
        head.after(comma(), noun_phrase(thing.appositive, "APPO"), comma())
    if thing.relative is not None:
        head.after(relative_clause(thing, head))
    if thing.other is not None:
        _coordinate(head, thing)
    return head


def _coordinate(head: Node, thing: Thing) -> None:
    joiner, rest = leaf(thing.joiner, "CC", "COORD"), thing.other
    if rest.other is not None:  # a list: A , B and C hangs as a chain of conjuncts
        middle = noun_phrase(rest, "COORD")
        head.after(comma(), middle)
        return
    head.after(joiner.after(noun_phrase(rest, "CONJ")))


def _name(thing: Thing, relation: str) -> Node:
    (*before, (form, role)) = thing.name
    if role == "suffix":
        head = leaf(form, "NNP", relation)
        return head.before(*(leaf(f, "NNP", "NAME") for f, _ in before))
    head = leaf(form, "NNP", relation)
    return head.before(*(leaf(f, "NNP", "TITLE" if r == "title" else "NAME") for f, r in before))


def _common(thing: Thing, relation: str) -> Node:
    lemma = thing.noun.lemma
    many = thing.plural and not thing.noun.synset.mass
    head = leaf(plural(lemma) if many else lemma, "NNS" if many else "NN", relation, lemma)
    if thing.owner is not None:
        owner = noun_phrase(thing.owner, "NMOD")
        clitic = "'" if owner.tag == "NNS" and owner.form.endswith("s") else "'s"
        head.before(owner.after(leaf(clitic, "POS", "SUFFIX", lemma="'s")))
    elif thing.determiner:
        head.before(_determiner(thing.determiner))
    if thing.numeral:
        head.before(leaf(thing.numeral, "CD", "NMOD"))
    for quality in thing.qualities:
        head.before(adjective(quality, "NMOD"))
    return head


def _determiner(form: str) -> Node:
    tag = "PRP$" if form in POSSESSIVES else "JJ" if form in {"several", "many"} else "DT"
    return leaf(form, tag, "NMOD", lemma={"these": "this"}.get(form, form))


def adjective(quality: Quality, relation: str) -> Node:
    """An adjective, its degree adverb an AMOD on the left."""
    node = leaf(quality.word.lemma, "JJ", relation)
    return node.before(leaf(quality.degree, "RB", "AMOD")) if quality.degree else node


def relative_clause(thing: Thing, antecedent: Node) -> Node:
    """`who chased …` (the antecedent is the subject) or `that the dog chased` (its object)."""
    from bove.demo.clauses import clause_tree

    clause = thing.relative
    animate = thing.noun is None or thing.noun.synset.cls == "person"
    if clause.subject is None:
        pronoun = leaf("who", "WP", "SBJ") if animate else leaf("that", "WDT", "SBJ")
        return clause_tree(clause, "NMOD", subject=pronoun, agrees_with=thing, antecedent=antecedent)
    pronoun = leaf("whom", "WP", "OBJ") if animate else leaf("that", "WDT", "OBJ")
    return clause_tree(clause, "NMOD", extracted=pronoun, antecedent=antecedent)


def prepositional(adjunct: Adjunct, label: str = "") -> Node:
    """A preposition over its PMOD."""
    tag = "TO" if adjunct.preposition == "to" else "IN"
    node = leaf(adjunct.preposition, tag, label or adjunct.label)
    return node.after(noun_phrase(adjunct.thing, "PMOD"))


def time_tree(time: Time) -> Node:
    """A time expression, labelled TMP."""
    kind, *parts = time.parts
    if kind == "word":
        return leaf(parts[0], "NN" if parts[0] in {"yesterday", "today"} else "RB", "TMP")
    if kind == "span":
        tag = "DT" if parts[0] == "this" else "JJ"
        return leaf(parts[1], "NN", "TMP").before(leaf(parts[0], tag, "NMOD"))
    if kind == "year":
        return leaf("in", "IN", "TMP").after(leaf(parts[0], "CD", "PMOD"))
    head = leaf(parts[0], "NNP", "PMOD")
    if kind == "date":
        head.after(leaf(parts[1], "CD", "NMOD"))
    return leaf("in" if kind == "month" else "on", "IN", "TMP").after(head)


def amount(text: str, relation: str) -> Node:
    """`5 %` or `$ 3.2 million`; the sign is the head."""
    parts = text.split()
    if parts[-1] == "%":
        return leaf("%", "NN", relation).before(leaf(parts[0], "CD", "NMOD"))
    return leaf("$", "$", relation).after(*(leaf(part, "CD", "DEP") for part in parts[1:]))
