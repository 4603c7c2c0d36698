"""`bove select` chooses by scores on development sets, says why, and hands on model and settings."""

import csv
import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from made_scores import scores_of, written

from bove.cli.main import main
from bove.config.load import load, resolve

ROOT = Path(__file__).parent.parent.parent
GOLD = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
LABELS = ("neutral", "entailment", "neutral", "contradiction", "entailment", "neutral")
FILES = ["candidates.csv", "candidates.md", "choice.json", "chosen.yaml"]
CHANGES = {"model": {"alpha": 2.0, "als": {"max_rounds": 3}}}


def sts(values, system="bove", **more):
    return scores_of("similarity", "aaaaaa", GOLD, {system: values}, **{"dataset": "sts", **more})


def snli(values):
    return scores_of("entailment", "aaaaaa", LABELS, {"bove": values}, dataset="snli")


def noisy(size):
    """Scores that follow the gold the less, the larger the size."""
    return GOLD + size * np.array([1, -1, 1, -1, 1, -1])


def candidate(folder, name, *all_scores, changes=CHANGES):
    """The arguments of one candidate, whose model and scores are written."""
    home = folder / "candidates" / name
    (home / "model").mkdir(parents=True)
    for file in ("model.safetensors", "log.csv", "times.csv"):
        (home / "model" / file).write_text(f"{file} of {name}\n", encoding="utf-8")
    return [
        "--candidate",
        name,
        json.dumps(changes),
        str(home / "model"),
        *written(home, "scores", *all_scores),
    ]


def select(folder, *arguments, summary="mean"):
    out = ["--output", str(folder / "select"), "--model", str(folder / "model")]
    return main(["select", *arguments, "--summary", summary, *out])


def chosen(folder):
    return json.loads((folder / "select" / "choice.json").read_text(encoding="utf-8"))


def refused(folder, capsys, code, message):
    err = capsys.readouterr().err
    assert code == 2 and message in err and err.startswith("bove select: ") and err.count("\n") == 1, err
    assert not (folder / "select").exists() and not (folder / "model").exists()


def test_the_best_candidate_s_model_tables_and_reason_are_written(tmp_path, capsys):
    sets = [(noisy(3), GOLD), (noisy(0), GOLD), (noisy(1), [0, 9, 1, 2, 9, 3])]
    arguments = []
    for number, (first, second) in enumerate(sets, 1):
        changes = {"model": {"alpha": number}}
        # the order of a candidate's files makes no difference
        both = [sts(first), snli(second)][:: -1 if number == 2 else 1]
        arguments += candidate(tmp_path, f"alpha~{number}", *both, changes=changes)
    assert select(tmp_path, *arguments) == 0
    got = chosen(tmp_path)
    assert (got["chosen"], got["changes"]) == ("alpha~3", {"model": {"alpha": 3}})
    r = np.corrcoef(GOLD, noisy(1))[0, 1]
    assert got["values"] == {"sts": pytest.approx(r), "snli": 1.0}
    assert got["value"] == pytest.approx((r + 1) / 2)
    assert (got["summary"], got["development"], got["candidates"]) == ("mean", ["sts", "snli"], 3)
    assert got["reason"].startswith("highest of 3 candidates on sts (pearson), snli (average-precision): 0.9")
    assert "; the next, alpha~2, has 0." in got["reason"]
    assert sorted(path.name for path in (tmp_path / "select").iterdir()) == FILES
    with open(tmp_path / "select" / "candidates.csv", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == ["rank", "alpha", "sts", "snli", "value"]
    assert [row["alpha"] for row in rows] == ["3", "2", "1"] and float(rows[0]["value"]) == got["value"]
    models = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "model").iterdir()}
    assert models == {f: f"{f} of alpha~3\n" for f in ("model.safetensors", "log.csv", "times.csv")}
    captured = capsys.readouterr()
    assert captured.out == (tmp_path / "select" / "candidates.md").read_text(encoding="utf-8")
    assert f"alpha~3: {got['reason']}" in captured.err


