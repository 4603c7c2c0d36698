"""Checking files of sentence pairs and of gold scores."""

from collections import Counter

from bove.check.report import Report, most_frequent
from bove.errors import BoveError
from bove.files import read_lines
from bove.oddities import note
from bove.text.pairs import NO_LABEL, _score, read_pairs, read_snli, read_sts

BLANK = "lines without a score, whose pairs are not scored"
EMPTY = "pairs with an empty sentence"
SAME = "pairs of one sentence with itself"
MORE_COLUMNS = "lines with further columns, which are not read"
NO_COLUMNS = "lines without a tab between two sentences"
UNLABELLED = "pairs without a label (-), which are not scored"
OUTSIDE = "scores outside 0 to 5"


def check_sts(report: Report) -> None:
    """Fill in a report on the input file of a similarity set.

    Raises:
        BoveError: a line without two columns.
    """
    report.kind = "sentence pairs (STS input)"
    lengths: list[int] = []
    for number, line in read_lines(report.path):
        cells = [cell.strip(" ") for cell in line.split("\t")]
        if len(cells) < 2:
            note(report.oddities, NO_COLUMNS, number)
            continue
        if len(cells) > 2:
            note(report.oddities, MORE_COLUMNS, number)
        _note_sentences(report, cells[0], cells[1], number)
        lengths += [len(cell.split()) for cell in cells[:2]]
    report.facts |= {"pairs": len(lengths) // 2, **_lengths(lengths)}
    if report.oddities[NO_COLUMNS]:
        line = report.oddities.places[NO_COLUMNS][0]
        raise BoveError(f"{report.path}, line {line}: one column; put a tab between the two sentences")


def _note_sentences(report, first, second, place) -> None:
    if not first or not second:
        note(report.oddities, EMPTY, place)
    elif first == second:
        note(report.oddities, SAME, place)


def _lengths(lengths: list[int]) -> dict:
    mean = sum(lengths) / max(len(lengths), 1)
    return {
        "words of a sentence, between spaces": f"{mean:.1f} in the mean, {max(lengths, default=0)} at most"
    }


def check_gold(report: Report) -> None:
    """Fill in a report on the gold file of a similarity set.

    Raises:
        BoveError: a line that is no number, or no score at all.
    """
    report.kind = "gold scores (STS)"
    scores: list[float] = []
    lines = 0
    for number, line in read_lines(report.path):
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


def read_score(path: str, number: int, line: str) -> float | None:
    """A gold file's line as a score, or None for a blank one."""
    return _score(path, number, line)


def check_snli(report: Report) -> None:
    """Fill in a report on a file of SNLI.

    Raises:
        BoveError: another kind of file, a damaged row, an unknown label, or no pair with a label.
    """
    report.kind = "SNLI"
    _report_pairs(report, read_snli(report.path, "data", "data", "set"))


def check_pairs(report: Report) -> None:
    """Fill in a report on the pairs of a run.

    Raises:
        BoveError: a line that is no pair, or a pair id that stands twice.
    """
    report.kind = "sentence pairs of a run (pairs.jsonl)"
    pairs = read_pairs(report.path)
    report.facts["data sets"] = ", ".join(sorted({f"{pair.dataset} ({pair.task})" for pair in pairs}))
    _report_pairs(report, pairs)


def _report_pairs(report, pairs) -> None:
    labels = Counter(pair.gold for pair in pairs if pair.task == "entailment")
    for number, pair in enumerate(pairs, 1):
        _note_sentences(report, pair.first, pair.second, number)
        if not pair.scored:
            note(report.oddities, UNLABELLED if pair.gold == NO_LABEL else BLANK, number)
    report.unit = "pair"
    report.facts |= {"pairs": len(pairs), "with gold": sum(pair.scored for pair in pairs)}
    if labels:
        report.facts["labels"] = most_frequent(labels)
    report.facts |= _lengths([len(side.split()) for pair in pairs for side in (pair.first, pair.second)])
    if not any(pair.scored for pair in pairs):
        raise BoveError(f"{report.path}: no pair has a gold score or label; check the file")


def check_together(sts: Report, gold: Report) -> None:
    """Hold an input file and a gold file against each other; the gold gets the error if they do not fit."""
    try:
        pairs = read_sts(sts.path, gold.path, "data", "data", "set")
    except BoveError as e:
        gold.error = str(e)
    else:
        gold.facts["goes with"] = f"{sts.path}: {sum(pair.scored for pair in pairs):,} scored pairs"
