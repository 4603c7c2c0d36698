"""Markdown as this package writes it, as a page of HTML that needs nothing else.

Headings, pipe tables with aligned columns, bullet lists and paragraphs; in their text *emphasis*, **strong
emphasis**, `code`, [links](address) and backslash escapes. Anything else stays as text.
"""

import html
import re
from collections.abc import Iterable, Iterator, Sequence

_STYLE = """
body { font: 15px/1.5 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; color: #1e293b; background: #fff;
       margin: 1.5rem auto; padding: 0 1.5rem; max-width: 75rem; }
h1 { font-size: 1.45rem; margin: .2rem 0 1rem; } h2 { font-size: 1.15rem; margin: 1.8rem 0 .6rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 .5rem; }
.wide { overflow-x: auto; } p, li { max-width: 60rem; }
table { border-collapse: collapse; margin: .5rem 0 1.2rem; font-variant-numeric: tabular-nums; }
th { border-bottom: 2px solid #475569; text-align: left; vertical-align: bottom; }
td { border-bottom: 1px solid #e2e8f0; vertical-align: top; }
th, td { padding: .28rem .8rem; } .right { text-align: right; white-space: nowrap; }
tbody tr:hover { background: #f1f5f9; } code { font-size: .93em; background: #f1f5f9; padding: 0 .2em; }
"""
_INLINE = re.compile(
    r"\\(?P<escaped>[\\`*_{}\[\]()#+\-.!|<>~])"
    r"|`(?P<code>[^`]+)`"
    r"|\[(?P<link>[^\]]+)\]\((?P<address>[^)\s]+)\)"
    r"|\*\*(?P<strong>\S(?:.*?\S)?)\*\*"
    r"|\*(?P<emphasis>[^\s*](?:[^*]*[^\s*])?)\*"
)
_RULE = re.compile(r"\|(?:\s*:?-+:?\s*\|)+$")
_CELLS = re.compile(r"(?<!\\)(?:\\\\)*\|")


def page(markdown: str) -> str:
    """A whole page, whose title is that of the first heading."""
    lines = markdown.split("\n")
    title = next((line.lstrip("# ") for line in lines if line.startswith("#")), "")
    body = "\n".join(_blocks(lines))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _blocks(lines: Sequence[str]) -> Iterator[str]:
    i = 0
    while i < len(lines):
        line = lines[i]
        if heading := re.match(r"(#{1,6}) +(.*)$", line):
            level, i = len(heading[1]), i + 1
            yield f"<h{level}>{inline(heading[2])}</h{level}>"
        elif line.startswith("|") and i + 1 < len(lines) and _RULE.match(lines[i + 1].rstrip()):
            end = _end(lines, i, lambda text: text.startswith("|"))
            yield _table(lines[i:end])
            i = end
        elif _is_item(line):
            end = _end(lines, i, lambda text: _is_item(text) or text.startswith("  "))
            yield _list(lines[i:end])
            i = end
        elif line.strip():
            end = _end(lines, i + 1, lambda text: text.strip() and not _starts_block(text))
            yield f"<p>{inline(' '.join(lines[i:end]))}</p>"
            i = end
        else:
            i += 1


def _end(lines: Sequence[str], start: int, belongs) -> int:
    return next((i for i in range(start, len(lines)) if not belongs(lines[i])), len(lines))


def _is_item(line: str) -> bool:
    return line.startswith(("* ", "- "))


def _starts_block(line: str) -> bool:
    return _is_item(line) or line.startswith(("#", "|"))


def _list(lines: Iterable[str]) -> str:
    items: list[str] = []
    for line in lines:
        if _is_item(line):
            items.append(line[2:])
        else:
            items[-1] += f" {line.strip()}"
    return "<ul>\n" + "\n".join(f"<li>{inline(item)}</li>" for item in items) + "\n</ul>"


def _table(lines: Sequence[str]) -> str:
    header, rule, *rows = ([cell.strip() for cell in _cells(line)] for line in lines)
    right = [cell.endswith(":") for cell in rule]
    head = _row(header, right, "th")
    body = "\n".join(_row(row, right, "td") for row in rows)
    return f'<div class="wide"><table>\n<thead>\n{head}\n</thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'


def _cells(line: str) -> list[str]:
    """The cells of a row: what is between bars that no backslash stands before."""
    text = line.strip().removeprefix("|")
    cells, start = [], 0
    for bar in _CELLS.finditer(text):
        cells.append(text[start : bar.end() - 1])
        start = bar.end()
    if text[start:].strip():
        cells.append(text[start:])
    return cells


def _row(cells: Sequence[str], right: Sequence[bool], tag: str) -> str:
    looks = [*right, *[False] * len(cells)]
    opening = [f'<{tag} class="right">' if look else f"<{tag}>" for look in looks]
    inner = (f"{opening[c]}{inline(cell)}</{tag}>" for c, cell in enumerate(cells))
    return f"<tr>{''.join(inner)}</tr>"


def inline(text: str) -> str:
    """One line's Markdown as HTML; what is no markup is escaped."""
    parts, start = [], 0
    for found in _INLINE.finditer(text):
        parts.append(html.escape(text[start : found.start()], quote=False))
        parts.append(_marked(found))
        start = found.end()
    return "".join([*parts, html.escape(text[start:], quote=False)])


def _marked(found: re.Match) -> str:
    if found["escaped"]:
        return html.escape(found["escaped"], quote=False)
    if found["code"]:
        return f"<code>{html.escape(found['code'], quote=False)}</code>"
    if found["link"]:
        return f'<a href="{html.escape(found["address"])}">{inline(found["link"])}</a>'
    if found["strong"]:
        return f"<strong>{inline(found['strong'])}</strong>"
    return f"<em>{inline(found['emphasis'])}</em>"
