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


def command(folder, word, *more, tree="1"):
    words = ["neighbours", word, "--run", folder, "--conllu", folder / "s.conllu", "--ids", tree, *more]
    return list(map(str, words))


def found(folder, capsys, word, tree="1", *more):
    capsys.readouterr()
    assert main(command(folder, word, "--json", *more, tree=tree)) == 0
    return json.loads(capsys.readouterr().out)["places"]


def test_neighbours_are_those_of_plain_sorting(folder, capsys):
    (one,) = found(folder, capsys, "dog", "1", "--top", 1000)
    bags, sentences = Bags.open(folder / CACHE), tiny_sentences()
    assert [one["forms"][one["place"]], one["place"]] == ["dog", 1]
    # `The dog sees a cat .` is itself a sentence of the treebank
    home = str(next(s for s, other in enumerate(sentences) if other.forms == CHASED.forms))
    vector = bags[home][1]
    cosines = bags.vectors @ vector / (np.linalg.norm(bags.vectors, axis=1) * np.linalg.norm(vector))
    np.testing.assert_allclose([t["cosine"] for t in one["tokens"]], sorted(cosines)[::-1], atol=1e-6)
    best = one["tokens"][0]
    assert (best["sentence_id"], best["place"], best["forms"]) == (home, 1, list(CHASED.forms))
    assert best["cosine"] == pytest.approx(1, abs=1e-6) and best["word_cosine"] == pytest.approx(1)
    assert sum(t["alike"] for t in one["tokens"]) == sum(len(s.forms) for s in sentences)


def test_word_types_are_those_of_the_vocabulary_by_their_own_vectors(folder, capsys):
    (one,) = found(folder, capsys, "dog", "1", "--top", 50)
    words = {w["word"]: w["cosine"] for w in one["words"]}
    assert set(words) == {"The", "a", "cat", "girl", "horse", "sees", "follows", "likes"}
    assert list(words.values()) == sorted(words.values(), reverse=True)
    (other,), (third,) = (found(folder, capsys, word, "lynx") for word in ("boy", "lynx"))
    assert other["words"] is None and all(t["word_cosine"] is None for t in other["tokens"])
    assert third["words"][0]["word"] in words
    (without,) = found(folder, capsys, "dog", "1", "--top", 30, "--other-words")
    assert "dog" not in {t["forms"][t["place"]] for t in without["tokens"]} and len(without["tokens"]) == 30


def test_every_place_of_a_word_has_its_own_or_one_is_chosen(folder, capsys):
    trees = [Sentence("1", ("dog", "sees", "dog"), ("NN", "VBZ", "NN"), (2, 0, 2), ("SBJ", "ROOT", "OBJ"))]
    write_treebank(folder / "s.conllu", trees)
    (first, second), (alone,) = (found(folder, capsys, word) for word in ("dog", "dog:2"))
    assert (first["place"], second["place"], alone["place"]) == (0, 2, 2)
    one, two, chosen = ([t["cosine"] for t in some["tokens"]] for some in (first, second, alone))
    assert one[0] != two[0] and chosen == pytest.approx(two)


def test_the_vectors_are_inferred_once_and_again_for_another_model_or_setting(folder, capsys):
    before = found(folder, capsys, "dog")
    assert main(command(folder, "dog")) == 0
    captured = capsys.readouterr()
    assert "inferring" not in captured.err and "in context: the nearest bove vectors among" in captured.out
    stamp = (folder / CACHE).stat().st_mtime_ns
    assert found(folder, capsys, "dog") == before
    assert (folder / CACHE).stat().st_mtime_ns == stamp
    assert main(command(folder, "dog", "--iterations", "1")) == 0
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


def test_files_may_be_named_instead_of_a_run(folder, tmp_path, capsys, refused):
    (expected,) = found(folder, capsys, "dog")
    words = (
        f"neighbours dog --json --conllu {folder}/s.conllu --ids 1 --model {folder}/model/model.safetensors "
    )
    words += f"--vocabulary {folder}/vocabulary.json --vectors {folder}/vectors.safetensors"
    refused(words.split(), "without --run, give --graphs and --treebank too")
    words += f" --graphs {folder}/graphs/train.safetensors --treebank {tmp_path}/data/train.conllu"
    assert main([*words.split(), "--cache", f"{tmp_path}/kept"]) == 0
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
def test_what_does_not_fit_is_one_line(folder, refused, words, message):
    refused(command(folder, *words.split()), message, lines=1)


def test_another_treebank_is_refused(folder, tmp_path, refused):
    renamed = [dataclasses.replace(s, id=f"x{s.id}" if s.id == "7" else s.id) for s in tiny_sentences()]
    for other, message in (
        (tiny_sentences()[:5], ": 5 sentences for the 45 graphs of"),
        (renamed, "sentence 'x7' of 6 tokens where "),
    ):
        path = write_treebank(tmp_path / "other", other)
        refused(command(folder, "dog", "--treebank", path), message)
