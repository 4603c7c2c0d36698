"""Markdown tables become HTML with the same cells, and nothing in them is taken for markup that is none."""

from html.parser import HTMLParser

import pytest

from bove.evaluate.pages import page
from bove.evaluate.tables import markdown_table


class Cells(HTMLParser):
    """The cells of all tables, row by row, and how each is set."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.looks, self._inside = [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == "tr":
            self.rows.append([])
            self.looks.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self.looks[-1].append(dict(attributes).get("style"))
            self._inside = True

    def handle_endtag(self, tag):
        self._inside = self._inside and tag not in ("td", "th")

    def handle_data(self, data):
        if self._inside:
            self.rows[-1][-1] += data


def test_a_table_has_the_cells_that_it_was_written_with():
    rows = [["a | b", "", "0.5"], ["<b>&amp;", "**0.7**", "-1"], ["lambda_P a_b_c", "x*y", "2 * 3 * 4"]]
    found = Cells(page("# T\n\n" + markdown_table(["name", "other", "value"], rows, 2)))
    assert found.rows == [
        ["name", "other", "value"], ["a | b", "", "0.5"], ["<b>&amp;", "0.7", "-1"], rows[2]
    ]  # fmt: skip
    assert found.looks == [[None, None, "text-align:right"]] * 4


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("**best** of *all*", "<p><strong>best</strong> of <em>all</em></p>"),
        ("`a_*b*` and <x onload=y>", "<p><code>a_*b*</code> and &lt;x onload=y&gt;</p>"),
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"),
        ("[docs](a.md?x=1&y=2)", '<p><a href="a.md?x=1&amp;y=2">docs</a></p>'),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>"),
        (r"\*no\* emphasis &lt;", "<p>*no* emphasis &amp;lt;</p>"),
        ("one\n* a\n  b\n* c\n", "<p>one</p>\n<ul>\n<li>a\nb</li>\n<li>c</li>\n</ul>"),
        ("| alone |", "<p>| alone |</p>"),
    ],
)
def test_markup_of_the_tables_files_is_shown_and_all_else_is_text(markdown, html):
    text = page(f"# Title & <more>\n\n{markdown}")
    assert "<title>Title &amp; &lt;more&gt;</title>" in text
    assert f"<body>\n<h1>Title &amp; &lt;more&gt;</h1>\n{html}\n</body>" in text
    assert "src=" not in text and "<link" not in text and "@import" not in text
