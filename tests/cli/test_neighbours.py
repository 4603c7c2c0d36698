"""`bove neighbours`: exact, from the training tokens, which are inferred once and kept."""

import dataclasses
import json

import numpy as np
import pytest
from tiny_run import CHASED, TURNED, make_model, make_run
from tiny_treebank import tiny_sentences, write_treebank

from bove.bags.store import Bags
from bove.cli.main import main
from bove.text.conll import Sentence

CACHE = "neighbours/train.safetensors"


@pytest.fixture
def folder(tmp_path):
    folder = make_run(tmp_path)
    trees = [CHASED, TURNED, Sentence("lynx", ("lynx", "boy"), ("NN", "NN"), (2, 0), ("NMOD", "ROOT"))]
    write_treebank(folder / "s.conllu", trees)
    return folder


def neighbours(folder, word, tree="1", *more):
    words = ["neighbours", word, "--run", folder, "--conllu", folder / "s.conllu", "--ids", tree, *more]
    return main(list(map(str, words)))


def found(folder, capsys, word, tree="1", *more):
    capsys.readouterr()
    assert neighbours(folder, word, tree, "--json", *more) == 0
    return json.loads(capsys.readouterr().out)["places"]


def all_cosines(folder, vector):
    """(cosine, sentence, place) of every token of every different sentence of the treebank."""
    bags = Bags.open(folder / CACHE)
    norms = np.linalg.norm(bags.vectors, axis=1) * np.linalg.norm(vector)
    cosines = bags.vectors @ vector / norms
    first = [bags.index.tolist().index(b) for b in range(bags.n_bags)]
    owners = [(s, i) for b, s in enumerate(first) for i in range(len(bags.bag(b)))]
    return sorted(((c, *owner) for c, owner in zip(cosines, owners, strict=True)), reverse=True)


def test_neighbours_are_those_of_plain_sorting(folder, capsys):
    (one,) = found(folder, capsys, "dog", "1", "--top", 1000)
    bags = Bags.open(folder / CACHE)
    assert [one["forms"][one["place"]], one["place"]] == ["dog", 1]
    # `The dog sees a cat .` is itself a sentence of the treebank
    sentences = tiny_sentences()
    home = next(s for s, other in enumerate(sentences) if other.forms == CHASED.forms)
    expected = all_cosines(folder, bags[str(home)][1])
    assert len(one["tokens"]) == len(expected) == len(bags.vectors)
    np.testing.assert_allclose([t["cosine"] for t in one["tokens"]], [c for c, *_ in expected], atol=1e-6)
    best = one["tokens"][0]
    assert (best["sentence_id"], best["place"], best["forms"]) == (str(home), 1, list(CHASED.forms))
    assert best["cosine"] == pytest.approx(1, abs=1e-6) and best["word_cosine"] == pytest.approx(1)
    assert sum(t["alike"] for t in one["tokens"]) == sum(len(s.forms) for s in sentences)


def test_word_types_are_those_of_the_vocabulary_by_their_own_vectors(folder, capsys):
    (one,) = found(folder, capsys, "dog", "1", "--top", 50)
    words = {w["word"]: w["cosine"] for w in one["words"]}
    assert set(words) == {"The", "a", "cat", "girl", "horse", "sees", "follows", "likes"}
    assert list(words.values()) == sorted(words.values(), reverse=True)
    (other,) = found(folder, capsys, "boy", "lynx")
    assert other["words"] is None and all(t["word_cosine"] is None for t in other["tokens"])
    (third,) = found(folder, capsys, "lynx", "lynx")
    assert third["words"][0]["word"] in words


def test_every_place_of_a_word_has_its_own_or_one_is_chosen(folder, capsys):
    trees = [Sentence("1", ("dog", "sees", "dog"), ("NN", "VBZ", "NN"), (2, 0, 2), ("SBJ", "ROOT", "OBJ"))]
    write_treebank(folder / "s.conllu", trees)
    first, second = found(folder, capsys, "dog")
    assert (first["place"], second["place"]) == (0, 2)
    assert first["tokens"][0]["cosine"] != second["tokens"][0]["cosine"]
    (alone,) = found(folder, capsys, "dog:2")
    assert alone["place"] == 2
    assert [t["cosine"] for t in alone["tokens"]] == pytest.approx([t["cosine"] for t in second["tokens"]])


