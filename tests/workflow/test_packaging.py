"""Lock file, conda environment and package agree on what is needed, and the code needs just that."""

import ast
import re
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parent.parent.parent
TOOLS = {"pytest", "ruff", "snakefmt", "snakemake", "pandas", "pygments"}  # not imported by the package


def _name(text):
    return re.sub(r"[-_.]+", "-", text).lower()


def _declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    requirements = [Requirement(text) for group in groups for text in group]
    return {_name(requirement.name): requirement for requirement in requirements}


def _locked():
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").split("\n")
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def _imported(*folders):
    """Distributions that modules import, the standard library and the project's own modules left out."""
    providers, names = packages_distributions(), set()
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names.add(node.module.partition(".")[0])
    return {_name(providers[name][0]) for name in names - {"bove"} if name in providers}


def test_the_lock_file_has_what_the_package_asks_for():
    locked = _locked()
    for name, requirement in _declared().items():
        assert requirement.specifier.contains(Version(locked[name])), name


def test_the_conda_environment_has_the_versions_of_the_lock_file():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    pins = dict(pin.split("==") for pin in environment["dependencies"][-1]["pip"])
    locked = _locked()
    assert pins == {name: locked[name] for name in _declared()}


def test_the_lock_file_is_sorted_and_names_no_server():
    locked = _locked()
    assert list(locked) == sorted(locked)
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "//" not in text
    assert all(re.fullmatch(r"[0-9][0-9a-z.]*", version) for version in locked.values())


def test_what_the_package_imports_is_what_it_declares():
    assert _imported("bove") == set(_declared()) - TOOLS - {"hypothesis"}


def test_what_the_workflow_imports_is_declared():
    text = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "workflow").rglob("*.smk"))
    imported = set(re.findall(r"^\s*(?:import|from) (\w+)", text, re.M)) - {"bove"}
    providers = packages_distributions()
    needed = {_name(providers[name][0]) for name in imported if name in providers}
    assert {"pandas", "snakemake"} <= needed
    # Snakemake brings the interface along
    assert needed <= set(_declared()) | {"snakemake-interface-executor-plugins"}


def test_what_the_tests_import_is_locked():
    assert _imported("tests") <= set(_locked())
