"""The demo, small enough to be run many times: one data set, everything in shards that can be."""

from pathlib import Path

import yaml

RUN = "small"
SETTINGS = {
    "run": RUN,
    "sources": {"corpus": {"sentences": 300}},
    "vocabulary": {"min_relations": 20},
    "vectors": {"epochs": 2},
    "model": {"rank": 10, "alpha": 10, "lambda_R": 0.1, "als": {"max_rounds": 2}},
    "parser": {"preset": "tiny", "min_coverage": 0, "shards": 2},
    "inference": {"shards": 2},
    "systems": ["bove"],
    "datasets": {
        "sts": {
            "subsets": {name: None for name in ("captions", "definitions", "modifiers", "news", "paraphrase")}
        },
        "snli": None,
    },
}
# Files whose bytes depend on the configuration alone.
TABLES = ("scores.csv", "sts.md", "snli.md")


def configured(folder: Path, **changes) -> list[str]:
    """Write the configuration into a checkout, some keys changed; what to give to Snakemake there."""
    text = yaml.safe_dump(SETTINGS | changes, sort_keys=False)
    (folder / "small.yaml").write_text(text, encoding="utf-8")
    return ["--configfile", "config/config.yaml", "small.yaml"]


def arguments(folder: Path, **changes) -> list[str]:
    """Likewise, to make the tables alone."""
    run = changes.get("run", RUN)
    return [*(f"results/{run}/tables/{name}" for name in TABLES), *configured(folder, **changes)]


def tables(folder: Path, run: str = RUN) -> dict[str, bytes]:
    """The bytes of the tables of a checkout."""
    return {name: (folder / "results" / run / "tables" / name).read_bytes() for name in TABLES}
