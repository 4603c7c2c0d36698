"""The site of the manual builds without a warning, loads nothing from a network, and has all public names."""

import re
import subprocess
import sys

import pytest
from checkout import ROOT

import bove
from bove.cli.stages import STAGES

pytest.importorskip("sphinx")
# what a browser loads by itself, unlike a link that somebody follows
LOADED = re.compile(r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"([^\"]*)\"|<link\b[^>]*\bhref=\"([^\"]*)\"")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    words = [
        "-W",
        "--keep-going",
        "-q",
        "-d",
        str(folder / "cache"),
        str(ROOT / "docs"),
        str(folder / "html"),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *words], capture_output=True, text=True, check=False
    )
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
