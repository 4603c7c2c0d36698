"""`bove tables`, `ablations` and `seeds` write all their files from scores of data sets, or none of them."""

import csv
import dataclasses

import numpy as np
import pytest
import scipy
import sklearn
from made_scores import scores_of, written

from bove import __version__
from bove.cli.main import main
from bove.evaluate.metrics import MEASURES
from bove.evaluate.results import results_of
from bove.evaluate.statistics import Bootstrap, evidence


def random_scores(dataset, label, task, subsets, gold, seed=0, model="m", **more):
    rng = np.random.default_rng(seed)
    values = {name: rng.uniform(size=len(gold)) for name in ("words", "bove")}
    lengths = rng.integers(1, 9, (len(gold), 2))
    named = {"dataset": dataset, "label": label, "models": {"bove": model}, "lengths": lengths}
    return scores_of(task, subsets, gold, values, **named, **more)


STS = random_scores(
    "sts14", "STS-2014", "similarity", ["images"] * 3 + ["OnWN"] * 3, [1.0, 2.5, 4.0, 0.0, None, 5.0]
)
SNLI = random_scores(
    "snli", "SNLI", "entailment", ["dev"] * 4, ["neutral", "-", "entailment", "contradiction"]
)
ROLES = random_scores("roles", "Roles", "roles", ["snli"] * 3 + ["sts"] * 3, ["second"] * 6)
STATISTICS = ["--resamples", "100", "--confidence", "0.9", "--seed", "4"]
FILES = [
    "differences.csv",
    "legend.md",
    *(f"{name}.{end}" for name in ("roles",) for end in ("md", "tex")),
    "scores.csv",
]
FILES += [f"{name}.{end}" for name in ("snli", "sts") for end in ("md", "tex")]
FILES += [f"summary.{end}" for end in ("csv", "md", "tex")]


def tables(folder, all_scores, *options):
    paths = written(folder, "scores", *all_scores)
    return main(["tables", "--scores", *paths, *STATISTICS, "--output", str(folder / "out"), *options])


def read(folder):
    return {path.name: path.read_bytes() for path in sorted((folder / "out").iterdir())}


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def refused(folder, capsys, code, *messages):
    assert code == 2
    err = capsys.readouterr().err
    assert all(message in err for message in messages) and "Traceback" not in err, err
    assert not (folder / "out").exists() and not (folder / "notes.json").exists()


def test_files_hold_all_results_and_the_tables_are_printed(tmp_path, capsys):
    assert tables(tmp_path, [SNLI, STS], "--development", "sts14") == 0
    out = tmp_path / "out"
    assert list(read(tmp_path)) == FILES
    rows = [row for row in rows_of(out / "scores.csv") if row["metric"] in ("pearson", "average-precision")]
    assert [(row["dataset"], row["subset"], row["system"]) for row in rows[::2]] == [
        ("snli", "dev", "words"),
        ("sts14", "images", "words"),
        ("sts14", "OnWN", "words"),
        ("sts14", "mean", "words"),
        ("sts14", "mean weighted by pairs", "words"),
        ("sts14", "all pairs together", "words"),
    ]
    sts, snli, roles = ((out / f"{name}.md").read_text(encoding="utf-8") for name in ("sts", "snli", "roles"))
    assert "| STS-2014 (development) | images" in sts and "0.7410" in sts
    assert "| SNLI     | dev" in snli and "65.74%" in snli
    captured = capsys.readouterr()
    assert captured.out == (out / "summary.md").read_text(encoding="utf-8")
    assert "No data set of this task" in roles
    assert all(f"wrote {out / name}" in captured.err for name in FILES)


def test_all_metrics_have_intervals_and_differences(tmp_path):
    assert tables(tmp_path, [SNLI, STS, ROLES]) == 0
    rows = rows_of(tmp_path / "out" / "scores.csv")
    metrics = {task: {row["metric"] for row in rows if row["task"] == task} for task in MEASURES}
    assert metrics == {task: set(names) for task, names in MEASURES.items()}
    frames = [evidence(scores, Bootstrap(100, 0.9, 4))[0] for scores in (SNLI, STS, ROLES)]
    found = [row for frame in frames for row in frame.itertuples()]
    assert [(row["low"], row["high"]) for row in rows] == [(repr(r.low), repr(r.high)) for r in found]
    differences = rows_of(tmp_path / "out" / "differences.csv")
    assert [(d["system"], d["against"]) for d in differences] == [("bove", "words")] * (3 + 2 * 5 + 3)
    assert all(float(d["p_adjusted"]) >= float(d["p_value"]) for d in differences)


def test_captions_name_data_versions_models_seed_and_resamples(tmp_path):
    assert tables(tmp_path, [SNLI, STS]) == 0
    for name in ("sts.md", "legend.md"):
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
    length = np.corrcoef([0, 1, 0], SNLI.lengths[[0, 2, 3], 1])[0, 1]
    text = (tmp_path / "out" / "snli.md").read_text(encoding="utf-8")
    assert f"has a correlation of {length:.4f} with that length." in text


