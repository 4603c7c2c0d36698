"""Every reader of files, each a function of a path: it gives a result or a BoveError, and nothing else."""

import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
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
from bove.cli.data import read_dataset
from bove.cli.main import main as bove
from bove.cli.train import Checkpoint
from bove.config.load import load, resolve
from bove.config.sources import extract
from bove.errors import BoveError
from bove.evaluate.pages import page
from bove.evaluate.results import read_scores, results_of
from bove.evaluate.search import search
from bove.evaluate.training_log import read_run
from bove.factor.model import Model
from bove.factor.parallel import Peers
from bove.text.conll import Sentence, read_sentences
from bove.text.graphs import encode, load_graphs
from bove.text.pairs import Form, check_dataset, match_parses, read_pair_file, read_pairs
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
    """Two files of one: what comes before and after its first blank line."""
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


def text(path: Path) -> None:
    for tokens in sentences(path.read_bytes().decode("utf-8", "replace"), Conventions()):
        assert tokens and all(tokens)


def vectors(path: Path) -> None:
    """word2vec, binary and text, and GloVe; what is converted is read back."""
    convert(path, FOLDER / "converted")
    found = WordVectors.open(FOLDER / "converted")
    words = [found.word(row) for row in range(len(found))]
    assert found.find(words).tolist() == list(range(len(words))) and np.isfinite(found.vectors).all()


def sts(path: Path) -> None:
    """The file as pairs and, after a blank line, as gold; or all as pairs with a header that is skipped."""
    pairs, gold = parts(path)
    columns = {"first": "1", "second": "2"}
    with suppress(BoveError):
        form = Form("similarity", {**columns, "gold": "3"}, {}, "\t", "utf-8", header=True)
        read_pair_file(path, form, ("d", "l", "s"))
    read_pair_file(pairs, Form("similarity", columns, {}, "\t", "utf-8"), ("d", "l", "s"), gold)


def snli(path: Path) -> None:
    """SNLI's columns, as JSON lines or text."""
    columns = {"first": "sentence1", "second": "sentence2", "gold": "gold_label", "id": "pairID"}
    labels = {"entailment": "entailment", "neutral": "neutral", "-": "-"}
    for pair in read_pair_file(path, Form("entailment", columns, labels, "\t", "utf-8"), ("d", "l", "s")):
        assert pair.scored == (pair.gold != "-")


def dataset(path: Path) -> None:
    check_dataset("datasets.d", read_dataset(path))


def json_graphs(path: Path) -> None:
    """Graphs of JSON lines; what is read is written and read back."""
    graphs = list(read_json_lines(path))
    Corpus.of(graphs)
    write_json_lines(graphs, FOLDER / "again")
    assert list(read_json_lines(FOLDER / "again")) == graphs


def bags(path: Path) -> None:
    """Bags, each read, and searched for the first of them."""
    found = Bags.open(path)
    for name in found:
        assert found[name].shape[1] == found.rank
    if found.n_bags and np.isfinite(found.vectors).all():
        (hits,) = search([found.bag(0)], found.vectors, found.offsets, 2)
        assert np.isfinite(hits.scores).all()


def graphs(path: Path) -> None:
    """Graphs, whole and the second half as one of two processes reads it."""
    load_graphs(path).distinct()
    load_graphs(path, (1, 2)).distinct()


def model(path: Path) -> None:
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
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        extract(path, ("*",), Path(folder))


def check(path: Path) -> None:
    """`bove check`, of the kind that the file is by its content."""
    with open(os.devnull, "w", encoding="utf-8") as void, redirect_stdout(void), redirect_stderr(void):
        assert bove(["check", str(path)]) in (0, 2)


READERS: dict[str, Callable[[Path], object]] = {
    "conll": conll,
    "trees": lambda path: list(match_parses(path, IDS, TEXTS)),
    "parse-shards": lambda path: list(parse_shards.gather([path], IDS, TEXTS)[1]),
    "text": text,
    "vectors": vectors,
    "mapped": lambda path: WordVectors.open(path).find(["a", "dog"]),
    "sts": sts,
    "snli": snli,
    "dataset": dataset,
    "pairs": read_pairs,
    "json-graphs": json_graphs,
    "triples": lambda path: Corpus.of([read_triples(*parts(path))]),
    "vocabulary": lambda path: encode([SENTENCE], Vocabulary.load(path)),
    "graphs": graphs,
    "model": model,
    "estimator": estimator,
    "checkpoint": checkpoint,
    "archive": archive,
    "bags": bags,
    "bag-shards": lambda path: bag_shards.gather([path], LAYOUT, FOLDER / "bags"),
    "reports": lambda path: bag_shards.gather_reports([path], LAYOUT, np.array([2, 0]), FOLDER / "report"),
    "scores": lambda path: results_of(read_scores(path)),
    "training-log": lambda path: read_run("run", *parts(path)),
    "markdown": lambda path: page(path.read_bytes().decode("utf-8", "replace")),
    "config": lambda path: resolve(load([path])),
    "kinds": sniff,
    "check": check,
}
