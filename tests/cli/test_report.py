"""`bove provenance`, `overview`, `pages` and `training`: what a run is made of and how it went."""

import csv
import hashlib
import importlib.metadata
import json

import pytest
import test_train_als as als
import yaml
from tiny_run import PAIRS, TREES, make_run, write_sides

from bove import __version__
from bove.cli import common
from bove.cli.main import main
from bove.cli.train import write_training_log
from bove.factor.model import Model
from bove.text.vocabulary import Vocabulary

# --- provenance

built = als.built
CONFIG = {"run": "r", "seed": 3, "seeds": [5, 3], "model": {"rank": 6}}


def record(folder, out, *options, settings=CONFIG, model="m", **changes):
    (folder / "config.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    given = {
        "config": folder / "config.yaml", "input": f"treebank.train={folder / 't.conllu'}",
        "vocabulary": f"run={folder / 'vocabulary'}", "vectors": f"run={folder / 'v'}",
        "model": f"run={folder / model}", "rule-threads": "train_als=2", "result": folder / "m.csv",
        "output": folder / out,
    } | changes  # fmt: skip
    return ["provenance", *(str(word) for k, v in given.items() for word in (f"--{k}", v)), *options]


def test_the_record_has_hashes_versions_seeds_threads_and_the_configuration(built, monkeypatch):
    real = importlib.metadata.version

    def version(name):
        if name == "gensim":
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(common, "version", version)
    assert not main(record(built, "run.json"))
    found = json.loads((built / "run.json").read_text(encoding="utf-8"))
    raw, model = (built / "t.conllu").read_bytes(), Model.load(built / "m")
    entry = {"file": str(built / "t.conllu"), "sha256": hashlib.sha256(raw).hexdigest(), "bytes": len(raw)}
    assert found["inputs"] == {"treebank.train": entry}
    assert found["models"]["run"]["hash"] == model.hash
    assert found["models"]["run"]["hyperparameters"] == dict(model.hyperparameters)
    vocabulary = Vocabulary.load(built / "vocabulary")
    assert found["vocabularies"]["run"]["hash"] == found["models"]["run"]["vocabulary"] == vocabulary.hash
    assert found["vocabularies"]["run"]["words"] == vocabulary.n_words
    assert found["vectors"]["run"]["words"] == 8 and found["vectors"]["run"]["dimensions"] == als.RANK
    assert (found["seeds"], found["threads"]) == ({"run": 3, "model": [3, 5]}, {"train_als": 2})
    assert found["results"] == {"m.csv": hashlib.sha256((built / "m.csv").read_bytes()).hexdigest()}
    assert (found["configuration"], found["run"]) == (CONFIG, "r")
    versions = found["versions"]
    assert versions["bove"] == __version__ and versions["numpy"] == real("numpy") and "gensim" not in versions


def test_two_records_are_the_same_bytes_and_another_model_is_another_record(built):
    assert not main(record(built, "one.json")) and not main(record(built, "two.json"))
    assert (built / "one.json").read_bytes() == (built / "two.json").read_bytes()
    other = [*als.TRAIN[:-1], 8]
    assert not als.bove("train-als", *als.inputs(built), *other, *als.outputs(built, "eight"))
    assert not main(record(built, "three.json", model="eight"))
    one, three = (json.loads((built / name).read_text("utf-8")) for name in ("one.json", "three.json"))
    assert one.pop("models") != three.pop("models") and one == three


@pytest.mark.parametrize(
    ("more", "changes", "message"),
    [
        ("", {"input": "treebank.train=nowhere"}, "nowhere: no such file"),
        ("", {"input": "treebank.train"}, "--input treebank.train: "),
        ("", {"config": "nowhere.yaml"}, "nowhere.yaml: "),
        ("--model run={}", {}, "--model run={}: the name is repeated"),
    ],
)
def test_what_cannot_be_recorded_is_refused_and_nothing_is_written(built, refused, more, changes, message):
    words = record(built, "none.json", *more.format(built / "m").split(), **changes)
    refused(words, message.format(built / "m"), built / "none.json")


# --- overview, pages

