"""Rows and small files of CoNLL-2009 and CoNLL-U for tests."""

from pathlib import Path

from bove.text.conll import Sentence, read_sentences

DOGS = Sentence("1", ("Dogs", "bark"), ("NNS", "VBP"), (2, 0), ("nsubj", "root"))


def row09(number, form, tag, head, relation, more=()):
    """A CoNLL-2009 row whose predicted tag, head and label differ from the gold ones."""
    cells = (
        number,
        form,
        "_",
        "_",
        tag,
        f"P{tag}",
        "_",
        "_",
        head,
        0,
        relation,
        f"p{relation}",
        "_",
        "_",
        *more,
    )
    return "\t".join(map(str, cells)) + "\n"


def row_u(number, form, upos, xpos, head, relation):
    return "\t".join(map(str, (number, form, "_", upos, xpos, "_", head, relation, "_", "_"))) + "\n"


DOGS_09 = row09(1, "Dogs", "NNS", 2, "nsubj") + row09(2, "bark", "VBP", 0, "root")
DOGS_U = row_u(1, "Dogs", "NOUN", "NNS", 2, "nsubj") + row_u(2, "bark", "VERB", "VBP", 0, "root")


def tree(*heads):
    """CoNLL-2009 rows of a sentence with these heads."""
    return "".join(row09(i, "w", "T", head, "r") for i, head in enumerate(heads, 1))


def read_text(folder: Path, text: str | bytes, **options) -> list[Sentence]:
    """The sentences of a file with this content, at `file.conll` in the folder."""
    path = folder / "file.conll"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(read_sentences(path, **options))
