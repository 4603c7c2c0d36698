"""What the alignment scores are made of: every cosine of two bags, and each vector's best partner.

    SNLI(S1, S2) is the mean of `second.cosines`, the best cosine of each vector of S2 with one of S1;
    SNLI(S2, S1) that of `first.cosines`; STS is their harmonic mean.

The scores are those of `bove.evaluate.alignment`; this module only keeps what they are the means of.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape

import numpy as np

from bove.evaluate.alignment import entailment_score, similarity_score, unit_rows

# Cosines that differ by less than this tie; of several best partners the nearest in place is named.
TIE = 1e-9


@dataclass(frozen=True)
class Partners:
    """The best partner of each vector of one side.

    Attributes:
        places: [n] token of each vector.
        partners: [n] token of its best partner in the other sentence; -1 where that has no vectors.
        cosines: [n] float64, their cosine; 0 where there is no partner.
    """

    places: np.ndarray
    partners: np.ndarray
    cosines: np.ndarray


@dataclass(frozen=True)
class Alignment:
    """How two bags of one system are aligned.

    Attributes:
        cosines: [n, m] float64, of each vector of the first bag with each of the second.
        first, second: the partners of either side.
        forward: SNLI(S1, S2), how well the first entails the second.
        backward: SNLI(S2, S1).
        similarity: STS(S1, S2).
    """

    cosines: np.ndarray
    first: Partners
    second: Partners
    forward: float
    backward: float
    similarity: float


def align(
    first: np.ndarray, second: np.ndarray, places: tuple[Sequence[int], Sequence[int]] | None = None
) -> Alignment:
    """Align two bags.

    Args:
        first, second: [n, r] and [m, r].
        places: token of each vector of either bag, by default 0, 1, …
    """
    ours, theirs = places or (range(len(first)), range(len(second)))
    ours, theirs = np.asarray(ours, np.int64), np.asarray(theirs, np.int64)
    if len(first) and len(second):
        cosines = np.clip(unit_rows(first) @ unit_rows(second).T, -1, 1)  # rounding may go beyond
    else:
        cosines = np.zeros((len(first), len(second)))
    return Alignment(
        cosines=cosines,
        first=_partners(cosines, ours, theirs),
        second=_partners(cosines.T, theirs, ours),
        forward=entailment_score(first, second),
        backward=entailment_score(second, first),
        similarity=similarity_score(first, second),
    )


def _partners(cosines: np.ndarray, ours: np.ndarray, theirs: np.ndarray) -> Partners:
    """Best partner of each row of [n, m] cosines."""
    if not cosines.size:
        return Partners(ours, np.full(len(ours), -1), np.zeros(len(ours)))
    best = cosines.max(axis=1)
    away = np.abs(ours[:, None] - theirs[None, :])
    away = np.where(cosines >= best[:, None] - TIE, away, np.iinfo(np.int64).max)
    return Partners(ours, theirs[away.argmin(axis=1)], best)


@dataclass(frozen=True)
class Token:
    """A token of a tree.

    Attributes:
        form, tag, relation: as in the tree.
        head: number of its head, from 1; 0 for a root, -1 for none.
        known_as: the vocabulary's word that stands for it.
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
    """

    texts: tuple[str, str]
    tokens: tuple[tuple[Token, ...], tuple[Token, ...]]
    alignments: dict[str, Alignment]
    own: tuple[np.ndarray, np.ndarray]


def explanation_as_json(explanation: Explanation) -> dict:
    """The whole at full precision; tokens are numbered from 0, but heads, as in trees, from 1."""
    sides = [
        {
            "text": text,
            "tokens": [asdict(token) for token in tokens],
            "own_cosines": own.tolist(),
        }
        for text, tokens, own in zip(explanation.texts, explanation.tokens, explanation.own, strict=True)
    ]
    systems = {
        system: {
            "sts": alignment.similarity,
            "snli_first_entails_second": alignment.forward,
            "snli_second_entails_first": alignment.backward,
            "cosines": alignment.cosines.tolist(),
            "first": _listed(alignment.first),
            "second": _listed(alignment.second),
        }
        for system, alignment in explanation.alignments.items()
    }
    return {"format": "bove-explanation", "sentences": sides, "systems": systems}


def _listed(partners: Partners) -> dict:
    """Partners with null where there is none."""
    some = [place if place >= 0 else None for place in partners.partners.tolist()]
    return {"places": partners.places.tolist(), "partners": some, "cosines": partners.cosines.tolist()}


def row_cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """[n] cosine of each row of one [n, r] array with that row of the other; 0 with a zero vector."""
    return np.einsum("ij,ij->i", unit_rows(first), unit_rows(second))


# An explanation as text: a table for each direction, and the scores of each system.

SIDES = ("first", "second")


def explanation_as_text(explanation: Explanation) -> str:
    """The explanation for a terminal; ends with a line break."""
    blocks = [
        "\n".join(f"{side:<8}{plain(text)}" for side, text in zip(SIDES, explanation.texts, strict=True))
    ]
    blocks += [_direction(explanation, side) for side in (0, 1)]
    blocks.append(_scores(explanation.alignments))
    return "\n\n".join(blocks) + "\n"


def plain(text: str) -> str:
    """A text without characters that a terminal would act on."""
    return "".join(mark if mark.isprintable() else "\ufffd" for mark in text)


def digits(value: float) -> str:
    """A cosine or score as it is shown; no zero has a sign."""
    return f"{round(value, 4) + 0.0:.4f}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Columns as wide as they need; those numbered in `right` are set to the right."""
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def _direction(explanation: Explanation, side: int) -> str:
    """The best partner of each token of one side in the other."""
    tokens, others = explanation.tokens[side], explanation.tokens[1 - side]
    columns = [_partner_cells(a.first if side == 0 else a.second, len(tokens), others)
               for a in explanation.alignments.values()]  # fmt: skip
    header = ["", "word", "tag", "relation", "head", "known as"]
    for system in explanation.alignments:
        header += [system, ""]
    own = _own(explanation, side)
    rows = []
    for place, token in enumerate(tokens):
        row = [str(place + 1), token.form, token.tag, token.relation, _head(token), token.known_as]
        for cells in columns:
            row += cells[place]
        rows.append([plain(cell) for cell in (*row, own[place])])
    numbers = (0, 4, *range(7, len(header), 2), len(header))
    title = f"best partners of the {SIDES[side]} sentence's words in the {SIDES[1 - side]}"
    return f"{title}\n{table([*header, 'own'], rows, numbers)}"


