"""Reference pages, made while the site is built: every key, every command, every public name."""

import argparse
import dataclasses
from collections.abc import Iterator
from importlib import import_module

import keys
from sphinx.application import Sphinx

import bove
from bove.cli import main as entry

# public name → what stands first on the page; the others follow in the order of bove/__init__.py
_FIRST = ("Graph", "BoVE")
# what scikit-learn adds to an estimator
_EVERYWHERE = ("help", "threads", "log", "action", "kind")
_FOREIGN = "set_fit_request, set_transform_request, set_score_request"


def stages() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every stage of the command with the parser of its arguments, in the order of a run, and its kinds."""
    for stage in entry.STAGES:
        parser, _ = entry._parser(stage)
        (commands,) = parser._subparsers._group_actions
        yield stage, commands.choices[stage]
        for kind, own in _kinds(commands.choices[stage]).items():
            yield f"{stage} {kind}", own


def _kinds(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """What stands for itself below a stage, such as `vectors load`."""
    return parser._subparsers._group_actions[0].choices if parser._subparsers else {}


def commands() -> str:
    """Every stage in Markdown: what it does, how it is called, and its options."""
    return "\n".join(part for stage, parser in stages() for part in _command(stage, parser))


def _command(stage: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    yield f"{'###' if ' ' in stage else '##'} {stage}\n\n{parser.description}\n"
    formatter = argparse.HelpFormatter(parser.prog, width=88)
    formatter.add_usage(parser.usage, parser._actions, parser._mutually_exclusive_groups, prefix="")
    yield f"```text\n{formatter.format_help().strip()}\n```\n"
    for group in parser._action_groups:
        actions = [action for action in group._group_actions if action.dest not in _EVERYWHERE]
        if actions:
            if group.title not in ("positional arguments", "options"):
                yield f"\n{group.title[0].upper()}{group.title[1:]}:\n"
            yield from (f"* {_shown(parser, action)}: {_help(action)}" for action in actions)
    yield ""


def _shown(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    """How an argument is written: `--option VALUE`."""
    formatter = parser._get_formatter()
    name = action.option_strings[0] if action.option_strings else ""
    if isinstance(action, argparse.BooleanOptionalAction):
        name = ", ".join(action.option_strings)
    value = "" if action.nargs == 0 else formatter._format_args(action, action.dest.upper())
    if action.choices is not None and action.option_strings:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    required = " (required)" if action.required and action.option_strings else ""
    return f"`{' '.join(filter(None, (name, value)))}`{required}"


def _help(action: argparse.Action) -> str:
    text = (action.help or "") % {"default": action.default, "prog": "bove"}
    return text.replace("<", "&lt;").replace("*", "\\*")


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


MADE = {"<!-- every key -->": keys.table, "<!-- every command -->": commands, "<!-- every name -->": names}


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
