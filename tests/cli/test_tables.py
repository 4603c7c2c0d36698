"""`bove tables` writes its six files from the scores of all data sets, or none of them."""

import csv
import dataclasses

import numpy as np
import pytest
import scipy
import sklearn

from bove import __version__
from bove.cli.main import main
from bove.evaluate.metrics import MEASURES
from bove.evaluate.results import Scores, write_scores
from bove.evaluate.statistics import Bootstrap, evidence


def scores_of(dataset, label, task, subsets, gold, seed=0, model="m"):
    n = len(gold)
    rng = np.random.default_rng(seed)
    scored = np.array([g not in (None, "-") for g in gold])
    return Scores(
        dataset=dataset,
        label=label,
        task=task,
        ids=tuple(f"{dataset}-{i}" for i in range(n)),
        subsets=tuple(subsets),
        gold=tuple(gold),
        scored=scored,
        values={name: np.where(scored, rng.uniform(size=n), np.nan) for name in ("words", "bove")},
        empty={name: np.zeros(n, bool) for name in ("words", "bove")},
        pairs_sha256=dataset,
        model_hashes={"words": "", "bove": model},
        lengths=rng.integers(1, 9, (n, 2)),
    )


STS = scores_of(
    "sts14",
    "STS-2014",
    "similarity",
    ["images"] * 3 + ["OnWN"] * 3,
    ["1.0", "2.5", "4.0", "0.0", None, "5.0"],
)
SNLI = scores_of("snli", "SNLI", "entailment", ["dev"] * 4, ["neutral", "-", "entailment", "contradiction"])


STATISTICS = ["--resamples", "100", "--confidence", "0.9", "--seed", "4"]
FILES = ["differences.csv", "scores.csv", "snli.md", "snli.tex", "sts.md", "sts.tex"]


def tables(folder, all_scores, *options):
    paths = [str(folder / f"{i}.parquet") for i in range(len(all_scores))]
    for path, scores in zip(paths, all_scores, strict=True):
        write_scores(scores, path)
    return main(["tables", "--scores", *paths, *STATISTICS, "--output", str(folder / "out"), *options])


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_files_hold_all_results_and_the_tables_are_printed(tmp_path, capsys):
    assert tables(tmp_path, [SNLI, STS], "--development", "sts14") == 0
    out = tmp_path / "out"
    assert sorted(path.name for path in out.iterdir()) == FILES
    rows = [row for row in rows_of(out / "scores.csv") if row["metric"] in ("pearson", "average-precision")]
    assert [(row["dataset"], row["subset"], row["system"]) for row in rows[::2]] == [
        ("snli", "dev", "words"),
        ("sts14", "images", "words"),
        ("sts14", "OnWN", "words"),
        ("sts14", "mean", "words"),
        ("sts14", "mean weighted by pairs", "words"),
        ("sts14", "all pairs together", "words"),
    ]
    sts, snli = ((out / name).read_text(encoding="utf-8") for name in ("sts.md", "snli.md"))
    assert "| STS-2014 (development) | images" in sts and "0.7410" in sts
    assert "| SNLI     | dev" in snli and "65.74%" in snli
    captured = capsys.readouterr()
    assert captured.out == sts + "\n" + snli
    for name in FILES:
        assert f"wrote {out / name}" in captured.err


def test_all_metrics_have_intervals_and_differences(tmp_path, capsys):
    assert tables(tmp_path, [SNLI, STS]) == 0
    rows = rows_of(tmp_path / "out" / "scores.csv")
    metrics = {task: {row["metric"] for row in rows if row["task"] == task} for task in MEASURES}
    assert metrics == {task: set(names) for task, names in MEASURES.items()}
    found = [row for task in (SNLI, STS) for row in evidence(task, Bootstrap(100, 0.9, 4))[0]]
    assert [(row["low"], row["high"]) for row in rows] == [(str(r.low), str(r.high)) for r in found]
    differences = rows_of(tmp_path / "out" / "differences.csv")
    assert [(d["system"], d["against"]) for d in differences] == [("bove", "words")] * (3 + 2 * 5)
    assert all(float(d["p_adjusted"]) >= float(d["p_value"]) for d in differences)


