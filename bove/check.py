"""What a file is, what it holds, what is odd in it, and whether a run can use it.

Content tells the kind of a file. The reader that a run uses then reads it, as a stream where it can, and what
it counts or refuses goes into the report.
"""

import codecs
import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from unicodedata import category, is_normalized

import numpy as np

from bove.api.corpus import kind_of
from bove.api.readers import file_triples, numbered_graphs
from bove.artefacts import read_metadata
from bove.bags.store import Bags
from bove.config import sources
from bove.config.load import fill, load, load_schema, resolve, summary
from bove.config.variants import check_sources, variants
from bove.errors import BoveError, finite
from bove.factor.model import Model
from bove.files import Oddities, check_file, note, open_bytes, read_lines, refuse_start
from bove.text.conll import open_blocks, read_sentences
from bove.text.graphs import load_graphs
from bove.text.pairs import NO_LABEL, Form, pair_rows, read_pair_file, read_score, read_subset
from bove.text.tokens import normalise
from bove.text.vector_files import find_kind, read_blocks
from bove.text.vectors import DUPLICATE, WordVectors, fault_of_word


@dataclass
class Check:
    """How a file is checked, and what was found; see also `check_files`."""

    path: str
    columns: str
    encoding: str
    oddities: Oddities  # what is odd or would be left out, with places
    before: tuple[str, ...] = ()  # a whole configuration and changes to it, which further changes go after
    name: str = ""  # the file's kind, from KINDS
    kind: str = ""  # the same in words
    unit: str = "line"  # what a place counts
    facts: dict[str, str | int | dict] = field(default_factory=dict)  # what it holds
    remarks: list[str] = field(default_factory=list)  # what else is odd, in sentences without a full stop
    error: str = ""  # why it cannot be used


def check_files(
    paths: Iterable[str], name: str, columns: str = "gold", encoding: str = "utf-8", places: int | None = 5
) -> list[Check]:
    """Check files one after another, then input files of similarity sets together with their gold files.

    Changes to a configuration go after the last whole one before them.

    Args:
        name: the kind of all files, from KINDS; "" where content tells it.
        places: how many places are kept of each kind of oddity; None keeps all.
    """
    checks, before = [], ()
    for path in paths:
        check = Check(path, columns, encoding, Oddities(places), before)
        checks.append(check)
        try:
            check_file(path)
            with open_bytes(path):  # first, so that a missing file is reported alike, whatever its kind
                check.name = name or sniff(path)
            KINDS[check.name](check)
        except BoveError as e:
            check.error = str(e)
        if check.name == "config" and not check.error:
            before = (path,) if check.kind == "configuration" else (*before, path)
    sound = [check for check in checks if not check.error]
    _check_together(*([check for check in sound if check.name == name] for name in ("sts", "gold")))
    return checks


# The kind of a file, by its content

_HEAD = 1 << 16
_STARTS = {
    rb"(?s).{4}\0{4}\{": "arrays",
    rb"[0-9]+[ \t][0-9]+[ \t\r]*\n": "vectors",
}
_JSON = {"snli": "sentence1", "graphs": "nodes"}
_ROW = re.compile(r"[0-9]+([-.][0-9]+)?\t([^\t]*\t){5}|1 +(?![-+.0-9])\S+( +\S+){8}")
_MARKS = ".,;:!?\"'()-–—“”‘’„«»…"
_KEY = re.compile(r"[A-Za-z_]\w*:(\s|$)")


def sniff(path: str | Path) -> str:
    """The name, from KINDS, of a file's kind.

    Raises:
        BoveError: the file cannot be read, is empty, or is of no kind that BoVE knows.
    """
    with open_bytes(path) as stream:
        head = stream.read(_HEAD).removeprefix(codecs.BOM_UTF8)
    if not head:
        raise BoveError(f"{path}: an empty file; give one with content")
    name = next((name for start, name in _STARTS.items() if re.match(start, head)), None)
    if name is None:
        refuse_start(path, head)
        if b"\0" in head:
            raise BoveError(f"{path}: binary, of no kind that BoVE reads; unpack it, or export it as text")
        name = _text_kind(head.decode("utf-8", "replace"))
    if name is None:
        first = head.split(b"\n")[0][:60].decode("utf-8", "replace")
        raise BoveError(
            f"{path}: none of the kinds of file that BoVE reads, by its first line {first!r}; name its kind "
            f"with --as ({', '.join(KINDS)})"
        )
    return name


