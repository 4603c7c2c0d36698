"""`bove demo`."""

import os
import subprocess
import sys

import pytest

from bove.cli.main import main
from bove.config.sources import corpus_files


def bytes_of(root):
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """The files of seed 3, written in a process of its own."""
    root = tmp_path_factory.mktemp("demo")
    command = [
        sys.executable,
        "-m",
        "bove",
        "demo",
        "--seed",
        "3",
        "--sentences",
        "30",
        "--output",
        str(root),
    ]
    subprocess.run(command, env=os.environ | {"PYTHONHASHSEED": "1"}, check=True, capture_output=True)
    return bytes_of(root)


def test_the_same_seed_gives_the_same_bytes_whatever_the_hash_seed(corpus, tmp_path, capsys):
    assert main(["demo", "--seed", "3", "--sentences", "30", "--output", str(tmp_path)]) == 0
    assert bytes_of(tmp_path) == corpus
    assert sorted(corpus) == sorted(corpus_files())
    log = capsys.readouterr().err
    assert "treebank/train.conll09: 30" in log and "snli/dev.jsonl: 600" in log


def test_another_seed_gives_another_corpus(corpus, tmp_path):
    assert main(["demo", "--seed", "4", "--sentences", "30", "--output", str(tmp_path)]) == 0
    other = bytes_of(tmp_path)
    assert all(corpus[name] != other[name] for name in corpus)


@pytest.mark.parametrize("count", ["0", "-5"])
def test_too_few_sentences_are_refused(count, tmp_path, capsys):
    assert main(["demo", "--seed", "1", "--sentences", count, "--output", str(tmp_path)]) == 2
    assert "ask for 10 or more" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
