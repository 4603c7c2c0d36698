"""Every block of code in the manual runs; what can not run in a test is held against its program."""

import re
import warnings

import pytest
import reader
import yaml
from checkout import ROOT
from markdown_it import MarkdownIt
from shell import console, expanded, parse, run_bove
from sybil import Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser

from bove.config.load import load, merge, resolve

PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("README.md", "config/README.md", "results/README.md", "CHANGELOG.md", "docs/*.md")
    for path in ROOT.glob(pattern)
)

# Programs whose commands are only parsed: what they would do is made by other tests, or takes the network.
PARSED = {
    "snakemake": "a run takes minutes; tests/workflow plans and runs them",
    "make": "its targets are what the checks of the whole project call",
    "pip": "installs; the packaging tests do that",
    "conda": "installs, from a network",
    "mpiexec": "starts such scripts, where MPI is installed",
    "python": "scripts that measure for many minutes",
}
# Languages that are shown and not run.
SHOWN = {
    "math": "formulas, which building the site renders",
    "{argparse}": "filled in when the site is built",
    "bibtex": "held against CITATION.cff",
}


def evaluators(folder):
    """How a block of each language is tried out, in a folder with what the pages name."""

    def shell(example):
        for words in expanded(example.parsed, folder):
            run(words, folder)

    def session(example):
        for words, shown in console(example.parsed):
            run(words, folder, shown)

    def settings(example):
        check_settings(example.parsed)

    return {"sh": shell, "console": session, "yaml": settings} | dict.fromkeys(SHOWN, lambda example: None)


def run(words, folder, shown=None):
    """Run a command of the manual, or parse it where it is one of those that are only parsed."""
    parse(words, folder)
    if words[0] not in PARSED:
        assert words[0] == "bove", words
        said = run_bove(words[1:])
        if shown is not None:
            compare(words, skeleton(words, said), skeleton(words, shown))


def skeleton(words, lines):
    """Of an output, what does not depend on the data: labels of a check, or lines without figures."""
    if words[1] == "check":
        return {label for line in lines for label in re.findall(r"^  ([a-z ,]+):", line)} - {"odd"}
    return [line.split() for line in lines if line and "…" not in line and not re.search(r"\d", line)]


def compare(words, said, shown):
    """What is shown must be all that a check says, and of another output lines that follow each other."""
    if words[1] == "check":
        assert shown == said
    else:
        rest = iter(said)
        assert shown and all(line in rest for line in shown), (said, shown)


def check_settings(text):
    """A file of changes must go with a configuration that comes along."""
    given = yaml.safe_load(text)
    base = load([ROOT / "config" / "open.yaml"])
    resolve(merge(base, given))


@pytest.fixture(scope="module")
def results(demo, tmp_path_factory):
    return reader.results(demo, tmp_path_factory.mktemp("reader") / "results")


@pytest.fixture
def here(results, tmp_path, monkeypatch):
    reader.desk(results, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def blocks(page, folder):
    """The examples of a page, which must be all of its blocks; its Python shares one namespace."""
    own = [CodeBlockParser(language, evaluate) for language, evaluate in evaluators(folder).items()]
    found = Sybil([PythonCodeBlockParser(), *own]).parse(ROOT / page)
    examples = list(found.examples())
    tokens = MarkdownIt().parse((ROOT / page).read_text(encoding="utf-8"))
    bare = [f"{page}, line {token.map[0] + 1}" for token in tokens if token.type == "code_block"]
    assert not bare, f"{bare}: code that is only indented does not say what it is; put it between ```"
    known = {"python", *evaluators(folder)}
    strange = [token.info for token in tokens if token.type == "fence" and token.info not in known]
    assert not strange, f"{page}: no test knows what to do with {strange}"
    assert len(examples) == sum(token.type == "fence" for token in tokens)
    return examples


@pytest.mark.parametrize("page", PAGES)
def test_every_block_of_a_page_works(page, here):
    if page == "docs/searching.md":
        pytest.importorskip("qdrant_edge", reason="the engine of bove index is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for example in blocks(page, here):
            example.evaluate()
