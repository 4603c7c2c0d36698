"""Word vectors trained on raw text, for whoever has no pretrained ones."""

from collections.abc import Iterator
from pathlib import Path

from bove.errors import BoveError
from bove.files import check_file, read_lines, sha256
from bove.text.vectors import write_vectors

_MOST = 2**31 - 1


class _Lines:
    """A corpus, one sentence a line, tokens between spaces, that can be read again and again."""

    # gensim leaves out what goes beyond this many tokens of a sentence.
    LONGEST = 10_000

    def __init__(self, path: str | Path):
        self.path = path

    def __iter__(self) -> Iterator[list[str]]:
        for _, line in read_lines(self.path):
            tokens = [token for token in line.split(" ") if token]
            for start in range(0, len(tokens), self.LONGEST):
                yield tokens[start : start + self.LONGEST]


def train(
    source: str | Path,
    output: str | Path,
    dimensions: int,
    window: int,
    epochs: int,
    min_count: int,
    negative: int,
    seed: int,
) -> None:
    """Train word2vec (skip-gram, negative sampling) on raw text and write a mapped file.

    One thread, so that the same text and seed give the same bytes.

    Args:
        source: one sentence a line, its tokens between spaces.
        output: the mapped file.
        dimensions, window, epochs, min_count, negative, seed: as word2vec names them.

    Raises:
        BoveError: no word of the text occurs `min_count` times, or an option is out of its range.
    """
    options = {"window": window, "epochs": epochs, "min_count": min_count, "negative": negative}
    for name, value in {"dimensions": dimensions, **options}.items():
        if not 1 <= value <= _MOST:  # beyond it gensim's thread ends, and gensim waits for it for ever
            raise BoveError(f"{name} {value}: out of range; give 1 to {_MOST}")
    if not 0 <= seed < 2**32:
        raise BoveError(f"seed {seed}: out of range; give 0 to {2**32 - 1}")
    check_file(source)
    from gensim.models import Word2Vec

    model = Word2Vec(
        vector_size=dimensions,
        window=window,
        min_count=min_count,
        negative=negative,
        seed=seed,
        sg=1,
        workers=1,
    )
    corpus = _Lines(source)
    model.build_vocab(corpus)
    if not model.wv.index_to_key:
        raise BoveError(f"{source}: no word occurs {min_count} times; lower min_count or give more text")
    model.train(corpus, total_examples=model.corpus_count, epochs=epochs)
    words = [word.encode() for word in model.wv.index_to_key]
    metadata = {"source_sha256": sha256(source), "seed": str(seed)}
    metadata |= {name: str(value) for name, value in options.items()}
    write_vectors(output, [(words, model.wv.vectors)], metadata)
