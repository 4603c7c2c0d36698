"""Sphinx configuration of the manual: Markdown pages, formulas as MathML, nothing fetched from a network."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "docs" / "_ext")]

from bove._version import __version__  # noqa: E402

project = "bove"
author = "The bove authors"
version = release = __version__
language = "en"

# The last three are in docs/_ext.
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinxarg.ext",
    "pages",
    "generated",
    "mathml",
]
exclude_patterns = ["_ext", "_static", "_upstream"]

# Markdown as forges show it too: $…$ and ```math are formulas, headings can be linked to.
myst_enable_extensions = ["dollarmath"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # pages that are put together may start at a lower heading
highlight_language = "text"
smartquotes = False  # it would turn the two hyphens of an option into a dash

html_math_renderer = "mathml"
html_theme = "furo"
html_title = "bove"
html_logo = "_static/logo.svg"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["bove.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
copybutton_remove_prompts = True

# Docstrings are plain text with `code`; types stand in the signatures.
default_role = "code"
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
napoleon_numpy_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False
napoleon_custom_sections = [("Attributes", "params_style")]
maximum_signature_line_length = 88
add_module_names = False
python_use_unqualified_type_names = True
