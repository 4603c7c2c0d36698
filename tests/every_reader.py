"""Every reader of files, each a function of a path: it gives a result or a BoveError, and nothing else."""

import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np

from bove.api.corpus import Corpus
from bove.api.estimator import BoVE
from bove.api.graph import Graph
from bove.api.readers import read_json_lines, read_triples, write_json_lines
from bove.bags import shards as bag_shards
from bove.bags.store import Bags
from bove.check import sniff
from bove.cli import parse as parse_shards
from bove.cli.common import read_notes
from bove.cli.figures import read_iterations, read_results
from bove.cli.main import main as bove
from bove.cli.report import parser_page
from bove.cli.train import Checkpoint
from bove.config.load import load, resolve
from bove.config.sources import extract
from bove.evaluate.pages import page
from bove.evaluate.results import read_scores, results_of
from bove.evaluate.search import search
from bove.evaluate.training_log import read_run
from bove.factor.model import Model
from bove.factor.parallel import Peers
from bove.text.conll import Sentence, read_sentences
from bove.text.graphs import encode, load_graphs
from bove.text.pairs import Form, match_parses, read_pair_file, read_pairs
from bove.text.tokens import Conventions, sentences
from bove.text.vectors import WordVectors, convert
from bove.text.vocabulary import Vocabulary

_TEMPORARY = tempfile.TemporaryDirectory(prefix="bove-readers-")  # removed at the end
FOLDER = Path(_TEMPORARY.name)
# What own trees and shards are asked for.
IDS, TEXTS = ("a-1.1", "a-1.2"), ("Dogs bark", "")
SENTENCE = Sentence("a", ("Dogs", "bark", "3", "."), ("NNS", "VBP", "CD", "."), (2, 0, 2, 2), ("SBJ",) * 4)
LAYOUT = bag_shards.Layout(IDS, np.arange(2), np.arange(2), np.array([2, 0]), "inputs")


def parts(path: Path) -> tuple[Path, Path]:
    """Two files of one: what stands before and after its first blank line."""
    both = FOLDER / "first", FOLDER / "second"
    for part, content in zip(both, path.read_bytes().partition(b"\n\n")[::2], strict=True):
        part.write_bytes(content)
    return both


def conll(path: Path) -> None:
    """Both kinds of columns, under an encoding that takes all bytes too."""
    for encoding in ("utf-8", "latin-1"):
        for columns in ("gold", "predicted"):
            for sentence in read_sentences(path, columns, encoding):
                assert all(-1 <= head <= len(sentence.forms) for head in sentence.heads)


def trees(path: Path) -> None:
    """Own trees of two sentences."""
    assert [tree.id for tree in match_parses(path, IDS, TEXTS)] == list(IDS)


def vectors(path: Path) -> None:
    """word2vec, binary and text, and GloVe; what is converted is read back."""
    convert(path, FOLDER / "converted")
    found = WordVectors.open(FOLDER / "converted")
    words = [found.word(row) for row in range(len(found))]
    assert found.find(words).tolist() == list(range(len(words)))


def mapped(path: Path) -> None:
    """The mapped form of word vectors."""
    WordVectors.open(path).find(["a", "dog"])


def sts(path: Path) -> None:
    """The file as pairs and, after a blank line, as gold."""
    pairs, gold = parts(path)
    form = Form("similarity", {"first": "1", "second": "2"}, {}, "\t", "utf-8")
    read_pair_file(pairs, form, ("d", "l", "s"), gold)


def snli(path: Path) -> None:
    """SNLI's columns, as JSON lines or text."""
    columns = {"first": "sentence1", "second": "sentence2", "gold": "gold_label", "id": "pairID"}
    labels = {"entailment": "entailment", "neutral": "neutral", "-": "-"}
    read_pair_file(path, Form("entailment", columns, labels, "\t", "utf-8"), ("d", "l", "s"))


