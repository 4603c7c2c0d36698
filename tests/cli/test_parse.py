"""`bove train-tagger`, `bove train-parser` and `bove parse` from file to file."""

import gzip
import json

import pytest

pytest.importorskip("stanza")
from tiny_treebank import tiny_sentences, write_treebank

from bove.cli.main import main
from bove.text import parser as parsing
from bove.text.conll import read_sentences
from bove.text.pairs import Pair, write_pairs
from bove.text.vocabulary import Vocabulary

TEXTS = [
    ("The dog sees a cat.", "The cat follows a dog.", True),
    ("", "…", True),
    ("unscored", "unscored", False),
    ("The dog sees a cat.", "The boy likes a horse. The girl\u2028sees it", True),
    ("😀", "dog " * 40, True),
]


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
    treebank = write_treebank(folder / "treebank.conllu", tiny_sentences())
    for kind in ("tagger", "parser"):
        words = f"train-{kind} --treebank {treebank} --dev {treebank} --preset tiny --seed 3".split()
        words += [
            "--option",
            "max_steps=20",
            "--output",
            f"{folder}/{kind}.pt",
            "--report",
            f"{folder}/{kind}.json",
        ]
        assert main(words) == 0
    return folder


def parse(folder, output, *more):
    models = ["--tagger", f"{folder}/tagger.pt", "--parser", f"{folder}/parser.pt", "--max-tokens", "30"]
    return main(["parse", "--pairs", f"{folder}/pairs.jsonl", *models, "--output", str(output), *more])


@pytest.fixture(scope="module")
def parses(folder):
    assert parse(folder, folder / "parses.conllu.gz", "--log", f"{folder}/parse.log") == 0
    return folder / "parses.conllu.gz"


def test_reports_tell_accuracy_counts_options_and_versions(folder):
    for kind, names in (("tagger", {"tags"}), ("parser", {"UAS", "LAS"})):
        report = json.loads((folder / f"{kind}.json").read_text(encoding="utf-8"))
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
    text = gzip.decompress(parses.read_bytes()).decode()
    first, rest = text.split("\n\n", 1)
    report = json.loads((folder / "parser.json").read_text(encoding="utf-8"))
    assert f"# parser_sha256 = {report['state_sha256']}" in first
    tagger = json.loads((folder / "tagger.json").read_text(encoding="utf-8"))
    assert f"# tagger_sha256 = {tagger['state_sha256']}" in first and "# max_tokens = 30\n" in first
    for name in ("bove", "stanza", "torch"):
        assert f"# {name} = " in first and f"# {name} = " not in rest
    assert "# text = The boy likes a horse. The girl sees it\n" in rest


def test_equal_input_gives_equal_bytes(folder, parses, tmp_path):
    assert parse(folder, tmp_path / "again.gz") == 0
    assert (tmp_path / "again.gz").read_bytes() == parses.read_bytes()


