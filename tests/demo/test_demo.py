"""The built-in corpus, and `bove demo`, which writes it."""

import hashlib
from collections import Counter

import pytest
from pair_forms import read_snli, read_sts

from bove import demo
from bove.cli.main import main
from bove.config.load import load_schema
from bove.text.conll import read_sentences

# SHA-256 of the names and bytes of the files, as the grammar wrote them
CONTENT = "0bda669eb06d5f514e85d7ee28a4f1dbd4d8f8c3071517d594334a8a25df10fd"


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """The folder of the corpus at its full size, which is the most that a configuration can ask for."""
    source = load_schema()["properties"]["sources"]["additionalProperties"]["properties"]
    folder = tmp_path_factory.mktemp("full")
    return folder, demo.write(folder, source["sentences"]["maximum"])


def test_every_file_is_there_and_reads_without_oddities(full):
    folder, counts = full
    content = [f"{name}\0".encode() + (folder / name).read_bytes() for name in demo.FILES]
    assert hashlib.sha256(b"".join(content)).hexdigest() == CONTENT
    oddities = Counter()
    for name, size in zip(demo.FILES, (4500, 450), strict=False):
        found = read_sentences(folder / name, counts=oddities, strict=True)
        assert len(list(found)) == counts[name] == size
    assert not oddities and counts["raw.txt"] == content[2].count(b"\n") == 22500
    for name in demo.SETS:
        pairs = read_sts(folder / f"sts/STS.input.{name}.txt", folder / f"sts/STS.gs.{name}.txt")
        assert (len(pairs), sum(pair.scored for pair in pairs)) == (250, 245)
    for part in ("dev", "test"):
        labels = Counter(pair.gold for pair in read_snli(folder / f"snli/{part}.jsonl"))
        assert (labels.total(), labels["-"]) == (600, 15)


@pytest.mark.parametrize(("sentences", "dev"), [(1, 200), (2500, 250)])
def test_a_smaller_corpus_is_the_beginning_of_the_full_one(full, tmp_path, capsys, sentences, dev):
    assert main(["demo", "--sentences", str(sentences), "--output", str(tmp_path)]) == 0
    said = capsys.readouterr().err
    rows = dict(zip(demo.FILES, (sentences, dev, 5 * sentences), strict=False))
    for name in demo.FILES:
        text, whole = ((folder / name).read_bytes() for folder in (tmp_path, full[0]))
        size = text.count(b"\n\n" if ".conll" in name else b"\n")
        assert whole.startswith(text) and f"{name}: {size}\n" in said
        assert size == rows[name] if name in rows else text == whole


@pytest.mark.parametrize("count", ["0", "-5", "4501"])
def test_a_size_that_the_corpus_does_not_have_is_refused(count, tmp_path, capsys):
    assert main(["demo", "--sentences", count, "--output", str(tmp_path)]) == 2
    assert f"--sentences {count}: " in capsys.readouterr().err and not list(tmp_path.iterdir())


def test_a_damaged_archive_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "SHA256", "0")
    with pytest.raises(demo.BoveError, match=r"corpus\.tar\.xz: damaged"):
        demo.write(tmp_path, 100)
