"""What the manual says twice it says alike, and what is made from the program is whole."""

import re
import sys

import pytest
import yaml
from checkout import ROOT

sys.path.insert(0, str(ROOT / "docs" / "_ext"))
import keys
import pages


def test_the_table_of_keys_is_that_of_the_schema():
    text = keys.MANUAL.read_text(encoding="utf-8")
    assert text == keys.manual(text), "write it anew with: python docs/_ext/keys.py"


def test_every_page_has_a_place_in_the_navigation():
    there = {path.stem for path in pages.DOCS.glob("*.md")} - {"index"}
    found = [name for names in pages.navigation().values() for name in names]
    assert sorted(found) == sorted(there)


def test_no_page_has_the_name_of_one_that_every_site_has():
    assert not {path.stem for path in pages.DOCS.glob("*.md")} & {"search", "genindex"}


def test_a_new_page_comes_last(tmp_path):
    for name in ("index", "start", "novelty"):
        (tmp_path / f"{name}.md").touch()
    assert {name: found for name, found in pages.navigation(tmp_path).items() if found} == {
        "First steps": ["start"],
        "Further": ["novelty"],
    }


@pytest.mark.parametrize(
    ("link", "page"),
    [
        ("[a](../config/README.md)", "[a](configuration.md)"),
        ("[a](../config/README.md#files)", "[a](configuration.md#files)"),
        ("[a](../config/README.md#every-key)", "[a](keys.md)"),
        ("[a](../docs/speed.md#solvers)", "[a](speed.md#solvers)"),
        ("[a](speed.md)", "[a](speed.md)"),
    ],
)
def test_links_to_files_lead_to_pages(link, page):
    assert pages.relink(link) == page


def test_the_paper_is_cited_alike():
    entry = (ROOT / "docs" / "cite.md").read_text(encoding="utf-8")
    paper = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["preferred-citation"]
    fields = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", entry, re.M))
    authors = [f"{author['family-names']}, {author['given-names']}" for author in paper["authors"]]
    assert fields == {
        "title": paper["title"], "author": " and ".join(authors), "year": str(paper["year"]),
    }  # fmt: skip


def _anchors(text):
    """The places that a page can be linked at, as forges and the site name its headings."""
    headings = re.findall(r"(?m)^#+ (.*)$", re.sub(r"(?ms)^```.*?^```", "", text))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_between_files_lead_somewhere():
    files = [ROOT / name for name in ("README.md", "config/README.md", "results/README.md")]
    seen = 0
    for path in [*files, *pages.DOCS.glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]*(?:#[^)]*)?)\)", path.read_text(encoding="utf-8")):
            name, _, anchor = target.partition("#")
            file = (path.parent / name).resolve() if name else path
            assert file.exists(), f"{path}: {target}"
            assert not anchor or anchor in _anchors(file.read_text(encoding="utf-8")), f"{path}: {target}"
            seen += 1
    assert seen > 50
