"""Variants of a run: its configuration with some keys changed, and which stages' files they share.

A variant is a candidate of `select`, an entry of `compare`, an entry of `ablations`, or the run itself. Each
has a folder of its own, but a stage's files are made once for all variants that agree in everything that the
stage depends on, and lie in the folder of the first of them.
"""

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from bove.config import load_schema, merge, resolve
from bove.errors import BoveError

MAY_CHANGE = ("vocabulary", "vectors", "model", "inference", "scoring")
_KINDS = ("select", "compare", "ablations")


@dataclass(frozen=True)
class Variant:
    """One variant.

    Attributes:
        kind: "", "select", "compare" or "ablations"; the run itself has "".
        name: its name, or "" for the run itself.
        config: its whole configuration, without those three sections.
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


def points(config: dict, schema: Path) -> list[dict]:
    """Settings of each candidate of `select`: the same keys in all, none twice, the grid's before the points.

    Raises:
        BoveError: a key that `model` lacks, or a run that both selects and compares.
    """
    select = config["select"]
    grid, listed = select.get("grid", {}), select.get("points", [])
    keys = list(dict.fromkeys([*grid, *(key for point in listed for key in point)]))
    if not keys:
        return []
    for key in ("compare", "ablations"):
        if config[key]:
            raise BoveError(
                f"configuration: {key} is given beside select; choose first, then give the file "
                f"results/{config['run']}/select/chosen.yaml after your own and {key} with it"
            )
    development(config)
    paths = _model_paths(load_schema(schema))
    for key in keys:
        if key not in paths:
            close = get_close_matches(key, paths, n=1)
            hint = f" did you mean {close[0]}?" if close else ""
            raise BoveError(
                f"configuration: select: {key}: no key of model;{hint} allowed: {', '.join(paths)}"
            )
    combined = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    usual = {key: _at(config["model"], paths[key]) for key in keys}
    every = [usual | point for point in (*(combined if grid else []), *listed)]
    return [point for i, point in enumerate(every) if point not in every[:i]]


def development(config: dict) -> list[str]:
    """The data sets on which `select` chooses."""
    marked = [name for name, dataset in config["datasets"].items() if dataset["development"]]
    asked = config["select"].get("datasets", marked)
    for name in asked:
        if name not in marked:
            raise BoveError(
                f"configuration: select.datasets: {name}: no data set with development: true; "
                f"those are: {', '.join(marked) or 'none'}"
            )
    if not asked:
        raise BoveError("configuration: select: no data set has development: true; give it to one")
    return list(asked)


def variants(config: dict, schema: Path, names: Callable[[Sequence[dict]], Sequence[str]]) -> list[Variant]:
    """The run itself, then its candidates, comparisons and ablations.

    Args:
        config: a resolved configuration.
        names: gives each of a list of points a name that can be a path.

    Raises:
        BoveError: the first change that is not allowed, with the variant's name.
    """
    base = {key: value for key, value in config.items() if key not in _KINDS}
    found = [Variant("", "", base, {})]
    listed = points(config, schema)
    paths = _model_paths(load_schema(schema)) if listed else {}
    for name, point in zip(names(listed) if listed else [], listed, strict=True):
        changes = {}
        for key, value in point.items():
            changes = merge(changes, _nested(("model", *paths[key]), value))
        found.append(_changed(base, changes, schema, "select", name))
    for kind in ("compare", "ablations"):
        found += [_changed(base, changes, schema, kind, name) for name, changes in config[kind].items()]
    return found


def _changed(base: dict, changes: Mapping, schema: Path, kind: str, name: str) -> Variant:
    where = f"configuration: {kind}: {name}" if kind == "select" else f"configuration: {kind}.{name}"
    for section in changes:
        if section not in MAY_CHANGE:
            raise BoveError(f"{where}: {section} can not be changed here; allowed: {', '.join(MAY_CHANGE)}")
    try:
        return Variant(kind, name, resolve(merge(base, changes), schema), dict(changes))
    except BoveError as e:
        raise BoveError(f"{where}: {str(e).removeprefix('configuration: ')}") from e


def _nested(path: Sequence[str], value) -> dict:
    for key in reversed(path):
        value = {key: value}
    return value


def _at(tree: Mapping, path: Sequence[str]):
    for key in path:
        tree = tree[key]
    return tree


def _model_paths(schema: dict) -> dict[str, tuple[str, ...]]:
    """Where in `model` each of its keys lies, those of its trainers too."""

    def leaves(tree: dict, path: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
        for key, child in tree["properties"].items():
            if "properties" in child:
                yield from leaves(child, (*path, key))
            else:
                yield key, (*path, key)

    return dict(leaves(schema["properties"]["model"], ()))


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
        trained = "chosen" if self._choosing and not variant.kind else [vocabulary, vectors, chosen]
        encoded = [vocabulary, vectors if model["pretrained"] else None]
        inferred = [encoded, trained, config["inference"], config["scoring"]]
        return {
            "vocabulary": vocabulary,
            "vectors": vectors,
            "model": trained,
            "encode": encoded,
            "infer": inferred,
            "score": [inferred, variant.kind == ""],
        }
