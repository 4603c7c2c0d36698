"""The small demo by way of Slurm, on a cluster of two nodes that lives as long as the test."""

from importlib.util import find_spec

import pytest
import yaml
from checkout import ROOT
from mini_slurm import FLAGS, MiniSlurm, missing
from small_demo import FILES, RUN, SHARDED
from victim import Victim

BAGS = f"results/{RUN}/bags/bove/sts.safetensors"
PLUGIN = "snakemake_executor_plugin_slurm"
# In MB: Snakemake's part of a job has enough with the first, parsing needs more.
TOO_LITTLE = 300


class Run:
    """A run on two nodes, in which parsing asks for too little memory at first, and one node is drained.

    Attributes:
        said: what Snakemake said.
        jobs: of Slurm, each its number, node, state, megabytes and comment.
        drained: the number of the last job before the second node was drained.
    """

    def __init__(self, demo, folder) -> None:
        self.checkout, self.drained = demo.copy(folder / "checkout"), 0
        self.checkout.configure(SHARDED)
        memory = r"(?s)(rule parse_shard:.*?mem_mb=needs)\(.*?\)"
        with (
            self.checkout.edited("workflow/rules/parse.smk", memory, rf"\1({TOO_LITTLE})"),
            MiniSlurm(folder / "cluster", nodes=2) as cluster,
        ):
            self.nodes = cluster.names
            variables = {name: value for name, value in cluster.environment.items() if name != "PYTHONPATH"}
            victim = Victim(self.checkout.folder, [BAGS, *FILES, *FLAGS], folder / "log", variables)
            try:
                victim.wait_for(["encode"])
                self.drained = max(job[0] for job in self._jobs(cluster))
                cluster.run("scontrol", "update", "NodeName=node2", "State=DRAIN", "Reason=test")
                victim.lengths()
            finally:
                victim.bury()
            self.said, self.jobs = victim.said(), self._jobs(cluster)
        assert victim.process.returncode == 0, self.said

    @staticmethod
    def _jobs(cluster):
        lines = cluster.run("squeue", "-h", "-t", "all", "-o", "%i|%N|%T|%m|%k").strip().split("\n")
        rows = (line.split("|") for line in lines)
        return [(int(number), node, state, memory, said) for number, node, state, memory, said in rows]


@pytest.fixture(scope="module")
def run(demo, tmp_path_factory):
    if missing():
        pytest.skip(f"Slurm is not installed: no {', '.join(missing())}")
    if find_spec(PLUGIN) is None:
        pytest.skip("snakemake-executor-plugin-slurm is not installed")
    return Run(demo, tmp_path_factory.mktemp("slurm"))


def test_two_nodes_share_the_jobs_and_make_the_bags_of_one_machine(run, demo):
    # a job that was lost is submitted again
    completed = [node for _, node, state, _, _ in run.jobs if state == "COMPLETED"]
    assert set(completed) == set(run.nodes)
    planned = run.checkout.jobs(run.said)
    assert len(completed) == sum(planned.values())
    shards = {"parse_shard": 2, "gather_parses": 1, "infer_shard": 2, "gather_bags": 1}
    assert planned == {**shards, "encode": 1}
    assert (run.checkout.folder / BAGS).read_bytes() == (demo.folder / BAGS).read_bytes()
    results = run.checkout.folder / "results"
    assert {path.name for path in (results / "slurm").iterdir()} >= {"rule_infer_shard"}
    assert (results / RUN / "logs" / "infer_shard" / "bags" / "bove" / "sts" / "2-of-2.log").is_file()


def test_a_job_that_is_killed_for_its_memory_is_submitted_again_with_more(run):
    jobs = [(state, memory) for _, _, state, memory, said in run.jobs if "rule_parse_shard" in said]
    first, *more = (f"{TOO_LITTLE * 2**attempt}M" for attempt in range(3))
    assert {memory for _, memory in jobs} >= {first, more[0]}
    assert {memory for state, memory in jobs if state == "COMPLETED"} <= set(more)
    logs = (run.checkout.folder / "results" / "slurm" / "rule_parse_shard").rglob("*.log")
    assert any("memory limit" in path.read_text(encoding="utf-8") for path in logs)


def test_a_node_that_is_drained_gets_no_further_job_and_the_run_is_finished_on_the_other(run):
    nodes = {node for number, node, _, _, _ in run.jobs if number > run.drained}
    assert nodes == {"node1"}


def test_the_profile_repeats_the_default_one_and_names_no_cluster():
    default, slurm = (
        yaml.safe_load((ROOT / "profiles" / name / "config.yaml").read_text(encoding="utf-8"))
        for name in ("default", "slurm")
    )
    assert default.items() <= slurm.items()
    assert not {"default-resources", "slurm-partition-config", "slurm-qos"} & set(slurm)
