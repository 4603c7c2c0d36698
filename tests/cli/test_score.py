"""`bove score` writes one row a pair, and says in one line what is wrong with its input."""

import dataclasses
import hashlib

import numpy as np
import pytest
import reference_alignment
from safetensors.numpy import save_file

from bove.bags.store import BagWriter
from bove.cli.main import main
from bove.evaluate.results import read_scores
from bove.files import atomic_write
from bove.text.pairs import Pair, write_pairs

BAGS = [np.array(rows, np.float32).reshape(-1, 2) for rows in ([[1, 0]], [[1, 1], [0, 2]], [[-1, 3]], [])]
GOLD = [2.5, None, 0.0, 4]


def similarity_pairs():
    return [
        Pair(f"a-{i:05d}", "sts14", "STS-2014", "similarity", "a", "x", "y", gold, gold is not None)
        for i, gold in enumerate(GOLD)
    ]


def entailment_pairs():
    labels = ["entailment", "-", "neutral", "contradiction"]
    return [
        Pair(f"dev-{i}", "snli", "SNLI", "entailment", "dev", "x", "y", label, label != "-")
        for i, label in enumerate(labels)
    ]


def write(folder, pairs, bags=BAGS, name="bags"):
    """Pairs, and a bag for each scored side: side 1 of pair i has bag i, side 2 bag i + 1, turning round."""
    with atomic_write(folder / "pairs.jsonl") as stream:
        write_pairs(stream, pairs)
    sides = [
        (f"{p.id}.{side + 1}", (i + side) % len(bags))
        for i, p in enumerate(pairs)
        for side in (0, 1)
        if p.scored
    ]
    ids, index = [i for i, _ in sides], [b for _, b in sides]
    with BagWriter(
        folder / name, ids, [len(bag) for bag in bags], index, 2, "bove", f"hash of {name}"
    ) as writer:
        for b, bag in enumerate(bags):
            writer.put(b, bag)


def score(folder, *bags):
    bags = bags or (f"bove={folder / 'bags'}",)
    return main(
        ["score", "--pairs", str(folder / "pairs.jsonl"), "--bags", *bags, "--output", str(folder / "s")]
    )


@pytest.mark.parametrize(
    ("pairs", "oracle"),
    [(similarity_pairs(), reference_alignment.sts), (entailment_pairs(), reference_alignment.snli)],
)
def test_scored_pairs_get_the_score_of_their_task(tmp_path, capsys, pairs, oracle):
    write(tmp_path, pairs)
    assert score(tmp_path) == 0
    result = read_scores(tmp_path / "s")
    expected = [oracle(BAGS[i], BAGS[(i + 1) % 4]) if p.scored else np.nan for i, p in enumerate(pairs)]
    np.testing.assert_allclose(result.values["bove"], expected, atol=1e-11)
    assert result.empty["bove"].tolist() == [False, False, True, True]
    assert result.scored.tolist() == [True, False, True, True]
    assert result.ids == tuple(p.id for p in pairs)
    assert "4 pairs, 3 of them with gold" in capsys.readouterr().err


def test_the_file_carries_gold_and_hashes(tmp_path, capsys):
    write(tmp_path, similarity_pairs())
    assert score(tmp_path) == 0
    result = read_scores(tmp_path / "s")
    assert (result.dataset, result.label, result.task) == ("sts14", "STS-2014", "similarity")
    assert result.gold == ("2.5", None, "0.0", "4.0")
    assert result.pairs_sha256 == hashlib.sha256((tmp_path / "pairs.jsonl").read_bytes()).hexdigest()
    assert result.model_hashes == {"bove": "hash of bags"}
    assert "2 with an empty bag" in capsys.readouterr().err


def test_two_runs_give_the_same_bytes(tmp_path):
    write(tmp_path, similarity_pairs())
    score(tmp_path)
    first = (tmp_path / "s").read_bytes()
    score(tmp_path)
    assert (tmp_path / "s").read_bytes() == first


def test_systems_keep_their_order_and_may_come_from_elsewhere(tmp_path):
    write(tmp_path, similarity_pairs())
    ids = "\n".join(f"{p.id}.{side}" for p in similarity_pairs() for side in (1, 2))
    foreign = {
        "vectors": np.ones((8, 5), np.float32),
        "offsets": np.arange(9),
        "ids": np.frombuffer(ids.encode(), np.uint8),
    }
    save_file(foreign, tmp_path / "other=1")
    assert score(tmp_path, f"other={tmp_path / 'other=1'}", f"bove={tmp_path / 'bags'}") == 0
    result = read_scores(tmp_path / "s")
    assert list(result.values) == ["other", "bove"]
    assert result.values["other"][[0, 2, 3]].tolist() == [1, 1, 1]
    assert result.model_hashes["other"] == ""


