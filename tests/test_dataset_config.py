"""What the configuration may say about the files of a data set."""

import re
from pathlib import Path

import pytest
from test_config import SMALL

from bove.config.load import load, resolve
from bove.config.sources import members, references
from bove.errors import BoveError

ROOT = Path(__file__).parent.parent
SHIPPED = sorted((ROOT / "config" / "datasets").glob("*.yaml"))
START = "datasets: {sts: {"


def read(tmp_path, *texts):
    files = [tmp_path / f"{number}.yaml" for number in range(len(texts))]
    for path, text in zip(files, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    return resolve(load(files))["datasets"]


def test_numbers_names_labels_and_values_stay_as_they_are_written(tmp_path):
    text = (
        "datasets: {e: {label: E, task: entailment, columns: {first: 010, second: 2, gold: no}, "
        "labels: {1: entailment, 0: null_, no: 007}, "
        "subsets: {a: {input: a, where: {2014: 010, no: yes, 1e3: 1.50}}}}}"
    )
    entry = read(tmp_path, SMALL, text)["e"]
    assert entry["columns"] == {"first": "010", "second": "2", "gold": "no"}
    assert entry["labels"] == {"1": "entailment", "0": "null_", "no": "007"}
    assert entry["subsets"]["a"]["where"] == {"2014": "010", "no": "yes", "1e3": "1.50"}


def test_what_is_left_out_is_as_in_sts_or_snli(tmp_path):
    text = "datasets: {e: {label: E, task: entailment, subsets: {a: {input: a}}}}"
    found = read(tmp_path, SMALL, text)
    assert found["sts"]["columns"] == {"first": "1", "second": "2"} and "labels" not in found["sts"]
    assert found["e"]["columns"]["gold"] == "gold_label"
    assert found["e"]["labels"] == {
        **{label: label for label in ("entailment", "neutral", "contradiction")},
        "-": "-",
    }
    assert {(entry["separator"], entry["encoding"]) for entry in found.values()} == {("\t", "utf-8")}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            "columns: {frist: 1}",
            "columns: 'frist' is not allowed; did you mean first? allowed: first, second",
        ),
        ("columns: {first: 1}", "columns: second is missing; add it"),
        ("columns: {first: 0, second: 2}", "columns.first: '0' is not allowed"),
        ("columns: {first: 2, second: 2}", "columns: first and second are one column; give each its own"),
        ("columns: [1, 2]", "columns: ['1', '2'] has the wrong type; allowed: object"),
        (
            "columns: {first: 1, second: 2, gold: 3}",
            "subsets.a.gold: columns.gold names the input's gold column",
        ),
        (
            "columns: {first: x, second: 2}",
            "subsets.a.gold: its lines are those of an input without a header",
        ),
        ("header: true", "subsets.a.gold: its lines are those of an input without a header"),
        (
            "header: false, columns: {first: x, second: 2, gold: 3}",
            "columns: 'x' is a name, but header is false; give the columns' numbers",
        ),
        ("header: maybe", "header: 'maybe' has the wrong type; allowed: boolean"),
        ("labels: {x: entailment}", "labels: a similarity task has scores, not labels; leave labels out"),
        (
            "task: entailment, labels: {x: neutral}",
            "labels: none means entailment, which is the positive class; write LABEL: entailment",
        ),
        ("separator: ''", "separator: '' should be non-empty"),
        ("encoding: utf-16", "encoding: 'utf-16': unknown, or not built on ASCII; name another"),
        ("encoding: latin-11", "encoding: 'latin-11': unknown"),
        ("encoding: rot13", "encoding: 'rot13': unknown"),
        ("subsets: {a: {where: {x: z}}}", "subsets.a.gold: its lines are those of an input without a header"),
        (
            "header: false, subsets: {a: {where: {x: z}}}",
            "subsets.a.where: a column by name, but header is false; give its number",
        ),
        ("subsets: {a: {gold: null}}", "subsets.a.gold is missing; give a file with the gold of each line"),
    ],
)
def test_a_mistake_is_named_with_its_key(tmp_path, change, message):
    with pytest.raises(BoveError) as error:
        read(tmp_path, SMALL, f"{START}{change}}}}}")
    assert str(error.value).startswith(f"configuration: datasets.sts.{message}")


