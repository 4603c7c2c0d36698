"""Parsing with models like Stanza's published ones, which need word vectors, character models and lemmas."""

import gzip
import json

import pytest

pytest.importorskip("stanza")
import stanza.models.lemmatizer
import stanza.models.parser
import stanza.models.tagger
import torch
from stanza.models.common.char_model import CharacterLanguageModel, build_charlm_vocab
from stanza.models.common.pretrain import Pretrain
from tiny_treebank import tiny_sentences, write_treebank

from bove.cli.main import main
from bove.files import sha256
from bove.text.conll import read_sentences
from bove.text.pairs import Pair, write_pairs
from bove.text.parser import Parser
from bove.text.parser_training import as_arguments, find_options

FURTHER = ("lemmatizer", "pretrain", "charlm_forward", "charlm_backward")


def write_lemmas(path):
    """The tiny treebank as Universal Dependencies have it, with lemmas."""
    with open(path, "w", encoding="utf-8") as stream:
        for tree in tiny_sentences():
            for i, (form, tag) in enumerate(zip(tree.forms, tree.tags, strict=True)):
                lemma = form.lower().removesuffix("s")
                head, label = tree.heads[i], tree.relations[i].lower()
                stream.write(f"{i + 1}\t{form}\t{lemma}\tU{tag[0]}\t{tag}\t_\t{head}\t{label}\t_\t_\n")
            stream.write("\n")
    return path


