"""`bove ablations` writes its four files from the scores of all variants, or none of them."""

import csv
import dataclasses

import numpy as np
import pytest

from bove.cli.main import main
from bove.evaluate.results import Scores, write_scores

KINDS = ["csv", "md", "png", "svg"]


def scores_of(dataset, task, seed, system="bove"):
    rng = np.random.default_rng(seed)
    gold = ["0.5", "4.0", "1.0", "5.0", "2.5", "3.0"]
    if task == "entailment":
        gold = ["entailment", "neutral", "contradiction", "entailment", "neutral", "neutral"]
    return Scores(
        dataset=dataset,
        label=dataset.upper(),
        task=task,
        ids=tuple(map(str, range(6))),
        subsets=("a",) * 3 + ("b",) * 3,
        gold=tuple(gold),
        scored=np.ones(6, bool),
        values={name: rng.uniform(size=6) for name in ("words", system)},
        empty={name: np.zeros(6, bool) for name in ("words", system)},
        pairs_sha256=dataset,
        model_hashes={"words": "", system: str(seed)},
        lengths=np.ones((6, 2), int),
    )


def group(folder, name, *all_scores):
    """The arguments of one variant, whose scores are written."""
    paths = []
    for i, scores in enumerate(all_scores):
        paths.append(str(folder / f"{name}-{i}.parquet"))
        write_scores(scores, paths[-1])
    return ["--scores", name, *paths]


def variant(folder, name, seed, **change):
    sts, snli = scores_of("sts", "similarity", seed), scores_of("snli", "entailment", seed)
    return group(folder, name, dataclasses.replace(sts, **change), snli)


def ablations(folder, *arguments):
    return main(["ablations", *arguments, "--output", str(folder / "out")])


def test_four_files_hold_all_variants_and_the_table_is_printed(tmp_path, capsys):
    arguments = [*variant(tmp_path, "less", 1), *variant(tmp_path, "full", 2), *variant(tmp_path, "more", 3)]
    assert ablations(tmp_path, *arguments, "--base", "full", "--development", "sts") == 0
    out = tmp_path / "out"
    assert sorted(path.name for path in out.iterdir()) == [f"ablations.{kind}" for kind in KINDS]
    with open(out / "ablations.csv", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert list(dict.fromkeys(row["variant"] for row in rows)) == ["less", "full", "more"]
    assert {row["dataset"] for row in rows} == {"sts", "snli"} and len(rows) == 3 * (5 + 2)
    text = (out / "ablations.md").read_text(encoding="utf-8")
    assert "STS (development), mean of 2 subsets" in text and "| full (base) |" in text
    svg = (out / "ablations.svg").read_text(encoding="utf-8")
    assert ">less<" in svg and ">STS (development)<" in svg
    captured = capsys.readouterr()
    assert captured.out == text
    assert all(f"wrote {out / f'ablations.{kind}'}" in captured.err for kind in KINDS)


def test_the_named_system_is_the_one_that_counts(tmp_path, capsys):
    arguments = [*variant(tmp_path, "full", 1), *variant(tmp_path, "less", 2), "--base", "full"]
    assert ablations(tmp_path, *arguments) == 0
    by_bove = (tmp_path / "out" / "ablations.csv").read_bytes()
    assert ablations(tmp_path, *arguments, "--system", "words") == 0
    assert (tmp_path / "out" / "ablations.csv").read_bytes() != by_bove
    assert "the system *words*" in capsys.readouterr().out


def test_two_runs_give_the_same_bytes_whatever_the_order_of_a_variants_files(tmp_path, capsys):
    full, less = variant(tmp_path, "full", 1), variant(tmp_path, "less", 2)
    assert ablations(tmp_path, *full, *less, "--base", "full") == 0
    first = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert ablations(tmp_path, *full, *less[:2], *less[:1:-1], "--base", "full") == 0
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == first


def test_undefined_values_are_warned_of(tmp_path, capsys):
    flat = {"values": {"bove": np.array([1, 1, 1, 0.1, 0.2, 0.3])}, "empty": {"bove": np.zeros(6, bool)}}
    arguments = [*variant(tmp_path, "full", 1), *variant(tmp_path, "flat", 2, **flat), "--base", "full"]
    assert ablations(tmp_path, *arguments) == 0
    assert "flat: sts a: pearson is undefined (constant)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, ["--base", "ful"], "--base ful: no such variant; --scores names full, less"),
        ({}, ["--base", "full", "--development", "sick"], "--development sick: no such data set; the scores"),
        (
            {"pairs_sha256": "new"},
            ["--base", "full"],
            "less-0.parquet: data set 'sts' has other pairs than in",
        ),
        (
            {},
            ["--base", "full", "--system", "bov"],
            "full-0.parquet: has no system 'bov'; choose with --system",
        ),
        ({"dataset": "snli"}, ["--base", "full"], "less-1.parquet: data set 'snli' stands in"),
        ({"dataset": "sick"}, ["--base", "full"], "--scores full: has no scores of data set 'sick', which"),
    ],
)
def test_what_can_not_be_compared_is_told_in_a_line_and_nothing_is_written(
    tmp_path, capsys, change, options, message
):
    arguments = [*variant(tmp_path, "full", 1), *variant(tmp_path, "less", 2, **change)]
    assert ablations(tmp_path, *arguments, *options) == 2
    err = capsys.readouterr().err
    assert message in err and err.startswith("bove ablations: ") and err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_data_set_that_one_variant_lacks_is_told(tmp_path, capsys):
    full = variant(tmp_path, "full", 1)
    assert ablations(tmp_path, *full, "--scores", "less", full[2], "--base", "less") == 2
    assert "--scores less: has no scores of data set 'snli'" in capsys.readouterr().err


@pytest.mark.parametrize("groups", [["full"], ["full", "x"]])
def test_a_variant_without_files_or_named_twice_is_told(tmp_path, capsys, groups):
    arguments = [*variant(tmp_path, "full", 1), "--scores", *groups, "--base", "full"]
    assert ablations(tmp_path, *arguments) == 2
    message = "not a name with files" if len(groups) == 1 else "the variant stands twice"
    assert f"--scores full: {message}" in capsys.readouterr().err
