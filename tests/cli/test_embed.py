"""`bove embed`: the vectors of the stages, in each kind of file, from each kind of input."""

import gzip
import json
import os

import numpy as np
import pandas as pd
import pytest
from tiny_run import encode, infer, make_run
from tiny_texts import PARSED, TEXTS, parse
from tiny_treebank import write_treebank

from bove.bags.store import Bags
from bove.cli.embed import read_texts
from bove.cli.main import main
from bove.embedder import Embedder
from bove.errors import BoveError

FORMS = [list(PARSED[text].forms) for text in TEXTS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny run, with text, trees, and the stages' bags of these."""
    folder = make_run(tmp_path_factory.mktemp("embed"))
    (folder / "texts.txt").write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    trees = write_treebank(folder / "t.conllu", list(PARSED.values()))
    for system in ("bove", "word-vectors"):
        infer(folder, system, encode(folder, trees, folder / "g"), folder / system, "--sentences", trees)
    return folder


@pytest.fixture
def embed(folder, tmp_path, monkeypatch):
    """Embed the texts, or another file, and give the path of what is written."""
    monkeypatch.setattr(Embedder, "parse", parse)

    def run(ending, *more, source=folder / "texts.txt"):
        out = tmp_path / f"out{ending}"
        assert main(["embed", str(source), "--run", str(folder), "-o", str(out), *map(str, more)]) == 0
        return out

    return run


@pytest.mark.parametrize("system", ["bove", "word-vectors"])
@pytest.mark.parametrize("source", ["texts.txt", "t.conllu"])
def test_every_kind_of_file_has_the_vectors_of_the_stages(folder, embed, system, source):
    want = Bags.open(folder / system)
    bags = [want[tree.id] for tree in PARSED.values()]
    more = {"source": folder / source}
    arrays = np.load(embed(".npz", "--system", system, **more))
    cut = np.split(arrays["vectors"], arrays["offsets"][1:-1])
    for own, bag in zip(cut, bags, strict=True):
        np.testing.assert_array_equal(own, bag)
    unknown = ("the", "!") if system == "word-vectors" else ()
    tokens = [form for forms in FORMS for form in forms if form not in unknown]
    assert arrays["tokens"].tolist() == tokens and arrays["vectors"].dtype == np.float32
    texts = TEXTS if source == "texts.txt" else [" ".join(forms) for forms in FORMS]
    assert arrays["texts"].tolist() == texts

    written = Bags.open(embed(".safetensors", "--system", system, **more))
    np.testing.assert_array_equal(written.vectors, arrays["vectors"])
    np.testing.assert_array_equal(written.offsets, arrays["offsets"])
    evidence = np.concatenate([want.evidence_of(want.bag_of(tree.id)) for tree in PARSED.values()])
    np.testing.assert_array_equal(written.evidence, evidence)
    np.testing.assert_array_equal(arrays["evidence"], evidence)
    assert (written.texts, written.system, written.model_hash) == (texts, system, want.model_hash)

    table = pd.read_parquet(embed(".parquet", "--system", system, **more))
    np.testing.assert_array_equal(np.stack(table["vector"]), arrays["vectors"])
    assert table["form"].tolist() == tokens and table["evidence"].tolist() == evidence.tolist()
    assert [FORMS[s - 1][t - 1] for s, t in zip(table["sentence"], table["token"], strict=True)] == tokens


@pytest.mark.parametrize("ending", [".npz", ".safetensors", ".parquet"])
def test_means_are_one_vector_for_each_sentence(folder, embed, ending):
    out, bags = embed(ending, "--pool", "mean"), Bags.open(folder / "bove")
    want = [bags[tree.id].mean(axis=0) if tree.forms else np.zeros(6) for tree in PARSED.values()]
    if ending == ".npz":
        found, texts = (np.load(out)[name] for name in ("vectors", "texts"))
        texts = texts.tolist()
    elif ending == ".safetensors":
        opened = Bags.open(out)
        found, texts = opened.vectors, opened.texts
        assert opened.offsets.tolist() == [0, 1, 2, 3, 4] and opened.metadata["pool"] == "mean"
    else:
        table = pd.read_parquet(out)
        found, texts = np.stack(table["vector"]), table["text"].tolist()
    np.testing.assert_allclose(found, want, atol=1e-6)
    assert texts == TEXTS


def test_sentences_come_from_lines_columns_and_keys(tmp_path):
    lines, table, records = (tmp_path / name for name in ("a.txt.gz", "a.csv", "a.jsonl"))
    with gzip.open(lines, "wt", encoding="utf-8") as stream:
        stream.write("one, two\r\n\nthree \u2028 four")
    table.write_text('id,text\n1,"one, ""two""\nthree"\n\n2,\n\n', encoding="utf-8")
    records.write_text("".join(json.dumps({"n": 1, "t": t}) + "\n\n" for t in ("one", "")), encoding="utf-8")
    assert read_texts(lines) == ["one, two", "", "three \u2028 four"]
    assert read_texts(table, "text") == ['one, "two"\nthree', ""]
    assert read_texts(records, "t") == ["one", ""]
    table.write_text("\ufefftext;n\nx;1\n", encoding="utf-8")
    with pytest.raises(BoveError, match="line 1: has no column 'text', but 'text;n'; give a CSV file"):
        read_texts(table, "text")


def test_standard_input_is_read_by_lines(folder, embed):
    kept, (reading, writing) = os.dup(0), os.pipe()
    try:
        os.dup2(reading, 0)
        os.write(writing, (folder / "texts.txt").read_bytes())
        os.close(writing)
        from_pipe = embed(".npz", source="-").read_bytes()
    finally:
        os.dup2(kept, 0)
        os.close(kept)
        os.close(reading)
    assert from_pipe == embed(".npz").read_bytes()


def test_sentences_without_a_vector_are_named(embed, capsys):
    embed(".npz")
    said = capsys.readouterr().err
    assert "4 sentences, 15 tokens, 15 vectors" in said
    assert "tokens are words that neither treebank nor word vectors have" in said
    assert "1 sentences have no vector, and so empty bags: numbers 4" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("{texts} -o {out}.txt --run {run}", ".txt: ends in none of .npz"),
        ("{empty} -o {out}.npz --run {run}", "empty: holds no sentence"),
        (
            "{json} -o {out}.npz --run {run} --column t",
            "line 1: has no text under 't'; keys with a text: x",
        ),
        ("{table} -o {out}.npz --run {run} --column t", "table, line 1: has no column 't'"),
        ("- -o {out}.npz --run {run} --column t", "--column needs a file"),
        ("{run}/t.conllu -o {out}.npz --run {run} --column t", "has trees; leave it out"),
        ("{texts} -o {out}.npz --run {run}", "has no tagger and parser"),
        ("{texts} -o {out}.npz --run {out}", "no run is there"),
        ("{texts} -o {out}.npz", "give --run"),
    ],
)
def test_what_cannot_be_embedded_is_one_line(folder, tmp_path, refused, words, said):
    contents = {"empty": "", "json": '{"t": 1, "x": "y"}', "table": "a,b\n1,2\n"}
    for name, content in contents.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    paths = {name: tmp_path / name for name in ("out", *contents)}
    refused(["embed", *words.format(run=folder, texts=folder / "texts.txt", **paths).split()], said)
    assert not list(tmp_path.glob("out*"))
