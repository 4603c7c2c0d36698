"""What the alignment scores are made of: every cosine of two bags, and each vector's best partner.

    SNLI(S1, S2) is the mean of `sides[1].cosines`, the best cosine of each vector of S2 with one of S1;
    SNLI(S2, S1) that of `sides[0].cosines`; STS is their harmonic mean.

With weights of the tokens, each side has their shares too, and the scores stand beside those without.

An `Explanation` is shown as text for a terminal, as JSON at full precision, or as a page of HTML. The page is
a heat map that needs no network: a cell is darker the higher its cosine, in one hue whose lightness falls
evenly, so that it reads the same in grey and with any colour vision.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

import numpy as np

from bove.bags import BOVE
from bove.errors import one_line
from bove.evaluate.alignment import NONE, entailment_score, similarity_score, unit_rows

# Cosines that differ by less than this tie; of several best partners the nearest in place is named.
TIE = 1e-9
SIDES = ("first", "second")


@dataclass(frozen=True)
class Partners:
    """The best partner of each vector of one side.

    Attributes:
        places: [n] token of each vector.
        partners: [n] token of its best partner in the other sentence; -1 where that has no vectors.
        cosines: [n] float64, their cosine; 0 where there is no partner.
        shares: [n] float64, of each vector in the sum of the side's weights; None without weights.
    """

    places: np.ndarray
    partners: np.ndarray
    cosines: np.ndarray
    shares: np.ndarray | None = None


class Scores(NamedTuple):
    """STS(S1, S2), SNLI(S1, S2) and SNLI(S2, S1)."""

    similarity: float
    forward: float
    backward: float


@dataclass(frozen=True)
class Alignment:
    """How two bags of one system are aligned.

    Attributes:
        cosines: [n, m] float64, of each vector of the first bag with each of the second.
        sides: the partners of either side.
        plain, weighted: the scores without weights and with them, if there are any.
    """

    cosines: np.ndarray
    sides: tuple[Partners, Partners]
    plain: Scores
    weighted: Scores | None = None


@dataclass(frozen=True)
class Token:
    """A token of a tree; its head is numbered from 1, with 0 for a root and -1 for none.

    `known_as` is the vocabulary's word that stands for it.
    """

    form: str
    tag: str
    relation: str
    head: int
    known_as: str


@dataclass(frozen=True)
class Explanation:
    """Two sentences and how each system aligns them.

    Attributes:
        texts: of the two sentences.
        tokens: of either sentence.
        alignments: by system, in the order in which they are shown.
        own: [n] and [m], cosine of each token's `bove` vector with its `properties-only` one, by place in
            the bag of `bove`: how far the relations moved it.
        weight, power: what the weights of tokens are.
    """

    texts: tuple[str, str]
    tokens: tuple[tuple[Token, ...], tuple[Token, ...]]
    alignments: dict[str, Alignment]
    own: tuple[np.ndarray, np.ndarray]
    weight: str = NONE
    power: float = 1.0


def align(
    first: np.ndarray,
    second: np.ndarray,
    places: tuple[Sequence[int], Sequence[int]] | None = None,
    weights: tuple[np.ndarray, np.ndarray] | None = None,
) -> Alignment:
    """Align two bags.

    Args:
        first, second: [n, r] and [m, r].
        places: token of each vector of either bag, by default 0, 1, …
        weights: of each vector of either bag, if they have any.
    """
    ours, theirs = (np.asarray(some, np.int64) for some in places or (range(len(first)), range(len(second))))
    cosines = np.zeros((len(first), len(second)))
    if cosines.size:
        cosines = np.clip(unit_rows(first) @ unit_rows(second).T, -1, 1)  # rounding may go beyond
    sides = _partners(cosines, ours, theirs), _partners(cosines.T, theirs, ours)
    weighted = None
    if weights is not None:
        shares = [w / (w.sum() or 1) for w in weights]
        sides = replace(sides[0], shares=shares[0]), replace(sides[1], shares=shares[1])
        weighted = _scores(first, second, weights)
    return Alignment(cosines, sides, _scores(first, second), weighted)


def _scores(first, second, weights=None) -> Scores:
    forward = entailment_score(first, second, weights)
    backward = entailment_score(second, first, weights and weights[::-1])
    return Scores(similarity_score(first, second, weights), forward, backward)


def _partners(cosines: np.ndarray, ours: np.ndarray, theirs: np.ndarray) -> Partners:
    """Best partner of each row of [n, m] cosines."""
    if not cosines.size:
        return Partners(ours, np.full(len(ours), -1), np.zeros(len(ours)))
    best = cosines.max(axis=1)
    away = np.abs(ours[:, None] - theirs[None, :])
    away = np.where(cosines >= best[:, None] - TIE, away, np.iinfo(np.int64).max)
    return Partners(ours, theirs[away.argmin(axis=1)], best)


def row_cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """[n] cosine of each row of one [n, r] array with that row of the other; 0 with a zero vector."""
    return np.einsum("ij,ij->i", unit_rows(first), unit_rows(second))


def as_json(explanation: Explanation) -> dict:
    """The whole at full precision; tokens are numbered from 0, but heads, as in trees, from 1."""
    sentences = [
        {"text": text, "tokens": [asdict(token) for token in tokens], "own_cosines": own.tolist()}
        for text, tokens, own in zip(explanation.texts, explanation.tokens, explanation.own, strict=True)
    ]
    systems = {}
    for system, alignment in explanation.alignments.items():
        systems[system] = {**_named(alignment.plain), "cosines": alignment.cosines.tolist()}
        if alignment.weighted:
            systems[system]["weighted"] = _named(alignment.weighted)
        for name, side in zip(SIDES, alignment.sides, strict=True):
            partners = [place if place >= 0 else None for place in side.partners.tolist()]
            cosines = side.cosines.tolist()
            systems[system][name] = {"places": side.places.tolist(), "partners": partners, "cosines": cosines}
            if side.shares is not None:
                systems[system][name]["weights"] = side.shares.tolist()
    how = {} if explanation.weight == NONE else {"weight": explanation.weight, "power": explanation.power}
    return {"format": "bove-explanation", **how, "sentences": sentences, "systems": systems}


def _named(scores: Scores) -> dict[str, float]:
    names = ("sts", "snli_first_entails_second", "snli_second_entails_first")
    return dict(zip(names, scores, strict=True))


def as_text(explanation: Explanation) -> str:
    """The explanation for a terminal: a table for each direction, and the scores of each system."""
    alignments = explanation.alignments
    titles = [f"{side:<8}{one_line(text)}" for side, text in zip(SIDES, explanation.texts, strict=True)]
    kinds, rows = {"": [alignment.plain for alignment in alignments.values()]}, []
    if explanation.weight != NONE:
        kinds[f" by {explanation.weight}"] = [alignment.weighted for alignment in alignments.values()]
    for kind, of in kinds.items():
        entails = "the first entails the second", "the second entails the first"
        names = f"STS{kind}", *(f"SNLI{kind}, {what}" for what in entails)
        rows += [[name, *map(digits, row)] for name, *row in zip(names, *of, strict=True)]
    blocks = [
        "\n".join(titles),
        *(_direction(explanation, side) for side in (0, 1)),
        table(["scores", *alignments], rows, range(1, len(alignments) + 1)),
        "own: cosine of the word's bove vector with its properties-only one, which knows no relations",
    ]
    if explanation.weight != NONE:
        blocks[-1] += f"\nweight: {weight_note(explanation)}"
    return "\n\n".join(blocks) + "\n"


def weight_note(explanation: Explanation) -> str:
    """What the weights are."""
    power = f", to the power {explanation.power:g}" if explanation.power != 1 else ""
    return (
        f"the word's share of its sentence in the scores by {explanation.weight}{power}; "
        "one of 0 takes no part in these, nor as a partner"
    )


def margins_text(second: Explanation, exchanged: Explanation) -> str:
    """How much better the first sentence entails the second than the one with exchanged roles, by system."""
    pairs = [(a, exchanged.alignments[system]) for system, a in second.alignments.items()]
    rows = [["plain", *(digits(one.plain.forward - other.plain.forward) for one, other in pairs)]]
    if second.weight != NONE:
        weighted = (digits(one.weighted.forward - other.weighted.forward) for one, other in pairs)
        rows.append([f"by {second.weight}", *weighted])
    header = ["SNLI of the first pair less that of the second", *second.alignments]
    return table(header, rows, range(1, len(header))) + "\n"


def _direction(explanation: Explanation, side: int) -> str:
    """The best partner of each token of one side in the other; dashes where it has none."""
    tokens, others = explanation.tokens[side], explanation.tokens[1 - side]
    header, right = ["", "word", "tag", "relation", "head", "known as"], [0, 4]
    rows = [
        [str(n), t.form, t.tag, t.relation, "-" if t.head < 0 else str(t.head), t.known_as]
        for n, t in enumerate(tokens, 1)
    ]
    for system, alignment in explanation.alignments.items():
        found = alignment.sides[side]
        cells = {
            place: [f"{others[partner].form} {partner + 1}", digits(cosine)] if partner >= 0 else ["-", "-"]
            for place, partner, cosine in zip(found.places, found.partners, found.cosines, strict=True)
        }
        names, none = [system, ""], ["-", "-"]
        if found.shares is not None:
            shares = zip(found.places, found.shares, strict=True)
            cells = {place: [*cells[place], digits(share, 2)] for place, share in shares}
            names, none = [*names, "weight"], [*none, "-"]
        right += range(len(header) + 1, len(header) + len(names))
        header += names
        rows = [[*row, *cells.get(place, none)] for place, row in enumerate(rows)]
    own = dict(zip(explanation.alignments[BOVE].sides[side].places, explanation.own[side], strict=True))
    rows = [[*row, digits(own[place]) if place in own else "-"] for place, row in enumerate(rows)]
    right.append(len(header))
    title = f"best partners of the {SIDES[side]} sentence's words in the {SIDES[1 - side]}"
    return f"{title}\n{table([*header, 'own'], rows, right)}"


def digits(value: float, count: int = 4) -> str:
    """A cosine or score as it is shown; no zero has a sign."""
    return f"{round(value, count) + 0.0:.{count}f}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Columns as wide as they need, for a terminal; those numbered in `right` are set to the right."""
    lines = [[one_line(cell) for cell in line] for line in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    set_to = [str.rjust if column in right else str.ljust for column in range(len(widths))]
    return "\n".join(
        "  ".join(put(cell, width) for put, cell, width in zip(set_to, line, widths, strict=True)).rstrip()
        for line in lines
    )


def as_html(*explanations: Explanation) -> str:
    """The page of explanations with the same weights; Jinja escapes all text from the sentences."""
    from jinja2 import Environment, PackageLoader

    environment = Environment(loader=PackageLoader("bove", "evaluate"), autoescape=True, trim_blocks=True)
    environment.filters |= {"digits": digits, "shades": _shades, "head": _head}
    page = environment.get_template("explanation.html")
    note = "" if explanations[0].weight == NONE else weight_note(explanations[0])
    return page.render(note=note, explanations=explanations)


def _head(token: Token, sentence: Sequence[Token]) -> str:
    if 0 < token.head <= len(sentence):
        return sentence[token.head - 1].form
    return "root" if token.head == 0 else "-"


LOW, HIGH = (247, 251, 255), (8, 48, 107)  # of a cosine of 0 or less, and of 1


def shade(cosine: float) -> tuple[int, int, int]:
    """Red, green and blue (0 to 255) of a cosine's cell; those below 0 are as light as 0."""
    share = min(1.0, max(0.0, cosine))
    return tuple(round(low + share * (high - low)) for low, high in zip(LOW, HIGH, strict=True))


def _shades(cosine: float) -> str:
    """CSS of a cosine's cell; below this cosine black text has the better contrast (WCAG 2)."""
    return f"background:#{bytes(shade(cosine)).hex()};color:{'#000' if cosine < 0.652 else '#fff'}"
