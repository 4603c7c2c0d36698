"""A hash of what a stage's code does, for the workflow to see that a stage has changed.

It covers a function and every definition of the package that it uses, at any depth: functions, classes and
constants, whole. So an edit to one stage leaves the others of its file alone. What a reader sees but Python
does not run (comments, docstrings, texts given as `help`, layout, order of definitions) is left out, and so
are places and times of files. A module that is used in a way that cannot be followed counts as a whole, and
a file of the package counts where its name is a text of the code. A name that the code puts together while
it runs, as globals()["run_" + kind] does, cannot be followed: list what it may be in a table instead.
"""

import ast
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parent
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_UNSEEN = {"kind", "type_comment"}
# names under which a module's statements that define nothing are kept, and that ask for all of a module
_LOOSE, _WHOLE = "", "*"
_FILE_NAME = re.compile(r"[\w-]+(\.[\w-]+)+")


class Part(NamedTuple):
    """A definition: the hash of its code, and what it uses, as (module, name); see `_uses`."""

    code: str
    uses: frozenset[tuple[str, str]]


def fingerprint(*names: str, package: Path = PACKAGE) -> str:
    """16 hex digits over the named definitions, such as "bove.cli.train:run_train_als", and what they use.

    A module's name alone stands for all of its definitions.

    Raises:
        ModuleNotFoundError: a named module does not exist.
        AttributeError: a module does not define the name.
    """
    found = reached(*names, package=package)
    whole = "".join(f"{module} {name} {code}\n" for (module, name), code in sorted(found.items()))
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


def reached(*names: str, package: Path = PACKAGE) -> dict[tuple[str, str], str]:
    """(module, name) of every definition that a fingerprint covers, with the hash of its code.

    The name "" is for the statements of a module that define nothing. For errors see `fingerprint`.
    """
    found: dict[tuple[str, str], str] = {}
    waiting = []
    for name in names:
        module, _, wanted = name.partition(":")
        if (path := _file(module, package)) is None:
            raise ModuleNotFoundError(f"no module {module} in {package}")
        if wanted and wanted not in _parts(path, module, package)[0]:
            raise AttributeError(f"module {module} defines no {wanted}")
        waiting.append((module, wanted or _WHOLE))
    while waiting:
        module, name = waiting.pop()
        if (path := _file(module, package)) is None:
            continue
        parts, imported = _parts(path, module, package)
        if name in imported and name not in parts:  # passed on from another module
            waiting += imported[name]
            keys = [_LOOSE]
        else:
            keys = [_LOOSE, *([name] if name in parts else parts)]
        for key in keys:
            if (module, key) not in found:
                found[module, key] = parts[key].code
                waiting += parts[key].uses
    return found


@cache
def _file(name: str, package: Path) -> Path | None:
    top, *rest = name.split(".")
    if top != package.name:
        return None
    base = package.joinpath(*rest)
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


@cache
def _parts(path: Path, name: str, package: Path) -> tuple[dict[str, Part], dict[str, set[tuple[str, str]]]]:
    """The definitions of a module by name, what defines nothing as one part; and what its imports may be."""
    tree = ast.parse(path.read_bytes(), str(path))
    parent = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    imported = _imports(tree, parent, package)
    statements: dict[str, list[ast.stmt]] = {_LOOSE: []}
    for statement in tree.body:
        if not isinstance(statement, ast.Import | ast.ImportFrom):
            for defined in _defined(statement):
                statements.setdefault(defined, []).append(statement)
    if ast.get_docstring(tree) is not None:
        del statements[_LOOSE][0]
    parts = {}
    for defined, found in statements.items():
        digest = hashlib.sha256()
        _feed(digest, found)
        for data in _data(found, path.parent):
            digest.update(data.read_bytes())
        uses = {use for statement in found for use in _uses(statement, name, statements, imported)}
        parts[defined] = Part(digest.hexdigest(), frozenset(uses))
    return parts, imported


def _data(statements: list[ast.stmt], folder: Path) -> list[Path]:
    """The files beside a module that its texts name."""
    constants = (node for root in statements for node in ast.walk(root) if isinstance(node, ast.Constant))
    texts = {node.value for node in constants if isinstance(node.value, str)}
    return sorted(folder / text for text in texts if _FILE_NAME.fullmatch(text) and (folder / text).is_file())


def _defined(statement: ast.stmt) -> list[str]:
    """The names that a statement of a module defines and does nothing else."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    if isinstance(statement, ast.Assign | ast.AnnAssign) and all(
        isinstance(target, ast.Name | ast.Tuple) for target in targets
    ):
        return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
    return [_LOOSE]


def _imports(tree: ast.Module, parent: list[str], package: Path) -> dict[str, set[tuple[str, str]]]:
    """What each name of a module may be that is imported anywhere in it: (module, name), or (module, *)."""
    found: dict[str, set[tuple[str, str]]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found.setdefault(alias.asname or alias.name.split(".")[0], set()).add((alias.name, _WHOLE))
        elif isinstance(node, ast.ImportFrom):
            above = parent[: len(parent) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                what = (base, alias.name) if _file(inner, package) is None else (inner, _WHOLE)
                found.setdefault(alias.asname or alias.name, set()).add(what)
    return found


def _uses(statement: ast.stmt, module: str, own, imported):
    """What a statement uses: every name in it, whatever its scope, that the module defines or imports."""
    attributes = {
        id(node.value): node.attr
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            if node.id in own:
                yield module, node.id
            for base, name in imported.get(node.id, ()):
                yield base, (attributes.get(id(node), _WHOLE) if name == _WHOLE else name)


def _feed(digest, value) -> None:
    """Hash a syntax tree. Empty fields are skipped, so that Python versions which add fields agree."""
    if isinstance(value, list):
        for item in value:
            _feed(digest, item)
    elif isinstance(value, ast.keyword) and value.arg == "help":
        return
    elif isinstance(value, ast.AST):
        digest.update(f"({type(value).__name__}".encode())
        for field in value._fields:
            child = getattr(value, field, None)
            if field == "body" and isinstance(value, _DOCUMENTED) and ast.get_docstring(value) is not None:
                child = child[1:]
            constant = isinstance(value, ast.Constant) and field == "value"
            if constant or (field not in _UNSEEN and child not in (None, [])):
                digest.update(f" {field}=".encode())
                _feed(digest, child)
        digest.update(b")")
    else:
        digest.update(f"{type(value).__name__}:{value!r}".encode())
