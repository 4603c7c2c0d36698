"""The demo with a tenth of its sentences and hardly trained models, finished once for all tests."""

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import yaml
from checkout import Checkout
from no_network import namespace

RUN = "small"
SETTINGS = {
    "run": RUN,
    "sources": {"corpus": {"sentences": 300}},
    "vocabulary": {"min_relations": 20},
    "vectors": {"epochs": 2},
    "model": {"rank": 10, "als": {"max_rounds": 2}},
    "parser": {"preset": "tiny", "min_coverage": 0},
    "datasets": {
        # of each data set, one subset
        "sts": {"subsets": dict.fromkeys(("captions", "definitions", "modifiers", "news", "paraphrase"))},
        "snli": {"subsets": {"test": None}},
        "roles": None,  # such a parser finds no verbs
    },
    "ablations": {"once": {"inference": {"solver": "averaged", "iterations": 1}}},
}
# The same with one data set and one system, and shards, to be run many times.
SHARDED = SETTINGS | {
    "parser": SETTINGS["parser"] | {"shards": 2},
    "inference": {"shards": 2},
    "systems": ["bove"],
    "datasets": SETTINGS["datasets"] | {"snli": None},
    "ablations": {},
}
FILES = ("--configfile", "config/config.yaml", "small.yaml")


class SmallDemo(Checkout):
    """A checkout with this configuration.

    Attributes:
        results: folder of the run.
    """

    def __init__(self, folder: Path, settings: dict = SETTINGS) -> None:
        super().__init__(folder)
        self.configure(settings)

    @property
    def results(self) -> Path:
        return self.folder / "results" / RUN

    def copy(self, folder: Path) -> "SmallDemo":
        """Another checkout, with all that this one holds."""
        shutil.copytree(self.folder, folder, symlinks=True)
        other = SmallDemo.__new__(SmallDemo)
        other.folder = folder
        return other

    def configure(self, settings: dict) -> None:
        (self.folder / "small.yaml").write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")

    def run(self, *arguments: str, prefix: Sequence[str] = (), **environment: str) -> dict[str, int]:
        """Run it to its end; how many jobs of each rule there were."""
        done = self.snakemake(*arguments, *FILES, prefix=prefix, **environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return self.jobs(done.stdout + done.stderr)

    def plan(self, *arguments: str) -> dict[str, int]:
        """How many jobs of each rule would run, with these arguments of --config."""
        return self.planned(*FILES, *(["--config", *arguments] if arguments else []))

    @contextmanager
    def edited(self, path: str, old: str, new: str) -> Iterator[None]:
        """A file in which a pattern is replaced once, until the end of the block."""
        file = self.folder / path
        text = file.read_text(encoding="utf-8")
        changed, count = re.subn(old, new, text, count=1)
        assert count, f"{path} has no {old}"
        file.write_text(changed, encoding="utf-8")
        try:
            yield
        finally:
            file.write_text(text, encoding="utf-8")


class FinishedDemo(SmallDemo):
    """A finished run, made without a network where that is possible; nobody changes it: copies are for that.

    Attributes:
        cache: the shared cache that the run filled.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.cache = folder / 'Zoë\'s "own" π $HOME {x} checkout', folder / "cache"
        if not (folder / "finished").exists():
            shutil.rmtree(folder, ignore_errors=True)  # what a failed attempt left
            self.cache.mkdir(parents=True)
            super().__init__(self.folder)
            self.run(prefix=namespace(), BOVE_CACHE=str(self.cache))
            (folder / "finished").touch()
