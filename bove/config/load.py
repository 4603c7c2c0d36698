"""The configuration of a run: files are read and merged, checked against the schema, defaults filled in.

Files merge from left to right, section by section. `null` removes an entry of a map with free names (a
source, a data set, a subset) and puts any other key back to its default.

Unquoted YAML stays text until the schema gives its type: `run: 010` and `run: no` are names, 1e-3 and 1_000
are numbers. Where the schema leaves the type open, a number is what Python would write in the same way.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import yaml

from bove.errors import BoveError, finite, similar
from bove.factor.settings import BLOCKS, json_schema, own_fields
from bove.files import atomic_write, check_encoding, read_text
from bove.text.pairs import ROLES, check_dataset

SCHEMA = Path(__file__).parent / "config.schema.yaml"
# Keys of a data set that is read from files, and of one of roles.
_OF_FILES = ("subsets", "columns", "labels", "header", "parses")
_OF_ROLES = ("from", "subjects", "objects", "min_gold")
# Aliases of aliases can stand for more than any machine holds.
MOST_NODES = 100_000
# What ends a line for somebody, and what neither a path nor a file of text can hold.
_BREAKS = re.compile("[\0\n\r\x85\u2028\u2029\ud800-\udfff]")
_TAG = "tag:yaml.org,2002:"
_RULES = {
    "minimum": "at least",
    "exclusiveMinimum": "above",
    "maximum": "at most",
    "exclusiveMaximum": "below",
    "pattern": "text that matches",
}
_BOOLEANS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


class Plain(str):
    """Text that YAML has without quotes."""

    __slots__ = ()


class _Loader(yaml.SafeLoader):
    """YAML in which null and the merge key << alone are more than text."""

    yaml_implicit_resolvers: ClassVar[dict] = {
        first: [(tag, pattern) for tag, pattern in found if tag in (f"{_TAG}null", f"{_TAG}merge")]
        for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


class _Builder:
    """Turns the nodes of a YAML text into Python values; `where` is what messages call the text."""

    def __init__(self, where: str) -> None:
        self.where, self.nodes = where, 0
        self.flat: set[int] = set()  # mappings into which << has been merged

    def build(self, node: yaml.Node) -> Any:
        self.nodes += 1
        if self.nodes > MOST_NODES:
            raise BoveError(f"{self.where}: more than {MOST_NODES} values with its aliases; write fewer")
        if node.tag.removeprefix(_TAG) not in ("str", "null", "seq", "map"):
            raise self._fault(node, f"the tag {node.tag!r}; leave it out")
        if isinstance(node, yaml.SequenceNode):
            return [self.build(child) for child in node.value]
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node)
        if found := _BREAKS.search(node.value):
            raise self._fault(node, f"{found[0]!r} in {node.value[:40]!r}; write one line of plain text")
        if node.tag == f"{_TAG}null":
            return None
        return node.value if node.style else Plain(node.value)

    def _mapping(self, node: yaml.MappingNode) -> dict[str, Any]:
        lines: dict[str, int] = {}
        for key, _ in node.value if id(node) not in self.flat else ():
            if not isinstance(key, yaml.ScalarNode):
                raise self._fault(key, "a key that is not text; write a name")
            if key.value in lines:
                said = f"key {key.value!r} is repeated in its section, first in line {lines[key.value]}"
                raise self._fault(key, f"{said}; keep one")
            lines[key.value] = key.start_mark.line + 1
        self.flat.add(id(node))
        _Loader("").flatten_mapping(node)
        return {str(self.build(key) or key.value): self.build(child) for key, child in node.value}

    def _fault(self, node: yaml.Node, said: str) -> BoveError:
        return BoveError(f"{self.where}, line {node.start_mark.line + 1}: {said}")


def parse(text: str, where: str) -> Any:
    """The value of a YAML text, its unquoted text as `Plain`; None for an empty one.

    Args:
        text: one YAML document.
        where: what the text is, for messages.

    Raises:
        BoveError: not YAML, a key that is repeated or is not text, a tag, a value with a line break, or a
            text that is nested without end.
    """
    try:
        node = yaml.compose(text, Loader=_Loader)
        return None if node is None else _Builder(where).build(node)
    except yaml.YAMLError as e:
        mark = getattr(e, "problem_mark", None) or getattr(e, "context_mark", None)
        place = f", line {mark.line + 1}" if mark else ""
        said = " ".join((getattr(e, "problem", None) or str(e)).split())
        if said.startswith("found character '\\t'"):
            said = "a tab before its text; indent with spaces"
        raise BoveError(f"{where}{place}: not valid YAML ({said})") from e
    except RecursionError as e:
        raise BoveError(f"{where}: nested too deeply, or a part that holds itself; write it plainly") from e


@cache
def load_schema() -> dict:
    """The schema of the configuration, its settings filled in."""
    return _with_settings(yaml.safe_load(SCHEMA.read_text(encoding="utf-8")))


def _with_settings(tree: dict) -> dict:
    """A schema whose properties that are named as classes of settings are replaced by the classes' fields."""
    found: dict = {}
    for key, child in tree.items():
        if key in BLOCKS:
            found |= {name: json_schema(one) for name, one in own_fields(BLOCKS[key]).items()}
        else:
            found[key] = _with_settings(child) if isinstance(child, dict) else child
    return found


