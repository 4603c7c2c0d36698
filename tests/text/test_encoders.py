"""Vectors of encoders, held against what sentence-transformers makes of the same texts."""

import shutil
from itertools import pairwise

import numpy as np
import pytest
from tiny_encoder import minilm, tiny_encoder

from bove.errors import BoveError
from bove.text.encoders import Encoder, encoder_files

SENTENCES = [
    ("The", "dogs", "do", "n't", "chase", "a", "cat", "."),
    ("a", "cat", "sees", "the", "barking", "dog", ",", "dog", "."),
    ("cat",),
    (),
]


@pytest.fixture(scope="module", params=[tiny_encoder, minilm])
def folder(request, tmp_path_factory):
    return request.param(tmp_path_factory.mktemp("encoders") / "own")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return tiny_encoder(tmp_path_factory.mktemp("encoders") / "tiny", longest=8)


def test_vectors_are_those_of_the_library_on_the_same_text(folder):
    from sentence_transformers import SentenceTransformer

    library = SentenceTransformer(str(folder), device="cpu")
    texts = [" ".join(forms) for forms in SENTENCES]
    whole = library.encode(texts)
    pieces = library.encode(texts, output_value="token_embeddings")
    found = dict(Encoder(folder).encode(SENTENCES))
    assert sorted(found) == [0, 1, 2, 3]
    for s, forms in enumerate(SENTENCES):
        np.testing.assert_allclose(found[s].sentence, whole[s], atol=1e-5)
        # each form by itself is cut into the same pieces as in its sentence
        sizes = [len(library.tokenizer(form, add_special_tokens=False)["input_ids"]) for form in forms]
        ends = 1 + np.cumsum([0, *sizes])
        assert len(pieces[s]) == ends[-1] + 1 and (s > 0 or max(sizes) > 1)
        expected = [pieces[s][a:b].cpu().numpy().mean(axis=0) for a, b in pairwise(ends)]
        np.testing.assert_allclose(found[s].tokens, np.reshape(expected, found[s].tokens.shape), atol=1e-5)


def test_a_token_without_a_piece_is_zeros_and_what_is_beyond_the_longest_text_is_counted(tiny):
    sentences = [("cat", "\u200d", "dog"), tuple(["the", "dog", "sees", "a", "cat", ".", "the", "dog"])]
    found = dict(Encoder(tiny).encode(sentences))
    assert found[0].tokens.any(axis=1).tolist() == [True, False, True] and found[0].cut == 0
    assert found[1].tokens.any(axis=1).tolist() == [True] * 6 + [False] * 2 and found[1].cut == 2


def test_the_files_are_all_that_is_read_and_other_weights_are_refused(tmp_path):
    for name in ("model.safetensors", "tokenizer.json", "1_Pooling/config.json", "onnx/a.json", "README.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    with pytest.raises(BoveError, match=r"no folder of an encoder, which has a config\.json; correct"):
        encoder_files(tmp_path)
    (tmp_path / "config.json").touch()
    names = ["1_Pooling/config.json", "config.json", "model.safetensors", "tokenizer.json"]
    assert encoder_files(tmp_path) == names
    (tmp_path / "tokenizer.json").rename(tmp_path / "vocab.json")
    with pytest.raises(BoveError, match=r"has no tokenizer\.json; save its tokenizer"):
        encoder_files(tmp_path)
    (tmp_path / "1_Pooling" / "pytorch_model.bin").touch()
    with pytest.raises(BoveError, match=r"1_Pooling: has no \*.safetensors, and no other weights are read"):
        encoder_files(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(BoveError, match=r"has no \*.safetensors, and no other weights are read; convert"):
        encoder_files(tmp_path)


def test_a_folder_that_cannot_be_loaded_and_one_with_code_of_its_own_are_one_line(tiny, tmp_path):
    damaged, coded = (shutil.copytree(tiny, tmp_path / name) for name in ("damaged", "coded"))
    (damaged / "model.safetensors").write_bytes(b"no weights")
    (coded / "modules.json").write_text('[{"idx": 0, "name": "0", "path": "", "type": "own.Module"}]')
    (coded / "own.py").write_text("raise SystemExit('run')")
    for folder in (damaged, coded):
        with pytest.raises(BoveError, match="cannot be loaded as an encoder"):
            Encoder(folder)
