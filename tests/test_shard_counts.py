"""The number of shards follows the files that are there, and then stays as long as what was made with it."""

import gzip

import pytest

from bove.bags.shards import AUTO, ShardCounts


@pytest.fixture
def run(tmp_path):
    """The folder of a run that has the folder for what is made."""
    (tmp_path / "run" / "parses" / "sts").mkdir(parents=True)
    return tmp_path / "run"


def files(folder, *lines):
    """Files of so many lines."""
    paths = [folder / f"{number}.txt" for number in range(len(lines))]
    for path, count in zip(paths, lines, strict=True):
        path.write_text("A cat sleeps\tA dog sleeps\n" * count, encoding="utf-8")
    return [str(path) for path in paths]


def number(run, paths, setting=AUTO, choosing=True, target="parses/sts"):
    """What a run chooses at a limit of 10 sentences; it then keeps it."""
    counts = ShardCounts(run, choosing)
    found = counts.number(target, "gz", setting, 10, paths)
    counts.store()
    return found


@pytest.mark.parametrize(
    ("lines", "expected"), [((), 1), ((0,), 1), ((5,), 1), ((6,), 2), ((5, 5), 2), ((5, 6), 3), ((50,), 10)]
)
def test_two_sentences_a_line_are_shared_out(run, tmp_path, lines, expected):
    paths = files(tmp_path, *lines)
    assert number(run, [*paths, *paths, str(tmp_path / "absent")]) == expected


def test_packed_files_count_as_their_content_and_damaged_ones_as_nothing(run, tmp_path):
    [path] = files(tmp_path, 12)
    packed, damaged = tmp_path / "packed.gz", tmp_path / "damaged.gz"
    packed.write_bytes(gzip.compress((tmp_path / "0.txt").read_bytes()))
    damaged.write_bytes(packed.read_bytes()[:-9])
    assert number(run, [str(packed)]) == 3
    assert number(run, [str(damaged)], target="parses/other") == 1
    assert number(run, [str(tmp_path)], target="parses/folder") == 1


def test_a_run_that_has_begun_keeps_its_number(run, tmp_path):
    """Its jobs do whatever happens to the files, and so does a later run while some of it is there."""
    assert number(run, []) == 1
    [path] = files(tmp_path, 30)
    assert number(run, [path], choosing=False) == 1
    for made, kept, later in (("sts.gz", 1, 6), ("sts/2-of-6.gz", 6, 1)):
        (run / "parses" / made).touch()
        assert number(run, [path] if kept == 1 else []) == kept
        (run / "parses" / made).unlink()
        assert number(run, [path] if kept == 1 else []) == later


def test_a_number_that_is_given_holds_and_is_kept_when_it_is_given_no_more(run, tmp_path):
    paths = files(tmp_path, 30)
    assert number(run, paths, setting=2) == 2
    (run / "parses" / "sts.gz").touch()
    assert number(run, paths) == 2
    assert number(run, paths, setting=3) == 3


def test_what_is_made_already_without_a_kept_number_was_made_at_once(run, tmp_path):
    (run / "parses" / "sts.gz").touch()
    for text in ("", "[]", '{"parses/sts": 0}', '{"parses/sts": "2"}'):
        (run / "shards.json").write_text(text, encoding="utf-8")
        assert number(run, files(tmp_path, 30)) == 1


def test_the_numbers_of_what_is_left_out_stay(run, tmp_path):
    assert number(run, files(tmp_path, 30)) == 6
    assert number(run, [], target="parses/other") == 1
    assert number(run, [], choosing=False) == 6