def load(files: Iterable[Path], assignments: Iterable[str] = ()) -> dict:
    """Read and merge YAML files, then `key=value` assignments of top-level keys; later ones win.

    Raises:
        BoveError: a missing or malformed file, a repeated key, an assignment without `=`.
    """
    merged: dict[str, Any] = {}
    for path in files:
        found = parse(read_text(path), str(path))
        if not isinstance(found, dict | None):
            raise BoveError(f"{path}: holds {found!r:.80}; write keys and values")
        merged = merge(merged, found or {})
    for assignment in assignments:
        key, separator, text = assignment.partition("=")
        if not separator:
            raise BoveError(f"configuration: {assignment!r} is not an assignment; write key=value")
        merged = merge(merged, {key: parse(text, f"--config {key}")})
    return merged


def merge(old: Any, new: Any) -> Any:
    """The old value with the new one's entries put in, section by section."""
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        return new
    return {**old, **{key: merge(old.get(key), value) for key, value in new.items()}}


def resolve(raw: Mapping[str, Any], partial: bool = False) -> dict:
    """The whole configuration in the schema's order: values coerced, checked, defaults filled in.

    Free names come in alphabetical order, so the order of keys in a file makes no difference.

    Args:
        partial: whether it holds only changes to a configuration, so that nothing in it is missing.

    Raises:
        BoveError: the first thing wrong, with its key, its value and what is allowed.
    """
    from jsonschema import Draft202012Validator

    config = fill(raw, load_schema(), "")
    errors = Draft202012Validator(load_schema()).iter_errors(config)
    for error in sorted(errors, key=lambda error: [str(part) for part in error.path]):
        if not (partial and error.validator in ("required", "minProperties")):
            changes = error.validator == "required" and not error.path
            hint = ", or name a whole configuration before it, such as config/open.yaml" if changes else ""
            raise BoveError(f"configuration: {_explain(error)}{hint}")
    weight = config.get("scoring", {}).get("weight")
    if isinstance(weight, str):  # one of them is a list too
        config["scoring"]["weight"] = [weight]
    if not partial:
        _cross_check(config)
    return config


def described(given: Mapping[str, Any], name: str) -> dict:
    """A data set that is not in a configuration: its block with defaults, and its name under `name`.

    Raises:
        BoveError: the first thing wrong, as of `resolve`.
    """
    from jsonschema import Draft202012Validator

    schema = load_schema()["properties"]["datasets"]["additionalProperties"]
    filled = fill(given, schema, name)
    for error in Draft202012Validator(schema).iter_errors(filled):
        raise BoveError(f"data set {name}: {_explain(error)}")
    return {"name": name, **filled}


def defaults() -> dict:
    """The default of every key that has one; entries with free names, such as data sets, have none."""
    return fill({}, load_schema(), "")


def store(config: dict, path: Path) -> None:
    """Write a resolved configuration as YAML, unless the file has it already."""
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=110)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        with atomic_write(path) as stream:
            stream.write(text)


