"""Training a tagger and a parser, and parsing with them, where there is no network at all."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("stanza")
from no_network import namespace
from tiny_treebank import tiny_sentences, write_treebank

from bove.text.conll import read_sentences
from bove.text.pairs import Pair, write_pairs

ROOT = Path(__file__).parent.parent.parent
CONNECT = "import socket; socket.create_connection(('127.0.0.1', 9), timeout=5)"
pytestmark = pytest.mark.skipif(
    not namespace(), reason="unshare --net is not here, or not permitted: no need of a network is not shown"
)


def without_network(*words):
    """Run Python in a namespace that has no network."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [*namespace(), sys.executable, *words], env=environment, capture_output=True, text=True, check=False
    )


def test_the_namespace_reaches_not_even_its_own_machine():
    done = without_network("-c", CONNECT)
    assert done.returncode == 1 and "Network is unreachable" in done.stderr


def test_training_and_parsing_need_no_network(tmp_path):
    treebank = write_treebank(tmp_path / "treebank.conllu", tiny_sentences())
    pair = Pair(
        "a-00001", "d", "D", "similarity", "a", "The dog sees a cat.", "The girl likes a horse.", 1.0, True
    )
    with open(tmp_path / "pairs.jsonl", "w", encoding="utf-8") as stream:
        write_pairs(stream, [pair])
    for kind in ("tagger", "parser"):
        words = f"-m bove train-{kind} --preset tiny --seed 1".split()
        files = ["--treebank", treebank, "--dev", treebank, "--output", tmp_path / f"{kind}.pt"]
        done = without_network(*words, *files, "--report", tmp_path / f"{kind}.json")
        assert done.returncode == 0, done.stderr
    models = ["--tagger", tmp_path / "tagger.pt", "--parser", tmp_path / "parser.pt", "--max-tokens", "100"]
    files = ["--pairs", tmp_path / "pairs.jsonl", "--output", tmp_path / "parses.gz"]
    done = without_network("-m", "bove", "parse", *models, *files)
    assert done.returncode == 0, done.stderr
    first, second = read_sentences(tmp_path / "parses.gz")
    assert first.forms == ("The", "dog", "sees", "a", "cat", ".")
    assert len(second.heads) == 6 and second.heads.count(0) == 1
