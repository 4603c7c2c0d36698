"""Checking files of sentence pairs and of gold scores."""

import codecs
import hashlib
import json
import os
import re
import zipfile
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import compress, zip_longest
from pathlib import Path
from unicodedata import is_normalized

import numpy as np

from bove.api.corpus import kind_of
from bove.api.readers import numbered_graphs, numbered_rows
from bove.config import sources
from bove.config.load import fill, load, load_schema, resolve, summary
from bove.config.variants import check_sources, variants
from bove.errors import BoveError, finite
from bove.evaluate.statistics import Bootstrap
from bove.files import Oddities, note, open_bytes, read_lines, refuse_utf_16
from bove.text.conll import read_sentences
from bove.text.pairs import NO_LABEL, Form, Pair, read_pair_file, read_pairs, read_score
from bove.text.tokens import normalise
from bove.text.vector_files import find_kind, read_blocks
from bove.text.vectors import DUPLICATE, fault_of_word

# The report on a file: what it is, what it holds, what is odd, and whether a run can use it.

IN_PARTS = "with letters in parts (not NFC)"  # what is said where `in_parts` holds

Fact = str | int | float | dict


@dataclass
class Report:
    """What a check found.

    Attributes:
        path: the file, as the user named it.
        kind: what it is, in words; "" where that can not be told.
        facts: what it holds, by name; a value may be a map of such values.
        oddities: what is odd or would be left out, with places.
        remarks: what else is odd, each a sentence without its full stop.
        unit: what a place counts: "line" or "row".
        error: why it can not be used; "" where it can.
    """

    path: str
    kind: str = ""
    facts: dict[str, Fact] = field(default_factory=dict)
    oddities: Oddities = field(default_factory=Oddities)
    remarks: list[str] = field(default_factory=list)
    unit: str = "line"
    error: str = ""

    @property
    def usable(self) -> bool:
        return not self.error

    def as_json(self) -> dict:
        """The report as plain values."""
        odd = [
            {"what": kind, "count": count, f"{self.unit}s": self.oddities.places.get(kind, [])}
            for kind, count in self.oddities.items()
        ]
        return {
            "file": self.path,
            "kind": self.kind or None,
            "usable": self.usable,
            "error": self.error or None,
            "holds": self.facts,
            "odd": odd,
            "remarks": self.remarks,
        }

    def as_text(self) -> str:
        """The report for people, a line for each thing."""
        lines = [f"{self.path}: {self.kind or 'not recognised'}"]
        for name, value in self.facts.items():
            if isinstance(value, dict):
                lines.append(f"  {name}")
                lines += [f"    {inner}: {_written(x)}" for inner, x in value.items()]
            else:
                lines.append(f"  {name}: {_written(value)}")
        lines += [
            f"  odd: {count} {kind}{self._places(kind, count)}" for kind, count in self.oddities.items()
        ]
        lines += [f"  odd: {remark}" for remark in self.remarks]
        lines.append(f"  can not be used: {self.error}" if self.error else "  can be used")
        return "\n".join(lines)

    def _places(self, kind: str, count: int) -> str:
        places = self.oddities.places.get(kind, [])
        if not places:
            return ""
        more = ", …" if count > len(places) else ""
        return f", {self.unit}{'s' * (len(places) > 1)} {', '.join(map(str, places))}{more}"


def _written(value: Fact) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def in_parts(text: str) -> bool:
    """Whether letters of a text are written in parts, such as e and an accent, not whole (NFC) as usual.

    Words are looked up as they are written, so that two spellings of one word do not meet.
    """
    return not (text.isascii() or is_normalized("NFC", text))


def most_frequent(counts, number: int = 8) -> str:
    """The most frequent names of a Counter with their counts, most frequent first."""
    found = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    more = ", …" if len(found) > number else ""
    return ", ".join(f"{name} {count:,}" for name, count in found[:number]) + more


# Telling by content what kind of file something is.

