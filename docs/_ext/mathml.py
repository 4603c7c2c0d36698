"""Formulas as MathML, made while the site is built, so that a browser needs neither script nor network."""

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError


def _mathml(self, node: nodes.Element, as_block: bool) -> str:
    try:
        text = tex2mathml(node.astext(), as_block=as_block)
    except MathError as e:
        raise ExtensionError(f"{self.builder.current_docname}: formula {node.astext()!r}: {e}") from e
    # bars and angles keep the height of a letter, as in print
    return re.sub("<mo([^>]*)>([‖⟨⟩])</mo>", r'<mo\1 stretchy="false">\2</mo>', text)


def inline(self, node: nodes.math) -> None:
    """A formula in a line of text."""
    self.body.append(_mathml(self, node, as_block=False))
    raise nodes.SkipNode


def block(self, node: nodes.math_block) -> None:
    """A formula on its own; a wide one can be scrolled."""
    self.body.append(self.starttag(node, "div", CLASS="formula"))
    self.body.append(_mathml(self, node, as_block=True) + "</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict:
    """Add the renderer `mathml`."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
