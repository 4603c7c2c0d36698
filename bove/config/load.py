"""The configuration of a run: files are read and merged, checked against the schema, defaults filled in.

Files merge from left to right, section by section. `null` removes an entry of a map with free names (a
source, a data set, a subset) and puts any other key back to its default. Numbers may have any form, `1e-3`
too. How YAML becomes values is in `bove.config_text`.
"""

import math
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from bove.errors import BoveError, similar
from bove.files import atomic_write, check_encoding
from bove.text.pairs import check_dataset

# YAML texts to values, guided by the schema.
#
# Where the schema asks for text, YAML's own types are not applied: `run: 010` and `run: no` stay as
# written. A
# scalar that YAML takes for a number or a date but that is none (2024-13-45) stays text too, and so does
# what
# only YAML 1.1 takes for another number than is written: 0300 is not 192 here, but 300, and 1:30 no number.

# Aliases of aliases can stand for more than any machine holds.
MOST_NODES = 100_000
# Of base 8 and of base 60.
_OTHER_NUMBER = re.compile(r"[-+]?0[0-9_]+|[-+]?[0-9_]+:[0-9_:.]+")
# What ends a line for somebody, and what neither a path nor a file of text can hold.
_BREAKS = re.compile("[\0\n\r\x85\u2028\u2029\ud800-\udfff]")
_EQUALS = "tag:yaml.org,2002:value"  # YAML 1.1 has a type of its own for a plain =


def parse(text: str, schema: dict, where: str) -> Any:
    """The value that a YAML text stands for; None for an empty one.

    Args:
        text: one YAML document.
        schema: what is due there.
        where: what the text is, for messages.

    Raises:
        BoveError: not YAML, a key that stands twice or is no text, a tag of no plain value, a value with a
            line break, or a text that is nested without end.
    """
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        value = None if node is None else _Builder(where).build(node, schema)
    except yaml.YAMLError as e:
        raise BoveError(f"{where}{_place(e)}: not valid YAML ({_said(e)})") from e
    except RecursionError as e:
        raise BoveError(f"{where}: nested too deeply, or a part that holds itself; write it plainly") from e
    if schema.get("type") == "object" and value is not None and not isinstance(value, dict):
        raise BoveError(f"{where}: holds {value!r:.80}; write keys and values")
    return value


class _Builder(yaml.SafeLoader):
    """Turns YAML nodes into Python values; a scalar stays text where the schema asks for text."""

    def __init__(self, where: str) -> None:
        super().__init__("")
        self.where = where
        self.nodes = 0

    def build(self, node: yaml.Node, schema: dict) -> Any:
        self.nodes += 1
        if self.nodes > MOST_NODES:
            raise BoveError(f"{self.where}: more than {MOST_NODES} values with its aliases; write fewer")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, schema)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(child, schema.get("items", {})) for child in node.value]
        self._check(node)
        if node.tag == _EQUALS or (schema.get("type") == "string" and node.tag != "tag:yaml.org,2002:null"):
            return node.value
        if _OTHER_NUMBER.fullmatch(node.value):
            return node.value
        try:
            return self.construct_object(node, deep=True)
        except ValueError:  # looks like a number or a date
            return node.value

    def _mapping(self, node: yaml.MappingNode, schema: dict) -> dict:
        lines: dict[str, int] = {}
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value != "<<":
                line = key.start_mark.line + 1
                if key.value in lines:
                    raise BoveError(
                        f"{self.where}, line {line}: key {key.value!r} stands twice in its section, first in "
                        f"line {lines[key.value]}; keep one"
                    )
                lines[key.value] = line
        self.flatten_mapping(node)
        values: dict[str, Any] = {}
        for key, child in node.value:
            if not isinstance(key, yaml.ScalarNode):
                line = key.start_mark.line + 1
                raise BoveError(f"{self.where}, line {line}: a key that is no text; write a name")
            self._check(key)
            values[key.value] = self.build(child, _child(schema, key.value))
        return values

    def _check(self, node: yaml.ScalarNode) -> None:
        """BoveError for a line break or something else in a value that no value needs."""
        if found := _BREAKS.search(node.value):
            line, shown = node.start_mark.line + 1, node.value[:40]
            raise BoveError(
                f"{self.where}, line {line}: {found[0]!r} in {shown!r}; write one line of plain text"
            )


