"""The small demo by way of Slurm, on a cluster of two nodes that lives as long as the test."""

import sys
from importlib.util import find_spec

import pytest
import yaml
from checkout import ROOT, Checkout
from mini_slurm import MiniSlurm, missing
from small_demo import arguments, tables

PLUGIN = "snakemake_executor_plugin_slurm"
FLAGS = (
    "--workflow-profile=profiles/slurm",
    "--slurm-status-command=squeue",
    "--slurm-init-seconds-before-status-checks=1",
    "--seconds-between-status-checks=1",
    "--slurm-keep-successful-logs",
    "--default-resources=slurm_partition=main",
)


@pytest.mark.skipif(bool(missing()), reason=f"Slurm is not installed: no {', '.join(missing())}")
@pytest.mark.skipif(find_spec(PLUGIN) is None, reason="snakemake-executor-plugin-slurm is not installed")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Slurm runs on Linux")
def test_two_nodes_share_the_jobs_and_make_the_tables_of_one_machine(tmp_path):
    here, there = Checkout(tmp_path / "here"), Checkout(tmp_path / "there")
    done = here.snakemake(*arguments(here.folder))
    assert done.returncode == 0, done.stdout + done.stderr
    with MiniSlurm(tmp_path / "cluster", nodes=2) as cluster:
        done = there.snakemake(*arguments(there.folder), *FLAGS, **cluster.environment)
        said = done.stdout + done.stderr
        jobs = [line.split("|") for line in cluster.run("squeue", "-h", "-t", "all", "-o", "%N|%T").split()]
        assert done.returncode == 0, said
    completed = [
        node for node, state in jobs if state == "COMPLETED"
    ]  # a job that was lost is submitted again
    assert set(completed) == set(cluster.names)
    assert len(completed) == sum(there.jobs(said).values())
    assert there.jobs(said).items() >= {"parse_shard": 2, "infer_shard": 2, "gather_bags": 1}.items()
    assert tables(there.folder) == tables(here.folder)
    assert {path.name for path in (there.folder / "results" / "slurm").iterdir()} >= {"rule_infer_shard"}
    assert (there.folder / "results" / "small" / "logs" / "bags" / "bove" / "sts" / "2-of-2.log").is_file()


def test_the_profile_repeats_the_default_one_and_names_no_cluster():
    default, slurm = (
        yaml.safe_load((ROOT / "profiles" / name / "config.yaml").read_text(encoding="utf-8"))
        for name in ("default", "slurm")
    )
    assert default.items() <= slurm.items()
    assert not {"default-resources", "slurm-partition-config", "slurm-qos"} & set(slurm)
