"""Kills, a full disk, a folder that may not be written: a run says so in a line, and is finished later."""

import os
import resource
import shutil
import subprocess
import sys
from contextlib import contextmanager

import pytest
from chaos import Chaos, digests
from checkout import Checkout
from small_demo import arguments

LIMIT = 300_000  # bytes of a file, less than the graphs of the small demo have


@pytest.fixture(scope="module")
def chaos(tmp_path_factory):
    return Chaos(tmp_path_factory.mktemp("chaos"), seed=5)


def test_a_run_that_is_killed_again_and_again_ends_with_the_same_bytes(chaos):
    chaos.round("encode", 3)
    assert sum(chaos.killed.values()) >= 2, "it was to be killed while it ran"


def snakemake(folder, words, **limits):
    return subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "1", "--nocolor", *words],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
        **limits,
    )


def test_a_disk_that_is_full_is_one_line_and_what_was_begun_is_finished_later(chaos):
    """A limit on the size of files fails in the same calls as a disk without room."""
    folder, words = chaos.checkout.folder, chaos.words

    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, resource.RLIM_INFINITY))

    done = snakemake(folder, [*words, "--forcerun", "encode"], preexec_fn=limited)
    assert done.returncode == 1
    said = [line for line in done.stderr.split("\n") if line.startswith("bove ")]
    assert len(said) == 1 and said[0].startswith("bove encode: results/small/graphs/sts.safetensors: ")
    assert said[0].endswith(": can not be written (File too large)")
    assert not list((folder / "results").rglob("*.tmp"))
    assert chaos.checkout.snakemake(*words).returncode == 0
    assert digests(folder) == chaos.expected


@contextmanager
def unwritable(folder):
    """A folder that nobody may write: for an administrator that takes a file system of its own."""
    folder.mkdir(parents=True)
    folder.chmod(0o555)
    mounted = False
    if os.access(folder, os.W_OK):
        mount = ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(folder)]
        mounted = bool(shutil.which("mount")) and subprocess.run(mount, check=False).returncode == 0
        if not mounted:
            pytest.skip("an administrator may write anything, and nothing can be mounted here")
    try:
        yield
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("part", ["results", "results/small"])
def test_results_that_may_not_be_written_are_one_line_before_anything_runs(tmp_path, part):
    checkout = Checkout(tmp_path / "checkout")
    with unwritable(checkout.folder / part):
        done = snakemake(checkout.folder, arguments(checkout.folder))
    assert done.returncode == 2
    said = done.stderr.strip().split("\n")
    assert said[-1].startswith("results/small/config.yaml: can not be written (")
    assert "Traceback" not in done.stderr and not (checkout.folder / ".snakemake" / "locks").exists()
