"""Another workflow uses this one as a module, from a folder or a repository, with settings of its own."""

import json
import subprocess

import pytest

SNAKEFILE = """
configfile: "config/config.yaml"

rule own:
    output: "own.txt"
    shell: "touch {output}"

module bove:
    snakefile: %s
    config: config

use rule * from bove as bove_*

rule everything:
    default_target: True
    input: rules.own.output, rules.bove_all.input
"""


def repository(folder, cache):
    """What Snakemake's cache has of a repository on the network that it has seen before."""
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-C", str(folder)]
    words = (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "x"], ["tag", "v1"])
    for one in (*words, ["clone", "-q", "--bare", ".", str(cache)]):
        subprocess.run([*git, *one], check=True)


@pytest.mark.parametrize("hosted", [False, True])
def test_a_workflow_with_a_rule_of_its_own_plans_a_run_with_its_settings(hosted, checkout, tmp_path):
    own, cache = tmp_path / "own", tmp_path / "cache"
    place = json.dumps(str(checkout.folder / "workflow" / "Snakefile"))
    if hosted:
        path = "snakemake/snakemake/source-cache/snakemake-git-cache/github.com/somebody/bove"
        repository(checkout.folder, cache / path)
        place = 'github("somebody/bove", path="workflow/Snakefile", tag="v1")'
    for name, text in {
        "workflow/Snakefile": SNAKEFILE % place,
        "config/config.yaml": (checkout.folder / "config" / "config.yaml").read_text(encoding="utf-8")
        + "run: mine\nmodel: {rank: 12}\n",
    }.items():
        (own / name).parent.mkdir(parents=True)
        (own / name).write_text(text, encoding="utf-8")
    snakefile = own / "workflow" / "Snakefile"
    words = "--dry-run", "--printshellcmds", "--directory", str(own), "--snakefile", str(snakefile)
    done = checkout.snakemake(*words, XDG_CACHE_HOME=str(cache))
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    jobs = checkout.jobs(said)
    assert jobs["own"] == jobs["bove_tables"] == jobs["bove_train_als"] == jobs["everything"] == 1
    assert "results/mine/model/model.safetensors" in said and "--rank 12 " in said
    assert not (own / "results").exists()
    if not hosted:
        done = checkout.snakemake(*words, "--until", "bove_parse", "--config", 'parser={"shards": 2}')
        assert (
            done.returncode == 2
            and "write --until bove_parse bove_gather_parses" in done.stdout + done.stderr
        )