def _text_kind(text: str) -> str | None:
    lines = [line.rstrip("\r") for line in text.split("\n")]
    if len(text) >= _HEAD // 4 and len(lines) > 1:
        lines.pop()  # the last one may be cut off
    lines = [line for line in lines if line.strip(" \t")]
    rows = [line for line in lines if not line.startswith(("#", "---", "%"))]
    if not rows:
        return "treebank" if any(line.startswith("#") and "sent_id" in line for line in lines) else None
    if lines[0].lstrip().startswith("{"):
        start = "".join(lines[:3])
        other = "snli" if lines[0].endswith("}") else None  # a line of JSON with keys of its own
        return next((name for name, key in _JSON.items() if f'"{key}"' in start), other)
    if _ROW.match(rows[0]):
        return "treebank"
    if all(_is_number(line.strip(" \t")) for line in lines[:200]):
        return "gold"
    if len({_vector_size(line) for line in lines[:2]}) == 1 and _vector_size(lines[0]):
        return "vectors"
    if "gold_label" in lines[0].split("\t"):
        return "snli"
    if _KEY.match(rows[0]):
        return "config"
    if "\t" in lines[0]:
        return "sts"
    few = lines[:200]
    return "sentences" if _is_text(few[0]) and sum(map(_is_text, few)) >= 0.8 * len(few) else None


def _is_text(line: str) -> bool:
    """Whether a line has two words or more, most of them of letters alone."""
    words = [word.strip(_MARKS) for word in line.split()]
    return len(words) > 1 and 2 * sum(map(str.isalpha, words)) >= len(words)


def _vector_size(line: str) -> int:
    """How many numbers end a line that may be a word and its vector; 0 where they are too few for that."""
    cells = line.split()
    size = next((n for n, cell in enumerate(reversed(cells[1:])) if not _is_number(cell)), len(cells) - 1)
    return size if size >= 10 or (size >= 2 and size == len(cells) - 1 and "\t" not in line) else 0


def _is_number(text: str) -> bool:
    return finite(text) is not None and "_" not in text


# Treebanks and word vectors

_GOLD = {"tags": 4, "heads": 8, "relations": 10}  # column of CoNLL-2009, before that of predicted ones
_DECOMPOSED = "with decomposed letters (not NFC), which do not match composed ones"
_INVISIBLE = "with invisible format characters (such as U+200B), which match no word without them"


def _spelling(text: str) -> list[str]:
    """What keeps words from matching as they should, though they look alike."""
    if text.isascii():
        return []
    invisible = any(category(mark) == "Cf" and mark != "\u200d" for mark in text)  # that one is of emoji
    return [_DECOMPOSED] * (not is_normalized("NFC", text)) + [_INVISIBLE] * invisible


def _check_treebank(check: Check) -> None:
    check.kind = "treebank"
    layout, blocks = open_blocks(check.path, check.columns, check.encoding)
    check.kind = f"{layout.name if layout else 'CoNLL-U'} treebank"
    sizes, forms, tags, relations = Counter(), Counter(), Counter(), Counter()
    for sentence in read_sentences(check.path, check.columns, check.encoding, check.oddities):
        sizes[len(sentence.forms)] += 1
        forms.update(sentence.forms)
        tags.update(sentence.tags)
        relations.update(compress(sentence.relations, (head > 0 for head in sentence.heads)))
    check.facts |= {
        "sentences": sizes.total(),
        "tokens": forms.total(),
        "longest sentence": f"{max(sizes, default=0):,} tokens",
        "words": f"{len(forms):,} forms, {sum(n > 1 for n in forms.values()):,} of them twice or more",
        "tags": tags,
        "relations": relations,
    }
    if check.kind.startswith("CoNLL-2009"):
        same: Counter[str] = Counter()
        for cells in (line.split("\t", 12) for _, rows in blocks for _, line in rows):
            same.update({name: cells[gold] == cells[gold + 1] for name, gold in _GOLD.items()})
        shares = {name: f"{100 * same[name] / forms.total():.2f} %" for name in _GOLD}
        check.facts["gold and predicted columns agree"] = shares
    odd: Counter[str] = Counter()
    for form, count in forms.items():
        odd.update(dict.fromkeys(_spelling(form), count))
    check.remarks += [f"{count} tokens {kind}" for kind, count in odd.items()]
    if not sizes:
        raise BoveError(f"{check.path}: no sentences; give a file with rows of numbered tokens")


