"""Lock file, conda environment and package agree on what is needed, and the code needs just that."""

import ast
import importlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from no_network import namespace
from packaging.requirements import Requirement
from packaging.version import Version

from bove.cli import stages as entry
from bove.cli.main import EXTRAS, main

ROOT = Path(__file__).parent.parent.parent
# not imported by the package
TOOLS = {
    "furo", "mypy", "myst-parser", "pygments", "pytest", "pytest-xdist", "ruff", "snakefmt", "snakemake",
    "snakemake-executor-plugin-slurm", "sphinx", "sphinx-argparse", "sphinx-copybutton", "sybil",
}  # fmt: skip
# where conda-forge has another name
CONDA = {"pytorch": "torch", "matplotlib-base": "matplotlib"}
# where a module is called otherwise
MODULES = {"qdrant-edge-py": "qdrant_edge", "markdown-it-py": "markdown_it"}
MODULES |= {"sentence-transformers": "sentence_transformers"}


def _name(text):
    return re.sub(r"[-_.]+", "-", text).lower()


def _project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _declared():
    project = _project()
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


def test_the_conda_environment_has_the_bounds_of_the_package():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    *conda, python = environment["dependencies"]
    found = [Requirement(text) for text in [*conda, *python["pip"]]]
    bounds = {CONDA.get(one.name, one.name): one.specifier for one in found}
    asked = {name: one.specifier for name, one in _declared().items()}
    assert len(bounds) == len(found)
    assert bounds == asked | {name: bounds[name] for name in ("python", "pip", "make")}
    assert bounds["python"].contains(_project()["requires-python"].removeprefix(">="))


def test_the_lock_file_is_sorted_and_names_no_server():
    locked = _locked()
    assert list(locked) == sorted(locked)
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "//" not in text
    assert all(re.fullmatch(r"[0-9][0-9a-z.]*", version) for version in locked.values())


def test_what_the_package_imports_is_what_it_declares():
    assert _imported("bove") == set(_declared()) - TOOLS - {"hypothesis"}


def test_what_is_missing_is_named_with_the_extra_that_has_it(monkeypatch, capsys):
    extras = _project()["optional-dependencies"]
    asked = {_name(Requirement(text).name): extra for extra, texts in extras.items() for text in texts}
    asked = {MODULES.get(name, name): extra for name, extra in asked.items()}
    assert {name: extra for name, extra in asked.items() if extra not in ("test", "slurm", "docs")} == EXTRAS
    monkeypatch.setitem(sys.modules, "bove.cli.parse", None)
    with pytest.raises(ModuleNotFoundError):  # a mistake of the package itself is not hidden
        main(["parse"])
    monkeypatch.delitem(sys.modules, "bove.cli.parse")
    monkeypatch.setattr(entry, "import_module", lambda _: importlib.import_module("stanza.nothing"))
    assert main(["parse"]) == 2
    assert capsys.readouterr().err == "bove parse: needs stanza; install it with: pip install 'bove[parse]'\n"


def test_what_the_workflow_imports_is_declared():
    text = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "workflow").rglob("*.smk"))
    imported = set(re.findall(r"^\s*(?:import|from) (\w+)", text, re.M)) - {"bove"}
    providers = packages_distributions()
    needed = {_name(providers[name][0]) for name in imported if name in providers}
    assert "snakemake" in needed
    # Snakemake brings the interface along
    assert needed <= set(_declared()) | {"snakemake-interface-executor-plugins"}


def test_what_the_tests_import_is_locked():
    assert _imported("tests") <= set(_locked())


def _run(*words, **environment):
    environment = {**os.environ, **environment}
    done = subprocess.run(
        words, capture_output=True, text=True, encoding="utf-8", env=environment, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder that the package's wheel is installed into, and what the wheel holds."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
    # built from a copy, so that nothing is left beside the sources
    source = folder / "source"
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        source.mkdir(exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes())
    shutil.copytree(ROOT / "bove", source / "bove", ignore=shutil.ignore_patterns("__pycache__"))
    _run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(source))
    (wheel,) = folder.glob("*.whl")
    _run(*pip, "install", "--no-deps", "--target", str(folder / "site"), str(wheel))
    return folder / "site", set(zipfile.ZipFile(wheel).namelist())


def test_the_wheel_has_every_module_and_file_that_installed_commands_read(installed):
    _, names = installed
    kept = {".html", ".py", ".pyi", ".yaml", ".typed", ".xz"}
    files = [path for path in (ROOT / "bove").rglob("*") if path.suffix in kept or path.name == "py.typed"]
    assert {path.relative_to(ROOT).as_posix() for path in files} == {
        n for n in names if n.startswith("bove/")
    }
    assert {"bove/py.typed", "bove/__init__.pyi", "bove/config/config.schema.yaml"} <= names
    assert "bove/demo/corpus.tar.xz" in names


USE = """
import sys, bove
assert not {"numpy", "sklearn", "yaml"} & set(sys.modules), "import bove is not instant"
import bove.cli.search, bove.config.load
unused = {"jsonschema", "pandas", "scipy.linalg", "scipy.sparse", "sklearn"} & set(sys.modules)
assert not unused, unused
print(bove.__file__, bove.config.load.defaults()["inference"]["solver"])
graph = bove.Graph([["a:1"], ["a:2"]], [["x", 0, 1]])
(bag,) = bove.BoVE(rank=2, lambda_P=0.01, lambda_E=0.01).fit_transform([graph])
assert bag.shape == (2, 2)
heavy = {"snakemake", "stanza", "torch", "gensim", "networkx", "matplotlib"} & set(sys.modules)
assert not heavy, heavy
"""


ALONE = """
import sys
sys.modules |= dict.fromkeys(("snakemake", "pooch", "gensim", "matplotlib"))  # not to be had
from bove.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def test_a_packed_run_gives_the_same_bytes_by_the_wheel_alone_and_without_a_network(
    installed, demo, tmp_path
):
    place = tmp_path / "an empty place"
    place.mkdir()
    (place / "alone.py").write_text(ALONE, encoding="utf-8")
    (place / "my sentences.txt").write_text("the dog chased the man\na cat slept\n", encoding="utf-8")
    embed = ["embed", str(place / "my sentences.txt"), "--run"]
    assert main(["pack", str(demo.results), "-o", str(place / "a model.zip")]) == 0
    here = [*embed, str(demo.results), "-o", str(place / "here.npz")]
    _run(sys.executable, "-P", "-m", "bove", *here, PYTHONPATH=str(ROOT))
    alone = [*embed, str(place / "a model.zip"), "-o", str(place / "there.npz")]
    command = (*namespace(), sys.executable, "-P", str(place / "alone.py"), *alone)
    _run(*command, PYTHONPATH=str(installed[0]))
    assert (place / "there.npz").read_bytes() == (place / "here.npz").read_bytes()


def test_the_installed_package_works_outside_of_the_checkout(installed, tmp_path):
    site, _ = installed
    (tmp_path / "use.py").write_text(USE, encoding="utf-8")
    said = _run(sys.executable, "-P", str(tmp_path / "use.py"), PYTHONPATH=str(site)).split()
    assert said == [str(site / "bove" / "__init__.py"), "fixed-point"]
    command = _run(sys.executable, str(site / "bin" / "bove"), "--version", PYTHONPATH=str(site))
    assert command.startswith("bove ")
