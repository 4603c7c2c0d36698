"""The candidates of `select`: grid and points, and what is said of what cannot be tried."""

import pytest

from bove.config.load import load_schema, resolve
from bove.config.variants import development, model_keys, points
from bove.errors import BoveError

SETS = {
    "dev": {"label": "D", "task": "entailment", "development": True, "subsets": {"a": {"input": "a"}}},
    "more": {"label": "M", "task": "entailment", "development": True, "subsets": {"a": {"input": "a"}}},
    "test": {"label": "T", "task": "entailment", "subsets": {"a": {"input": "a"}}},
}


def configuration(**sections):
    files = {"treebank": {"train": "t", "dev": "d"}, "vectors": {"file": "v"}}
    return resolve({"run": "v1.0", **files, "datasets": SETS, **sections})


def found(select, **sections):
    return points(configuration(select=select, **sections))


def test_the_grid_s_combinations_come_before_the_points_and_all_have_the_same_keys():
    grid = {"lambda_P": [1, 2], "alpha": [3, 4]}
    got = found({"grid": grid, "points": [{"alpha": 5}, {"e_step": "averaged"}]})
    assert [list(point) for point in got] == [["alpha", "lambda_P", "e_step"]] * 6
    assert [(point["alpha"], point["lambda_P"]) for point in got] == [
        (3, 1), (3, 2), (4, 1), (4, 2), (5, 1000), (10, 1000)
    ]  # fmt: skip
    assert {point["e_step"] for point in got} == {"averaged"}


def test_a_point_leaves_what_it_does_not_name_as_the_model_has_it():
    model = {"alpha": 7, "als": {"max_rounds": 9}}
    got = found({"points": [{"alpha": 1}, {"max_rounds": 2}, {}]}, model=model)
    assert got == [
        {"alpha": 1, "max_rounds": 9},
        {"alpha": 7, "max_rounds": 2},
        {"alpha": 7, "max_rounds": 9},
    ]


def test_no_candidate_stands_twice_however_its_number_is_written():
    got = found({"grid": {"alpha": ["1e3", 1000, 10]}, "points": [{"alpha": 1000.0}, {"alpha": "10"}, {}]})
    assert [repr(point["alpha"]) for point in got] == ["1000.0", "10.0"]


@pytest.mark.parametrize("select", [None, {}, {"grid": None}, {"summary": "weighted"}])
def test_without_candidates_nothing_is_chosen(select):
    assert found(select) == []


def test_every_key_of_the_model_and_its_trainers_has_one_place():
    def leaves(tree):
        for key, child in tree["properties"].items():
            yield from leaves(child) if "properties" in child else [key]

    schema = load_schema()
    keys = list(leaves(schema["properties"]["model"]))
    assert len(keys) == len(set(keys)), "two keys of one name could not be told apart under select"
    assert list(model_keys()) == keys


@pytest.mark.parametrize(
    ("select", "message"),
    [
        ({"grid": {}}, "select.grid: {} should be non-empty"),
        ({"grid": {"alpha": []}}, "select.grid.alpha: [] should be non-empty"),
        ({"grid": {"alpha": 3}}, "select.grid.alpha: 3 has the wrong type; allowed: array"),
        ({"points": []}, "select.points: [] should be non-empty"),
        ({"points": [{}]}, "select.points: without candidates; give grid or points keys"),
        ({"datasets": ["dev"]}, "select.datasets: without candidates; give grid or points keys"),
        ({"grid": {"alpha": [[1, 2], 3]}}, "select: alpha: [1, 2] is no single value; list each value"),
        ({"grid": {"alpha": [None, 3]}}, "select: alpha: None is no single value"),
        ({"points": [{"als": {"tolerance": 1}}]}, "select: als: no key of model; allowed: trainer, alpha"),
        ({"grid": {"alpha": [float("inf")]}}, "select.grid.alpha[0]: inf is not a finite number"),
        ({"grid": {"alpah": [1]}}, "select: alpah: no key of model; did you mean alpha? allowed: trainer"),
        ({"grid": {"als.tolerance": [1]}}, "select: als.tolerance: no key of model; did you mean tolerance?"),
        ({"grid": {"a/../b": [1]}}, "select: a/../b: no key of model;"),
        ({"grid": {"rank": [10, 20]}}, "select: rank: cannot be chosen, since the data sets' graphs depend"),
        ({"points": [{"pretrained": False}]}, "select: pretrained: cannot be chosen"),
        ({"grid": {"learning_rate": [1, 2]}}, "select: learning_rate: a key of model.sgd, but model.trainer"),
        (
            {"grid": {"alpha": [1]}, "datasets": ["test"]},
            "select.datasets: test: no data set with development: true; those are: dev, more",
        ),
        ({"grid": {"alpha": [1]}, "datasets": []}, "select.datasets: [] should be non-empty"),
        ({"grid": {"alpha": [1]}, "summary": "median"}, "select.summary: 'median' is not allowed;"),
    ],
)
def test_what_can_not_be_tried_is_told_in_one_line(select, message):
    with pytest.raises(BoveError) as error:
        found(select)
    assert str(error.value).startswith(f"configuration: {message}")
    assert "\n" not in str(error.value)


def test_a_trainer_s_keys_may_be_tried_with_that_trainer():
    select = {"grid": {"learning_rate": [0.1, 0.2]}, "points": [{"trainer": "als"}]}
    got = found(select, model={"trainer": "sgd"})
    assert [(point["trainer"], point["learning_rate"]) for point in got] == [
        ("sgd", 0.1),
        ("sgd", 0.2),
        ("als", 0.5),
    ]


@pytest.mark.parametrize("kind", ["compare", "ablations"])
def test_choosing_and_comparing_in_one_run_is_refused(kind):
    with pytest.raises(BoveError) as error:
        found({"grid": {"alpha": [1]}}, **{kind: {"x": {"model": {"alpha": 2}}}})
    assert str(error.value) == (
        f"configuration: {kind} is given beside select; choose first, then give the file "
        f"results/v1.0/select/chosen.yaml after your own and {kind} with it"
    )


def test_the_development_sets_are_those_marked_or_those_of_them_that_are_asked_for():
    assert development(configuration()) == ["dev", "more"]
    assert development(configuration(select={"datasets": ["more"]})) == ["more"]
    unmarked = {"dev": {**SETS["dev"], "development": False}}
    with pytest.raises(BoveError, match="select: no data set has development: true; give it to one"):
        found({"grid": {"alpha": [1]}}, datasets=unmarked)
