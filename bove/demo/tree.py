"""Dependency trees as they are built, and the sentences that they become.

A Node keeps its dependents on either side in the order in which they stand, so every tree is projective.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from bove.demo.lexicon import article


@dataclass(eq=False)
class Node:
    """A token under construction; `arguments` of a predicate are (node, role) pairs."""

    form: str
    lemma: str
    tag: str
    relation: str = "ROOT"
    left: list[Node] = field(default_factory=list)
    right: list[Node] = field(default_factory=list)
    sense: str = ""
    arguments: list[tuple[Node, str]] = field(default_factory=list)

    def before(self, *nodes: Node) -> Node:
        """Add dependents on the left, each nearer to the head than those already there."""
        self.left.extend(nodes)
        return self

    def after(self, *nodes: Node) -> Node:
        """Add dependents on the right, each farther away than those already there."""
        self.right.extend(nodes)
        return self

    def walk(self):
        """Yield the subtree's nodes in the order in which they stand."""
        for node in self.left:
            yield from node.walk()
        yield self
        for node in self.right:
            yield from node.walk()


@dataclass(frozen=True)
class Token:
    """A row of CoNLL-2009: `head` counts from 1, 0 is the root; `arguments` maps predicate rows to roles."""

    form: str
    lemma: str
    tag: str
    head: int
    relation: str
    sense: str
    arguments: tuple[tuple[int, str], ...]


def leaf(form: str, tag: str, relation: str, lemma: str = "") -> Node:
    """A node without dependents; the lemma is the form in lower case unless given."""
    return Node(form, lemma or (form if tag.startswith("NNP") else form.lower()), tag, relation)


def comma() -> Node:
    return leaf(",", ",", "P")


def finish(root: Node, capital: bool = True) -> tuple[Token, ...]:
    """Number the nodes: drop commas beside other punctuation, fit `a` and `an`, capitalise."""
    nodes = list(root.walk())
    for after in range(len(nodes) - 1, -1, -1):
        last = after + 1 >= len(nodes)
        if nodes[after].form == "," and (after == 0 or last or nodes[after + 1].form in {",", ".", "?"}):
            del nodes[after]
    row = {id(node): i for i, node in enumerate(nodes, 1)}
    heads = {id(child): row[id(node)] for node in nodes for child in node.left + node.right}
    roles: dict[int, list] = {}
    for node in nodes:
        for argument, role in node.arguments:
            roles.setdefault(id(argument), []).append((row[id(node)], role))
    forms = [
        article(nodes[i + 1].form) if node.tag == "DT" and node.lemma == "a" else node.form
        for i, node in enumerate(nodes)
    ]
    if capital:
        first = next(i for i, form in enumerate(forms) if form[0].isalnum())
        forms[first] = forms[first][0].upper() + forms[first][1:]
    return tuple(
        Token(form, n.lemma, n.tag, heads.get(id(n), 0), n.relation, n.sense, tuple(roles.get(id(n), ())))
        for form, n in zip(forms, nodes, strict=True)
    )


def detokenise(tokens: tuple[Token, ...]) -> str:
    """Natural text: punctuation, clitics and quotation marks attached."""
    forms = [token.form for token in tokens]
    if len(forms) > 1 and forms[-1] == "." and forms[-2].endswith("."):
        forms.pop()  # an abbreviation's full stop also ends the sentence
    text = " ".join(forms)
    text = re.sub(r"`` ", '"', text)
    text = re.sub(r" ''", '"', text)
    text = re.sub(r" ([,.?;:%]|'s|n't|')(?= |$|\")", r"\1", text)
    return re.sub(r"\$ ", "$", text)


def binary_parse(tokens: tuple[Token, ...]) -> str:
    """Binary bracketing: each head takes its right dependents, nearest first, then its left ones."""
    children: dict[int, list[int]] = {}
    for i, token in enumerate(tokens, 1):
        children.setdefault(token.head, []).append(i)

    def fold(i: int) -> str:
        text = tokens[i - 1].form
        below = children.get(i, [])
        for j in (j for j in below if j > i):
            text = f"( {text} {fold(j)} )"
        for j in (j for j in reversed(below) if j < i):
            text = f"( {fold(j)} {text} )"
        return text

    return fold(children[0][0])