def test_tokens_of_the_same_word_can_be_left_out(folder, capsys):
    (one,) = found(folder, capsys, "dog", "1", "--top", 30, "--other-words")
    assert "dog" not in {t["forms"][t["place"]] for t in one["tokens"]} and len(one["tokens"]) == 30


def test_the_vectors_are_inferred_once_and_again_for_another_model_or_setting(folder, capsys):
    before = found(folder, capsys, "dog")
    assert neighbours(folder, "dog") == 0
    captured = capsys.readouterr()
    assert "inferring" not in captured.err and "in context: the nearest bove vectors among" in captured.out
    stamp = (folder / CACHE).stat().st_mtime_ns
    assert found(folder, capsys, "dog") == before
    assert (folder / CACHE).stat().st_mtime_ns == stamp
    assert neighbours(folder, "dog", "1", "--iterations", "1") == 0
    assert "of another model or other settings, so it is made again" in capsys.readouterr().err
    make_model(folder, seed=7)
    assert found(folder, capsys, "dog") != before
    make_model(folder, seed=6)
    assert found(folder, capsys, "dog") == before


def test_with_a_limit_the_first_sentences_are_searched_and_nothing_is_kept(folder, capsys):
    (one,) = found(folder, capsys, "dog", "1", "--limit", 2, "--top", 100)
    assert not (folder / CACHE).exists()
    assert {t["sentence_id"] for t in one["tokens"]} == {"0", "1"}
    assert len(one["tokens"]) == sum(len(s.forms) for s in tiny_sentences()[:2])
    found(folder, capsys, "dog")
    (again,) = found(folder, capsys, "dog", "1", "--limit", 2, "--top", 100)
    cosines = [[t["cosine"] for t in some["tokens"]] for some in (one, again)]
    np.testing.assert_allclose(*cosines, atol=1e-6)


def test_files_may_be_named_instead_of_a_run(folder, tmp_path, capsys):
    (expected,) = found(folder, capsys, "dog")
    words = ["neighbours", "dog", "--json", "--conllu", f"{folder}/s.conllu", "--ids", "1"]
    words += ["--model", f"{folder}/model/model.safetensors", "--vocabulary", f"{folder}/vocabulary.json"]
    words += ["--vectors", f"{folder}/vectors.safetensors"]
    assert main(words) == 2
    assert "without --run, give --graphs and --treebank too" in capsys.readouterr().err
    words += ["--graphs", f"{folder}/graphs/train.safetensors", "--treebank", f"{tmp_path}/data/train.conllu"]
    assert main([*words, "--cache", f"{tmp_path}/kept"]) == 0
    assert json.loads(capsys.readouterr().out)["places"] == [expected]
    assert (tmp_path / "kept").is_file()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("zebra", "'zebra' is not in the sentence; its words are: The dog sees a cat ."),
        ("dog:2", "'dog:2' is not in the sentence"),
        ("dog --top 0", "--top 0: must be at least 1"),
        ("dog --limit 0", "--limit 0: must be at least 1"),
        ("dog --in dog", "give the sentence as text with --in, or its tree with --conllu"),
    ],
)
def test_what_does_not_fit_is_one_line(folder, capsys, words, message):
    word, *more = words.split()
    assert neighbours(folder, word, "1", *more) == 2
    lines = capsys.readouterr().err.strip().split("\n")
    assert len(lines) == 1 and message in lines[0]


def test_another_treebank_is_refused(folder, tmp_path, capsys):
    renamed = [dataclasses.replace(s, id=f"x{s.id}" if s.id == "7" else s.id) for s in tiny_sentences()]
    for other, message in (
        (tiny_sentences()[:5], "5 sentences, but the graphs are of 45"),
        (renamed, "sentence 'x7' of 6 tokens where the graphs have '7' of 6"),
    ):
        write_treebank(tmp_path / "other", other)
        assert neighbours(folder, "dog", "1", "--treebank", tmp_path / "other") == 2
        err = capsys.readouterr().err
        assert f"{message}; give the treebank that the model was trained on" in err
