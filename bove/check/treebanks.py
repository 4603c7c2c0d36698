"""Checking CoNLL-2009 and CoNLL-U files."""

from collections import Counter
from itertools import compress, zip_longest

from bove.check.report import IN_PARTS, Report, in_parts, most_frequent
from bove.errors import BoveError
from bove.files import read_lines
from bove.text.conll import read_sentences


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