def json_graphs(path: Path) -> None:
    """Graphs of JSON lines; what is read is written and read back."""
    graphs = list(read_json_lines(path))
    Corpus.of(graphs)
    write_json_lines(graphs, FOLDER / "again")
    assert list(read_json_lines(FOLDER / "again")) == graphs


def triples(path: Path) -> None:
    """The file as triples and, after a blank line, as properties."""
    Corpus.of([read_triples(*parts(path))])


def text(path: Path) -> None:
    """Running text."""
    for tokens in sentences(path.read_bytes().decode("utf-8", "replace"), Conventions()):
        assert tokens and all(tokens)


def bags(path: Path) -> None:
    """Bags, each read, and searched for the first of them."""
    found = Bags.open(path)
    for name in found:
        assert found[name].shape[1] == found.rank
    if found.n_bags and np.isfinite(found.vectors).all():
        (hits,) = search([found.bag(0)], found.vectors, found.offsets, 2)
        assert np.isfinite(hits.scores).all()


def vocabulary(path: Path) -> None:
    """A vocabulary, which then numbers what a sentence has."""
    encode([SENTENCE], Vocabulary.load(path))


def graphs(path: Path) -> None:
    """Graphs, whole and the second half as one of two processes reads it."""
    load_graphs(path).distinct()
    load_graphs(path, (1, 2)).distinct()


def model(path: Path) -> None:
    """A model, with its matrices as a whole."""
    found = Model.load(path)
    assert found.dense_relations().shape == (len(found.relation_names), found.rank, found.rank)


def estimator(path: Path) -> None:
    """A model with its names, which then infers the bag of a graph."""
    found = BoVE.load(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of unknown names, and of numbers near the end of their range
        (bag,) = found.transform([Graph((("word:dog",), ("new",)), (("SBJ", 0, 1),))])
    assert bag.shape[0] == 2


def checkpoint(path: Path) -> None:
    """Where a training stands; a damaged one is none."""
    shutil.copyfile(path, FOLDER / "model.checkpoint")
    Checkpoint(FOLDER / "model", "key", Peers()).load()


def archive(path: Path) -> None:
    """All members of an archive."""
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        extract(path, ("*",), Path(folder))


def config(path: Path) -> None:
    """A configuration, checked against the schema."""
    resolve(load([path]))


def check(path: Path) -> None:
    """`bove check`, of the kind that the file is by its content."""
    with (
        open(os.devnull, "w", encoding="utf-8") as nowhere,
        redirect_stdout(nowhere),
        redirect_stderr(nowhere),
    ):
        if sniff(path) != "stanza":  # which would need PyTorch
            assert bove(["check", str(path)]) in (0, 2)


READERS: dict[str, Callable[[Path], object]] = {
    "conll": conll,
    "trees": trees,
    "parse-shards": lambda path: list(parse_shards.gather([path], IDS, TEXTS)[1]),
    "text": text,
    "vectors": vectors,
    "mapped": mapped,
    "sts": sts,
    "snli": snli,
    "pairs": read_pairs,
    "json-graphs": json_graphs,
    "triples": triples,
    "vocabulary": vocabulary,
    "graphs": graphs,
    "model": model,
    "estimator": estimator,
    "checkpoint": checkpoint,
    "archive": archive,
    "bags": bags,
    "bag-shards": lambda path: bag_shards.gather([path], LAYOUT, FOLDER / "bags"),
    "reports": lambda path: bag_shards.gather_reports([path], LAYOUT, np.array([2, 0]), FOLDER / "report"),
    "scores": lambda path: results_of(read_scores(path)),
    "iterations": lambda path: read_iterations(str(path), 0.1),
    "results": lambda path: read_results(str(path), "value"),
    "training-log": lambda path: read_run("run", *parts(path)),
    "accuracy": lambda path: parser_page(str(path)),
    "notes": lambda path: read_notes([path]),
    "markdown": lambda path: page(path.read_bytes().decode("utf-8", "replace")),
    "config": config,
    "kinds": sniff,
    "check": check,
}
