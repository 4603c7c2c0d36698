"""An explanation as text: a table for each direction, and the scores of each system."""

from collections.abc import Sequence

from bove.evaluate.explanation import Alignment, Explanation, Partners, Token

SIDES = ("first", "second")


def as_text(explanation: Explanation) -> str:
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
