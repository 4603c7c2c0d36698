"""The file of bags: what is written comes back, from any order of filling, and nothing foreign passes."""

import json
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

import bove
from bove.bags.store import Bags, BagWriter
from bove.errors import BoveError

IDS = ["deft-00001.1", "deft-00001.2", "größe-00002.1"]
LENGTHS = [2, 0]
INDEX = [0, 1, 0]


def write(path, ids=IDS, lengths=LENGTHS, index=INDEX, rank=3, seed=0):
    rng = np.random.default_rng(seed)
    bags = [rng.normal(size=(n, rank)).astype(np.float32) for n in lengths]
    with BagWriter(path, ids, lengths, index, rank, "bove", "abc") as writer:
        for b in rng.permutation(len(lengths)):
            writer.put(b, bags[b])
    return bags


def blob(ids):
    return np.frombuffer("\n".join(ids).encode(), np.uint8)


@given(
    lengths=st.lists(st.integers(0, 4), min_size=1, max_size=6),
    rank=st.integers(1, 5),
    n_sentences=st.integers(0, 8),
    seed=st.integers(0, 99),
)
def test_bags_filled_in_any_order_come_back(tmp_path_factory, lengths, rank, n_sentences, seed):
    path = tmp_path_factory.mktemp("bags") / "b.safetensors"
    index = np.random.default_rng(seed).integers(0, len(lengths), n_sentences)
    ids = [f"s{i}" for i in range(n_sentences)]
    expected = write(path, ids, lengths, index, rank, seed)
    bags = Bags.open(path)
    assert (len(bags), bags.rank, bags.n_bags, list(bags)) == (n_sentences, rank, len(lengths), ids)
    for name, b in zip(ids, index, strict=True):
        assert bags[name].dtype == np.float32
        np.testing.assert_array_equal(bags[name], expected[b])


def test_the_safetensors_package_reads_the_file(tmp_path):
    (full, _) = write(tmp_path / "b.safetensors")
    arrays = load_file(tmp_path / "b.safetensors")
    np.testing.assert_array_equal(arrays["vectors"], full)
    assert arrays["offsets"].tolist() == [0, 2, 2]
    assert arrays["index"].tolist() == INDEX
    assert arrays["ids"].tobytes().decode().split("\n") == IDS
    raw = (tmp_path / "b.safetensors").read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    assert length % 8 == 0
    made_by = {"system": "bove", "model_hash": "abc"}
    assert header["__metadata__"] == {"format": "bove-bags", "version": "1", **made_by}
    assert header["offsets"]["data_offsets"][0] % 8 == 0
    assert header["vectors"]["data_offsets"][0] % 4 == 0


def test_an_opened_file_is_mapped_and_says_what_made_it(tmp_path):
    write(tmp_path / "b.safetensors")
    bags = Bags.open(tmp_path / "b.safetensors")
    assert not bags.vectors.flags.writeable and not bags.vectors.flags.owndata
    assert (bags.system, bags.model_hash) == ("bove", "abc")
    assert bags.ids == tuple(IDS)
    assert bags["deft-00001.2"].shape == (0, 3)
    assert "deft-00001.1" in bags and "nobody" not in bags
    with pytest.raises(BoveError, match=r"b\.safetensors: has no bag for sentence 'nobody'"):
        bags["nobody"]


def test_many_bags_are_filled_at_once_whatever_their_lengths(tmp_path):
    vectors = np.arange(10, dtype=np.float32).reshape(5, 2)
    with BagWriter(tmp_path / "b", list("abcd"), [3, 1, 0, 2], [0, 1, 2, 3], 2, "bove", "") as writer:
        writer.put_many([3, 2, 0], vectors)
        writer.put_many(np.array([1]), np.full((1, 2), 7.0))
    bags = Bags.open(tmp_path / "b")
    np.testing.assert_array_equal(bags["d"], vectors[:2])
    np.testing.assert_array_equal(bags["a"], vectors[2:])
    np.testing.assert_array_equal(bags["b"], [[7, 7]])
    assert bags["c"].shape == (0, 2)


def test_evidence_is_kept_beside_the_vectors_where_it_is_asked_for(tmp_path):
    made_by = (list("ab"), [2, 1], [0, 1], 2, "bove", "")
    with BagWriter(tmp_path / "b", *made_by, evidence=True) as writer:
        writer.put_many([1, 0], np.ones((3, 2)), np.array([1e300, 2, -3]))
    bags = Bags.open(tmp_path / "b")
    assert bags.evidence_of(0).tolist() == [2, -3] and bags.evidence_of(1).tolist() == [1e300]
    write(tmp_path / "without")
    assert Bags.open(tmp_path / "without").evidence is None
    with pytest.raises(BoveError, match="without: has no evidence of its vectors; weight them by length"):
        Bags.open(tmp_path / "without").evidence_of(0)


