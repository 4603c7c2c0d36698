"""The plan of each configuration, and what the workflow says about mistakes before anything runs."""

import os
import re
import shutil

import pytest
import yaml
from plans import ALWAYS, DEMO, DRAWN, each, write_file

from bove import demo


@pytest.fixture(scope="module")
def paper_files(checkout):
    """What config/paper.yaml expects to lie there."""
    config = yaml.safe_load((checkout.folder / "config" / "paper.yaml").read_text(encoding="utf-8"))
    for name in (config["treebank"]["train"], config["treebank"]["dev"], config["vectors"]["file"]):
        write_file(checkout.folder / name)


def test_the_demo_makes_everything_itself(checkout):
    plan = checkout.planned()
    assert plan == {**ALWAYS, **each(2), **DEMO, "train_als": 1}
    assert not (checkout.folder / "results").exists(), "a dry run wrote something"


def test_the_open_configuration_fetches_what_it_needs(checkout):
    plan = checkout.planned("--configfile", "config/open.yaml")
    fetched = ("snli", "sts_2014", "sts_2015", "treebank_dev", "treebank_train", "vectors")
    fetches = {f"fetch_{name}": 1 for name in fetched}
    assert plan == {**ALWAYS, **each(3), **fetches, "load_vectors": 1, "train_als": 1}


def test_with_local_files_nothing_is_fetched(checkout, tmp_path):
    for name in ("deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news"):
        for kind in ("input", "gs"):
            write_file(tmp_path / "my sts" / f"STS.{kind}.{name}.txt")
    own = {
        "sources": {
            "treebank-train": {"file": write_file(tmp_path / "train")},
            "treebank-dev": {"file": write_file(tmp_path / "dev")},
            "vectors": {"file": write_file(tmp_path / "vectors")},
            "sts-2014": {"file": str(tmp_path / "my sts")},
        },
        "datasets": {"STS-2015": None, "SNLI": None},
    }
    path = write_file(tmp_path / "my.yaml", yaml.safe_dump(own))
    plan = checkout.planned("--configfile", "config/open.yaml", path)
    assert plan == {**ALWAYS, **each(1), "figure_tokens": 1, "load_vectors": 1, "train_als": 1}


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


def test_the_paper_s_configuration_trains_by_gradient_descent(checkout, paper_files):
    plan = checkout.planned("--configfile", "config/paper.yaml")
    fetches = {f"fetch_{name}": 1 for name in ("snli", "sts_2014", "sts_2015")}
    assert plan == {**ALWAYS, **each(3), **fetches, "load_vectors": 1, "train_sgd": 1}


def test_own_parses_own_models_and_fewer_systems_mean_fewer_jobs(checkout, tmp_path):
    trees = write_file(tmp_path / "trees.conllu")
    own = write_file(tmp_path / "own.yaml", yaml.safe_dump({"datasets": {"sts": {"parses": trees}}}))
    arguments = ("--configfile", "config/config.yaml", own, "--config")
    plan = checkout.planned(*arguments, "datasets={snli: null}", "systems=[word-vectors]")
    assert plan == {"demo": 1, "vocabulary": 1, "train_vectors": 1} | dict.fromkeys(
        ("pairs", "parse", "look_up_words", "score", "contamination", "tables", "provenance", *DRAWN), 1
    )
    tagger, parser = write_file(tmp_path / "t"), write_file(tmp_path / "p")
    models = f"parser={{source: load, tagger: '{tagger}', parser: '{parser}'}}"
    loaded = checkout.planned(*arguments, models)
    assert loaded["parse"] == 2
    assert not {"train_tagger", "train_parser"} & set(loaded) and loaded["evaluate_parser"] == 1


def test_bags_of_other_systems_are_scored_where_there_are_some(checkout, tmp_path):
    bags = {
        "letters": {"sts": write_file(tmp_path / "my bags")},
        "web": {"sts": "source:web", "snli": "source:web"},
    }
    own = {"bags": bags, "sources": {"web": {"url": "https://x.example/bags"}}}
    path = write_file(tmp_path / "own.yaml", yaml.safe_dump(own))
    plan = checkout.planned("--configfile", "config/config.yaml", path)
    assert plan == {**ALWAYS, **each(2), **DEMO, "train_als": 1, "fetch_web": 1}
    said = checkout.snakemake("-n", "--printshellcmds", "--configfile", "config/config.yaml", path).stdout
    scored = {m[1]: m[2] for m in re.finditer(r"bove score .*/pairs/(\w+)\.jsonl --bags (.*) --output", said)}
    web = "web=results/downloads/web"
    assert scored["sts"].endswith(f"'letters={tmp_path}/my bags' {web}")
    assert scored["snli"].endswith(f"/bags/bove/snli.safetensors {web}")


