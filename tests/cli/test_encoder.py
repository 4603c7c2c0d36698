"""`bove encoder` and its scores, held against plain loops."""

import sys

import numpy as np
import pytest
import reference
from tiny_encoder import tiny_encoder
from tiny_treebank import flat, write_treebank

from bove.bags.store import Bags
from bove.cli.main import main
from bove.evaluate.results import comparable, read_scores
from bove.files import atomic_write
from bove.text import encoders
from bove.text.encoders import Encoder
from bove.text.pairs import Pair, write_pairs

TEXTS = [
    ("The dog sees a cat .", "a cat sees the dog ."),
    ("the dogs do n't bark", "the dog"),
    ("a cat", "cat chase dog ."),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoder")
    tiny_encoder(folder / "own")
    sides = {f"p-{i}.{side}": pair[side - 1] for i, pair in enumerate(TEXTS) for side in (1, 2)}
    trees = [flat(name, text.split()) for name, text in (sides | {"q.1": TEXTS[0][0], "empty": ""}).items()]
    write_treebank(folder / "pairs.conllu", trees)
    pairs = [Pair(f"p-{i}", "d", "D", "similarity", "s", *pair, i, True) for i, pair in enumerate(TEXTS)]
    with atomic_write(folder / "pairs.jsonl") as stream:
        write_pairs(stream, pairs)
    return folder


def made(folder, into, *more):
    words = f"--encoder {folder / 'own'} --sentences {folder / 'pairs.conllu'}".split()
    outputs = ["--output", str(into / "tokens"), "--sentence-output", str(into / "sentences")]
    return main(["encoder", *words, *outputs, *more])


def weighted(X, Y, w):
    best = [max(x @ y / np.linalg.norm(x) / np.linalg.norm(y) for x in X) for y in Y]
    return np.average(best, weights=w)


def test_scores_are_the_alignment_of_tokens_and_the_cosine_of_sentences(folder, tmp_path):
    assert not made(folder, tmp_path, "--name", "m")
    bags = [f"m-{kind}={tmp_path / kind}" for kind in ("tokens", "sentences")]
    words = ["--pairs", str(folder / "pairs.jsonl"), "--bags", *bags, "--output", str(tmp_path / "scores")]
    assert not main(["score", *words, "--weight", "none", "length"])
    values = read_scores(tmp_path / "scores").values
    assert list(values) == ["m-tokens", "m-sentences", "m-tokens (length)"]
    found = dict(Encoder(folder / "own").encode([tuple(text.split()) for pair in TEXTS for text in pair]))
    for p in range(len(TEXTS)):
        one, other = found[2 * p], found[2 * p + 1]
        X, Y = one.tokens.astype(float), other.tokens.astype(float)
        np.testing.assert_allclose(values["m-tokens"][p], reference.sts(X, Y), atol=1e-6)
        a = weighted(X, Y, np.linalg.norm(Y, axis=1))
        b = weighted(Y, X, np.linalg.norm(X, axis=1))
        np.testing.assert_allclose(values["m-tokens (length)"][p], 2 * a * b / (a + b), atol=1e-6)
        u, v = one.sentence.astype(float), other.sentence.astype(float)
        cosine = u @ v / np.linalg.norm(u) / np.linalg.norm(v)
        np.testing.assert_allclose(values["m-sentences"][p], cosine, atol=1e-6)
    assert comparable("m-sentences", "bove (evidence)") and not comparable("m-tokens", "bove (evidence)")


def test_equal_sentences_share_a_bag_and_punctuation_may_be_left_out(folder, tmp_path):
    assert not made(folder, tmp_path, "--no-punctuation")
    tokens, sentences = Bags.open(tmp_path / "tokens"), Bags.open(tmp_path / "sentences")
    assert tokens.system == "encoder-tokens" and len(tokens.model_hash) == 64
    assert tokens.bag_of("p-0.1") == tokens.bag_of("q.1") and tokens["p-0.1"].shape == (5, 8)
    assert sentences["p-0.1"].shape == (1, 8) and sentences.evidence is None
    assert len(tokens["empty"]) == len(sentences["empty"]) == 0
    np.testing.assert_allclose(
        tokens.evidence_of(0), np.square(tokens["p-0.1"], dtype=float).sum(axis=1), rtol=1e-12
    )


@pytest.mark.parametrize("total", [1, 3, 9])
@pytest.mark.parametrize("punctuation", ["--punctuation", "--no-punctuation"])
def test_shards_together_equal_all_at_once_to_the_byte(folder, tmp_path, monkeypatch, total, punctuation):
    """Of seven distinct sentences, one of which is empty, in batches of two."""
    monkeypatch.setattr(encoders, "BATCH", 2)

    def encoded(name, *more):
        (tmp_path / name).mkdir()
        assert not made(
            folder, tmp_path / name, punctuation, "--whole-output", f"{tmp_path}/{name}/all", *more
        )

    encoded("once")
    for number in range(1, total + 1):
        encoded(f"{number}", "--shard", f"{number}/{total}")
    sizes = [len(Bags.open(tmp_path / f"{number}" / "all")) for number in range(1, total + 1)]
    assert sizes == {1: [7], 3: [3, 2, 2], 9: [2, 2, 2, 1, 0, 0, 0, 0, 0]}[total]
    for kind, option in (("tokens", punctuation), ("sentences", punctuation), ("all", "--punctuation")):
        shards = [str(tmp_path / f"{number}" / kind) for number in range(total, 0, -1)]
        assert not main(gathering(folder, tmp_path / "gathered", *shards, option))
        assert (tmp_path / "gathered").read_bytes() == (tmp_path / "once" / kind).read_bytes()


def gathering(folder, output, *more):
    words = f"gather-bags --sentences {folder / 'pairs.conllu'} --output {output} --shards"
    return [*words.split(), *more]


def test_shards_of_other_sentences_tokens_or_kinds_are_one_line(folder, tmp_path, refused):
    output = tmp_path / "gathered"
    assert not made(folder, tmp_path, "--shard", "1/1")
    for more, message in (
        (["tokens", "--no-punctuation"], "tokens: a shard of other sentences or tokens than these"),
        (["tokens", "sentences"], "sentences: a shard of other sentences or tokens than these"),
        (["tokens", "--reports", "r", "--report", "o"], "--reports and --report belong together, with --gr"),
    ):
        words = [str(tmp_path / word) if word in ("tokens", "sentences") else word for word in more]
        refused(gathering(folder, output, *words), message, output)
    refused(["gather-bags", "--shards", "s", "--output", "o"], "no --graphs: needs --sentences")


def test_without_the_extra_it_says_what_to_install(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    assert made(folder, tmp_path) == 2
    said = "bove encoder: needs sentence_transformers; install it with: pip install 'bove[encoders]'\n"
    assert capsys.readouterr().err == said and not list(tmp_path.iterdir())
