"""`bove compare-bags` from file to file."""

import json

import numpy as np
import pytest

from bove.bags.store import BagWriter
from bove.cli.main import main


def write(path, vectors, ids=("s1", "s2"), lengths=(2, 3), model="m" * 20):
    with BagWriter(path, ids, lengths, range(len(ids)), 3, "bove", model) as writer:
        writer.put_many(np.arange(len(lengths)), vectors)
    return str(path)


@pytest.fixture
def vectors():
    return np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)


def compare(tmp_path, first, second):
    words = ["--first", first, "--second", second, "--output", f"{tmp_path}/r.json", "--log", f"{tmp_path}/l"]
    code = main(["compare-bags", *words])
    return code, (tmp_path / "l").read_text(encoding="utf-8")


def test_the_report_has_all_tokens_and_each_length(tmp_path, vectors):
    turned = vectors.copy()
    turned[4] *= -2
    turned[0] = 0
    code, said = compare(tmp_path, write(tmp_path / "1", vectors), write(tmp_path / "2", turned))
    assert code == 0
    report = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert report["format"] == "bove-bag-comparison" and report["first"]["system"] == "bove"
    assert (report["sentences"], report["empty_sentences"], report["tokens"]) == (2, 0, 5)
    assert report["zero_vectors"] == {"first": 0, "second": 1, "both": 0}
    assert report["cosine"]["tokens"] == 4 and report["cosine"]["mean"] == pytest.approx(0.5)
    assert report["cosine"]["tokens_below"] == {"0.5": 1, "0.9": 1, "0.99": 1}
    assert [part["length"] for part in report["cosine_by_length"]] == ["1 to 5"]
    assert "5 tokens; zero vectors: 0 in the first file, 1 in the second" in said
    assert "all: cosine 0.5000 on average, 1.0000 median" in said and "25.0 % of 4 below 0.9" in said
    assert "different models" not in said


def test_different_models_are_said(tmp_path, vectors):
    first = write(tmp_path / "1", vectors)
    _, said = compare(tmp_path, first, write(tmp_path / "2", vectors, model="n" * 20))
    assert "different models" in said and "n" * 12 in said and "n" * 13 not in said


def test_other_sentences_are_one_line_and_no_report(tmp_path, vectors, capsys):
    first = write(tmp_path / "1", vectors)
    second = write(tmp_path / "2", vectors, lengths=(3, 2))
    assert compare(tmp_path, first, second)[0] == 2
    lines = [line for line in capsys.readouterr().err.split("\n") if line.startswith("bove compare-bags")]
    assert lines == [
        f"bove compare-bags: {second}: sentence 's1' has 3 vectors, but 2 in {first}; "
        f"compare bags of the same tokens"
    ]
    assert not (tmp_path / "r.json").exists()
