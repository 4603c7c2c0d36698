"""The plan of each configuration, and what the workflow says about mistakes before anything runs."""

import os
import re
import shutil
from collections import Counter

import pytest
import yaml
from checkout import write_file

from bove import demo

# What every configuration has.
ALWAYS = Counter(
    [
        *("figure_results", "figure_scores", "figure_tokens", "overview", "pages", "vocabulary"),
        *("contamination", "tables", "provenance"),
    ]
)
PARSER = Counter(["train_tagger", "train_parser", "evaluate_parser"])
TRAINED = Counter(["figure_iterations", "figure_relations", "encode_treebank", "training"])
DEMO = Counter(["demo", "train_vectors"])
LOADED = Counter(["load_vectors"])
# What there is for each data set.
EACH = Counter(["pairs", "parse", "encode", "infer", "infer", "look_up_words", "score"])
# Of a set of roles.
ROLES = EACH - Counter(["pairs", "parse"]) + Counter(["roles"])


def times(count, jobs):
    return Counter({rule: count * number for rule, number in jobs.items()})


# Two tasks of data sets that are read, and token vectors of one set a task.
OPEN = ALWAYS + PARSER + TRAINED + LOADED + times(3, EACH) + Counter(["figure_tokens"])
WHOLE = ALWAYS + PARSER + TRAINED + DEMO + times(2, EACH) + ROLES + Counter(["figure_tokens"])


def fetched(*names):
    return Counter(f"fetch_{name}" for name in names)


def test_the_demo_makes_everything_itself(checkout):
    assert checkout.planned() == WHOLE + Counter(["train_als"])
    assert not (checkout.folder / "results").exists(), "a dry run wrote something"
    text = (checkout.folder / "config" / "config.yaml").read_text(encoding="utf-8")
    assert set(re.findall(r"source:corpus/([^\s,}]+)", text)) == set(demo.FILES)


def test_the_open_configuration_fetches_what_it_needs(checkout):
    sources = fetched("snli", "sts_2014", "sts_2015", "treebank_dev", "treebank_train", "vectors")
    plan = checkout.planned("--configfile", "config/open.yaml")
    assert plan == OPEN + ROLES + sources + Counter(["train_als"])


def test_the_paper_s_configuration_trains_by_gradient_descent_and_has_no_default_of_the_demo(checkout):
    config = yaml.safe_load((checkout.folder / "config" / "paper.yaml").read_text(encoding="utf-8"))
    for name in (config["treebank"]["train"], config["treebank"]["dev"], config["vectors"]["file"]):
        write_file(checkout.folder / name)
    plan = checkout.planned("--configfile", "config/paper.yaml", "--config", "run=010")
    assert plan == OPEN + fetched("snli", "sts_2014", "sts_2015") + Counter(["train_sgd"])
    assert "results/010/tables/scores.csv" in plan.text, "the name of a run stays as it is written"
    assert "results/demo" not in plan.text and "corpus" not in plan.text


def test_with_local_files_nothing_is_fetched(checkout, tmp_path):
    for name in ("deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news"):
        for kind in ("input", "gs"):
            write_file(tmp_path / "my sts" / f"STS.{kind}.{name}.txt")
    files = {name: write_file(tmp_path / name) for name in ("treebank-train", "treebank-dev", "vectors")}
    files["sts-2014"] = str(tmp_path / "my sts")
    sources = {name: {"file": file} for name, file in files.items()}
    changes = {"sources": sources, "datasets": dict.fromkeys(("STS-2015", "SNLI", "roles"))}
    path = write_file(tmp_path / "my.yaml", yaml.safe_dump(changes))
    plan = checkout.planned("--configfile", "config/open.yaml", path)
    assert plan == ALWAYS + PARSER + TRAINED + LOADED + EACH + Counter(["train_als"])


CONDA = """#!/bin/sh
case "$*" in
*info*) echo '{"conda_version": "25.1.0", "platform": "linux-64", "conda_prefix": "/", "root_prefix": "/"}' ;;
*config*) echo '{"get": {"channel_priority": "strict"}}' ;;
*) echo "conda 25.1.0" ;;
esac
"""


