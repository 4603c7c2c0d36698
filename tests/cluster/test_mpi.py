"""Training by several processes of MPI, held against one process."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from checkout import ROOT
from mini_slurm import FLAGS, MiniSlurm, missing
from mpi_trainings import CASES, COUNTED, PROPERTIES, RANK, RELATIONS, train
from small_demo import FILES
from test_slurm import PLUGIN
from tiny_treebank import count_and_encode, tiny_sentences, write_treebank

from bove import artefacts
from bove.cli.main import main
from bove.factor.model import Model
from bove.factor.parallel import Peers
from bove.text.graphs import load_graphs

pytestmark = [
    pytest.mark.skipif(shutil.which("mpiexec") is None, reason="there is no mpiexec; install Open MPI"),
    pytest.mark.skipif(find_spec("mpi4py") is None, reason="mpi4py is not installed"),
]
STAGE = [
    "--rank", 6, "--alpha", 2, "--lambda-P", 1, "--lambda-R", 0.5, "--lambda-E", 3, "--dtype", "float32",
    "--penalty-P", "l2", "--penalty-R", "l2", "--max-rounds", 5, "--tolerance", 1e-9, "--restart-every", 3,
    "--restart-iterations", 4, "--e-step", "averaged", "--e-tolerance", 1e-3, "--e-energy", 1,
    "--r-tolerance", 1e-4, "--r-iterations", 40, "--batch-tokens", 64, "--checkpoint-every", 2, "--seed", 3,
]  # fmt: skip
SGD = {
    "--learning-rate": 0.1, "--epochs": 3, "--batch-sentences": 8, "--negatives": 3, "--patience": 3,
    "--negative-weight": "unbiased", "--held-out": 0.1, "--device": "cpu",
}  # fmt: skip
AGAIN = ("--seed", 3, "--checkpoint-every", 2, "--mpi", 2)
SCRIPT = Path(__file__).parent / "mpi_trainings.py"
# more processes than cores, and by any user
ENVIRONMENT = {
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONPATH": str(ROOT),
}


def mpiexec(count, *words) -> subprocess.CompletedProcess:
    """Run Python as so many processes."""
    return subprocess.run(
        ["mpiexec", "-n", str(count), sys.executable, *map(str, words)],
        env={**os.environ, **ENVIRONMENT},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def said(done) -> list[str]:
    """What the stage itself wrote, without the launcher's words."""
    assert "Traceback" not in done.stderr, done.stderr
    return [line for line in done.stderr.split("\n") if line.startswith("bove ")]


