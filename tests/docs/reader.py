"""What lies before a reader of the manual: a finished demo, small, and the files that the pages name."""

import os
import shutil
from pathlib import Path

from small_demo import RUN

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
# runs that pages name, which here are the small one
RUNS = (RUN, "demo", "open", "mine", "ewt")


def results(demo, folder: Path) -> Path:
    """A folder of results in which every run that a page names is a copy of the small demo."""
    for name in RUNS:
        shutil.copytree(demo.results, folder / name)
    return folder


def desk(results: Path, folder: Path) -> None:
    """Lay out in a folder what the pages name, beside the results."""
    (folder / "results").symlink_to(results)
    for name, file in NAMED.items():
        if not (folder / name).exists():
            os.link(results / "demo" / file, folder / name)
    pairs = [(a, b) for a in range(40) for b in range(40) if a % 2 == b % 2]
    triples = "".join(f"{a}\tlikes\t{b}\n" for a, b in pairs)
    (folder / "triples.tsv").write_text(triples, encoding="utf-8")