def _check_vectors(check: Check) -> None:
    check.kind, check.unit = "word vectors", "row"
    form = find_kind(check.path, "auto")
    name = "word2vec, binary" if form.binary else "word2vec, text" if form.header else "GloVe"
    check.kind = f"word vectors ({name})"
    check.facts["dimensions"] = form.dimensions
    row, seen, first, lengths = 0, set(), [], []
    for words, vectors in read_blocks(check.path):
        lengths.append(np.linalg.norm(vectors.astype(np.float64), axis=1))
        for row, (word, length) in enumerate(zip(words, lengths[-1].tolist(), strict=True), row + 1):
            key = hash(word)  # smaller than the word, of which there may be millions
            fault = fault_of_word(word) or (DUPLICATE if key in seen else None)
            odd = [fault] if fault else [f"words {kind}" for kind in _spelling(word.decode())]
            if not fault:
                seen.add(key)
                first += [word.decode()] * (len(first) < 8)
            for what in odd + ["vectors of zeros"] * (not length):
                note(check.oddities, what, row)
    norms = np.concatenate(lengths)
    check.facts |= {
        "rows": row,
        "words": len(seen),
        "first words": " ".join(first),
        "lengths of the vectors": f"{norms.min():.3g} to {norms.max():.3g}, mean {norms.mean():.3g}",
    }


# Sentences, pairs of them, and gold scores

_BLANK = "lines without a score, whose pairs are not scored"
_NAMES = ("data", "data", "set")


def _form(task: str, encoding: str) -> Form:
    """The form that a data set has by default."""
    dataset = load_schema()["properties"]["datasets"]["additionalProperties"]
    return Form.of(fill({"task": task, "encoding": encoding}, dataset, "datasets"))


def _note_pairs(check: Check, pairs: Iterable[tuple[int, str, str]]) -> None:
    """Count pairs, each with its line, and what is odd in them."""
    count, words = 0, 0
    for count, (line, first, second) in enumerate(pairs, 1):
        words = max(words, *(len(side.split()) for side in (first, second)))
        for kind in _spelling(f"{first} {second}"):
            note(check.oddities, f"pairs {kind}", line)
        # what has no letter or digit may still become a token
        if not all(any(map(str.isalnum, side)) or normalise(side) for side in (first, second)):
            note(check.oddities, "pairs with an empty sentence", line)
        elif first == second:
            note(check.oddities, "pairs of one sentence with itself", line)
    check.facts |= {"pairs": count, "longest sentence": f"{words:,} words between spaces"}


def _check_sentences(check: Check) -> None:
    check.kind, count, words = "sentences, one on each line", 0, 0
    for count, line in read_lines(check.path, check.encoding):
        words = max(words, len(line.split()))
        if not line.strip():
            note(check.oddities, "blank lines, which are sentences without a word", count)
        for kind in _spelling(line):
            note(check.oddities, f"sentences {kind}", count)
    check.facts |= {
        "sentences": count,
        "longest sentence": f"{words:,} words between spaces",
        "taken by": "bove embed FILE, bove search --texts FILE, bove index --texts FILE, with a finished run",
    }


def _check_sts(check: Check) -> None:
    check.kind, form = "sentence pairs (STS input)", _form("similarity", check.encoding)
    cells = next((line.split("\t") for _, line in read_lines(check.path, check.encoding)), [])
    if len(cells) > 2:
        more = "has further columns, which are read only where a configuration's `columns` names them"
        check.remarks.append(f"{more}; line 1 has {' | '.join(cells)[:200]}")
    rows = pair_rows(check.path, form, form.columns, aligned=True)
    _note_pairs(check, ((number, row["first"], row["second"]) for number, row in rows))


