"""`bove infer`: what it writes and reports, and a model under which inference diverges."""

import csv

import numpy as np
import pytest
from tiny_treebank import count_and_encode, write_treebank

from bove.bags.store import Bags
from bove.cli.main import main
from bove.factor.model import Model
from bove.text.conll import Sentence
from bove.text.vocabulary import Vocabulary

RANK = 4
LENGTHS = {"a": 5, "b": 2, "again": 5, "nothing": 0, "long": 9}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Graphs of four shapes; models whose relations are gentle, and so strong that no solver settles."""
    folder, rng = tmp_path_factory.mktemp("infer"), np.random.default_rng(0)
    trees = [
        Sentence(
            name, (("x",) * 8 + (".",))[:n], ("T",) * n, ((0,) + (1,) * n)[:n], (("ROOT",) + ("X",) * n)[:n]
        )
        for name, n in LENGTHS.items()
    ]
    write_treebank(folder / "t.conllu", trees)
    count_and_encode(folder)
    vocabulary = Vocabulary.load(folder / "vocabulary")
    c, d = vocabulary.n_properties, vocabulary.n_relations
    for name, scale in (("gentle", 0.1), ("milder", 0.05), ("wild", 1e30)):
        Model(
            properties=rng.standard_normal((c, RANK)).astype(np.float32),
            relations=(scale * rng.standard_normal((d, RANK, RANK))).astype(np.float32),
            frozen=np.zeros(c, bool),
            groups={"words": (0, vocabulary.n_words), "tags": (vocabulary.n_words, c)},
            relation_names=vocabulary.relations,
            vocabulary_hash=vocabulary.hash,
            hyperparameters={"alpha": 0.5, "lambda_E": 2},
        ).save(folder / name)
    return folder


def infer(folder, model, solver, *more):
    words = (
        f"infer --system bove --model {folder / model} --graphs {folder / 'g'} --solver {solver} "
        f"--iterations 40 --tolerance 1e-4 --energy 1 --batch-tokens 8 --output {folder / 'bags'}"
    )
    return main([*words.split(), *map(str, more)])


@pytest.mark.parametrize("solver", ["averaged", "fixed-point"])
def test_equal_sentences_share_a_bag_and_the_report_has_every_sentence(folder, solver):
    assert infer(folder, "gentle", solver, "--report", folder / "report.csv") == 0
    bags = Bags.open(folder / "bags")
    assert {name: len(bags[name]) for name in bags} == LENGTHS
    assert bags.bag_of("a") == bags.bag_of("again") != bags.bag_of("b")
    with open(folder / "report.csv", encoding="utf-8") as stream:
        rows = {row["id"]: row for row in csv.DictReader(stream)}
    assert {name: int(row["tokens"]) for name, row in rows.items()} == LENGTHS
    assert all(float(row["change"]) < 1e-4 for row in rows.values())
    (folder / "bags").unlink()


def gather(folder, shards, *more):
    words = ["gather-bags", "--graphs", f"{folder}/g", "--output", f"{folder}/gathered", "--shards", *shards]
    return main([*map(str, words), *more])


@pytest.mark.parametrize("solver", ["averaged", "fixed-point"])
@pytest.mark.parametrize("punctuation", [True, False])
@pytest.mark.parametrize("total", [1, 2, 3, 7])
def test_shards_together_are_equal_to_the_byte_to_inference_at_once(folder, solver, punctuation, total):
    more = [] if punctuation else ["--no-punctuation", "--sentences", f"{folder}/t.conllu"]
    assert infer(folder, "gentle", solver, *more, "--report", folder / "bags.csv") == 0
    shards = [folder / f"{number}-of-{total}" for number in range(1, total + 1)]
    for number, shard in enumerate(shards, 1):
        words = ("--shard", f"{number}/{total}", "--output", shard, "--report", f"{shard}.csv")
        assert infer(folder, "gentle", solver, *more, *words) == 0
    sizes = [len(Bags.open(shard)) for shard in shards]
    # of five sentences two are equal and one has no tokens: three bags, each a batch by itself
    assert sizes == {1: [3], 2: [2, 1], 3: [1, 1, 1], 7: [1, 1, 1, 0, 0, 0, 0]}[total]
    reports = ["--reports", *(f"{shard}.csv" for shard in shards), "--report", f"{folder}/gathered.csv"]
    assert gather(folder, shards[::-1], *more, *reports) == 0
    for ending in ("", ".csv"):
        made, expected = folder / f"gathered{ending}", folder / f"bags{ending}"
        assert made.read_bytes() == expected.read_bytes()
        made.unlink()
        expected.unlink()


def test_reports_of_other_things_or_of_too_few_shards_are_one_line(folder, tmp_path, capsys):
    for number in (1, 2):
        words = (
            "--shard",
            f"{number}/2",
            "--output",
            tmp_path / f"{number}",
            "--report",
            tmp_path / f"{number}.csv",
        )
        assert infer(folder, "gentle", "averaged", *words) == 0
    shards = [tmp_path / "1", tmp_path / "2"]
    (tmp_path / "other.csv").write_text("id,tokens\na,5\n", encoding="utf-8")
    for reports, message in (
        (["1.csv"], "no report has the sentence 'a'; give those of all shards"),
        (["1.csv", "other.csv"], "other.csv: not a report of inference"),
        ([], "--reports and --report belong together"),
    ):
        more = ["--reports", *(f"{tmp_path}/{name}" for name in reports)] if reports else []
        capsys.readouterr()
        assert gather(folder, shards, *more, "--report", f"{tmp_path}/all.csv") == 2
        said = capsys.readouterr().err.strip().split("\n")
        assert message in said[-1]
        assert not (tmp_path / "all.csv").exists()
    (folder / "gathered").unlink()


def test_shards_of_bags_that_do_not_belong_together_are_one_line(folder, tmp_path, capsys):
    def shard(name, number, *more, model="gentle"):
        assert infer(folder, model, "averaged", "--shard", number, "--output", tmp_path / name, *more) == 0
        return tmp_path / name

    def refused(message, *shards, more=()):
        capsys.readouterr()
        assert gather(folder, shards, *more) == 2
        said = capsys.readouterr().err.strip().split("\n")
        assert len(said) == 1 and message in said[0]
        assert not (folder / "gathered").exists()

    one, two = shard("one", "1/2"), shard("two", "2/2")
    refused("of 2 shards, 2 not given; give all of them", one)
    refused("of 900000000 shards, 2, 3, 4, ", shard("far", "1/900000000"))
    refused("two: shard 2, as ", one, two, two)
    refused("its iterations is 39, but that of ", one, shard("other", "2/2", "--iterations", "39"))
    refused("its batch_tokens is 4, but that of ", one, shard("other", "2/2", "--batch-tokens", "4"))
    refused("its model_hash is ", one, shard("other", "2/2", model="milder"))
    more = ("--no-punctuation", "--sentences", f"{folder}/t.conllu")
    refused("one: a shard of other graphs or tokens than these", one, two, more=more)
    assert infer(folder, "gentle", "averaged") == 0
    refused("bags: not a shard; give files that `bove infer --shard` wrote", one, folder / "bags")
    (folder / "bags").unlink()
    copy = tmp_path / "copy"
    copy.write_bytes(one.read_bytes().replace(b'"shard":"1/2"', b'"shard":"2/2"'))
    refused("copy: its bag of 'b' is not its own", one, copy)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--shard", "0/2"], "shard '0/2': write NUMBER/HOW_MANY"),
        (
            [
                "--shard",
                "1/2",
                "--system",
                "word-vectors",
                "--vectors",
                "v",
                "--vocabulary",
                "v",
                "--sentences",
                "s",
            ],
            "--shard cannot be used with --system word-vectors",
        ),
    ],
)
def test_a_shard_that_can_not_be_is_one_line(folder, capsys, more, message):
    assert infer(folder, "gentle", "averaged", *more) == 2
    assert capsys.readouterr().err.startswith(f"bove infer: {message}")


def test_sentences_with_one_id_are_refused_since_a_bag_is_found_by_it(folder, tmp_path, capsys):
    write_treebank(tmp_path / "twice.conllu", [Sentence("a", ("x",), ("T",), (0,), ("ROOT",))] * 2)
    common = f"--sentences {tmp_path / 'twice.conllu'} --vocabulary {folder / 'vocabulary'} --output"
    assert main(f"encode {common} {tmp_path / 'g'}".split()) == 0
    assert "1 repeated sentence ids, first in line 5" in capsys.readouterr().err
    assert infer(folder, "gentle", "averaged", "--graphs", tmp_path / "g") == 2
    assert "two sentences have the id 'a'; give each its own" in capsys.readouterr().err
    (tmp_path / "v.txt").write_text("x 1 2\n", encoding="utf-8")
    vectors = f"--input {tmp_path / 'v.txt'} --format auto --output {tmp_path / 'v'}"
    assert main(f"vectors load {vectors}".split()) == 0
    words = f"infer --system word-vectors --vectors {tmp_path / 'v'} {common} {tmp_path / 'bags'}"
    assert main(words.split()) == 2
    assert "twice.conllu: two sentences have the id 'a'" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("solver", ["averaged", "fixed-point"])
def test_a_model_under_which_inference_diverges_is_one_line_and_leaves_no_bags(folder, solver, capsys):
    assert infer(folder, "wild", solver) == 2
    said = [line for line in capsys.readouterr().err.split("\n") if line.startswith("bove infer: ")]
    assert len(said) == 1
    assert "raise lambda_E" in said[0] or "higher lambda_R or lambda_E" in said[0]
    assert not (folder / "bags").exists()


@pytest.mark.parametrize("tolerance", ["nan", "inf", "-1"])
@pytest.mark.parametrize("solver", ["averaged", "fixed-point"])
def test_a_tolerance_that_is_no_number_is_told(folder, solver, tolerance, capsys):
    assert infer(folder, "gentle", solver, "--tolerance", tolerance) == 2
    assert f"--tolerance {float(tolerance)}: must be " in capsys.readouterr().err
