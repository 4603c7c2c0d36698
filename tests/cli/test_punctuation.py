"""`bove infer --no-punctuation`: vectors of punctuation are made, but not written."""

import numpy as np
import pytest
from tiny_run import make_model
from tiny_treebank import count_and_encode, write_treebank

from bove.bags.store import Bags
from bove.cli.main import main
from bove.text.conll import Sentence
from bove.text.vectors import WordVectors, write_vectors

# text, and the places of what is no punctuation
TEXTS = {
    "a": ("dogs see cats .", [0, 1, 2]), "b": ("dogs see !", [0, 1]), "c": ("dogs see wow", [0, 1, 2]),
    "again": ("dogs see !", [0, 1]), "marks": ("-LRB- `` .", []), "nothing": ("", []),
    "number": ("dogs see 5 % .", [0, 1, 2, 3]),
}  # fmt: skip
WORDS = ["dogs", "see", "wow", "!", "."]


def tree(name, text):
    """A flat tree: every token hangs on the first."""
    forms, n = tuple(text.split()), len(text.split())
    return Sentence(name, forms, ("T",) * n, ((0,) + (1,) * n)[:n], (("ROOT",) + ("X",) * n)[:n])


TREES = [tree(name, text) for name, (text, _) in TEXTS.items()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Graphs in which `!` and `wow` are both unknown words, a random model for them, and vectors."""
    folder = tmp_path_factory.mktemp("punctuation")
    write_treebank(folder / "t.conllu", TREES)
    count_and_encode(folder, "--no-punctuation", "--min-words", "3")
    model = make_model(folder, 0, "m", "vocabulary")
    vectors = np.random.default_rng(0).standard_normal((len(WORDS), model.rank)).astype(np.float32)
    write_vectors(folder / "v", [([word.encode() for word in WORDS], vectors)], {})
    return folder


def infer_words(folder, system, output, *more):
    words = f"--system {system} --model {folder}/m --graphs {folder}/g --solver averaged --iterations 50 "
    words += f"--tolerance 0 --energy 1 --batch-tokens 8 --vectors {folder}/v --output {output} "
    return ["infer", *words.split(), "--vocabulary", f"{folder}/vocabulary", *map(str, more)]


@pytest.fixture
def whole_and_some(folder, tmp_path, capsys):
    """The bags with all tokens and those without punctuation, and the latter's log."""

    def run(system, *more):
        files = ["--sentences", *(more or [folder / "t.conllu"])]
        assert main(infer_words(folder, system, tmp_path / "all", *files)) == 0
        assert "punctuation" not in capsys.readouterr().err
        without = [*files, "--no-punctuation"] + ["--report", tmp_path / "r"] * (system != "word-vectors")
        assert main(infer_words(folder, system, tmp_path / "some", *without)) == 0
        return Bags.open(tmp_path / "all"), Bags.open(tmp_path / "some"), capsys.readouterr().err

    return run


@pytest.mark.parametrize("system", ["properties-only", "bove"])
def test_the_other_tokens_keep_the_vectors_that_all_tokens_gave_them(whole_and_some, tmp_path, system):
    parts = [write_treebank(tmp_path / "one", TREES[:3]), write_treebank(tmp_path / "two", TREES[3:])]
    whole, some, log = whole_and_some(system, *parts)
    assert some.ids == tuple(TEXTS) and some.model_hash == whole.model_hash
    for name, (text, kept) in TEXTS.items():
        assert len(whole[name]) == len(text.split())
        np.testing.assert_allclose(some[name], whole[name][kept], rtol=1e-4, atol=1e-6)
    assert "punctuation: 7 of 21 vectors left out, which leaves 1 sentences without any" in log
    assert "marks,3," in (tmp_path / "r").read_text(encoding="utf-8"), "inference saw every token"
    # equal graphs share a bag only where the same tokens are left out
    assert whole.bag_of("b") == whole.bag_of("c") == whole.bag_of("again")
    assert some.bag_of("b") == some.bag_of("again") != some.bag_of("c")


def test_the_baseline_leaves_punctuation_out_though_it_has_vectors(folder, whole_and_some):
    whole, some, log = whole_and_some("word-vectors")
    vectors = WordVectors.open(folder / "v")
    for name, (text, _) in TEXTS.items():
        known = [word for word in text.split() if word in WORDS]
        words = [word for word in known if word not in "!."]
        for bags, own in ((whole, known), (some, words)):
            np.testing.assert_array_equal(bags[name], vectors.rows(vectors.find(own)))
    assert "punctuation: 5 of 16 vectors left out, which leaves 1 sentences without any" in log


@pytest.mark.parametrize(
    ("trees", "message"),
    [
        (TREES[:-1], "6 sentences for the 7 graphs of"),
        ([*TREES, tree("more", "dogs")], "has no more"),
        ([TREES[0], *TREES[2:]], "sentence 'c' of 3 tokens where"),
        ([TREES[0], tree("b", "dogs see ! !"), *TREES[2:]], "sentence 'b' of 4 tokens where"),
        ([*TREES[1:], TREES[0]], "has 'a' of 4"),
        (None, "--no-punctuation needs --sentences"),
    ],
)
def test_other_sentences_than_the_graphs_are_refused(folder, tmp_path, refused, trees, message):
    files = ["--sentences", write_treebank(tmp_path / "other", trees)] if trees else []
    words = infer_words(folder, "bove", tmp_path / "b", "--no-punctuation", *files)
    refused(words, message, tmp_path / "b")
