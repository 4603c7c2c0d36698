"""The embedder's bags are those that the stages write for the same sentences."""

import dataclasses
import logging
from collections import Counter

import numpy as np
import pytest
from tiny_run import CHASED, TURNED, encode, make_run
from tiny_treebank import write_treebank

from bove.bags.store import Bags
from bove.cli.main import main
from bove.embedder import Embedder, Settings
from bove.errors import BoveError
from bove.factor.model import Model
from bove.factor.settings import InferenceSettings
from bove.text.conll import Sentence
from bove.text.parser import CUT
from bove.text.vectors import WordVectors
from bove.text.vocabulary import Vocabulary

OPTIONS = InferenceSettings()
# A word with a vector alone, one that nothing knows, a sentence that is repeated, one without words.
ODD = Sentence("3", ("lynx", "xyz", "1984"), ("NN", "NN", "CD"), (2, 0, 2), ("NMOD", "ROOT", "NMOD"))
SENTENCES = [CHASED, ODD, TURNED, dataclasses.replace(CHASED, id="again"), Sentence("none")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = make_run(tmp_path_factory.mktemp("embedder"))
    encode(folder, write_treebank(folder / "s.conllu", SENTENCES), folder / "g")
    return folder


def embedder(folder, options=OPTIONS, **settings):
    return Embedder(
        Vocabulary.load(folder / "vocabulary.json"),
        Model.load(folder / "model" / "model.safetensors"),
        Settings(options, **settings),
        WordVectors.open(folder / "vectors.safetensors"),
    )


def stage(folder, system, options, *more):
    """The bags that `bove infer` writes."""
    files = f"--vectors {folder}/vectors.safetensors --vocabulary {folder}/vocabulary.json"
    if system != "word-vectors":
        files = f"--model {folder}/model/model.safetensors --graphs {folder}/g --batch-tokens 4096"
        files += f" --solver {options.solver} --iterations {options.iterations}"
        files += f" --tolerance {options.tolerance} --energy {options.energy}"
    words = f"infer --system {system} {files} --sentences {folder}/s.conllu --output {folder}/b"
    assert main([*words.split(), *more]) == 0
    return Bags.open(folder / "b")


@pytest.mark.parametrize("system", ["word-vectors", "properties-only", "bove"])
@pytest.mark.parametrize("punctuation", [True, False])
@pytest.mark.parametrize("options", [OPTIONS, InferenceSettings("averaged", 3, 0, 0.5)])
def test_bags_are_those_of_the_stages(folder, system, punctuation, options):
    more = [] if punctuation else ["--no-punctuation"]
    written = stage(folder, system, options, *more)
    made = embedder(folder, options, punctuation=punctuation).bags(SENTENCES, system)
    for sentence, bag in zip(SENTENCES, made, strict=True):
        np.testing.assert_array_equal(bag.vectors, written[sentence.id])
        np.testing.assert_array_equal(bag.evidence, written.evidence_of(written.bag_of(sentence.id)))
        assert len(bag.places) == len(bag.vectors)
    assert made[0].places.tolist() == ([0, 1, 2, 3, 4, 5] if punctuation else [0, 1, 2, 3, 4])
    # of "lynx xyz 1984" the first word alone has a vector of its own
    assert made[1].places.tolist() == ([0] if system == "word-vectors" else [0, 1, 2])


def test_each_token_is_known_as_its_word_property(folder):
    known = embedder(folder).known_as(SENTENCES)
    assert known[0] == ("The", "dog", "sees", "a", "cat", "PUNCT")
    assert known[1][:2] == ("vector", "") and known[4] == ()
    assert embedder(folder, pretrained=False).known_as([ODD])[0][0] == ""


def test_what_does_not_fit_or_was_not_given_is_refused(folder):
    whole = embedder(folder)
    poor = Embedder(whole.vocabulary, whole.model, whole.settings)
    assert poor.systems == ("properties-only", "bove")
    other = dataclasses.replace(whole.vocabulary, words=whole.vocabulary.words[::-1])
    for use, message in (
        (lambda: Embedder(other, whole.model, whole.settings), "the model has vocabulary"),
        (lambda: poor.bags([CHASED], "word-vectors"), "no bags of word-vectors can be made"),
        (lambda: poor.parse(["a dog"]), "no tagger and parser are given"),
    ):
        with pytest.raises(BoveError, match=message):
            use()


def test_the_parser_is_made_once_and_only_when_there_is_text(folder, caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("bove"), "propagate", True)

    class Parser:
        made, max_tokens, counts = 0, 2, Counter()

        def __init__(self):
            Parser.made += 1

        def parse(self, texts):
            self.counts[CUT] += "z" in texts
            return (dataclasses.replace(CHASED, id=text) for text in texts)

    whole = embedder(folder)
    with_parser = Embedder(whole.vocabulary, whole.model, whole.settings, None, Parser)
    with_parser.bags([CHASED], "bove")
    assert Parser.made == 0
    assert [tree.id for tree in with_parser.parse(["x", "y"])] == ["x", "y"] and not caplog.messages
    assert [tree.id for tree in with_parser.parse(["z"])] == ["z"]
    assert [tree.id for tree in with_parser.parse(["x"])] == ["x"]
    said = "1 sentences longer than the limit, parsed in pieces of 2 tokens (parser.max_tokens)"
    assert set(caplog.messages) == {said}
    assert Parser.made == 1
