"""Results of expensive stages, taken from a folder that runs share."""

import argparse
import json
import shutil
from pathlib import Path

import pytest

from bove.cli import cache
from bove.cli import data as vectors
from bove.cli.main import main
from bove.cli.stages import functions

TEXT = "3 2\ndog 1 2\ncat 3 4\ngirl 5 6\n"


@pytest.fixture
def shared(tmp_path, monkeypatch):
    """The folder that is shared."""
    folder = tmp_path / "shared"
    folder.mkdir()
    monkeypatch.setenv("BOVE_CACHE", str(folder))
    return folder


def load(folder, text=TEXT, *more):
    """Load vectors in a folder of its own; the bytes that came out and what was said."""
    folder.mkdir(exist_ok=True)
    (folder / "in.txt").write_text(text, encoding="utf-8")
    files = ["--input", f"{folder}/in.txt", "--output", f"{folder}/out", "--log", f"{folder}/log"]
    assert main(["vectors", "load", *files, "--format", "word2vec", *more]) == 0
    return (folder / "out").read_bytes(), (folder / "log").read_text(encoding="utf-8")


def entries(shared):
    return sorted(path for path in shared.glob("*/*") if not path.name.startswith("."))


def test_equal_content_in_another_place_is_taken_without_running_the_stage(shared, tmp_path, monkeypatch):
    made, said = load(tmp_path / "one")
    [entry] = entries(shared)
    assert f"kept in the cache: {entry}" in said
    monkeypatch.setattr(vectors, "run_vectors", None)
    taken, said = load(tmp_path / "two")
    assert taken == made and f"taken from the cache: {entry}" in said
    record = json.loads((entry / cache.RECORD).read_text(encoding="utf-8"))
    assert record["made_from"]["stage"] == "vectors" and record["made_from"]["arguments"]["action"] == "load"
    assert str(tmp_path) not in json.dumps(record)


def test_other_content_arguments_code_or_versions_are_something_else(shared, tmp_path, monkeypatch):
    load(tmp_path / "one")
    changes = [
        (TEXT.replace("6", "7"), (), "RECORD", cache.RECORD),
        (TEXT, ("--limit", "2"), "RECORD", cache.RECORD),
        (TEXT, (), "fingerprint", lambda module: "another"),
        (TEXT, (), "versions_of", lambda names: dict.fromkeys(names, "9.9")),
    ]
    for count, (text, more, name, value) in enumerate(changes, 2):
        with monkeypatch.context() as patch:
            patch.setattr(cache, name, value)
            assert "taken" not in load(tmp_path / "other", text, *more)[1]
        assert len(entries(shared)) == count


@pytest.mark.parametrize("damage", ["output", cache.RECORD])
def test_a_damaged_entry_is_not_taken_but_made_again(shared, tmp_path, damage):
    made, _ = load(tmp_path / "one")
    [entry] = entries(shared)
    content = (entry / damage).read_bytes()
    (entry / damage).write_bytes(content[: len(content) // 2])
    again, said = load(tmp_path / "two")
    assert again == made and "cannot be used" in said and "taken" not in said
    assert entries(shared) == [entry] and (entry / damage).read_bytes() == content
    assert "taken" in load(tmp_path / "three")[1]


def test_what_cannot_be_kept_is_a_warning_and_the_result_is_there(shared, tmp_path):
    made, _ = load(tmp_path / "one")
    [entry] = entries(shared)
    shutil.rmtree(entry.parent)
    entry.parent.write_text("no folder", encoding="utf-8")
    again, said = load(tmp_path / "two")
    assert again == made and "not kept (Not a directory)" in said


def test_a_file_that_changes_while_it_is_read_is_not_kept(shared, tmp_path, monkeypatch):
    run = vectors.run_vectors

    def slow(args):
        run(args)
        Path(args.input).write_text(TEXT + "\n", encoding="utf-8")

    monkeypatch.setattr(vectors, "run_vectors", slow)
    load(tmp_path / "one")
    assert entries(shared) == []


def test_a_folder_that_is_not_there_and_a_missing_input_are_one_line(shared, tmp_path, refused, monkeypatch):
    words = f"vectors load --input {tmp_path}/none --output {tmp_path}/o --format auto".split()
    refused(words, "none: no such file; check the path")
    monkeypatch.setenv("BOVE_CACHE", f"{tmp_path}/nowhere")
    refused(words, f"BOVE_CACHE: {tmp_path}/nowhere: no such folder")


def test_every_file_that_a_cached_stage_reads_or_writes_counts_by_its_content():
    """An argument that names a file but is not declared would count by its name."""
    for stage, parts in cache.CACHED.items():
        parser = argparse.ArgumentParser()
        functions(stage)[0](parser)
        actions = list(parser._actions)
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                actions += [own for choice in action.choices.values() for own in choice._actions]
        plain = ("I/N", "N", "X", "KEY=VALUE", "load|train", None)
        files = {action.dest for action in actions if action.metavar not in plain}
        assert files == {*parts.reads, *parts.writes}, stage
