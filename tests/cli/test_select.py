"""`bove select` chooses by scores on development sets, says why, and hands on model and settings."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from bove.cli.main import main
from bove.config.load import load, resolve
from bove.evaluate.results import Scores, write_scores

ROOT = Path(__file__).parent.parent.parent
GOLD = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
LABELS = ("neutral", "entailment", "neutral", "contradiction", "entailment", "neutral")
FILES = ["candidates.csv", "candidates.md", "choice.json", "chosen.yaml"]
CHANGES = {"model": {"alpha": 2.0, "als": {"max_rounds": 3}}}


def scores_of(dataset, values, task="similarity", system="bove", pairs=None):
    values = np.array(values, float)
    return Scores(
        dataset=dataset,
        label=dataset.upper(),
        task=task,
        ids=tuple(map(str, range(6))),
        subsets=("a",) * 6,
        gold=tuple(map(str, GOLD)) if task == "similarity" else LABELS,
        scored=np.ones(6, bool),
        values={system: values},
        empty={system: np.zeros(6, bool)},
        pairs_sha256=pairs or dataset,
        model_hashes={system: "m"},
        lengths=np.ones((6, 2), int),
    )


def noisy(size):
    """Scores that follow the gold the less, the larger the size."""
    return GOLD + size * np.array([1, -1, 1, -1, 1, -1])


def candidate(folder, name, *all_scores, changes=CHANGES):
    """The arguments of one candidate, whose model and scores are written."""
    home = folder / "candidates" / name
    (home / "model").mkdir(parents=True)
    for file in ("model.safetensors", "log.csv", "times.csv"):
        (home / "model" / file).write_text(f"{file} of {name}\n", encoding="utf-8")
    for scores in all_scores:
        write_scores(scores, home / f"{scores.dataset}.parquet")
    paths = [str(home / f"{scores.dataset}.parquet") for scores in all_scores]
    return ["--candidate", name, json.dumps(changes), str(home / "model"), *paths]


def select(folder, *arguments, summary="mean"):
    out = ["--output", str(folder / "select"), "--model", str(folder / "model")]
    return main(["select", *arguments, "--summary", summary, *out])


def chosen(folder):
    return json.loads((folder / "select" / "choice.json").read_text(encoding="utf-8"))


def test_the_best_candidate_s_model_tables_and_reason_are_written(tmp_path, capsys):
    sets = [
        (scores_of("sts", noisy(size)), scores_of("snli", values, "entailment"))
        for size, values in ((3, GOLD), (0, GOLD), (1, [0, 9, 1, 2, 9, 3]))
    ]
    arguments = []
    for number, both in enumerate(sets, 1):
        arguments += candidate(tmp_path, f"alpha~{number}", *both, changes={"model": {"alpha": number}})
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
    assert [row["alpha"] for row in rows] == ["3", "2", "1"]
    assert float(rows[0]["value"]) == got["value"]
    for file in ("model.safetensors", "log.csv", "times.csv"):
        assert (tmp_path / "model" / file).read_text(encoding="utf-8") == f"{file} of alpha~3\n"
    assert len(list((tmp_path / "model").iterdir())) == 3
    captured = capsys.readouterr()
    assert captured.out == (tmp_path / "select" / "candidates.md").read_text(encoding="utf-8")
    assert f"alpha~3: {got['reason']}" in captured.err


def test_of_equal_candidates_the_first_listed_is_chosen(tmp_path):
    # correlation does not see scale, so these are equal but for rounding
    names = ["alpha~9", "alpha~1", "alpha~5"]
    arguments = [candidate(tmp_path, name, scores_of("sts", GOLD * k)) for k, name in enumerate(names, 1)]
    assert select(tmp_path, *arguments[0], *arguments[1], *arguments[2]) == 0
    assert chosen(tmp_path)["chosen"] == "alpha~9"
    assert chosen(tmp_path)["reason"].endswith("alpha~1, has 1.000000 too, and stands later in the list")
    assert select(tmp_path, *arguments[2], *arguments[0]) == 0
    assert chosen(tmp_path)["chosen"] == "alpha~5"


def test_undefined_candidates_come_last(tmp_path):
    arguments = [
        *candidate(tmp_path, "alpha~0", scores_of("sts", np.ones(6))),
        *candidate(tmp_path, "alpha~1", scores_of("sts", -GOLD)),
    ]
    assert select(tmp_path, *arguments) == 0
    assert chosen(tmp_path)["chosen"] == "alpha~1" and chosen(tmp_path)["value"] == pytest.approx(-1)
    assert (tmp_path / "select" / "candidates.csv").read_text(encoding="utf-8").endswith("\n2,0,,\n")


def test_where_all_are_undefined_nothing_is_chosen(tmp_path, capsys):
    arguments = candidate(tmp_path, "alpha~0", scores_of("sts", np.ones(6)))
    assert select(tmp_path, *arguments) == 2
    assert capsys.readouterr().err == (
        "bove select: no candidate has a value on all of sts: scores or gold are constant there; "
        "choose on other data sets\n"
    )
    assert not (tmp_path / "select").exists() and not (tmp_path / "model").exists()


def test_the_order_of_a_candidate_s_files_makes_no_difference(tmp_path):
    both = scores_of("sts", noisy(1)), scores_of("snli", GOLD, "entailment")
    first = candidate(tmp_path, "alpha~1", *both)
    second = candidate(tmp_path, "alpha~2", scores_of("sts", noisy(0)), both[1])
    assert select(tmp_path, *first, *second[:4], *second[:3:-1]) == 0
    assert chosen(tmp_path)["chosen"] == "alpha~2"
    assert chosen(tmp_path)["values"]["sts"] == pytest.approx(1)


def test_two_calls_give_the_same_bytes(tmp_path):
    arguments = [
        *candidate(tmp_path, "alpha~1/e_step~averaged", scores_of("sts", noisy(1))),
        *candidate(tmp_path, "alpha~2/e_step~averaged", scores_of("sts", noisy(2))),
    ]
    assert select(tmp_path, *arguments) == 0
    written = [path for part in ("select", "model") for path in (tmp_path / part).iterdir()]
    first = {path: path.read_bytes() for path in written}
    assert select(tmp_path, *arguments) == 0
    assert {path: path.read_bytes() for path in written} == first


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
    assert select(tmp_path, *candidate(tmp_path, "alpha~2/max_rounds~3", scores_of("sts", GOLD))) == 0
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
        (
            {"pairs": "new"},
            "--candidate alpha~2: its scores are of other pairs than those of alpha~1; score all",
        ),
        ({"dataset": "other"}, "--candidate alpha~2: its scores are of other pairs than those of alpha~1"),
        (
            {"system": "words"},
            "sts.parquet: has no scores by 'bove'; score the bags of the candidate's model",
        ),
    ],
)
def test_scores_that_can_not_be_compared_are_told(tmp_path, capsys, change, message):
    first = candidate(tmp_path, "alpha~1", scores_of("sts", GOLD))
    second = candidate(tmp_path, "alpha~2", scores_of(**{"dataset": "sts", "values": GOLD, **change}))
    assert select(tmp_path, *first, *second) == 2
    err = capsys.readouterr().err
    assert message in err and err.startswith("bove select: ") and err.count("\n") == 1
    assert not (tmp_path / "select").exists() and not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["alpha~2", "{}", "FOLDER"], "not NAME CHANGES FOLDER SCORES…; give all four"),
        (["alpha~2", "{", "FOLDER", "SCORES"], "--candidate alpha~2: '{' is no JSON"),
        (["alpha~2", "[]", "FOLDER", "SCORES"], "--candidate alpha~2: '[]' is no map"),
        (["alpha~1", "{}", "FOLDER", "SCORES"], "--candidate alpha~1: stands twice; give each its own name"),
        (["lambda_P~1", "{}", "FOLDER", "SCORES"], "--candidate lambda_P~1: has other keys than alpha~1"),
        (
            ["alpha~2", "{}", "absent", "SCORES"],
            "absent/model.safetensors: no such file; train candidate alpha~2",
        ),
        (["alpha~2", "{}", "FOLDER", "absent"], "absent: no such file; check the path"),
        (
            ["alpha~2", "{}", "FOLDER", "SCORES", "SCORES"],
            "--candidate alpha~2: a data set's scores stand twice",
        ),
    ],
)
def test_a_candidate_that_is_not_whole_is_told_and_nothing_is_written(tmp_path, capsys, words, message):
    first = candidate(tmp_path, "alpha~1", scores_of("sts", GOLD))
    second = [{"FOLDER": first[3], "SCORES": first[4]}.get(word, word) for word in words]
    assert select(tmp_path, *first, "--candidate", *second) == 2
    err = capsys.readouterr().err
    assert message in err and err.startswith("bove select: ") and err.count("\n") == 1
    assert not (tmp_path / "select").exists() and not (tmp_path / "model").exists()


@pytest.mark.parametrize(("summary", "best"), [("mean", "alpha~1"), ("together", "alpha~2")])
def test_the_summary_decides(tmp_path, summary, best):
    """One candidate is right within each subset, the other between them."""

    def halves(values):
        scores = scores_of("sts", values)
        return Scores(**{**vars(scores), "subsets": ("a",) * 3 + ("b",) * 3})

    within, between = halves([10, 11, 12, 0, 1, 2]), halves([1, 0, 1, 9, 8, 9.5])
    arguments = [*candidate(tmp_path, "alpha~1", within), *candidate(tmp_path, "alpha~2", between)]
    assert select(tmp_path, *arguments, summary=summary) == 0
    assert chosen(tmp_path)["chosen"] == best