def _partner_cells(partners: Partners, size: int, others: Sequence[Token]) -> list[list[str]]:
    """For each token its best partner with its number, and their cosine; dashes where it has none."""
    cells = [["-", "-"] for _ in range(size)]
    for place, partner, cosine in zip(partners.places, partners.partners, partners.cosines, strict=True):
        if partner >= 0:
            cells[place] = [f"{others[partner].form} {partner + 1}", digits(cosine)]
    return cells


def _own(explanation: Explanation, side: int) -> list[str]:
    bag = explanation.alignments["bove"]
    places = (bag.first if side == 0 else bag.second).places
    cells = ["-"] * len(explanation.tokens[side])
    for place, cosine in zip(places, explanation.own[side], strict=True):
        cells[place] = digits(cosine)
    return cells


def _head(token: Token) -> str:
    return "-" if token.head < 0 else str(token.head)


def _scores(alignments: dict[str, Alignment]) -> str:
    rows = [
        ["STS", *(digits(a.similarity) for a in alignments.values())],
        ["SNLI, the first entails the second", *(digits(a.forward) for a in alignments.values())],
        ["SNLI, the second entails the first", *(digits(a.backward) for a in alignments.values())],
    ]
    scores = table(["scores", *alignments], rows, range(1, len(alignments) + 1))
    own = "cosine of the word's bove vector with its properties-only one, which knows no relations"
    return f"{scores}\n\nown: {own}"


# An explanation as one HTML page: a heat map of every cosine, for each system. Needs no network.
#
# A cell is darker the higher its cosine: one hue whose lightness falls evenly, so that it reads the same in
# grey and with any colour vision. The cosine stands in the cell, and a frame marks best partners.

