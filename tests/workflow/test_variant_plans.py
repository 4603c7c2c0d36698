"""The plans of configurations with ablations, candidates, seeds, and comparisons."""

import re

import yaml
from plans import ALWAYS, DEMO, each, write_file


def test_ablations_share_what_they_do_not_change(checkout):
    plan = checkout.planned("--configfile", "config/config.yaml", "config/ablations.yaml")
    # three have another vocabulary, so other graphs; words-from-scratch has other graphs of the data sets
    assert plan == {
        **ALWAYS,
        **each(2),
        **DEMO,
        "vocabulary": 1 + 3,
        "encode_treebank": 1 + 3,
        "encode": 2 * (1 + 4),
        "train_als": 1 + 5,
        "train_sgd": 1,
        "infer": 2 * (2 + 10 + 1),
        "score": 2 * (1 + 10),
        "ablations": 1,
    }


def test_choosing_trains_every_candidate_and_scores_it_on_the_development_sets_alone(checkout, tmp_path):
    select = {"grid": {"alpha": [1, "1e-5"], "lambda_P": [10, 20]}, "points": [{"tolerance": 0}]}
    own = {"select": select, "datasets": {"snli": {"development": False}}}
    path = write_file(tmp_path / "own.yaml", yaml.safe_dump(own))
    plan = checkout.planned("--configfile", "config/config.yaml", path)
    # five candidates on one of the two data sets; the run's own model is the best of theirs
    assert plan == {
        **ALWAYS,
        **each(2),
        **DEMO,
        "train_als": 5,
        "infer": 2 * 2 + 5,
        "score": 2 + 5,
        "select": 1,
    }
    said = checkout.snakemake(
        "--dry-run", "--printshellcmds", "--configfile", "config/config.yaml", path
    ).stdout
    command = next(line for line in said.split("\n") if line.startswith("Shell command: bove select"))
    assert "/scores/sts.parquet" in command and "snli" not in command
    assert "--candidate alpha~1e-05/" in command.replace("'", "") and "lambda_P~20/tolerance~0.001" in command


def test_further_seeds_train_infer_and_score_alone(checkout, tmp_path):
    own = {
        "seeds": [3, 1, 2],
        "compare": {"sgd": {"model": {"trainer": "sgd"}}},
        "ablations": {"plain": {"model": {"alpha": 0}}},
    }
    path = write_file(tmp_path / "own.yaml", yaml.safe_dump(own))
    plan = checkout.planned("--configfile", "config/config.yaml", path)
    assert plan == {
        **ALWAYS,
        **each(2),
        **DEMO,
        "train_als": 2 + 2,
        "train_sgd": 1,
        "infer": 2 * (2 + 2 + 2),
        "score": 2 * (2 + 2),
        "ablations": 1,
        "seeds": 1,
    }
    said = checkout.snakemake("-n", "--printshellcmds", "--configfile", "config/config.yaml", path).stdout
    trained = re.findall(r"train-als .* --seed (\d+) .*--output results/demo/(\S*)model/", said)
    assert sorted(trained) == [("1", ""), ("1", "ablations/plain/"), ("2", "seeds/2/"), ("3", "seeds/3/")]
    assert re.search(r"bove train-tagger .* --seed 1 ", said)


def test_further_seeds_of_a_chosen_model_are_trained_by_its_settings(checkout, tmp_path):
    select = {"points": [{"trainer": "als"}, {"trainer": "sgd"}]}
    path = write_file(tmp_path / "own.yaml", yaml.safe_dump({"select": select, "seeds": [2, 3]}))
    plan = checkout.planned("--configfile", "config/config.yaml", path)
    assert (plan["train_als"], plan["train_sgd"], plan["select"], plan["train_again"]) == (1, 1, 1, 2)
    assert plan["score"] == 2 * (1 + 2 + 2) and plan["seeds"] == 1


def test_candidates_of_both_trainers_are_trained_each_by_its_own(checkout, tmp_path):
    select = {"points": [{"trainer": "als"}, {"trainer": "sgd", "negative_weight": "unbiased"}]}
    path = write_file(tmp_path / "own.yaml", yaml.safe_dump({"select": select}))
    plan = checkout.planned("--configfile", "config/config.yaml", path)
    assert (plan["train_als"], plan["train_sgd"], plan["select"]) == (1, 1, 1)


def test_what_only_a_comparison_reads_is_fetched_and_a_run_s_name_may_have_dots(checkout, tmp_path):
    own = {
        "run": "v1.0",
        "sources": {"other": {"url": "https://x.example/vectors.bin"}},
        "compare": {"other.1": {"vectors": {"source": "load", "file": "source:other"}}},
        "ablations": {"v1.1": {"model": {"alpha": 0}}},
    }
    path = write_file(tmp_path / "own.yaml", yaml.safe_dump(own))
    plan = checkout.planned("--configfile", "config/config.yaml", path)
    assert plan == {
        **ALWAYS,
        **each(2),
        **DEMO,
        "fetch_other": 1,
        "load_vectors": 1,
        "encode": 2 * 2,
        "train_als": 3,
        "infer": 2 * (2 + 2),
        "score": 2 * 2,
        "ablations": 1,
    }
