"""Variants of a run: its configuration with some keys changed, and which stages' files they share.

A variant is a candidate of `select`, an entry of `compare` or of `ablations`, a further seed, or the
run itself. Each has a folder of its own, but a stage's files are made once for all variants that agree in
everything that the stage depends on, and lie in the folder of the first of them. `Run` finds them again.
"""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

from bove.bags import BOVE, ENCODED, OVERLAP, SYSTEMS
from bove.config import packed, sources
from bove.config.load import fill, load, load_schema, merge, resolve
from bove.errors import BoveError, similar

MAY_CHANGE = ("vocabulary", "vectors", "model", "inference", "scoring")
_KINDS = ("select", "compare", "ablations", "seeds")
_NEVER_CHOSEN = ("rank", "pretrained")
# What `Run.file` gives → the stage whose folder has it, and its path there.
_FILES = {
    "vocabulary": ("vocabulary", "vocabulary.json"),
    "graphs": ("vocabulary", "graphs/train.safetensors"),
    "vectors": ("vectors", "vectors.safetensors"),
    "model": ("model", "model/model.safetensors"),
}


# Candidates of `select`


def points(config: dict) -> list[dict]:
    """Settings of each candidate of `select`: the same keys in all, no two alike, the grid's first.

    Values are coerced as the schema says, so `1e3` and 1000 are one.

    Raises:
        BoveError: no candidates, a key that cannot be chosen, no single value, or a run that both selects
            and compares.
    """
    select = config["select"]
    grid, listed = select.get("grid", {}), select.get("points", [])
    keys = list(dict.fromkeys([*grid, *(key for point in listed for key in point)]))
    if not keys:
        if given := [key for key in ("points", "datasets") if key in select]:
            raise BoveError(f"configuration: select.{given[0]}: without candidates; give grid or points keys")
        return []
    for key in ("compare", "ablations"):
        if config[key]:
            raise BoveError(
                f"configuration: {key} is given beside select; choose first, then give the file "
                f"results/{config['run']}/select/chosen.yaml after your own and {key} with it"
            )
    development(config)
    known = model_keys()
    for key in keys:
        _check_key(key, known)
    usual = {key: reduce(getitem, known[key][0], config["model"]) for key in keys}
    combined = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    every = [
        usual | {key: _single(key, value, known[key][1]) for key, value in point.items()}
        for point in (*(combined if grid else []), *listed)
    ]
    trainers = {point.get("trainer", config["model"]["trainer"]) for point in every}
    for key in keys:
        trainer, *rest = known[key][0]
        if rest and trainer not in trainers:
            raise BoveError(
                f"configuration: select: {key}: a key of model.{trainer}, but model.trainer is "
                f"{', '.join(sorted(map(str, trainers)))}; choose among that trainer's keys"
            )
    return [point for i, point in enumerate(every) if point not in every[:i]]


def _name(point: dict) -> str:
    """The name of a candidate, which is a path, such as alpha~10/lambda_P~1000."""
    return "/".join(f"{k}~{v:.12g}" if isinstance(v, float) else f"{k}~{v}" for k, v in point.items())


def _check_key(key: str, known: Mapping) -> None:
    if key in _NEVER_CHOSEN:
        raise BoveError(
            f"configuration: select: {key}: cannot be chosen, since the data sets' graphs depend on it too; "
            f"give each value under ablations, or under compare"
        )
    if key not in known:
        allowed = [name for name in known if name not in _NEVER_CHOSEN]
        hint = similar(key, allowed)
        raise BoveError(f"configuration: select: {key}: no key of model; {hint}allowed: {', '.join(allowed)}")