def test_an_environment_of_conda_is_found_whatever_the_path(checkout, tmp_path):
    (tmp_path / "conda").write_text(CONDA, encoding="utf-8")
    (tmp_path / "conda").chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = checkout.snakemake("--dry-run", "--sdm", "conda", PATH=path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert checkout.jobs(done.stdout)["train_als"] == 1


def test_own_parses_and_fewer_systems_mean_fewer_jobs(checkout, own, tmp_path):
    words = own(
        datasets={
            "sts": {"parses": write_file(tmp_path / "trees")},
            "snli": None,
            "roles": {"from": ["sts"]},
        },
        systems=["word-vectors"],
    )
    each = ("pairs", "parse", "look_up_words", "score", "roles", "look_up_words", "score")
    assert checkout.planned(*words) == ALWAYS + DEMO + Counter(each)


def test_models_of_a_parser_are_fetched_or_named(checkout, own, tmp_path):
    names = ("tagger", "parser", "lemmatizer", "pretrain", "charlm_forward", "charlm_backward")
    plan = checkout.planned(
        *own(
            sources={f"en-{name}": {"url": f"https://x.example/{name}.pt"} for name in names[1:]},
            parser={
                "source": "load",
                "shards": 2,
                "tagger": write_file(tmp_path / "my tagger"),
                **{name: f"source:en-{name}" for name in names[1:]},
            },
        )
    )
    loaded = {rule: n for rule, n in plan.items() if rule.startswith(("fetch", "parse", "train_"))}
    models = fetched(*(f"en_{name}" for name in names[1:]))
    assert loaded == {**models, "parse_shard": 4, "train_als": 1, "train_vectors": 1}
    reading = [command for command in plan.commands if f"--tagger '{tmp_path}/my tagger'" in command]
    assert len(reading) == 5  # four shards, and the accuracy
    for name in names[1:]:
        flag = f"--{name.replace('_', '-')} results/downloads/en-{name}"
        assert all(flag in command for command in reading)


def test_bags_of_other_systems_are_scored_where_there_are_some(checkout, own, tmp_path):
    bags = {
        "letters": {"sts": write_file(tmp_path / "my bags")},
        "web": {"sts": "source:web", "snli": "source:web"},
    }
    plan = checkout.planned(*own(bags=bags, sources={"web": {"url": "https://x.example/bags"}}))
    assert plan == WHOLE + Counter(["train_als", "fetch_web"])
    commands = "\n".join(plan.commands)
    scored = dict(re.findall(r"bove score .*/pairs/(\w+)\.jsonl --bags (.*) --weight", commands))
    web = "web=results/downloads/web"
    assert scored["sts"].endswith(f"'letters={tmp_path}/my bags' {web}")
    assert scored["snli"].endswith(f"/bags/bove/snli.safetensors {web}")


def test_baselines_are_bags_of_their_own_and_columns_beside_the_systems(checkout, own):
    names = ["mean", "sif", "whitened", "rwmd", "overlap", "arcs"]
    plan = checkout.planned(*own(baselines=names, systems=["properties-only", "bove"]))
    assert plan == WHOLE + Counter({"train_als": 1, "baseline": 3 * 6}) - Counter({"look_up_words": 3})
    made = [command for command in plan.commands if command.startswith("bove baseline --system")]
    reading = {name: [c for c in made if f"--system {name} " in c and "sts.conllu.gz" in c] for name in names}
    assert all(len(commands) == 1 for commands in reading.values())
    assert [name for name in names if "--treebank" in reading[name][0]] == ["sif"]
    assert [name for name in names if "--vectors" not in reading[name][0]] == ["overlap"]
    scored = next(c for c in plan.commands if c.startswith("bove score") and "pairs/sts.jsonl" in c)
    assert re.findall(r" (?:[\w-]+)(?==results/demo/bags)", scored) == [
        f" {n}" for n in ("properties-only", "bove", *names)
    ]


def test_an_encoder_gives_two_columns_and_without_its_extra_it_is_refused_at_once(checkout, own, tmp_path):
    files = "config.json", "model.safetensors", "tokenizer.json"
    for name in files:
        write_file(tmp_path / "of mine" / name)
    changes = own(encoders={"mini": {"path": str(tmp_path / "of mine")}})
    plan = checkout.planned(*changes)
    assert plan == WHOLE + Counter({"train_als": 1, "encoder": 3})
    scored = next(c for c in plan.commands if c.startswith("bove score") and "pairs/sts.jsonl" in c)
    for kind in ("sentences", "tokens"):
        assert f" mini-{kind}=results/demo/bags/mini-{kind}/sts.safetensors" in scored
    gone = (
        "from importlib import metadata\nversion = metadata.version\ndef found(name):\n"
        "    if name == 'sentence-transformers':\n        raise metadata.PackageNotFoundError(name)\n"
        "    return version(name)\nmetadata.version = found\n"
    )
    write_file(tmp_path / "sitecustomize.py", gone)
    done = checkout.snakemake("--dry-run", *changes, PYTHONPATH=str(tmp_path))
    said = "encoders: they need sentence-transformers; install it with: pip install 'bove[encoders]'\n"
    assert done.returncode == 2 and done.stderr.endswith(f"\nconfiguration: {said}")


def test_a_model_over_an_encoder_has_its_vectors_of_the_treebank_and_of_every_data_set(
    checkout, own, tmp_path
):
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        write_file(tmp_path / "of mine" / name, "{}")
    given = own(
        encoders={"mini": {"path": str(tmp_path / "of mine")}},
        vectors={"source": "encoder", "encoder": "mini"},
        compare={"shorter": {"model": {"rank": 20}}, "words": {"vectors": {"source": "train"}}},
    )
    plan = checkout.planned(*given)
    assert plan == WHOLE + Counter(
        train_als=3,
        encoder=3,
        encoder_treebank=1,
        components=2,
        encode_treebank=2,
        vocabulary=2,
        encode=6,
        infer=6,
    )
    commands = [c.replace(str(checkout.folder), "") for c in plan.commands]
    assert sum("--no-words" in c for c in commands) == 2
    for dataset in ("sts", "roles"):
        whole = f"results/demo/encoded/mini/{dataset}.safetensors"
        for start, flag, count in (("encoder", "--whole-output", 1), ("encode ", "--tokens", 2)):
            assert sum(c.startswith(f"bove {start}") and f" {flag} {whole}" in c for c in commands) == count
    (trained,) = (c for c in commands if "train-als" in c and "--output results/demo/model" in c)
    assert "--vectors" not in trained


def test_shards_of_an_encoder_are_gathered_for_each_kind_of_its_vectors(checkout, own, tmp_path):
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        write_file(tmp_path / name, "{}")
    given = own(
        encoders={"mini": {"path": str(tmp_path)}},
        vectors={"source": "encoder", "encoder": "mini"},
        inference={"shards": 2},
        scoring={"punctuation": False},
    )
    plan = checkout.planned(*given)
    assert "encoder" not in plan and (plan["encoder_shard"], plan["gather_encoded"]) == (3 * 2, 3 * 3)
    run = "results/demo"
    files = {f"{run}/bags/mini-tokens/sts", f"{run}/bags/mini-sentences/sts", f"{run}/encoded/mini/sts"}
    encoding = [
        c for c in plan.commands if c.startswith("bove encoder ") and "parses/sts." in c and "--shard" in c
    ]
    for number, command in enumerate(sorted(encoding, key=lambda c: c.rpartition("--shard")[2]), 1):
        outputs = re.findall(r"output (\S+)", command)
        assert f"--shard {number}/2" in command and "--no-punctuation" in command
        assert set(outputs) == {f"{file}/{number}-of-2.safetensors" for file in files}
    gathering = [c for c in plan.commands if c.startswith("bove gather-bags --sentences") and "/sts/" in c]
    found = {re.search(r"--output (\S+)", command)[1]: command for command in gathering}
    assert found.keys() == {f"{file}.safetensors" for file in files} and len(encoding) == 2
    for file in files:
        command = found[f"{file}.safetensors"]
        assert f"--shards {file}/1-of-2.safetensors {file}/2-of-2.safetensors" in command
        assert ("--no-punctuation" in command) == ("/bags/" in file)
    done = checkout.snakemake("--dry-run", *given, "--until", "encoder")
    assert done.returncode == 2 and "write --until encoder gather_encoded" in done.stdout + done.stderr


def test_what_only_a_comparison_reads_is_fetched_and_a_run_s_name_may_have_dots(checkout, own):
    plan = checkout.planned(
        *own(
            run="v1.0",
            sources={"other": {"url": "https://x.example/vectors.bin"}},
            compare={"other.1": {"vectors": {"source": "load", "file": "source:other"}}},
            ablations={"v1.1": {"model": {"alpha": 0}}},
        )
    )
    variants = {"encode": 3, "train_als": 3, "infer": 6, "score": 3, "ablations": 1}
    assert plan == WHOLE + fetched("other") + LOADED + Counter(variants)


def test_a_strict_treebank_is_one_for_every_stage_that_learns_from_it(checkout):
    plan = checkout.planned("--config", "treebank={strict: true}")
    strict = [command.split()[1] for command in plan.commands if "--strict" in command]
    assert sorted(strict) == ["train-parser", "train-tagger", "vocabulary"]


def test_every_job_says_what_it_needs_by_its_input(checkout, own, tmp_path):
    """Sizes of files that are yet to be made are unknown; those of the user's own are known."""
    train = write_file(tmp_path / "train.conll", "1\tx" + "\t_" * 12 + "\n\n" * 200_000)
    plan = checkout.planned(*own(treebank={"train": train}))
    resources = re.findall(r"^    resources: (.*)", plan.text, re.M)
    assert sum("runtime=" in line and "mem_mb=" in line for line in resources) == sum(plan.values())
    needed = re.search(r"^rule train_parser:.*?mem_mb=(\d+)", plan.text, re.M | re.S)
    assert int(needed[1]) == 3000 + 40 * 0.4


def test_shards_are_jobs_of_their_own_for_what_is_parsed_here(checkout, own, tmp_path):
    write_file(checkout.folder / "results" / "demo" / "pairs" / "snli.jsonl", "x" * 3_000_000)
    trees = write_file(tmp_path / "trees.conllu")
    try:
        plan = checkout.planned(*own(parser={"shards": 3}, datasets={"sts": {"parses": trees}}))
    finally:
        shutil.rmtree(checkout.folder / "results")
    sharded = Counter({"train_als": 1, "parse_shard": 3, "gather_parses": 1})
    assert plan == WHOLE + sharded - Counter(["parse"])
    commands = "\n".join(plan.commands)
    assert sorted(re.findall(r"bove parse .*--shard (\S+)", commands)) == ["1/3", "2/3", "3/3"]
    [gathering] = re.findall(r"bove gather-parses .*", commands)
    assert re.findall(r"(\d)-of-3\.conllu\.gz", gathering) == ["1", "2", "3"]
    minutes = re.findall(r"^rule parse_shard:.*?runtime=(\d+)", plan.text, re.M | re.S)
    assert minutes == [str(60 + 30 * 3 // 3)] * 3, "each has its share of the time"


@pytest.mark.parametrize(("stage", "gather"), [("parse", "gather_parses"), ("infer", "gather_bags")])
def test_until_a_stage_with_shards_names_what_puts_them_together(checkout, own, stage, gather):
    options = own(parser={"shards": 2}, inference={"shards": 2})
    done = checkout.snakemake("--dry-run", *options, "--until", stage)
    assert done.returncode == 2 and f"write --until {stage} {gather}" in done.stdout + done.stderr
    assert checkout.planned(*options, "--until", stage, gather)[gather] >= 2


def test_shards_of_inference_are_those_of_the_variants_that_ask_for_them(checkout, own):
    plan = checkout.planned(
        *own(
            inference={"shards": 2},
            systems=["properties-only", "bove"],
            ablations={
                "whole": {"inference": {"shards": 1, "energy": 1}},
                "silent": {"scoring": {"punctuation": False}},
                "nothing-else": {"inference": {"shards": 5}},
            },
        )
    )
    assert (plan["infer"], plan["infer_shard"], plan["gather_bags"]) == (3 + 3, 2 * 3 * 2, 2 * 3)
    for stage, count in (("infer", 6), ("gather-bags", 3)):
        silent = [
            command
            for command in plan.commands
            if re.match(rf"bove {stage} .*--no-punctuation", command) and "--sentences" in command
        ]
        assert len(silent) == count
        assert all("results/demo/ablations/silent/bags/bove/" in command for command in silent)


def test_without_a_number_there_are_shards_for_the_pairs_that_are_there(checkout, own, tmp_path):
    subsets = {}
    for name in ("a", "b"):
        pairs = write_file(tmp_path / f"{name}.txt", "A cat sleeps\tA dog sleeps\n" * 2001)
        subsets[name] = {"input": pairs, "gold": write_file(tmp_path / f"{name}.gs", "1\n" * 2001)}
    plan = checkout.planned(
        *own(
            datasets={"mine": {"label": "Mine", "task": "similarity", "subsets": subsets}},
            ablations={"slow": {"inference": {"solver": "averaged"}}},
        )
    )
    # 8,004 sentences; the demo's own pairs are yet to be made, and parsed at once
    assert (plan["parse"], plan["parse_shard"], plan["gather_parses"]) == (2, 3, 1)
    assert (plan["infer"], plan["infer_shard"], plan["gather_bags"]) == (2 * 4 + 3, 2, 1)
    assert not (checkout.folder / "results").exists(), "a dry run wrote something"


def test_the_ablations_that_come_along_share_what_they_do_not_change(checkout):
    plan = checkout.planned("--configfile", "config/config.yaml", "config/ablations.yaml")
    # three have another vocabulary, so other graphs; words-from-scratch has other graphs of the data sets
    variants = {"vocabulary": 3, "encode_treebank": 3, "encode": 3 * 4, "train_als": 1 + 5, "train_sgd": 1}
    variants |= {"infer": 3 * (10 + 1), "score": 3 * 10, "ablations": 1}
    assert plan == WHOLE + Counter(variants)


def test_choosing_trains_every_candidate_and_scores_it_on_the_development_sets_alone(checkout, own):
    """Further seeds then have the settings of the chosen model."""
    select = {"grid": {"alpha": [1, "1e-5"], "lambda_P": [10, 20]}, "points": [{"trainer": "sgd"}]}
    others = {name: {"development": False} for name in ("snli", "roles")}
    plan = checkout.planned(*own(select=select, seeds=[2], datasets=others))
    # five candidates on one of the three data sets; the run's own model is the best of theirs
    variants = {"train_als": 4, "train_sgd": 1, "select": 1, "train_again": 1, "seeds": 1}
    assert plan == WHOLE + Counter(variants | {"infer": 5 + 3, "score": 5 + 3})
    [command] = [command for command in plan.commands if command.startswith("bove select")]
    assert "/scores/sts.parquet" in command and "snli" not in command
    assert "--candidate alpha~1e-05/" in command.replace("'", "") and "lambda_P~20/trainer~als" in command


def test_further_seeds_train_infer_and_score_alone(checkout, own):
    plan = checkout.planned(
        *own(
            seeds=[3, 1, 2],
            compare={"sgd": {"model": {"trainer": "sgd"}}},
            ablations={"plain": {"model": {"alpha": 0}}},
        )
    )
    variants = {"train_als": 4, "train_sgd": 1, "infer": 3 * 4, "score": 3 * 3, "ablations": 1, "seeds": 1}
    assert plan == WHOLE + Counter(variants)
    commands = "\n".join(plan.commands)
    trained = re.findall(r"train-als .* --seed (\d+) .*--output results/demo/(\S*)model/", commands)
    assert sorted(trained) == [("1", ""), ("1", "ablations/plain/"), ("2", "seeds/2/"), ("3", "seeds/3/")]
    assert re.search(r"bove train-tagger .* --seed 1 ", commands)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"select": {"grid": {"dtype": ["a/b {c}\t|d"]}}},
            "configuration: select: dtype~a/b {c} |d: model.dtype: 'a/b {c}\\t|d' is not allowed;",
        ),
        (
            {"treebank": {"train": "absent.conll"}},
            "configuration: treebank.train: absent.conll: no such file",
        ),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2_before_anything_runs(checkout, own, changes, message):
    done = checkout.snakemake(*own(**changes))
    assert done.returncode == 2
    said = [line for line in done.stderr.split("\n") if line and not line.startswith("Using workflow")]
    assert len(said) == 1 and message in said[0]
    assert not (checkout.folder / "results").exists()