# Names of kinds, each with what it is in words.
KINDS = {
    "treebank": "CoNLL-2009 or CoNLL-U",
    "vectors": "word2vec (binary or text) or GloVe",
    "sts": "sentence pairs, tab between the two",
    "gold": "gold scores, one a line",
    "snli": "SNLI, JSON lines or text",
    "pairs": "pairs.jsonl of a run",
    "graphs": "graphs, JSON lines",
    "triples": "triples of one graph, tabs between the three (only where it is named)",
    "vocabulary": "vocabulary.json of a run",
    "arrays": "vectors, graphs, model or bags of a run (safetensors)",
    "scores": "scores of a run (Parquet)",
    "stanza": "a Stanza model (.pt)",
    "config": "a configuration (YAML)",
}
_HEAD = 1 << 16
_ROW = re.compile(r"[0-9]+(-[0-9]+|\.[0-9]+)?\t")
_KEY = re.compile(r"[A-Za-z_]\w*:(\s|$)")
# What a damaged line of each kind is told by.
_KEYS = {"vocabulary": "bove-vocabulary", "snli": "sentence1", "graphs": "nodes", "pairs": "dataset"}
_PAIR_KEYS = {"id", "dataset", "label", "task", "subset", "first", "second", "gold", "scored"}


def sniff(path: str | Path) -> str:
    """The name, from KINDS, of a file's kind.

    Raises:
        BoveError: the file cannot be read, is empty, or is of no kind that BoVE knows.
    """
    with open_bytes(path) as stream:
        head = stream.read(_HEAD)
    if not head:
        raise BoveError(f"{path}: an empty file; give one with content")
    head = head.removeprefix(codecs.BOM_UTF8)
    kind = _binary_kind(path, head) or _text_kind(head.decode("utf-8", "replace"))
    if kind is None:
        first = head.split(b"\n")[0][:60].decode("utf-8", "replace")
        raise BoveError(
            f"{path}: none of the kinds of file that BoVE reads, by its first line {first!r}; name its kind "
            f"with --as ({', '.join(KINDS)})"
        )
    return kind


def _binary_kind(path, head: bytes) -> str | None:
    if head.startswith(b"PAR1"):
        return "scores"
    if head.startswith(b"PK\x03\x04"):
        return _zip_kind(path)
    if head.startswith(b"\x80\x02"):
        return "stanza"
    if int.from_bytes(head[:8], "little") < 1 << 30 and head[8:9] == b"{":
        return "arrays"
    if re.match(rb"[0-9]+[ \t][0-9]+[ \t\r]*\n", head):
        return "vectors"
    refuse_utf_16(path, head)
    if b"\0" in head:
        raise BoveError(f"{path}: binary, of no kind that BoVE reads ({', '.join(KINDS.values())})")
    return None


def _zip_kind(path) -> str:
    try:
        with zipfile.ZipFile(path) as packed:
            names = packed.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as e:
        raise BoveError(f"{path}: a damaged zip archive ({e}); fetch or make it again") from e
    if any(name.endswith("data.pkl") for name in names):
        return "stanza"
    if "[Content_Types].xml" in names:
        raise BoveError(f"{path}: a document of an office program; export it as tab-separated text, UTF-8")
    raise BoveError(f"{path}: a zip archive; unpack it and give the files in it: {', '.join(names[:5])}")


def _text_kind(text: str) -> str | None:
    lines = [line.rstrip("\r") for line in text.split("\n")]
    if len(text) >= _HEAD // 4 and len(lines) > 1:
        lines.pop()  # the last one may be cut off
    lines = [line for line in lines if line.strip(" \t")]
    if not lines:
        return None
    for find in (_json_kind, _treebank, _gold, _vectors, _header, _config):
        kind = find(lines)
        if kind:
            return kind
    return "sts" if "\t" in lines[0] else None


def _json_kind(lines) -> str | None:
    if not lines[0].lstrip().startswith("{"):
        return None
    try:
        record = json.loads(lines[0])
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):  # an object of several lines, or a damaged line
        start = "".join(lines[:3])
        return next((kind for kind, key in _KEYS.items() if f'"{key}"' in start), None)
    if "format" in record:
        return "vocabulary"
    if "nodes" in record:
        return "graphs"
    return "pairs" if record.keys() >= _PAIR_KEYS else "snli"