def _check_gold(check: Check) -> None:
    check.kind = "gold scores (STS)"
    number, scores = 0, []
    for number, line in read_lines(check.path, check.encoding):
        score = read_score(check.path, number, line)
        scores += [] if score is None else [score]
        if score is None or not 0 <= score <= 5:
            note(check.oddities, _BLANK if score is None else "scores outside 0 to 5", number)
    check.facts |= {"lines": number, "scores": len(scores)}
    if not scores:
        raise BoveError(f"{check.path}: no line has a score; give the gold file of the pairs")
    mean = sum(scores) / len(scores)
    check.facts["range"] = f"{min(scores):g} to {max(scores):g}, mean {mean:.3g}"
    if min(scores) == max(scores):
        check.remarks.append("all scores are equal, so they correlate with nothing")


def _check_snli(check: Check) -> None:
    check.kind, form = "entailment pairs (SNLI)", _form("entailment", check.encoding)
    pairs = read_pair_file(check.path, form, _NAMES)
    lines = [number for number, _ in pair_rows(check.path, form, form.columns, aligned=False)]
    _note_pairs(check, ((line, pair.first, pair.second) for line, pair in zip(lines, pairs, strict=True)))
    for line, pair in zip(lines, pairs, strict=True):
        if pair.gold == NO_LABEL:
            note(check.oddities, "pairs without a label, which are not scored", line)
    check.facts["with gold"] = sum(pair.scored for pair in pairs)
    check.facts["labels"] = Counter(pair.gold for pair in pairs)
    if not check.facts["with gold"]:
        raise BoveError(f"{check.path}: no pair has a label that counts; check the file")


def _check_together(inputs: list[Check], golds: list[Check]) -> None:
    """Read the first input file with the first gold file, and so on; the gold's check gets what is wrong."""
    for sts, gold in zip(inputs, golds, strict=False):
        try:
            pairs = read_pair_file(sts.path, _form("similarity", sts.encoding), _NAMES, gold.path)
            gold.facts["goes with"] = f"{sts.path}: {sum(pair.scored for pair in pairs):,} scored pairs"
        except BoveError as e:
            gold.error = str(e)


# Graphs


def _check_graphs(check: Check) -> None:
    check.kind = "graphs (JSON lines)"
    sizes: list[int] = []
    kinds, relations, ids = Counter(), Counter(), set()
    for number, graph in numbered_graphs(check.path):
        sizes.append(len(graph))
        names = (one if isinstance(one, str) else one[0] for own in graph.nodes for one in own)
        kinds.update(kind_of(name) or "(none)" for name in names)
        relations.update(label for label, *_ in graph.edges)
        for what, holds in (
            ("graphs without nodes", not len(graph)),
            ("graphs in which a node has no property", not all(graph.nodes)),
            ("graphs with a repeated edge, which counts once", len(set(graph.edges)) < len(graph.edges)),
            ("graphs with a repeated id", graph.id and graph.id in ids),
        ):
            if holds:
                note(check.oddities, what, number)
        ids.add(graph.id)
    check.facts |= {"graphs": len(sizes), "nodes": sum(sizes), "edges": relations.total()}
    check.facts["largest graph"] = f"{max(sizes, default=0):,} nodes"
    check.facts |= {"properties by kind": kinds, "relations": relations}
    if not any(sizes):
        raise BoveError(f"{check.path}: no graph has a node; give graphs with nodes")


def _check_triples(check: Check) -> None:
    check.kind = "triples (head, relation, dependent)"
    nodes, relations, seen = set(), Counter(), set()
    for number, (*row, _) in file_triples(check.path, encoding=check.encoding):
        if tuple(row) in seen:
            note(check.oddities, "repeated triples, which count once", number)
        if row[0] == row[2]:
            note(check.oddities, "triples of a node with itself", number)
        if any(cell != cell.strip() for cell in row):
            note(check.oddities, "triples with spaces around a name, which is another without them", number)
        for kind in _spelling(" ".join(row)):
            note(check.oddities, f"triples {kind}", number)
        seen.add(tuple(row))
        nodes |= {row[0], row[2]}
        relations[row[1]] += 1
    check.facts |= {"triples": relations.total(), "nodes": len(nodes), "relations": relations}
    if not relations:
        raise BoveError(f"{check.path}: no triple; give lines of head, relation and dependent")


