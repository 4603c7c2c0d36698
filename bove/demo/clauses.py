"""From frames to trees: clauses, their verb chains and modifiers."""

from __future__ import annotations

import re

from bove.demo.frames import Adjunct, Clause, Quality, Thing
from bove.demo.lexicon import verb_form
from bove.demo.phrases import adjective, amount, noun_phrase, prepositional, time_tree
from bove.demo.tree import Node, Token, comma, finish, leaf

BE = {"VBZ": "is", "VBP": "are", "VB": "be", "VBN": "been", "VBG": "being"}
SUBORDINATE_LABELS = {"because": "PRP", "after": "TMP", "before": "TMP", "while": "TMP", "when": "TMP",
                      "although": "ADV", "if": "ADV"}  # fmt: skip


def sentence(frame: Thing | Clause, stop: bool = True) -> tuple[Token, ...]:
    """The tokens of a frame; `stop` adds final punctuation; a bare noun phrase keeps its lower case."""
    if isinstance(frame, Thing):
        root = noun_phrase(frame, "ROOT")
    elif frame.fragment:
        root = _caption(frame)
    else:
        root = clause_tree(frame, "ROOT")
    if stop:
        root.after(leaf("?" if getattr(frame, "question", False) else ".", ".", "P"))
    return finish(root, capital=stop or isinstance(frame, Clause))


def _caption(clause: Clause) -> Node:
    """`A man playing a guitar in the park`: the participle is an APPO of the noun, which is its A0."""
    head = noun_phrase(clause.subject, "ROOT", "subject")
    main = _main_verb(clause, "VBG", head)
    _complements(clause, main, None)
    _closing(clause, main)
    main.relation = "APPO"
    return head.after(main)


def clause_tree(
    clause: Clause,
    relation: str,
    form: str = "finite",
    subject: Node | None = None,
    agrees_with: Thing | None = None,
    extracted: Node | None = None,
    antecedent: Node | None = None,
) -> Node:
    """The tree of a clause, headed by its finite verb.

    Args:
        form: finite, or VB for the bare infinitive (then no subject is made).
        subject, agrees_with: a given subject node and what the verb agrees with (relative pronouns).
        extracted: the relative pronoun that is the object.
        antecedent: the noun that a relative clause describes, for the predicate's arguments.
    """
    actor = clause.object if clause.passive else clause.subject
    given = subject is not None
    if clause.subject is None and clause.state is not None and not given and form == "finite":
        subject, agrees_with = leaf("there", "EX", "SBJ"), clause.state
    elif not given and actor is not None and form == "finite":
        subject, agrees_with = noun_phrase(actor, "SBJ", "subject"), actor
    top, main = _verb_chain(clause, agrees_with, form)
    top.relation = relation
    if subject is not None:
        if clause.question:
            top.right.insert(0, subject)
        else:
            top.left.insert(0, subject)
    if main.sense:
        doer = antecedent if given else subject
        role = "A1" if clause.passive or clause.verb.synset.cls == "change" else "A0"
        if doer is not None:
            main.arguments.insert(0, (doer, role))
        if given:
            main.arguments.append((subject, f"R-{role}"))
    if extracted is not None:
        top.left.insert(0, extracted)
        main.arguments += [(antecedent, "A1"), (extracted, "R-A1")]
    _complements(clause, main, extracted)
    _closing(clause, main)
    _periphery(clause, top, main, agrees_with)
    return top