def _treebank(lines) -> str | None:
    comments = [line for line in lines if line.startswith("#")]
    rows = [line for line in lines if not line.startswith("#")]
    if not rows:
        return "treebank" if any("sent_id" in line for line in comments) else None
    cells = rows[0].split()
    spaced = "\t" not in rows[0] and len(cells) >= 10 and cells[0] == "1" and not _is_number(cells[1])
    return "treebank" if spaced or (_ROW.match(rows[0]) and rows[0].count("\t") >= 6) else None


def _gold(lines) -> str | None:
    return "gold" if all(_is_number(line.strip(" \t")) for line in lines[:200]) else None


def _vectors(lines) -> str | None:
    sizes = set()
    for line in lines[:2]:
        cells = line.split()
        size = 0
        while size < len(cells) - 1 and _is_number(cells[-1 - size]):
            size += 1
        if size < 2 or (size < len(cells) - 1 and size < 10) or ("\t" in line and size < 10):
            return None
        sizes.add(size)
    return "vectors" if len(sizes) == 1 else None


def _header(lines) -> str | None:
    return "snli" if "gold_label" in lines[0].split("\t") else None


def _config(lines) -> str | None:
    first = next((line for line in lines if not line.startswith(("#", "---", "%"))), "")
    return "config" if _KEY.match(first) else None


def _is_number(text: str) -> bool:
    return finite(text) is not None and "_" not in text


# Checking configurations, with the files of pairs that they describe.


def check_config(report: Report, before: Sequence[str]) -> None:
    """Fill in a report on a configuration, or on changes to one.

    Args:
        report: of the file.
        before: configurations that stand before it. A file that is no whole one itself is merged into
            them, from the last whole one on.

    Raises:
        BoveError: the first mistake in it, the first file that it names and that is not there, or pairs that
            are not as their data set says.
    """
    report.kind = "configuration"
    raw, missing = _merged(report, before, load_schema()["required"])
    if missing:
        report.remarks.append(
            f"has no {', '.join(missing)}, so it goes after a configuration that has; name that one before it"
        )
        resolve(raw, partial=True)
        return
    config = resolve(raw)
    check_sources(variants(config))
    report.facts["run"] = summary(config)
    report.facts["files that it names"] = len(dict(sources.references(config)))
    fetched = [name for name, source in sources.used(config).items() if sources.kind(source) == "url"]
    if fetched:
        report.facts["to be downloaded"] = ", ".join(fetched)
    bootstrap = Bootstrap(**config["statistics"], seed=config["seed"])
    if bootstrap.resamples < bootstrap.least:
        report.remarks.append(
            f"statistics: {bootstrap.resamples} resamples are few at confidence {bootstrap.confidence:g}; "
            f"take at least {bootstrap.least}"
        )
    _read_pairs(report, config)


def _merged(report, before, required) -> tuple[dict, list[str]]:
    """What the file says, after those that it changes; and the sections that are missing even so."""
    files = [report.path]
    raw = load(files)
    missing = [key for key in required if key not in raw]
    if missing:
        report.kind = "changes to a configuration"
        report.facts["changes"] = ", ".join(raw)
    for path in reversed(before):
        if missing:
            files.insert(0, path)
            raw = load(files)
            missing = [key for key in required if key not in raw]
    return raw, missing


def _read_pairs(report, config) -> None:
    """Read the pairs of every data set whose files are there, in the form that its section says."""
    for name, dataset in config["datasets"].items():
        read = {}
        for subset, files in dataset["subsets"].items():
            paths = [sources.locate(config, files[key]) for key in ("input", "gold") if key in files]
            if all(map(os.path.isfile, paths)):
                names = (name, dataset["label"], subset)
                gold = paths[1] if len(paths) > 1 else None
                pairs = read_pair_file(paths[0], Form.of(dataset), names, gold, files.get("where"))
                scored = sum(pair.scored for pair in pairs)
                read[subset] = f"{len(pairs):,} pairs, {scored:,} of them scored"
                if not scored:
                    raise BoveError(f"{paths[-1]}: no pair has a gold score or label; check the file")
        if read:
            report.facts[f"data set {name}"] = read


