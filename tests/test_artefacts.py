"""The safetensors files that all arrays are stored in."""

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from bove.artefacts import create, load, open_mapped, pack_lines, pack_words, save, unpack_lines, unpack_words
from bove.errors import BoveError

ARRAYS = {
    "bytes": np.frombuffer(b"abc", np.uint8),
    "wide": np.arange(5),
    "keys": np.array([2**64 - 1], np.uint64),
    "empty": np.zeros((0, 7), np.float32),
    "scalar": np.array(2.5),
    "columns": np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)),
    "big-endian": np.array([1, 2], ">i4"),
    "flags": np.array([True, False]),
}


def test_arrays_come_back_whole_and_mapped_and_any_reader_knows_them(tmp_path):
    save(tmp_path / "a", "bove-test", ARRAYS, {"note": "é"})
    for arrays, metadata in (load(tmp_path / "a", "bove-test"), open_mapped(tmp_path / "a", "bove-test")):
        metadata.pop("sha256", None)
        assert metadata == {"note": "é", "format": "bove-test", "version": "1"}
        assert set(arrays) == set(ARRAYS)
        for name, array in ARRAYS.items():
            np.testing.assert_array_equal(arrays[name], array)
            assert arrays[name].dtype == array.dtype.newbyteorder("<") and arrays[name].flags.aligned
    for name, array in load_file(tmp_path / "a").items():
        np.testing.assert_array_equal(array, ARRAYS[name])


def test_loaded_arrays_can_be_changed_and_mapped_ones_cannot(tmp_path):
    save(tmp_path / "a", "bove-test", ARRAYS, {})
    load(tmp_path / "a", "bove-test")[0]["wide"][0] = 9
    mapped = open_mapped(tmp_path / "a", "bove-test")[0]["wide"]
    with pytest.raises(ValueError, match="read-only"):
        mapped[0] = 9
    assert mapped[0] == 0


def test_arrays_in_another_order_in_pieces_or_through_a_map_give_the_same_bytes(tmp_path):
    save(tmp_path / "a", "bove-test", ARRAYS, {"x": "1", "y": "2"})
    shapes = {name: (array.dtype, array.shape) for name, array in reversed(ARRAYS.items())}
    digest = open_mapped(tmp_path / "a", "bove-test")[1]["sha256"]
    with create(tmp_path / "b", "bove-test", shapes, {"y": "2", "sha256": digest, "x": "1"}) as writer:
        writer.map("columns")[:, ::-1] = ARRAYS["columns"][:, ::-1]
        for name in sorted(ARRAYS.keys() - {"columns", "wide"}):
            writer.put(name, ARRAYS[name])
        writer.put("wide", ARRAYS["wide"][:2])
        writer.put("wide", ARRAYS["wide"][2:].tobytes())
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    with pytest.raises(KeyboardInterrupt), create(tmp_path / "c", "bove-test", shapes, {}):
        raise KeyboardInterrupt
    assert not (tmp_path / "c").exists()


def test_wrong_files_are_refused_in_one_sentence(tmp_path):
    save(tmp_path / "a", "bove-test", ARRAYS, {})
    save(tmp_path / "old", "bove-test", ARRAYS, {"version": "0"})
    save_file({"x": np.zeros(2)}, tmp_path / "foreign")
    (tmp_path / "cut").write_bytes((tmp_path / "a").read_bytes()[:-1])
    for name, format, message in (
        ("a", "bove-other", "holds bove-test, not bove-other"),
        ("old", "bove-test", "version 0, but this program reads version 1"),
        ("foreign", "bove-test", "holds an unnamed format"),
        ("cut", "bove-test", "not a safetensors file, or a damaged one"),
        ("missing", "bove-test", "no such file"),
        (".", "bove-test", "is a folder"),
    ):
        with pytest.raises(BoveError, match=message):
            load(tmp_path / name, format)


def test_what_has_changed_is_known_by_its_hash(tmp_path):
    save(tmp_path / "a", "bove-test", ARRAYS, {"note": "x"})
    whole = (tmp_path / "a").read_bytes()
    for changed, said in (
        (whole[:-1] + b"\2", "changed since it was written"),
        (whole.replace(b'"note":"x"', b'"note":"y"'), "changed since it was written"),
        (whole.replace(b"sha256", b"sha257"), "bove-test of an earlier program"),
    ):
        (tmp_path / "b").write_bytes(changed)
        open_mapped(tmp_path / "b", "bove-test")
        with pytest.raises(BoveError, match=said):
            load(tmp_path / "b", "bove-test")


def test_words_and_lines_are_packed_and_unpacked():
    words = ["a", "", "é\n", "😀"]
    assert unpack_words(*pack_words(words)) == words
    assert unpack_words(*pack_words([])) == []
    assert unpack_lines(pack_lines(["a", "é b"])) == ("a", "é b")
    assert unpack_lines(pack_lines([])) == ()
    for name in ("", "a\nb"):
        with pytest.raises(BoveError, match="cannot name a row"):
            pack_lines(["x", name])
