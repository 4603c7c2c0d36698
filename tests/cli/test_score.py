"""`bove score` writes one row per pair, and says in one line what is wrong with its input."""

import hashlib

import numpy as np
import pytest
import reference
from safetensors.numpy import save_file

from bove.bags.store import BagWriter
from bove.cli.main import main
from bove.evaluate.results import read_scores
from bove.files import atomic_write
from bove.text.pairs import Pair, write_pairs

BAGS = [np.array(rows, np.float32).reshape(-1, 2) for rows in ([[1, 0]], [[1, 1], [0, 2]], [[-1, 3]], [])]
SIMILARITY = [
    Pair(f"a-{i:05d}", "sts14", "STS-2014", "similarity", "a", "x", "y", gold, gold is not None)
    for i, gold in enumerate([2.5, None, 0.0, 4])
]
ENTAILMENT = [
    Pair(f"dev-{i}", "snli", "SNLI", "entailment", "dev", "x", "y", label, label != "-")
    for i, label in enumerate(["entailment", "-", "neutral", "contradiction"])
]


EVIDENCE = [np.array(row, float) for row in ([2], [-1, 3], [0.5], [])]


def write(folder, pairs, bags=BAGS, name="bags", evidence=None):
    """Pairs, and a bag for each scored side: side 1 of pair i has bag i, side 2 bag i + 1, turning round."""
    with atomic_write(folder / "pairs.jsonl") as stream:
        write_pairs(stream, pairs)
    scored = [(i, pair) for i, pair in enumerate(pairs) if pair.scored]
    ids = [f"{pair.id}.{side}" for _, pair in scored for side in (1, 2)]
    index = [(i + side) % len(bags) for i, _ in scored for side in (0, 1)]
    lengths = [len(bag) for bag in bags]
    made_by = (ids, lengths, index, 2, "bove", f"hash of {name}")
    with BagWriter(folder / name, *made_by, evidence=evidence is not None) as writer:
        for b, bag in enumerate(bags):
            writer.put(b, bag, evidence and evidence[b])


def score(folder, *bags, options=()):
    bags = bags or (f"bove={folder / 'bags'}",)
    words = ["score", "--pairs", str(folder / "pairs.jsonl"), "--bags", *bags, "--output", str(folder / "s")]
    return main([*words, *options])


def fails(folder, capsys, *bags):
    """The one line on stderr, beside the log, of a run that must leave no file."""
    assert score(folder, *bags) == 2
    assert not (folder / "s").exists()
    captured = capsys.readouterr().err
    assert "Traceback" not in captured
    return captured.split("\n")[-2]


@pytest.mark.parametrize(("pairs", "oracle"), [(SIMILARITY, reference.sts), (ENTAILMENT, reference.snli)])
def test_scored_pairs_get_the_score_of_their_task(tmp_path, capsys, pairs, oracle):
    write(tmp_path, pairs)
    assert score(tmp_path) == 0
    result = read_scores(tmp_path / "s")
    expected = [oracle(BAGS[i], BAGS[(i + 1) % 4]) if p.scored else np.nan for i, p in enumerate(pairs)]
    np.testing.assert_allclose(result.values["bove"], expected, atol=1e-11)
    assert result.empty["bove"].tolist() == [False, False, True, True]
    assert result.scored.tolist() == [True, False, True, True]
    assert result.ids == tuple(p.id for p in pairs)
    first = pairs[0]
    assert (result.dataset, result.label, result.task) == (first.dataset, first.label, first.task)
    said = capsys.readouterr().err
    assert "4 pairs, 3 of them with gold" in said and "2 with an empty bag" in said


@pytest.mark.parametrize(("pairs", "oracle"), [(SIMILARITY, reference.sts), (ENTAILMENT, reference.snli)])
def test_each_system_is_scored_with_each_weight_all_systems_by_one_after_another(
    tmp_path, capsys, pairs, oracle
):
    write(tmp_path, pairs, evidence=EVIDENCE)
    systems = [f"{name}={tmp_path / 'bags'}" for name in ("bove", "other")]
    options = ["--weight", "evidence", "none", "length", "--power", "2"]
    assert score(tmp_path, *systems, options=options) == 0
    result = read_scores(tmp_path / "s")
    names = [f"{name}{how}" for how in (" (evidence)", "", " (length)") for name in ("bove", "other")]
    assert list(result.values) == list(result.model_hashes) == names and result.power == 2
    weights = {
        "bove": None,
        "other (length)": [np.square(bag).sum(axis=1) for bag in BAGS],
        "bove (evidence)": [np.maximum(own, 0) ** 2 for own in EVIDENCE],
    }
    for name, own in weights.items():
        sides = [(i, (i + 1) % 4) for i in range(4)]
        expected = [
            oracle(BAGS[i], BAGS[j], own and (own[i], own[j])) if p.scored else np.nan
            for (i, j), p in zip(sides, pairs, strict=True)
        ]
        np.testing.assert_allclose(result.values[name], expected, atol=1e-11)
    # the other tokens of bag 1 count in its place
    assert "bove (evidence): 1 tokens have no weight and take no part" in capsys.readouterr().err