# Checking files of graphs that the package reads from Python: JSON lines and triples.

NO_NODES = "graphs without nodes"
NO_PROPERTIES = "graphs in which a node has no property"
AGAIN = "graphs in which an edge stands twice, and counts once"
SAME_ID = "graphs of an id that stood before"
REPEATED = "triples that stood before, and count once"
LOOP = "triples of a node with itself"


def check_json_graphs(report: Report) -> None:
    """Fill in a report on graphs of JSON lines.

    Raises:
        BoveError: a damaged line, or no graph.
    """
    report.kind = "graphs (JSON lines)"
    sizes: list[int] = []
    kinds: Counter[str] = Counter()
    relations: Counter[str] = Counter()
    ids: set[str] = set()
    for number, graph in numbered_graphs(report.path):
        sizes.append(len(graph))
        for properties in graph.nodes:
            kinds.update(map(kind_of, properties))
        relations.update(label for label, _, _ in graph.edges)
        for kind, holds in (
            (NO_NODES, not len(graph)),
            (NO_PROPERTIES, not all(graph.nodes)),
            (AGAIN, len(set(graph.edges)) < len(graph.edges)),
            (SAME_ID, graph.id in ids),
        ):
            if holds:
                note(report.oddities, kind, number)
        ids |= {graph.id} - {""}
    report.facts |= {
        "graphs": len(sizes),
        "nodes": sum(sizes),
        "largest graph": f"{max(sizes, default=0):,} nodes",
        "properties by kind": most_frequent(Counter({name or "(none)": n for name, n in kinds.items()})),
        "edges": relations.total(),
        "relations": f"{len(relations):,}: {most_frequent(relations)}",
    }
    if not any(sizes):
        raise BoveError(f"{report.path}: no graph has a node; give graphs with nodes")


def check_triples(report: Report, encoding: str) -> None:
    """Fill in a report on triples.

    Raises:
        BoveError: a line that is no triple, or none at all.
    """
    report.kind = "triples (head, relation, dependent)"
    nodes: set[str] = set()
    relations: Counter[str] = Counter()
    seen: set[tuple[str, ...]] = set()
    for number, row in numbered_rows(report.path, 3, encoding=encoding):
        head, relation, dependent = row
        nodes |= {head, dependent}
        relations[relation] += 1
        if tuple(row) in seen:
            note(report.oddities, REPEATED, number)
        if head == dependent:
            note(report.oddities, LOOP, number)
        seen.add(tuple(row))
    report.facts |= {
        "triples": relations.total(),
        "nodes": len(nodes),
        "relations": f"{len(relations):,}: {most_frequent(relations)}",
    }
    if not relations:
        raise BoveError(f"{report.path}: no triple; give lines of head, relation and dependent")


# Checking files of sentence pairs and of gold scores.

PARTS = f"pairs {IN_PARTS}, whose words are others than whole ones"
BLANK = "lines without a score, whose pairs are not scored"
EMPTY = "pairs with an empty sentence"
SAME = "pairs of one sentence with itself"
MORE_COLUMNS = "lines with further columns, read only where a configuration's `columns` names them"
NO_COLUMNS = "lines without a tab between two sentences"
UNLABELLED = "pairs without a label, which are not scored"
OUTSIDE = "scores outside 0 to 5"
_NAMES = ("data", "data", "set")


def _form(task: str, encoding: str) -> Form:
    """The form that a data set has whose configuration says nothing of it."""
    dataset = load_schema()["properties"]["datasets"]["additionalProperties"]
    return Form.of(fill({"task": task, "encoding": encoding}, dataset, "datasets"))


