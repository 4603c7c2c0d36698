"""Markdown tables become HTML with the same cells, and nothing in them is taken for markup that is none."""

from html.parser import HTMLParser

import pytest

from bove.evaluate.pages import inline, page
from bove.evaluate.tables import markdown_table


class Cells(HTMLParser):
    """The cells of all tables, row by row, with the class of each."""

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
            self.looks[-1].append(dict(attributes).get("class"))
            self._inside = True

    def handle_endtag(self, tag):
        self._inside = self._inside and tag not in ("td", "th")

    def handle_data(self, data):
        if self._inside:
            self.rows[-1][-1] += data


def test_a_table_has_the_cells_that_it_was_written_with():
    rows = [["a | b", "", "0.5"], ["<b>&amp;", "**0.7**", "-1"], ["lambda_P a_b_c", "x*y", "2 * 3 * 4"]]
    found = Cells(page("# T\n\n" + markdown_table(["name", "other", "value"], rows, 2)))
    assert found.rows[0] == ["name", "other", "value"]
    assert found.rows[1:] == [["a | b", "", "0.5"], ["<b>&amp;", "0.7", "-1"], rows[2]]
    assert found.looks == [[None, None, "right"]] * 4


def test_a_backslash_before_a_bar_is_no_escape_where_it_is_escaped_itself():
    assert Cells(page("| a | b |\n| --- | --- |\n| x \\\\| y |\n")).rows[1] == ["x \\", "y"]


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("**best** of *all*", "<strong>best</strong> of <em>all</em>"),
        ("`a_*b*` and <x>", "<code>a_*b*</code> and &lt;x&gt;"),
        ("[docs](a.md?x=1&y=2)", '<a href="a.md?x=1&amp;y=2">docs</a>'),
        ("2 * 3 * 4 and **", "2 * 3 * 4 and **"),
        (r"\*no\* emphasis", "*no* emphasis"),
        ("**0.57** (5 of 6)", "<strong>0.57</strong> (5 of 6)"),
    ],
)
def test_inline_markup(markdown, html):
    assert inline(markdown) == html


def test_headings_paragraphs_and_lists():
    text = page("# Title & more\n\none\ntwo\n* first\n  goes on\n- second\n\n## Next\nend")
    body = text.partition("<body>\n")[2].partition("</body>")[0]
    assert "<title>Title &amp; more</title>" in text
    assert body == (
        "<h1>Title &amp; more</h1>\n<p>one two</p>\n<ul>\n<li>first goes on</li>\n<li>second</li>\n</ul>\n"
        "<h2>Next</h2>\n<p>end</p>\n"
    )


def test_a_bar_without_a_table_is_text_and_a_page_needs_nothing_from_elsewhere():
    text = page("| alone |\n\nend")
    assert "<p>| alone |</p>" in text
    assert "src=" not in text and "<link" not in text and "@import" not in text
