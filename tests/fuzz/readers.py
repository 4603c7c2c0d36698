"""Fuzz a reader with Atheris: whatever its file holds, it gives a result or a BoveError, and nothing else.

    make fuzz READER=conll SECONDS=120

READER is one of those that READERS names. An input that fails is written to .fuzz/crash-…; further arguments
are libFuzzer's. Not part of the test suite: it needs a package that the project does not.
"""

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["bove", "yaml", "json"]):
    from bove.bags import Bags
    from bove.check.kinds import find_kind
    from bove.config import load, resolve
    from bove.errors import BoveError
    from bove.evaluate.scores import read_scores
    from bove.factor.model import Model
    from bove.text.conll import read_sentences
    from bove.text.graphs import load_graphs
    from bove.text.pair_files import read_pair_file
    from bove.text.pair_forms import Form
    from bove.text.pairs import read_pairs
    from bove.text.vectors import WordVectors, convert
    from bove.text.vocabulary import Vocabulary

sys.path.insert(0, str(Path(__file__).parent.parent))
from artefact_files import write_all
from conll_rows import DOGS_09, DOGS_U

SCHEMA = Path(__file__).parent.parent.parent / "bove" / "schema" / "config.schema.yaml"
FOLDER = Path(tempfile.mkdtemp(prefix="bove-fuzz-"))


def conll(path: Path) -> None:
    """Both kinds of columns, under an encoding that takes all bytes too."""
    for encoding in ("utf-8", "latin-1"):
        for columns in ("gold", "predicted"):
            for sentence in read_sentences(path, columns, encoding):
                assert all(-1 <= head <= len(sentence.forms) for head in sentence.heads)


def vectors(path: Path) -> None:
    """word2vec, binary and text, and GloVe; what is converted is read back."""
    convert(path, FOLDER / "converted")
    found = WordVectors.open(FOLDER / "converted")
    words = [found.word(row) for row in range(len(found))]
    assert found.find(words).tolist() == list(range(len(words)))


def mapped(path: Path) -> None:
    """The mapped form of word vectors."""
    found = WordVectors.open(path)
    found.find(["a", "dog"])


def sts(path: Path) -> None:
    """The file as pairs and, after a blank line, as gold."""
    first, _, second = path.read_bytes().partition(b"\n\n")
    (FOLDER / "input").write_bytes(first)
    (FOLDER / "gold").write_bytes(second)
    form = Form("similarity", {"first": "1", "second": "2"}, {}, "\t", "utf-8")
    read_pair_file(FOLDER / "input", form, ("d", "l", "s"), FOLDER / "gold")


def snli(path: Path) -> None:
    """SNLI's columns, as JSON lines or text."""
    columns = {"first": "sentence1", "second": "sentence2", "gold": "gold_label", "id": "pairID"}
    labels = {"entailment": "entailment", "neutral": "neutral", "-": "-"}
    read_pair_file(path, Form("entailment", columns, labels, "\t", "utf-8"), ("d", "l", "s"))


def config(path: Path) -> None:
    """A configuration, checked against the schema."""
    resolve(load([path], SCHEMA), SCHEMA)


READERS = {
    "conll": conll,
    "vectors": vectors,
    "mapped": mapped,
    "sts": sts,
    "snli": snli,
    "pairs": read_pairs,
    "vocabulary": Vocabulary.load,
    "graphs": load_graphs,
    "model": Model.load,
    "bags": Bags.open,
    "scores": read_scores,
    "config": config,
    "kinds": find_kind,
}


SNLI = '{"gold_label": "neutral", "sentence1": "A dog.", "sentence2": "B.", "pairID": "1"}\n'
SEEDS = {
    "conll": (DOGS_09, DOGS_U, "# sent_id = a\n" + DOGS_U + "2.1\t_\n\n# sent_id = b\n\n" + DOGS_U),
    "vectors": (
        b"2 2\na " + bytes(8) + b"b " + bytes(8),
        b"1 2\na " + bytes(8) + b"\n",
        "2 2\na 1 2\nb 3 4\n",
        "a 1 2\nb 3 4\n",
    ),
    "sts": ("A dog.\tB.\nx\ty\n\n1\n2.5\n",),
    "snli": (SNLI, "gold_label\tsentence1\tsentence2\tpairID\nneutral\tA dog.\tB.\t1\n"),
    "config": [path.read_bytes() for path in (SCHEMA.parent.parent.parent / "config").glob("*.yaml")],
}


def seeds(reader: str) -> str:
    """A folder with sound files, from which the fuzzer starts."""
    folder = FOLDER / "seeds"
    folder.mkdir()
    files = {name: path.read_bytes() for name, path in write_all(FOLDER).items()}
    kinds = {"mapped": ["vectors"], "model": ["model", "low-rank model"]}.get(reader, [reader])
    contents = [files[kind] for kind in kinds if kind in files and reader != "vectors"]
    for number, content in enumerate([*contents, *SEEDS.get(reader, ())]):
        (folder / str(number)).write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(folder)


def main() -> None:
    """Run libFuzzer on the reader that the command line names."""
    if len(sys.argv) < 2 or sys.argv[1] not in READERS:
        sys.exit(f"name a reader: {', '.join(READERS)}")
    read, path = READERS[sys.argv[1]], FOLDER / "file"

    def once(data: bytes) -> None:
        path.write_bytes(data)
        try:
            read(path)
        except BoveError as e:
            assert str(e)

    atheris.Setup([sys.argv[0], *sys.argv[2:], seeds(sys.argv[1])], once)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
