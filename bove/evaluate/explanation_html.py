"""An explanation as one HTML page: a heat map of every cosine, for each system. Needs no network.

A cell is darker the higher its cosine: one hue whose lightness falls evenly, so that it reads the same in
grey and with any colour vision. The cosine stands in the cell, and a frame marks best partners.
"""

from html import escape

from bove.evaluate.explanation import Alignment, Explanation, Token

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
        _scores(explanation.alignments),
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


def _scores(alignments: dict[str, Alignment]) -> str:
    lines = [
        f"<tr><th>{escape(system)}</th><td>{a.similarity:.4f}</td><td>{a.forward:.4f}</td><td>{a.backward:.4f}</td></tr>"
        for system, a in alignments.items()
    ]
    return (
        '<table class="plain"><thead><tr><th></th><th>STS</th><th>SNLI, first entails second</th>'
        f"<th>SNLI, second entails first</th></tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )
