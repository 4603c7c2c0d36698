"""Where files come from: paths, downloads, local copies, the built-in corpus."""

from pathlib import Path

import pytest

from bove.config import sources
from bove.config.load import resolve
from bove.errors import BoveError

FILES = {"input": "a.txt", "gold": "a.gs"}
WEB = {"url": "https://host/f"}
ARCHIVE = {"url": "https://host/a.zip", "members": ["in/x.txt", "in/y.txt"]}


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
            "datasets": {"d": {"label": "D", "task": "similarity", "subsets": {"a": FILES}}},
        }
        return resolve({**raw, **sections})

    return make


@pytest.mark.parametrize(
    ("value", "named", "place"),
    [
        ("data/train.conll", {}, "data/train.conll"),
        ("source:one", {"one": WEB}, "results/downloads/one"),
        ("source:many/x.txt", {"many": ARCHIVE}, "results/downloads/many/x.txt"),
        ("source:many/x.txt", {"many": {**ARCHIVE, "file": "/my copy"}}, "/my copy/x.txt"),
        ("source:one", {"one": {"url": "https://host/f", "file": "/my/f.gz"}}, "/my/f.gz"),
        ("source:corpus/raw.txt", {"corpus": {"sentences": 100}}, "results/x/data/raw.txt"),
    ],
)
def test_a_file_is_found_where_its_source_says(config, value, named, place):
    assert sources.locate(config(sources=named), value) == place


def test_a_home_folder_may_be_written_short(config, monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    assert sources.locate(config(), "~/train") == "/home/me/train"
    assert sources.locate(config(sources={"s": {"file": "~/sts"}}), "source:s/x") == "/home/me/sts/x"


def test_word_vectors_of_another_rank_are_refused_before_anything_runs(config):
    Path("vectors.bin").write_text("2 3\na 1 2 3\nb 4 5 6\n", encoding="utf-8")
    sources.check(config(model={"rank": 3}))
    sources.check(config(model={"rank": 4, "pretrained": False}))
    said = "model.rank: is 4, but vectors.bin has vectors of 3 dimensions; set it to 3 or give other vectors"
    with pytest.raises(BoveError, match=said):
        sources.check(config(model={"rank": 4}))


def test_more_components_than_an_encoder_has_are_refused_before_anything_runs(config):
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        Path("e").mkdir(exist_ok=True)
        Path("e", name).write_text('{"hidden_size": 3}', encoding="utf-8")
    over = {"encoders": {"e": {"path": "e"}}, "vectors": {"source": "encoder", "encoder": "e"}}
    sources.check(config(model={"rank": 3}, **over))
    said = "model.rank: is 4, but encoder e has 3 dimensions; set it to 3 or less"
    with pytest.raises(BoveError, match=said):
        sources.check(config(model={"rank": 4}, **over))


def test_files_that_the_run_does_not_read_may_be_missing(config):
    loaded = {"source": "train", "tagger": "absent", "parser": "absent"}
    sources.check(config(parser=loaded, vectors={"source": "train", "text": "a.txt", "file": "absent"}))


def vectors(file, source):
    return {"vectors": {"file": f"source:{file}"}, "sources": {"c": source}}


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"treebank": {"train": "absent", "dev": "dev"}}, "treebank.train: absent: no such file"),
        ({"treebank": {"train": "train", "dev": "."}}, "treebank.dev: .: is a folder, not a file"),
        ({"parser": {"source": "load", "tagger": "t", "parser": "p"}}, "parser.tagger: t: no such file"),
        ({"sources": {"c": {"sha256": "0" * 64}}}, "sources.c: has no url, file or sentences; give one"),
        ({"sources": {"c": {**WEB, "members": ["a/x", "b/x"]}}}, "sources.c.members: two members have"),
        ({"bags": {"other": {"d": "no"}}}, "bags.other.d: no: no such file"),
        ({"encoders": {"e": {"path": "no"}}}, "encoders.e.path: no: no folder of an encoder"),
        (vectors("cc/x", WEB), "vectors.file: no source 'cc'; did you mean c? there are: c"),
        (vectors("vectors", WEB), "vectors.file: no source 'vectors'; there are: c"),
        (
            vectors("c/raw", {"sentences": 100}),
            "vectors.file: source 'c' has no file 'raw'; did you mean ra",
        ),
        (vectors("c/z.txt", ARCHIVE), "vectors.file: source 'c' has no file 'z.txt'; did you mean"),
        (vectors("c/z.txt", WEB), "vectors.file: source 'c' is one file; write source:c"),
        (vectors("c/z.txt", {"file": "."}), "vectors.file: ./z.txt: no such file"),
    ],
)
def test_what_is_not_there_is_named_with_its_key(config, sections, message):
    with pytest.raises(BoveError) as error:
        sources.check(config(**sections))
    assert str(error.value).startswith(f"configuration: {message}")


@pytest.mark.parametrize("run", ["README.md", "downloads"])
def test_a_run_needs_a_folder_of_its_own(config, run):
    Path("results/other").mkdir(parents=True)
    Path("results/README.md").touch()
    sources.check(config(run="other"))
    with pytest.raises(BoveError, match=f"^configuration: run: results/{run} is not free for a run; choose"):
        sources.check(config(run=run))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"tagger_options": {"nonsense": "1"}},
            "tagger_options: option 'nonsense': Stanza's tagger has none of",
        ),
        ({"parser_options": {"max_steps": "few"}}, "parser_options: option max_steps=few: "),
    ],
)
def test_stanza_s_options_are_checked_before_the_run(config, options, said):
    pytest.importorskip("stanza")
    sources.check(config(parser={"tagger_options": {"max_steps": "9"}}))
    with pytest.raises(BoveError, match=f"^configuration: parser.{said}"):
        sources.check(config(parser=options))