def test_bags_from_elsewhere_have_no_column_of_evidence_beside_others_that_have(tmp_path, capsys):
    write(tmp_path, SIMILARITY, evidence=EVIDENCE)
    write(tmp_path, SIMILARITY, name="foreign")
    systems = [f"bove={tmp_path / 'bags'}", f"other={tmp_path / 'foreign'}"]
    assert score(tmp_path, *systems, options=["--weight", "none", "evidence"]) == 0
    assert list(read_scores(tmp_path / "s").values) == ["bove", "other", "bove (evidence)"]
    assert "foreign: has no evidence, so other gets no column of it" in capsys.readouterr().err


def test_what_cannot_be_weighted_is_one_line(tmp_path, capsys):
    write(tmp_path, SIMILARITY)
    file = tmp_path / "bags"
    for options, line in (
        (["--weight", "evidence"], "bags: has no evidence of its vectors; weight them by length"),
        (["--power", "0"], "--power 0: must be a number above 0"),
        (["--power", "nan"], "--power nan: must be a number above 0"),
        (["--bags", f"x (length)={file}"], "the name ends as if weighted; leave that to --weight"),
    ):
        assert score(tmp_path, options=options) == 2
        assert line in capsys.readouterr().err
    write(tmp_path, SIMILARITY, evidence=[np.full(len(bag), np.nan) for bag in BAGS])
    assert score(tmp_path, options=["--weight", "evidence"]) == 2
    assert "bags: its evidence holds a value that is not finite" in capsys.readouterr().err


def test_the_file_carries_gold_and_hashes_and_is_the_same_twice(tmp_path):
    write(tmp_path, SIMILARITY)
    assert score(tmp_path) == 0
    result, first = read_scores(tmp_path / "s"), (tmp_path / "s").read_bytes()
    assert result.gold == ("2.5", None, "0.0", "4.0")
    assert result.pairs_sha256 == hashlib.sha256((tmp_path / "pairs.jsonl").read_bytes()).hexdigest()
    assert result.model_hashes == {"bove": "hash of bags"}
    score(tmp_path)
    assert (tmp_path / "s").read_bytes() == first


def test_systems_keep_their_order_and_may_come_from_elsewhere(tmp_path):
    write(tmp_path, SIMILARITY)
    ids = "\n".join(f"{p.id}.{side}" for p in SIMILARITY for side in (1, 2))
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


def test_a_sentence_is_as_long_as_the_longest_of_its_bags(tmp_path):
    write(tmp_path, SIMILARITY)
    write(tmp_path, SIMILARITY, [BAGS[0][:0], BAGS[1][:1], BAGS[2], np.ones((3, 2))], "words")
    assert score(tmp_path, f"words={tmp_path / 'words'}", f"bove={tmp_path / 'bags'}") == 0
    # of bags 0 to 3 the longer one has 1, 2, 1 and 3 vectors; pair 1 has no gold
    assert read_scores(tmp_path / "s").lengths.tolist() == [[1, 2], [0, 0], [1, 3], [3, 1]]


def test_an_opposed_direction_is_counted_in_the_log(tmp_path, capsys):
    write(tmp_path, SIMILARITY[:1], [np.array([[1, 0]]), np.array([[-1, 0]])])
    score(tmp_path)
    assert "1 similarities with a direction that is not positive" in capsys.readouterr().err
    assert read_scores(tmp_path / "s").values["bove"].tolist() == [0]


def test_a_missing_bag_and_values_that_are_not_finite_are_named_with_the_sentence(tmp_path, capsys):
    write(tmp_path, SIMILARITY[:3], name="old")
    write(tmp_path, SIMILARITY)
    line = fails(tmp_path, capsys, f"bove={tmp_path / 'bags'}", f"old={tmp_path / 'old'}")
    assert line.startswith(f"bove score: {tmp_path / 'old'}: has no bag for sentence 'a-00003.1'")
    write(tmp_path, SIMILARITY, [BAGS[0], np.array([[1, np.nan]]), *BAGS[2:]])
    assert "bags: the bag of sentence 'a-00000.2' holds a value that is not finite" in fails(tmp_path, capsys)


@pytest.mark.parametrize(
    ("bags", "message"),
    [
        (["bags"], "--bags bags: not a name, = and a value"),
        (["=bags"], "--bags =bags: not a name"),
        (["bove="], "--bags bove=: not a name"),
        (["bove=x", "bove=y"], "--bags bove=y: the name is repeated"),
        ([" bove=bags"], "the name has odd spaces"),
        (["bo\nve=bags"], "the name has odd spaces"),
        (["bove=nowhere"], "nowhere: no such file"),
    ],
)
def test_a_bad_name_or_file_of_bags_is_refused(tmp_path, capsys, bags, message):
    write(tmp_path, SIMILARITY)
    assert message in fails(tmp_path, capsys, *bags)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "holds no pairs"),
        ([*SIMILARITY, *ENTAILMENT], r"line 5: data set 'snli' (SNLI, entailment)"),
    ],
)
def test_pairs_that_do_not_belong_together_are_refused(tmp_path, capsys, pairs, message):
    write(tmp_path, SIMILARITY)
    write(tmp_path, pairs, name="others")
    assert message in fails(tmp_path, capsys)


def test_an_error_is_printed_once_and_is_in_the_log_too(tmp_path, capsys):
    write(tmp_path, SIMILARITY)
    assert score(tmp_path, "a=b", options=["--log", str(tmp_path / "log")]) == 2
    assert capsys.readouterr().err.count("b: no such file") == 1
    assert "b: no such file" in (tmp_path / "log").read_text(encoding="utf-8")
    assert score(tmp_path, options=["--log", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith(f"bove score: {tmp_path}: Is a directory")
