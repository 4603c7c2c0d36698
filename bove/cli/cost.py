"""`bove cost`: what the systems of a finished run cost, from the benchmark files of the workflow.

A job's file has its seconds, by the clock and of the processor, and the most memory that it took. They are of
the whole job, with the start of Python and the reading of files, and differ each time. So the table is beside
these files and no part of a run's results. What came from the shared cache has cost no more than a copy.
"""

import argparse
import csv
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from bove.bags import ARCS, BOVE, OVERLAP, PROPERTIES_ONLY, SYSTEMS, WORD_VECTORS
from bove.bags.store import Bags
from bove.cli.common import write_files
from bove.config.sources import encoder_paths, source_encoder
from bove.config.variants import Run, encoder_systems
from bove.errors import finite
from bove.evaluate.results import csv_text
from bove.evaluate.tables import ABSENT, markdown_table

PARSING = "(tagging and parsing)"
COLUMNS = (
    "system", "size in MB", "seconds to train", "MB to train", "sentences a second",
    "processor seconds per 1,000 sentences", "MB to embed",
)  # fmt: skip
_NEEDED = "Sentences a second are by the clock. Beside their own cost, {} need the trees."


class Spent(NamedTuple):
    """Of several jobs: seconds by the clock and of the processor, and the most memory of one in MB."""

    seconds: float
    processor: float
    memory: float


def register_cost(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--run", required=True, metavar="FOLDER", help="folder of a finished run, such as results/demo")
    add("--output", metavar="FOLDER", help="what gets cost.csv and cost.md (default: the run's benchmarks)")


def run_cost(args: argparse.Namespace) -> None:
    """Write both files and print the table."""
    print(write_cost(args.run, args.output), end="")


def write_cost(folder: str | Path, output: str | Path | None = None) -> str:
    """Write cost.csv and cost.md of a run, beside its benchmark files or elsewhere; returns the latter."""
    import pandas as pd

    run = Run.open(folder)
    rows = list(_rows(run))
    text = markdown_table(COLUMNS, [[row[0], *map(_printed, row[1:])] for row in rows], 1)
    ours = [name for name, *_ in rows if name in (PROPERTIES_ONLY, BOVE, ARCS)]
    if ours and rows[-1][0] == PARSING:
        text += f"\n{_NEEDED.format(', '.join(ours))}\n"
    table = csv_text(pd.DataFrame(rows, columns=COLUMNS))
    write_files(output or run.path / "benchmarks", {"cost.csv": table, "cost.md": text})
    return text


def _rows(run: Run) -> Iterator[tuple]:
    """The columns for each system that the run makes, and for parsing; None where nothing is known."""
    config, found = run.config, run.path / "benchmarks"
    sentences = {name: _sentences(run, name) for name in config["datasets"]}
    for system in (*config["systems"], *config["baselines"], *encoder_systems(config)):
        learning = found.glob("train_[as]*.tsv"), found.glob(f"encoder_treebank/{source_encoder(config)}.tsv")
        taught = _spent(chain(*learning)) if system in (PROPERTIES_ONLY, BOVE) else None
        embedded = {name: _spent(_embedding(run, system, name)) for name in sentences}
        yield _row(system, _size(_parts(run, system)), taught, embedded, sentences)
    parsed = {name: n for name, n in sentences.items() if "subsets" in config["datasets"][name]}
    parsed = {name: n for name, n in parsed.items() if "parses" not in config["datasets"][name]}
    if parsed:
        taught = _spent(found / f"train_{name}.tsv" for name in ("tagger", "parser"))
        patterns = "parse/{}.tsv", "parse_shard/{}/*.tsv"
        embedded = {n: _spent(p for one in patterns for p in found.glob(one.format(n))) for n in parsed}
        yield _row(PARSING, _size(run.parser_files().values()), taught, embedded, parsed)


def _row(name: str, size: float, taught: Spent | None, embedded: dict, sentences: dict) -> tuple:
    some = {data: spent for data, spent in embedded.items() if spent and sentences[data]}
    speed = processor = memory = None
    if some:
        count = sum(sentences[data] for data in some)
        speed = count / sum(spent.seconds for spent in some.values())
        processor = 1000 * sum(spent.processor for spent in some.values()) / count
        memory = max(spent.memory for spent in some.values())
    learnt = (taught.seconds, taught.memory) if taught else (None, None)
    return name, size, *learnt, speed, processor, memory


def _sentences(run: Run, dataset: str) -> int:
    """How many sentences a data set has, by the bags that are there."""
    path = next(iter(sorted((run.path / "bags").glob(f"*/{dataset}.safetensors"))), None)
    return len(Bags.open(path)) if path else 0


def _embedding(run: Run, system: str, dataset: str) -> Iterator[Path]:
    """The benchmark files of a system's bags of a data set."""
    over = source_encoder(run.config) if system in SYSTEMS else None
    encoder = encoder_systems(run.config).get(system, over)
    for pattern in (
        f"look_up_words/{dataset}.tsv" if system == WORD_VECTORS else f"infer/{system}/{dataset}.tsv",
        f"infer_shard/bags/{system}/{dataset}/*.tsv",
        f"baseline/{system}/{dataset}.tsv",
        f"encoder/{encoder}/{dataset}.tsv",
        f"encoder_shard/{encoder}/{dataset}/*.tsv",
    ):
        yield from (run.path / "benchmarks").glob(pattern)


def _parts(run: Run, system: str) -> list[Path]:
    """The files that a system reads, beside the sentences."""
    if encoder := encoder_systems(run.config).get(system):
        return [Path(path) for path in encoder_paths(run.config, encoder).values()]
    if system == OVERLAP:
        return []
    own = "model" if system in (PROPERTIES_ONLY, BOVE) else "vectors"
    files = [run.file(part) for part in (own, "vocabulary")]
    if over := source_encoder(run.config):
        files += [run.file("vectors"), *map(Path, encoder_paths(run.config, over).values())]
    return list(dict.fromkeys(files))


def _size(paths: Iterable[Path]) -> float:
    return sum(path.stat().st_size for path in paths) / 1e6


def _spent(paths: Iterable[Path]) -> Spent | None:
    """What the jobs of these benchmark files have spent; None without any."""
    rows = []
    for path in paths:
        if path.is_file():
            [line] = csv.DictReader(path.read_text(encoding="utf-8").split("\n"), delimiter="\t")
            # what a job was too short to show counts as 0
            rows.append([finite(line[key]) or 0.0 for key in ("s", "cpu_time", "max_rss")])
    if not rows:
        return None
    seconds, processor, memory = zip(*rows, strict=True)
    return Spent(sum(seconds), sum(processor), max(memory))


def _printed(value: float | None) -> str:
    if value is None:
        return ABSENT
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"
