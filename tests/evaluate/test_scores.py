"""The file of scores comes back as written, always in the same bytes, and nothing foreign passes."""

import dataclasses

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bove.errors import BoveError
from bove.evaluate.results import Scores, read_scores, write_scores

SCORES = Scores(
    dataset="sts14",
    label="STS-2014",
    task="similarity",
    ids=("a-1", "a-2", "b-1"),
    subsets=("a", "a", "b"),
    gold=("1.5", None, "5.0"),
    scored=np.array([True, False, True]),
    values={"words": np.array([0.25, np.nan, -0.5]), "bove": np.array([0.1, np.nan, 0.2])},
    empty={"words": np.array([False, False, True]), "bove": np.zeros(3, bool)},
    pairs_sha256="12ab",
    model_hashes={"words": "", "bove": "34cd"},
    lengths=np.array([[7, 3], [0, 0], [0, 12]]),
)


def test_scores_come_back_as_written(tmp_path):
    write_scores(SCORES, tmp_path / "s.parquet")
    back = read_scores(tmp_path / "s.parquet")
    for field in dataclasses.fields(Scores):
        np.testing.assert_equal(getattr(back, field.name), getattr(SCORES, field.name))


def test_the_columns_are_those_of_the_format(tmp_path):
    write_scores(SCORES, tmp_path / "s.parquet")
    table = pq.read_table(tmp_path / "s.parquet")
    assert table.column_names == [
        *("id", "dataset", "label", "task", "subset", "gold", "scored", "length_1", "length_2"),
        *("score:words", "empty:words", "score:bove", "empty:bove"),
    ]
    assert table["score:words"].to_pylist() == [0.25, None, -0.5]
    assert table["empty:words"].to_pylist() == [False, False, True]
    assert table["length_2"].to_pylist() == [3, None, 12]
    assert table["gold"].to_pylist() == ["1.5", None, "5.0"]
    assert table.schema.metadata[b"pairs_sha256"] == b"12ab"
    assert table.schema.metadata[b"model_hash:bove"] == b"34cd"


def test_the_same_scores_give_the_same_bytes(tmp_path):
    write_scores(SCORES, tmp_path / "one")
    write_scores(read_scores(tmp_path / "one"), tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"values": {"words": np.full(3, np.nan), "bove": np.zeros(3)}},
            "a scored pair has no score by 'words'",
        ),
        ({"gold": ("1.5", None, None)}, "pair 'b-1' is scored, but its gold is None"),
        ({"gold": ("neutral", None, "1")}, "pair 'a-1' is scored, but its gold is 'neutral'"),
        ({"gold": ("nan", None, "1")}, "pair 'a-1' is scored, but its gold is 'nan'"),
    ],
)
def test_scores_that_can_not_be_are_refused(tmp_path, change, message):
    write_scores(dataclasses.replace(SCORES, **change), tmp_path / "s.parquet")
    with pytest.raises(BoveError, match=message):
        read_scores(tmp_path / "s.parquet")


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "s.parquet"
    with pytest.raises(BoveError, match="no such file"):
        read_scores(path)
    path.write_text("id,score\n", encoding="utf-8")
    with pytest.raises(BoveError, match="not a Parquet file"):
        read_scores(path)
    pq.write_table(pa.table({"x": [1]}), path)
    with pytest.raises(BoveError, match="an unnamed format"):
        read_scores(path)


def test_a_cut_file_is_refused(tmp_path):
    write_scores(SCORES, tmp_path / "s.parquet")
    raw = (tmp_path / "s.parquet").read_bytes()
    for size in (0, 3, 100, len(raw) - 1):
        (tmp_path / "cut").write_bytes(raw[:size])
        with pytest.raises(BoveError, match="damaged"):
            read_scores(tmp_path / "cut")


@pytest.mark.parametrize("column", ["task", "gold", "length_1", "empty:bove"])
def test_a_missing_column_is_named(tmp_path, column):
    write_scores(SCORES, tmp_path / "s.parquet")
    pq.write_table(pq.read_table(tmp_path / "s.parquet").drop_columns([column]), tmp_path / "s.parquet")
    with pytest.raises(BoveError, match=f"has no column '{column}'"):
        read_scores(tmp_path / "s.parquet")


def test_two_data_sets_in_a_file_are_refused(tmp_path):
    write_scores(SCORES, tmp_path / "s.parquet")
    table = pq.read_table(tmp_path / "s.parquet")
    mixed = table.set_column(1, "dataset", pa.array(["sts14", "sts14", "sts15"]))
    pq.write_table(mixed, tmp_path / "s.parquet")
    with pytest.raises(BoveError, match="column 'dataset' has 2 values"):
        read_scores(tmp_path / "s.parquet")
