"""YAML that is malformed, endless or odd: one clear line, never another error."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bove.config.load import check_part, fill, load, load_schema, resolve, store, summary
from bove.errors import BoveError

SCHEMA = Path(__file__).parent.parent / "bove" / "config" / "config.schema.yaml"
SMALL = """
run: small
treebank: {train: train.conll, dev: dev.conll}
vectors: {file: vectors.bin}
datasets:
  sts: {label: STS, task: similarity, subsets: {a: {input: a.txt, gold: a.gs}}}
"""
# nine values, nine times nine times …
LAUGHS = "\n".join(f"{b}: &{b} [{','.join(['*' + a] * 9)}]" for a, b in zip("abcdef", "bcdefg", strict=True))


def _places(schema, where=()):
    """The path of every key, those with free names as `*`."""
    children = list(schema.get("properties", {}).items())
    if isinstance(schema.get("additionalProperties"), dict):
        children.append(("*", schema["additionalProperties"]))
    for name, child in children:
        yield (*where, name)
        yield from _places(child, (*where, name))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "0.yaml, line 1: not valid YAML (expected the node content"),
        ("just text", "0.yaml: holds 'just text'; write keys and values"),
        (
            "seed: 1\nseed: 2",
            "0.yaml, line 2: key 'seed' stands twice in its section, first in line 1; keep one",
        ),
        ("model: {rank: 1, rank: 2}", "0.yaml, line 1: key 'rank' stands twice"),
        ("a: &a [*a]", "0.yaml: nested too deeply, or a part that holds itself"),
        ("a: " + "[" * 3000 + "]" * 3000, "0.yaml: nested too deeply"),
        ("a: &a [1,1,1,1,1,1,1,1,1]\n" + LAUGHS, "0.yaml: more than 100000 values with its aliases"),
        ("model:\n\trank: 1", "0.yaml, line 2: not valid YAML (a tab before its text; indent with spaces)"),
        ("? [a]\n: b", "0.yaml, line 1: a key that is no text; write a name"),
        ("seed: !x y", "0.yaml, line 1: not valid YAML (could not determine a constructor for the tag '!x'"),
        (
            "seed: !!python/object:os.system x",
            "0.yaml, line 1: not valid YAML (could not determine a constructor",
        ),
        ("seed: !!binary 'x'", "0.yaml, line 1: not valid YAML (failed to decode base64 data"),
        ("<<: 3", "0.yaml, line 1: not valid YAML (expected a mapping"),
        ("a: \0", "0.yaml: not valid YAML (unacceptable character #x0000"),
        ('run: "a\\n"', "0.yaml, line 1: '\\n' in 'a\\n'; write one line of plain text"),
        ('run: a\n"b\\0": 1', "0.yaml, line 2: '\\x00' in 'b\\x00'; write one line"),
        ('seeds: ["\\ud800"]', "0.yaml, line 1: '\\ud800' in '\\ud800'; write one line"),
        ("run: 'a\u2028b'", "0.yaml, line 1: '\\u2028' in "),
        ("a: 1\n---\nb: 2", "0.yaml, line 2: not valid YAML (but found another document"),
    ],
)
def test_a_malformed_file_is_named(tmp_path, text, message):
    path = tmp_path / "0.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BoveError) as error:
        load([path], SCHEMA)
    assert message in str(error.value)
    assert "\n" not in str(error.value) and len(str(error.value)) < 300


@pytest.mark.parametrize(("text", "value"), [("0300", 300), ("010", 10), ("0x10", 16), ("1_000", 1000)])
def test_a_number_is_what_is_written(tmp_path, text, value):
    path = tmp_path / "0.yaml"
    path.write_text(f"model: {{rank: {text}, alpha: {text}}}", encoding="utf-8")
    assert fill(load([path], SCHEMA), load_schema(SCHEMA), "")["model"]["rank"] == value
    assert fill(load([path], SCHEMA), load_schema(SCHEMA), "")["model"]["alpha"] == value


@pytest.mark.parametrize("text", ["1:30", "190:20:30", "1:30.5"])
def test_minutes_and_seconds_are_no_number(tmp_path, text):
    path = tmp_path / "0.yaml"
    path.write_text(f"seed: {text}", encoding="utf-8")
    with pytest.raises(BoveError, match=f"seed: '{text}' has the wrong type; allowed: integer"):
        check_part(load([path], SCHEMA), SCHEMA)


@settings(deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=80).map(str.encode))
def test_random_bytes_give_a_configuration_or_one_clear_error(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("config") / "x.yaml"
    path.write_bytes(data)
    with suppress(BoveError):
        resolve(load([path], SCHEMA), SCHEMA)


odd = st.sampled_from(
    ["[]", "{}", "-1", "1e999", "nan", "~", "''", "{a: {}}", "[1, x]", "no", "010", "2024-99-99", "!!int x"]
)


@settings(deadline=None)
@given(st.data())
def test_any_value_under_any_key_is_taken_or_refused_in_one_line(tmp_path_factory, data):
    where = data.draw(st.sampled_from(list(_places(load_schema(SCHEMA)))))
    text = data.draw(odd)
    for name in reversed(where):
        text = f"{{{data.draw(st.sampled_from(['x', 'sts'])) if name == '*' else name}: {text}}}"
    folder = tmp_path_factory.mktemp("config")
    for name, content in (("a", SMALL), ("b", text)):
        (folder / name).write_text(content, encoding="utf-8")
    try:
        config = resolve(load([folder / "a", folder / "b"], SCHEMA), SCHEMA)
    except BoveError as e:
        assert "\n" not in str(e) and str(e)
    else:
        store(config, folder / "c")
        assert resolve(load([folder / "c"], SCHEMA), SCHEMA) == config
        assert "\n" not in summary(config)
