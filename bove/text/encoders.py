"""Encoders: transformers from a folder in the layout of Hugging Face, which give vectors of sentences and of
their tokens.

A sentence is encoded as its forms with spaces between them. The encoder cuts it into pieces; a token's
vector is the mean of the last layer's vectors of the pieces that lie in it. What sentence-transformers makes
of the same text is the vector of the sentence, pooled as the folder says, or by the mean of all pieces where
it says nothing.

Weights are read from safetensors alone, and no code from the folder is run.

A model can be learnt over an encoder. The vectors of its tokens are then shortened to the model's rank: to
their components in the directions of the first right singular vectors of those of the treebank's tokens.
"""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bove import artefacts
from bove.errors import BoveError
from bove.files import sha256
from bove.text.conll import Sentence
from bove.text.graphs import OwnVectors

BATCH = 32  # sentences, of about the same length
_ROWS = 1 << 14  # that are in memory at once in a higher precision
_PARTS = (".json", ".model", ".safetensors", ".txt")
_OTHER_FORMATS = ("onnx", "openvino")
FORMAT = "bove-components"


def encoder_files(folder: str | Path) -> list[str]:
    """The files that an encoder is read from, by their places in its folder, in order.

    Raises:
        BoveError: no such folder, or one without weights in safetensors or tokenizer.json.
    """
    folder = Path(folder)
    if not (folder / "config.json").is_file():
        raise BoveError(f"{folder}: no folder of an encoder, which has a config.json; correct the path")
    names = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    names = [name for name in names if name.parts[0] not in _OTHER_FORMATS]
    safe = {name.parent for name in names if name.suffix == ".safetensors"}
    pickled = {name.parent for name in names if name.suffix == ".bin"} - safe
    if pickled or Path() not in safe:
        where = folder / min(pickled, default="")
        raise BoveError(f"{where}: has no *.safetensors, and no other weights are read; convert them first")
    if "tokenizer.json" not in {name.name for name in names}:  # without it every piece would be unknown
        raise BoveError(f"{folder}: has no tokenizer.json; save its tokenizer in this form as well")
    return sorted(str(name) for name in names if name.suffix in _PARTS)


class Encoded(NamedTuple):
    """Of a sentence of n tokens: [n, r] float32, zeros for a token without a piece; its vector [r]; and how
    many tokens lie beyond the longest text that the encoder takes."""

    tokens: np.ndarray
    sentence: np.ndarray
    cut: int


class Encoder:
    """An encoder that has been loaded.

    Attributes:
        rank: r, the dimensions of a token's vector.
        sentence_rank: those of a sentence's.
        hash: of all of its files.

    Raises:
        BoveError: the folder holds none, or one that cannot be used.
        ModuleNotFoundError: sentence-transformers is not installed.
    """

    def __init__(self, folder: str | Path, threads: int = 1):
        names = encoder_files(folder)

        import sentence_transformers
        import torch
        from transformers.utils import logging

        logging.disable_progress_bar()

        sums = [f"{name} {sha256(Path(folder) / name)}\n" for name in names]
        self.hash = hashlib.sha256("".join(sums).encode()).hexdigest()
        torch.set_num_threads(threads)
        try:
            self._model = sentence_transformers.SentenceTransformer(
                str(folder), device="cpu", local_files_only=True, trust_remote_code=False,
                model_kwargs={"use_safetensors": True, "dtype": torch.float32},
            ).eval()  # fmt: skip
        except Exception as e:  # of several libraries
            reason = " ".join(str(e).split())[:300]
            raise BoveError(f"{folder}: cannot be loaded as an encoder ({reason}); give another") from e
        if not getattr(self._model.tokenizer, "is_fast", False):
            raise BoveError(f"{folder}: its tokenizer does not say where pieces lie; it needs tokenizer.json")
        [first] = self._batch([("a",)])
        self.rank, self.sentence_rank = first.tokens.shape[1], len(first.sentence)

    def encode(
        self, sentences: Sequence[Sequence[str]], plan: Sequence[Sequence[int]] | None = None
    ) -> Iterator[tuple[int, Encoded]]:
        """Yield the number of each sentence, given as its forms, with its vectors, in the order of a plan: by
        default all of `batches`."""
        for chosen in batches(sentences) if plan is None else plan:
            yield from zip(chosen, self._batch([sentences[s] for s in chosen]), strict=True)

    def _batch(self, sentences: Sequence[Sequence[str]]) -> list[Encoded]:
        import torch

        given = self._model.tokenizer(
            [" ".join(forms) for forms in sentences], padding=True, truncation=True,
            max_length=self._model.max_seq_length, return_offsets_mapping=True, return_tensors="pt",
        )  # fmt: skip
        places = given.pop("offset_mapping").numpy()
        with torch.inference_mode():
            found = self._model(dict(given))
        states, whole = (found[name].numpy() for name in ("token_embeddings", "sentence_embedding"))
        parts = zip(sentences, places, states, whole, strict=True)
        return [_of_tokens(forms, spans, vectors, sentence) for forms, spans, vectors, sentence in parts]