def test_bags_that_are_read_can_be_written_again(tmp_path):
    given = {"a": np.ones((2, 3), np.float32), "b": np.zeros((0, 3), np.float32)}
    evidence = {"a": np.array([0.5, 2]), "b": np.zeros(0)}
    bove.write_bags(tmp_path / "b", given, "mine", evidence)
    bags = bove.read_bags(tmp_path / "b")
    assert bags.system == "mine" and bags.get("c") is None and bags.get("a").shape == (2, 3)
    assert {name: bag.tolist() for name, bag in bags.items()} == {n: bag.tolist() for n, bag in given.items()}
    again = {name: bags.evidence_of(bags.bag_of(name)) for name in bags}
    bove.write_bags(tmp_path / "c", bags, bags.system, again)
    assert (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()
    with pytest.raises(BoveError, match="no such file"):
        bove.read_bags(tmp_path / "d")


@pytest.mark.parametrize("interrupt", [True, False])
def test_a_file_that_was_not_filled_never_appears(tmp_path, interrupt):
    with (
        pytest.raises(KeyboardInterrupt if interrupt else ValueError),
        BagWriter(tmp_path / "b", ["a", "b"], [1, 1], [0, 1], 2, "bove", "") as writer,
    ):
        writer.put(0, np.zeros((1, 2)))
        if interrupt:
            raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_an_error_before_anything_is_inferred(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(BoveError, match=r"b: cannot be written \(No space left on device\)"):
        write(tmp_path / "b")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("shape", [(1, 3), (2, 2), (2, 4)])
def test_vectors_of_another_shape_are_refused(tmp_path, shape):
    with (
        pytest.raises(ValueError, match="do not fit"),
        BagWriter(tmp_path / "b", IDS, LENGTHS, INDEX, 3, "bove", "") as writer,
    ):
        writer.put(0, np.zeros(shape))


@pytest.mark.parametrize("metadata", [None, {"format": "pt"}])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_bags_of_another_system_open(tmp_path, metadata, dtype):
    path = tmp_path / "other.safetensors"
    vectors = np.arange(6, dtype=dtype).reshape(3, 2)
    arrays = {"vectors": vectors, "offsets": np.array([0, 1, 3], np.int32), "ids": blob(["a", "b"])}
    save_file(arrays, path, metadata)
    bags = Bags.open(path)
    assert (bags.ids, bags.system, bags.model_hash) == (("a", "b"), "", "")
    assert bags["b"].dtype == np.float32
    np.testing.assert_array_equal(bags["b"], [[2, 3], [4, 5]])


GOOD = {"vectors": np.zeros((3, 2), np.float32), "offsets": np.array([0, 1, 3]), "ids": blob(["a", "b"])}


@pytest.mark.parametrize(
    ("change", "metadata", "message"),
    [
        ({"vectors": None}, {}, "has no 'vectors'"),
        ({"offsets": None}, {}, "has no 'offsets'"),
        ({"ids": None}, {}, "has no 'ids'"),
        ({}, {"format": "bove-graphs", "version": "1"}, "holds bove-graphs, not bove-bags"),
        ({}, {"format": "bove-bags", "version": "9"}, "bove-bags version 9"),
        ({"vectors": np.zeros(6, np.float32)}, {}, "'vectors' is float32 with 1 axes"),
        ({"vectors": np.zeros((3, 2), np.int64)}, {}, "'vectors' is int64"),
        ({"offsets": np.array([0.0, 1, 3])}, {}, "'offsets' is float64"),
        *(
            (
                {"offsets": np.array(offsets, np.int64)},
                {},
                "offsets do not rise from 0 to 3, the number of vectors",
            )
            for offsets in ([0, 1, 4], [0, 4, 3], [1, 2, 3], [])
        ),
        ({"index": np.array([0, 2])}, {}, "the index names bag 2 of 2, numbered from 0"),
        ({"index": np.array([0, -1])}, {}, "the index names bag -1 of 2"),
        ({"ids": blob(["a"])}, {}, "has 1 sentence ids for 2 sentences"),
        ({"ids": blob(["a", "a"])}, {}, "has 1 sentence ids for 2 sentences; give each its own"),
        ({"ids": np.array([255, 10, 65], np.uint8)}, {}, "not UTF-8"),
    ],
)
def test_a_file_that_holds_no_bags_is_refused_in_one_sentence(tmp_path, change, metadata, message):
    path = tmp_path / "bad.safetensors"
    arrays = {name: array for name, array in {**GOOD, **change}.items() if array is not None}
    save_file(arrays, path, metadata)
    with pytest.raises(BoveError, match=message) as e:
        Bags.open(path)
    assert str(e.value).startswith(f"{path}: ") and "\n" not in str(e.value)


@pytest.mark.parametrize("content", [b"", b"short", b"\x1f\x8b" + b"x" * 50, b"word 0.1 0.2\n" * 20])
def test_a_file_of_something_else_is_refused(tmp_path, content):
    path = tmp_path / "bad.safetensors"
    path.write_bytes(content)
    with pytest.raises(BoveError, match="not a safetensors file"):
        Bags.open(path)
