"""A fingerprint changes with what code does, and with nothing else; it covers all that a stage executes."""

import argparse
import ast
import gc
import logging
import os
import shutil
import sys
import threading
from dataclasses import replace
from inspect import CO_OPTIMIZED
from pathlib import Path

import numpy as np
import pytest
from tiny_treebank import tiny_sentences, write_treebank

import bove
from bove.bags.store import write_bags
from bove.cli.stages import code, functions
from bove.fingerprint import fingerprint, reached
from bove.text.pairs import Pair, write_pairs

FILES = {
    "__init__.py": '"""The package."""\n',
    "stage.py": '"""A stage."""\n\nfrom pkg.middle import middle\n\n\ndef run():\n    return middle()\n',
    "middle.py": "def middle():\n    from . import deep\n\n    return deep.value(dict(help='x'))\n",
    "deep.py": 'def value(x=1):\n    """Doc."""\n    # why\n    return x + 1\n',
    "other.py": "def other():\n    return 1\n",
    "room/__init__.py": "",
    "room/user.py": "from ..deep import value\nfrom . import near\n\nboth = value, near\n",
    "room/near.py": "here = 1\n",
}


@pytest.fixture
def package(tmp_path):
    def write(name="a", **changes):
        folder = tmp_path / name / "pkg"
        for file, text in {**FILES, **changes}.items():
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return folder

    return write


def _stage(folder, module="pkg.stage"):
    return fingerprint(module, package=folder)


DEEP = FILES["deep.py"]


@pytest.mark.parametrize(
    ("equal", "change"),
    [
        (True, {"deep.py": "def value(x=1):\n    return x + 1\n"}),
        (
            True,
            {"deep.py": 'def value(x=1):\n    """Another."""\n    # because\n    return (x +\n 1)\n'},
        ),
        (True, {"stage.py": FILES["stage.py"].replace("A stage", "The stage")}),
        (True, {"middle.py": FILES["middle.py"].replace("help='x'", "help='y'")}),
        (True, {"other.py": "def other():\n    return 2\n"}),
        (True, {"new.py": "x = 1\n"}),
        (False, {"deep.py": DEEP.replace("x + 1", "x + 2")}),
        (False, {"deep.py": DEEP.replace("x=1", "x=2")}),
        (False, {"deep.py": DEEP.replace("+", "-")}),
        (False, {"deep.py": DEEP.replace("x + 1", "x + True")}),
        (False, {"middle.py": FILES["middle.py"].replace("dict(", "list(")}),
        (False, {"stage.py": FILES["stage.py"] + "\nrun()\n"}),
    ],
)
def test_a_change_any_number_of_imports_away_counts_if_python_runs_it(package, equal, change):
    assert (_stage(package("a")) == _stage(package("b", **change))) == equal


def test_relative_imports_inside_a_subpackage_are_followed(package):
    before = _stage(package("a"), "pkg.room.user")
    for file, text in (("deep.py", "value = 3\n"), ("room/near.py", "here = 2\n")):
        assert _stage(package(f"b{len(text)}", **{file: text}), "pkg.room.user") != before


def test_a_name_that_is_passed_on_and_a_file_that_is_named_are_followed(package):
    named = {"user.py": "from .shop import value\nuse = value, 'a.txt'\n", "a.txt": "x"}
    named["shop.py"] = "from .deep import value\n"
    changes = {}, {"a.txt": "y"}, {"deep.py": "value = 1\n"}, {"b.txt": ""}
    found = [_stage(package(f"{i}", **named | more), "pkg.user") for i, more in enumerate(changes)]
    assert len({*found[:3]}) == 3 and found[3] == found[0]


def test_moving_and_touching_make_no_difference(package, tmp_path):
    before = _stage(package("a"))
    shutil.copytree(tmp_path / "a", tmp_path / "moved to")
    os.utime(tmp_path / "moved to" / "pkg" / "deep.py", (1, 1))
    assert _stage(tmp_path / "moved to" / "pkg") == before


@pytest.mark.parametrize(
    ("name", "error"),
    [("bove.nothing", ModuleNotFoundError), ("bove.cli.train:run_nothing", AttributeError)],
)
def test_what_does_not_exist_has_no_fingerprint(name, error):
    with pytest.raises(error, match="nothing"):
        fingerprint(name)


def test_several_modules_in_any_order_have_one_fingerprint():
    first = fingerprint("bove.config.load", "bove.files")
    assert first == fingerprint("bove.files", "bove.config.load")
    assert first != fingerprint("bove.config.load")


def test_an_edit_beside_a_stage_in_its_file_leaves_it_alone(package):
    text = "from . import deep\n\nFACTOR = 2\n\n\ndef one():\n    return FACTOR * deep.value()\n"
    text += "\n\ndef two():\n    return 2\n"
    edits = [text, text.replace("return 2", "return 3"), text.replace("= 2", "= 3"), text + "\nprint()\n"]
    unused = {"deep.py": FILES["deep.py"] + "\n\ndef unused():\n    pass\n"}
    files = [*({"both.py": edit} for edit in edits), {"both.py": text, **unused}]
    for name, same in (("one", [0, 1, 4]), ("two", [0, 2, 4])):
        found = [_stage(package(f"{name}{i}", **more), f"pkg.both:{name}") for i, more in enumerate(files)]
        assert [i for i, one in enumerate(found) if one == found[0]] == same


PACKAGE = str(Path(bove.__file__).parent)


