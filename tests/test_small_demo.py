"""The small demo from end to end: what a run leaves, and what a second one does."""

import json

import pytest
import yaml
from no_network import namespace
from small_demo import FILES, RUN

AFTER_TRAINING = {
    "infer": 6, "score": 4, "training": 1, "tables": 1, "ablations": 1, "pages": 1, "provenance": 1,
    "figure_iterations": 1, "figure_relations": 1, "figure_tokens": 2, "figure_results": 1,
    "figure_scores": 1,
}  # fmt: skip
AFTER_PARSING = {
    "parse": 2, "encode": 2, "look_up_words": 2, "overview": 1, **AFTER_TRAINING,
}  # fmt: skip
del AFTER_PARSING["training"], AFTER_PARSING["figure_relations"]


def names(folder, pattern="*"):
    return {path.name for path in folder.glob(pattern)}


def test_the_run_has_its_tables_and_its_configuration(demo):
    four = ("csv", "md", "svg", "png")
    assert names(demo.results / "tables") == {
        *("scores.csv", "differences.csv", "summary.csv", "legend.md"),
        *(f"{name}.{ending}" for name in ("summary", "sts", "snli", "roles") for ending in ("md", "tex")),
        *("contamination.csv", "contamination.md", "run.json"),
        *(f"ablations.{ending}" for ending in four),
    }
    assert names(demo.results / "training") == {f"training.{ending}" for ending in four}
    assert {"cost.csv", "cost.md"} <= names(demo.results / "benchmarks")
    assert names(demo.results / "model") == {"model.safetensors", "log.csv", "times.csv"}
    assert names(demo.results / "ablations" / "once") == {"bags", "scores"}
    tasks = ("similarity", "entailment", "roles")
    figures = [f"{task}{kind}" for task in tasks for kind in ("", "-differences")]
    figures += [f"{kind}-{data}" for kind in ("scores", "tokens") for data in ("sts", "snli")]
    figures += ["iterations", "relations"]
    drawn = {f"{name}.{ending}" for name in figures for ending in ("svg", "png")}
    assert names(demo.results / "figures") == drawn | {"relations.csv"}
    stored = yaml.safe_load((demo.results / "config.yaml").read_text(encoding="utf-8"))
    assert (stored["model"]["rank"], stored["model"]["als"]["tolerance"]) == (10, 0.01)
    accuracy = json.loads((demo.results / "parser" / "accuracy.json").read_text(encoding="utf-8"))
    assert set(accuracy["accuracy"]) == {"tags", "UAS", "LAS"} and accuracy["sentences"]["used"] > 0
    assert list(demo.results.rglob("*.tmp")) == []


def test_a_second_run_does_nothing_whatever_the_number_of_cores(demo):
    done = demo.snakemake(*FILES, "--cores", "1")
    assert done.returncode == 0
    assert "Nothing to be done" in done.stdout + done.stderr


def test_the_end_says_what_was_found_and_that_of_a_part_does_not(demo):
    ends = {}
    for part in ([], ["results/small/tables/summary.md"]):
        (demo.results / "tables" / "summary.md").unlink()
        done = demo.snakemake(*part, *FILES)
        assert done.returncode == 0
        ends[bool(part)] = done.stdout + done.stderr
    assert "The run in results/small is finished." in ends[False] and "bove less word-vectors" in ends[False]
    assert "That was a part of the run" in ends[True] and "is finished" not in ends[True]


def test_a_changed_setting_reruns_what_depends_on_it(demo):
    assert demo.plan("model={alpha: 3}") == {"train_als": 1, **AFTER_TRAINING}


def test_a_changed_weight_of_tokens_scores_the_pairs_again_and_infers_nothing(demo):
    again = ("score", "tables", "ablations", "pages", "provenance", "figure_results", "figure_scores")
    assert demo.plan("scoring={weight: length}") == {name: AFTER_TRAINING[name] for name in again}


def test_a_changed_file_reruns_what_reads_it(demo, tmp_path):
    copy = demo.copy(tmp_path / "copy")
    with copy.edited(f"results/{RUN}/data/treebank/dev.conll09", r"\A1\t\w+", "1\tZebra"):
        trained = {"train_tagger": 1, "train_parser": 1, "evaluate_parser": 1}
        assert copy.plan() == {**trained, **AFTER_PARSING}


@pytest.mark.skipif(not namespace(), reason="unshare --net is not here, or not permitted")
def test_no_stage_needed_a_network(demo):
    """The run was made without one; here is that each stage took part in it."""
    logs = names(demo.results / "logs")
    stages = ("demo", "vocabulary", "train_vectors", "train_als", "train_tagger", "train_parser", "tables")
    assert logs >= {f"{stage}.log" for stage in stages} | {"parse", "infer", "score", "ablations"}
