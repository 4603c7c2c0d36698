"""What the manual says twice it says alike; its site builds without a warning, has all and loads nothing."""

import re
import subprocess
import sys

import pytest
import yaml
from checkout import ROOT

import bove
from bove.cli.stages import STAGES

sys.path.insert(0, str(ROOT / "docs" / "_ext"))
import keys
import pages

# what a browser loads by itself, unlike a link that somebody follows
LOADED = re.compile(r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"([^\"]*)\"|<link\b[^>]*\bhref=\"([^\"]*)\"")


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


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("sphinx")
    folder = tmp_path_factory.mktemp("site")
    words = [*("-W", "--keep-going", "-q", "-d"), folder / "cache", ROOT / "docs", folder / "html"]
    sphinx = [sys.executable, "-m", "sphinx", *map(str, words)]
    done = subprocess.run(sphinx, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "html"


def test_nothing_is_loaded_from_a_network(site):
    loaded = set()
    for page in site.glob("*.html"):
        loaded |= {"".join(found) for found in LOADED.findall(page.read_text(encoding="utf-8"))}
    assert any(".css" in place for place in loaded) and any(".js" in place for place in loaded)
    assert [place for place in loaded if "//" in place] == []
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//|@import", sheet.read_text(encoding="utf-8")), sheet


def test_formulas_need_no_script(site):
    text = (site / "method.html").read_text(encoding="utf-8")
    assert text.count("<math ") > 50 and "MathJax" not in text and "\\frac" not in text


def test_every_command_is_shown_and_its_options_keep_both_hyphens(site):
    text = (site / "commands.html").read_text(encoding="utf-8")
    assert [name for name in STAGES if f'id="{name}"' not in text] == []
    assert (
        "--lambda-R" in text
        and "–lambda-R" not in text
        and "srun --mpi=pmix" in (site / "cluster.html").read_text("utf-8")
    )


def test_every_public_name_is_described(site):
    text = (site / "api.html").read_text(encoding="utf-8")
    for name in bove._PUBLIC:
        assert re.search(rf'id="bove\.{name}">', text), name
