"""Where files come from: paths, downloads, local copies, the built-in corpus."""

from pathlib import Path

import pytest

from bove.config import sources
from bove.config.load import resolve
from bove.errors import BoveError


@pytest.fixture
def config(tmp_path, monkeypatch):
    """Make a resolved configuration whose plain paths exist; keywords change its sections."""
    monkeypatch.chdir(tmp_path)
    for name in ("train", "dev", "vectors.bin", "a.txt", "a.gs"):
        Path(name).write_text("", encoding="utf-8")

    def make(**sections):
        raw = {
            "run": "x",
            "treebank": {"train": "train", "dev": "dev"},
            "vectors": {"file": "vectors.bin"},
            "datasets": {
                "d": {"label": "D", "task": "similarity", "subsets": {"a": _files("a.txt", "a.gs")}}
            },
        }
        return resolve({**raw, **sections})

    return make


def _files(first, second):
    return {"input": first, "gold": second}


ARCHIVE = {"url": "https://host/a.zip", "members": ["in/x.txt", "in/y.txt"]}
PLACES = [
    ("data/train.conll", {}, "data/train.conll"),
    ("source:one", {"one": {"url": "https://host/f"}}, "results/downloads/one"),
    ("source:many/x.txt", {"many": ARCHIVE}, "results/downloads/many/x.txt"),
    ("source:many/x.txt", {"many": {**ARCHIVE, "file": "/my copy"}}, "/my copy/x.txt"),
    ("source:one", {"one": {"url": "https://host/f", "file": "/my/f.gz"}}, "/my/f.gz"),
    ("source:corpus/raw.txt", {"corpus": {"sentences": 100}}, "results/x/data/raw.txt"),
]


@pytest.mark.parametrize(("value", "named", "place"), PLACES)
def test_a_file_is_found_where_its_source_says(config, value, named, place):
    assert sources.locate(config(sources=named), value) == place


def test_a_home_folder_may_be_written_short(config, monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    assert sources.locate(config(), "~/train") == "/home/me/train"
    assert sources.locate(config(sources={"s": {"file": "~/sts"}}), "source:s/x") == "/home/me/sts/x"


def test_only_sources_that_a_file_comes_from_are_used(config):
    named = {"used": {"url": "https://host/f"}, "other": {"url": "https://host/g"}}
    made = config(sources=named, treebank={"train": "source:used", "dev": "dev"})
    assert list(sources.used(made)) == ["used"]


def test_files_that_the_run_does_not_read_may_be_missing(config):
    loaded = {"source": "train", "tagger": "absent", "parser": "absent"}
    sources.check(config(parser=loaded, vectors={"source": "train", "text": "a.txt", "file": "absent"}))


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"treebank": {"train": "absent", "dev": "dev"}}, "treebank.train: absent: no such file"),
        ({"treebank": {"train": "train", "dev": "."}}, "treebank.dev: .: is a folder, not a file"),
        ({"vectors": {"file": "source:vectros"}}, "vectors.file: no source 'vectros'; there are: none"),
        (
            {"vectors": {"file": "source:vectros"}, "sources": {"vectors": {"file": "vectors.bin"}}},
            "vectors.file: no source 'vectros'; did you mean vectors? there are: vectors",
        ),
        (
            {"vectors": {"file": "source:c/raw"}, "sources": {"c": {"sentences": 100}}},
            "vectors.file: source 'c' has no file 'raw'; did you mean raw.txt? there are: treebank/train",
        ),
        (
            {"vectors": {"file": "source:c/z.txt"}, "sources": {"c": ARCHIVE}},
            "vectors.file: source 'c' has no file 'z.txt'; did you mean",
        ),
        (
            {"vectors": {"file": "source:c/z.txt"}, "sources": {"c": {"url": "https://host/f"}}},
            "vectors.file: source 'c' is one file; write source:c",
        ),
        (
            {"vectors": {"file": "source:c/z.txt"}, "sources": {"c": {"file": "."}}},
            "vectors.file: ./z.txt: no such file",
        ),
        ({"parser": {"source": "load", "tagger": "t", "parser": "p"}}, "parser.tagger: t: no such file"),
        ({"sources": {"c": {"sha256": "0" * 64}}}, "sources.c: has no url, file or sentences; give one"),
        (
            {"sources": {"c": {"url": "https://host/f", "members": ["a/x", "b/x"]}}},
            "sources.c.members: two members have one file name",
        ),
        (
            {
                "datasets": {
                    "d": {"label": "D", "task": "similarity", "subsets": {"a": _files("a.txt", "no")}}
                }
            },
            "datasets.d.subsets.a.gold: no: no such file",
        ),
    ],
)
def test_what_is_not_there_is_named_with_its_key(config, sections, message):
    with pytest.raises(BoveError) as error:
        sources.check(config(**sections))
    assert str(error.value).startswith(f"configuration: {message}")
