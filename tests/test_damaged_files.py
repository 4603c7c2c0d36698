"""Files of the stages that are cut, changed, of another version or of another kind: one clear line each."""

import io
import json
import pickle
import struct
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from artefact_files import READERS, write_all

from bove.errors import BoveError
from bove.evaluate.results import read_scores
from bove.text.parser import read_checkpoint
from bove.text.vectors import WordVectors

ARRAYS = ("vectors", "graphs", "model", "low-rank model", "bags")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Content of a sound file of each kind, and a place to put a changed one."""
    folder = tmp_path_factory.mktemp("artefacts")
    contents = {name: path.read_bytes() for name, path in write_all(folder).items()}
    return contents, folder / "changed"


def read(files, name, content):
    """The file's content as its reader gives it; a refusal must be one line that names the file."""
    path = files[1]
    path.write_bytes(content)
    try:
        READERS[name](path)
    except BoveError as e:
        assert str(e).startswith(str(path)) and "\n" not in str(e)
        raise


@pytest.mark.parametrize("name", READERS)
def test_a_sound_file_is_read_and_a_shortened_one_is_not(files, name):
    content = files[0][name]
    read(files, name, content)
    for length in range(0, len(content) - 1, max(1, len(content) // 60)):
        if name == "pairs" and (not length or content[:length].endswith(b"}\n")):
            continue  # a file of fewer pairs
        with pytest.raises(BoveError):
            read(files, name, content[:length])


@pytest.mark.parametrize("name", READERS)
def test_a_file_of_another_kind_is_refused(files, name):
    for other, content in files[0].items():
        if other.split()[-1] != name.split()[-1]:
            with pytest.raises(BoveError):
                read(files, name, content)


def split(content):
    """Header and raw arrays of a safetensors file."""
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def joined(header, raw, **metadata):
    """Such a file again, some of its metadata changed."""
    text = json.dumps(header | {"__metadata__": header["__metadata__"] | metadata}).encode()
    return struct.pack("<Q", len(text)) + text + raw


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_of_other_types_and_shapes_are_refused(files, name):
    header, raw = split(files[0][name])
    # bytes may be read as truth values or the other way round
    for array in header.keys() - {"__metadata__", "frozen", "ids"}:
        start, end = header[array]["data_offsets"]
        for code, size in (("F8_E4M3", 1), ("BF16", 2), ("U8", 1), ("I64", 8), ("F64", 8), ("BOOL", 1)):
            if (end - start) % size == 0 and code != header[array]["dtype"]:
                for shape in ([(end - start) // size], [1, (end - start) // size, 1]):
                    changed = header | {array: header[array] | {"dtype": code, "shape": shape}}
                    with pytest.raises(BoveError):
                        read(files, name, joined(changed, raw))


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("value", ["", "[]", "{}", "3", "null", '"x"', "[[1]]", '{"words": 3}', "-1"])
def test_metadata_of_other_kinds_are_taken_or_refused_in_one_line(files, name, value):
    header, raw = split(files[0][name])
    for key in header["__metadata__"]:
        same = header["__metadata__"][key] == value or key in ("format", "version")
        hashed = name in ("graphs", "model", "low-rank model") and not same
        with pytest.raises(BoveError, match="its hash differs") if hashed else suppress(BoveError):
            read(files, name, joined(header, raw, **{key: value}))


@pytest.mark.parametrize("name", [*ARRAYS, "scores", "vocabulary"])
def test_another_version_is_named(files, name):
    content = files[0][name]
    if name == "vocabulary":
        changed = content.replace(b'"version": 1', b'"version": 2')
    elif name == "scores":
        pa = pytest.importorskip("pyarrow.parquet")
        table, stream = pa.read_table(io.BytesIO(content)), io.BytesIO()
        pa.write_table(table.replace_schema_metadata({**table.schema.metadata, b"version": b"2"}), stream)
        changed = stream.getvalue()
    else:
        changed = joined(*split(content), version="2")
    with pytest.raises(BoveError, match=r"version 2"):
        read(files, name, changed)


@pytest.mark.parametrize("name", ["model", "low-rank model"])
@pytest.mark.parametrize("part", [{"relations": '["x"]'}, {"groups": '{"words": [0, 9999]}'}])
def test_a_model_whose_names_do_not_fit_its_arrays_is_refused(files, name, part):
    with pytest.raises(BoveError, match="its hash differs"):
        read(files, name, joined(*split(files[0][name]), **part))


def test_word_vectors_whose_index_leads_out_of_them_are_refused_when_asked(files):
    header, raw = split(files[0]["vectors"])
    start, end = header["rows"]["data_offsets"]
    changed = raw[:start] + struct.pack("<q", 2**40) * ((end - start) // 8) + raw[end:]
    files[1].write_bytes(joined(header, changed))
    with pytest.raises(BoveError, match="an index to rows that it lacks"):
        WordVectors.open(files[1]).find(["dog"])


def test_scores_whose_numbers_of_rows_differ_or_whose_text_is_not_utf_8_are_refused(files):
    # a file that fuzzing found; it asked for more memory than machines have
    with pytest.raises(BoveError, match="its numbers of rows differ"):
        read_scores(Path(__file__).parent / "data" / "scores-of-too-many-rows.parquet")
    content = files[0]["scores"].replace(b"model_hash:bove", b"model_hash:bov\xff")
    with pytest.raises(BoveError, match="not a Parquet file, or a damaged one"):
        read(files, "scores", content)


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
@pytest.mark.parametrize(
    "pickled",
    [b"", b".", b"N.", b"}.", b"garbage", b"Q.", b"0.", b"h\x01.", b"}(K\x01u.", pickle.dumps(print)],
)
def test_a_stanza_model_that_is_none_is_refused_and_runs_nothing(tmp_path, pickled):
    pytest.importorskip("torch")
    with zipfile.ZipFile(tmp_path / "x.pt", "w") as packed:
        packed.writestr("archive/data.pkl", pickled)
        packed.writestr("archive/version", "3\n")
    (tmp_path / "y.pt").write_bytes(pickled)
    for name in ("x.pt", "y.pt"):
        with pytest.raises(BoveError, match="not a Stanza"):
            read_checkpoint(tmp_path / name, "tagger")
