"""`bove infer`, in shards too and without punctuation, and `bove compare-bags`."""

import csv
import json

import numpy as np
import pytest
from tiny_treebank import count_and_encode, flat, random_model, write_treebank

from bove.bags.store import Bags, BagWriter
from bove.cli.main import main
from bove.text.vectors import WordVectors, write_vectors
from bove.text.vocabulary import Vocabulary

RANK = 4
LENGTHS = {"a": 5, "b": 2, "again": 5, "nothing": 0, "long": 9}
SOLVERS = ("averaged", "fixed-point")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Graphs of four shapes; models whose relations are gentle, and so strong that no solver settles."""
    folder, rng = tmp_path_factory.mktemp("infer"), np.random.default_rng(0)
    trees = [flat(name, (("x",) * 8 + (".",))[:n]) for name, n in LENGTHS.items()]
    write_treebank(folder / "t.conllu", trees)
    count_and_encode(folder)
    for name, scale in (("gentle", 0.1), ("milder", 0.05), ("wild", 1e30)):
        random_model(Vocabulary.load(folder / "vocabulary"), rng, RANK, scale).save(folder / name)
    return folder


def inference(folder, model, solver, *more, system="bove"):
    words = (
        f"infer --system {system} --model {folder / model} --graphs {folder / 'g'} --solver {solver} "
        f"--iterations 40 --tolerance 1e-4 --energy 1 --batch-tokens 8 --output {folder / 'bags'}"
    )
    return [*words.split(), *map(str, more)]


@pytest.mark.parametrize("solver", SOLVERS)
def test_equal_sentences_share_a_bag_and_the_report_has_every_sentence(folder, solver):
    assert main(inference(folder, "gentle", solver, "--report", folder / "report.csv")) == 0
    bags = Bags.open(folder / "bags")
    assert {name: len(bags[name]) for name in bags} == LENGTHS
    assert bags.bag_of("a") == bags.bag_of("again") != bags.bag_of("b")
    with open(folder / "report.csv", encoding="utf-8") as stream:
        rows = {row["id"]: row for row in csv.DictReader(stream)}
    assert {name: int(row["tokens"]) for name, row in rows.items()} == LENGTHS
    assert all(float(row["change"]) < 1e-4 for row in rows.values())
    (folder / "bags").unlink()


def gathering(folder, shards, *more):
    words = ["gather-bags", "--graphs", f"{folder}/g", "--output", f"{folder}/gathered", "--shards", *shards]
    return [*map(str, words), *map(str, more)]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("punctuation", [True, False])
@pytest.mark.parametrize("total", [1, 2, 3, 7])
def test_shards_together_equal_inference_at_once_to_the_byte(folder, solver, punctuation, total):
    more = [] if punctuation else ["--no-punctuation", "--sentences", f"{folder}/t.conllu"]
    assert main(inference(folder, "gentle", solver, *more, "--report", folder / "bags.csv")) == 0
    shards = [folder / f"{number}-of-{total}" for number in range(1, total + 1)]
    for number, shard in enumerate(shards, 1):
        words = ("--shard", f"{number}/{total}", "--output", shard, "--report", f"{shard}.csv")
        assert main(inference(folder, "gentle", solver, *more, *words)) == 0
    sizes = [len(Bags.open(shard)) for shard in shards]
    # of five sentences two are equal and one has no tokens: three bags, each a batch by itself
    assert sizes == {1: [3], 2: [2, 1], 3: [1, 1, 1], 7: [1, 1, 1, 0, 0, 0, 0]}[total]
    reports = ["--reports", *(f"{shard}.csv" for shard in shards), "--report", f"{folder}/gathered.csv"]
    assert main(gathering(folder, shards[::-1], *more, *reports)) == 0
    for ending in ("", ".csv"):
        made, expected = folder / f"gathered{ending}", folder / f"bags{ending}"
        assert made.read_bytes() == expected.read_bytes()
        made.unlink()
        expected.unlink()


def test_reports_of_other_things_or_of_too_few_shards_are_one_line(folder, tmp_path, refused):
    shards, out = [tmp_path / "1", tmp_path / "2"], tmp_path / "all.csv"
    for number, path in enumerate(shards, 1):
        words = ("--shard", f"{number}/2", "--output", path, "--report", f"{path}.csv")
        assert main(inference(folder, "gentle", "averaged", *words)) == 0
    (tmp_path / "other.csv").write_text("id,tokens\na,5\n", encoding="utf-8")
    for reports, message in (
        (["1.csv"], "no report has the sentence 'a'; give those of all shards"),
        (["1.csv", "other.csv"], "other.csv: not a report of inference"),
        ([], "--reports and --report belong together"),
    ):
        more = ["--reports", *(tmp_path / name for name in reports)] if reports else []
        refused(gathering(folder, shards, *more, "--report", out), message, out)
    (folder / "gathered").unlink()


def test_shards_of_bags_that_do_not_belong_together_are_one_line(folder, tmp_path, refused):
    def shard(name, number, *more, model="gentle"):
        words = ("--shard", number, "--output", tmp_path / name, *more)
        assert main(inference(folder, model, "averaged", *words)) == 0
        return tmp_path / name

    def apart(message, *shards, more=()):
        refused(gathering(folder, shards, *more), message, folder / "gathered", lines=1)

    one, two = shard("one", "1/2"), shard("two", "2/2")
    apart("of 2 shards, 2 not given; give all of them", one)
    apart("of 900000000 shards, 2, 3, 4, ", shard("far", "1/900000000"))
    apart("two: shard 2, as ", one, two, two)
    apart("its iterations is 39, but that of ", one, shard("other", "2/2", "--iterations", "39"))
    apart("its batch_tokens is 4, but that of ", one, shard("other", "2/2", "--batch-tokens", "4"))
    apart("its model_hash is ", one, shard("other", "2/2", model="milder"))
    more = ("--no-punctuation", "--sentences", f"{folder}/t.conllu")
    apart("one: a shard of other sentences or tokens than these", one, two, more=more)
    assert main(inference(folder, "gentle", "averaged")) == 0
    apart("bags: not a shard; give files that --shard wrote", one, folder / "bags")
    (folder / "bags").unlink()
    copy = tmp_path / "copy"
    copy.write_bytes(one.read_bytes().replace(b'"shard":"1/2"', b'"shard":"2/2"'))
    apart("copy: its bag of 'b' is not its own", one, copy)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("--shard 0/2", "shard '0/2': write NUMBER/HOW_MANY"),
        (
            "--shard 1/2 --system word-vectors --vectors v --vocabulary v --sentences s",
            "--shard cannot be us",
        ),
        ("--system properties-only --no-punctuation", "properties-only --no-punctuation needs --sentences"),
        *((f"--tolerance {value}", f"--tolerance {float(value)}: must be") for value in ("nan", "inf", "-1")),
    ],
)
def test_options_that_cannot_be_are_one_line(folder, refused, more, message):
    refused(inference(folder, "gentle", "averaged", *more.split()), message, lines=1)


def test_sentences_with_one_id_are_refused_since_a_bag_is_found_by_it(folder, tmp_path, capsys, refused):
    write_treebank(tmp_path / "twice.conllu", [flat("a", ("x",))] * 2)
    common = f"--sentences {tmp_path / 'twice.conllu'} --vocabulary {folder / 'vocabulary'} --output"
    assert main(f"encode {common} {tmp_path / 'g'}".split()) == 0
    assert "1 repeated sentence ids, first in line 5" in capsys.readouterr().err
    message = "two sentences have the id 'a'; give each its own"
    refused(inference(folder, "gentle", "averaged", "--graphs", tmp_path / "g"), message)
    write_vectors(tmp_path / "v", [([b"x"], np.ones((1, 2), np.float32))], {})
    words = f"infer --system word-vectors --vectors {tmp_path / 'v'} {common} {tmp_path / 'bags'}"
    refused(words.split(), f"twice.conllu: {message}")


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_model_under_which_inference_diverges_is_one_line_and_leaves_no_bags(folder, solver, refused):
    refused(inference(folder, "wild", solver), "lambda_E", folder / "bags")


# --no-punctuation: vectors of punctuation are made, but not written.
TEXTS = {
    "a": "dogs see cats .", "b": "dogs see !", "c": "dogs see wow", "again": "dogs see !",
    "marks": "-LRB- `` .", "nothing": "", "number": "dogs see 5 % .",
}  # fmt: skip
KEPT = {"a": [0, 1, 2], "b": [0, 1], "c": [0, 1, 2], "again": [0, 1], "marks": [], "nothing": []}
KEPT["number"] = [0, 1, 2, 3]
WORDS = ["dogs", "see", "wow", "!", "."]


def trees(texts=TEXTS):
    return [flat(name, text.split()) for name, text in texts.items()]


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    """Graphs in which `!` and `wow` are both unknown words, a random model for them, and vectors."""
    folder, rng = tmp_path_factory.mktemp("punctuation"), np.random.default_rng(0)
    write_treebank(folder / "t.conllu", trees())
    count_and_encode(folder, "--no-punctuation", "--min-words", "3")
    random_model(Vocabulary.load(folder / "vocabulary"), rng, RANK).save(folder / "m")
    vectors = rng.standard_normal((len(WORDS), RANK)).astype(np.float32)
    write_vectors(folder / "v", [([word.encode() for word in WORDS], vectors)], {})
    return folder


def marks(folder, system, output, *more):
    more = ("--iterations", 50, "--tolerance", 0, "--output", output, *more)
    if system == "word-vectors":
        more = ("--vectors", folder / "v", "--vocabulary", folder / "vocabulary", *more)
    return inference(folder, "m", "averaged", *more, system=system)


def opened(folder, system, tmp_path, *more):
    """Bags with punctuation, and without."""
    sentences = ("--sentences", folder / "t.conllu", *more)
    assert main(marks(folder, system, tmp_path / "all", *sentences)) == 0
    assert main(marks(folder, system, tmp_path / "some", "--no-punctuation", *sentences)) == 0
    return Bags.open(tmp_path / "all"), Bags.open(tmp_path / "some")


@pytest.mark.parametrize("system", ["properties-only", "bove"])
def test_the_other_tokens_keep_the_vectors_that_all_tokens_gave_them(marked, tmp_path, system, capsys):
    whole, some = opened(marked, system, tmp_path, "--report", tmp_path / "r.csv")
    assert some.ids == tuple(TEXTS) and some.model_hash == whole.model_hash
    for name, text in TEXTS.items():
        assert len(whole[name]) == len(text.split())
        np.testing.assert_allclose(some[name], whole[name][KEPT[name]], rtol=1e-4, atol=1e-6)
    log = capsys.readouterr().err
    assert "punctuation: 7 of 21 vectors left out, which leaves 1 sentences without any" in log
    assert "marks,3," in (tmp_path / "r.csv").read_text(encoding="utf-8"), "inference saw every token"
    # equal graphs share a bag only where the same tokens are left out
    assert whole.bag_of("b") == whole.bag_of("c") == whole.bag_of("again")
    assert some.bag_of("b") == some.bag_of("again") != some.bag_of("c")


def test_the_baseline_leaves_punctuation_out_though_it_has_vectors(marked, tmp_path, capsys):
    whole, some = opened(marked, "word-vectors", tmp_path)
    vectors = WordVectors.open(marked / "v")
    for name, text in TEXTS.items():
        known = [word for word in text.split() if word in WORDS]
        np.testing.assert_array_equal(whole[name], vectors.rows(vectors.find(known)))
        words = [word for word in known if word not in "!."]
        np.testing.assert_array_equal(some[name], vectors.rows(vectors.find(words)))
    said = "punctuation: 5 of 16 vectors left out, which leaves 1 sentences without any"
    assert capsys.readouterr().err.count(said) == 1


def without(texts, *names):
    return {name: text for name, text in texts.items() if name not in names}


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (without(TEXTS, "number"), "6 sentences for the 7 graphs of"),
        (TEXTS | {"more": "dogs"}, "has no more"),
        (without(TEXTS, "b"), "sentence 'c' of 3 tokens where"),
        (TEXTS | {"b": "dogs see ! !"}, "sentence 'b' of 4 tokens where"),
        (without(TEXTS, "a") | {"a": TEXTS["a"]}, "has 'a' of 4"),
    ],
)
def test_other_sentences_than_the_graphs_are_refused(marked, tmp_path, refused, texts, says):
    path, out = write_treebank(tmp_path / "other.conllu", trees(texts)), tmp_path / "b"
    refused(marks(marked, "bove", out, "--no-punctuation", "--sentences", path), says, out)


def test_the_sentences_may_come_in_several_files(marked, tmp_path):
    parts = [write_treebank(tmp_path / "one", trees()[:3]), write_treebank(tmp_path / "two", trees()[3:])]
    assert main(marks(marked, "bove", tmp_path / "b", "--no-punctuation", "--sentences", *parts)) == 0
    assert [len(Bags.open(tmp_path / "b")[name]) for name in TEXTS] == [len(kept) for kept in KEPT.values()]


# `bove compare-bags`.


def write(path, vectors, lengths=(2, 3), model="m" * 20):
    with BagWriter(path, ("s1", "s2"), lengths, range(2), 3, "bove", model) as writer:
        writer.put_many(np.arange(2), vectors)
    return str(path)


@pytest.fixture
def vectors():
    return np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)


def comparison(folder, first, second):
    files = ["--output", f"{folder}/r.json", "--log", f"{folder}/l"]
    return ["compare-bags", "--first", first, "--second", second, *files]


def test_a_comparison_has_all_tokens_and_each_length(tmp_path, vectors):
    turned = vectors.copy()
    turned[4] *= -2
    turned[0] = 0
    first, second = write(tmp_path / "1", vectors), write(tmp_path / "2", turned, model="n" * 20)
    assert main(comparison(tmp_path, first, second)) == 0
    report = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert report["format"] == "bove-bag-comparison" and report["first"]["system"] == "bove"
    assert (report["sentences"], report["empty_sentences"], report["tokens"]) == (2, 0, 5)
    assert report["zero_vectors"] == {"first": 0, "second": 1, "both": 0}
    assert report["cosine"]["tokens"] == 4 and report["cosine"]["mean"] == pytest.approx(0.5)
    assert report["cosine"]["tokens_below"] == {"0.5": 1, "0.9": 1, "0.99": 1}
    assert [part["length"] for part in report["cosine_by_length"]] == ["1 to 5"]
    said = (tmp_path / "l").read_text(encoding="utf-8")
    assert "5 tokens; zero vectors: 0 in the first file, 1 in the second" in said
    assert "all: cosine 0.5000 on average, 1.0000 median" in said and "25.0 % of 4 below 0.9" in said
    assert "different models" in said and "n" * 12 in said and "n" * 13 not in said


def test_bags_of_other_sentences_are_not_compared(tmp_path, vectors, refused):
    first, second = write(tmp_path / "1", vectors), write(tmp_path / "2", vectors, lengths=(3, 2))
    message = f"{second}: sentence 's1' has 3 vectors, but 2 in {first}; compare bags of the same tokens"
    refused(comparison(tmp_path, first, second), message, tmp_path / "r.json")