def check_sts(report: Report, encoding: str) -> None:
    """Fill in a report on the input file of a similarity set, two sentences a line.

    Raises:
        BoveError: a line without two columns.
    """
    report.kind = "sentence pairs (STS input)"
    lengths: list[int] = []
    for number, line in read_lines(report.path, encoding):
        cells = [cell.strip(" ") for cell in line.split("\t")]
        if len(cells) < 2:
            note(report.oddities, NO_COLUMNS, number)
            continue
        if len(cells) > 2:
            note(report.oddities, MORE_COLUMNS, number)
            report.facts.setdefault("first line of more than two columns", " | ".join(cells)[:200])
        _note_sentences(report, cells[0], cells[1], number)
        lengths += [len(cell.split()) for cell in cells[:2]]
    report.facts |= {"pairs": len(lengths) // 2, **_lengths(lengths)}
    if report.oddities[NO_COLUMNS]:
        line = report.oddities.places[NO_COLUMNS][0]
        raise BoveError(f"{report.path}, line {line}: one column; put a tab between the two sentences")


def _note_sentences(report, first, second, place) -> None:
    if in_parts(first) or in_parts(second):
        note(report.oddities, PARTS, place)
    if not (_says(first) and _says(second)):
        note(report.oddities, EMPTY, place)
    elif first == second:
        note(report.oddities, SAME, place)


def _says(sentence: str) -> bool:
    """Whether a sentence has anything that can become a token."""
    return any(map(str.isalnum, sentence)) or bool(normalise(sentence))


def _lengths(lengths: list[int]) -> dict:
    mean = sum(lengths) / max(len(lengths), 1)
    return {
        "words of a sentence, between spaces": f"{mean:.1f} in the mean, {max(lengths, default=0)} at most"
    }


def check_gold(report: Report, encoding: str) -> None:
    """Fill in a report on the gold file of a similarity set.

    Raises:
        BoveError: a line that is no number, or no score at all.
    """
    report.kind = "gold scores (STS)"
    scores: list[float] = []
    lines = 0
    for number, line in read_lines(report.path, encoding):
        lines += 1
        score = read_score(report.path, number, line)
        if score is None:
            note(report.oddities, BLANK, number)
        else:
            scores.append(score)
            if not 0 <= score <= 5:
                note(report.oddities, OUTSIDE, number)
    report.facts |= {"lines": lines, "scores": len(scores)}
    if not scores:
        raise BoveError(f"{report.path}: no line has a score; give the gold file of the pairs")
    spread = f"{min(scores):g} to {max(scores):g}, mean {sum(scores) / len(scores):.3g}"
    report.facts["range"] = spread
    if min(scores) == max(scores):
        report.remarks.append("all scores are equal, so no correlation can be had from them")


def check_snli(report: Report, encoding: str) -> None:
    """Fill in a report on a file of entailment pairs with SNLI's columns.

    Raises:
        BoveError: another kind of file, a damaged row, an unknown label, or no pair with a label.
    """
    report.kind = "entailment pairs (SNLI)"
    form = _form("entailment", encoding)
    pairs = read_pair_file(report.path, form, _NAMES)
    # Without a column of ids, pairs are named by their lines.
    columns = {name: column for name, column in form.columns.items() if name != "id"}
    by_line = Form(form.task, columns, form.labels, form.separator, form.encoding)
    lines = [int(pair.id.rpartition("-")[2]) for pair in read_pair_file(report.path, by_line, _NAMES)]
    _report_pairs(report, pairs, lines)


def check_pairs(report: Report) -> None:
    """Fill in a report on the pairs of a run.

    Raises:
        BoveError: a line that is no pair, or a pair id that stands twice.
    """
    report.kind = "sentence pairs of a run (pairs.jsonl)"
    pairs = read_pairs(report.path)
    report.facts["data sets"] = ", ".join(sorted({f"{pair.dataset} ({pair.task})" for pair in pairs}))
    _report_pairs(report, pairs, range(1, len(pairs) + 1))


def _report_pairs(report, pairs: Sequence[Pair], lines: Sequence[int]) -> None:
    labels = Counter(pair.gold for pair in pairs if pair.task == "entailment")
    for line, pair in zip(lines, pairs, strict=True):
        _note_sentences(report, pair.first, pair.second, line)
        if not pair.scored:
            note(report.oddities, UNLABELLED if pair.gold == NO_LABEL else BLANK, line)
    report.facts |= {"pairs": len(pairs), "with gold": sum(pair.scored for pair in pairs)}
    if labels:
        report.facts["labels"] = most_frequent(labels)
    report.facts |= _lengths([len(side.split()) for pair in pairs for side in (pair.first, pair.second)])
    if not any(pair.scored for pair in pairs):
        raise BoveError(f"{report.path}: no pair has a gold score or label; check the file")


def check_together(sts: Report, gold: Report, encoding: str) -> None:
    """Hold an input file and a gold file against each other; the gold gets the error if they do not fit."""
    try:
        pairs = read_pair_file(sts.path, _form("similarity", encoding), _NAMES, gold.path)
    except BoveError as e:
        gold.error = str(e)
    else:
        gold.facts["goes with"] = f"{sts.path}: {sum(pair.scored for pair in pairs):,} scored pairs"


# Checking the files that the stages write, and Stanza's models.


def check_vocabulary(report: Report) -> None:
    """Fill in a report on a vocabulary. Raises BoveError where it is damaged."""
    from bove.text.vocabulary import Vocabulary

    report.kind = "vocabulary of a run"
    found = Vocabulary.load(report.path)
    report.facts = {
        "words": found.n_words,
        "tags": found.n_tags,
        "relations": found.n_relations,
        "thresholds": dict(found.thresholds),
        "options": {name: str(value) for name, value in found.options.items()},
        "hash": found.hash,
    }


def check_arrays(report: Report) -> None:
    """Fill in a report on a safetensors file. Raises BoveError where it is damaged or not a run's."""
    from bove.artefacts import read_metadata

    name = read_metadata(report.path).get("format", "")
    if name not in _ARRAYS:
        raise BoveError(
            f"{report.path}: a safetensors file of {name or 'an unnamed format'}, which no stage reads by "
            f"itself; give vectors, graphs, a model or bags"
        )
    report.kind, check = _ARRAYS[name]
    check(report)


def _check_mapped_vectors(report) -> None:
    from bove.text.vectors import WordVectors

    found = WordVectors.open(report.path)
    report.facts = {"words": len(found), "dimensions": found.dimensions}
    if found.source_sha256:
        report.facts["SHA-256 of the source"] = found.source_sha256


def _graphs(report) -> None:
    from bove.text.graphs import load_graphs

    found = load_graphs(report.path)
    report.facts = {
        "graphs": found.n_graphs,
        "tokens": found.n_tokens,
        "longest graph": f"{int(found.lengths.max(initial=0)):,} tokens",
        "arcs": len(found.arc_relation),
        "properties, relations": f"{found.n_properties:,}, {found.n_relations:,}",
        "words from outside the vocabulary": len(found.extra),
        "vocabulary": found.vocabulary_hash,
    }
    report.oddities.update({"graphs without tokens": n} if (n := int((found.lengths == 0).sum())) else {})


def _model(report) -> None:
    from bove.factor.model import LowRank, Model

    found = Model.load(report.path)
    low = isinstance(found.relations, LowRank)
    report.facts = {
        "rank": found.rank,
        "properties": f"{len(found.properties):,}, {int(found.frozen.sum()):,} of them pretrained",
        "relations": f"{len(found.relation_names):,}, {'as factors' if low else 'whole'}",
        "hyperparameters": {name: str(value) for name, value in found.hyperparameters.items()},
        "vocabulary": found.vocabulary_hash,
        "hash": found.hash,
    }


def _bags(report) -> None:
    from bove.bags.store import Bags

    found = Bags.open(report.path)
    sizes = np.diff(found.offsets)
    report.facts = {
        "system": found.system,
        "sentences": f"{len(found):,}, {found.n_bags:,} of them different",
        "vectors": f"{len(found.vectors):,} of {found.rank} dimensions",
        "model": found.model_hash,
    }
    empty = int((sizes[found.index] == 0).sum())
    report.oddities.update({"sentences without vectors": empty} if empty else {})
    found.check_finite()


_ARRAYS: dict[str, tuple[str, Callable[[Report], None]]] = {
    "bove-vectors": ("word vectors of a run", _check_mapped_vectors),
    "bove-graphs": ("graphs of a run", _graphs),
    "bove-model": ("model of a run", _model),
    "bove-bags": ("bags of a run", _bags),
}


def check_scores(report: Report) -> None:
    """Fill in a report on scores. Raises BoveError where they are damaged."""
    from bove.evaluate.results import read_scores

    report.kind = "scores of a run"
    found = read_scores(report.path)
    report.facts = {
        "data set": f"{found.dataset} ({found.label}, {found.task})",
        "subsets": ", ".join(dict.fromkeys(found.subsets)),
        "pairs": f"{len(found.ids):,}, {int(found.scored.sum()):,} of them scored",
        "systems": ", ".join(found.values),
    }
    for name, empty in found.empty.items():
        count = int(empty[found.scored].sum())
        report.oddities.update({f"pairs with an empty bag of {name}": count} if count else {})


def check_stanza(report: Report) -> None:
    """Fill in a report on a file of Stanza. Raises BoveError where it cannot be read safely."""
    from bove.text.parser import NAMES, is_model, load_safely, needed, read_conventions

    report.kind = "a Stanza model"
    content = load_safely(report.path, "model")
    if not isinstance(content, dict):
        raise BoveError(f"{report.path}: a file of PyTorch, but no model of Stanza; give tagger or parser")
    if is_model(content):
        vocab = content["vocab"]
        kind = "parser" if "deprel" in vocab else "tagger" if "upos" in vocab else ""
        if kind:
            report.kind = f"a Stanza {kind}"
            report.facts["trained by"] = "BoVE" if read_conventions(report.path, content) else "Stanza itself"
            report.facts["needs further files"] = ", ".join(needed(report.path, content)) or "none"
            name = "deprel" if kind == "parser" else "upos"
            _units(report, "relations" if kind == "parser" else "tags", vocab[name])
            return
    kinds = [name for name, signs in NAMES.items() if any(keys <= content.keys() for keys in signs)]
    if not kinds:
        raise BoveError(f"{report.path}: a file of PyTorch, but no model of Stanza; give tagger or parser")
    report.kind = f"a file of Stanza: {kinds[0]}" if len(kinds) == 1 else "a character model of Stanza"


def _units(report, name, vocab) -> None:
    from bove.text.parser import units

    named = [unit for unit in units(vocab) if not unit.startswith("<")]
    if named:
        report.facts[name] = f"{len(named):,}: {', '.join(named[:8])}{', …' if len(named) > 8 else ''}"


# Checking CoNLL-2009 and CoNLL-U files.


def check_treebank(report: Report, columns: str, encoding: str) -> None:
    """Fill in a report on a treebank.

    Args:
        report: of the file.
        columns: whose oddities are listed, "gold" or "predicted".
        encoding: of the text.

    Raises:
        BoveError: a malformed row, or no sentence.
    """
    report.kind = "treebank"
    widths = _widths(report.path, encoding)
    report.kind = "CoNLL-U treebank" if widths and max(widths) == 10 else "CoNLL-2009 treebank"
    report.facts["columns"] = most_frequent(
        Counter({f"{width} in rows": n for width, n in widths.items()}), 4
    )
    found = _Found()
    for sentence in read_sentences(report.path, columns, encoding, report.oddities):
        found.add(sentence)
    report.facts |= found.facts()
    parts = sum(count for form, count in found.forms.items() if in_parts(form))
    if parts:
        report.remarks.append(f"{parts} tokens {IN_PARTS}, which are others than whole ones")
    if not found.sizes:
        raise BoveError(f"{report.path}: no sentences; give a file with rows of numbered tokens")
    if report.kind == "CoNLL-2009 treebank":
        report.facts["gold and predicted columns agree"] = _agreement(report.path, encoding)


def _widths(path, encoding) -> Counter:
    """Rows by their number of columns, empty ones at the end not counted."""
    widths: Counter = Counter()
    for _, line in read_lines(path, encoding):
        if line[:1].isdigit():
            widths[line.rstrip("\t").count("\t") + 1] += 1
    return widths


class _Found:
    """What the sentences of a file hold."""

    def __init__(self) -> None:
        self.sizes: Counter = Counter()
        self.forms: Counter = Counter()
        self.tags: Counter = Counter()
        self.relations: Counter = Counter()
        self.roots = self.one_root = 0

    def add(self, sentence) -> None:
        self.sizes[len(sentence.forms)] += 1
        self.forms.update(sentence.forms)
        self.tags.update(sentence.tags)
        self.relations.update(compress(sentence.relations, (head > 0 for head in sentence.heads)))
        roots = sentence.heads.count(0)
        self.roots += roots
        self.one_root += roots == 1

    def facts(self) -> dict:
        tokens, again = self.forms.total(), sum(count > 1 for count in self.forms.values())
        return {
            "sentences": self.sizes.total(),
            "tokens": tokens,
            "longest sentence": f"{max(self.sizes, default=0):,} tokens",
            "words": f"{len(self.forms):,} forms, {again:,} of them twice or more",
            "tags": f"{len(self.tags):,}: {most_frequent(self.tags)}",
            "relations": f"{len(self.relations):,}: {most_frequent(self.relations)}",
            "roots": f"{self.roots:,}, one each in {self.one_root:,} sentences",
        }


def _agreement(path, encoding) -> dict | str:
    """Share of tokens whose predicted tag, head and label are the gold ones."""
    same, tokens = Counter(), 0
    try:
        both = zip_longest(*(read_sentences(path, columns, encoding) for columns in ("gold", "predicted")))
        for gold, predicted in both:
            tokens += len(gold.forms)
            for name in ("tags", "heads", "relations"):
                same[name] += sum(map(_equal, getattr(gold, name), getattr(predicted, name)))
    except BoveError as e:
        return str(e)
    return {name: f"{100 * same[name] / max(tokens, 1):.2f} %" for name in ("tags", "heads", "relations")}


def _equal(first, second) -> bool:
    return first == second


# Checking word2vec and GloVe files.

VECTOR_PARTS = f"words {IN_PARTS}, which are others than whole ones"
ZERO = "vectors of zeros"


def check_vectors(report: Report) -> None:
    """Fill in a report on a file of word vectors, which is read as a stream.

    Raises:
        BoveError: the file is truncated, damaged, or not in its format.
    """
    report.kind, report.unit = "word vectors", "row"
    form = find_kind(report.path, "auto")
    name = "word2vec, binary" if form.binary else "word2vec, text" if form.header else "GloVe"
    report.kind = f"word vectors ({name})"
    report.facts["dimensions"] = form.dimensions
    number, norms, first = 0, [], []
    keys, places = array("Q"), array("q")
    for words, rows in read_blocks(report.path):
        first += [word.decode("utf-8", "replace") for word in words[: 8 - len(first)]]
        for row, word in enumerate(words, number + 1):
            fault = fault_of_word(word)
            if fault:
                note(report.oddities, fault, row)
                continue
            if in_parts(word.decode()):
                note(report.oddities, VECTOR_PARTS, row)
            places.append(row)
            keys.append(int.from_bytes(hashlib.blake2b(word, digest_size=8).digest(), "little"))
        lengths = np.linalg.norm(rows.astype(np.float64), axis=1)
        for row in np.flatnonzero(lengths == 0).tolist():
            note(report.oddities, ZERO, number + row + 1)
        norms.append(lengths)
        number += len(words)
    for i in _repeated(np.frombuffer(keys, np.uint64)):
        note(report.oddities, DUPLICATE, places[i])
    lengths = np.concatenate(norms)
    report.facts |= {
        "rows": number,
        "words": len(places) - report.oddities[DUPLICATE],
        "first words": " ".join(first),
        "lengths of the vectors": f"{lengths.min():.3g} to {lengths.max():.3g}, mean {lengths.mean():.3g}",
    }


def _repeated(keys: np.ndarray) -> list[int]:
    """Numbers from 0, ascending, of the keys that stood before."""
    order = np.argsort(keys, kind="stable")
    again = np.flatnonzero(keys[order][1:] == keys[order][:-1]) + 1
    return sorted(order[again].tolist())
