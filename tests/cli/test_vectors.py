"""`bove vectors load` and `bove vectors train`."""

import os
import subprocess
import sys

import numpy as np
import pytest

from bove.cli.main import main
from bove.text.vectors import WordVectors

TRAIN = "--dimensions 8 --window 3 --epochs 2 --min-count 2 --negative 3 --seed 4"


def load(folder, text, more):
    (folder / "in").write_bytes(text)
    return f"vectors load --input {folder}/in --output {folder}/v {more}".split()


def test_load_writes_a_mapped_file_and_logs_what_was_left_out(tmp_path, capsys):
    words = load(tmp_path, b"3 2\na 1 2\nb 3 4\na 5 6\n", f"--format auto --threads 1 --log {tmp_path}/log")
    assert main(words) == 0
    vectors = WordVectors.open(tmp_path / "v")
    np.testing.assert_array_equal(vectors.rows(vectors.find(["a", "b"])), [[1, 2], [3, 4]])
    log = (tmp_path / "log").read_text(encoding="utf-8")
    assert "1 repeated words, left out, first in row 3" in log and "2 words, 2 dimensions" in log
    assert log in capsys.readouterr().err


def test_limit_and_its_least_value(tmp_path, refused):
    words = load(tmp_path, b"a 1 2\nb 3 4\n", "--format glove --limit")
    assert main([*words, "1"]) == 0
    assert len(WordVectors.open(tmp_path / "v")) == 1
    refused([*words, "0"], "limit 0: ")


def test_a_fault_is_one_line_and_leaves_no_file(tmp_path, refused):
    words = load(tmp_path, b"2 2\na " + bytes(8) + b"b " + bytes(3), "--format auto")
    refused(words, "in, row 2: the file ends there", lines=1)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


STREAMED = """
import resource, sys
from bove.text.vectors import WordVectors, convert
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
start = peak()
convert(sys.argv[1], sys.argv[2])
converted = peak()
found = WordVectors.open(sys.argv[2])
print(converted - start, len(found), found.rows(found.find(["w7"]))[0, 0])
opened = peak()
print(opened - converted)
"""


def test_a_large_file_is_neither_converted_nor_opened_in_memory(tmp_path):
    rows, size = 64_000, 400
    with open(tmp_path / "in.bin", "wb") as stream:
        stream.write(b"%d %d\n" % (rows, size))
        for row in range(rows):
            stream.write(b"w%d " % row + np.full(size, row, "<f4").tobytes())
    files = [str(tmp_path / name) for name in ("in.bin", "out")]
    words = [sys.executable, "-c", STREAMED, *files]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    memory, found, value, more = map(float, done.stdout.split())
    assert (found, value) == (rows, 7)
    assert memory < rows * size * 4 / 3
    assert more < rows * size * 4 / 20


def train(folder, text, more=""):
    (folder / "raw.txt").write_text(text, encoding="utf-8")
    return f"vectors train --input {folder}/raw.txt {TRAIN} --output {folder}/v {more}".split()


def raw_text():
    rng = np.random.default_rng(0)
    lines = (" ".join(f"w{i}" for i in rng.integers(0, 20, 12)) for _ in range(60))
    return "\n".join(lines) + "\nonce\n"


def test_training_gives_the_same_bytes_whatever_the_hash_seed(tmp_path):
    for seed in "12":
        words = train(tmp_path, raw_text(), f"--output {tmp_path}/v{seed}")
        environment = os.environ | {"PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-m", "bove", *words], check=True, env=environment)
    assert (tmp_path / "v1").read_bytes() == (tmp_path / "v2").read_bytes()
    vectors = WordVectors.open(tmp_path / "v1")
    assert (len(vectors), vectors.dimensions) == (20, 8)
    assert vectors.find(["w3", "once"]).tolist()[1] == -1


def test_a_long_line_is_read_to_its_end(tmp_path):
    assert main(train(tmp_path, "a b " * 6000 + "c d " * 6000)) == 0
    assert sorted(map(WordVectors.open(tmp_path / "v").word, range(4))) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("text", ["", "each word once\n"])
def test_text_without_a_frequent_word_is_refused(tmp_path, refused, text):
    refused(train(tmp_path, text), "no word occurs 2 times; lower min_count")


@pytest.mark.parametrize("option", ["dimensions", "window", "epochs", "min-count", "negative"])
@pytest.mark.parametrize("value", ["-1", "99999999999"])
def test_options_out_of_range_are_refused(tmp_path, refused, option, value):
    words = train(tmp_path, raw_text(), f"--{option} {value}")
    refused(words, f"{option.replace('-', '_')} {value}: out of range")