# Configurations


def _removes(value: object) -> bool:
    return isinstance(value, dict) and any(child is None or _removes(child) for child in value.values())


def _check_config(check: Check) -> None:
    check.kind, raw, required = "configuration", load([check.path]), load_schema()["required"]
    if not all(raw.get(key) for key in required) or _removes(raw["datasets"]):
        check.kind, check.facts["changes"] = "changes to a configuration", ", ".join(raw)
        raw = load([*check.before, check.path])
        missing = ", ".join(key for key in required if key not in raw)
        if missing or not check.before:
            said = f"has no {missing}" if missing else "takes away data sets"
            check.remarks.append(f"{said}; name a configuration, such as config/open.yaml, before it")
            resolve(raw, partial=True)
            return
    config = resolve(raw)
    check_sources(variants(config))
    check.facts |= {"run": summary(config), "files that it names": len(dict(sources.references(config)))}
    used = sources.used(config).items()
    if fetched := [name for name, source in used if sources.kind(source) == "url"]:
        check.facts["to be downloaded"] = ", ".join(fetched)
    for name, dataset in config["datasets"].items():
        read, located = {}, {"name": name, **dataset, "subsets": {}}
        for subset, files in dataset.get("subsets", {}).items():
            paths = {key: sources.locate(config, files[key]) for key in sources.PAIR_FILES if key in files}
            located["subsets"][subset] = files | paths
            if all(map(os.path.isfile, paths.values())):
                pairs = read_subset(located, subset)
                read[subset] = f"{len(pairs):,} pairs, {sum(pair.scored for pair in pairs):,} of them scored"
        check.facts |= {f"data set {name}": read} if read else {}
    _check_roles(config)


def _check_roles(config: dict) -> None:
    """BoveError where probes of roles ask for labels that the treebank lacks, so that there can be none."""
    probes = {name: dataset for name, dataset in config["datasets"].items() if "from" in dataset}
    treebank, path = config["treebank"], sources.locate(config, config["treebank"]["train"])
    if not probes or config["parser"]["source"] != "train" or not Path(path).is_file():
        return
    trees = read_sentences(path, treebank["columns"], treebank["encoding"])
    labels = {label for tree in trees for label in tree.relations}
    for name, dataset in probes.items():
        parsed = not any("parses" in config["datasets"][one] for one in dataset["from"])
        for key in ("subjects", "objects") if parsed else ():
            if labels.isdisjoint(dataset[key]):
                said = f"configuration: datasets.{name}.{key}: {', '.join(dataset[key])}"
                raise BoveError(f"{said}: {path} has no such relation; name its own, or leave this set out")


# Files of arrays, which stages write, and other programs too

_READERS = {"vectors": WordVectors.open, "graphs": load_graphs, "model": Model.load, "bags": Bags.open}


def _check_arrays(check: Check) -> None:
    metadata = read_metadata(check.path)
    format = metadata.get("format", "")
    of_a_run = format.startswith("bove-")
    name = format.removeprefix("bove-") if of_a_run else "bags"
    if name not in _READERS:
        raise BoveError(f"{check.path}: holds {format}, which goes with other files; give model or bags")
    check.kind = f"{name} of a run" if of_a_run else "bags of another program"
    found = _READERS[name](check.path)
    if name == "bags":
        found.check_finite()
        check.facts |= {"sentences": len(found), "vectors": len(found.vectors), "dimensions": found.rank}
    if metadata:
        check.facts["metadata"] = {key: text for key, text in sorted(metadata.items()) if len(text) <= 500}


KINDS = {
    "treebank": _check_treebank, "vectors": _check_vectors, "sentences": _check_sentences, "sts": _check_sts,
    "gold": _check_gold, "snli": _check_snli, "graphs": _check_graphs, "triples": _check_triples,
    "arrays": _check_arrays, "config": _check_config,
}  # fmt: skip
