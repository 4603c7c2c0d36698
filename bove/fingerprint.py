"""A hash of what a stage's code does, for the workflow to see that a stage has changed.

It covers a module and every module of the package that it imports, at any depth and inside functions too.
What a reader sees but Python does not run (comments, docstrings, layout) is left out, and so are places and
times of files.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_UNSEEN = {"kind", "type_comment"}


def fingerprint(*modules: str, package: Path = PACKAGE) -> str:
    """16 hex digits over the named modules and what they import from their package.

    A package's `__init__` counts where something is imported from it by name, not as a mere parent.

    Raises:
        ModuleNotFoundError: a named module does not exist.
    """
    found: dict[str, str] = {}
    waiting = list(modules)
    for name in modules:
        if _file(name, package) is None:
            raise ModuleNotFoundError(f"no module {name} in {package}")
    while waiting:
        name = waiting.pop()
        if name not in found and (path := _file(name, package)) is not None:
            found[name], imports = _read(path, name)
            waiting += imports
    whole = "".join(f"{name} {code}\n" for name, code in sorted(found.items()))
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


def _file(name: str, package: Path) -> Path | None:
    top, *rest = name.split(".")
    if top != package.name:
        return None
    base = package.joinpath(*rest)
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


@cache
def _read(path: Path, name: str) -> tuple[str, tuple[str, ...]]:
    """Hash of one module's code, and the names that it imports."""
    tree = ast.parse(path.read_bytes(), str(path))
    parent = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    digest = hashlib.sha256()
    _feed(digest, tree)
    return digest.hexdigest(), tuple(_imports(tree, parent))


def _imports(tree: ast.Module, parent: list[str]):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = parent[: len(parent) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)  # a name may be a module


def _feed(digest, value) -> None:
    """Hash a syntax tree. Empty fields are skipped, so that Python versions which add fields agree."""
    if isinstance(value, list):
        for item in value:
            _feed(digest, item)
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
