"""Names and kinds of files that cannot be read: one sentence that says so."""

import os
from pathlib import Path

import pytest

from bove.artefacts import open_mapped
from bove.bags.store import Bags
from bove.cli.main import main
from bove.errors import BoveError
from bove.evaluate.results import read_scores
from bove.files import atomic_folder, atomic_write, open_bytes, read_lines, sha256
from bove.text.vector_files import read_blocks


def read_all(path):
    with open_bytes(path) as stream:
        return stream.read()


def read_arrays(path):
    open_mapped(path, "bove-model")


@pytest.mark.parametrize("read", [read_all, sha256, read_arrays, Bags.open, read_scores])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("loop", "cannot be read .*symbolic links"),
        ("x" * 300, "cannot be read .File name too long"),
        ("a\0b", "cannot be read .embedded null byte"),
        ("none", "no such file"),
        (".", "is a folder"),
    ],
)
def test_every_reader_says_what_is_wrong_with_a_name(tmp_path, read, name, said):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(BoveError, match=said):
        read(f"{tmp_path}/{name}")


def test_what_is_read_twice_is_no_pipe(tmp_path, capsys):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for read in (sha256, read_arrays, Bags.open, read_scores, lambda path: list(read_blocks(path))):
        with pytest.raises(BoveError, match="a pipe or a device, but is read more than once"):
            read(pipe)
    assert main(["check", str(pipe)]) == 2
    assert "a pipe or a device" in capsys.readouterr().out


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("stated", ["utf-8", "latin-1"])
def test_utf_16_is_refused_with_and_without_its_mark(tmp_path, capsys, encoding, stated):
    path = tmp_path / "gold"
    path.write_bytes("4.5\n3\n".encode(encoding))
    with pytest.raises(BoveError, match="UTF-16 text; convert it to UTF-8"):
        list(read_lines(path, stated))
    assert main(["check", str(path)]) == 2
    assert "UTF-16 text" in capsys.readouterr().out
    path.write_bytes(b"\0\0\0\0\na\0\n")
    assert [line for _, line in read_lines(path, stated)] == ["\0" * 4, "a\0"]


@pytest.mark.parametrize("name", ["x" * 300, "a\0b"])
def test_a_name_that_no_file_can_have_is_not_written(tmp_path, name):
    with pytest.raises(BoveError, match="cannot be written"), atomic_write(f"{tmp_path}/{name}"):
        pass
    assert not list(tmp_path.iterdir())


def test_text_that_utf_8_can_not_hold_leaves_nothing(tmp_path):
    said = r"out: half a surrogate pair in 'a.ud800b'"
    with pytest.raises(BoveError, match=said), atomic_write(tmp_path / "out") as stream:
        stream.write("one\na\ud800b\n")
    assert not list(tmp_path.iterdir())


def test_a_folder_comes_back_where_another_can_not_take_its_place(tmp_path, monkeypatch):
    there = tmp_path / "index"
    there.mkdir()
    (there / "mark").write_text("old", encoding="utf-8")
    move = Path.replace

    def fail(path, target):
        if path.name == "new":
            raise KeyboardInterrupt
        return move(path, target)

    with pytest.raises(KeyboardInterrupt), atomic_folder(there, "mark") as made:
        (made / "mark").write_text("new", encoding="utf-8")
        monkeypatch.setattr(Path, "replace", fail)
    assert (there / "mark").read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [there]
    for odd in ("x" * 300, "a\0b"):
        with pytest.raises(BoveError, match="cannot be written"), atomic_folder(tmp_path / odd, "mark"):
            pass
