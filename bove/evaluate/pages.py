"""Tables in Markdown as a page of HTML that needs nothing else; HTML in the Markdown is shown as text."""

import html

from markdown_it import MarkdownIt

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; color: #1e293b; background: #fff;
       margin: 1.5rem auto; padding: 0 1.5rem; max-width: 75rem; }}
h1 {{ font-size: 1.45rem; margin: .2rem 0 1rem; }} h2 {{ font-size: 1.15rem; margin: 1.8rem 0 .6rem; }}
h3 {{ font-size: 1rem; margin: 1.4rem 0 .5rem; }} p, li {{ max-width: 60rem; }}
table {{ display: block; overflow-x: auto; border-collapse: collapse; margin: .5rem 0 1.2rem;
        font-variant-numeric: tabular-nums; }}
th {{ border-bottom: 2px solid #475569; text-align: left; vertical-align: bottom; }}
td {{ border-bottom: 1px solid #e2e8f0; vertical-align: top; }}
th, td {{ padding: .28rem .8rem; }} [style="text-align:right"] {{ white-space: nowrap; }}
tbody tr:hover {{ background: #f1f5f9; }} code {{ font-size: .93em; background: #f1f5f9; padding: 0 .2em; }}
</style>
</head>
<body>
{body}</body>
</html>
"""
# Names from files stand in the tables: they are neither HTML nor entities.
_RULES = ("table", "heading", "list", "emphasis", "backticks", "escape", "link")


def page(markdown: str) -> str:
    """A whole page, whose title is that of the first heading."""
    parser = MarkdownIt("zero").enable(_RULES)
    tokens = parser.parse(markdown)
    titles = (tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open")
    body = parser.renderer.render(tokens, parser.options, {})
    return _PAGE.format(title=html.escape(next(titles, "")), body=body)