def test_every_job_says_what_it_needs_by_its_input(checkout, tmp_path):
    """Sizes of files that are yet to be made are not known; those of the user's own are."""
    memory = {}
    for lines in (0, 200_000):
        train = write_file(tmp_path / "train.conll", "1\tx" + "\t_" * 12 + "\n\n" * lines)
        path = write_file(tmp_path / "own.yaml", yaml.safe_dump({"treebank": {"train": train}}))
        said = checkout.snakemake("--dry-run", "--configfile", "config/config.yaml", path).stdout
        resources = re.findall(r"^    resources: .*runtime=.*mem_mb=", said, re.M)
        assert len(resources) == sum(checkout.jobs(said).values())
        memory[lines] = int(re.search(r"^rule train_parser:.*?mem_mb=(\d+)", said, re.M | re.S)[1])
    assert memory == {0: 3000, 200_000: 3000 + 40 * 0.4}


def test_a_shard_asks_for_its_share_of_the_time(checkout, tmp_path):
    write_file(checkout.folder / "results" / "demo" / "pairs" / "sts.jsonl", "x" * 3_000_000)
    path = write_file(tmp_path / "own.yaml", yaml.safe_dump({"parser": {"shards": 3}}))
    try:
        said = checkout.snakemake("--dry-run", "--configfile", "config/config.yaml", path).stdout
    finally:
        shutil.rmtree(checkout.folder / "results")
    minutes = re.findall(r"^rule parse_shard:.*?dataset=sts,.*?runtime=(\d+)", said, re.M | re.S)
    assert minutes == [str(60 + 30 * 3 // 3)] * 3


def test_shards_are_jobs_of_their_own_for_what_is_parsed_here(checkout, tmp_path):
    trees = write_file(tmp_path / "trees.conllu")
    own = {"parser": {"shards": 3}, "datasets": {"sts": {"parses": trees}}}
    path = write_file(tmp_path / "own.yaml", yaml.safe_dump(own))
    sharded = {"parse_shard": 3, "gather_parses": 1}
    plan = checkout.planned("--configfile", "config/config.yaml", path)
    assert plan == {**ALWAYS, **each(2), **DEMO, "train_als": 1, "parse": 1, **sharded}
    said = checkout.snakemake("-n", "--printshellcmds", "--configfile", "config/config.yaml", path).stdout
    commands = re.findall(r"^Shell command: bove (?:parse|gather-parses) .*$", said, re.M)
    assert sorted(re.findall(r"--shard \S+", "\n".join(commands))) == [f"--shard {i}/3" for i in (1, 2, 3)]
    [gathering] = (command for command in commands if "gather-parses" in command)
    assert re.findall(r"(\d)-of-3\.conllu\.gz", gathering) == ["1", "2", "3"]


def test_shards_of_inference_are_those_of_the_variants_that_ask_for_them(checkout, tmp_path):
    own = {
        "inference": {"shards": 2},
        "systems": ["properties-only", "bove"],
        "ablations": {
            "whole": {"inference": {"shards": 1, "energy": 1}},
            "silent": {"scoring": {"punctuation": False}},
            "nothing-else": {"inference": {"shards": 5}},
        },
    }
    path = write_file(tmp_path / "own.yaml", yaml.safe_dump(own))
    plan = checkout.planned("--configfile", "config/config.yaml", path)
    assert (plan["infer"], plan["infer_shard"], plan["gather_bags"]) == (2 + 2, 2 * 2 * 2, 2 * 2)
    said = checkout.snakemake("-n", "--printshellcmds", "--configfile", "config/config.yaml", path).stdout
    for stage in ("infer", "gather-bags"):
        silent = re.findall(rf"^Shell command: bove {stage} .*--no-punctuation --sentences .*$", said, re.M)
        assert len(silent) == {"infer": 4, "gather-bags": 2}[stage]
        assert all("results/demo/ablations/silent/bags/bove/" in command for command in silent)


def test_without_a_number_there_are_shards_for_the_pairs_that_are_there(checkout, tmp_path):
    for name in ("a", "b"):
        write_file(tmp_path / f"{name}.txt", "A cat sleeps\tA dog sleeps\n" * 2001)
        write_file(tmp_path / f"{name}.gs", "1\n" * 2001)
    subsets = {
        name: {
            part: str(tmp_path / f"{name}.{ending}") for part, ending in (("input", "txt"), ("gold", "gs"))
        }
        for name in ("a", "b")
    }
    mine = {"label": "Mine", "task": "similarity", "subsets": subsets}
    own = {"datasets": {"mine": mine}, "ablations": {"slow": {"inference": {"solver": "averaged"}}}}
    path = write_file(tmp_path / "own.yaml", yaml.safe_dump(own))
    plan = checkout.planned("--configfile", "config/config.yaml", path)
    # 8,004 sentences; the demo's own pairs are yet to be made, and parsed at once
    assert (plan["parse"], plan["parse_shard"], plan["gather_parses"]) == (2, 3, 1)
    assert (plan["infer"], plan["infer_shard"], plan["gather_bags"]) == (2 * 3 + 2, 2, 1)
    assert not (checkout.folder / "results").exists(), "a dry run wrote something"


def test_models_and_what_they_need_are_fetched_and_named(checkout, tmp_path):
    names = ("tagger", "parser", "lemmatizer", "pretrain", "charlm_forward", "charlm_backward")
    own = {
        "sources": {f"en-{name}": {"url": f"https://x.example/{name}.pt"} for name in names},
        "parser": {"source": "load", "shards": 2, **{name: f"source:en-{name}" for name in names}},
    }
    path = write_file(tmp_path / "own.yaml", yaml.safe_dump(own))
    done = checkout.snakemake("-n", "--printshellcmds", "--configfile", "config/config.yaml", path)
    plan = checkout.planned("--configfile", "config/config.yaml", path)
    assert {rule: n for rule, n in plan.items() if rule.startswith(("fetch", "parse", "train_"))} == {
        **{f"fetch_en_{name}": 1 for name in names},
        "parse_shard": 4,
        "train_als": 1,
        "train_vectors": 1,
    }
    flags = " ".join(f"--{name.replace('_', '-')} results/downloads/en-{name}" for name in names)
    assert done.stdout.count(f"{flags} --max-tokens") == 5  # four shards, and the accuracy


def test_a_strict_treebank_is_one_for_every_stage_that_learns_from_it(checkout):
    said = checkout.snakemake("-n", "--printshellcmds", "--config", "treebank={strict: true}")
    text = (checkout.folder / "config" / "config.yaml").read_text(encoding="utf-8")
    assert "strict" not in text
    strict = re.findall(r"^Shell command: bove (\S+) .*--strict", said.stdout, re.M)
    assert sorted(strict) == ["train-parser", "train-tagger", "vocabulary"], said.stderr


def test_names_stay_as_written_and_no_default_key_leaks_into_a_named_configuration(checkout, paper_files):
    done = checkout.snakemake("--dry-run", "--configfile", "config/paper.yaml", "--config", "run=010")
    said = done.stdout + done.stderr
    assert "results/010/tables/scores.csv" in said
    assert "demo" not in said and "corpus" not in said


@pytest.mark.parametrize(
    ("own", "message"),
    [
        (
            {"select": {"grid": {"alpha": [-1, 1]}}},
            "configuration: select: alpha~-1: model.alpha: -1.0 is not allowed; allowed: at least 0",
        ),
        (
            {"select": {"grid": {"dtype": ["a/b {c}\t|d"]}}},
            "configuration: select: dtype~a/b {c} |d: model.dtype: 'a/b {c}\\t|d' is not allowed;",
        ),
        (
            {"compare": {"x": {"vectors": {"source": "load", "file": "absent.bin"}}}},
            "configuration: compare.x: vectors.file: absent.bin: no such file",
        ),
        (
            {"bags": {"x": {"stss": "b"}}},
            "configuration: bags.x.stss: no such data set; did you mean sts? allowed: snli, sts",
        ),
        ({"bags": {"x": {"sts": "b"}}}, "configuration: bags.x.sts: b: no such file; correct the path"),
        ({"bags": {"bove": {"sts": "b"}}}, "configuration: bags.bove: this name is taken"),
        (
            {"figures": {"pairs": {"stss": ["images-00001"]}}},
            "configuration: figures.pairs.stss: no such data set; did you mean sts? allowed: snli, sts",
        ),
        ({"model": {"alpah": 1}}, "configuration: model.alpah: unknown key; did you mean alpha?"),
        (
            {"parser": {"shards": 0}},
            "configuration: parser.shards: 0 is not allowed; allowed: integer at least 1 or auto",
        ),
        ({"inference": {"shards": "many"}}, "inference.shards: 'many' is not allowed; allowed: integer at"),
        (
            {"treebank": {"train": "absent.conll"}},
            "configuration: treebank.train: absent.conll: no such file",
        ),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2_before_anything_runs(checkout, tmp_path, own, message):
    path = write_file(tmp_path / "own.yaml", yaml.safe_dump(own))
    done = checkout.snakemake("--configfile", "config/config.yaml", path)
    assert done.returncode == 2
    said = [line for line in done.stderr.split("\n") if line and not line.startswith("Using workflow")]
    assert len(said) == 1
    assert message in said[0]
    assert not (checkout.folder / "results").exists()


def test_the_demo_uses_every_file_that_the_corpus_has(checkout):
    text = (checkout.folder / "config" / "config.yaml").read_text(encoding="utf-8")
    named = set(re.findall(r"source:corpus/([^\s,}]+)", text))
    assert named == set(demo.FILES)