def by_evidence(scores, first=True):
    """The scores with a further column of bove's, before its own or after it."""
    values, key = scores.values, "bove (evidence)"
    columns = {key: values["bove"] ** 3, **values} if first else {**values, key: values["bove"] ** 3}
    own = {name: name.partition(" ")[0] for name in columns}
    empty, models = (
        {name: of[system] for name, system in own.items()} for of in (scores.empty, scores.model_hashes)
    )
    return dataclasses.replace(scores, values=columns, empty=empty, model_hashes=models, power=2.0)


def test_a_system_by_several_weights_has_one_model_and_a_caption_with_the_power(tmp_path):
    assert tables(tmp_path, [by_evidence(SNLI), by_evidence(STS)]) == 0
    for name in ("sts.md", "snli.md"):
        text = (tmp_path / "out" / name).read_text(encoding="utf-8")
        assert "weight each word by it to the power 2" in text and "bove m, words not named." in text
    systems = [row["system"] for row in rows_of(tmp_path / "out" / "scores.csv")]
    assert systems[:3] == ["bove (evidence)", "words", "bove"]


def test_two_runs_give_the_same_bytes_whatever_the_threads_and_one_task_alone_both_tables(tmp_path):
    tables(tmp_path, [STS])
    first = read(tmp_path)
    assert all(b"No data set of this task" in first[name] for name in ("snli.md", "snli.tex"))
    tables(tmp_path, [STS], "--threads", "2")
    assert read(tmp_path) == first


def test_undefined_values_are_warned_of(tmp_path, capsys):
    flat = dataclasses.replace(STS, gold=("1", "1", "1", "0", None, "5"))
    later = dataclasses.replace(SNLI, model_hashes={"words": "", "bove": "other"})
    assert tables(tmp_path, [flat, later]) == 0
    assert "sts14 images, bove: pearson is undefined (constant)" in capsys.readouterr().err
    assert "words not named, bove m and other." in read(tmp_path)["sts.md"].decode()


