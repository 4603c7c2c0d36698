"""`bove cost`: sums over the benchmark files of a run."""

import csv
from pathlib import Path

import numpy as np
import pytest
import yaml

from bove.bags.store import write_bags
from bove.cli.main import main

HEADER = "s\th:m:s\tmax_rss\tcpu_time\n"
# seconds, most MB, processor seconds of each job
JOBS = {
    "train_als": (100, 300, 90),
    "train_tagger": (20, 700, "NA"),
    "train_parser": (30, 600, 25),
    "infer/bove/a": (2, 50, 1),
    "infer_shard/bags/bove/b/1-of-2": (3, 70, 2),
    "infer_shard/bags/bove/b/2-of-2": (1, 60, 1),
    "infer/bove/gone": (1000, 1000, 1000),
    "baseline/mean/a": (4, 40, 2),
    "encoder/mini/a": (5, 500, 4),
    "encoder_shard/mini/b/1-of-2": (5, 400, 4),
    "encoder_shard/mini/b/2-of-2": (6, 400, 4),
    "parse/a": (8, 400, 6),
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "results" / "x"
    for name, (seconds, memory, processor) in JOBS.items():
        path = own / "benchmarks" / f"{name}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{HEADER}{seconds}\t0\t{memory}\t{processor}\n", encoding="utf-8")
    for name, size in {"model/model": 2, "vectors": 3}.items():
        (own / name).parent.mkdir(exist_ok=True)
        (own / f"{name}.safetensors").write_bytes(bytes(size * 1_000_000))
    (own / "vocabulary.json").write_bytes(bytes(500_000))
    (own / "parser").mkdir()
    for name in ("tagger", "parser"):
        (own / "parser" / f"{name}.pt").write_bytes(bytes(1_000_000))
    Path("mini").mkdir()
    for name in ("config.json", "model.safetensors"):
        Path("mini", name).write_bytes(bytes(4_000_000))
    Path("mini", "tokenizer.json").touch()
    pairs = {"label": "A", "task": "similarity", "subsets": {"s": {"input": "p", "gold": "g"}}}
    config = {
        "run": "x", "treebank": {"train": "t", "dev": "d"}, "vectors": {"file": "v"},
        "systems": ["bove"], "baselines": ["mean"], "encoders": {"mini": {"path": "mini"}},
        "datasets": {"a": pairs, "b": pairs | {"parses": "q"}},
    }  # fmt: skip
    (own / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    for name, count in {"a": 10, "b": 30}.items():
        (own / "bags" / "bove").mkdir(parents=True, exist_ok=True)
        write_bags(
            own / "bags" / "bove" / f"{name}.safetensors", {str(i): np.ones((1, 2)) for i in range(count)}
        )
    return own


def test_each_system_has_what_its_jobs_took_and_parsing_has_a_line_of_its_own(run, capsys):
    assert not main(["cost", "--run", str(run)])
    said = capsys.readouterr().out
    assert said == (run / "benchmarks" / "cost.md").read_text(encoding="utf-8")
    assert said.endswith("Beside their own cost, bove need the trees.\n")
    with open(run / "benchmarks" / "cost.csv", encoding="utf-8", newline="") as stream:
        rows = {name: list(map(lambda x: x and float(x), row)) for name, *row in list(csv.reader(stream))[1:]}
    assert rows == {
        "bove": [2.5, 100, 300, 40 / 6, 100, 70],
        "mean": [3.5, "", "", 10 / 4, 200, 40],
        "mini-sentences": [8, "", "", 40 / 16, 300, 500],
        "mini-tokens": [8, "", "", 40 / 16, 300, 500],
        "(tagging and parsing)": [2, 50, 700, 10 / 8, 600, 400],
    }