def test_of_equal_candidates_the_first_listed_is_chosen_and_undefined_ones_are_last(tmp_path):
    # correlation does not see scale, so these are equal but for rounding
    names = ["alpha~9", "alpha~1", "alpha~5"]
    arguments = [candidate(tmp_path, name, sts(GOLD * k)) for k, name in enumerate(names, 1)]
    undefined = candidate(tmp_path, "alpha~0", sts(np.ones(6)))
    assert select(tmp_path, *undefined, *arguments[0], *arguments[1], *arguments[2]) == 0
    assert chosen(tmp_path)["chosen"] == "alpha~9"
    assert chosen(tmp_path)["reason"].endswith("alpha~1, has 1.000000 too, and stands later in the list")
    assert (tmp_path / "select" / "candidates.csv").read_text(encoding="utf-8").endswith("\n4,0,,\n")
    written = [path for part in ("select", "model") for path in (tmp_path / part).iterdir()]
    first = {path: path.read_bytes() for path in written}
    assert select(tmp_path, *undefined, *arguments[0], *arguments[1], *arguments[2]) == 0
    assert {path: path.read_bytes() for path in written} == first
    assert select(tmp_path, *arguments[2], *arguments[0]) == 0
    assert chosen(tmp_path)["chosen"] == "alpha~5"


@pytest.mark.parametrize("names", [("bove", "bove (evidence)"), ("bove (evidence)", "bove")])
def test_the_first_weight_that_bove_is_scored_by_decides(tmp_path, names):
    clean, noise = noisy(0.1), noisy(3)
    arguments = [
        candidate(tmp_path, name, scores_of("similarity", "aaaaaa", GOLD, dict(zip(names, own, strict=True))))
        for name, own in {"alpha~1": (noise, clean), "alpha~2": (clean, noise)}.items()
    ]
    assert select(tmp_path, *arguments[0], *arguments[1]) == 0
    assert chosen(tmp_path)["chosen"] == "alpha~2"


def test_where_all_are_undefined_nothing_is_chosen(tmp_path, capsys):
    code = select(tmp_path, *candidate(tmp_path, "alpha~0", sts(np.ones(6))))
    refused(tmp_path, capsys, code, "no candidate has a value on all of sts")


def test_the_chosen_settings_given_after_the_configuration_are_those_of_the_run(tmp_path):
    own = {
        "run": "r",
        "treebank": {"train": "t", "dev": "d"},
        "vectors": {"file": "v"},
        "model": {"alpha": 9, "als": {"tolerance": 0.5}},
        "select": {"grid": {"alpha": [1, 2]}, "points": [{"max_rounds": 3}], "datasets": ["sts"]},
        "datasets": {
            "sts": {"label": "S", "task": "entailment", "development": True, "subsets": {"a": {"input": "a"}}}
        },
    }
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(own), encoding="utf-8")
    assert select(tmp_path, *candidate(tmp_path, "alpha~2/max_rounds~3", sts(GOLD))) == 0
    settings = tmp_path / "select" / "chosen.yaml"
    config = resolve(load([tmp_path / "own.yaml", settings]))
    without = {key: value for key, value in own.items() if key != "select"}
    expected = resolve({**without, "model": {"alpha": 2, "als": {"tolerance": 0.5, "max_rounds": 3}}})
    assert config == expected
    assert config["select"] == {"summary": "mean"}
    # nothing but YAML's own rules is needed to read it
    assert yaml.safe_load(settings.read_text(encoding="utf-8")) == {**CHANGES, "select": None}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pairs": "new"}, "alpha~2: has other data sets or pairs than alpha~1"),
        ({"dataset": "other"}, "alpha~2: has other data sets or pairs than alpha~1"),
        ({"system": "words"}, "has no scores by 'bove', only by words"),
    ],
)
def test_scores_that_cannot_be_compared_are_refused(tmp_path, capsys, change, message):
    first, second = (
        candidate(tmp_path, "alpha~1", sts(GOLD)),
        candidate(tmp_path, "alpha~2", sts(GOLD, **change)),
    )
    refused(tmp_path, capsys, select(tmp_path, *first, *second), message)


@pytest.mark.parametrize(("summary", "best"), [("mean", "alpha~1"), ("together", "alpha~2")])
def test_the_summary_decides(tmp_path, summary, best):
    """One candidate is right within each subset, the other between them."""
    values = {"alpha~1": [10, 11, 12, 0, 1, 2], "alpha~2": [1, 0, 1, 9, 8, 9.5]}
    halves = {name: dataclasses.replace(sts(v), subsets=tuple("aaabbb")) for name, v in values.items()}
    arguments = [word for name, scores in halves.items() for word in candidate(tmp_path, name, scores)]
    assert select(tmp_path, *arguments, summary=summary) == 0
    assert chosen(tmp_path)["chosen"] == best
