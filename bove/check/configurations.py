"""Checking configurations, with the files of pairs that they describe."""

import os
from collections.abc import Sequence

from bove import sources
from bove.check.report import Report
from bove.config import check_part, load, resolve, summary
from bove.errors import BoveError
from bove.evaluate.bootstrap import Bootstrap
from bove.runs import SCHEMA, schema
from bove.text.pair_files import read_pair_file
from bove.text.pair_forms import Form
from bove.variants import check_sources, variants


def check_config(report: Report, before: Sequence[str]) -> None:
    """Fill in a report on a configuration, or on changes to one.

    Args:
        report: of the file.
        before: configurations that stand before it. A file that is no whole one itself is merged into
            them, from the last whole one on.

    Raises:
        BoveError: the first mistake in it, the first file that it names and that is not there, or pairs that
            are not as their data set says.
    """
    report.kind = "configuration"
    raw, missing = _merged(report, before, schema()["required"])
    if missing:
        report.remarks.append(
            f"has no {', '.join(missing)}, so it goes after a configuration that has; name that one before it"
        )
        check_part(raw, SCHEMA)
        return
    config = resolve(raw, SCHEMA)
    check_sources(variants(config, SCHEMA, lambda points: [str(number) for number in range(len(points))]))
    report.facts["run"] = summary(config)
    report.facts["files that it names"] = len(dict(sources.references(config)))
    fetched = [name for name, source in sources.used(config).items() if sources.kind(source) == "url"]
    if fetched:
        report.facts["to be downloaded"] = ", ".join(fetched)
    bootstrap = Bootstrap(**config["statistics"], seed=config["seed"])
    if bootstrap.resamples < bootstrap.least:
        report.remarks.append(
            f"statistics: {bootstrap.resamples} resamples are few at confidence {bootstrap.confidence:g}; "
            f"take at least {bootstrap.least}"
        )
    _read_pairs(report, config)


def _merged(report, before, required) -> tuple[dict, list[str]]:
    """What the file says, after those that it changes; and the sections that are missing even so."""
    files = [report.path]
    raw = load(files, SCHEMA)
    missing = [key for key in required if key not in raw]
    if missing:
        report.kind = "changes to a configuration"
        report.facts["changes"] = ", ".join(raw)
    for path in reversed(before):
        if missing:
            files.insert(0, path)
            raw = load(files, SCHEMA)
            missing = [key for key in required if key not in raw]
    return raw, missing


def _read_pairs(report, config) -> None:
    """Read the pairs of every data set whose files are there, in the form that its section says."""
    for name, dataset in config["datasets"].items():
        read = {}
        for subset, files in dataset["subsets"].items():
            paths = [sources.locate(config, files[key]) for key in ("input", "gold") if key in files]
            if all(map(os.path.isfile, paths)):
                names = (name, dataset["label"], subset)
                gold = paths[1] if len(paths) > 1 else None
                pairs = read_pair_file(paths[0], Form.of(dataset), names, gold, files.get("where"))
                scored = sum(pair.scored for pair in pairs)
                read[subset] = f"{len(pairs):,} pairs, {scored:,} of them scored"
                if not scored:
                    raise BoveError(f"{paths[-1]}: no pair has a gold score or label; check the file")
        if read:
            report.facts[f"data set {name}"] = read
