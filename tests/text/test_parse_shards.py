"""Slices of the distinct texts are whole chunks, and only all shards of one whole are put together."""

import gzip
import re

import pytest

from bove.bags.shards import read_shard
from bove.cli.parse import gather, slice_of, write_shard
from bove.errors import BoveError
from bove.text import parser as parsing
from bove.text.conll import Sentence, write_conllu

TEXTS = ["a", "b", "a", "c", "", "d", "b", "e", "f", "", "g"]
IDS = [f"p-{i}" for i in range(len(TEXTS))]
MADE_BY = ["bove = 1", "parser_sha256 = 00", "max_tokens = 9"]


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(parsing, "CHUNK", 2)


def tree(name, text):
    return Sentence(name, *((value,) for value in (text, "X", 0, "root"))) if text else Sentence(name)


def shards(folder, total, ids=IDS, texts=TEXTS, made_by=MADE_BY):
    """Files of all shards, of trees of one token."""
    items = parsing.distinct(ids, texts)
    paths = [folder / f"{number}-of-{total}.gz" for number in range(1, total + 1)]
    for number, path in enumerate(paths, 1):
        trees = [tree(*item) for item in slice_of(items, number, total)]
        write_shard(path, items, (number, total), trees, made_by)
    return paths


@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 9])
@pytest.mark.parametrize("total", [1, 2, 3, 4, 11])
def test_slices_are_whole_chunks_and_together_everything_once(count, total):
    items = list(range(count))
    slices = [slice_of(items, number, total) for number in range(1, total + 1)]
    assert [item for part in slices for item in part] == items
    assert all(part[0] % 2 == 0 for part in slices if part)
    chunks = [-(-len(part) // 2) for part in slices]
    assert max(chunks) - min(chunks) <= 1


@pytest.mark.parametrize("total", [1, 2, 3, 9])
def test_the_shards_in_any_order_give_every_sentence_its_tree(tmp_path, total):
    paths = shards(tmp_path, total)
    provenance, trees = gather(paths[::-1], IDS, TEXTS)
    assert provenance == MADE_BY
    assert list(trees) == [tree(name, text) for name, text in zip(IDS, TEXTS, strict=True)]


def test_without_sentences_there_are_no_trees(tmp_path):
    provenance, trees = gather(shards(tmp_path, 2, [], []), [], [])
    assert provenance == MADE_BY and list(trees) == []


def refused(message, paths, ids=IDS, texts=TEXTS):
    with pytest.raises(BoveError, match=message):
        list(gather(paths, ids, texts)[1])


def test_shards_of_other_sentences_are_refused(tmp_path):
    paths = shards(tmp_path, 2)
    refused("1-of-2.gz: a shard of other sentences", paths, texts=[*TEXTS[:-1], "h"])
    refused("1-of-2.gz: a shard of other sentences", paths, ids=["other", *IDS[1:]])


def test_shards_of_another_parser_or_limit_or_number_are_refused(tmp_path):
    paths = shards(tmp_path, 2)
    makes = [
        ([MADE_BY[0], "parser_sha256 = 01", MADE_BY[2]], "its parser_sha256 is 01, but that of .* is 00"),
        ([*MADE_BY[:2], "max_tokens = 8"], "its max_tokens is 8, but that of .* is 9"),
        (MADE_BY[:2], "its max_tokens is missing, but that of .* is 9"),
        ([*MADE_BY, "more = 1"], "its more is 1, but that of .* is missing"),
    ]
    for number, (made_by, message) in enumerate(makes):
        folder = tmp_path / str(number)
        folder.mkdir()
        refused(message, [paths[0], shards(folder, 2, made_by=made_by)[1]])
    refused("its number of shards is 3, but that of .* is 2", [paths[0], shards(tmp_path, 3)[2]])


def test_missing_and_repeated_shards_are_named(tmp_path):
    paths = shards(tmp_path, 4)
    refused("of 4 shards, 2, 4 not given", [paths[0], paths[2]])
    items = parsing.distinct(IDS, TEXTS)
    first = [tree(*item) for item in slice_of(items, 1, 999_999_999)]
    write_shard(tmp_path / "one", items, (1, 999_999_999), first, MADE_BY)
    refused("of 999999999 shards, 2, .*, 11 and 999999988 others not given", [tmp_path / "one"])
    refused("1-of-4.gz: shard 1, as .*1-of-4.gz is", [paths[0], paths[0]])


def test_a_shard_without_its_trees_is_refused(tmp_path):
    paths = shards(tmp_path, 2)
    items = parsing.distinct(IDS, TEXTS)
    trees = [tree(*item) for item in slice_of(items, 1, 2)]
    header = gzip.decompress(paths[0].read_bytes()).decode().partition("\n\n")[0]
    for change, message in (
        (trees[:-1], "has the tree None in the place of p-4"),
        ([*trees[:-1], Sentence("q")], "has the tree q in the place of p-4"),
        ([*trees, Sentence("q")], "has the tree q in the place of None"),
    ):
        damaged = tmp_path / "damaged"
        with open(damaged, "w", encoding="utf-8") as stream:
            stream.write(header + "\n\n")
            for one in change:
                write_conllu(stream, one)
        refused(message, [damaged, paths[1]])


def test_other_files_are_no_shards(tmp_path):
    (tmp_path / "plain").write_text("# bove = 1\n# sent_id = p-0\n1\ta\t_\tX\tX\t_\t0\troot\t_\t_\n\n")
    refused("plain: not a shard", [tmp_path / "plain"])


@pytest.mark.parametrize("text", ["", "1", "0/2", "3/2", "-1/2", "1/2/3", "a/b", "1/ 2", "1/" + "9" * 5000])
def test_a_shard_is_a_number_of_how_many(text):
    with pytest.raises(BoveError, match=f"shard {re.escape(repr(text))}: write NUMBER/HOW_MANY"):
        read_shard(text)
    assert read_shard("2/4") == (2, 4)
