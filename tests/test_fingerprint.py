"""A fingerprint changes with what code does, and with nothing else."""

import os
import shutil

import pytest

from bove.fingerprint import fingerprint

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


@pytest.mark.parametrize(
    "change",
    [
        {"deep.py": "def value(x=1):\n    return x + 1\n"},
        {"deep.py": 'def value(x=1):\n    """Another."""\n    # because\n\n    return (x +\n      1)\n'},
        {"stage.py": FILES["stage.py"].replace("A stage", "The stage")},
        {"middle.py": FILES["middle.py"].replace("help='x'", "help='y'")},
        {"other.py": "def other():\n    return 2\n"},
        {"new.py": "x = 1\n"},
    ],
    ids=[
        "docstring gone",
        "comment and layout",
        "module docstring",
        "help",
        "unrelated module",
        "new module",
    ],
)
def test_what_python_does_not_run_makes_no_difference(package, change):
    assert _stage(package("a")) == _stage(package("b", **change))


@pytest.mark.parametrize(
    "change",
    [
        {"deep.py": FILES["deep.py"].replace("x + 1", "x + 2")},
        {"deep.py": FILES["deep.py"].replace("x=1", "x=2")},
        {"deep.py": FILES["deep.py"].replace("+", "-")},
        {"deep.py": FILES["deep.py"].replace("x + 1", "x + True")},
        {"middle.py": FILES["middle.py"].replace("dict(", "list(")},
        {"stage.py": FILES["stage.py"] + "\nrun()\n"},
    ],
)
def test_a_change_any_number_of_imports_away_makes_one(package, change):
    assert _stage(package("a")) != _stage(package("b", **change))


def test_relative_imports_inside_a_subpackage_are_followed(package):
    before = _stage(package("a"), "pkg.room.user")
    for file, text in (("deep.py", "value = 3\n"), ("room/near.py", "here = 2\n")):
        assert _stage(package(f"b{len(text)}", **{file: text}), "pkg.room.user") != before


def test_moving_and_touching_make_no_difference(package, tmp_path):
    before = _stage(package("a"))
    shutil.copytree(tmp_path / "a", tmp_path / "moved to")
    os.utime(tmp_path / "moved to" / "pkg" / "deep.py", (1, 1))
    assert _stage(tmp_path / "moved to" / "pkg") == before


def test_a_module_that_does_not_exist_is_no_fingerprint():
    with pytest.raises(ModuleNotFoundError, match=r"bove\.nothing"):
        fingerprint("bove.nothing")


def test_several_modules_in_any_order_have_one_fingerprint():
    first = fingerprint("bove.config.load", "bove.files")
    assert first == fingerprint("bove.files", "bove.config.load")
    assert first != fingerprint("bove.config.load")


def test_an_edit_beside_a_stage_in_its_file_leaves_it_alone(package):
    text = "from . import deep\n\nFACTOR = 2\n\n\ndef one():\n    return FACTOR * deep.value()\n"
    text += "\n\ndef two():\n    return 2\n"
    changes = {"deep.py": FILES["deep.py"] + "\n\ndef unused():\n    pass\n"}
    found = {
        name: [
            _stage(package(f"{name}{i}", **{"both.py": edited, **changes}), f"pkg.both:{name}")
            for i, edited in enumerate(
                (text, text.replace("return 2", "return 3"), text.replace("= 2", "= 3"))
            )
        ]
        for name in ("one", "two")
    }
    assert found["one"][0] == found["one"][1] != found["one"][2]
    assert found["two"][0] == found["two"][2] != found["two"][1]
    assert found["one"][0] == _stage(package("plain", **{"both.py": text}), "pkg.both:one")
    assert found["one"][0] != _stage(package("loose", **{"both.py": text + "\nprint()\n"}), "pkg.both:one")


def test_a_definition_that_does_not_exist_is_an_error():
    with pytest.raises(AttributeError, match="run_nothing"):
        fingerprint("bove.cli.train:run_nothing")
