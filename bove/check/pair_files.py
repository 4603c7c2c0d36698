"""Checking files of sentence pairs and of gold scores."""

from collections import Counter
from collections.abc import Sequence

from bove.check.report import IN_PARTS, Report, in_parts, most_frequent
from bove.errors import BoveError
from bove.files import read_lines
from bove.oddities import note
from bove.text.pair_files import read_pair_file, read_score
from bove.text.pair_forms import NO_LABEL, Form
from bove.text.pairs import Pair, read_pairs
from bove.text.tokens import normalise

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
    from bove.config import fill
    from bove.runs import schema

    dataset = schema()["properties"]["datasets"]["additionalProperties"]
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
