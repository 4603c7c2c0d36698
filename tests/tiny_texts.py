"""Texts whose trees the tiny run's tests know, in the place of a parser."""

from dataclasses import replace

from tiny_run import CHASED, TURNED

from bove.embedder import Embedder
from bove.text.conll import Sentence

PARSED = {
    "The dog sees a cat.": CHASED,
    "A cat sees the dog.": TURNED,
    "A lynx!": Sentence("3", ("A", "lynx", "!"), ("DT", "NN", "."), (2, 0, 2), ("NMOD", "ROOT", "P")),
    "": Sentence("none"),
}
TEXTS = list(PARSED)


def parse(self: Embedder, texts, each=lambda: None) -> list[Sentence]:
    """What takes the place of `Embedder.parse`."""
    for _ in texts:
        each()
    return [replace(PARSED[text], id=str(number)) for number, text in enumerate(texts, 1)]
