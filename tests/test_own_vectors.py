"""What docs/own-vectors.md shows works as it stands, and a mistake in foreign bags is one line."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from bove.bags.store import Bags, write_bags
from bove.cli.main import main
from bove.errors import BoveError
from bove.evaluate.results import read_scores
from bove.files import atomic_write
from bove.text.pairs import Pair, write_pairs

PAGE = Path(__file__).parent.parent / "docs" / "own-vectors.md"
TEXTS = {
    ("A cat sleeps.", "The cat is asleep."): 4.0, ("", "Nothing."): 0.0, ("same", "same"): 5.0,
    ("left", "out"): None, ("ab", "xyz"): 1.0,
}  # fmt: skip


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder, with pairs.jsonl, of which the fourth pair is not scored."""
    monkeypatch.chdir(tmp_path)
    pairs = [
        Pair(f"a-{i}", "mine", "Mine", "similarity", "a", *texts, gold, gold is not None)
        for i, (texts, gold) in enumerate(TEXTS.items())
    ]
    with atomic_write(tmp_path / "pairs.jsonl") as stream:
        write_pairs(stream, pairs)
    return tmp_path


@pytest.fixture
def written(folder):
    """The folder after both blocks of Python have run."""
    for block in blocks("python"):
        exec(compile(block, str(PAGE), "exec"), {})
    return folder


def score(bags="letters=mine.safetensors"):
    return main(["score", "--pairs", "pairs.jsonl", "--bags", bags, "--output", "scores.parquet"])


def test_evidence_may_be_written_too_and_must_fit_its_bag(tmp_path):
    bags = {"a": np.ones((2, 3)), "b": np.zeros((0, 3))}
    write_bags(tmp_path / "b", bags, evidence={"a": [3, -1], "b": []})
    assert Bags.open(tmp_path / "b").evidence_of(0).tolist() == [3, -1]
    for wrong in ({"a": [3], "b": []}, {"b": []}, {"a": [1, np.inf], "b": []}):
        with pytest.raises(BoveError, match="the evidence of 'a': give a finite number for each of its 2"):
            write_bags(tmp_path / "b", bags, evidence=wrong)


def test_both_ways_of_writing_and_the_commands_of_the_page_give_scores_and_tables(written, capsys):
    lines = [line for block in blocks("sh") for line in block.split("\n")]
    commands = [shlex.split(line) for line in lines if line.startswith("bove")]
    assert [words[1] for words in commands] == ["score", "tables"]
    for words in commands:
        assert not main(words[1:])
    scores = read_scores("scores.parquet")
    np.testing.assert_array_equal(scores.values["letters"], scores.values["plain"])
    assert scores.values["letters"][[1, 2, 4]].tolist() == [0, 1, 0]
    assert 0.5 < scores.values["letters"][0] < 1
    assert scores.empty["letters"].tolist() == [False, True, False, False, False]
    assert "| letters |" in re.sub(" +", " ", (written / "tables" / "sts.md").read_text(encoding="utf-8"))
    assert Bags.open("mine.safetensors").system == "letters"


def test_the_helper_s_file_is_the_plain_one_with_an_index(written):
    mine, plain = Bags.open("mine.safetensors"), Bags.open("plain.safetensors")
    assert sorted(mine.ids) == sorted(plain.ids) and len(mine) == 8
    for name in mine:
        np.testing.assert_array_equal(mine[name], plain[name])


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_other_precisions_give_the_same_scores_here(written, dtype):
    score()
    expected = read_scores("scores.parquet").values["letters"]
    arrays = load_file("plain.safetensors")
    save_file({**arrays, "vectors": arrays["vectors"].astype(dtype)}, "other.safetensors")
    assert not score("letters=other.safetensors")
    np.testing.assert_array_equal(read_scores("scores.parquet").values["letters"], expected)


def _without_last(arrays):
    ids, offsets = arrays["ids"].tobytes().decode().split("\n")[:-2], arrays["offsets"][:-2]
    ids = np.frombuffer("\n".join(ids).encode(), np.uint8)
    return {"ids": ids, "offsets": offsets, "vectors": arrays["vectors"][: offsets[-1]]}


def _with_value(arrays, value):
    vectors = arrays["vectors"].astype(np.float64)
    vectors[-1, 3] = value
    return {"vectors": vectors}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_without_last, "has no bag for sentence 'a-4.1' and 1 others of 8; give one for each sentence"),
        (lambda a: {"vectors": a["vectors"].ravel()}, "'vectors' is float32 with 1 axes"),
        (lambda a: {"offsets": a["offsets"][::-1].copy()}, "the offsets do not rise from 0 to"),
        (lambda a: _with_value(a, np.inf), "the bag of sentence 'a-4.2' holds a value that is not finite"),
        (lambda a: _with_value(a, 1e300), "the bag of sentence 'a-4.2' holds a value that is not finite"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_in_one_line(written, capsys, change, message):
    arrays = load_file("plain.safetensors")
    save_file(arrays | change(arrays), "bad.safetensors")
    assert score("letters=bad.safetensors") == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("bove score: bad.safetensors: ") and message in said
    assert not (written / "scores.parquet").exists()


@pytest.mark.parametrize(
    ("bags", "message"),
    [
        ({"a": []}, "no sentence has a vector"),
        ({"a": [1.0, 2.0]}, r"the bag of 'a' is float64 of shape \(2,\); give numbers of shape"),
        ({"a": [[1], [1, 2]]}, "the bag of .a. has rows of different lengths"),
        ({3: [[1.0]]}, "3 is no sentence.s id"),
        ([[1.0]], "list is given; give the bag of each sentence by its id"),
        ({"a": [[1.0]], "b": [[1.0, 2.0]]}, "the bag of 'b' has vectors of 2 dimensions, that of 'a' of 1"),
        ({"a": [[1.0, np.nan]]}, "the bag of 'a' holds a value that is not finite"),
        ({"": [[1.0]]}, "cannot name a row"),
    ],
)
def test_bags_that_are_none_are_refused_and_not_written(tmp_path, bags, message):
    with pytest.raises(BoveError, match=message):
        write_bags(tmp_path / "b", bags)
    assert list(tmp_path.iterdir()) == []
