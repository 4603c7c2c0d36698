"""YAML texts to values, guided by the schema.

Where the schema asks for text, YAML's own types are not applied: `run: 010` and `run: no` stay as written. A
scalar that YAML takes for a number or a date but that is none (2024-13-45) stays text too, and so does what
only YAML 1.1 takes for another number than is written: 0300 is not 192 here, but 300, and 1:30 no number.
"""

import re
from typing import Any

import yaml

from bove.errors import BoveError

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
