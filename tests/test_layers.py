"""The package's import graph: lower layers know nothing of upper ones, and no module needs itself."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import bove

PACKAGE = Path(bove.__file__).parent
# From the bottom; a room or module may import those of its own layer and of the layers before it.
LAYERS = (
    "_version errors", "files fingerprint", "artefacts", "factor demo", "text", "bags", "evaluate", "config",
    "api embedder check", "cli", "__main__",
)  # fmt: skip


def _modules() -> dict[str, set[str]]:
    """Of each module, without the package's name before it, those that it imports anywhere."""
    names = {_name(path.relative_to(PACKAGE)): path for path in PACKAGE.rglob("*.py")}
    return {name: set(_imports(file, names)) for name, file in names.items()}


def _name(path):
    return ".".join(part for part in path.with_suffix("").parts if part != "__init__")


def _imports(file, names):
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "bove":
            base = node.module.removeprefix("bove").removeprefix(".")
            inner = (f"{base}.{alias.name}".removeprefix(".") for alias in node.names)
            yield from (name if name in names else base for name in inner)
        elif isinstance(node, ast.Import):
            yield from (a.name.removeprefix("bove.") for a in node.names if a.name.startswith("bove."))
        assert not (isinstance(node, ast.ImportFrom) and node.level), f"{file}: import by the whole name"


def test_lower_layers_know_nothing_of_upper_ones():
    rank = {room: number for number, rooms in enumerate(LAYERS) for room in rooms.split()}
    rank[""] = rank["__main__"]
    for name, imported in _modules().items():
        for other in imported:
            assert rank[other.split(".")[0]] <= rank[name.split(".")[0]], f"{name or 'bove'} imports {other}"


def test_no_module_imports_itself_by_way_of_others():
    list(TopologicalSorter(_modules()).static_order())


def test_the_root_holds_no_more_than_what_every_room_needs():
    assert len(list(PACKAGE.glob("*.py"))) <= 9
