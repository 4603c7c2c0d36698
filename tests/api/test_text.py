"""A loaded run: bags, scores and search of texts are those of the stages and of the plain formulas."""

import json
import zipfile
from itertools import product

import numpy as np
import pytest
from tiny_run import make_run, score
from tiny_texts import PARSED, TEXTS, parse

import bove
from bove.bags.store import Bags
from bove.cli.main import main
from bove.cli.parse import read_sides
from bove.embedder import Embedder
from bove.evaluate.results import read_scores, weighted
from bove.text.pairs import Pair


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("text"))


@pytest.fixture
def run(folder, monkeypatch):
    monkeypatch.setattr(Embedder, "parse", parse)
    return bove.load(folder)


def test_bags_are_those_of_the_workflow_to_the_byte(demo):
    run = bove.load(demo.results)
    ids, texts = read_sides(demo.results / "pairs" / "snli.jsonl")
    for system in run.systems:
        written = Bags.open(demo.results / "bags" / system / "snli.safetensors")
        bags, tokens = run.encode(texts, system), run.tokens(texts, system)
        for name, bag, forms in zip(ids, bags, tokens, strict=True):
            np.testing.assert_array_equal(bag, written[name])
            assert len(forms) == len(bag)
    hit = run.search(texts[0], demo.results / "bags" / "bove" / "snli.safetensors", top=1)[0]
    assert hit.text in texts and hit.score == pytest.approx(1)
    assert run.encode(["One dog. Two dogs."])[0].shape == (6, 10)  # one text is one bag


def test_a_packed_run_parses_and_embeds_like_its_folder(demo, tmp_path):
    out = tmp_path / "a packed run.zip"
    assert main(["pack", str(demo.results), "-o", str(out)]) == 0
    _, texts = read_sides(demo.results / "pairs" / "sts.jsonl")
    for own, packed in zip(bove.load(demo.results).encode(texts), bove.load(out).encode(texts), strict=True):
        np.testing.assert_array_equal(own, packed)
    with zipfile.ZipFile(out) as opened:
        assert not [name for name in opened.namelist() if name.endswith((".pt", ".pkl"))]
        assert {row["dataset"] for row in json.loads(opened.read("card.json"))["scores"]} >= {"sts", "snli"}


def test_tokens_stand_beside_vectors_and_means_are_theirs(run):
    assert run.tokens(TEXTS) == [list(PARSED[text].forms) for text in TEXTS]
    assert run.tokens(["A lynx!"], "word-vectors") == [["A", "lynx"]]
    bags, means = run.encode(iter(TEXTS)), run.encode(TEXTS, pool="mean")
    assert means.shape == (4, 6) and means.dtype == np.float32
    np.testing.assert_allclose(means[:3], [bag.mean(axis=0) for bag in bags[:3]], atol=1e-6)
    assert bags[3].shape == (0, 6) and not means[3].any()
    assert run.encode([]) == [] and run.encode([], pool="mean").shape == (0, 6)


def test_words_that_nothing_knows_are_told_once(run, recwarn):
    with pytest.warns(bove.BoveWarning, match="1 tokens are words that neither.* have: the$"):
        run.encode(TEXTS[1:])
    recwarn.clear()
    run.tokens(TEXTS[1:]), run.encode(TEXTS[:1])
    assert not recwarn.list


@pytest.mark.parametrize("weight", ["none", "length", "evidence"])
@pytest.mark.parametrize("task", ["similarity", "entailment"])
def test_weighted_scores_are_those_of_the_stages(run, folder, tmp_path, task, weight):
    sides = list(product(TEXTS, TEXTS))
    gold = "entailment" if task == "entailment" else 1.0
    pairs = [Pair(f"a-{i}", "d", "D", task, "a", *two, gold, True) for i, two in enumerate(sides)]
    score(folder, tmp_path, pairs, PARSED, run.systems, weights=["--weight", weight, "--power", 2])
    written = read_scores(tmp_path / "scores").values
    for system in run.systems:
        found = getattr(run, task)(TEXTS, TEXTS, system, weight=weight, power=2)
        np.testing.assert_allclose(found.ravel(), written[weighted(system, weight)], atol=1e-11)
        hits = run.search(TEXTS[1], TEXTS, 4, system, weight=weight, power=2)
        entails = run.entailment(TEXTS, TEXTS[1:2], system, weight=weight, power=2)[:, 0]
        assert [hit.score for hit in hits] == sorted(entails, reverse=True)


@pytest.mark.parametrize("system", ["bove", "word-vectors"])
def test_scores_are_those_of_the_formulas_one_by_one_and_all_together(run, system):
    bags = run.encode(TEXTS, system)
    for many, one in ((run.similarity, bove.similarity_score), (run.entailment, bove.entailment_score)):
        found = many(TEXTS, TEXTS[:3], system)
        want = [[one(first, second) for second in bags[:3]] for first in bags]
        np.testing.assert_allclose(found, want, atol=1e-11)
        assert many(TEXTS[0], TEXTS[1], system) == pytest.approx(found[0, 1], abs=1e-6)
        assert many(TEXTS[0], TEXTS[:2], system).shape == (1, 2)
        assert many(TEXTS, [], system).shape == (4, 0)


def test_search_ranks_texts_by_how_well_they_entail_the_query(run, folder, tmp_path):
    texts = [TEXTS[0], TEXTS[2], TEXTS[0], TEXTS[1], TEXTS[3]]
    hits = run.search(TEXTS[1], texts, top=4)
    assert [hit.rank for hit in hits] == [1, 2, 3, 4]
    assert hits[0].text == TEXTS[1] and hits[0].score == pytest.approx(1)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    (tmp_path / "texts.txt").write_text("\n".join(texts), encoding="utf-8")
    words = [
        "embed",
        str(tmp_path / "texts.txt"),
        "--run",
        str(folder),
        "-o",
        str(tmp_path / "b.safetensors"),
    ]
    assert main(words) == 0
    for weight in ("none", "length", "evidence"):
        hits = run.search(TEXTS[1], texts, top=4, weight=weight)
        assert run.search(TEXTS[1], tmp_path / "b.safetensors", top=4, weight=weight) == hits
    assert run.search("", texts, top=1) == [(1, 0.0, texts[0])]


def test_the_same_texts_are_parsed_once(folder, monkeypatch):
    asked = []
    monkeypatch.setattr(Embedder, "parse", lambda self, texts: asked.append(texts) or parse(self, texts))
    run = bove.load(folder)
    run.encode(TEXTS)
    run.tokens(TEXTS)
    for query in TEXTS[:3]:
        run.search(query, TEXTS)
    assert len(asked) == 4


def test_what_cannot_be_is_one_sentence(run, folder, tmp_path):
    for use, said in (
        (lambda: bove.load(tmp_path), "no run is there"),
        (lambda: run.encode("a text"), "a single text is given; give a list"),
        (lambda: run.encode(["a", 3]), "text 2 is 3; give texts alone"),
        (lambda: run.encode(TEXTS, pool="max"), "pool 'max': must be None or one of 'mean'"),
        (lambda: run.encode(TEXTS, "glove"), "no bags of glove can be made"),
        (lambda: run.search("", TEXTS, top=0), "top 0: must be at least 1"),
        (lambda: run.search("", tmp_path / "no"), "no such file"),
        (lambda: run.search("", TEXTS, weight="idf"), "weight 'idf': must be one of none, length, evidence"),
        (lambda: run.similarity("", "", power=0), "power 0: must be a number above 0"),
    ):
        with pytest.raises(bove.BoveError, match=said):
            use()
    bove.write_bags(tmp_path / "b", {"a": np.ones((1, 5))})
    with pytest.raises(bove.BoveError, match=r"of 6 dimensions, but .* has 5; use one model"):
        run.search(TEXTS[0], tmp_path / "b")


def test_a_run_without_a_parser_or_a_model_says_so(folder):
    with pytest.raises(bove.BoveError, match="has no tagger and parser"):
        bove.load(folder).encode(TEXTS)
    model = folder / "model" / "model.safetensors"
    model.rename(folder / "away")
    try:
        with pytest.raises(bove.BoveError, match="not there, so the run is not finished"):
            bove.load(folder)
    finally:
        (folder / "away").rename(model)