@pytest.fixture(scope="module")
def chunked(folder):
    """Parses in one go, with chunks of two."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parsing, "CHUNK", 2)
        assert parse(folder, folder / "chunked.gz") == 0
    return folder / "chunked.gz"


def gather(folder, shards, output):
    return main(
        ["gather-parses", "--pairs", f"{folder}/pairs.jsonl", "--shards", *shards, "--output", str(output)]
    )


@pytest.mark.parametrize("total", [1, 3, 4, 6])
def test_shards_together_are_equal_to_the_byte_to_parsing_at_once(
    folder, chunked, tmp_path, monkeypatch, total
):
    monkeypatch.setattr(parsing, "CHUNK", 2)
    shards = [f"{tmp_path}/{number}.gz" for number in range(1, total + 1)]
    for number, shard in enumerate(shards, 1):
        assert parse(folder, shard, "--shard", f"{number}/{total}") == 0
    sizes = [len(list(read_sentences(shard))) for shard in shards]
    assert sizes == {1: [7], 3: [2, 2, 3], 4: [2, 2, 2, 1], 6: [0, 2, 2, 0, 2, 1]}[total]
    assert gather(folder, shards, tmp_path / "out.gz") == 0
    assert (tmp_path / "out.gz").read_bytes() == chunked.read_bytes()


def test_shards_that_do_not_belong_together_are_one_line(folder, tmp_path, capsys):
    assert parse(folder, tmp_path / "1.gz", "--shard", "1/2") == 0
    assert parse(folder, tmp_path / "2.gz", "--shard", "2/2", "--max-tokens", "29") == 0
    capsys.readouterr()
    assert gather(folder, [f"{tmp_path}/1.gz", f"{tmp_path}/2.gz"], tmp_path / "out.gz") == 2
    lines = capsys.readouterr().err.strip().split("\n")
    assert len(lines) == 1 and "2.gz: its max_tokens is 29, but that of" in lines[0]
    assert not (tmp_path / "out.gz").exists()


def test_stanza_s_own_reader_takes_the_file(parses):
    from stanza.utils.conll import CoNLL

    text = gzip.decompress(parses.read_bytes()).decode()
    found = CoNLL.conll2doc(input_str=text).sentences
    expected = [tree for tree in read_sentences(parses) if tree.forms]
    assert [sentence.sent_id for sentence in found] == [tree.id for tree in expected]
    for sentence, tree in zip(found, expected, strict=True):
        assert tuple(word.text for word in sentence.words) == tree.forms
        assert tuple(word.head for word in sentence.words) == tree.heads
        assert tuple(word.xpos for word in sentence.words) == tree.tags
        assert tuple(word.deprel for word in sentence.words) == tree.relations


def test_the_log_counts_what_was_odd(folder, parses):
    log = (folder / "parse.log").read_text(encoding="utf-8")
    assert "8 sentences, 7 of them distinct" in log
    for line in (
        "1 texts without a token",
        "1 texts of several sentences",
        "1 sentences longer than the limit",
    ):
        assert line in log
    assert "8 trees for 4 scored pairs" in log


def save_vocabulary(path, relations, **switches):
    tables = {"words": ("dog",), "tags": ("NN",), "relations": relations}
    counts = {"word_counts": (9,), "tag_counts": (9,), "relation_counts": (9,) * len(relations)}
    options = {"numbers": True, "punctuation": True, "lookup": ["exact"], "adjacency": True} | switches
    rest = {"rare_tags": (), "rare_relations": (), "thresholds": dict.fromkeys(tables, 1), "options": options}
    Vocabulary(**tables, **counts, **rest).save(path)


def test_a_parser_with_other_labels_is_refused_before_parsing(folder, tmp_path, capsys):
    save_vocabulary(tmp_path / "v.json", ("SBJ", "OBJ", "nsubj", "obj", "ADJACENCY"))
    guard = ["--vocabulary", f"{tmp_path}/v.json", "--min-coverage"]
    assert parse(folder, tmp_path / "out.gz", *guard, "0.5") == 0
    (tmp_path / "out.gz").unlink()
    assert parse(folder, tmp_path / "out.gz", *guard, "0.6") == 2
    assert "knows the labels of 50.0 %" in capsys.readouterr().err
    assert not (tmp_path / "out.gz").exists()


def test_a_vocabulary_without_dependencies_asks_no_labels_of_the_parser(folder, tmp_path):
    save_vocabulary(tmp_path / "v.json", ("ADJACENCY",), dependencies=False)
    guard = ["--vocabulary", f"{tmp_path}/v.json", "--min-coverage", "1"]
    assert parse(folder, tmp_path / "out.gz", *guard) == 0


def own(folder, parses, output):
    words = ["parse", "--pairs", f"{folder}/pairs.jsonl", "--parses", str(parses), "--output", str(output)]
    return main(words)


def test_own_parses_are_taken_over_in_the_pairs_order(folder, parses, tmp_path):
    blocks = gzip.decompress(parses.read_bytes()).decode().strip().split("\n\n")
    shuffled = tmp_path / "own.conllu"
    extra = "# sent_id = other\n1\tx\t_\tX\tX\t_\t0\troot\t_\t_"
    shuffled.write_text("\n\n".join([*blocks[::-1], extra]) + "\n\n", encoding="utf-8")
    assert own(folder, shuffled, tmp_path / "out.gz") == 0
    assert list(read_sentences(tmp_path / "out.gz")) == list(read_sentences(parses))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("set-00002.2", "set-00009.2", "no tree has sent_id set-00002.2"),
        ("set-00002.2", "set-00001.2", "two trees have sent_id set-00001.2"),
        (
            "# text = The cat follows",
            "# text = The cat leads",
            "the tree set-00001.2 is of 'The cat leads a dog.'",
        ),
    ],
)
def test_own_parses_of_other_sentences_are_refused(folder, parses, tmp_path, capsys, old, new, message):
    text = gzip.decompress(parses.read_bytes()).decode()
    (tmp_path / "own.conllu").write_text(text.replace(old, new), encoding="utf-8")
    assert own(folder, tmp_path / "own.conllu", tmp_path / "out.gz") == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out.gz").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--tagger t.pt --parser p.pt", "give --tagger, --parser and --max-tokens"),
        ("--tagger t.pt --parses p.conllu", "leave out --tagger"),
        ("--tagger t.pt --parser p.pt --max-tokens 9 --vocabulary v.json", "--min-coverage"),
        ("--tagger t.pt --parser p.pt --max-tokens 9", "t.pt: no such file"),
        ("--tagger t.pt --parser p.pt --max-tokens 0", "give 1 or more"),
        ("--parses p.conllu --shard 1/2", "leave out --shard"),
        ("--tagger t.pt --parser p.pt --max-tokens 9 --shard 3/2", "write NUMBER/HOW_MANY"),
    ],
)
def test_arguments_that_do_not_fit_are_one_line(folder, tmp_path, capsys, words, message):
    end = ["--output", str(tmp_path / "out.gz")]
    assert main(["parse", "--pairs", f"{folder}/pairs.jsonl", *words.split(), *end]) == 2
    lines = capsys.readouterr().err.strip().split("\n")
    assert len(lines) == 1 and message in lines[0]


def test_a_missing_development_file_is_one_line(folder, tmp_path, capsys):
    words = f"train-tagger --treebank {folder}/treebank.conllu --dev {folder}/none --preset tiny --seed 1"
    assert main([*words.split(), "--output", f"{tmp_path}/t.pt", "--report", f"{tmp_path}/t.json"]) == 2
    assert "none: no such file" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
