"""The candidates of `select`: what a run's model is chosen from, and on which data sets."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from bove.config import fill, load_schema
from bove.errors import BoveError

_NEVER_CHOSEN = ("rank", "pretrained")


def points(config: dict, schema: Path) -> list[dict]:
    """Settings of each candidate of `select`: the same keys in all, none twice, the grid's before the points.

    Values are coerced as the schema says, so `1e3` and 1000 are one.

    Raises:
        BoveError: no candidates, a key that can not be chosen, no single value, or a run that both selects
            and compares.
    """
    select = config["select"]
    grid, listed = select.get("grid", {}), select.get("points", [])
    keys = list(dict.fromkeys([*grid, *(key for point in listed for key in point)]))
    if not keys:
        if given := [key for key in ("points", "datasets") if key in select]:
            raise BoveError(f"configuration: select.{given[0]}: without candidates; give grid or points keys")
        return []
    _check_alone(config)
    development(config)
    known = model_keys(load_schema(schema))
    for key in keys:
        _check_key(key, known)
    usual = {key: _at(config["model"], known[key][0]) for key in keys}
    combined = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    every = [
        usual | {key: _single(key, value, known[key][1]) for key, value in point.items()}
        for point in (*(combined if grid else []), *listed)
    ]
    _check_trainers(every, config, known)
    return [point for i, point in enumerate(every) if point not in every[:i]]


def folders(points: Sequence[dict]) -> list[str]:
    """A path for each point, such as alpha~10/lambda_P~1000."""
    return [
        "/".join(f"{k}~{v:.12g}" if isinstance(v, float) else f"{k}~{v}" for k, v in point.items())
        for point in points
    ]


def _check_alone(config: dict) -> None:
    """See that nothing is held against a model that is still to be chosen."""
    for key in ("compare", "ablations"):
        if config[key]:
            raise BoveError(
                f"configuration: {key} is given beside select; choose first, then give the file "
                f"results/{config['run']}/select/chosen.yaml after your own and {key} with it"
            )


def _check_trainers(every: Sequence[dict], config: dict, known: Mapping) -> None:
    """See that each key of a trainer is one that some candidate is trained by."""
    trainers = {point.get("trainer", config["model"]["trainer"]) for point in every}
    for key in every[0]:
        trainer, *rest = known[key][0]
        if rest and trainer not in trainers:
            raise BoveError(
                f"configuration: select: {key}: a key of model.{trainer}, but model.trainer is "
                f"{', '.join(sorted(map(str, trainers)))}; choose among that trainer's keys"
            )


def _check_key(key: str, known: Mapping) -> None:
    allowed = [name for name in known if name not in _NEVER_CHOSEN]
    if key in _NEVER_CHOSEN:
        raise BoveError(
            f"configuration: select: {key}: can not be chosen, since the data sets' graphs depend on it too; "
            f"give each value under ablations, or under compare"
        )
    if key not in known:
        close = get_close_matches(key, allowed, n=1)
        hint = f" did you mean {close[0]}?" if close else ""
        raise BoveError(f"configuration: select: {key}: no key of model;{hint} allowed: {', '.join(allowed)}")


def _single(key: str, value: Any, schema: dict) -> Any:
    """A candidate's value of a key, coerced."""
    if value is None or isinstance(value, list | Mapping):
        raise BoveError(
            f"configuration: select: {key}: {value!r} is no single value; list each value to try by itself"
        )
    return fill(value, schema, f"select: {key}")


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


def _at(tree: Mapping, path: Sequence[str]):
    for key in path:
        tree = tree[key]
    return tree


def model_keys(schema: dict) -> dict[str, tuple[tuple[str, ...], dict]]:
    """Where in `model` each of its keys lies, those of its trainers too, and the key's schema."""

    def leaves(tree: dict, path: tuple[str, ...]) -> Iterator[tuple[str, tuple[tuple[str, ...], dict]]]:
        for key, child in tree["properties"].items():
            if "properties" in child:
                yield from leaves(child, (*path, key))
            else:
                yield key, ((*path, key), child)

    return dict(leaves(schema["properties"]["model"], ()))
