"""Variants of a run: its configuration with some keys changed, and which stages' files they share.

A variant is a candidate of `select`, an entry of `compare` or of `ablations`, a further seed, or the
run itself. Each has a folder of its own, but a stage's files are made once for all variants that agree in
everything that the stage depends on, and lie in the folder of the first of them.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bove import sources
from bove.candidates import model_keys, points
from bove.config import load_schema, merge, resolve
from bove.errors import BoveError

MAY_CHANGE = ("vocabulary", "vectors", "model", "inference", "scoring")
SYSTEMS = ("word-vectors", "properties-only", "bove")
_KINDS = ("select", "compare", "ablations", "seeds")


@dataclass(frozen=True)
class Variant:
    """One variant.

    Attributes:
        kind: "", "select", "compare", "ablations" or "seeds"; the run itself has "".
        name: its name, or "" for the run itself.
        config: its whole configuration, without those four keys.
        changes: what of it differs from the run itself, as written.
    """

    kind: str
    name: str
    config: dict
    changes: dict

    @property
    def folder(self) -> str:
        """Where its files lie below the run's folder, with a slash at the end; "" for the run itself."""
        return f"{self.kind}/{self.name}/" if self.kind else ""

    @property
    def where(self) -> str:
        """How a mistake in its configuration begins."""
        return _where(self.kind, self.name)


def variants(config: dict, schema: Path, names: Callable[[Sequence[dict]], Sequence[str]]) -> list[Variant]:
    """The run itself, then its candidates, comparisons, ablations, and its further seeds in rising order.

    Args:
        config: a resolved configuration.
        names: gives each of a list of points a name that can be a path.

    Raises:
        BoveError: the first change or name that is not allowed, with the variant's name.
    """
    base = _without_variants(config)
    found = [Variant("", "", base, {})]
    listed = points(config, schema)
    _check_names(config, bool(listed))
    known = model_keys(load_schema(schema)) if listed else {}
    for name, point in zip(names(listed) if listed else [], listed, strict=True):
        changes = {}
        for key, value in point.items():
            changes = merge(changes, _nested(("model", *known[key][0]), value))
        if any(other.name == name for other in found):
            raise BoveError(
                f"configuration: select: {name}: two candidates have this name, since their values differ by "
                f"too little; leave one out"
            )
        found.append(_changed(base, changes, schema, "select", name))
    for kind in ("compare", "ablations"):
        found += [_changed(base, changes, schema, kind, name) for name, changes in config[kind].items()]
    further = sorted(set(config["seeds"]) - {config["seed"]})
    return found + [Variant("seeds", str(seed), base | {"seed": seed}, {"seed": seed}) for seed in further]


def check_sources(found: Sequence[Variant]) -> None:
    """See that every file that a variant reads is there, or that something makes it.

    Raises:
        BoveError: the first that is not, with the variant's name.
    """
    for variant in found:
        with _said_of(variant.where):
            sources.check(variant.config)


def used_sources(found: Sequence[Variant]) -> dict[str, dict]:
    """The sources that some file of some variant comes from."""
    return {name: source for variant in found for name, source in sources.used(variant.config).items()}


def _check_names(config: dict, selects: bool) -> None:
    """See that names differ from those beside them in a table, and that the run's own model is scored."""
    for name in config["compare"]:
        if name in SYSTEMS:
            raise BoveError(
                f"configuration: compare.{name}: a system has this name; choose another than "
                f"{', '.join(SYSTEMS)}"
            )
    for name in config["bags"]:
        if name in SYSTEMS or name in config["compare"]:
            raise BoveError(
                f"configuration: bags.{name}: a system or an entry of compare has this name; choose another"
            )
    if config["run"] in config["ablations"]:
        raise BoveError(
            f"configuration: ablations.{config['run']}: the run itself has this name; choose another"
        )
    given = ["select"] if selects else [kind for kind in _KINDS[1:] if config[kind]]
    if given and "bove" not in config["systems"]:
        raise BoveError(
            f"configuration: {given[0]} is given, but systems lacks bove, which it is about; add bove to "
            f"systems or leave {given[0]} out"
        )


@contextmanager
def _said_of(where: str) -> Iterator[None]:
    """Put the name of a variant into what is said about its configuration."""
    try:
        yield
    except BoveError as e:
        raise BoveError(f"{where}: {str(e).removeprefix('configuration: ')}") from e


def _changed(base: dict, changes: Mapping, schema: Path, kind: str, name: str) -> Variant:
    where = _where(kind, name)
    if not changes:
        raise BoveError(f"{where}: changes nothing; allowed: {', '.join(MAY_CHANGE)}")
    for section in changes:
        if section not in MAY_CHANGE:
            raise BoveError(f"{where}: {section} can not be changed here; allowed: {', '.join(MAY_CHANGE)}")
    with _said_of(where):
        config = resolve(merge(base, changes), schema)
    return Variant(kind, name, _without_variants(config), dict(changes))


def _without_variants(config: dict) -> dict:
    return {key: value for key, value in config.items() if key not in _KINDS}


def _where(kind: str, name: str) -> str:
    """How a mistake in a variant's configuration begins."""
    return f"configuration: {kind}{': ' if kind == 'select' else '.'}{name}" if kind else "configuration"


def _nested(path: Sequence[str], value) -> dict:
    for key in reversed(path):
        value = {key: value}
    return value


class Homes:
    """Which variant's folder holds the files that a stage makes for a variant."""

    def __init__(self, found: Sequence[Variant]) -> None:
        self._choosing = any(variant.kind == "select" for variant in found)
        self._first: dict[tuple[str, str], str] = {}
        self._folder: dict[tuple[str, str], str] = {}
        for variant in found:
            for stage, needed in self._depends(variant).items():
                key = (stage, json.dumps(needed, sort_keys=True))
                home = self._first.setdefault(key, variant.folder)
                self._folder[stage, variant.folder] = home

    def folder(self, stage: str, variant: str) -> str:
        """The folder, for a variant that is given by its own folder."""
        return self._folder[stage, variant]

    def own(self, stage: str) -> list[str]:
        """The folders in which there are files of the stage."""
        return sorted({home for (name, _), home in self._folder.items() if name == stage})

    def _depends(self, variant: Variant) -> dict:
        """What of the configuration each stage depends on, earlier stages included."""
        config, model = variant.config, variant.config["model"]
        trainer = model["trainer"]
        vocabulary = config["vocabulary"]
        vectors = [config["vectors"], model["rank"] if config["vectors"]["source"] == "train" else None]
        chosen = {key: value for key, value in model.items() if key not in ("als", "sgd") or key == trainer}
        encoded = [vocabulary, vectors if model["pretrained"] else None]
        # what is chosen is not known yet, but the seeds are: they go on with it
        settled = "chosen" if self._choosing and variant.kind in ("", "seeds") else [encoded, chosen]
        trained = [settled, config["seed"]]
        # bags are the same however many jobs they are made in
        inference = {key: value for key, value in config["inference"].items() if key != "shards"}
        inferred = [encoded, trained, inference, config["scoring"]]
        return {
            "vocabulary": vocabulary,
            "vectors": vectors,
            "model": trained,
            "encode": encoded,
            "infer": inferred,
            "score": [inferred, variant.kind == ""],
        }