@pytest.fixture(scope="module", params=[1, 2, 4])
def trained(request, tmp_path_factory):
    """Number of processes, P and R of every case, and what else they report."""
    output = tmp_path_factory.mktemp("trained") / "states.npz"
    done = mpiexec(request.param, SCRIPT, "train", output, request.param)
    assert done.returncode == 0, done.stderr
    return request.param, np.load(output), json.loads(output.with_suffix(".json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def alone():
    """Every case by one process without MPI."""
    return {name: train(Peers(), *case) for name, case in CASES.items()}


@pytest.mark.parametrize("name", CASES)
def test_any_number_of_processes_learns_what_one_does(trained, alone, name):
    _, states, reported = trained
    want = alone[name]
    for part in "PR":
        got, expected = states[f"{part}:{name}"], getattr(want, part)
        assert np.linalg.norm(got - expected) <= 1e-5 * np.linalg.norm(expected)
    log = reported["logs"][name]
    assert len(log) == len(want.log) >= 2
    for row, expected in zip(log, want.log, strict=True):
        assert row["r_iterations"] == pytest.approx(expected["r_iterations"], abs=1)
        for term in ("words", "tags", "relation:0", "lambda_R", "lambda_E", "total"):
            assert row[term] == pytest.approx(expected[term], rel=1e-5, abs=1e-9), (row["round"], term)


def test_token_vectors_are_divided_and_some_processes_may_have_none(trained):
    count, _, reported = trained
    for name, (_, lengths, *_) in CASES.items():
        own = [sizes[name][0] for sizes in reported["sizes"]]
        assert sum(own) == sum(lengths)
        assert max(own) <= sum(lengths) / count + max(lengths)
    empty = [sizes["one sentence"][0] for sizes in reported["sizes"]].count(0)
    assert empty == count - 1


def test_what_a_round_exchanges_does_not_grow_with_the_corpus_but_with_relations_and_rank(trained):
    count, _, reported = trained
    small, large = reported["counted"]
    matrices, rows = 4 * RELATIONS * RANK**2, 4 * PROPERTIES * RANK  # R and P as they are sent
    for number, (row, other) in enumerate(zip(small, large, strict=True)):
        assert row["r_iterations"] == other["r_iterations"] == COUNTED.r_iterations
        if count == 1:
            assert "exchanged_bytes" not in row
            continue
        # the right-hand sides, each product with the operator (one more for a start that is not 0), R and P
        # for all, W E, two Gram matrices in float64, two counts, and the residuals before each product
        products = COUNTED.r_iterations + (number > 0)
        expected = matrices * (1 + products + 1) + 2 * rows + 2 * 8 * RANK**2 + 8 * (1 + (number == 0))
        expected += 8 * RELATIONS * (COUNTED.r_iterations + 1)
        assert row["exchanged_bytes"] == other["exchanged_bytes"] == expected


@pytest.mark.parametrize("how", ["with a sentence", "with a traceback"])
def test_a_process_that_fails_alone_ends_the_others(how):
    done = mpiexec(2, SCRIPT, "fail", how, 2)
    assert done.returncode == (2 if how == "with a sentence" else 1)
    assert done.stderr.count("Error: one of two") == 1


def test_processes_that_round_in_different_ways_go_on_together():
    done = mpiexec(2, SCRIPT, "round", "alone", 2)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with graphs and vocabulary, and a model that one process has trained."""
    folder = tmp_path_factory.mktemp("built")
    write_treebank(folder / "t.conllu", tiny_sentences())
    count_and_encode(folder)
    assert not main(stage(folder, "m"))
    return folder


def files(folder, name, **more) -> list[str]:
    """The files from which a model of this name is trained, and where it goes."""
    named = {"graphs": "g", "vocabulary": "vocabulary", "output": name, "training-log": f"{name}.csv"} | more
    return [word for key, file in named.items() for word in (f"--{key}", str(folder / file))]


def stage(folder, name) -> list[str]:
    """The command that trains a model of this name."""
    return ["train-als", *map(str, STAGE), *files(folder, name, log=f"{name}.log")]


@pytest.fixture(scope="module")
def two(built):
    """What two processes said that have trained the model `two`."""
    done = mpiexec(2, "-m", "bove", *stage(built, "two"), "--mpi", 2)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_the_command_writes_one_model_and_one_log(built, two):
    said = two
    one, two = Model.load(built / "m"), Model.load(built / "two")
    for name in ("properties", "relations"):
        np.testing.assert_allclose(getattr(two, name), getattr(one, name), rtol=1e-3, atol=1e-5)
    assert two.hyperparameters.pop("absolute") == pytest.approx(one.hyperparameters.pop("absolute"))
    assert two.hyperparameters == {**one.hyperparameters, "processes": 2}
    logs = []
    for name in ("m", "two"):
        with open(built / f"{name}.csv", encoding="utf-8", newline="") as stream:
            logs.append(list(csv.DictReader(stream)))
    for one, two in zip(*logs, strict=True):
        assert float(two["total"]) == pytest.approx(float(one["total"]), rel=1e-5)
        assert set(two) - set(one) == {"exchanged_bytes"}
    text = (built / "two.log").read_text(encoding="utf-8")
    graphs = load_graphs(built / "g")
    assert f"{graphs.n_graphs} graphs, {graphs.n_tokens} tokens" in text
    assert re.search(r"2 processes have \d+ to \d+ tokens each", text)
    assert len(re.findall(r"round \d.*: L .* MB exchanged; ", text)) == 5 and "\0" not in text
    assert said.count("round 1: ") == 1
    assert not list(built.glob("*checkpoint*"))


def test_a_model_is_trained_again_by_several_processes(built, two):
    done = mpiexec(2, "-m", "bove", "train-again", *files(built, "again", model="m"), *AGAIN)
    assert done.returncode == 0, done.stderr
    assert (built / "again").read_bytes() == (built / "two").read_bytes()


def test_sgd_is_trained_again_by_the_first_process_alone(built):
    """A search may have chosen it in a run that trains by several."""
    options = {**dict(zip(STAGE[::2], STAGE[1::2], strict=True)), **SGD}
    known = ("--rank", "--alpha", "--lambda", "--dtype", "--penalty", "--seed", *SGD)
    words = [str(word) for key in options if key.startswith(known) for word in (key, options[key])]
    assert not main(["train-sgd", *files(built, "sgd"), *words])
    done = mpiexec(2, "-m", "bove", "train-again", *files(built, "sgd-again", model="sgd"), *AGAIN)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("SGD trains by one process alone; 2 were started") == 1
    assert (built / "sgd-again").read_bytes() == (built / "sgd").read_bytes()


def test_stopped_processes_go_on_from_their_last_checkpoint_to_the_same_bytes(built, two):
    words = [*stage(built, "stopped"), "--mpi", 2]
    done = mpiexec(2, SCRIPT, "stop", 3, *words)
    assert done.returncode == 143 and said(done) == []
    assert "stopped in round 4; run again to go on from the last checkpoint" in done.stderr
    parts = ["stopped.checkpoint", "stopped.checkpoint.2-of-2"]
    assert sorted(path.name for path in built.glob("*checkpoint*")) == parts
    # each has the token vectors of its own sentences
    sizes = [len(artefacts.load(built / name, "bove-als-checkpoint")[0]["E"]) for name in parts]
    assert sum(sizes) == load_graphs(built / "g").n_tokens and min(sizes) > 0
    done = mpiexec(2, "-m", "bove", *words)
    assert done.returncode == 0 and "going on from round 2 of" in done.stderr
    assert (built / "stopped").read_bytes() == (built / "two").read_bytes()
    assert not list(built.glob("*checkpoint*"))


def test_checkpoints_of_different_rounds_are_not_gone_on_from(built, two):
    words = [*stage(built, "torn"), "--mpi", 2]
    assert mpiexec(2, SCRIPT, "stop", 2, *words).returncode == 143
    shutil.copy(built / "torn.checkpoint.2-of-2", built / "of-round-2")
    assert mpiexec(2, SCRIPT, "stop", 4, *words).returncode == 143
    shutil.copy(built / "of-round-2", built / "torn.checkpoint.2-of-2")
    done = mpiexec(2, "-m", "bove", *words)
    assert done.returncode == 0 and "do not belong together; starting afresh" in done.stderr
    assert (built / "torn").read_bytes() == (built / "two").read_bytes()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (["--vocabulary", "nowhere"], "nowhere: no such file"),
        (["--alpha", 1e38, "--lambda-R", 0], "raise lambda_"),
        (["--mpi", 0], "--mpi 0: must be at least 1"),
        (["--mpi", 3], "--mpi 3: MPI finds 2; start 3 processes"),
        (["--mpi", 1], "started by MPI as 2 processes; say so with --mpi 2"),
        (["--output", "/dev/null/model"], "cannot be written"),
    ],
)
def test_what_all_processes_find_wrong_is_said_once(built, change, says):
    done = mpiexec(2, "-m", "bove", *stage(built, "bad"), "--mpi", 2, *change)
    assert done.returncode == 2
    [line] = said(done)
    assert line.startswith("bove train-als: ") and says in line
    assert not (built / "bad").exists()


def test_what_one_process_finds_wrong_in_its_part_is_said_once(built):
    code = (
        "import sys, bove.cli.train as train\nfrom bove.errors import BoveError\nread = train.load_graphs\n"
        "def load(path, part):\n    if part[0]: raise BoveError(f'{path}: damaged')\n"
        "    return read(path, part)\n"
        "train.load_graphs = load\nfrom bove.cli.main import main\nsys.exit(main())"
    )
    done = mpiexec(2, "-c", code, *stage(built, "bad"), "--mpi", 2)
    assert done.returncode == 2
    [line] = said(done)
    assert line.endswith("g: damaged")
    assert line.removeprefix("bove train-als: ") in (built / "bad.log").read_text(encoding="utf-8")


def test_a_missing_mpi4py_is_named_with_its_extra(built):
    hidden = "import sys; sys.modules['mpi4py'] = None; from bove.cli.main import main; sys.exit(main())"
    done = mpiexec(2, "-c", hidden, *stage(built, "bad"), "--mpi", 2)
    assert done.returncode == 2
    assert said(done) == ["bove train-als: needs mpi4py; install it with: pip install 'bove[mpi]'"]


@pytest.mark.skipif(bool(missing()), reason=f"Slurm is not installed: no {', '.join(missing())}")
@pytest.mark.skipif(find_spec(PLUGIN) is None, reason="snakemake-executor-plugin-slurm is not installed")
def test_slurm_starts_processes_on_two_nodes_and_their_number_trains_nothing_again(demo, tmp_path):
    checkout, model = demo.copy(tmp_path / "checkout"), "results/small/model/model.safetensors"
    words = [model, *FILES]
    by_two = ("--config", "mpi={processes: 2, launcher: srun --mpi=pmix}")
    one = Model.load(checkout.folder / model)
    assert checkout.planned(*words, *by_two) == {}
    with MiniSlurm(tmp_path / "cluster", nodes=2) as cluster:
        if cluster.run("srun", "--mpi=pmix", "-n", "2", "echo", "ready").count("ready") < 2:
            pytest.skip("Slurm finds no PMIx here, which Debian has in libpmix-dev")
        forced = (*words, *by_two, "--forcerun", "train_als", *FLAGS)
        done = checkout.snakemake(*forced, **cluster.environment)
        nodes = cluster.run("squeue", "-h", "-t", "completed", "-o", "%N")
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert checkout.jobs(said) == {"train_als": 1} and "node[1-2]" in nodes
    two = Model.load(checkout.folder / model)
    assert two.hyperparameters.pop("absolute") == pytest.approx(one.hyperparameters.pop("absolute"))
    assert two.hyperparameters == {**one.hyperparameters, "processes": 2}
    for name in ("properties", "relations"):
        got, expected = getattr(two, name), getattr(one, name)
        assert np.linalg.norm(got - expected) <= 1e-4 * np.linalg.norm(expected)