def _single(key: str, value: Any, schema: dict) -> Any:
    """A candidate's value of a key, coerced."""
    if value is None or isinstance(value, list | Mapping):
        raise BoveError(
            f"configuration: select: {key}: {value!r} is not a single value; list each value to try by itself"
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


def model_keys() -> dict[str, tuple[tuple[str, ...], dict]]:
    """The path of each key of `model` and of its trainers, and the key's schema."""
    found: dict[str, tuple[tuple[str, ...], dict]] = {}
    for key, child in load_schema()["properties"]["model"]["properties"].items():
        inner = {name: ((key, name), leaf) for name, leaf in child.get("properties", {}).items()}
        found |= inner or {key: ((key,), child)}
    return found


# Variants and where their files lie


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


def variants(config: dict) -> list[Variant]:
    """The run itself, then its candidates, comparisons, ablations, and its further seeds in rising order.

    Raises:
        BoveError: the first change or name that is not allowed, with the variant's name.
    """
    base = _without_variants(config)
    found = [Variant("", "", base, {})]
    listed, known = points(config), model_keys()
    _check_names(config, bool(listed))
    for point in listed:
        name, changes = _name(point), {}
        for key, value in point.items():
            for part in reversed(("model", *known[key][0])):
                value = {part: value}
            changes = merge(changes, value)
        if any(other.name == name for other in found):
            raise BoveError(
                f"configuration: select: {name}: two candidates have this name, since their values differ by "
                f"too little; leave one out"
            )
        found.append(_changed(base, changes, "select", name))
    for kind in ("compare", "ablations"):
        found += [_changed(base, changes, kind, name) for name, changes in config[kind].items()]
    further = sorted(set(config["seeds"]) - {config["seed"]})
    return found + [Variant("seeds", str(seed), base | {"seed": seed}, {"seed": seed}) for seed in further]


def check_sources(found: Sequence[Variant]) -> None:
    """See that every file that a variant reads is there, or that something makes it.

    Raises:
        BoveError: the first that is not, with the variant's name.
    """
    for variant in found:
        with _named(variant.kind, variant.name):
            sources.check(variant.config)


def used_sources(found: Sequence[Variant]) -> dict[str, dict]:
    """The sources that some file of some variant comes from."""
    return {name: source for variant in found for name, source in sources.used(variant.config).items()}


def encoder_systems(config: dict) -> dict[str, str]:
    """The systems that the encoders of a configuration give, and the encoder of each."""
    return {name + kind: name for name in config["encoders"] for kind in ENCODED}


def _check_names(config: dict, selects: bool) -> None:
    """See that names differ from those beside them in a table, and that the run's own model is scored."""
    own = (*SYSTEMS, *config["baselines"], *encoder_systems(config))
    for kind, taken in (
        ("compare", own),
        ("bags", (*own, *config["compare"])),
        ("ablations", (config["run"],)),
    ):
        for name in config[kind]:
            if name in taken:
                raise BoveError(
                    f"configuration: {kind}.{name}: this name is taken; choose none of {', '.join(taken)}"
                )
    looked_up = [name for name in config["baselines"] if name != OVERLAP]
    if looked_up and sources.source_encoder(config):
        raise BoveError(
            f"configuration: baselines: {looked_up[0]} needs vectors of words, and vectors.source: encoder "
            "has none; leave it out"
        )
    given = ["select"] if selects else [kind for kind in _KINDS[1:] if config[kind]]
    if given and BOVE not in config["systems"]:
        raise BoveError(
            f"configuration: {given[0]} is given, but systems lacks bove, which it is about; add bove to "
            f"systems or leave {given[0]} out"
        )


@contextmanager
def _named(kind: str, name: str) -> Iterator[None]:
    """Put the name of a variant into the message of what is wrong with its configuration."""
    try:
        yield
    except BoveError as e:
        where = f" {kind}{': ' if kind == 'select' else '.'}{name}:" if kind else ""
        raise BoveError(f"configuration:{where} {str(e).removeprefix('configuration: ')}") from e


def _changed(base: dict, changes: Mapping, kind: str, name: str) -> Variant:
    with _named(kind, name):
        if not changes:
            raise BoveError(f"changes nothing; allowed: {', '.join(MAY_CHANGE)}")
        for section in changes:
            if section not in MAY_CHANGE:
                raise BoveError(f"{section} cannot be changed here; allowed: {', '.join(MAY_CHANGE)}")
        if kind == "compare" and (own := {"weight", "power"} & set(changes.get("scoring") or ())):
            raise BoveError(
                f"scoring.{min(own)} cannot be changed here, since all columns of a table share it; list "
                f"several weights under scoring.weight, or give it under ablations"
            )
        config = resolve(merge(base, changes))
    return Variant(kind, name, _without_variants(config), dict(changes))


def _without_variants(config: dict) -> dict:
    return {key: value for key, value in config.items() if key not in _KINDS}


class Homes:
    """Which variant's folder holds the files that a stage makes for a variant."""

    def __init__(self, found: Sequence[Variant]) -> None:
        self._choosing = any(variant.kind == "select" for variant in found)
        self._folder: dict[tuple[str, str], str] = {}
        first: dict[tuple[str, str], str] = {}
        for variant in found:
            for stage, needed in self._depends(variant).items():
                key = (stage, json.dumps(needed, sort_keys=True))
                self._folder[stage, variant.folder] = first.setdefault(key, variant.folder)

    def folder(self, stage: str, variant: str) -> str:
        """The folder, for a variant that is given by its own folder."""
        return self._folder[stage, variant]

    def own(self, stage: str) -> list[str]:
        """The folders in which there are files of the stage."""
        return sorted({home for (name, _), home in self._folder.items() if name == stage})

    def _depends(self, variant: Variant) -> dict:
        """What of the configuration each stage depends on, earlier stages included."""
        config, model = variant.config, variant.config["model"]
        trainer, vocabulary = model["trainer"], config["vocabulary"]
        source = config["vectors"]["source"]
        vectors = [config["vectors"], model["rank"] if source in ("train", "encoder") else None]
        if source == "encoder":  # the treebank's graphs have its vectors
            vocabulary = [vocabulary, vectors]
        chosen = {key: value for key, value in model.items() if key not in ("als", "sgd") or key == trainer}
        encoded = [vocabulary, vectors if model["pretrained"] else None]
        # what is chosen is not known yet, but the seeds are: they go on with it
        settled = "chosen" if self._choosing and variant.kind in ("", "seeds") else [encoded, chosen]
        trained = [settled, config["seed"]]
        # bags are the same however many jobs they are made in
        inference = {key: value for key, value in config["inference"].items() if key != "shards"}
        scoring = config["scoring"]
        inferred = [encoded, trained, inference, scoring["punctuation"]]
        return {
            "vocabulary": vocabulary,
            "vectors": vectors,
            "model": trained,
            "encode": encoded,
            "infer": inferred,
            "score": [inferred, scoring["weight"], scoring["power"], variant.kind == ""],
        }


# A finished run


@dataclass(frozen=True)
class Run:
    """A run, or one of its variants.

    Attributes:
        path: the run's folder.
        variant: which of its variants, the run itself or another.
        homes: which folder holds what a stage made for a variant.
        archive: the file that the run came out of, if it was packed.
    """

    path: Path
    variant: Variant
    homes: Homes
    archive: Path | None = None

    @classmethod
    def open(cls, path: str | Path, variant: str = "") -> "Run":
        """Read the configuration of a run.

        Args:
            path: its folder, such as results/demo, or a file that `bove pack` made.
            variant: folder of a variant below it, such as ablations/no-relations; "" for the run itself.

        Raises:
            BoveError: no such run or variant, or a configuration that cannot be read.
        """
        path, archive = Path(path), None
        if path.is_file():
            path, archive = packed.unpack(path), path
        file = path / "config.yaml"
        if not file.is_file():
            beside = sorted(str(other.parent) for other in path.parent.glob("*/config.yaml"))
            given = f"there are: {', '.join(beside)}; " if beside else ""
            raise BoveError(
                f"{path}: no run is there (it has no config.yaml); {given}`snakemake --cores 2` makes "
                f"results/demo, config/README.md says how to make others"
            )
        config = resolve(load([file]))
        found = {other.folder.rstrip("/"): other for other in variants(config)}
        if variant.strip("/") not in found:
            names = ", ".join(name for name in found if name) or "none"
            raise BoveError(f"{archive or path}: has no variant {variant!r}; there are: {names}")
        return cls(path, found[variant.strip("/")], Homes(list(found.values())), archive)

    @property
    def config(self) -> dict:
        """The configuration of the variant, defaults filled in."""
        return self.variant.config

    def file(self, name: str) -> Path:
        """The variant's vocabulary, vectors or model, or the treebank's graphs.

        Raises:
            BoveError: it has not been made yet.
        """
        stage, place = _FILES[name]
        return self._made(self.homes.folder(stage, self.variant.folder) + place)

    def _made(self, place: str) -> Path:
        path = self.path / place
        if self.archive and not path.is_file():
            raise BoveError(f"{self.archive}: a packed run has no {place}; give the folder of the run itself")
        if not path.is_file():
            raise BoveError(f"{path}: not there, so the run is not finished; finish it with `{self._make()}`")
        return path

    def dataset(self, name: str) -> tuple[Path, Path]:
        """The pairs of a data set, and their sentences' trees.

        Raises:
            BoveError: the run has no such data set, or it has not been made yet.
        """
        if name not in self.config["datasets"]:
            known = ", ".join(self.config["datasets"])
            raise BoveError(f"{self.archive or self.path}: has no data set {name!r}; there are: {known}")
        return self._made(f"pairs/{name}.jsonl"), self._made(f"parses/{name}.conllu.gz")

    def treebank(self) -> Path:
        """The training part of the treebank.

        Raises:
            BoveError: it is not where the run had it.
        """
        path = self._located(self.config["treebank"]["train"])
        if not path.is_file():
            raise BoveError(
                f"{path}: no such file, but {self.path} was trained on it; put it there, or name it with "
                f"--treebank"
            )
        return path

    def parser_files(self) -> dict[str, Path]:
        """Tagger, parser and what these need, by name.

        Raises:
            BoveError: they are not there, because no data set of the run was parsed or for another reason.
        """
        section = self.config["parser"]
        if found := packed.packed_parser(self.path):
            return found
        if self.archive:
            raise BoveError(f"{self.archive}: was packed without tagger and parser; give trees with --conllu")
        if section["source"] == "load":
            return {name: self._located(section[name]) for name in sources.PARSER_FILES if name in section}
        files = {name: self.path / "parser" / f"{name}.pt" for name in ("tagger", "parser")}
        missing = [path.name for path in files.values() if not path.is_file()]
        if missing:
            own = all("parses" in found or "from" in found for found in self.config["datasets"].values())
            why = "all its data sets came with trees" if own else "the run is not finished"
            raise BoveError(
                f"{self.path}: has no tagger and parser, since {why}; make them with "
                f"`{self._make(*missing)}`, or name others with --tagger and --parser, or give the trees "
                f"with --conllu"
            )
        return files

    def encoder(self) -> Path:
        """The folder of the encoder that the variant's model is over."""
        name = sources.source_encoder(self.config)
        if name is None:
            raise BoveError(f"{self.path}: its model is over no encoder; give the files of one run")
        return self._beside(sources.encoder_folder(self.config, name))

    def _make(self, *files: str) -> str:
        """The command that makes the run, or some of its parser's files."""
        named = "".join(f" results/{self.config['run']}/parser/{file}" for file in files)
        return f"snakemake --cores 2{named} --configfile {self.path / 'config.yaml'}"

    def _located(self, value: str) -> Path:
        """A file that the configuration names."""
        return self._beside(sources.locate(self.config, value))

    def _beside(self, path: str) -> Path:
        """A path as the configuration means it: relative ones start at the folder of results/."""
        return self.path.absolute().parent.parent / path