def test_captions_name_data_versions_models_seed_and_resamples(tmp_path, capsys):
    assert tables(tmp_path, [SNLI, STS]) == 0
    for name in ("sts.md", "sts.tex"):
        text = (tmp_path / "out" / name).read_text(encoding="utf-8").replace("\\", "")
        for said in (
            "STS-2014 (5 pairs scored, 1 left out)",
            "90% intervals: percentiles of 100 resamples",
            "(seed 4)",
            f"bove {__version__}, NumPy {np.__version__}, SciPy {scipy.__version__}",
            f"scikit-learn {sklearn.__version__}",
            "words not named, bove m.",
        ):
            assert said in text, (name, said)


def test_the_label_s_own_correlation_with_length_is_said(tmp_path, capsys):
    assert tables(tmp_path, [SNLI]) == 0
    length = np.corrcoef([0, 1, 0], SNLI.lengths[[0, 2, 3], 1])[0, 1]
    text = (tmp_path / "out" / "snli.md").read_text(encoding="utf-8")
    assert f"has a correlation of {length:.4f} with that length." in text


def test_two_runs_give_the_same_bytes_whatever_the_threads(tmp_path, capsys):
    tables(tmp_path, [STS, SNLI])
    first = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    tables(tmp_path, [STS, SNLI], "--threads", "2")
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == first


def test_one_task_alone_still_gives_both_tables(tmp_path, capsys):
    assert tables(tmp_path, [STS]) == 0
    for name in ("snli.md", "snli.tex"):
        assert "No data set of this task" in (tmp_path / "out" / name).read_text(encoding="utf-8")


def test_undefined_values_and_mixed_models_are_warned_of(tmp_path, capsys):
    flat = dataclasses.replace(STS, gold=("1", "1", "1", "0", None, "5"))
    later = dataclasses.replace(SNLI, model_hashes={"words": "", "bove": "other"})
    assert tables(tmp_path, [flat, later]) == 0
    log = capsys.readouterr().err
    assert "sts14 images, bove: pearson is undefined (constant)" in log
    assert "bove: bags of 2 different models, in sts14, snli" in log
    assert "100 resamples are few for intervals of 90%; take at least 200, or a lower confidence" in log
    assert "words: bags of" not in log


@pytest.mark.parametrize(
    ("all_scores", "options", "message"),
    [
        ([STS, SNLI, STS], [], "0.parquet already; give one file for each data set"),
        (
            [STS, dataclasses.replace(STS, pairs_sha256="other")],
            [],
            "0.parquet already, and of other pairs; give one file for each data set",
        ),
        ([STS], ["--resamples", "0"], "--resamples 0: must be at least 1"),
        ([STS], ["--resamples", "1000001"], "--resamples 1000001: must be at least 1 and at most 1000000"),
        ([STS], ["--threads", "0"], "--threads 0: must be at least 1"),
        ([STS], ["--confidence", "95"], "--confidence 95: must be between 0 and 1"),
        ([STS], ["--seed", "-1"], "--seed -1: must be a whole number from 0"),
        ([STS], ["--development", "sts15"], "--development sts15: no such data set; the scores have sts14"),
        ([dataclasses.replace(STS, subsets=("mean",) * 6)], [], "has a subset 'mean'"),
    ],
)
def test_what_can_not_be_tabulated_is_told_and_nothing_is_written(
    tmp_path, capsys, all_scores, options, message
):
    assert tables(tmp_path, all_scores, *options) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_file_that_holds_no_scores_is_told(tmp_path, capsys):
    (tmp_path / "x").write_bytes(b"PAR1")
    arguments = ["--scores", str(tmp_path / "x"), *STATISTICS, "--output", str(tmp_path / "out")]
    assert main(["tables", *arguments]) == 2
    assert capsys.readouterr().err.startswith(f"bove tables: {tmp_path / 'x'}: not a Parquet file")