@pytest.mark.parametrize(
    ("all_scores", "options", "message"),
    [
        (
            [STS, SNLI, STS],
            [],
            "data set 'sts14' is in another file already; give one file for",
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
def test_impossible_tables_are_refused_and_nothing_is_written(tmp_path, capsys, all_scores, options, message):
    refused(tmp_path, capsys, tables(tmp_path, all_scores, *options), message)


@pytest.mark.parametrize("text", ["[]", "{"])
def test_files_of_other_kinds_are_refused(tmp_path, capsys, text):
    (tmp_path / "n").write_text(text, encoding="utf-8")
    refused(tmp_path, capsys, tables(tmp_path, [STS], "--notes", str(tmp_path / "n")), f"{tmp_path / 'n'}")
    arguments = ["--scores", str(tmp_path / "n"), *STATISTICS, "--output", str(tmp_path / "out")]
    refused(tmp_path, capsys, main(["tables", *arguments]), f"{tmp_path / 'n'}: not a Parquet file")


# Variants beside a base.


def of_seed(seed, **change):
    """Scores of two data sets of six pairs."""
    gold = [0.5, 4.0, 1.0, 5.0, 2.5, 3.0]
    labels = ["entailment", "neutral", "contradiction", "entailment", "neutral", "neutral"]
    sts = random_scores("sts", "STS", "similarity", "aaabbb", gold, seed, str(seed))
    snli = random_scores("snli", "SNLI", "entailment", "aaabbb", labels, seed, str(seed))
    return dataclasses.replace(sts, **change), snli


def variant(folder, name, seed, **change):
    return ["--scores", name, *written(folder, name, *of_seed(seed, **change))]


def ablations(folder, *arguments):
    return main(["ablations", *arguments, "--output", str(folder / "out")])


def seeds(folder, *arguments):
    notes = ["--table-notes", str(folder / "notes.json")]
    return main(["seeds", *arguments, "--base", "1", *notes, "--output", str(folder / "out")])


def test_ablations_hold_all_variants_and_the_table_is_printed(tmp_path, capsys):
    names = ("less", "full", "more")
    arguments = [word for seed, name in enumerate(names) for word in variant(tmp_path, name, seed)]
    assert ablations(tmp_path, *arguments, "--base", "full", "--development", "sts") == 0
    files = read(tmp_path)
    assert list(files) == [f"ablations.{kind}" for kind in ("csv", "md", "png", "svg")]
    rows = rows_of(tmp_path / "out" / "ablations.csv")
    assert list(dict.fromkeys(row["variant"] for row in rows)) == ["less", "full", "more"]
    assert {row["dataset"] for row in rows} == {"sts", "snli"} and len(rows) == 3 * (5 + 2)
    text = files["ablations.md"].decode()
    assert "STS (development), mean of 2 subsets" in text and "| full (base) |" in text
    assert b">less<" in files["ablations.svg"] and b">STS (development)<" in files["ablations.svg"]
    captured = capsys.readouterr()
    assert captured.out == text
    assert all(f"wrote {tmp_path / 'out' / name}" in captured.err for name in files)


def test_the_named_system_counts_and_the_order_of_a_variants_files_does_not(tmp_path, capsys):
    full, less = variant(tmp_path, "full", 1), variant(tmp_path, "less", 2)
    assert ablations(tmp_path, *full, *less, "--base", "full") == 0
    first = read(tmp_path)
    assert ablations(tmp_path, *full, *less[:2], *less[:1:-1], "--base", "full") == 0
    assert read(tmp_path) == first
    capsys.readouterr()
    assert ablations(tmp_path, *full, *less, "--base", "full", "--system", "words") == 0
    assert read(tmp_path)["ablations.csv"] != first["ablations.csv"]
    assert "the system *words*" in capsys.readouterr().out


@pytest.mark.parametrize("first", [True, False])
def test_variants_are_held_against_each_other_by_the_first_weight(tmp_path, capsys, first):
    files = {
        name: ["--scores", name, *written(tmp_path, name, *(by_evidence(s, first) for s in of_seed(seed)))]
        for seed, name in enumerate(("full", "less"))
    }
    arguments = [*files["full"], *files["less"], "--base", "full"]
    assert ablations(tmp_path, *arguments) == 0
    shown, table = read(tmp_path)["ablations.csv"], capsys.readouterr().out
    name = "bove (evidence)" if first else "bove"
    assert f"scored by the system *{name}*" in table
    assert ablations(tmp_path, *arguments, "--system", "bove (evidence)") == 0
    assert (read(tmp_path)["ablations.csv"] == shown) == first


def test_undefined_values_of_variants_are_warned_of(tmp_path, capsys):
    flat = {"values": {"bove": np.array([1, 1, 1, 0.1, 0.2, 0.3])}, "empty": {"bove": np.zeros(6, bool)}}
    arguments = [*variant(tmp_path, "full", 1), *variant(tmp_path, "flat", 2, **flat), "--base", "full"]
    assert ablations(tmp_path, *arguments) == 0
    assert "flat: sts a, bove: pearson is undefined (constant)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, ["--base", "full", "--development", "sick"], "--development sick: no such data set; the scores"),
        ({"pairs_sha256": "new"}, ["--base", "full"], "less: has other data sets or pairs than full"),
        ({}, ["--base", "full", "--system", "bov"], "full-0.parquet: has no scores by 'bov', only by words,"),
        ({"dataset": "snli"}, ["--base", "full"], "less-1.parquet: data set 'snli' is in"),
        ({"dataset": "sick"}, ["--base", "full"], "less: has other data sets or pairs than full"),
    ],
)
def test_variants_that_cannot_be_compared_are_refused(tmp_path, capsys, change, options, message):
    arguments = [*variant(tmp_path, "full", 1), *variant(tmp_path, "less", 2, **change)]
    refused(tmp_path, capsys, ablations(tmp_path, *arguments, *options), "bove ablations: ", message)


def test_seeds_agree_with_the_results_of_each_and_the_notes_reach_the_tables(tmp_path, capsys):
    arguments = [word for seed in (1, 2, 7) for word in variant(tmp_path, str(seed), seed)]
    assert not seeds(tmp_path, *arguments, "--development", "sts")
    rows = {(row["dataset"], row["subset"]): row for row in rows_of(tmp_path / "out" / "seeds.csv")}
    for seed in (1, 2, 7):
        for found in (r for s in of_seed(seed) for r in results_of(s).itertuples() if r.system == "bove"):
            assert rows[found.dataset, found.subset][f"seed {seed}"] == repr(found.value)
    page = read(tmp_path)["seeds.md"].decode()
    assert capsys.readouterr().out == page
    assert "seeds 1, 2, 7" in page and "STS (development)" in page
    assert tables(tmp_path, of_seed(1), "--notes", str(tmp_path / "notes.json")) == 0
    for name, shown in (("sts.md", "STS mean"), ("snli.md", "SNLI a")):
        text = read(tmp_path)[name].decode()
        assert f"* Mean and standard deviation of bove over 3 seeds (seeds.md): {shown}" in text


def test_equal_scores_of_all_seeds_are_mentioned(tmp_path, capsys):
    assert not seeds(tmp_path, *variant(tmp_path, "1", 5), *variant(tmp_path, "2", 5))
    said = capsys.readouterr()
    assert "training did not depend on the seed" in said.out and "seeds 1, 2 have the same scores" in said.err