PROBES = "datasets: {r: {label: R, task: roles, %s}}"
OTHER = "e: {label: E, task: entailment, subsets: {a: {input: a}}}"


def test_a_set_of_roles_needs_only_the_sets_that_it_is_made_of(tmp_path):
    found = read(tmp_path, SMALL, PROBES % "from: [sts], objects: [OBJ]")["r"]
    assert (found["subjects"], found["objects"], found["min_gold"]) == (["nsubj", "SBJ"], ["OBJ"], 4)
    assert "subsets" not in found and "columns" not in found
    assert "subjects" not in read(tmp_path, SMALL)["sts"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("from: null", "r: from is missing; add it"),
        ("from: [stx]", "r.from: 'stx': no such data set; did you mean sts? allowed: sts; correct"),
        ("from: [sts, r]", "r.from: 'r': is of task roles itself; allowed: sts; correct"),
        ("from: [sts], subsets: {a: {input: a}}", "r.subsets: not a key of task roles; leave it out"),
        ("from: [sts]}, sts: {min_gold: 3", "sts.min_gold: not a key of task similarity; leave it out"),
        (f"from: [sts]}}, sts: null, {OTHER[:-1]}", "r.from: 'sts': no such data set; allowed: e; correct"),
    ],
)
def test_a_mistake_about_roles_is_named_with_its_key(tmp_path, change, message):
    with pytest.raises(BoveError) as error:
        read(tmp_path, SMALL, PROBES % change)
    assert str(error.value).startswith(f"configuration: datasets.{message}"), error.value


@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1", "cp1252", "gb18030", "shift_jis", "ascii"])
def test_encodings_with_ascii_s_line_ends_are_taken(tmp_path, encoding):
    assert read(tmp_path, SMALL, f"{START}encoding: {encoding}}}}}")["sts"]["encoding"] == encoding


@pytest.mark.parametrize("path", SHIPPED, ids=[path.stem for path in SHIPPED])
@pytest.mark.parametrize("base", ["config", "open", "paper"])
def test_the_data_sets_that_come_along_go_with_each_configuration(path, base):
    config = resolve(load([ROOT / "config" / f"{base}.yaml", path]))
    for key, value in references(config):
        if (
            value.startswith("source:")
            and key.startswith("datasets.")
            and "url" in (source := config["sources"][value.removeprefix("source:").partition("/")[0]])
        ):
            assert value.partition("/")[2] in members(source), key


def test_all_of_sts_has_the_years_of_the_open_configuration_as_they_are_there():
    every, some = (load([ROOT / "config" / name]) for name in ("datasets/all-sts.yaml", "open.yaml"))
    for year in ("2014", "2015"):
        assert every["sources"][f"sts-{year}"] == some["sources"][f"sts-{year}"]
        assert every["datasets"][f"STS-{year}"]["subsets"] == some["datasets"][f"STS-{year}"]["subsets"]


def test_the_manual_names_every_data_set_that_comes_along():
    manual = (ROOT / "config" / "README.md").read_text(encoding="utf-8")
    assert len(SHIPPED) == 6
    for path in SHIPPED:
        assert f"`{path.name}`" in manual


def test_the_manual_s_examples_of_data_sets_are_valid(tmp_path):
    manual = (ROOT / "config" / "README.md").read_text(encoding="utf-8")
    section = manual[manual.index("\n## Data sets\n") : manual.index("\n## Choosing settings\n")]
    examples = re.findall(r"```yaml\n(.*?)```", section, re.S)
    found = read(tmp_path, SMALL, *examples)
    assert set(found) == {"sts", "mine", "reviews", "answers", "who-to-whom"}
    assert found["reviews"]["labels"]["YES"] == "entailment" and found["reviews"]["labels"]["UNSURE"] == "-"
