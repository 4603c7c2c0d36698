"""`bove infer --no-punctuation`: vectors of punctuation are made, but not written."""

import numpy as np
import pytest
from tiny_treebank import count_and_encode, write_treebank

from bove.bags.store import Bags
from bove.cli.main import main
from bove.factor.model import Model
from bove.text.conll import Sentence
from bove.text.vectors import WordVectors, write_vectors
from bove.text.vocabulary import Vocabulary

RANK = 4
TEXTS = {
    "a": "dogs see cats .",
    "b": "dogs see !",
    "c": "dogs see wow",
    "again": "dogs see !",
    "marks": "-LRB- `` .",
    "nothing": "",
    "number": "dogs see 5 % .",
}
KEPT = {"a": [0, 1, 2], "b": [0, 1], "c": [0, 1, 2], "again": [0, 1], "marks": [], "nothing": []}
KEPT["number"] = [0, 1, 2, 3]
WORDS = ["dogs", "see", "wow", "!", "."]


def trees(texts=TEXTS):
    """Flat trees: every token hangs on the first."""
    made = []
    for name, text in texts.items():
        forms = tuple(text.split())
        n = len(forms)
        made.append(Sentence(name, forms, ("T",) * n, ((0,) + (1,) * n)[:n], (("ROOT",) + ("X",) * n)[:n]))
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Graphs in which `!` and `wow` are both unknown words, a random model for them, and vectors."""
    folder, rng = tmp_path_factory.mktemp("punctuation"), np.random.default_rng(0)
    write_treebank(folder / "t.conllu", trees())
    count_and_encode(folder, "--no-punctuation", "--min-words", "3")
    vocabulary = Vocabulary.load(folder / "vocabulary")
    c, d = vocabulary.n_properties, vocabulary.n_relations
    Model(
        properties=rng.standard_normal((c, RANK)).astype(np.float32),
        relations=rng.standard_normal((d, RANK, RANK)).astype(np.float32),
        frozen=np.zeros(c, bool),
        groups={"words": (0, vocabulary.n_words), "tags": (vocabulary.n_words, c)},
        relation_names=vocabulary.relations,
        vocabulary_hash=vocabulary.hash,
        hyperparameters={"alpha": 0.5, "lambda_E": 2},
    ).save(folder / "m")
    vectors = rng.standard_normal((len(WORDS), RANK)).astype(np.float32)
    write_vectors(folder / "v", [([word.encode() for word in WORDS], vectors)], {})
    return folder


def infer(folder, system, output, *more):
    words = (
        f"infer --system {system} --model {folder}/m --graphs {folder}/g --solver averaged --iterations 50 "
        f"--tolerance 0 --energy 1 --batch-tokens 8 --vectors {folder}/v --vocabulary {folder}/vocabulary "
        f"--output {output}"
    )
    return main([*words.split(), *map(str, more)])


@pytest.mark.parametrize("system", ["properties-only", "bove"])
def test_the_other_tokens_keep_the_vectors_that_all_tokens_gave_them(folder, tmp_path, system, capsys):
    assert infer(folder, system, tmp_path / "all") == 0
    report = ["--report", tmp_path / "r.csv"]
    without = ["--no-punctuation", "--sentences", folder / "t.conllu", *report]
    assert infer(folder, system, tmp_path / "some", *without) == 0
    whole, some = Bags.open(tmp_path / "all"), Bags.open(tmp_path / "some")
    assert some.ids == tuple(TEXTS) and some.model_hash == whole.model_hash
    for name, text in TEXTS.items():
        assert len(whole[name]) == len(text.split())
        np.testing.assert_allclose(some[name], whole[name][KEPT[name]], rtol=1e-4, atol=1e-6)
    log = capsys.readouterr().err
    assert "punctuation: 7 of 21 vectors left out, which leaves 1 sentences without any" in log
    assert "marks,3," in (tmp_path / "r.csv").read_text(encoding="utf-8"), "inference saw every token"


def test_equal_graphs_share_a_bag_only_where_the_same_tokens_are_left_out(folder, tmp_path):
    assert infer(folder, "bove", tmp_path / "all") == 0
    assert infer(folder, "bove", tmp_path / "b", "--no-punctuation", "--sentences", folder / "t.conllu") == 0
    whole, some = Bags.open(tmp_path / "all"), Bags.open(tmp_path / "b")
    assert whole.bag_of("b") == whole.bag_of("c") == whole.bag_of("again")
    assert some.bag_of("b") == some.bag_of("again") != some.bag_of("c")


def test_the_baseline_leaves_punctuation_out_though_it_has_vectors(folder, tmp_path, capsys):
    sentences = ["--sentences", folder / "t.conllu"]
    assert infer(folder, "word-vectors", tmp_path / "all", *sentences) == 0
    assert "punctuation" not in capsys.readouterr().err
    assert infer(folder, "word-vectors", tmp_path / "some", *sentences, "--no-punctuation") == 0
    vectors = WordVectors.open(folder / "v")
    whole, some = Bags.open(tmp_path / "all"), Bags.open(tmp_path / "some")
    for name, text in TEXTS.items():
        known = [word for word in text.split() if word in WORDS]
        np.testing.assert_array_equal(whole[name], vectors.rows(vectors.find(known)))
        words = [word for word in known if word not in "!."]
        np.testing.assert_array_equal(some[name], vectors.rows(vectors.find(words)))
    assert (
        "punctuation: 5 of 16 vectors left out, which leaves 1 sentences without any"
        in capsys.readouterr().err
    )


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
def test_other_sentences_than_the_graphs_are_refused(folder, tmp_path, capsys, texts, says):
    path = write_treebank(tmp_path / "other.conllu", trees(texts))
    assert infer(folder, "bove", tmp_path / "b", "--no-punctuation", "--sentences", path) == 2
    error = [line for line in capsys.readouterr().err.splitlines() if line.startswith("bove infer:")]
    assert len(error) == 1 and "other.conllu" in error[0] and says in error[0]
    assert not (tmp_path / "b").exists()


def test_the_sentences_may_come_in_several_files(folder, tmp_path):
    parts = [write_treebank(tmp_path / "one", trees()[:3]), write_treebank(tmp_path / "two", trees()[3:])]
    assert infer(folder, "bove", tmp_path / "b", "--no-punctuation", "--sentences", *parts) == 0
    assert [len(Bags.open(tmp_path / "b")[name]) for name in TEXTS] == [len(kept) for kept in KEPT.values()]


def test_without_the_sentences_punctuation_can_not_be_told(folder, tmp_path, capsys):
    assert infer(folder, "properties-only", tmp_path / "b", "--no-punctuation") == 2
    assert "--system properties-only --no-punctuation needs --sentences" in capsys.readouterr().err
