"""The table of all configuration keys, made from the schema.

The site has it as a page. config/README.md has it as its last part, which `python docs/_ext/keys.py`
writes anew and a test holds against the schema.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

from bove.config.load import load_schema

ROOT = Path(__file__).resolve().parent.parent.parent
MANUAL = ROOT / "config" / "README.md"
START = "\n# Every key\n\n"


def sections(schema: dict, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict]]:
    """(path, schema) of every section, the whole first; keys of free names are `*`."""
    yield path, schema
    for name, child in schema["properties"].items():
        inner = _free(child)
        if "properties" in child:
            yield from sections(child, (*path, name))
        elif "properties" in inner:
            said = inner["description"] if path else f"{child['description']} {inner['description']}"
            yield from sections(inner | {"description": said}, (*path, name, "*"))


def _free(schema: dict) -> dict:
    """What stands behind keys of any name."""
    found = schema.get("additionalProperties")
    return found if isinstance(found, dict) else {}


def rows(schema: dict, section: bool) -> Iterator[str]:
    """A row for each key of a section that is no section itself."""
    for name, child in schema["properties"].items():
        if "properties" in child or (not section and "properties" in _free(child)):
            continue
        default = f"`{_written(child['default'])}` " if "default" in child else ""
        allowed = child.get("enum") or child.get("items", {}).get("enum")
        shown = f" Allowed: {', '.join(f'`{value}`' for value in allowed)}." if allowed else ""
        yield f"| `{name}` | {default}| {_text(child)}{shown} |"


def table() -> str:
    """All sections in Markdown, a heading and a table each; that of the whole has no heading."""
    parts = []
    for path, schema in sections(load_schema()):
        if path:
            name = path[0] if path[1:] == ("*",) else ".".join(path)
            parts.append(f"## {name}\n\n{_text(schema)}\n")
        lines = ("| key | default | what it is |", "|---|---|---|", *rows(schema, bool(path)), "")
        parts.append("\n".join(lines))
    return "\n".join(parts)


def _text(schema: dict) -> str:
    return " ".join(schema["description"].split())


def _written(value: object) -> str:
    return yaml.safe_dump(value, default_flow_style=True).removesuffix("\n").removesuffix("\n...")


def manual(text: str) -> str:
    """config/README.md with the table as it should be."""
    return text.partition(START)[0] + START + table()


if __name__ == "__main__":
    before = MANUAL.read_text(encoding="utf-8")
    MANUAL.write_text(manual(before), encoding="utf-8")
    sys.stdout.write("config/README.md: " + ("as it was\n" if manual(before) == before else "written anew\n"))
