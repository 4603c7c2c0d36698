"""Result tables in Markdown, to be read, and in LaTeX (booktabs), to be put into a paper.

The tables of a task have the shape of the paper's two: a row for each subset, a column for each system.
First comes the metric that the task is judged by, with the paper's own figures where a data set's label and a
subset's name are those of the paper; then the differences between systems; then the other metrics. Below a
table in Markdown a caption and notes state every choice behind a figure; in LaTeX a short caption is enough,
since the legend (`bove.evaluate.summary`) has the rest. They are plain text in which *a phrase* is
emphasised, and everything is escaped for its form: no text from a file can break a table.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bove.bags import PROPERTIES_ONLY, WORD_VECTORS
from bove.evaluate import paper
from bove.evaluate.alignment import NONE
from bove.evaluate.metrics import MEASURES, METRICS
from bove.evaluate.results import (
    AGGREGATES,
    MEAN,
    MEANS,
    TOGETHER,
    WEIGHTED_MEAN,
    parted,
    without_summaries,
)
from bove.evaluate.statistics import Bootstrap

if TYPE_CHECKING:
    from pandas import DataFrame

# What all tables share: Markdown, numbers in print, names of data sets.

UNDEFINED, ABSENT = "undefined", "-"
PERCENT = ("average-precision", "roc-auc", "accuracy")


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], n_text: int) -> str:
    """A pipe table; the first n_text columns are left-aligned, the others right-aligned."""
    lines = [[escape(cell) for cell in row] for row in (header, *rows)]
    widths = [max(3, *(len(cell) for cell in column)) for column in zip(*lines, strict=True)]
    rule = ["-" * w if c < n_text else "-" * (w - 1) + ":" for c, w in enumerate(widths)]
    pad = [str.ljust if c < n_text else str.rjust for c in range(len(widths))]
    padded = [[p(cell, w) for p, cell, w in zip(pad, line, widths, strict=True)] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in (padded[0], rule, *padded[1:])) + "\n"


def escape(text: str) -> str:
    """Text that cannot break a table or a list."""
    return text.replace("|", "\\|").replace("\n", " ")


def bullets(notes: Iterable[str]) -> str:
    """A Markdown list."""
    return "".join(f"* {escape(note)}\n" for note in notes)


def below(caption: str, notes: Iterable[str] = ()) -> str:
    """A caption and a list of notes, as they are below a table."""
    items = bullets(notes)
    return f"\n{escape(caption)}\n" + (f"\n{items}" if items else "")


def printed(metric: str, value: float) -> str:
    """A value in print: correlations with 4 decimals, rankings and accuracy in percent with 2; never -0."""
    if np.isnan(value):
        return UNDEFINED
    text = f"{100 * value:.2f}%" if metric in PERCENT else f"{value:.4f}"
    return text.removeprefix("-") if amount(text) == 0 else text


def signed(metric: str, difference: float) -> str:
    """A difference in print: with + or - before it unless it prints as 0, and without a percent sign."""
    text = printed(metric, difference).removesuffix("%")
    return f"+{text}" if difference > 0 and float(text) else text


def amount(text: str) -> float:
    """The number that a value in print stands for."""
    return float(text.removesuffix("%"))


def undefined(metric: str, n_scored: int, subset: str = "") -> str:
    """What is printed for a missing value, with the reason; a mean's is in `entered_note`."""
    if subset in MEANS:
        return UNDEFINED
    if n_scored < 2:
        return f"{UNDEFINED} ({'one pair' if n_scored else 'no pair'})"
    return f"{UNDEFINED} ({'one class' if metric in PERCENT else 'constant'})"


def entered_note(row: NamedTuple) -> str:
    """How many subsets a mean is over, in brackets, where some are undefined; empty elsewhere."""
    fewer = row.subset in MEANS and row.entered < row.subsets
    return f" ({row.entered} of {row.subsets} subsets defined)" if fewer else ""


def count_note(row: NamedTuple) -> str:
    """How many subsets a mean is of; empty elsewhere."""
    return f"of {row.subsets} subset{'s' if row.subsets > 1 else ''}" if row.subset in MEANS else ""


