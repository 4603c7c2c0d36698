"""Pages of the site that stand elsewhere in the project, links between them, and the navigation.

Everything in docs/ reads well on a forge too. So a page links to config/README.md where that file is, and
here the link goes to the page that has its text; the navigation stands here and not in a page.
"""

import re
from pathlib import Path

from pygments.lexers.python import PythonLexer
from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parent.parent
ROOT = DOCS.parent

# page → file of the project whose text follows the page's own, up to a line of it
INCLUDED = {
    "configuration": ("config/README.md", "# Every key"),
    "results": ("results/README.md", None),
    "changelog": ("CHANGELOG.md", None),
}
# where links to files of the project lead; what comes first goes first
LINKS = {
    "config/README.md#every-key": "keys.md",
    "config/README.md": "configuration.md",
    "results/README.md": "results.md",
    "CHANGELOG.md": "changelog.md",
}
NAVIGATION = {
    "First steps": [
        "start",
        "when",
        "own-sentences",
        "own-graphs",
        "knowledge-graphs",
        "whole-graphs",
        "own-data",
        "own-vectors",
    ],
    "The method": ["method", "rescal", "parsing", "speed", "scaling"],
    "In use": ["looking-inside", "searching", "results", "baselines", "encoders", "cluster", "trouble"],
    "Reference": ["configuration", "keys", "commands", "api"],
    "About": ["cite", "changelog"],
}


def navigation(folder: Path = DOCS) -> dict[str, list[str]]:
    """The pages that are there, by caption; those that the table above lacks come last."""
    there = {path.stem for path in folder.glob("*.md")} - {"index"}
    shown = {caption: [name for name in names if name in there] for caption, names in NAVIGATION.items()}
    rest = sorted(there - {name for names in shown.values() for name in names})
    return shown | ({"Further": rest} if rest else {})


def toctrees() -> str:
    """The navigation, as hidden tables of contents."""
    return "".join(
        "\n```{toctree}\n:hidden:\n:caption: " + caption + "\n\n" + "\n".join(names) + "\n```\n"
        for caption, names in navigation().items()
    )


def included(page: str) -> str:
    """The text that follows a page's own, without its title; links are still those of its file."""
    file, end = INCLUDED[page]
    text = (ROOT / file).read_text(encoding="utf-8")
    text = text.partition(f"\n{end}\n")[0] if end else text
    return re.sub(r"\A# .*\n", "", text)


def relink(text: str) -> str:
    """Links to files of the project as links to the pages that have their text."""
    for file, page in LINKS.items():
        anchor = "" if "#" in file else "(?P<anchor>#[^)]*)?"
        text = re.sub(
            rf"\]\((\.\./)?{re.escape(file)}{anchor}\)",
            lambda found, page=page: f"]({page}{found.groupdict().get('anchor') or ''})",
            text,
        )
    return re.sub(r"\]\((?:\.\./)?docs/([^)]*)\)", r"](\1)", text)


def read(app: Sphinx, name: str, source: list[str]) -> None:
    """Complete the source of a page."""
    if name in INCLUDED:
        app.env.note_dependency(str(ROOT / INCLUDED[name][0]))
        source[0] += included(name)
    source[0] = relink(source[0])
    if name == "index":
        app.env.note_reread()  # there may be new pages
        source[0] += toctrees()


def setup(app: Sphinx) -> dict:
    """Complete pages as they are read."""
    app.add_lexer("snakemake", PythonLexer)  # Pygments has none
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