def test_no_module_looks_a_name_up_in_a_way_that_cannot_be_followed():
    for path in Path(PACKAGE).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            assert not (isinstance(node, ast.ImportFrom) and node.names[0].name == "*"), path
            if isinstance(node, ast.Call) and path.parent != Path(PACKAGE):
                name = getattr(node.func, "id", "")
                assert name not in ("globals", "eval", "exec", "__import__"), path


ALS = "--rank 4 --lambda-P 1 --lambda-R 0.5 --lambda-E 3 --max-rounds 3 --restart-every 2 --dtype float64"
# Each stage works on what those before it have written.
STAGES = {
    "vocabulary": "--treebank t.conllu --columns gold --min-words 2 --min-tags 2 --min-relations 1 "
    "--lookup exact lower --output vocabulary",
    "vectors": "load --input words.txt --format word2vec --output vectors",
    "encode": "--sentences t.conllu --vocabulary vocabulary --vectors vectors --output graphs",
    "train-als": f"--graphs graphs --vocabulary vocabulary --vectors vectors --seed 1 {ALS} "
    "--penalty-R nuclear --output model --training-log log.csv --times times.csv",
    "train-again": "--model model --seed 2 --graphs graphs --vocabulary vocabulary --vectors vectors "
    "--output again --training-log again.csv",
    "compress": "--model model --output small",
    "infer": "--system bove --model model --graphs graphs --output bags --report report.csv",
    "baseline": "--system sif --sentences t.conllu --treebank t.conllu --vectors vectors "
    "--vocabulary vocabulary --output averages",
    "compare-bags": "--first bags --second bags --output compared",
    "pairs": "--dataset d --label D --task similarity --column first=1 --column second=2 --column gold=3 "
    "--separator \t --encoding utf-8 --subset a pairs.txt --output read.jsonl",
    "contamination": "--pairs pairs.jsonl --development d --treebank t.conllu --output contamination",
    "roles": "--from pairs.jsonl sides.conllu --dataset r --label R --subjects SBJ --objects OBJ "
    "--min-gold 1 --parses probes.conllu.gz --output probes",
    "score": "--pairs pairs.jsonl --bags bove=made --bags other=made --output scores",
    "tables": "--scores scores --resamples 100 --confidence 0.9 --seed 1 --output tables",
    "figures results": "--results tables/scores.csv --differences tables/differences.csv --confidence 0.9 "
    "--output figures",
    "figures iterations": "--report D report.csv --output figures",
    "figures relations": "--model model --output figures",
    "training": "--run ALS log.csv times.csv --output training",
    "demo": "--sentences 100 --output demo",
}
NEEDS = {"figures": "matplotlib", "training": "matplotlib", "tables": "pandas", "score": "pyarrow"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stages")
    write_treebank(folder / "t.conllu", tiny_sentences())
    (folder / "words.txt").write_text("2 4\ndog 1 2 3 4\ncat 4 3 2 1\n", encoding="utf-8")
    (folder / "pairs.txt").write_text("A dog.\tA cat.\t3\n", encoding="utf-8")
    texts = ("A dog.", "A cat."), ("A cat.", "The dog."), ("Dogs.", "Cats.")
    kind = ("d", "D", "similarity", "a")
    pairs = [Pair(f"a-{i}", *kind, *pair, float(i), True) for i, pair in enumerate(texts)]
    with open(folder / "pairs.jsonl", "w", encoding="utf-8") as stream:
        write_pairs(stream, pairs)
    rng = np.random.default_rng(0)
    bags = {f"{pair.id}.{side}": rng.standard_normal((3, 4)) for pair in pairs for side in (1, 2)}
    write_bags(folder / "made", bags)
    write_treebank(folder / "sides.conllu", [replace(tiny_sentences()[1], id=name) for name in bags])
    return folder


def executed(run, args) -> set[tuple[str, str]]:
    """(module, definition) of each function of the package that a call executes, in any thread.

    What runs while a module is imported is left out: a fingerprint covers it only where it is used.
    """
    found, importing = set(), 0

    def watch(frame, event, _):
        nonlocal importing
        code = frame.f_code
        if event in ("call", "return") and code.co_filename.startswith(PACKAGE):
            if code.co_name == "<module>":
                importing += 1 if event == "call" else -1
            elif not importing and code.co_flags & CO_OPTIMIZED:
                found.add(code)

    gc.collect()  # generators that others have left are closed now, and not on the way
    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        run(args)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return {(_module(Path(code.co_filename)), code.co_qualname.split(".")[0]) for code in found}


def _module(path: Path) -> str:
    return ".".join(path.relative_to(Path(PACKAGE).parent).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.workflow
@pytest.mark.parametrize("stage", STAGES)
def test_what_a_stage_executes_is_covered(folder, monkeypatch, stage):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(logging.getLogger("bove"), "handlers", [])  # those of the entry point
    pytest.importorskip(NEEDS.get(stage.split()[0], "numpy"))
    name, *kind = stage.split()
    register, run = functions(name)
    parser = argparse.ArgumentParser(description="")
    register(parser)
    words = [*kind, *(word for word in STAGES[stage].split(" ") if word)]
    args = parser.parse_args(words)
    args.threads, args.log = 1, None
    found = executed(run, args)
    covered = {("bove.cli.figures", "run_figures"), *reached(code(stage))}
    lambdas = {key for key in found if key[1].startswith("<")}
    assert len(found) > 3 and not found - lambdas - covered
    assert {module for module, _ in lambdas} <= {module for module, _ in covered}
