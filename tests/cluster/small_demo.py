"""The demo, small enough to be run many times: one data set, everything in shards that can be."""

from pathlib import Path

import yaml
from small_settings import SMALL, SUBSETS

RUN = "small"
SETTINGS = {
    "run": RUN,
    **SMALL,
    "parser": SMALL["parser"] | {"shards": 2},
    "inference": {"shards": 2},
    "systems": ["bove"],
    "datasets": {
        "sts": {"subsets": SUBSETS},
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
