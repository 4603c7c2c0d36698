"""`bove figures` from the files of a small run, and what it refuses."""

import csv

import pytest
from tiny_run import PAIRS, TREES, infer, make_run, score

from bove.cli.main import main

SYSTEMS = ("word-vectors", "bove")
DIFFERENCES = (
    "task,dataset,subset,metric,system,against,difference,low,high,p_value,p_adjusted\n"
    "similarity,sts,a,pearson,bove,word-vectors,0.1,0.05,0.2,0.001,0.04\n"
    "similarity,sts,b,pearson,bove,word-vectors,-0.1,-0.2,0.05,0.04,0.06\n"
    "similarity,sts,mean,pearson,bove,word-vectors,,,,,\n"
)
RESULTS = (
    "task,dataset,subset,system,n_pairs,n_scored,n_empty,metric,value,low,high\n"
    "similarity,sts,a,bove,3,3,0,pearson,0.5,0.4,0.6\n"
    "similarity,sts,a,bove,3,3,0,spearman,0.1,0.0,0.2\n"
    "similarity,sts,b,bove,2,1,0,pearson,,,\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The run's files for one data set of five pairs, one of them with an empty sentence."""
    folder = make_run(tmp_path_factory.mktemp("figures"))
    score(folder, folder, PAIRS, TREES, SYSTEMS)
    for system in SYSTEMS:
        more = ["--sentences", folder / "trees", "--no-punctuation"]
        infer(folder, system, folder / "g", folder / f"{system}-bare", *more)
    (folder / "results.csv").write_text(RESULTS, encoding="utf-8")
    (folder / "differences.csv").write_text(DIFFERENCES, encoding="utf-8")
    return folder


def command(folder, kind, output, more="", bare=""):
    """What makes a kind of figure."""
    tokens = f"--pairs {folder}/pairs --sentences {folder}/trees --vectors {folder}/vectors.safetensors "
    tokens += f"--vocabulary {folder}/vocabulary.json --bags word-vectors={folder}/word-vectors{bare}"
    tables = f"--results {folder}/results.csv --differences {folder}/differences.csv --name sts STS"
    words = {
        "results": f"{tables} --confidence 0.95",
        "scores": f"--scores {folder}/scores",
        "iterations": f"--report STS {folder}/report --iterations 30 --tolerance 1e-3",
        "relations": f"--model {folder}/model/model.safetensors",
        "tokens": f"{tokens} bove={folder}/bove{bare}",
    }[kind]
    return ["figures", kind, *f"{words} --output {output} {more.format(folder=folder)}".split()]


TASKS = ("similarity", "entailment", "roles")
RESULTS_FILES = [f"{task}{kind}" for task in TASKS for kind in ("", "-differences")]
NAMES = {"results": RESULTS_FILES, "scores": ["scores-sts"], "iterations": ["iterations"],
         "relations": ["relations"], "tokens": ["tokens-sts"]}  # fmt: skip


@pytest.mark.parametrize(("kind", "names"), NAMES.items())
def test_each_kind_gives_its_files_and_the_same_again(folder, tmp_path, kind, names):
    for out in ("one", "other"):
        assert main(command(folder, kind, tmp_path / out)) == 0
    found = {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()}
    more = {"relations.csv"} if kind == "relations" else set()
    assert set(found) == {f"{name}.{ending}" for name in names for ending in ("svg", "png")} | more
    assert found == {path.name: path.read_bytes() for path in (tmp_path / "other").iterdir()}
    for row in csv.DictReader(found.get("relations.csv", b"").decode().split("\n")):
        assert 1 <= float(row["effective_rank"]) <= 6
        assert 1 <= int(row["for_0.9_of_energy"]) <= int(row["for_0.99_of_energy"]) <= 6


def test_only_the_metric_that_counts_is_drawn(folder, tmp_path):
    assert main(command(folder, "results", tmp_path, "--development sts")) == 0
    for name, texts in {
        "similarity": ["STS (development)", "undefined"],
        "entailment": ["no data set of this task"],
        "entailment-differences": ["nothing to compare"],
        "similarity-differences": ["bove against word-vectors", "undefined"],
    }.items():
        svg = (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
        assert all(f">{text}</text>" in svg for text in texts), name


@pytest.mark.parametrize(
    ("bare", "more", "present", "absent"),
    [
        ("", "", ["a-2, gold 1.5", "b-1, gold 3", ">.</text>"], ["a-1"]),
        ("-bare", "", ["a-2, gold 1.5", "b-1, gold 3"], ["a-1", ">.</text>"]),
        ("", "--pair a-3", ["a-3", "STS 0.000"], ["a-2"]),
    ],
)
def test_tokens_of_the_first_differing_pair_of_each_subset_or_of_a_named_one(
    folder, tmp_path, bare, more, present, absent
):
    assert main(command(folder, "tokens", tmp_path, more, bare)) == 0
    svg = (tmp_path / "tokens-sts.svg").read_text(encoding="utf-8")
    assert all(text in svg for text in present) and not any(text in svg for text in absent)


@pytest.mark.parametrize(
    ("kind", "more", "message"),
    [
        ("tokens", "--pair a-9", "--pair a-9: "),
        ("tokens", "--pair b-2", "--pair b-2: has no gold"),
        ("tokens", "--sentences {folder}/none", "no tree has id 'a-2.1'"),
        ("tokens", "--bags bove={folder}/bove", "the name is repeated"),
        ("tokens", "--bags other={folder}/bove-wrong", "no such file"),
        ("results", "--confidence 95", "--confidence 95: must be between 0 and 1"),
        ("results", "--results {folder}/nowhere", "nowhere: No such file"),
        ("iterations", "--report other {folder}/long", "long, line 1: not CSV"),
        ("iterations", "--report other {folder}/results.csv", "line 1: has no column 'id'"),
    ],
)
def test_a_mistake_is_one_line_and_no_file(folder, tmp_path, refused, kind, more, message):
    (folder / "none").write_text("", encoding="utf-8")
    (folder / "long").write_text("x" * 200_000, encoding="utf-8")  # beyond what a cell of CSV may hold
    refused(command(folder, kind, tmp_path / "out", more), message, tmp_path / "out")


def test_word_vectors_need_to_know_which_words_have_one(folder, tmp_path, refused):
    words = f"--pairs {folder}/pairs --sentences {folder}/trees --bags word-vectors={folder}/word-vectors"
    words = f"figures tokens {words} --output {tmp_path}"
    refused(words.split(), "give --vectors and --vocabulary too")