def _verb_chain(clause: Clause, agrees_with: Thing | None, form: str) -> tuple[Node, Node]:
    """The finite verb and the main verb (one node where there is no auxiliary), linked by VC."""
    shapes = []  # what each verb asks of the next
    if form == "finite" and clause.modal:
        shapes.append(("modal", "VB"))
    if clause.aspect == "perfect":
        shapes.append(("have", "VBN"))
    if clause.aspect == "progressive":
        shapes.append(("be", "VBG"))
    if clause.passive:
        shapes.append(("be", "VBN"))
    copula = clause.verb is None
    if form == "finite" and (clause.negated or clause.question) and not shapes and not copula:
        shapes.append(("do", "VB"))
    tag = form if form != "finite" else _finite_tag(clause, agrees_with)
    chain = []
    for lemma, following in shapes:
        chain.append(_auxiliary(lemma, tag, clause, agrees_with))
        tag = following
    main = _auxiliary("be", tag, clause, agrees_with) if copula else _main_verb(clause, tag, None)
    chain.append(main)
    top = chain[0]
    if clause.negated:
        top.after(_negation(top, main))
    if clause.frequency:
        adverb = leaf(clause.frequency, "RB", "TMP")
        top.after(adverb) if len(chain) > 1 or copula else top.before(adverb)
    if clause.manner is not None and clause.manner_first:
        adverb = leaf(clause.manner.lemma, "RB", "MNR")
        chain[-1].before(adverb)
        main.arguments.append((adverb, "AM-MNR"))
    for upper, lower in zip(chain, chain[1:], strict=False):
        lower.relation = "VC"
        upper.after(lower)
    if clause.modal and main.sense:
        main.arguments.append((top, "AM-MOD"))
    return top, main


def _finite_tag(clause: Clause, agrees_with: Thing | None) -> str:
    if clause.modal:
        return "MD"
    if clause.tense == "past":
        return "VBD"
    plural = agrees_with is not None and (agrees_with.counts_as_plural or agrees_with.pronoun in ("I", "you"))
    return "VBP" if plural else "VBZ"


def _auxiliary(lemma: str, tag: str, clause: Clause, agrees_with: Thing | None) -> Node:
    if lemma == "modal":
        return leaf(clause.modal, "MD", "VC")
    if lemma == "be":
        many = agrees_with is not None and (agrees_with.counts_as_plural or agrees_with.pronoun == "you")
        form = ("were" if many else "was") if tag == "VBD" else BE[tag]
    else:
        forms = {"have": ("have", "has", "had"), "do": ("do", "does", "did")}[lemma]
        form = forms[{"VBZ": 1, "VBD": 2}.get(tag, 0)]
    return leaf(form, tag, "VC", lemma)


def _main_verb(clause: Clause, tag: str, doer: Node | None) -> Node:
    lemma, _, particle = clause.verb.lemma.partition("+")
    node = leaf(verb_form(lemma, tag), tag, "VC", lemma)
    node.sense = f"{lemma}.01"
    if particle:
        node.after(leaf(particle, "RP", "PRT"))
    if doer is not None:
        node.arguments.append((doer, "A0"))
    return node


def _negation(top: Node, main: Node) -> Node:
    joined = {"can": "ca", "will": "wo", "may": "", "might": "", "am": ""}.get(top.form, top.form)
    node = leaf("n't" if joined else "not", "RB", "ADV", lemma="not")
    top.form = joined or top.form
    if main.sense:
        main.arguments.append((node, "AM-NEG"))
    return node


def _complements(clause: Clause, main: Node, extracted: Node | None) -> None:
    """Objects, by-agent, recipient, predicate complement, content, infinitive, amounts of change."""
    if clause.recipient is not None and clause.double_object:
        _argument(main, noun_phrase(clause.recipient, "OBJ"), "A2")
    if clause.object is not None and not clause.passive and extracted is None:
        role = "A2" if clause.infinitive is not None else "A1"
        _argument(main, noun_phrase(clause.object, "OBJ"), role)
    if clause.recipient is not None and not clause.double_object:
        _argument(main, prepositional(Adjunct("to", clause.recipient, "DTV")), "A2")
    if clause.passive and clause.subject is not None:
        _argument(main, prepositional(Adjunct("by", clause.subject, "LGS")), "A0")
    if clause.state is not None:
        main.after(_predicate(clause))
    if clause.content is not None and not clause.quoted:
        inner = clause_tree(clause.content, "SUB" if clause.that else "OBJ")
        _argument(main, leaf("that", "IN", "OBJ").after(inner) if clause.that else inner, "A1")
    if clause.infinitive is not None:
        _argument(main, _to_infinitive(clause.infinitive, "OPRD"), "A1")
    for text, relation, role in zip(clause.change, ("EXT", "from", "to"), ("A2", "A3", "A4"), strict=False):
        if not text:
            continue
        if relation == "EXT":
            _argument(main, amount(text, "EXT"), role)
        else:
            node = leaf(relation, "TO" if relation == "to" else "IN", "DIR").after(amount(text, "PMOD"))
            _argument(main, node, role)