LOW, HIGH = (247, 251, 255), (8, 48, 107)  # of a cosine of 0 or less, and of 1
STYLE = """
body { background: #fff; color: #111; font: 15px/1.45 sans-serif; margin: 2em auto; max-width: 70em;
  padding: 0 1em; }
table { border-collapse: separate; border-spacing: 2px; margin: .5em 0 1.5em; }
.scroll { overflow-x: auto; }
th { font-weight: normal; padding: .15em .5em; text-align: right; white-space: nowrap; }
thead th { text-align: center; vertical-align: bottom; }
th small { color: #555; display: block; }
td { border: 2px solid transparent; min-width: 3.2em; padding: .25em; text-align: center;
  font-variant-numeric: tabular-nums; }
td.row { border-left-color: #d55e00; border-right-color: #d55e00; }
td.column { border-bottom-color: #d55e00; border-top-color: #d55e00; }
table.plain td { border: 0; text-align: right; }
"""


def as_html(explanation: Explanation) -> str:
    """The page; all text from the sentences is escaped."""
    first, second = map(escape, explanation.texts)
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>{first} / {second}</title><style>{STYLE}</style></head><body>",
        f"<h1>Two sentences, word by word</h1><p>First: <b>{first}</b><br>Second: <b>{second}</b></p>",
        _scores_html(explanation.alignments),
        f"<div>Cosines, each in a cell of its shade: {_legend()}</div>",
        "<p>Rows are the words of the first sentence, columns those of the second. Lines left and right of a "
        "cell: the best partner of its row's word; above and below: of its column's word. SNLI is the mean "
        "of the cosines so marked in one direction, STS the harmonic mean of both. Words without a vector "
        "are left out.</p>",
    ]
    for system, alignment in explanation.alignments.items():
        parts.append(f"<h2>{escape(system)}</h2>")
        parts.append(_heat_map(alignment, explanation.tokens))
    return "\n".join([*parts, "</body></html>", ""])


def shade(cosine: float) -> tuple[int, int, int]:
    """Red, green and blue (0 to 255) of a cosine's cell; those below 0 are as light as 0."""
    share = min(1.0, max(0.0, cosine))
    return tuple(round(low + share * (high - low)) for low, high in zip(LOW, HIGH, strict=True))


def luminance(colour: tuple[int, int, int]) -> float:
    """Relative luminance (0 to 1) of an sRGB colour, as WCAG 2 defines it."""
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in (c / 255 for c in colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _cell(cosine: float, classes: str = "") -> str:
    colour = shade(cosine)
    # above this luminance black has the better contrast
    text = "#000" if luminance(colour) > 0.179 else "#fff"
    style = f"background:#{''.join(f'{c:02x}' for c in colour)};color:{text}"
    named = f' class="{classes}"' if classes else ""
    return f'<td{named} style="{style}" title="{cosine:.6f}">{round(cosine, 2) + 0.0:.2f}</td>'


def _legend() -> str:
    cells = "".join(_cell(step / 5) for step in range(6))
    return f'<table role="presentation"><tr>{cells}</tr></table>'


def _heat_map(alignment: Alignment, tokens: tuple[tuple[Token, ...], tuple[Token, ...]]) -> str:
    rows, columns = alignment.first, alignment.second
    if not alignment.cosines.size:
        return "<p>No word of one of the sentences has a vector, so the scores are 0.</p>"
    head = "".join(_name(tokens[1], place) for place in columns.places)
    lines = []
    for i, place in enumerate(rows.places):
        cells = []
        for j, other in enumerate(columns.places):
            best = {"row": rows.partners[i] == other, "column": columns.partners[j] == place}
            marks = " ".join(name for name, is_best in best.items() if is_best)
            cells.append(_cell(float(alignment.cosines[i, j]), marks))
        lines.append(f"<tr>{_name(tokens[0], place)}{''.join(cells)}</tr>")
    return (
        f'<div class="scroll"><table><thead><tr><th></th>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _name(tokens: tuple[Token, ...], place: int) -> str:
    token = tokens[place]
    head = (
        tokens[token.head - 1].form if 0 < token.head <= len(tokens) else "root" if token.head == 0 else "-"
    )
    small = f"{escape(token.tag)}, {escape(token.relation)}: {escape(head)}"
    return f"<th>{escape(token.form)}<small>{small}</small></th>"


def _scores_html(alignments: dict[str, Alignment]) -> str:
    lines = [
        f"<tr><th>{escape(system)}</th><td>{a.similarity:.4f}</td><td>{a.forward:.4f}</td><td>{a.backward:.4f}</td></tr>"
        for system, a in alignments.items()
    ]
    return (
        '<table class="plain"><thead><tr><th></th><th>STS</th><th>SNLI, first entails second</th>'
        f"<th>SNLI, second entails first</th></tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )
