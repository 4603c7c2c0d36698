"""A model over an encoder: what the stages make of it, held against the estimator with the same vectors."""

import dataclasses

import numpy as np
import pytest
from tiny_encoder import tiny_encoder
from tiny_treebank import tiny_sentences, write_treebank

import bove
from bove.bags.store import Bags
from bove.cli.main import main
from bove.embedder import Embedder, Settings
from bove.factor.model import Model
from bove.factor.settings import InferenceSettings
from bove.text.encoders import Components, Encoder, TokenEncoder
from bove.text.vocabulary import Vocabulary

RANK, NEW = 5, tiny_sentences()[::4]
TRAINING = {"alpha": 0.07, "max_rounds": 3, "e_step": "fixed-point"}


def run(command, *more):
    assert main([*command.split(), *map(str, more)]) == 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The stages' files: of the treebank, of some of its sentences again, and the model."""
    at = tmp_path_factory.mktemp("over")
    tiny_encoder(at / "own")
    write_treebank(at / "t", tiny_sentences())
    write_treebank(at / "n", NEW)
    least = "--min-words 1 --min-tags 2 --min-relations 1"
    run(f"vocabulary --treebank {at}/t {least} --no-words --output {at}/v")
    for name in "tn":
        files = f"--output {at}/{name}-without --whole-output {at}/{name}-tokens"
        run(f"encoder --encoder {at}/own --sentences {at}/{name} --no-punctuation {files}")
    run(f"components --tokens {at}/t-tokens --rank {RANK} --output {at}/c")
    for name in "tn":
        files = f"--sentences {at}/{name} --tokens {at}/{name}-tokens --vectors {at}/c --vocabulary {at}/v"
        run(f"encode {files} --output {at}/{name}-graphs")
    options = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in TRAINING.items())
    run(f"train-als --graphs {at}/t-graphs --vocabulary {at}/v --rank {RANK} {options} --output {at}/model",
        "--training-log", at / "log")  # fmt: skip
    for system in ("bove", "properties-only", "word-vectors"):
        run(f"infer --system {system} --model {at}/model --graphs {at}/n-graphs --output {at}/{system}")
    return at


@pytest.fixture(scope="module")
def recipe(folder):
    """The same in Python, as docs/encoders.md has it, each token with a property of its own."""
    trees = tiny_sentences()
    forms = [tree.forms for tree in trees]
    tokens = dict(Encoder(folder / "own").encode(forms))
    whole = np.concatenate([tokens[s].tokens for s in range(len(forms))]).astype(float)
    directions = np.linalg.eigh(whole.T @ whole)[1][:, ::-1][:, :RANK]

    def graph(tree, where):
        own = [(f"pos:{tag}", f"own:{where:02}-{place:02}") for place, tag in enumerate(tree.tags)]
        arcs = zip(tree.relations, tree.heads, range(len(own)), strict=True)
        edges = [(name, head - 1, dependent) for name, head, dependent in arcs if head]
        return bove.Graph(own, edges + [("ADJACENCY", i, i + 1) for i in range(len(own) - 1)])

    def vectors(numbers):
        return {f"own:{s:02}-{i:02}": v for s in numbers for i, v in enumerate(tokens[s].tokens @ directions)}

    numbers = range(len(trees))
    model = bove.BoVE(rank=RANK, **TRAINING).fit(
        [graph(tree, s) for s, tree in enumerate(trees)], vectors=vectors(numbers)
    )
    again = numbers[::4]
    return (
        model,
        model.transform([graph(trees[s], s) for s in again]),
        [tokens[s].tokens @ directions for s in again],
    )


def test_model_and_bags_are_those_of_an_estimator_with_a_frozen_row_for_each_token(folder, recipe):
    _, expected, vectors = recipe
    bags, words = Bags.open(folder / "bove"), Bags.open(folder / "word-vectors")
    for tree, bag, own in zip(NEW, expected, vectors, strict=True):
        signs = np.sign((words[tree.id] * own).sum(axis=0))  # of a direction either sign is right
        np.testing.assert_allclose(words[tree.id] * signs, own, atol=1e-5)
        np.testing.assert_allclose(bags[tree.id] * signs, bag, rtol=1e-3, atol=1e-3 * np.abs(bag).max())


def test_the_model_keeps_of_the_tokens_their_products_alone(folder, recipe):
    estimator, _, _ = recipe
    model, tags = Model.load(folder / "model"), estimator.names_.groups["property:pos"][1]
    assert len(model.properties) == tags and not model.frozen.any() and model.groups["words"] == (tags, tags)
    directions = Components.load(folder / "c").directions.astype(float)
    tokens = Bags.open(folder / "t-tokens").vectors @ directions
    np.testing.assert_allclose(model.own, tokens.T @ tokens, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(model.gram(), model.properties.T @ model.properties + model.own)


@pytest.mark.parametrize("system", ["bove", "properties-only", "word-vectors"])
def test_an_embedder_runs_the_encoder_itself(folder, system):
    tokens = TokenEncoder(folder / "own", Components.load(folder / "c"))
    files = Vocabulary.load(folder / "v"), Model.load(folder / "model")
    embedder = Embedder(*files, Settings(InferenceSettings()), tokens)
    expected = Bags.open(folder / system)
    for tree, bag in zip(NEW, embedder.bags(NEW, system), strict=True):
        np.testing.assert_allclose(bag.vectors, expected[tree.id], rtol=1e-3, atol=1e-6)
        assert len(bag.places) == len(tree.forms)
    renamed = [dataclasses.replace(tree, id=f"other {tree.id}") for tree in NEW]
    assert embedder.graphs(renamed).ids == tuple(tree.id for tree in renamed)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("components --tokens {at}/t-tokens --rank 9", "has 8 dimensions; give at most so many"),
        ("{encode} --tokens {at}/n-without", "has not the 11 tokens of sentence '0' next; encode the same"),
        ("{encode} --tokens {at}/t-tokens", "has not the 6 tokens of sentence '4' next; encode the same"),
        ("{encode}", "holds bove-components, not bove-vectors; give the right file"),
        ("encode --sentences {at}/n --vocabulary {at}/v", "the vocabulary has no words; give the vectors"),
        (
            "train-als --graphs {at}/t-graphs --vocabulary {at}/v --rank 4 --training-log {at}/y",
            "tokens with vectors of 5 dimensions, but the rank is 4; make components of this rank",
        ),
        (
            "embed {at}/n --model {at}/model --vocabulary {at}/v --vectors {at}/c",
            "a model over an encoder needs the run that it is of; give --run",
        ),
    ],
)
def test_what_does_not_fit_is_one_line(folder, refused, command, message):
    encode = f"encode --sentences {folder}/n --vocabulary {folder}/v --vectors {folder}/c"
    words = command.format(at=folder, encode=encode).split()
    refused([*words, "--output", str(folder / "x.npz")], message, folder / "x.npz")
