"""Sound files for every reader, from which files are changed that may not be."""

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import numpy as np
from artefact_files import write_all
from conll_rows import DOGS_09, DOGS_U
from fuzz.readers import FOLDER, IDS, LAYOUT, READERS, TEXTS

from bove.api.estimator import BoVE
from bove.api.readers import read_json_lines
from bove.bags.shards import ShardWriter
from bove.cli.parse import write_shard
from bove.cli.train import Checkpoint
from bove.factor.als import AlsState
from bove.factor.parallel import Peers
from bove.text.conll import Sentence

CONFIGURATIONS = Path(__file__).parent.parent.parent / "config"
SNLI = '{"gold_label": "neutral", "sentence1": "A dog.", "sentence2": "B.", "pairID": "1"}\n'
ITERATIONS = "id,tokens,iterations,change\na-1.1,2,3,0.5\na-1.2,0,0,0.0\n"
GRAPHS = '{"nodes": [["word:dog", "pos:NN"], ["word:barks"]], "edges": [["SBJ", 1, 0]], "id": "s1"}\n'
EMPTY_NODE = "2.1" + "\t_" * 9 + "\n"
TEXTS_OF: dict[str, tuple[str | bytes, ...]] = {
    "conll": (DOGS_09, DOGS_U, "# sent_id = a\n" + DOGS_U + EMPTY_NODE + "\n# sent_id = b\n\n" + DOGS_U),
    "trees": (f"# sent_id = a-1.1\n# text = Dogs bark\n{DOGS_U}\n# sent_id = a-1.2\n\n",),
    "text": ("Dogs don't bark, he said: \"No.\" See http://a.com/b, U.S. 3/4 \U0001f600 cannot've 5pm.\n",),
    "vectors": (
        b"2 2\na " + bytes(8) + b"b " + bytes(8),
        b"1 2\na " + bytes(8) + b"\n",
        "2 2\na 1 2\nb 3 4\n",
        "a 1 2\nb 3 4\n",
    ),
    "sts": ("A dog.\tB.\nx\ty\n\n1\n2.5\n",),
    "snli": (SNLI, "gold_label\tsentence1\tsentence2\tpairID\nneutral\tA dog.\tB.\t1\n"),
    "dataset": (
        '{"name": "d", "label": "D", "task": "entailment", "columns": {"first": "1", "second": "2", "gold": '
        '"g"}, "labels": {"x": "entailment"}, "separator": "|", "encoding": "utf-8", "header": true, '
        '"subsets": {"a": {"input": "a.txt", "where": {"3": "y"}}}}',
    ),
    "json-graphs": (GRAPHS, '{"nodes": [[]], "names": ["a"]}\n\n{"nodes": [["b"]], "names": [7]}\n'),
    "triples": ("a\tlikes\tb\nb\tlikes\ta\n\na\tcolour:red\n",),
    "reports": (ITERATIONS,),
    "training-log": (
        "round,total,words,relation:x,lambda_P\n1,3.5,1,2,0.5\n2,3,1,1.5,\n\n"
        "round,seconds,total\n1,0.1,3.5\n2,0.3,3\n",
    ),
    "markdown": ("# A *b*\n\n| x | y |\n| --- | ---: |\n| 1 | `2` \\| |\n\n* [a](b) **c**\n  d\n\ntext\n",),
    "config": tuple(path.read_bytes() for path in sorted(CONFIGURATIONS.glob("*.yaml"))),
}
ARTEFACTS = {name: (name,) for name in ("vocabulary", "graphs", "bags", "pairs", "scores")}
ARTEFACTS |= {"mapped": ("vectors",), "model": ("model", "low-rank model"), "estimator": ("model",)}


def _shard_of_parsing(path: Path) -> None:
    dogs = Sentence(IDS[0], ("Dogs", "bark"), ("NNS", "VBP"), (2, 0), ("nsubj", "root"))
    write_shard(path, list(zip(IDS, TEXTS, strict=True)), (1, 1), [dogs, Sentence(IDS[1])], ["bove = 1"])


def _shard_of_bags(path: Path) -> None:
    with ShardWriter(path, LAYOUT, (1, 1), [np.array([0])], 2, "bove", "h", {}) as writer:
        writer.put_many(np.array([0]), np.ones((2, 2), np.float32), np.ones(2))


def _estimator(path: Path) -> None:
    (path.parent / "graphs").write_text(GRAPHS, encoding="utf-8")
    graphs = [*read_json_lines(path.parent / "graphs")] * 3
    BoVE(rank=2, alpha=1, lambda_P=0.1, lambda_E=0.1, max_rounds=2).fit(graphs).save(path)


def _checkpoint(path: Path) -> None:
    rng = np.random.default_rng(0)
    arrays = (rng.random(shape, np.float32) for shape in ((3, 2), (1, 2, 2), (4, 2)))
    state = AlsState(*arrays, 1, ({"total": 1.0},), False, (0.5,))
    Checkpoint(path.parent / "trained", "key", Peers()).save(state)
    (path.parent / "trained.checkpoint").replace(path)


def _archives() -> tuple[bytes, ...]:
    """A tar archive, the same packed, and a zip archive with a member that is packed."""
    tar, packed = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        for name, content in (("a/b.txt", b"text\n" * 9), ("a/é", b"")):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a/b.txt", "text\n" * 9, zipfile.ZIP_DEFLATED)
        archive.writestr("a/é", "x")
    return tar.getvalue(), gzip.compress(tar.getvalue(), mtime=0), packed.getvalue()


MADE = {
    "parse-shards": _shard_of_parsing,
    "bag-shards": _shard_of_bags,
    "estimator": _estimator,
    "checkpoint": _checkpoint,
}


def seeds() -> dict[str, list[bytes]]:
    """Contents of sound files, by the name of their reader in READERS."""
    written = {name: path.read_bytes() for name, path in write_all(FOLDER).items()}
    found = {}
    for name in READERS:
        given = (text if isinstance(text, bytes) else text.encode() for text in TEXTS_OF.get(name, ()))
        found[name] = [*given, *(written[kind] for kind in ARTEFACTS.get(name, ()))]
        if name in MADE:
            MADE[name](FOLDER / "made")
            found[name].append((FOLDER / "made").read_bytes())
    found["archive"] += _archives()
    every = [content for contents in found.values() for content in contents]
    return found | {"kinds": every, "check": every}