ACCURACY = {
    "format": "bove-parser-accuracy",
    "accuracy": {"tags": 0.9831, "UAS": 0.96489, "LAS": 0.95}, "tokens": 4899, "sentences_cut": 0,
    "accuracy_without_punctuation": {"tags": 0.98, "UAS": 0.966, "LAS": None},
    "tokens_without_punctuation": 4427, "sentences": {"read": 450, "used": 449},
    "arcs_with_known_labels": 1.0,
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    folder = make_run(tmp_path)
    write_sides(folder, PAIRS, TREES)
    (folder / "accuracy").write_text(json.dumps(ACCURACY), encoding="utf-8")
    return folder


def overview(folder, output, *more):
    words = f"--vocabulary {folder}/vocabulary.json --data {folder}/pairs {folder}/trees --output {output}"
    return ["overview", *words.split(), *map(str, more)]


def cells(path, start):
    """The cells of each row of a Markdown file that starts so."""
    lines = [line for line in path.read_text(encoding="utf-8").split("\n") if line.startswith(f"| {start}")]
    return [[cell.strip() for cell in line.strip("|").split("|")][1:] for line in lines]


def test_the_overview_counts_what_is_there(folder, tmp_path):
    graphs = folder / "graphs" / "train.safetensors"
    assert main(overview(folder, tmp_path, "--graphs", graphs, "--accuracy", folder / "accuracy")) == 0
    data, parser = tmp_path / "data.md", tmp_path / "parser.md"
    assert cells(data, "sentences that") == [["45"]]
    assert cells(data, "STS") == [
        ["a", "similarity", "1.5 to 5, mean 3.00", "3", "3", "6", "5.0", "6"],
        ["b", "similarity", "3 to 3, mean 3.00", "2", "1", "2", "6.0", "6"],
    ]
    assert "1 of them has no tokens" in data.read_text(encoding="utf-8")
    assert cells(parser, "all tokens") == [["4,899", "98.31%", "96.49%", "95.00%"]]
    assert cells(parser, "without") == [["4,427", "98.00%", "96.60%", "-"]]


def test_the_overview_refuses_what_is_no_accuracy(folder, tmp_path, refused):
    (folder / "other").write_text("{}", encoding="utf-8")
    out = tmp_path / "out"
    refused(overview(folder, out, "--accuracy", folder / "other"), "other: not a report of `bove eval", out)


def test_pages_have_the_names_of_their_tables(tmp_path):
    (tmp_path / "sts.md").write_text("# STS\n\n| x |\n| --- |\n| 1 |\n", encoding="utf-8")
    assert main(f"pages --output {tmp_path}/out --markdown {tmp_path}/sts.md".split()) == 0
    assert "<td>1</td>" in (tmp_path / "out" / "sts.html").read_text(encoding="utf-8")


# --- training


def run_of(folder, name, scale=1.0):
    """The arguments of a run, whose files are written as the trainers write them."""
    rest = {"relation:0": 0.5, "relation:1": 0.25, "lambda_P": 0.0, "lambda_R": 0.5, "lambda_E": 0.25}
    rows, lines = [], ["round,seconds,total\n"]
    for number in range(1, 5):
        terms = {"words": scale * 3 / number, "tags": scale / number, **rest}
        total = sum(terms.values())
        rows.append({"round": number, "restart": 0, **terms, "total": total, "held_out": None})
        lines.append(f"{number},{number * 0.5},{total!r}\n")
    log, times = folder / f"{name}.csv", folder / f"{name}-times.csv"
    write_training_log(log, rows, ["SBJ", "OBJ"])
    times.write_text("".join(lines), encoding="utf-8")
    return ["--run", name, str(log), str(times)]


def training(folder, *arguments):
    return ["training", *arguments, "--output", str(folder / "out")]


def test_four_files_hold_all_runs_the_same_again_and_the_tables_are_printed(tmp_path, capsys):
    words, out = training(tmp_path, *run_of(tmp_path, "als"), *run_of(tmp_path, "sgd", 2.0)), tmp_path / "out"
    assert main(words) == 0
    captured = capsys.readouterr()
    files = {path.name: path.read_bytes() for path in out.iterdir()}
    assert files.keys() == {f"training.{kind}" for kind in ("csv", "md", "png", "svg")}
    rows = list(csv.DictReader(files["training.csv"].decode().split("\n")))
    assert [(row["run"], row["round"]) for row in rows] == [(n, r) for n in ("als", "sgd") for r in "1234"]
    assert {(row["relations"], row["penalties"]) for row in rows} == {("0.75", "0.75")}
    assert "| the end of sgd |" in captured.out and captured.out.encode() == files["training.md"]
    assert captured.err.count("wrote ") == 4
    assert main(words) == 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == files


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--run", "sgd", "missing.csv", "y"], "missing.csv: no such file"),
        (["--run", "sgd", "{0}/als.csv", "{0}/als.csv"], "als.csv, line 1: has no column 'seconds'"),
    ],
)
def test_what_cannot_be_shown_is_one_line_and_nothing_is_written(tmp_path, refused, more, message):
    run_of(tmp_path, "sgd", 2.0)
    words = training(tmp_path, *run_of(tmp_path, "als"), *(word.format(tmp_path) for word in more))
    refused(words, message, tmp_path / "out", lines=1)