def summary(config: dict) -> str:
    """A resolved configuration in one line."""
    model, inference = config["model"], config["inference"]
    weights = ", ".join(f"{key} {model[key]:g}" for key in ("alpha", "lambda_P", "lambda_R", "lambda_E"))
    select = config["select"]
    tried = dict.fromkeys([*select.get("grid", ()), *(key for p in select.get("points", ()) for key in p)])
    named = {"select": tried, "compare": config["compare"], "ablations": config["ablations"]}
    named["seeds"] = map(str, sorted({config["seed"], *config["seeds"]})) if config["seeds"] else ()
    named |= {"baselines": config["baselines"], "encoders": config["encoders"], "bags": config["bags"]}
    others = "".join(f"; {kind}: {', '.join(names)}" for kind, names in named.items() if names)
    return (
        f"Run {config['run']}: rank {model['rank']}, {model['trainer']}, {weights}; inference "
        f"{inference['solver']}, up to {inference['iterations']} iterations; data sets "
        f"{', '.join(config['datasets'])}; seed {config['seed']}{others}."
    )


def fill(value: Any, schema: dict, where: str) -> Any:
    """Coerce a value as its schema says and fill in what is left out.

    Raises:
        BoveError: an unknown key, or a number that is not finite.
    """
    kinds = _kinds(schema)
    if isinstance(value, Mapping) and not kinds:
        return {str(key): fill(child, {}, f"{where}.{key}") for key, child in value.items()}
    if isinstance(value, list | tuple) and kinds in ([], ["array"]):
        return [fill(item, schema.get("items", {}), f"{where}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, Mapping | None) and kinds == ["object"]:
        return _fill_object(value or {}, schema, where)
    for kind in kinds:
        value = _coerce(value, kind)
    if isinstance(value, Plain):
        value = str(value) if kinds else _guess(value)
    if isinstance(value, float) and finite(value) is None:
        raise BoveError(f"configuration: {where}: {value} is not a finite number")
    return value


def _fill_object(value: Mapping, schema: dict, where: str) -> dict:
    named, free = schema.get("properties", {}), schema.get("additionalProperties")
    defaults, filled = _conditional_defaults(value, schema), {}
    for key, child in named.items():
        path, child = f"{where}.{key}" if where else key, {**child, **defaults.get(key, {})}
        if value.get(key) is not None or (key in value and "null" in _kinds(child)):
            filled[key] = fill(value[key], child, path)
        elif "default" in child:
            filled[key] = fill(child["default"], child, path)
        elif child.get("type") == "object" and "minProperties" not in child:
            filled[key] = fill({}, child, path)
    for key in sorted(map(str, value.keys() - named.keys()), key=lambda name: (name.casefold(), name)):
        path = f"{where}.{key}" if where else key
        if free is False:
            raise BoveError(f"configuration: {path}: unknown key; {_choices(key, named)}")
        if value[key] is not None:
            filled[key] = fill(value[key], free, path)
    return filled


def _conditional_defaults(value: Mapping, schema: dict) -> dict[str, dict]:
    """What the schema's `if` and `then` say about keys, where another key has a given value."""
    found: dict[str, dict] = {}
    for rule in schema.get("allOf", ()):
        if all(value.get(key) == test["const"] for key, test in rule["if"]["properties"].items()):
            found |= rule["then"]["properties"]
    return found


def _kinds(schema: dict) -> list[str]:
    if "anyOf" in schema:
        return [kind for option in schema["anyOf"] for kind in _kinds(option)]
    kind = schema.get("type", [])
    return [kind] if isinstance(kind, str) else kind


def _coerce(value: Any, kind: str) -> Any:
    """A value as its kind, or as it is where it cannot be one."""
    if kind == "boolean" and isinstance(value, str):
        return _BOOLEANS.get(value.lower(), value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return value
    if kind == "string":
        return str(value)
    if kind in ("number", "integer") and (number := finite(value)) is not None:
        whole = kind == "integer" and number.is_integer()
        return int(value if isinstance(value, int) else number) if whole else number
    return value


def _guess(text: Plain) -> Any:
    """The number or truth value that would be written so; else the text."""
    for kind in ("integer", "number", "boolean"):
        value = _coerce(text, kind)
        if value is not text and str(value).lower() == text.lower():
            return value
    return str(text)


def _choices(word: str, known: Iterable[str]) -> str:
    return f"{similar(word, known)}allowed: {', '.join(known)}"


def _explain(error) -> str:
    """One line for a jsonschema error: the key, its value, what is allowed."""
    where = ".".join(map(str, error.absolute_path)) or "top level"
    value, rule = error.instance, error.validator_value
    shown = repr(value) if len(repr(value)) <= 80 else f"{value!r:.79}…"
    if error.validator == "required":
        return f"{where}: {', '.join(key for key in rule if key not in value)} is missing; add it"
    if error.validator == "type":
        kinds = " or ".join([rule] if isinstance(rule, str) else rule)
        return f"{where}: {shown} has the wrong type; allowed: {kinds}"
    if error.validator == "enum":
        return f"{where}: {shown} is not allowed; {_choices(str(value), list(map(str, rule)))}"
    if error.validator in _RULES:
        return f"{where}: {shown} is not allowed; allowed: {_RULES[error.validator]} {rule}"
    if error.validator == "anyOf":
        return f"{where}: {shown} is not allowed; allowed: {' or '.join(map(_allowed, rule))}"
    return f"{where}: {error.message[:200]}"


def _allowed(option: Mapping) -> str:
    """What one option of several in the schema allows: its values, or its type and limits."""
    limits = [f"{text} {option[rule]}" for rule, text in _RULES.items() if rule in option]
    if "items" in option:
        return "a list of them"
    return ", ".join(map(str, option["enum"])) if "enum" in option else " ".join([option["type"], *limits])


def _cross_check(config: dict) -> None:
    """What one key asks of another."""
    for section, choice, needed in (
        ("vectors", "load", ("file",)),
        ("vectors", "train", ("text",)),
        ("vectors", "encoder", ("encoder",)),
        ("parser", "load", ("tagger", "parser")),
    ):
        for key in needed:
            if config[section]["source"] == choice and key not in config[section]:
                raise BoveError(
                    f"configuration: {section}.{key} is missing; {section}.source: {choice} needs it"
                )
    if config["vectors"]["source"] == "encoder":
        _check_over_encoder(config)
    check_encoding(config["treebank"]["encoding"], "configuration: treebank.encoding:")
    for name, dataset in config["datasets"].items():
        _check_keys(f"configuration: datasets.{name}", dataset, config["datasets"])
        if dataset["task"] != ROLES:
            check_dataset(f"configuration: datasets.{name}", dataset)
    named = {f"bags.{system}": files for system, files in config["bags"].items()}
    for where, names in {**named, "figures.pairs": config["figures"]["pairs"]}.items():
        for name in names:
            if name not in config["datasets"]:
                choices = _choices(name, config["datasets"])
                raise BoveError(f"configuration: {where}.{name}: no such data set; {choices}")


def _check_over_encoder(config: dict) -> None:
    """See that there is the encoder, and that words are its vectors."""
    name = config["vectors"]["encoder"]
    if name not in config["encoders"]:
        known = config["encoders"]
        hint = f"{similar(name, known)}encoders has: {', '.join(known) or 'none'}"
        raise BoveError(f"configuration: vectors.encoder: {name!r}: no such encoder; {hint}")
    if not config["model"]["pretrained"]:
        raise BoveError(
            "configuration: model.pretrained: with vectors.source: encoder no word is learnt; leave it out"
        )


def _check_keys(where: str, dataset: dict, known: dict) -> None:
    """See that a data set has the keys of its task alone, and that probes are made of pairs from files."""
    for key in _OF_FILES if dataset["task"] == ROLES else _OF_ROLES:
        if key in dataset:
            raise BoveError(f"{where}.{key}: not a key of task {dataset['task']}; leave it out")
    read = [name for name, other in known.items() if other["task"] != ROLES]
    for name in dataset.get("from", ()):
        if name not in read:
            found = "is of task roles itself" if name in known else "no such data set"
            advice = f"{_choices(name, read)}; correct it, or remove this set with null"
            raise BoveError(f"{where}.from: {name!r}: {found}; {advice}")
