"""Training, measuring and using a tagger and a parser, from file to file."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("stanza")
from tiny_treebank import tiny_sentences, write_treebank

from bove.cli.main import main
from bove.text import parser as parsing
from bove.text.conll import Sentence, read_sentences
from bove.text.pairs import Pair, write_pairs
from bove.text.vocabulary import Vocabulary

ROOT = Path(__file__).parent.parent.parent
GOLD = tiny_sentences()[:12]
TEXTS = [
    ("The dog sees a cat.", "The cat follows a dog.", True),
    ("", "…", True),
    ("unscored", "unscored", False),
    ("The dog sees a cat.", "The boy likes a horse. The girl\u2028sees it", True),
    ("😀", "dog " * 40, True),
]


def training(kind, folder):
    """Words that train a model just long enough to be right at times."""
    files = f"--treebank {folder}/treebank.conllu --dev {folder}/treebank.conllu --output {folder}/{kind}.pt"
    words = f"train-{kind} {files} --report {folder}/{kind}.json --preset tiny --seed 3"
    return f"{words} --option max_steps=20".split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Pairs, a treebank, and a tagger and a parser trained on it."""
    folder = tmp_path_factory.mktemp("parse")
    pairs = [
        Pair(f"set-{i:05d}", "d", "D", "similarity", "set", first, second, 1.0 if scored else None, scored)
        for i, (first, second, scored) in enumerate(TEXTS, 1)
    ]
    with open(folder / "pairs.jsonl", "w", encoding="utf-8") as stream:
        write_pairs(stream, pairs)
    write_treebank(folder / "treebank.conllu", tiny_sentences())
    write_treebank(folder / "gold.conllu", GOLD)
    for kind in ("tagger", "parser"):
        assert main(training(kind, folder)) == 0
    return folder


def with_models(folder):
    return ["--tagger", f"{folder}/tagger.pt", "--parser", f"{folder}/parser.pt", "--max-tokens", "30"]


def parsing_of(folder, output, *more):
    words = ["parse", "--pairs", f"{folder}/pairs.jsonl", *with_models(folder), "--output", str(output)]
    return [*words, *more]


def read_json(path):
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def parses(folder):
    assert main(parsing_of(folder, folder / "parses.conllu.gz", "--log", f"{folder}/parse.log")) == 0
    return folder / "parses.conllu.gz"


def test_reports_have_accuracy_counts_options_and_versions(folder):
    for kind, names in (("tagger", {"tags"}), ("parser", {"UAS", "LAS"})):
        report = read_json(folder / f"{kind}.json")
        assert report["kind"] == kind and set(report["accuracy"]) == names
        assert all(0 <= share <= 1 for share in report["accuracy"].values())
        assert report["training"]["used"] == 45 and report["options"]["max_steps"] == 20
        assert set(report["versions"]) == {"bove", "stanza", "torch"}
        assert len(report["state_sha256"]) == 64 and report["conventions"]["quotes"] == ["``", "''"]


def test_each_side_of_a_scored_pair_has_its_tree_in_order(parses):
    trees = list(read_sentences(parses))
    assert [tree.id for tree in trees] == [f"set-0000{i}.{side}" for i in (1, 2, 4, 5) for side in (1, 2)]
    assert [len(tree.forms) for tree in trees] == [6, 6, 0, 1, 6, 10, 1, 40]
    assert trees[0].heads == trees[4].heads
    assert trees[5].heads.count(0) == 2 and trees[7].heads.count(0) == 2


def test_the_first_tree_says_what_made_the_file(folder, parses):
    first, rest = gzip.decompress(parses.read_bytes()).decode().split("\n\n", 1)
    for kind in ("tagger", "parser"):
        assert f"# {kind}_sha256 = {read_json(folder / f'{kind}.json')['state_sha256']}\n" in first
    for name in ("bove", "stanza", "torch", "max_tokens"):
        assert f"# {name} = " in first and f"# {name} = " not in rest
    assert "# text = The boy likes a horse. The girl sees it\n" in rest


