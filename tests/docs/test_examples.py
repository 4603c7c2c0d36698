"""Every block of code in the manual runs; what cannot run in a test is held against its program."""

import os
import re
import shutil
import warnings

import pytest
import yaml
from checkout import ROOT
from markdown_it import MarkdownIt
from shell import console, expanded, parse, run_bove
from small_demo import RUN
from sybil import Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser
from tiny_encoder import tiny_encoder

from bove.cli.parse import read_sides
from bove.config.load import load, merge, resolve

PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("README.md", "config/README.md", "results/README.md", "CHANGELOG.md", "docs/*.md")
    for path in ROOT.glob(pattern)
)

# name on a page → file of the run
NAMED = {
    "pairs.jsonl": "pairs/sts.jsonl",
    "tagger.pt": "parser/tagger.pt",
    "parser.pt": "parser/parser.pt",
    "vocabulary.json": "vocabulary.json",
    "vectors.safetensors": "vectors.safetensors",
    "model.safetensors": "model/model.safetensors",
    "TEST": "data/treebank/dev.conll09",
    "TREES": "parses/sts.conllu.gz",
    "gold.safetensors": "bags/bove/sts.safetensors",
    "predicted.safetensors": "bags/bove/sts.safetensors",
    "ewt-dev.conllu.gz": "parses/sts.conllu.gz",
    "STS.input.headlines.txt": "data/sts/STS.input.roles.txt",
    "STS.gs.headlines.txt": "data/sts/STS.gs.roles.txt",
    "results/open/bags/bove/STS-2014.safetensors": "bags/bove/sts.safetensors",
}
# runs that pages name, which here are the small one
RUNS = (RUN, "demo", "open", "mine", "ewt")

# Programs whose commands are only parsed: what they would do is made by other tests, or takes the network.
PARSED = {
    "snakemake": "a run takes minutes; tests/workflow plans and runs them",
    "make": "its targets are what the checks of the whole project call",
    "pip": "installs; the packaging tests do that",
    "conda": "installs, from a network",
    "mpiexec": "starts such scripts, where MPI is installed",
    "git": "fetches the project",
    "python": "scripts that measure for many minutes",
}
# Languages that are shown and not run.
SHOWN = {
    "math": "formulas, which building the site renders",
    "{argparse}": "filled in when the site is built",
    "bibtex": "held against CITATION.cff",
    "snakemake": "as tests/workflow/test_module.py has it",
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
    """A folder of results in which every run that a page names is a copy of the small demo."""
    folder = tmp_path_factory.mktemp("results")
    for name in RUNS:
        shutil.copytree(demo.results, folder / name)
    return folder


@pytest.fixture
def here(results, tmp_path, monkeypatch):
    """A folder with what the pages name."""
    (tmp_path / "results").symlink_to(results)
    for name, file in NAMED.items():
        if not (tmp_path / name).exists():
            os.link(results / RUN / file, tmp_path / name)
    pairs = [(a, b) for a in range(40) for b in range(40) if a % 2 == b % 2]
    triples = "".join(f"{a}\tlikes\t{b}\n" for a, b in pairs)
    (tmp_path / "triples.tsv").write_text(triples, encoding="utf-8")
    _, texts = read_sides(results / RUN / "pairs" / "sts.jsonl")
    (tmp_path / "sentences.txt").write_text("\n".join(texts[:1000]) + "\n", encoding="utf-8")
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
    if page == "docs/encoders.md":
        tiny_encoder(here / "ENCODER")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # the small demo's treebank lacks words of its pairs
        warnings.filterwarnings("default", message=".* tokens are words that neither treebank")
        for example in blocks(page, here):
            example.evaluate()
