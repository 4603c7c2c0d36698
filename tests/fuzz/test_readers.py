"""Every reader meets any bytes with a result or with one clear error; a sound file it reads."""

from random import Random

import pytest
from fuzz.changes import change
from fuzz.found import kept
from fuzz.readers import READERS
from fuzz.seeds import seeds
from hypothesis import given
from hypothesis import strategies as st

from bove.errors import BoveError


@pytest.fixture(scope="module")
def sound():
    return seeds()


def read(name, path, content):
    """Read a file; a refusal is one line."""
    path.write_bytes(content)
    try:
        READERS[name](path)
    except BoveError as e:
        assert str(e).strip() and "\n" not in str(e)
        return str(e)
    return None


@pytest.mark.parametrize("name", READERS)
def test_sound_files_are_read(sound, name, tmp_path):
    assert sound[name]
    for content in sound[name]:
        refused = read(name, tmp_path / "file", content)
        # a treebank has other columns; a workflow's model has its names elsewhere; changes are no whole
        alone = ("has a head", "without names", "is missing; add it", "of no kind", "none of the kinds",
                 "a zip archive")  # fmt: skip
        assert refused is None or any(part in refused for part in alone)


@pytest.fixture(scope="module")
def found():
    return kept()


@pytest.mark.parametrize("name", READERS)
def test_what_fuzzing_has_found_gives_a_result_or_one_clear_error(found, name, tmp_path):
    for path, content in found.items():
        if path.startswith(f"{name}/"):
            read(name, tmp_path / "file", content)


ODD = [b"\xff", b"\x00", b"\r", b"\n\n", b"\t", b'"', b"{", b"[" * 3000, b"9" * 5000, b"nan", b"1e999", b"-1"]
ODD += ["\u00a0".encode(), "\u2028".encode(), b"\xed\xa0\x80", b"\\ud800", b"null", b"#", b" = ", b",", b"."]


@pytest.mark.parametrize("name", READERS)
@given(st.data())
def test_any_bytes_give_a_result_or_one_clear_error(sound, tmp_path_factory, name, data):
    content = data.draw(st.binary(max_size=80) | st.sampled_from(sound[name]))
    for _ in range(data.draw(st.integers(0, 3))):
        start = data.draw(st.integers(0, len(content)))
        odd = data.draw(st.sampled_from(ODD) | st.binary(max_size=2))
        content = content[:start] + odd + content[start + data.draw(st.integers(0, 3)) :]
    read(name, tmp_path_factory.getbasetemp() / "file", content)


PARTED = (
    "mapped", "dataset", "json-graphs", "vocabulary", "graphs", "model", "estimator", "checkpoint", "archive",
    "bags", "bag-shards", "pairs", "snli", "kinds", "check",
)  # fmt: skip


@pytest.mark.parametrize("name", PARTED)
def test_odd_parts_in_a_sound_file_give_a_result_or_one_clear_error(sound, name, tmp_path):
    chance, changes = Random(0), 0
    for _ in range(150):
        content = chance.choice(sound[name])
        changed = change(content, chance)
        changes += changed != content
        read(name, tmp_path / "file", changed)
    assert changes > 30
