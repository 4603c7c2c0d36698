"""`bove figures` from the files of a small run, and what it refuses."""

import csv

import pytest
from tiny_run import CHASED, TURNED, infer, make_run, score

from bove.cli.main import main
from bove.text.conll import Sentence
from bove.text.pairs import Pair

SYSTEMS = ("word-vectors", "bove")
PAIRS = [
    Pair("a-00001", "sts", "STS", "similarity", "a", "x", "x", 5.0, True),
    Pair("a-00002", "sts", "STS", "similarity", "a", "x", "y", 1.5, True),
    Pair("a-00003", "sts", "STS", "similarity", "a", "x", "z", 2.5, True),
    Pair("b-00001", "sts", "STS", "similarity", "b", "y", "x", 3.0, True),
    Pair("b-00002", "sts", "STS", "similarity", "b", "y", "z", None, False),
]
TREES = {"x": CHASED, "y": TURNED, "z": Sentence("none")}
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


def commands(folder, bare=""):
    """What makes each kind of figure, by the names of the files that it gives."""
    bags = " ".join(f"{system}={folder}/{system}{bare}" for system in SYSTEMS)
    tokens = f"--pairs {folder}/pairs --sentences {folder}/trees --bags {bags}"
    return {
        "results": (
            f"--results {folder}/results.csv --differences {folder}/differences.csv --confidence 0.95 "
            f"--name sts STS",
            [f"{task}{kind}" for task in ("similarity", "entailment") for kind in ("", "-differences")],
        ),
        "scores": (f"--scores {folder}/scores", ["scores-sts"]),
        "iterations": (f"--report STS {folder}/report --iterations 30 --tolerance 1e-3", ["iterations"]),
        "relations": (f"--model {folder}/model/model.safetensors", ["relations"]),
        "tokens": (
            f"{tokens} --vectors {folder}/vectors.safetensors --vocabulary {folder}/vocabulary.json",
            ["tokens-sts"],
        ),
    }


def draw(kind, words, output):
    return main(["figures", kind, *words.split(), "--output", str(output)])


@pytest.mark.parametrize("kind", ["results", "scores", "iterations", "relations", "tokens"])
def test_each_kind_gives_its_files_and_the_same_again(folder, tmp_path, kind):
    words, names = commands(folder)[kind]
    for out in ("one", "other"):
        assert draw(kind, words, tmp_path / out) == 0
    found = {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()}
    more = {"relations.csv"} if kind == "relations" else set()
    assert set(found) == {f"{name}.{ending}" for name in names for ending in ("svg", "png")} | more
    assert found == {path.name: path.read_bytes() for path in (tmp_path / "other").iterdir()}


def test_only_the_metric_that_counts_is_drawn(folder, tmp_path):
    assert draw("results", commands(folder)["results"][0] + " --development sts", tmp_path) == 0
    svg = (tmp_path / "similarity.svg").read_text(encoding="utf-8")
    assert ">STS (development)</text>" in svg and ">undefined</text>" in svg
    assert ">no data set of this task</text>" in (tmp_path / "entailment.svg").read_text(encoding="utf-8")
    nothing = (tmp_path / "entailment-differences.svg").read_text(encoding="utf-8")
    assert ">nothing to compare</text>" in nothing
    compared = (tmp_path / "similarity-differences.svg").read_text(encoding="utf-8")
    assert ">bove against word-vectors</text>" in compared and ">undefined</text>" in compared


@pytest.mark.parametrize("bare", ["", "-bare"])
def test_tokens_of_the_first_differing_pair_of_each_subset_with_and_without_punctuation(
    folder, tmp_path, bare
):
    assert draw("tokens", commands(folder, bare)["tokens"][0], tmp_path) == 0
    svg = (tmp_path / "tokens-sts.svg").read_text(encoding="utf-8")
    assert "a-00002, gold 1.5" in svg and "b-00001, gold 3" in svg and "a-00001" not in svg
    assert (">.</text>" in svg) == (not bare)


def test_named_pairs_are_drawn_an_empty_sentence_among_them(folder, tmp_path):
    assert draw("tokens", commands(folder)["tokens"][0] + " --pair a-00003", tmp_path) == 0
    svg = (tmp_path / "tokens-sts.svg").read_text(encoding="utf-8")
    assert "a-00003" in svg and "a-00002" not in svg and "STS 0.000" in svg


@pytest.mark.parametrize(
    ("kind", "more", "message"),
    [
        ("tokens", "--pair a-9", "--pair a-9: "),
        ("tokens", "--pair b-00002", "--pair b-00002: has no gold"),
        ("tokens", "--sentences {folder}/none", "has no sentence 'a-00002.1'"),
        ("tokens", "--bags bove={folder}/bove", "the name is repeated"),
        ("tokens", "--bags other={folder}/bove-wrong", "no such file"),
        ("results", "--confidence 95", "--confidence 95: must be between 0 and 1"),
        ("results", "--results {folder}/report", "line 1: has no column 'task'"),
        ("results", "--development nope", "--development nope: no such data set; "),
        ("results", "--name nope Nope", "--name nope: no such data set; "),
        ("results", "--results {folder}/long", "long, line 1: not CSV"),
        ("iterations", "--report other {folder}/long", "long, line 1: not CSV"),
        ("iterations", "--report STS {folder}/report", "the name is repeated"),
        ("iterations", "--report other {folder}/results.csv", "line 1: has no column 'id'"),
    ],
)
def test_a_mistake_is_one_line_and_no_file(folder, tmp_path, capsys, kind, more, message):
    (folder / "none").write_text("", encoding="utf-8")
    (folder / "long").write_text("x" * 200_000, encoding="utf-8")  # beyond what a cell of CSV may hold
    capsys.readouterr()
    assert draw(kind, f"{commands(folder)[kind][0]} {more.format(folder=folder)}", tmp_path) == 2
    lines = [line for line in capsys.readouterr().err.split("\n") if line.startswith("bove figures: ")]
    assert len(lines) == 1 and message in lines[0]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("row", ["x,5,nine,0.1", "x,5,9", "", "x,5,-1,0.1", f"x,{10**30},1,0.1"])
def test_a_damaged_report_is_named_with_its_line(tmp_path, capsys, row):
    (tmp_path / "r").write_text(f"id,tokens,iterations,change\nx,5,2,0.1\n{row}\n", encoding="utf-8")
    assert draw("iterations", f"--report STS {tmp_path / 'r'}", tmp_path / "out") == 2
    assert f"{tmp_path / 'r'}, line 3: " in capsys.readouterr().err


def test_word_vectors_need_to_know_which_words_have_one(folder, tmp_path, capsys):
    words = f"--pairs {folder}/pairs --sentences {folder}/trees --bags word-vectors={folder}/word-vectors"
    assert draw("tokens", words, tmp_path) == 2
    assert "give --vectors and --vocabulary too" in capsys.readouterr().err


def test_the_table_of_relations_agrees_with_the_model(folder, tmp_path):
    assert draw("relations", commands(folder)["relations"][0], tmp_path) == 0
    with open(tmp_path / "relations.csv", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["relation"] for row in rows} >= {"NMOD", "ADJACENCY"}
    for row in rows:
        assert 1 <= float(row["effective_rank"]) <= 6
        assert 1 <= int(row["for_0.9_of_energy"]) <= int(row["for_0.99_of_energy"]) <= 6