def make_foundations(folder):
    """Word vectors and character models with random values."""
    words = sorted({form.lower() for tree in tiny_sentences() for form in tree.forms})
    torch.manual_seed(1)
    rows = "".join(f"{word} {' '.join(f'{x:.4f}' for x in torch.randn(8).tolist())}\n" for word in words)
    (folder / "vectors.txt").write_text(f"{len(words)} 8\n{rows}", encoding="utf-8")
    Pretrain(str(folder / "pretrain.pt"), str(folder / "vectors.txt")).load()
    text = folder / "text.txt"
    text.write_text(" ".join(form for tree in tiny_sentences() for form in tree.forms), encoding="utf-8")
    sizes = {"char_emb_dim": 8, "char_hidden_dim": 12, "char_num_layers": 1, "char_dropout": 0.0}
    for name, forward in (("charlm_forward", True), ("charlm_backward", False)):
        vocabulary = {"char": build_charlm_vocab(str(text), cutoff=0)}
        model = CharacterLanguageModel(sizes | {"char_rec_dropout": 0.0}, vocabulary, is_forward_lm=forward)
        model.save(str(folder / f"{name}.pt"))


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A folder with a tagger, a parser and all files that they need."""
    folder = tmp_path_factory.mktemp("published")
    make_foundations(folder)
    treebank = str(write_lemmas(folder / "train.conllu"))
    common = ["--mode", "train", "--shorthand", "en_tiny", "--seed", "1", "--cpu"]
    common += ["--save_dir", str(folder), "--train_file", treebank, "--eval_file", treebank]
    lemmas = ["--dict_only", "--output_file", f"{folder}/out.conllu", "--save_name", "lemmatizer.pt"]
    stanza.models.lemmatizer.main(common + lemmas)
    below = ["--lang", "en", "--wordvec_pretrain_file", str(folder / "pretrain.pt")]
    below += ["--charlm", "--charlm_shorthand", "en_tiny"]
    below += [w for d in ("forward", "backward") for w in (f"--charlm_{d}_file", f"{folder}/charlm_{d}.pt")]
    for kind in ("tagger", "parser"):
        options = find_options(kind, "tiny") | {"max_steps": 60, "eval_interval": 60}
        own = {name: value for name, value in options.items() if name not in ("no_char", "no_xpos")}
        words = common + below + as_arguments(own) + ["--save_name", f"{kind}.pt"]
        getattr(stanza.models, kind).main(words)
    return folder


def parsing(folder, output, further=FURTHER, **other):
    pair = Pair("a-1", "d", "D", "similarity", "a", "The dog sees a cat.", "The girl likes dogs.", 1.0, True)
    with open(output.with_name("pairs.jsonl"), "w", encoding="utf-8") as stream:
        write_pairs(stream, [pair])
    words = ["parse", "--pairs", str(output.with_name("pairs.jsonl")), "--output", str(output)]
    for name in ("tagger", "parser", *further):
        words += [f"--{name.replace('_', '-')}", str(other.get(name, folder / f"{name}.pt"))]
    return [*words, "--max-tokens", "100"]


def test_published_models_parse_with_the_files_that_they_need(published, tmp_path):
    assert main(parsing(published, tmp_path / "out.gz")) == 0
    first, second = read_sentences(tmp_path / "out.gz")
    assert first.forms == ("The", "dog", "sees", "a", "cat", ".")
    assert first.tags[:3] == ("DT", "NN", "VBZ") and "root" in first.relations
    assert second.heads.count(0) == 1
    said = gzip.decompress((tmp_path / "out.gz").read_bytes()).decode()
    for name in FURTHER:
        assert f"# {name}_sha256 = {sha256(published / f'{name}.pt')}\n" in said


@pytest.mark.parametrize("name", FURTHER)
def test_each_of_the_files_is_asked_for_and_no_other_will_do(published, tmp_path, refused, name):
    out, further = tmp_path / "out.gz", [other for other in FURTHER if other != name]
    refused(parsing(published, out, further), f"needs further files: give --{name.replace('_', '-')};", out)
    other = published / ("lemmatizer.pt" if name == "pretrain" else "pretrain.pt")
    refused(parsing(published, out, **{name: other}), f"{other}: no {name} of Stanza", out)


def test_lemmas_are_found_and_other_vectors_give_other_trees(published, tmp_path):
    other = torch.load(published / "pretrain.pt", weights_only=True)
    torch.save(other | {"emb": -10 * other["emb"]}, tmp_path / "pretrain.pt")
    further = {name: published / f"{name}.pt" for name in FURTHER}
    texts = ["The dog sees a cat.", "The girl likes dogs."]
    files = (published / "tagger.pt", published / "parser.pt", 100)
    parser = Parser(*files, further=further)
    mine = list(parser.parse(texts))
    [sentence] = parser._pipeline([["The", "dog", "sees"]]).sentences
    assert [word.lemma for word in sentence.words] == ["the", "dog", "see"]
    others = list(Parser(*files, further=further | {"pretrain": tmp_path / "pretrain.pt"}).parse(texts))
    assert mine != others


def test_files_that_were_not_made_for_each_other_are_one_line(published, tmp_path, refused):
    other = torch.load(published / "pretrain.pt", weights_only=True)
    torch.save(other | {"emb": other["emb"][:, :5]}, tmp_path / "pretrain.pt")
    words = parsing(published, tmp_path / "out.gz", pretrain=tmp_path / "pretrain.pt")
    refused(words, "Stanza cannot load them together")


def test_they_are_measured_on_a_treebank_too(published, tmp_path):
    treebank = write_treebank(tmp_path / "gold.conllu", tiny_sentences()[:8])
    words = ["evaluate-parser", "--treebank", str(treebank), "--max-tokens", "100"]
    for name in ("tagger", "parser", *FURTHER):
        words += [f"--{name.replace('_', '-')}", f"{published}/{name}.pt"]
    assert main([*words, "--output", f"{tmp_path}/accuracy.json"]) == 0
    report = json.loads((tmp_path / "accuracy.json").read_text(encoding="utf-8"))
    assert report["pretrain_sha256"] == sha256(published / "pretrain.pt")
    assert 0 < report["accuracy"]["tags"] <= 1
    assert report["accuracy"]["LAS"] == 0, "its labels are lower-cased"
