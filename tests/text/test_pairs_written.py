"""The file pairs.jsonl."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bove.errors import BoveError
from bove.text.pairs import Pair, read_pairs, write_pairs

SOUND = (
    '{"id": "a-1", "dataset": "d", "label": "l", "task": "similarity", "subset": "a", "first": "x", '
    '"second": "y", "gold": 1.5, "scored": true}'
)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{}", "line 1: not a sentence pair"),
        ('{"id": 1}', "line 1: not a sentence pair"),
        ("nonsense", "line 1: not JSON"),
        ("[" * 100_000, "line 1: not JSON"),
        ('{"id": "a", "id": "b"}', "line 1: key 'id' stands twice"),
        (SOUND.replace("1.5", "NaN"), "line 1: a value of the wrong kind"),
        (SOUND.replace("1.5", "1e999"), "line 1: a value of the wrong kind"),
        (SOUND.replace("1.5", "1" + "0" * 400), "line 1: a value of the wrong kind"),
        (SOUND.replace("1.5", "true"), "line 1: a value of the wrong kind"),
        (SOUND.replace("1.5", '"neutral"'), "line 1: a value of the wrong kind"),
        (SOUND.replace("similarity", "entailment"), "line 1: a value of the wrong kind"),
        (SOUND.replace('"x"', "null"), "line 1: a value of the wrong kind"),
        (
            SOUND.replace("similarity", "entailment").replace("1.5", r'"\ud83d"'),
            "line 1: half a surrogate pair",
        ),
        (
            '{"id": 1, "dataset": "d", "label": "l", "task": "similarity", "subset": "s", "first": "a", '
            '"second": "b", "gold": 1, "scored": true}',
            "line 1: a value of the wrong kind",
        ),
    ],
)
def test_a_damaged_pairs_file_is_refused(tmp_path, line, message):
    (tmp_path / "pairs.jsonl").write_text(line, encoding="utf-8")
    with pytest.raises(BoveError, match=message):
        read_pairs(tmp_path / "pairs.jsonl")


def test_a_sound_line_is_a_pair(tmp_path):
    (tmp_path / "pairs.jsonl").write_text(SOUND, encoding="utf-8")
    assert read_pairs(tmp_path / "pairs.jsonl") == [
        Pair("a-1", "d", "l", "similarity", "a", "x", "y", 1.5, True)
    ]


def test_a_pair_id_that_stands_twice_is_refused(tmp_path):
    pair = Pair("a-1", "d", "D", "similarity", "a", "x", "y", 1.0, True)
    with open(tmp_path / "pairs.jsonl", "w", encoding="utf-8") as stream:
        write_pairs(stream, [pair, pair])
    with pytest.raises(BoveError, match="line 2: pair id 'a-1' is repeated"):
        read_pairs(tmp_path / "pairs.jsonl")


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
scores = st.none() | st.floats(allow_nan=False, allow_infinity=False)
pair_lists = st.lists(
    st.builds(
        lambda name, first, second, gold: Pair(
            name, "d", "D", "similarity", "s", first, second, gold, gold is not None
        ),
        texts,
        texts,
        texts,
        scores,
    ),
    max_size=4,
    unique_by=lambda pair: pair.id,
)


@given(pair_lists)
def test_what_is_written_is_read_back(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("pairs") / "pairs.jsonl"
    with open(path, "w", encoding="utf-8", newline="\n") as stream:
        write_pairs(stream, pairs)
    assert read_pairs(path) == pairs