def named(frame: "DataFrame", development: Collection[str]) -> "DataFrame":
    """The frame with the columns `name`, each data set's label in print, and `development`.

    Args:
        frame: with the columns `dataset` and `label`; where labels are the same, names have both.
        development: data sets on which choices were made.
    """
    labels = frame.drop_duplicates("dataset").set_index("dataset").label
    names = labels.where(~labels.duplicated(keep=False), labels + " (" + labels.index + ")")
    return frame.assign(name=frame.dataset.map(names), development=frame.dataset.isin(development))


def marked(row: NamedTuple) -> str:
    """The name of a row's data set, marked where choices were made on it."""
    return row.name + (" (development)" if row.development else "")


def development_notes(frame: "DataFrame") -> list[str]:
    """What to know where choices were made on some of the frame's data sets: a note, or none."""
    chosen = frame[frame.development].name.unique()
    whose = "its" if len(chosen) == 1 else "their"
    said = f"Hyperparameters were chosen on {', '.join(chosen)}: {whose} results are optimistic."
    return [said] if len(chosen) else []


# Tables in two forms.

_SPECIAL = {mark: f"\\{mark}" for mark in "&%$#_{}"} | {
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", '"': "''"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"},
    **{"†": r"\textdagger{}", "‡": r"\textdaggerdbl{}"},
}
_EMPHASIS = re.compile(r"(?<!\w)\*(\S(?:[^*]*\S)?)\*(?!\w)")
_MINUS = re.compile(r"(?<!\w)-(?=\d)")  # not the hyphen of STS-2014
HEAD = "% Put into a document with \\input; it needs \\usepackage{booktabs}. The legend is in legend.md.\n"
# What captions call the table whose text holds for those after it too.
FIRST = "the first table"
_NAME_WIDTH = 11  # characters in a line of a column's name
_MOST_COLUMNS = 5  # of values, side by side on a page
_MOST_ROWS = 32  # of a float, so that it has room on a page
FLOAT = r"""\begin{table*}
\centering\%s\setlength{\tabcolsep}{%s}
\begin{tabular}{@{}%s@{}}
\toprule
%s
\bottomrule
\end{tabular}
%s
\end{table*}
"""


class Cell(NamedTuple):
    """A value in print, with its interval, the marks behind it, and what must be known about it."""

    text: str
    bold: bool = False
    marks: str = ""
    interval: str = ""
    note: str = ""


class Row(NamedTuple):
    """A row: names, with what must be known about the subset, how many pairs it has, and further names."""

    dataset: str
    subset: str
    detail: str
    pairs: str
    cells: Sequence[Cell]
    names: Sequence[str] = ()


@dataclass(frozen=True)
class Table:
    """A table in no form yet.

    Attributes:
        name: of the label in LaTeX.
        title: heading in Markdown.
        columns: header of the rows' cells.
        rows: those of one data set are consecutive.
        short: the caption in LaTeX, of at most 40 words.
        caption, notes: below the table in Markdown. FIRST stands for another table.
        names: header of the rows' two further names.
    """

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Row]
    short: str
    caption: str
    notes: Sequence[str] = ()
    names: Sequence[str] = ()


def markdown(tables: Sequence[Table]) -> str:
    """All tables, the first under the highest heading."""
    return "\n".join(_markdown(table, "#" if t == 0 else "##") for t, table in enumerate(tables))


def _markdown(table: Table, level: str) -> str:
    header = ["data set", "subset", *table.names, "pairs", *table.columns]
    rows = []
    for row in table.rows:
        subset = f"{row.subset} ({row.detail})" if row.detail else row.subset
        rows.append([row.dataset, subset, *row.names, row.pairs, *map(markdown_cell, row.cells)])
    body = markdown_table(header, rows, 2 + len(table.names))
    return f"{level} {table.title}\n\n{body}{below(table.caption, table.notes)}"


def markdown_cell(cell: Cell) -> str:
    text = f"**{cell.text}**" if cell.bold else cell.text
    return " ".join(filter(None, (text + cell.marks, cell.interval, cell.note)))