def _argument(main: Node, node: Node, role: str) -> None:
    main.after(node)
    if main.sense and role:
        main.arguments.append((node, role))


def _predicate(clause: Clause) -> Node:
    if isinstance(clause.state, Thing):
        return noun_phrase(clause.state, "PRD")
    if isinstance(clause.state, Adjunct):
        return prepositional(clause.state, "PRD")
    if clause.than is None:
        return adjective(clause.state, "PRD")
    lemma = clause.state.word.lemma
    syllables = len(re.findall("[aeiouy]+", lemma.removesuffix("e")))
    short = syllables == 1 or (syllables == 2 and lemma.endswith("y"))
    node = (
        comparative(clause.state) if short else leaf(lemma, "JJ", "PRD").before(leaf("more", "RBR", "AMOD"))
    )
    return node.after(leaf("than", "IN", "AMOD").after(noun_phrase(clause.than, "PMOD")))


def comparative(quality: Quality) -> Node:
    """`taller`, as a predicate."""
    lemma = quality.word.lemma
    if lemma in {"big", "sad", "fat", "thin", "hot"}:
        form = lemma + lemma[-1] + "er"
    elif lemma.endswith("y"):
        form = lemma[:-1] + "ier"
    else:
        form = lemma + ("r" if lemma.endswith("e") else "er")
    return leaf(form, "JJR", "PRD", lemma)


def _to_infinitive(clause: Clause, label: str) -> Node:
    return leaf("to", "TO", label).after(clause_tree(clause, "IM", form="VB"))


def _closing(clause: Clause, main: Node) -> None:
    """Adverbs, prepositional phrases, time and purpose after the complements."""
    if clause.manner is not None and not clause.manner_first:
        _argument(main, leaf(clause.manner.lemma, "RB", "MNR"), "AM-MNR")
    adjuncts = clause.adjuncts
    if clause.front and clause.time is None:
        adjuncts = adjuncts[:-1]
    for adjunct in adjuncts:
        _argument(main, prepositional(adjunct), adjunct.role)
    if clause.time is not None and not clause.front:
        _argument(main, time_tree(clause.time), "AM-TMP")
    if clause.purpose is not None:
        _argument(main, _to_infinitive(clause.purpose, "PRP"), "AM-PNC")


def _periphery(clause: Clause, top: Node, main: Node, agrees_with: Thing | None) -> None:
    """What stands outside the core: a fronted phrase, quotation, subordinate and coordinate clauses."""
    if clause.front and (clause.time is not None or clause.adjuncts):
        timed = clause.time is not None
        node = time_tree(clause.time) if timed else prepositional(clause.adjuncts[-1])
        role = "AM-TMP" if timed else clause.adjuncts[-1].role
        top.left[:0] = [node, comma()]
        if main.sense and role:
            main.arguments.append((node, role))
    if clause.content is not None and clause.quoted:
        inner = clause_tree(clause.content, "OBJ")
        top.left[:0] = [leaf("``", "``", "P"), inner, comma(), leaf("''", "''", "P")]
        if main.sense:
            main.arguments.append((inner, "A1"))
    if clause.subordinate is not None:
        word, inner = clause.subordinate
        label = SUBORDINATE_LABELS[word]
        if word == "when":
            node = clause_tree(inner, label)
            node.left.insert(0, leaf("when", "WRB", "TMP"))
        else:
            node = leaf(word, "IN", label).after(clause_tree(inner, "SUB"))
        if clause.subordinate_first:
            top.left[:0] = [node, comma()]
        else:
            top.after(node)
    if clause.coordinate is not None:
        inner = clause_tree(clause.coordinate, "CONJ", agrees_with=agrees_with)
        joint = leaf(clause.joiner, "CC", "COORD").after(inner)
        separate = [comma()] if clause.coordinate.subject is not None or clause.joiner == "but" else []
        top.after(*separate, joint)
