"""Names and kinds of files that cannot be read: one sentence that says so."""

import bz2
import gzip
import lzma
import os
from pathlib import Path

import pytest
from conll_rows import DOGS_U
from pair_forms import form_of

from bove.api.readers import read_json_lines, read_triples
from bove.artefacts import open_mapped
from bove.bags.store import Bags
from bove.cli.embed import read_texts
from bove.cli.main import main
from bove.config.load import load
from bove.errors import BoveError
from bove.evaluate.results import read_scores
from bove.files import atomic_folder, atomic_write, open_bytes, read_lines, sha256
from bove.text.conll import read_sentences
from bove.text.pairs import match_parses, read_pair_file, read_score
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


def pairs_of(path):
    return read_pair_file(path, form_of("similarity"), ("d", "l", "s"), path.with_name("gold"))


TEXTS = {
    "conll": (lambda path: list(read_sentences(path)), DOGS_U),
    "own trees": (lambda path: list(match_parses(path, ["1"], [""])), "# sent_id = 1\n" + DOGS_U),
    "pairs": (pairs_of, "a\tb\nc\td\n"),
    "gold": (lambda path: [read_score(path, *entry) for entry in read_lines(path)], "1\n2\n"),
    "vectors": (lambda path: list(read_blocks(path)), "the 1 2\na 3 4\n"),
    "triples": (read_triples, "a\tr\tb\nb\tr\ta\n"),
    "graphs": (lambda path: list(read_json_lines(path)), '{"nodes": [["a"]]}\n{"nodes": [["b"]]}\n'),
    "texts": (lambda path: read_texts(str(path)), "One.\nTwo.\n"),
    "table": (lambda path: read_texts(str(path), "text"), "text,n\nOne,1\n"),
    "configuration": (lambda path: load([path]), "run: x\nseed: 3\n"),
}


@pytest.mark.parametrize(("read", "text"), TEXTS.values(), ids=TEXTS)
def test_every_reader_of_text_has_the_same_lines_marks_and_packings(tmp_path, read, text):
    (tmp_path / "gold").write_text("1\n2\n", encoding="utf-8")
    path, raw = tmp_path / "file", text.encode()
    path.write_bytes(raw)
    expected = repr(read(path))
    packed = (gzip.compress(raw), lzma.compress(raw), bz2.compress(raw))
    for same in (*packed, raw.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + raw):
        path.write_bytes(same)
        assert repr(read(path)) == expected
    refused = {
        raw.replace(b"\n", b"\r"): "line 1: a carriage return inside the line; end lines with line feeds",
        text.encode("utf-16"): "UTF-16 text; convert it to UTF-8",
        b"version https://git-lfs.github.com/spec/v1\noid x\n": "not the data, but a pointer of Git LFS",
        b"<!DOCTYPE html>\n<html>\n": "not the data, but a web page; fetch the file itself",
        b"\x28\xb5\x2f\xfd" + raw: r"packed \(Zstandard\), which is not read; unpack it",
        **{data[:-9]: "damaged or truncated packed file" for data in packed},
    }
    if read is not TEXTS["vectors"][0]:  # where such a word is left out
        refused[raw + b"\xef\xbb\xbf" + raw] = (
            r"line \d: an invisible byte order mark, U\+FEFF, in .* delete it"
        )
    for content, said in refused.items():
        path.write_bytes(content)
        with pytest.raises(BoveError, match=said):
            read(path)


def test_what_starts_as_utf_8_is_not_read_in_another_encoding(tmp_path):
    (tmp_path / "f").write_bytes("\ufeffé\n".encode())
    assert list(read_lines(tmp_path / "f")) == list(read_lines(tmp_path / "f", "utf-8-sig")) == [(1, "é")]
    with pytest.raises(BoveError, match="starts with UTF-8's byte order mark; read it as utf-8, not latin-1"):
        list(read_lines(tmp_path / "f", "latin-1"))
    (tmp_path / "f").write_bytes(b"BZh9 is a word\n")
    assert list(read_lines(tmp_path / "f")) == [(1, "BZh9 is a word")]


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