def latex(tables: Sequence[Table]) -> str:
    """All tables as floats that need the package booktabs and nothing else, and fit the page of `article`.

    A table of many columns or rows is several floats. They have values and the intervals of differences;
    those of values are in Markdown.
    """
    return HEAD + "\n".join(part for table in tables for part in _latex(table))


def latex_text(text: str) -> str:
    """Text for LaTeX: special characters are escaped, *a phrase* is emphasised, numbers have a minus sign."""
    escaped = " ".join(text.split()).translate(str.maketrans(_SPECIAL))
    return _MINUS.sub("$-$", _EMPHASIS.sub(r"\\emph{\1}", escaped))


def _latex(table: Table) -> Iterator[str]:
    """The floats of a table, of which the first has the caption."""
    title = latex_text(table.title)
    caption = rf"\caption[{{{title}}}]{{{latex_text(table.short)}}}" + f"\n\\label{{tab:{table.name}}}"
    size = ("scriptsize", "2pt") if table.names else ("footnotesize", "3pt")
    parts = -(-len(table.columns) // _MOST_COLUMNS)
    ends = [len(table.columns) * part // parts for part in range(parts + 1)]
    for start, end in zip(ends, ends[1:], strict=False):
        first = table.names or ["subset", "pairs"]
        for groups in _parts(table.rows):
            lines = latex_header([*first, *table.columns[start:end]])
            for name, rows in groups:
                above = rf"\multicolumn{{{end - start + 2}}}{{@{{}}l}}{{\emph{{{latex_text(name)}}}}}"
                lines += [r"\midrule", latex_line([above])]
                for row in rows:
                    cells = [latex_cell(cell, bool(row.names)) for cell in row.cells[start:end]]
                    names = map(latex_text, row.names or [row.subset, row.pairs])
                    lines.append(latex_line([*names, *cells]))
            columns = f"l{'l' if table.names else 'r'}{'c' * (end - start)}"
            yield FLOAT % (*size, columns, "\n".join(lines), caption)
            caption = rf"\caption[]{{{title}, continued.}}"


def _parts(rows: Sequence[Row]) -> Iterator[list[tuple[str, list[Row]]]]:
    """Rows by float, in groups under a data set's name, and the subset's where rows have names: whole groups
    where that is possible."""
    of_name: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        of_name[f"{row.dataset}: {row.subset}" if row.names else row.dataset].append(row)
    part: list[tuple[str, list[Row]]] = []
    for name, group in of_name.items():
        for start in range(0, len(group), _MOST_ROWS):
            found = group[start : start + _MOST_ROWS]
            if part and sum(1 + len(others) for _, others in part) + len(found) >= _MOST_ROWS:
                yield part
                part = []
            part.append((name, found))
    yield part


def latex_header(names: Sequence[str]) -> list[str]:
    """As many lines as the longest name needs; what is before a colon has a line of its own."""
    parts = [[line for part in name.split(": ") for line in wrap(part, _NAME_WIDTH)] for name in names]
    height = max(map(len, parts))
    padded = [[""] * (height - len(part)) + part for part in parts]
    return [latex_line(map(latex_text, line)) for line in zip(*padded, strict=True)]


def latex_cell(cell: Cell, interval: bool = False) -> str:
    text = latex_text(cell.text.partition(f"{UNDEFINED} (")[0] or UNDEFINED)  # Markdown has the reason
    text = rf"\textbf{{{text}}}" if cell.bold else text
    # marks take no room, so that the digits are below each other
    marks = rf"\rlap{{\textsuperscript{{{latex_text(cell.marks)}}}}}" if cell.marks else ""
    more = [latex_text(cell.interval)] if interval else []
    return " ".join(filter(None, (text + marks, *more, latex_text(cell.note))))


def latex_line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


# What the tables say.

# Systems that the others are held against, where they are scored, and what marks a difference from each.
REFERENCES = (WORD_VECTORS, PROPERTIES_ONLY)
MARKS = "†‡"
FILES = {"similarity": "sts", "entailment": "snli", "roles": "roles"}
TITLES = {
    "similarity": "Semantic textual similarity",
    "entailment": "Textual entailment",
    "roles": "Roles told apart",
    "differences": "Differences between systems",
    "spearman": "Rank correlation",
    "roc-auc": "Area under the ROC curve",
    "length-correlation": "Correlation with length",
}
_SUMMARIES = f"""*{MEAN}* is the unweighted mean of the subsets' correlations, *{WEIGHTED_MEAN}* weights
    them by their scored pairs and is shown where that differs, *{TOGETHER}* is one correlation over all of a
    data set's pairs."""
_CAPTIONS = {
    "pearson": f"""Pearson's correlation between the gold scores and STS(S1, S2), the harmonic mean of the
        alignment scores of both directions (0 where their sum is not positive). Pairs without a gold
        score are left out. {_SUMMARIES}""",
    "spearman": f"""Spearman's rank correlation between the gold scores and STS(S1, S2). {_SUMMARIES}""",
    "average-precision": """Average precision, in percent, of the ranking of the pairs by SNLI(S1, S2),
        how well the first sentence entails the second. The positive class is *entailment*, against
        *neutral* and *contradiction* together; pairs of one score share a threshold. Pairs without a gold
        label are left out.""",
    "roc-auc": """Area under the ROC curve, in percent, of the same ranking: how often a pair of the class
        *entailment* is scored above one of the other classes; 50% is chance.""",
    "length-correlation": """Pearson's correlation between SNLI(S1, S2) and the length of the second
        sentence, in tokens that take part in the alignment. Scores that do not depend on length have 0.""",
    "accuracy": f"""Accuracy, in percent: how often a system sees that the first sentence entails the second
        better than the second with the words of subject and object exchanged, SNLI(S1, S2) > SNLI(S1, S3); a
        tie counts half. A pair of another data set, which names the subset, makes such a probe if its first
        sentence entails the second and the second has a verb with a nominal subject and object. Systems that
        see the words alone have 50% by construction. *{TOGETHER}* are those of a data set.""",
    "differences": f"""Differences, in {{unit}}: above 0, *system* is better than *against*. Intervals are
        made as in {FIRST}. *p* is two-sided, from the same resamples, and cannot fall below
        {{least:.2g}}. *adjusted p* allows for testing many differences: it is *p* after Benjamini and
        Hochberg's procedure over all comparisons by this metric, of all systems, subsets and summaries of
        this task. Both speak of other pairs like these, not of models trained with other seeds. There is
        no difference where a value is undefined, nor between means over different subsets. The
        differences on all subsets, between all systems and by all metrics are in differences.csv, in full
        precision.""",
    "bold": "The best system of each row is bold.",
    "weighted": """Columns with *length* or *evidence* in brackets weight each word by it{power}:
        SNLI(S1, S2) is the weighted mean of the second sentence's best cosines; a word of weight 0 takes no
        part.""",
    "published": """The columns *paper* hold the figures of Popa and Henderson (2017), from other training
        data; they are not in the contest for bold.""",
    "intervals": """In brackets stand {percent:g}% intervals: percentiles of {of.resamples} resamples of
        the pairs, drawn with replacement within each subset (seed {of.seed}), the same for all systems.""",
    "few": "So few make rough intervals of this level; take at least {of.least}.",
    "marked": """Marked are, by {named}, for better or worse, where the paired two-sided p-value from
        these resamples is below {of.level:g} after Benjamini and Hochberg's adjustment for all
        comparisons by this metric.""",
    "as in the first": f"Intervals{{marks}} are made as in {FIRST}.",
    "data": "Data: {data}.",
}
# Captions in LaTeX; best_and_marks and the like go on.
_SHORT = {
    "pearson": "Pearson's correlation of gold scores with STS(S1, S2)",
    "spearman": "Spearman's rank correlation of gold scores with STS(S1, S2)",
    "average-precision": "Average precision of entailment, pairs ranked by SNLI(S1, S2)",
    "roc-auc": "Area under the ROC curve of entailment, pairs ranked by SNLI(S1, S2)",
    "length-correlation": "Pearson's correlation of SNLI(S1, S2) with the second sentence's length",
    "accuracy": "Accuracy in telling subject and object from these exchanged",
    "differences": "Differences, in {unit}, with {percent:g}% intervals; above 0 the first system is better",
    "published": "paper: Popa and Henderson (2017)",
}


@dataclass(frozen=True)
class Findings:
    """What the tables of a run are made of.

    Results are `named`, p-values adjusted; notes are for a task's first table, or for a metric's, by its
    name; origin is on versions and models; power is that of the weights of tokens.
    """

    results: "DataFrame"
    differences: "DataFrame"
    bootstrap: Bootstrap
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    origin: str = ""
    power: float = 1.0


def task_files(task: str, findings: Findings) -> dict[str, str]:
    """The task's tables in Markdown and LaTeX, by name of their file."""
    tables = task_tables(task, findings)
    said = "No data set of this task was scored."
    return {
        f"{FILES[task]}.md": markdown(tables) if tables else f"# {TITLES[task]}\n\n{said}\n",
        f"{FILES[task]}.tex": latex(tables) if tables else f"% {said}\n",
    }


def task_tables(task: str, findings: Findings) -> list[Table]:
    """The tables of one task; none where no data set of it was scored. Rows and columns keep their order."""
    tables = []
    for metric in MEASURES[task]:
        results, differences = (
            frame[(frame.task == task) & (frame.metric == metric)]
            for frame in (findings.results, findings.differences)
        )
        if len(results):
            tables.append(_metric_table(task, metric, results, differences, findings))
        if len(differences) and metric == METRICS[task]:
            tables.append(_differences_table(task, metric, results, differences, findings))
    return tables


def _metric_table(task: str, metric: str, results, differences, findings: Findings) -> Table:
    systems, is_main = list(results.system.unique()), metric == METRICS[task]
    sure = differences[differences.p_adjusted < findings.bootstrap.level]
    cells, published = _cells(metric, results, sure), _published(results) if is_main else {}
    rows = []
    for row in once(results, results).drop_duplicates(["dataset", "subset"]).itertuples():
        of_row = [cells.get((row.dataset, row.subset, system), Cell(ABSENT)) for system in systems]
        figures = published.get((row.dataset, row.subset), [np.nan] * len(paper.SYSTEMS))
        of_row += [Cell(ABSENT if np.isnan(x) else printed(metric, x)) for x in figures if published]
        rows.append(_row(row, of_row))
    notes = [*_row_notes(results), *findings.notes.get(task, ())] if is_main else []
    return Table(
        f"{FILES[task]}-{metric}",
        TITLES[task if is_main else metric],
        [*systems, *(f"paper: {name}" for name in paper.SYSTEMS if published)],
        rows,
        _short_of(metric, results, findings, bool(published)),
        _caption_of(metric, results, findings, bool(published)),
        [*notes, *findings.notes.get(metric, ()), *_undefined_notes(results, "value", findings)],
    )


def _cells(metric: str, results: "DataFrame", sure: "DataFrame") -> dict[tuple[str, str, str], Cell]:
    """By data set, subset and system; the best printed value is bold where there is another to beat."""
    cells, marks = {}, marks_of(references(results), sure)
    for place, rows in results.groupby(["dataset", "subset"], sort=False):
        texts = {row.system: printed(metric, row.value) for row in rows.dropna(subset="value").itertuples()}
        best = max(texts.values(), key=amount, default=None) if metric != "length-correlation" else None
        for row in rows.itertuples():
            key = (*place, row.system)
            text = texts.get(row.system) or undefined(metric, row.n_scored, row.subset)
            bold, interval = len(texts) > 1 and text == best, _interval(row, row.value)
            cells[key] = Cell(text, bold, marks[key], interval, entered_note(row).strip())
    return cells


def _differences_table(task: str, metric: str, results, differences, findings: Findings) -> Table:
    """The systems against those that marks stand for, on the summaries, or else on the subsets."""
    held, summarised = references(results), results.dataset[results.subset.isin(AGGREGATES)]
    systems, against = (differences[side].map(lambda name: parted(name)[0]) for side in ("system", "against"))
    shown = differences[
        (systems.isin(held) | against.isin(held) | (systems == against))
        & (differences.subset.isin(AGGREGATES) | ~differences.dataset.isin(summarised))
    ]
    of_row = {(row.dataset, row.subset): row for row in results.itertuples()}
    shown = shown.assign(name=shown.dataset.map(dict(zip(results.dataset, results.name, strict=True))))
    rows = []
    for d in once(shown, results).itertuples():
        cells = [Cell(signed(metric, d.difference), interval=_interval(d, d.difference))]
        cells += [Cell(printed_p(p)) for p in (d.p_value, d.p_adjusted)]
        rows.append(_row(of_row[d.dataset, d.subset], cells, (d.system, d.against)))
    unit = "percentage points" if metric in PERCENT else "Pearson's correlation"
    least = 2 / (findings.bootstrap.resamples + 1)
    return Table(
        f"{FILES[task]}-differences",
        TITLES["differences"],
        ["difference", "p", "adjusted p"],
        rows,
        f"{_SHORT['differences']}.".format(unit=unit, percent=100 * findings.bootstrap.confidence),
        _said(["differences"], unit=unit, least=least),
        _undefined_notes(shown, "difference", findings),
        ["system", "against"],
    )


def once(shown: "DataFrame", results: "DataFrame") -> "DataFrame":
    """Without the weighted mean of a data set whose subsets have equally many pairs: it is the mean."""
    sizes = without_summaries(results).groupby("dataset").n_scored.nunique()
    return shown[(shown.subset != WEIGHTED_MEAN) | (shown.dataset.map(sizes) > 1)]


def _row(row: NamedTuple, cells: Sequence[Cell], names: Sequence[str] = ()) -> Row:
    """The row of a subset or a summary, which any system's result names."""
    return Row(marked(row), row.subset, count_note(row), _pairs(row), cells, names)


def _pairs(row: NamedTuple) -> str:
    """How many pairs are scored, and of how many."""
    return f"{row.n_scored} of {row.n_pairs}" if row.n_scored < row.n_pairs else str(row.n_pairs)


def references(results: "DataFrame") -> list[str]:
    """The systems that marks stand for: those of REFERENCES, or else the first, whatever their weights."""
    systems = [parted(name)[0] for name in results.system.unique()]
    return [name for name in REFERENCES if name in systems] or systems[:1]


def marks_of(held: Sequence[str], sure: "DataFrame") -> Mapping[tuple[str, str, str], str]:
    """By data set, subset and system: a mark for each reference that it surely differs from.

    The weight is the same; where two references differ, the later one is marked.
    """
    marks: dict[tuple[str, str, str], str] = defaultdict(str)
    for r, (mark, reference) in enumerate(zip(MARKS, held, strict=False)):
        for d in sure.itertuples():
            sides = {parted(name)[0]: name for name in (d.system, d.against)}
            if len(sides) == 2 and reference in sides and parted(d.system)[1] == parted(d.against)[1]:
                other = next(name for name in sides if name != reference)
                if other not in held[:r]:
                    marks[d.dataset, d.subset, sides[other]] += mark
    return marks


def _interval(row: NamedTuple, value: float) -> str:
    if np.isnan(row.low):
        return "" if np.isnan(value) else "[no interval]"
    return "[{}, {}]".format(*(printed(row.metric, end).removesuffix("%") for end in (row.low, row.high)))


def printed_p(value: float) -> str:
    return ABSENT if np.isnan(value) else f"{value:.3f}" if value >= 0.0005 else "<0.001"


def _published(results: "DataFrame") -> dict[tuple[str, str], tuple[float, float]]:
    """The paper's figures, by data set and subset, for the rows that it has."""
    subsets, found = without_summaries(results).groupby("dataset").subset.agg(set), {}
    for row in results.drop_duplicates(["dataset", "subset"]).itertuples():
        if figures := paper.figures(row.label, row.subset, subsets[row.dataset]):
            found[row.dataset, row.subset] = figures
    return found


def _short_of(metric: str, results: "DataFrame", findings: Findings, published: bool) -> str:
    """The caption of a table of values in LaTeX, made of _SHORT."""
    parts = [_SHORT[metric]]
    if results.system.nunique() > 1:
        bold = metric != "length-correlation"
        parts.append(best_and_marks(references(results), findings.bootstrap.level, bold))
    return "; ".join(parts + [_SHORT["published"]] * published) + "."


def best_and_marks(held: Sequence[str], level: float, bold: bool = True) -> str:
    """What a short caption says of bold print and of marks."""
    marks = f"{', '.join(MARKS[: len(held)])}: differs from {', '.join(held)} (adjusted p below {level:g})"
    return f"best bold; {marks}" if bold else marks


def _caption_of(metric: str, results: "DataFrame", findings: Findings, published: bool) -> str:
    """What is below a table of values in Markdown, made of _CAPTIONS."""
    several, of = results.system.nunique() > 1, findings.bootstrap
    parts = [metric, "bold"] if several and metric != "length-correlation" else [metric]
    if metric not in METRICS.values():
        return _said([*parts, "as in the first"], marks=" and marks" if several else "")
    if any(parted(name)[1] != NONE for name in results.system.unique()):
        parts.append("weighted")
    parts += ["published"] if published else []
    parts += ["intervals", "few"] if of.resamples < of.least else ["intervals"]
    parts += ["marked", "data"] if several else ["data"]
    marks = zip(MARKS, references(results), strict=False)
    named = " and ".join(f"{mark} a system that differs from *{name}*" for mark, name in marks)
    counts = without_summaries(results).drop_duplicates(["name", "subset"])
    counts = counts.groupby("name", sort=False)[["n_pairs", "n_scored"]].sum().itertuples()
    data = ", ".join(f"{name} ({k} pairs scored, {n - k} left out)" for name, n, k in counts)
    power = f" to the power {findings.power:g}" if findings.power != 1 else ""
    text = _said(parts, of=of, percent=100 * of.confidence, named=named, data=data, power=power)
    return f"{text} {findings.origin}".strip()


def _said(parts: Iterable[str], **values) -> str:
    """Some of _CAPTIONS, one after another."""
    return " ".join(" ".join(_CAPTIONS[part].split()).format(**values) for part in parts)


def _row_notes(results: "DataFrame") -> list[str]:
    """What to know about single rows: empty bags, other pair counts, where choices were made."""
    notes = [] if results.n_empty.any() else ["No scored pair has a sentence without vectors."]
    for (name, subset), rows in without_summaries(results).groupby(["name", "subset"], sort=False):
        empty = [f"{row.system} {row.n_empty}" for row in rows.itertuples() if row.n_empty]
        if empty:
            said = f"pairs in which a sentence has no vectors, scored 0: {', '.join(empty)}"
            notes.append(f"{name} {subset}: {said}.")
        first = next(rows.itertuples())
        count = paper.pair_count(first.label, subset)
        if count is not None and count not in (first.n_pairs, first.n_scored):
            notes.append(f"{name} {subset}: the paper has {count} pairs, this table {_pairs(first)}.")
    return notes + development_notes(results)


def _undefined_notes(found: "DataFrame", value: str, findings: Findings) -> list[str]:
    """How many resamples intervals and p-values leave out, where the column `value` has one."""
    notes = []
    lacking = found[found[value].notna() & (found.undefined_resamples > 0)]
    who = lacking.system + (" against " + lacking.against if "against" in lacking else "")
    counts = who + " " + lacking.undefined_resamples.astype(str)
    for (name, subset), each in counts.groupby([lacking.name, lacking.subset], sort=False):
        notes.append(
            f"{name} {subset}: resamples without a value, of {findings.bootstrap.resamples}, which intervals "
            f"and p-values leave out: {', '.join(each)}."
        )
    return notes
