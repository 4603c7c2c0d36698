"""Reference pages, made while the site is built: every key, every public name and the parser of `bove`."""

import argparse
import dataclasses
from importlib import import_module

import keys
from sphinx.application import Sphinx

import bove
from bove.cli import stages as entry

# public name → what stands first on the page; the others follow in the order of bove/__init__.py
_FIRST = ("Graph", "BoVE")
# what scikit-learn adds to an estimator
_FOREIGN = "set_fit_request, set_transform_request, set_score_request"


def parser() -> argparse.ArgumentParser:
    """The parser of `bove` with the arguments of every stage, for the directive `argparse`."""
    whole = argparse.ArgumentParser(prog="bove", add_help=False)
    stages = whole.add_subparsers()
    for name, (_, line) in entry.STAGES.items():
        register, _ = entry.functions(name)
        register(stages.add_parser(name, add_help=False, description=f"{line[0].upper()}{line[1:]}."))
    return whole


def names() -> str:
    """Every public name, as directives of autodoc."""
    order = [*_FIRST, *(name for name in bove._PUBLIC if name not in _FIRST)]
    parts = []
    for name in order:
        thing = getattr(import_module(bove._PUBLIC[name]), name)
        kind = "function" if not isinstance(thing, type) else "class"
        if isinstance(thing, type) and issubclass(thing, BaseException):
            kind = "exception"
        shown = kind == "class" and not issubclass(thing, tuple)
        members = f"   :members:\n   :exclude-members: {_FOREIGN}\n" if shown else ""
        parts.append(f"\n## {name}\n\n```{{eval-rst}}\n.. auto{kind}:: bove.{name}\n{members}```\n")
    return "".join(parts)


MADE = {"<!-- every key -->": keys.table, "<!-- every name -->": names}


def read(app: Sphinx, name: str, source: list[str]) -> None:
    """Put what is made in the place of its mark."""
    for mark, make in MADE.items():
        if mark in source[0]:
            app.env.note_reread()  # it depends on the whole package
            source[0] = source[0].replace(mark, make())


def sign(app: Sphinx, what: str, name: str, thing: object, *more: object) -> tuple[str, None] | None:
    """Of what nobody makes by hand, the attributes are enough: no signature."""
    return ("", None) if what == "class" and dataclasses.is_dataclass(thing) else None


def setup(app: Sphinx) -> dict:
    """Complete pages as they are read, and the signatures on them."""
    app.connect("source-read", read)
    app.connect("autodoc-process-signature", sign)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