@pytest.fixture(scope="module")
def chunked(folder):
    """Parses in one go, with chunks of two."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parsing, "CHUNK", 2)
        assert main(parsing_of(folder, folder / "chunked.gz")) == 0
    return folder / "chunked.gz"


def gathering(folder, shards, output):
    return ["gather-parses", "--pairs", f"{folder}/pairs.jsonl", "--shards", *shards, "--output", str(output)]


@pytest.mark.parametrize("total", [1, 3, 4, 6])
def test_shards_together_equal_parsing_at_once_to_the_byte(folder, chunked, tmp_path, monkeypatch, total):
    monkeypatch.setattr(parsing, "CHUNK", 2)
    shards = [f"{tmp_path}/{number}.gz" for number in range(1, total + 1)]
    for number, shard in enumerate(shards, 1):
        assert main(parsing_of(folder, shard, "--shard", f"{number}/{total}")) == 0
    sizes = [len(list(read_sentences(shard))) for shard in shards]
    assert sizes == {1: [7], 3: [2, 2, 3], 4: [2, 2, 2, 1], 6: [0, 2, 2, 0, 2, 1]}[total]
    assert main(gathering(folder, shards, tmp_path / "out.gz")) == 0
    assert (tmp_path / "out.gz").read_bytes() == chunked.read_bytes()


def test_shards_that_do_not_belong_together_are_one_line(folder, tmp_path, refused):
    shards, out = [f"{tmp_path}/{number}.gz" for number in (1, 2)], tmp_path / "out.gz"
    assert main(parsing_of(folder, shards[0], "--shard", "1/2")) == 0
    assert main(parsing_of(folder, shards[1], "--shard", "2/2", "--max-tokens", "29")) == 0
    refused(gathering(folder, shards, out), "2.gz: its max_tokens is 29, but that of", out, lines=1)


def test_stanza_s_own_reader_takes_the_file(parses):
    from stanza.utils.conll import CoNLL

    found = CoNLL.conll2doc(input_str=gzip.decompress(parses.read_bytes()).decode()).sentences
    expected = [tree for tree in read_sentences(parses) if tree.forms]
    for sentence, tree in zip(found, expected, strict=True):
        words = [(word.text, word.xpos, word.head, word.deprel) for word in sentence.words]
        assert Sentence(sentence.sent_id, *zip(*words, strict=True)) == tree


def test_the_log_counts_what_was_odd(folder, parses):
    log = (folder / "parse.log").read_text(encoding="utf-8")
    assert "8 sentences, 7 of them distinct" in log and "8 trees for 4 scored pairs" in log
    for kind in (parsing.EMPTY, parsing.SEVERAL, parsing.CUT):
        assert f"1 {kind}" in log


def save_vocabulary(path, relations, **switches):
    tables = {"words": ("dog",), "tags": ("NN",), "relations": relations}
    counts = {"word_counts": (9,), "tag_counts": (9,), "relation_counts": (9,) * len(relations)}
    options = {"numbers": True, "punctuation": True, "lookup": ["exact"], "adjacency": True} | switches
    rest = {"rare_tags": (), "rare_relations": (), "thresholds": dict.fromkeys(tables, 1), "options": options}
    Vocabulary(**tables, **counts, **rest).save(path)


def test_a_parser_with_other_labels_is_refused_before_parsing(folder, tmp_path, refused):
    out, guard = tmp_path / "out.gz", ["--vocabulary", f"{tmp_path}/v.json", "--min-coverage"]
    save_vocabulary(tmp_path / "v.json", ("SBJ", "OBJ", "nsubj", "obj", "ADJACENCY"))
    assert main(parsing_of(folder, out, *guard, "0.5")) == 0
    out.unlink()
    refused(parsing_of(folder, out, *guard, "0.6"), "knows the labels of 50.0 %", out)
    save_vocabulary(tmp_path / "v.json", ("ADJACENCY",), dependencies=False)
    assert main(parsing_of(folder, out, *guard, "1")) == 0, "without dependencies no label is asked for"


def taking_over(folder, parses, output):
    return ["parse", "--pairs", f"{folder}/pairs.jsonl", "--parses", str(parses), "--output", str(output)]


def test_own_parses_are_taken_over_in_the_pairs_order(folder, parses, tmp_path):
    blocks = gzip.decompress(parses.read_bytes()).decode().strip().split("\n\n")
    extra = "# sent_id = other\n1\tx\t_\tX\tX\t_\t0\troot\t_\t_"
    (tmp_path / "own").write_text("\n\n".join([*blocks[::-1], extra]) + "\n\n", encoding="utf-8")
    assert main(taking_over(folder, tmp_path / "own", tmp_path / "out.gz")) == 0
    assert list(read_sentences(tmp_path / "out.gz")) == list(read_sentences(parses))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("set-00002.2", "set-00009.2", "no tree has sent_id set-00002.2"),
        ("set-00002.2", "set-00001.2", "two trees have sent_id set-00001.2"),
        ("# text = The cat follows", "# text = The cat leads", "set-00001.2 is of 'The cat leads a dog.'"),
    ],
)
def test_own_parses_of_other_sentences_are_refused(folder, parses, tmp_path, refused, old, new, message):
    text = gzip.decompress(parses.read_bytes()).decode()
    (tmp_path / "own").write_text(text.replace(old, new), encoding="utf-8")
    refused(taking_over(folder, tmp_path / "own", tmp_path / "out.gz"), message, tmp_path / "out.gz")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--tagger t.pt", "give --tagger and --parser"),
        ("--tagger t.pt --parses p.conllu", "leave out --tagger"),
        ("--tagger t.pt --parser p.pt --min-coverage 0.9", "give --vocabulary too"),
        ("--tagger t.pt --parser p.pt --max-tokens 9", "t.pt: no such file"),
        ("--tagger t.pt --parser p.pt --max-tokens 0", "give 1 or more"),
        ("--parses p.conllu --shard 1/2", "takes over finished trees"),
        ("--tagger t.pt --parser p.pt --max-tokens 9 --shard 3/2", "write NUMBER/HOW_MANY"),
    ],
)
def test_arguments_that_do_not_fit_are_one_line(folder, tmp_path, refused, words, message):
    out = tmp_path / "out.gz"
    start = ["parse", "--pairs", folder / "pairs.jsonl", "--output", out]
    refused([*start, *words.split()], message, out, lines=1)


def test_a_missing_development_file_is_one_line(folder, tmp_path, refused):
    words = [*training("tagger", folder), "--output", tmp_path / "t", "--report", tmp_path / "r"]
    refused([*words, "--dev", f"{folder}/none"], "none: no such file", tmp_path / "t", tmp_path / "r")


# `bove evaluate-parser`: tagger and parser together, on predicted tags.


def evaluation(folder, treebank, output, *more):
    words = ["evaluate-parser", "--treebank", str(treebank), *with_models(folder), "--output", str(output)]
    return [*words, *map(str, more)]


def report_of(folder, sentences, tmp_path, *more):
    treebank = write_treebank(tmp_path / "treebank.conllu", sentences)
    assert main(evaluation(folder, treebank, tmp_path / "report.json", *more)) == 0
    return read_json(tmp_path / "report.json")


@pytest.fixture(scope="module")
def made(folder):
    """The report on the treebank, and its trees."""
    assert not main(evaluation(folder, folder / "gold.conllu", folder / "r.json", "--trees", folder / "t.gz"))
    return read_json(folder / "r.json"), list(read_sentences(folder / "t.gz", strict=True))


def test_the_shares_are_those_of_the_trees_that_were_written(folder, made):
    report, trees = made
    assert [(tree.id, tree.forms) for tree in trees] == [(gold.id, gold.forms) for gold in GOLD]
    right, total = [0, 0, 0], 0
    for gold, tree in zip(GOLD, trees, strict=True):
        for i in range(len(gold.forms)):
            head = gold.heads[i] == tree.heads[i]
            right[0] += gold.tags[i] == tree.tags[i]
            right[1] += head
            right[2] += head and gold.relations[i] == tree.relations[i]
            total += 1
    assert list(report["accuracy"].values()) == [n / total for n in right]
    assert 0 < report["accuracy"]["LAS"] < 1
    assert report["tokens"] == total == report["tokens_without_punctuation"] + 12 + 4 * 4
    assert report["sentences"] == {"read": 12, "used": 12}
    assert report["arcs_with_known_labels"] == 1 and report["labels_the_parser_lacks"] == {}
    first = gzip.decompress((folder / "t.gz").read_bytes()).decode().split("\n\n")[0]
    assert f"# parser_sha256 = {report['parser_sha256']}" in first
    for kind in ("tagger", "parser"):
        assert report[f"{kind}_sha256"] == read_json(folder / f"{kind}.json")["state_sha256"]


def test_gold_tags_are_not_handed_to_the_parser(folder, made, tmp_path):
    report = report_of(folder, [replace(s, tags=("XX",) * len(s.tags)) for s in GOLD], tmp_path)
    assert report["accuracy"] == made[0]["accuracy"] | {"tags": 0}


def test_what_has_no_gold_tree_is_parsed_but_not_counted(folder, made, tmp_path):
    roots = replace(GOLD[0], heads=(0, *GOLD[0].heads[1:]), id="roots")
    odd = [roots, Sentence("empty"), replace(GOLD[1], tags=("_", *GOLD[1].tags[1:]), id="tag"), *GOLD]
    report = report_of(folder, odd, tmp_path, "--trees", tmp_path / "trees.conllu")
    assert report["accuracy"] == made[0]["accuracy"] and report["tokens"] == made[0]["tokens"]
    faults = dict.fromkeys(("with several roots", "without tokens", "with untagged tokens"), 1)
    assert report["sentences"] == {"read": 15, "used": 12, **faults}
    trees = list(read_sentences(tmp_path / "trees.conllu"))
    assert [(tree.id, tree.forms) for tree in trees] == [(gold.id, gold.forms) for gold in odd]


def test_labels_that_the_parser_lacks_and_long_sentences_are_reported(folder, tmp_path):
    others = [replace(s, relations=tuple(r.replace("OBJ", "obj") for r in s.relations)) for s in GOLD]
    report = report_of(folder, others, tmp_path, "--max-tokens", "6", "--log", tmp_path / "log")
    assert report["labels_the_parser_lacks"] == {"obj": 12} and report["sentences_cut"] == 4
    assert report["arcs_with_known_labels"] == 1 - 12 / report["tokens"]
    said = (tmp_path / "log").read_text(encoding="utf-8")
    assert "labels that the parser lacks: obj (12)" in said and "4 sentences longer than the limit" in said
    assert "only 12 sentences: take the accuracy as rough" in said


def test_equal_input_gives_equal_bytes(folder, parses, made, tmp_path):
    assert main(parsing_of(folder, tmp_path / "again.gz")) == 0
    assert (tmp_path / "again.gz").read_bytes() == parses.read_bytes()
    more = ("--trees", tmp_path / "t.gz")
    assert main(evaluation(folder, folder / "gold.conllu", tmp_path / "r.json", *more)) == 0
    for name in ("r.json", "t.gz"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def test_without_any_gold_tree_it_is_one_line_and_nothing_is_written(folder, tmp_path, refused):
    treebank = write_treebank(tmp_path / "t", [replace(GOLD[0], heads=(0,) * len(GOLD[0].heads))])
    words = evaluation(folder, treebank, tmp_path / "r", "--trees", tmp_path / "trees.gz")
    refused(words, "none of its 1 sentences has a gold tree to compare with (1 with several roots)")
    assert [path.name for path in tmp_path.iterdir()] == ["t"]