def batches(sentences: Sequence[Sequence[str]]) -> list[list[int]]:
    """The numbers of the sentences that are encoded together; long ones first.

    The last digits of a vector may depend on the others in its batch.
    """
    order = sorted(range(len(sentences)), key=lambda s: -len(" ".join(sentences[s])))
    return [order[start : start + BATCH] for start in range(0, len(order), BATCH)]


def _of_tokens(forms: Sequence[str], spans: np.ndarray, vectors: np.ndarray, sentence) -> Encoded:
    """The vectors of tokens from those of pieces [p, r], which lie at [p, 2] spans of the text."""
    some = spans[:, 1] > spans[:, 0]  # all but padding and what stands for the sentence
    ends, last = np.cumsum([len(form) + 1 for form in forms]), spans[some, 1] - 1
    token = np.searchsorted(ends, last, side="right")
    sums, counts = np.zeros((len(forms), vectors.shape[1])), np.bincount(token, minlength=len(forms))
    np.add.at(sums, token, vectors[some])
    means = (sums / np.maximum(counts, 1)[:, None]).astype(np.float32)
    return Encoded(means, sentence, len(forms) - 1 - int(token.max(initial=-1)))


class Components:
    """What shortens the vectors of an encoder's tokens to the rank of a model.

    Attributes:
        directions: [R, r] float32, orthonormal; the identity where r is R.
        encoder_hash: of the encoder's files; "" where it is not known.
        kept: share of the squared length of the treebank's vectors that is left.
    """

    def __init__(self, directions: np.ndarray, encoder_hash: str, kept: float):
        self.directions, self.encoder_hash, self.kept = directions, encoder_hash, kept

    @classmethod
    def learn(cls, vectors: np.ndarray, rank: int, encoder_hash: str) -> "Components":
        """The components of a treebank's vectors [N, R]; BoveError where they have fewer than `rank`."""
        dimensions = vectors.shape[1]
        if rank > dimensions:
            raise BoveError(f"rank {rank}: the encoder has {dimensions} dimensions; give at most so many")
        products = np.zeros((dimensions, dimensions))
        for start in range(0, len(vectors), _ROWS):
            block = vectors[start : start + _ROWS].astype(np.float64)
            products += block.T @ block
        if rank == dimensions:
            return cls(np.eye(rank, dtype=np.float32), encoder_hash, 1.0)
        sizes, found = np.linalg.eigh(products)
        kept = float(sizes[-rank:].sum() / sizes.sum()) if sizes.sum() else 1.0
        return cls(found[:, ::-1][:, :rank].astype(np.float32), encoder_hash, kept)

    def save(self, path: str | Path) -> None:
        """Write one safetensors file, whole or not at all."""
        metadata = {"encoder_sha256": self.encoder_hash, "kept": repr(self.kept)}
        artefacts.save(path, FORMAT, {"directions": np.ascontiguousarray(self.directions)}, metadata)

    @classmethod
    def load(cls, path: str | Path) -> "Components":
        """Read a file that `bove components` wrote; BoveError where it is missing, damaged or another."""
        arrays, metadata = artefacts.load(path, FORMAT)
        return cls(arrays["directions"], metadata["encoder_sha256"], float(metadata["kept"]))

    def of(self, vectors: np.ndarray, encoder_hash: str, name: str) -> np.ndarray:
        """[N, r] float32 the components of vectors [N, R]; BoveError for those of another encoder, `name`."""
        if (vectors.shape[1], encoder_hash) != (len(self.directions), self.encoder_hash):
            raise BoveError(f"{name}: of another encoder than the components; make both with one encoder")
        found = np.empty((len(vectors), self.directions.shape[1]), np.float32)
        for start in range(0, len(vectors), _ROWS):
            found[start : start + _ROWS] = vectors[start : start + _ROWS] @ self.directions
        return found


class TokenEncoder:
    """Makes the own vectors of sentences' tokens. The encoder is loaded when it is first needed, and the
    vectors that were made last are kept."""

    def __init__(self, folder: str | Path, components: Components):
        self.folder, self.components = folder, components
        self._encoder: Encoder | None = None
        self._last: tuple[tuple, OwnVectors] | None = None

    def __call__(self, sentences: Sequence[Sentence]) -> OwnVectors:
        """The vectors of the tokens of sentences; BoveError where the encoder is not the components'."""
        asked = tuple(sentence.forms for sentence in sentences)
        if self._last is None or self._last[0] != asked:
            self._encoder = self._encoder or Encoder(self.folder)
            texts, index = distinct(asked)
            found = dict(self._encoder.encode(texts))
            none = np.zeros((0, self._encoder.rank), np.float32)
            whole = np.concatenate([none, *(found[b].tokens for b in range(len(texts)))])
            made = self.components.of(whole, self._encoder.hash, str(self.folder))
            offsets = np.cumsum([0, *map(len, texts)])
            self._last = asked, OwnVectors((), made, offsets, np.array(index, np.int64), str(self.folder))
        return self._last[1]._replace(ids=tuple(sentence.id for sentence in sentences))


def distinct(sentences: Sequence[tuple[str, ...]]) -> tuple[list[tuple[str, ...]], list[int]]:
    """The different sentences, given as their forms, in the order of their first places; and which of them
    each is."""
    numbers = {forms: b for b, forms in enumerate(dict.fromkeys(sentences))}
    return list(numbers), [numbers[forms] for forms in sentences]