def test_a_sentence_is_as_long_as_the_longest_of_its_bags(tmp_path, capsys):
    write(tmp_path, similarity_pairs())
    write(tmp_path, similarity_pairs(), [BAGS[0][:0], BAGS[1][:1], BAGS[2], np.ones((3, 2))], "words")
    assert score(tmp_path, f"words={tmp_path / 'words'}", f"bove={tmp_path / 'bags'}") == 0
    # of bags 0 to 3 the longer one has 1, 2, 1 and 3 vectors; pair 1 has no gold
    assert read_scores(tmp_path / "s").lengths.tolist() == [[1, 2], [0, 0], [1, 3], [3, 1]]


def test_an_opposed_direction_is_counted_in_the_log(tmp_path, capsys):
    write(tmp_path, similarity_pairs()[:1], [np.array([[1, 0]]), np.array([[-1, 0]])])
    score(tmp_path)
    assert "1 similarities with a direction that is not positive" in capsys.readouterr().err
    assert read_scores(tmp_path / "s").values["bove"].tolist() == [0]


def fails(folder, capsys, *bags):
    """The one line on stderr, beside the log, of a run that must leave no file."""
    assert score(folder, *bags) == 2
    assert not (folder / "s").exists()
    captured = capsys.readouterr().err
    assert "Traceback" not in captured
    return captured.splitlines()[-1]


def test_a_sentence_without_a_bag_is_named_with_the_file(tmp_path, capsys):
    write(tmp_path, similarity_pairs()[:3])
    (tmp_path / "bags").rename(tmp_path / "old")
    write(tmp_path, similarity_pairs())
    line = fails(tmp_path, capsys, f"bove={tmp_path / 'bags'}", f"old={tmp_path / 'old'}")
    assert line.startswith(f"bove score: {tmp_path / 'old'}: has no bag for sentence 'a-00003.1'")


def test_values_that_are_not_finite_are_named_with_the_sentence(tmp_path, capsys):
    write(tmp_path, similarity_pairs(), [BAGS[0], np.array([[1, np.nan]]), BAGS[2], BAGS[3]])
    assert "bags: the bag of sentence 'a-00000.2' holds a value that is not finite" in fails(tmp_path, capsys)


@pytest.mark.parametrize(
    ("bags", "message"),
    [
        (["bags"], "--bags bags: not NAME=FILE"),
        (["=bags"], "--bags =bags: not NAME=FILE"),
        (["bove="], "--bags bove=: not NAME=FILE"),
        (["bove=x", "bove=y"], "--bags bove=y: system 'bove' stands twice"),
        ([" bove=bags"], "the name has odd spaces"),
        (["bo\nve=bags"], "the name has odd spaces"),
        (["bove=nowhere"], "nowhere: no such file"),
    ],
)
def test_a_bad_name_or_file_of_bags_is_told(tmp_path, capsys, bags, message):
    write(tmp_path, similarity_pairs())
    assert message in fails(tmp_path, capsys, *bags)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "holds no pairs"),
        ([*similarity_pairs(), *entailment_pairs()], r"line 5: data set 'snli' (SNLI, entailment)"),
        ([dataclasses.replace(similarity_pairs()[1], scored=True)], "line 1: scored, but without gold"),
    ],
)
def test_pairs_that_do_not_belong_together_are_refused(tmp_path, capsys, pairs, message):
    write(tmp_path, pairs)
    assert message in fails(tmp_path, capsys)


def test_a_fault_is_said_once_and_stands_in_the_log_too(tmp_path, capsys):
    write(tmp_path, [])
    assert (
        main(
            [
                "score",
                "--pairs",
                str(tmp_path / "pairs.jsonl"),
                "--bags",
                "a=b",
                "--output",
                str(tmp_path / "s"),
                "--log",
                str(tmp_path / "log"),
            ]
        )
        == 2
    )
    assert capsys.readouterr().err.count("holds no pairs") == 1
    assert "holds no pairs" in (tmp_path / "log").read_text(encoding="utf-8")


def test_a_log_that_can_not_be_written_is_told(tmp_path, capsys):
    write(tmp_path, similarity_pairs())
    words = ["score", "--pairs", "p", "--bags", "a=b", "--output", "s", "--log", str(tmp_path)]
    assert main(words) == 2
    assert capsys.readouterr().err.startswith(f"bove score: --log {tmp_path}: cannot be written")
