"""The estimator learns and infers what the stages do, to the last bit, and each reads the other's files."""

import numpy as np
import pytest
from tiny_treebank import count_and_encode, tiny_sentences, write_treebank

import bove
from bove.bags.store import Bags
from bove.cli.main import main
from bove.factor.model import Model
from bove.text.graphs import save_graphs
from bove.text.vectors import WordVectors, write_vectors
from bove.text.vocabulary import Vocabulary

COMMON = {
    "rank": 6, "scale": "absolute", "alpha": 2.0, "lambda_P": 1.0, "lambda_R": 0.5, "lambda_E": 3.0,
    "penalty_P": "l2", "penalty_R": "l2", "dtype": "float32", "random_state": 3,
}  # fmt: skip
ALS = COMMON | {
    "trainer": "als", "max_rounds": 5, "tolerance": 1e-9, "restart_every": 3, "restart_iterations": 4,
    "e_step": "averaged", "e_tolerance": 1e-3, "e_energy": 1.0, "r_tolerance": 1e-4, "r_iterations": 40,
    "batch_tokens": 64,
}  # fmt: skip
SGD = COMMON | {
    "trainer": "sgd", "learning_rate": 0.5, "epochs": 4, "batch_sentences": 8, "negatives": 3,
    "negative_weight": 1.0, "patience": 2, "held_out": 0.2, "device": "cpu",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("same")
    write_treebank(folder / "t.conllu", tiny_sentences())
    count_and_encode(folder)
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((4, 6)).astype(np.float32)
    write_vectors(folder / "v", [([b"dog", b"sees", b"cat", b"lynx"], rows)], {})
    for name, settings, more in (("als", ALS, {"checkpoint-every": 0}), ("sgd", SGD, {})):
        given = settings | more | {"seed": settings["random_state"]}
        files = {"graphs": "g", "vocabulary": "vocabulary", "vectors": "v", "output": name}
        given |= {key: folder / file for key, file in (files | {"training-log": f"{name}.csv"}).items()}
        left = given.keys() - {"trainer", "random_state"}
        words = [f"--{key.replace('_', '-')}={given[key]}" for key in sorted(left)]
        assert main([f"train-{name}", *words]) == 0
    return folder


def stage_bags(folder, model, batch_tokens):
    words = f"infer --system bove --model {folder}/{model} --graphs {folder}/g --solver fixed-point"
    words += f" --iterations 30 --tolerance 0.001 --energy 0.9 --batch-tokens {batch_tokens}"
    assert main([*words.split(), "--output", f"{folder}/b"]) == 0
    return Bags.open(folder / "b")


@pytest.mark.parametrize(("name", "settings"), [("als", ALS), ("sgd", SGD)])
def test_a_model_and_its_bags_are_those_of_the_stages(folder, name, settings):
    corpus = bove.Corpus.of_sentences(tiny_sentences(), Vocabulary.load(folder / "vocabulary"))
    made = bove.BoVE(**settings).fit(corpus, vectors=bove.read_vectors(folder / "v"))
    model = Model.load(folder / name)
    np.testing.assert_array_equal(made.properties_, model.properties)
    np.testing.assert_array_equal(made.relations_, model.relations)
    np.testing.assert_array_equal(made.model_.frozen, model.frozen)
    assert model.frozen.sum() == 3 and model.groups == made.model_.groups
    assert made.model_.vocabulary_hash == model.vocabulary_hash
    bags = stage_bags(folder, name, 64)
    loaded = bove.BoVE.load(folder / name, folder / "vocabulary").set_params(batch_tokens=64)
    assert {key: loaded.get_params()[key] for key in settings} == settings
    for some in (made.set_params(batch_tokens=64), loaded):
        for sentence, bag in zip(tiny_sentences(), some.transform(corpus), strict=True):
            np.testing.assert_allclose(bag, bags[sentence.id], atol=1e-5)


def test_stages_infer_with_a_model_and_graphs_from_python(tmp_path):
    graphs = [bove.Graph([["a:1"], ["b:2", "a:1"]], [["x", 0, 1]], "one"), bove.Graph([["a:1"]], id="two")]
    model = bove.BoVE(rank=3, alpha=1, lambda_P=0.1, lambda_E=0.1, max_rounds=4).fit(graphs)
    model.save(tmp_path / "m")
    save_graphs(bove.Corpus.of(graphs).arrays, tmp_path / "g")
    bags = stage_bags(tmp_path, "m", 4096)
    for graph, bag in zip(graphs, model.transform(graphs), strict=True):
        np.testing.assert_allclose(bags[graph.id], bag, rtol=1e-5)


def test_a_workflow_s_model_needs_its_own_vocabulary(folder, tmp_path):
    with pytest.raises(bove.BoveError, match=r"give the vocabulary\.json"):
        bove.BoVE.load(folder / "als")
    (tmp_path / "t.conllu").write_bytes((folder / "t.conllu").read_bytes())
    count_and_encode(tmp_path, "--no-adjacency")
    with pytest.raises(bove.BoveError, match="made with other names"):
        bove.BoVE.load(folder / "als", tmp_path / "vocabulary")
    graph = bove.Graph([["word:dog", "pos:NN"], ["word:sees", "pos:VBZ"]], [["SBJ", 1, 0]])
    (bag,) = bove.BoVE.load(folder / "als", folder / "vocabulary").transform([graph])
    assert bag.shape == (2, 6) and bag.any(axis=1).all()


def test_word_vectors_are_those_of_the_file(folder):
    vectors, opened = bove.read_vectors(folder / "v"), WordVectors.open(folder / "v")
    assert list(vectors) == ["word:dog", "word:sees", "word:cat", "word:lynx"] and len(vectors) == 4
    np.testing.assert_array_equal(vectors["word:cat"], opened.vectors[2])
    assert "word:fish" not in vectors and "pos:cat" not in vectors and 3 not in vectors
    with pytest.raises(KeyError):
        vectors["cat"]
