"""Kills, a full disk, a folder that may not be written: a run says so in a line, and is finished later."""

import os
import shutil
import subprocess
from contextlib import contextmanager

import pytest
from chaos import Chaos, digests
from small_demo import FILES, SHARDED, SmallDemo

# Settings under which a part of the demo's results are others.
OTHERS = ("--config", "inference={iterations: 1}")
# No file may have more than 40 KB, less than a shard of bags has; it fails in the same calls as a full disk.
LIMITED = ("bash", "-c", 'ulimit -f 40; exec "$@"', "-")


@pytest.fixture(scope="module")
def chaos(demo, tmp_path_factory):
    """The run of one system in shards, finished with other settings too: the last ones."""
    folder = tmp_path_factory.mktemp("chaos")
    checkout = demo.copy(folder / "checkout")
    checkout.configure(SHARDED)
    chaos = Chaos(checkout, folder / "logs", seed=5)
    chaos.undisturbed()
    chaos.undisturbed(*OTHERS)
    assert chaos.expected[OTHERS] != chaos.expected[()]
    return chaos


def test_a_run_that_is_killed_again_and_again_ends_with_the_same_bytes(chaos):
    """The results of other settings lie there, and none of them may stay."""
    kills = {"infer_shard": "SIGINT to all", "gather_bags": "SIGKILL to all", "score": "SIGTERM to all"}
    chaos.round(kills | {"tables": "SIGKILL to Snakemake"})
    # four stages, of which one kill may hit two
    assert chaos.kills >= 2, "it was to be killed while it ran"
    assert chaos.before == chaos.expected[()]


def test_a_full_disk_is_one_line_and_what_was_to_be_made_is_made_later(chaos):
    """Not only that: what was made before with other settings does not pass for it."""
    chaos.undisturbed()
    folder, words = chaos.checkout.folder, [*chaos.words, *OTHERS]
    for path in (folder / "results").rglob("*.tmp"):  # a kill may leave some
        path.unlink()
    done = chaos.checkout.snakemake(*words, "--cores", "1", prefix=LIMITED)
    assert done.returncode == 1, done.stderr
    said = [line for line in done.stderr.split("\n") if line.startswith("bove ")]
    assert len(said) == 1 and said[0].startswith("bove infer: results/small/"), done.stderr
    assert said[0].endswith(": cannot be written (File too large)") and "Traceback" not in done.stderr
    assert not list((folder / "results").rglob("*.tmp"))
    assert chaos.checkout.snakemake(*words).returncode == 0
    assert digests(folder) == chaos.expected[OTHERS]


@contextmanager
def unwritable(folder):
    """A folder that nobody may write: for an administrator that takes a file system of its own."""
    folder.mkdir(parents=True)
    folder.chmod(0o555)
    own = os.access(folder, os.W_OK)
    mount = ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(folder)]
    if own and (not shutil.which("mount") or subprocess.run(mount, check=False).returncode):
        pytest.skip("an administrator may write anything, and nothing can be mounted here")
    try:
        yield
    finally:
        if own:
            subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("part", ["results", "results/small"])
def test_results_that_may_not_be_written_are_one_line_before_anything_runs(tmp_path, part):
    checkout = SmallDemo(tmp_path / "checkout")
    with unwritable(checkout.folder / part):
        done = checkout.snakemake(*FILES)
    assert done.returncode == 2
    said = done.stderr.strip().split("\n")
    assert said[-1].startswith("results/small/config.yaml: cannot be written (")
    assert "Traceback" not in done.stderr and not (checkout.folder / ".snakemake" / "locks").exists()
