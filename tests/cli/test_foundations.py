"""Parsing with models like Stanza's published ones, which need word vectors, character models and lemmas."""

import gzip
import json
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

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


@pytest.fixture(scope="module")
def fetched(published, tmp_path_factory):
    """The same files, downloaded by `bove fetch` from a server, with their hashes."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(published))
    handler.func.log_message = lambda *_: None
    folder = tmp_path_factory.mktemp("fetched")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, pytest.MonkeyPatch.context() as patch:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            patch.delenv(name, raising=False)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        for name in ("tagger", "parser", *FURTHER):
            url = f"http://127.0.0.1:{server.server_port}/{name}.pt"
            words = ["fetch", "--name", name, "--url", url, "--sha256", sha256(published / f"{name}.pt")]
            assert main([*words, "--output", str(folder / f"{name}.pt")]) == 0
        server.shutdown()
        thread.join()
    return folder


def parse(folder, output, further=FURTHER, **other):
    pair = Pair("a-1", "d", "D", "similarity", "a", "The dog sees a cat.", "The girl likes dogs.", 1.0, True)
    with open(output.with_name("pairs.jsonl"), "w", encoding="utf-8") as stream:
        write_pairs(stream, [pair])
    words = ["parse", "--pairs", str(output.with_name("pairs.jsonl")), "--output", str(output)]
    for name in ("tagger", "parser", *further):
        words += [f"--{name.replace('_', '-')}", str(other.get(name, folder / f"{name}.pt"))]
    return main([*words, "--max-tokens", "100"])


def test_downloaded_models_parse_with_the_files_that_they_need(fetched, tmp_path):
    assert parse(fetched, tmp_path / "out.gz") == 0
    first, second = read_sentences(tmp_path / "out.gz")
    assert first.forms == ("The", "dog", "sees", "a", "cat", ".")
    assert first.tags[:3] == ("DT", "NN", "VBZ") and "root" in first.relations
    assert second.heads.count(0) == 1
    said = gzip.decompress((tmp_path / "out.gz").read_bytes()).decode()
    for name in FURTHER:
        assert f"# {name}_sha256 = {sha256(fetched / f'{name}.pt')}\n" in said


@pytest.mark.parametrize("name", FURTHER)
def test_each_of_the_files_is_asked_for(fetched, tmp_path, capsys, name):
    further = [other for other in FURTHER if other != name]
    assert parse(fetched, tmp_path / "out.gz", further) == 2
    lines = capsys.readouterr().err.strip().split("\n")
    assert f"needs further files: give --{name.replace('_', '-')};" in lines[-1]
    assert not (tmp_path / "out.gz").exists()


@pytest.mark.parametrize("name", FURTHER)
def test_another_file_in_its_place_is_refused(fetched, tmp_path, capsys, name):
    wrong = "pretrain" if name == "lemmatizer" else "lemmatizer"
    other = fetched / f"{wrong}.pt"
    if name.startswith("charlm"):
        other = fetched / "pretrain.pt"
    assert parse(fetched, tmp_path / "out.gz", **{name: other}) == 2
    assert f"{other}: no {name} of Stanza" in capsys.readouterr().err


def test_lemmas_are_found_and_other_vectors_give_other_trees(fetched, tmp_path):
    other = torch.load(fetched / "pretrain.pt", weights_only=True)
    torch.save(other | {"emb": -10 * other["emb"]}, tmp_path / "pretrain.pt")
    further = {name: fetched / f"{name}.pt" for name in FURTHER}
    texts = ["The dog sees a cat.", "The girl likes dogs."]
    files = (fetched / "tagger.pt", fetched / "parser.pt", 100)
    parser = Parser(*files, further=further)
    mine = list(parser.parse(texts))
    [sentence] = parser._pipeline([["The", "dog", "sees"]]).sentences
    assert [word.lemma for word in sentence.words] == ["the", "dog", "see"]
    others = list(Parser(*files, further=further | {"pretrain": tmp_path / "pretrain.pt"}).parse(texts))
    assert mine != others


def test_files_that_were_not_made_for_each_other_are_one_line(fetched, tmp_path, capsys):
    other = torch.load(fetched / "pretrain.pt", weights_only=True)
    torch.save(other | {"emb": other["emb"][:, :5]}, tmp_path / "pretrain.pt")
    assert parse(fetched, tmp_path / "out.gz", pretrain=tmp_path / "pretrain.pt") == 2
    assert "Stanza cannot load them together" in capsys.readouterr().err.strip().split("\n")[-1]


def test_they_are_measured_on_a_treebank_too(fetched, tmp_path):
    treebank = write_treebank(tmp_path / "gold.conllu", tiny_sentences()[:8])
    words = ["evaluate-parser", "--treebank", str(treebank), "--max-tokens", "100"]
    for name in ("tagger", "parser", *FURTHER):
        words += [f"--{name.replace('_', '-')}", f"{fetched}/{name}.pt"]
    assert main([*words, "--output", f"{tmp_path}/accuracy.json"]) == 0
    report = json.loads((tmp_path / "accuracy.json").read_text(encoding="utf-8"))
    assert report["pretrain_sha256"] == sha256(fetched / "pretrain.pt")
    assert (
        0 < report["accuracy"]["tags"] <= 1 and report["accuracy"]["LAS"] == 0
    )  # its labels are lower-cased
