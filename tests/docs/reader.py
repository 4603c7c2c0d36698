"""What lies before a reader of the manual: a finished demo, small, and the files that the pages name."""

import os
import shutil
from pathlib import Path

import yaml
from checkout import Checkout
from small_settings import SMALL, SUBSETS

# Laid out as the demo is.
SETTINGS = {
    "run": "demo",
    **SMALL,
    "datasets": {
        "snli": None,
        "sts": {"subsets": SUBSETS},
    },
}
# name on a page → file of the run
NAMED = {
    "pairs.jsonl": "pairs/sts.jsonl",
    "tagger.pt": "parser/tagger.pt",
    "parser.pt": "parser/parser.pt",
    "vocabulary.json": "vocabulary.json",
    "vectors.safetensors": "vectors.safetensors",
    "model.safetensors": "model/model.safetensors",
    "TEST": "data/treebank/dev.conll09",
    "TREES": "parses/sts.conllu.gz",
    "gold.safetensors": "bags/bove/sts.safetensors",
    "predicted.safetensors": "bags/bove/sts.safetensors",
    "ewt-dev.conllu.gz": "parses/sts.conllu.gz",
    "STS.input.headlines.txt": "data/sts/STS.input.roles.txt",
    "STS.gs.headlines.txt": "data/sts/STS.gs.roles.txt",
    "results/open/bags/bove/STS-2014.safetensors": "bags/bove/sts.safetensors",
}
# runs that pages name, which here are the demo again
RUNS = ("open", "mine", "ewt")


def demo(folder: Path) -> Path:
    """The results of the demo, small, made in a new folder; other runs are copies of it."""
    checkout = Checkout(folder)
    (folder / "small.yaml").write_text(yaml.safe_dump(SETTINGS), encoding="utf-8")
    targets = ["results/demo/bags/bove/sts.safetensors", "results/demo/parser/tagger.pt"]
    done = checkout.snakemake(*targets, "--configfile", "config/config.yaml", "small.yaml")
    assert done.returncode == 0, done.stderr[-3000:]
    for name in RUNS:
        shutil.copytree(folder / "results" / "demo", folder / "results" / name)
    return folder / "results"


def desk(results: Path, folder: Path) -> None:
    """Lay out in a folder what the pages name, beside the results."""
    (folder / "results").symlink_to(results)
    for name, file in NAMED.items():
        if not (folder / name).exists():
            os.link(results / "demo" / file, folder / name)
    pairs = [(a, b) for a in range(40) for b in range(40) if a % 2 == b % 2]
    triples = "".join(f"{a}\tlikes\t{b}\n" for a, b in pairs)
    (folder / "triples.tsv").write_text(triples, encoding="utf-8")
