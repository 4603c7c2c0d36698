"""`bove seeds` writes its files and the notes for the tables, or nothing."""

import csv
import dataclasses

import pytest
from test_ablations import group, scores_of

from bove.cli.main import main
from bove.evaluate.results import results_of

STATISTICS = ["--resamples", "100", "--confidence", "0.95", "--seed", "1"]


def scores(seed, **changes):
    sts, snli = scores_of("sts", "similarity", seed), scores_of("snli", "entailment", seed)
    return dataclasses.replace(sts, **changes), snli


def seeds(folder, *arguments):
    notes = ["--table-notes", str(folder / "notes.json")]
    return main(["seeds", *arguments, "--base", "1", *notes, "--output", str(folder / "out")])


def test_the_files_agree_with_the_results_of_each_seed_and_the_notes_reach_the_tables(tmp_path, capsys):
    groups = [group(tmp_path, str(seed), *scores(seed)) for seed in (1, 2, 7)]
    assert not seeds(tmp_path, *groups[0], *groups[1], *groups[2], "--development", "sts")
    with open(tmp_path / "out" / "seeds.csv", encoding="utf-8", newline="") as stream:
        rows = {(row["dataset"], row["subset"]): row for row in csv.DictReader(stream)}
    for seed in (1, 2, 7):
        for found in (r for s in scores(seed) for r in results_of(s) if r.system == "bove"):
            assert rows[found.dataset, found.subset][f"seed {seed}"] == repr(found.value)
    page = (tmp_path / "out" / "seeds.md").read_text(encoding="utf-8")
    assert capsys.readouterr().out == page
    assert "seeds 1, 2, 7" in page and "STS (development)" in page
    paths = [groups[0][2], groups[0][3]]
    arguments = [
        "--scores",
        *paths,
        *STATISTICS,
        "--notes",
        str(tmp_path / "notes.json"),
        "--output",
        str(tmp_path / "tables"),
    ]
    assert not main(["tables", *arguments])
    for name, shown in (("sts.md", "STS mean"), ("snli.md", "SNLI a")):
        text = (tmp_path / "tables" / name).read_text(encoding="utf-8")
        assert f"* Mean and standard deviation of bove over 3 seeds (seeds.md): {shown}" in text


def test_equal_scores_of_all_seeds_are_told(tmp_path, capsys):
    groups = [group(tmp_path, str(seed), *scores(5)) for seed in (1, 2)]
    assert not seeds(tmp_path, *groups[0], *groups[1])
    said = capsys.readouterr()
    assert "training did not depend on the seed" in said.out and "seeds 1, 2 have the same scores" in said.err


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ([], "--scores 1: one seed has no spread"),
        ([("2", {"pairs_sha256": "other"})], "data set 'sts' has other pairs than in"),
        ([("1", {})], "--scores 1: the variant stands twice"),
        ([("01", {})], "--scores 01: not a seed; write a whole number"),
        ([("9" * 20, {})], "not a seed; write a whole number"),
        ([("x", {})], "--scores x: not a seed; write a whole number"),
    ],
)
def test_what_has_no_spread_is_told_and_nothing_is_written(tmp_path, capsys, others, message):
    groups = [group(tmp_path, "1", *scores(1))]
    groups += [group(tmp_path, name, *scores(2, **changes)) for name, changes in others]
    assert seeds(tmp_path, *(word for words in groups for word in words)) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists() and not (tmp_path / "notes.json").exists()


@pytest.mark.parametrize("text", ["[]", "{", '{"similarity": [], "entailment": [3]}'])
def test_notes_that_are_none_are_told(tmp_path, capsys, text):
    (tmp_path / "n").write_text(text, encoding="utf-8")
    words = group(tmp_path, "1", *scores(1))
    arguments = ["--scores", *words[2:], *STATISTICS, "--notes", str(tmp_path / "n")]
    assert main(["tables", *arguments, "--output", str(tmp_path / "tables")]) == 2
    assert f"{tmp_path / 'n'}: holds " in capsys.readouterr().err
    assert not (tmp_path / "tables").exists()