def _place(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    return f", line {mark.line + 1}" if mark else ""


def _said(error: yaml.YAMLError) -> str:
    text = getattr(error, "problem", None) or str(error)
    if text.startswith("found character '\\t'"):
        return "a tab before its text; indent with spaces"
    return " ".join(text.split())


def _child(schema: dict, key: str) -> dict:
    """Schema of a key: a named property's, or that of all free names."""
    free = schema.get("additionalProperties")
    return schema.get("properties", {}).get(key, free if isinstance(free, dict) else {})


# The configuration of a run: files are read and merged, checked against the schema, defaults filled in.
#
# Files merge from left to right, section by section. `null` removes an entry of a map with free names (a
# source, a data set, a subset) and puts any other key back to its default. Numbers may have any form,
# `1e-3`
# too. How YAML becomes values is in `bove.config_text`.

_RULES = {
    "minimum": "at least",
    "exclusiveMinimum": "above",
    "maximum": "at most",
    "exclusiveMaximum": "below",
    "pattern": "text that matches",
}
_BOOLEANS = {"true": True, "false": False}


@cache
def load_schema(path: Path) -> dict:
    """The schema as a dict."""
    with open(path, encoding="utf-8") as stream:
        return yaml.safe_load(stream)


def load(files: Iterable[Path], schema: Path, assignments: Iterable[str] = ()) -> dict:
    """Read and merge YAML files, then `key=value` assignments of top-level keys; later ones win.

    Raises:
        BoveError: a missing or malformed file, a key that stands twice, an assignment without `=`.
    """
    tree, merged = load_schema(schema), {}
    for path in files:
        try:
            with open(path, encoding="utf-8") as stream:
                text = stream.read()
        except (OSError, UnicodeDecodeError) as e:
            raise BoveError(f"{path}: configuration can not be read ({e}); check the path") from e
        merged = merge(merged, parse(text, tree, str(path)) or {})
    for assignment in assignments:
        key, separator, text = assignment.partition("=")
        if not separator:
            raise BoveError(f"configuration: {assignment!r} is no assignment; write key=value")
        child = tree["properties"].get(key, {})
        merged = merge(merged, {key: parse(text, child, f"--config {key}")})
    return merged


def resolve(raw: Mapping[str, Any], schema: Path) -> dict:
    """The whole configuration in the schema's order: values coerced, checked, defaults filled in.

    Free names come in alphabetical order, so the order of keys in a file makes no difference.

    Raises:
        BoveError: the first thing wrong, with its key, its value and what is allowed.
    """
    from jsonschema import Draft202012Validator

    tree = load_schema(schema)
    config = fill(raw, tree, "")
    errors = sorted(Draft202012Validator(tree).iter_errors(config), key=lambda e: [str(p) for p in e.path])
    if errors:
        raise BoveError(_explain(errors[0]))
    _cross_check(config)
    return config


def check_part(raw: Mapping[str, Any], schema: Path) -> None:
    """See that what a file of changes holds is allowed; what it leaves out is not missed.

    Raises:
        BoveError: as `resolve`.
    """
    from jsonschema import Draft202012Validator

    tree = load_schema(schema)
    for error in Draft202012Validator(tree).iter_errors(fill(raw, tree, "")):
        if error.validator != "required":
            raise BoveError(_explain(error))


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
    named["bags"] = config["bags"]
    others = "".join(f"; {kind}: {', '.join(names)}" for kind, names in named.items() if names)
    return (
        f"Run {config['run']}: rank {model['rank']}, {model['trainer']}, {weights}; inference "
        f"{inference['solver']}, up to {inference['iterations']} iterations; data sets "
        f"{', '.join(config['datasets'])}; seed {config['seed']}{others}."
    )


def merge(old: Any, new: Any) -> Any:
    """The old value with the new one's entries put in, section by section."""
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        return new
    return {**old, **{key: merge(old.get(key), value) for key, value in new.items()}}


def fill(value: Any, schema: dict, where: str) -> Any:
    """Coerce a value as its schema says and fill in what is left out.

    Raises:
        BoveError: an unknown key, or a number that is not finite.
    """
    if schema.get("type") == "object":
        value = {} if value is None else value
        return _fill_object(value, schema, where) if isinstance(value, Mapping) else value
    if schema.get("type") == "array" and isinstance(value, list | tuple):
        return [fill(item, schema.get("items", {}), f"{where}[{i}]") for i, item in enumerate(value)]
    for kind in _kinds(schema):
        value = _coerce(value, kind)
    if isinstance(value, float) and not math.isfinite(value):
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
            raise BoveError(f"configuration: {path}: {_unknown(key, named)}")
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
    if kind in ("number", "integer") and isinstance(value, str | int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except ValueError:
            return value
        except OverflowError:
            return math.inf
        if kind == "number":
            return number
        return int(value) if isinstance(value, int) else int(number) if number.is_integer() else number
    if kind == "boolean" and isinstance(value, str):
        return _BOOLEANS.get(value.lower(), value)
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value


def _unknown(key: str, known: Iterable[str], what: str = "unknown key") -> str:
    return f"{what}; {similar(key, known)}allowed: {', '.join(known)}"


def _explain(error) -> str:
    """One line for a jsonschema error: the key, its value, what is allowed."""
    where = ".".join(map(str, error.absolute_path)) or "top level"
    value, rule, shown = error.instance, error.validator_value, _shown(error.instance)
    if error.validator == "required":
        missing = ", ".join(key for key in rule if key not in value)
        return f"configuration: {where}: {missing} is missing; add it"
    if error.validator == "enum":
        options = list(map(str, rule))
        hint = similar(str(value), options)
        return f"configuration: {where}: {shown} is not allowed; {hint}allowed: {', '.join(options)}"
    if error.validator in _RULES:
        return f"configuration: {where}: {shown} is not allowed; allowed: {_RULES[error.validator]} {rule}"
    if error.validator == "anyOf":
        allowed = " or ".join(map(_allowed, rule))
        return f"configuration: {where}: {shown} is not allowed; allowed: {allowed}"
    if error.validator == "type":
        kinds = " or ".join([rule] if isinstance(rule, str) else rule)
        return f"configuration: {where}: {shown} has the wrong type; allowed: {kinds}"
    return f"configuration: {where}: {error.message[:200]}"


def _allowed(option: Mapping) -> str:
    """What one option of several in the schema allows: its values, or its type and limits."""
    limits = [f"{text} {option[rule]}" for rule, text in _RULES.items() if rule in option]
    return ", ".join(map(str, option["enum"])) if "enum" in option else " ".join([option["type"], *limits])


def _shown(value: Any) -> str:
    """A value as Python writes it, the start of it where that is long."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def _cross_check(config: dict) -> None:
    """What one key asks of another."""
    for section, choice, needed in (
        ("vectors", "load", ("file",)),
        ("vectors", "train", ("text",)),
        ("parser", "load", ("tagger", "parser")),
    ):
        for key in needed:
            if config[section]["source"] == choice and key not in config[section]:
                raise BoveError(
                    f"configuration: {section}.{key} is missing; {section}.source: {choice} needs it"
                )
    check_encoding(config["treebank"]["encoding"], "configuration: treebank.encoding:")
    for name, dataset in config["datasets"].items():
        check_dataset(f"configuration: datasets.{name}", dataset)
    for system, files in config["bags"].items():
        for name in files:
            if name not in config["datasets"]:
                said = _unknown(name, config["datasets"], "no such data set")
                raise BoveError(f"configuration: bags.{system}.{name}: {said}")
    for name in config["figures"]["pairs"]:
        if name not in config["datasets"]:
            said = _unknown(name, config["datasets"], "no such data set")
            raise BoveError(f"configuration: figures.pairs.{name}: {said}")
