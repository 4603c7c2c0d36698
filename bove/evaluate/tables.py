"""What all tables share: Markdown, numbers in print, and how data sets, subsets and pairs are named."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, zip_longest
from textwrap import wrap

from bove.evaluate import paper
from bove.evaluate.metrics import MEASURES, METRICS
from bove.evaluate.results import AGGREGATES, MEAN, TOGETHER, WEIGHTED_MEAN, Result
from bove.evaluate.statistics import Bootstrap, Difference

UNDEFINED = "undefined"
ABSENT = "-"
_PERCENT = ("average-precision", "roc-auc")


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], n_text: int) -> str:
    """A pipe table; the first n_text columns are left-aligned, the others right-aligned."""
    lines = [[escape(cell) for cell in row] for row in (header, *rows)]
    widths = [max(3, *(len(cell) for cell in column)) for column in zip(*lines, strict=True)]
    rule = ["-" * w if c < n_text else "-" * (w - 1) + ":" for c, w in enumerate(widths)]
    pad = [str.ljust if c < n_text else str.rjust for c in range(len(widths))]
    padded = [[p(cell, w) for p, cell, w in zip(pad, line, widths, strict=True)] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in (padded[0], rule, *padded[1:])) + "\n"


def dataset_cell(dataset: str, labels: Mapping[str, str], development: Collection[str]) -> str:
    """The data set's name in print, marked where choices were made on it."""
    return dataset_name(dataset, labels) + (" (development)" if dataset in development else "")


def dataset_name(dataset: str, labels: Mapping[str, str]) -> str:
    """The label, with the data set's name where another one has the same label."""
    label = labels[dataset]
    return label if list(labels.values()).count(label) == 1 else f"{label} ({dataset})"


def pairs_cell(result: Result) -> str:
    """How many pairs are scored, and of how many."""
    if result.n_scored == result.n_pairs:
        return str(result.n_pairs)
    return f"{result.n_scored} of {result.n_pairs}"


def entered_note(result: Result, n_subsets: int) -> str:
    """How many subsets a mean is over, in brackets, where some are undefined; empty elsewhere."""
    if result.subset not in (MEAN, WEIGHTED_MEAN) or result.entered >= n_subsets:
        return ""
    return f" ({result.entered} of {n_subsets} subsets defined)"


def undefined(result: Result) -> str:
    """What stands in place of a value that there is none of, with the reason, but for means."""
    if result.subset in (MEAN, WEIGHTED_MEAN):
        return UNDEFINED
    return undefined_value(result.metric, result.n_scored)


def undefined_value(metric: str, n: int) -> str:
    """The same of a metric of n pairs."""
    if n < 2:
        return f"{UNDEFINED} ({'one pair' if n else 'no pair'})"
    return f"{UNDEFINED} ({'one class' if metric in _PERCENT else 'constant'})"


def number(task: str, value: float) -> str:
    """A value of the task's own metric in print."""
    return printed(METRICS[task], value)


def printed(metric: str, value: float) -> str:
    """A value in print: correlations with 4 decimals, rankings in percent with 2; never -0."""
    text = f"{100 * value:.2f}%" if metric in _PERCENT else f"{value:.4f}"
    return text.removeprefix("-") if amount(text) == 0 else text


def amount(text: str) -> float:
    """The number that a value in print stands for."""
    return float(text.removesuffix("%"))


def development_notes(
    datasets: Iterable[str], labels: Mapping[str, str], development: Collection[str]
) -> list[str]:
    """What to know where choices were made on a data set: a note, or none."""
    chosen = [dataset_name(dataset, labels) for dataset in datasets if dataset in development]
    if not chosen:
        return []
    whose = "its" if len(chosen) == 1 else "their"
    return [f"Hyperparameters were chosen on {', '.join(chosen)}: {whose} results are optimistic."]


def escape(text: str) -> str:
    """Text that can not break a table or a list."""
    return text.replace("|", "\\|").replace("\n", " ")


# Tables in two forms: Markdown to be read, and LaTeX (booktabs) to be put into a paper.
#
# Captions and notes are plain text in which *a phrase* is emphasised. Everything is escaped for its form:
# no
# text from a file can break a table.

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "†": r"\textdagger{}",
    "‡": r"\textdaggerdbl{}",
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
}
_EMPHASIS = re.compile(r"(?<!\w)\*(\S(?:[^*]*\S)?)\*(?!\w)")
_NUMBER = re.compile(r"-(?=\d)")
# What captions call the table that says what holds for those after it too.
FIRST = "the first table"
_NAME_WIDTH = 11  # characters in a line of a column's name
_MOST_COLUMNS = 5  # beside which there is room for both ends of an interval in one line
_MOST_LINES = 32  # of a float's rows, so that it has room on a page
# Of small print; of three sizes the first that fits the page's width is taken.
_FIT = r"""\providecommand{\bovefit}[1]{\begingroup\setlength{\tabcolsep}{3pt}%
  \let\boveprint\scriptsize\sbox0{\footnotesize#1}%
  \ifdim\wd0>\textwidth\let\boveprint\tiny\sbox0{\scriptsize#1}\fi
  \ifdim\wd0>\textwidth\setlength{\tabcolsep}{1.5pt}\sbox0{\tiny#1}\fi
  \usebox0\endgroup}
"""
_NUMBER_IN_TEXT = re.compile(r"(?<!\S)-(?=\d)")  # not the hyphen of STS-2014


@dataclass(frozen=True, slots=True)
class Cell:
    """A value in print, with its interval, the marks behind it, and what must be known about it."""

    text: str
    bold: bool = False
    marks: str = ""
    interval: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A row.

    Attributes:
        dataset, subset: names.
        detail: what must be known about the subset, or "".
        pairs: how many there are.
        names: what else says which row it is.
        cells: the values.
    """

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
        rows: rows of one data set stand together.
        caption, notes: below the table; in LaTeX the notes end the caption. FIRST stands for another table.
        names: header of the rows' names.
    """

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Row]
    caption: str
    notes: Sequence[str] = ()
    names: Sequence[str] = ()


def markdown(tables: Sequence[Table]) -> str:
    """All tables, the first under the highest heading."""
    return "\n".join(_markdown(table, "#" if t == 0 else "##") for t, table in enumerate(tables))


def latex(tables: Sequence[Table]) -> str:
    """All tables as floats that need the package booktabs and nothing else, and fit the page's width: in
    `article`, five systems beside the paper's.

    A table of many rows is several floats, which end with a data set where that is possible.
    """
    head = "% Put into a document with \\input; it needs \\usepackage{booktabs}.\n"
    first = rf"Table~\ref{{tab:{tables[0].name}}}" if tables else ""
    return head + _FIT + "\n".join(part for table in tables for part in _latex(table, first))


def latex_text(text: str) -> str:
    """Text for LaTeX: what is special there is escaped, *a phrase* emphasised."""
    escaped = "".join(_SPECIAL.get(mark, mark) for mark in " ".join(text.split()))
    return _EMPHASIS.sub(r"\\emph{\1}", escaped)


def _markdown(table: Table, level: str) -> str:
    header = ["data set", "subset", *table.names, "pairs", *table.columns]
    rows = []
    for row in table.rows:
        subset = f"{row.subset} ({row.detail})" if row.detail else row.subset
        rows.append([row.dataset, subset, *row.names, row.pairs, *map(_markdown_cell, row.cells)])
    body = markdown_table(header, rows, 2 + len(table.names))
    text = f"{level} {table.title}\n\n{body}\n{escape(table.caption)}\n"
    notes = "".join(f"* {escape(note)}\n" for note in table.notes)
    return f"{text}\n{notes}" if notes else text


def _markdown_cell(cell: Cell) -> str:
    text = f"**{cell.text}**" if cell.bold else cell.text
    return " ".join(part for part in (text + cell.marks, cell.interval, cell.note) if part)


def _latex(table: Table, first: str) -> Iterator[str]:
    """The floats of a table, of which the first has the caption."""
    header = ["subset", *table.names, *table.columns]
    columns = "l" * (1 + len(table.names)) + "c" * len(table.columns)
    caption = " ".join(latex_text(text) for text in (table.caption, *table.notes))
    caption = _NUMBER_IN_TEXT.sub("$-$", caption).replace(FIRST, first)
    title, label = latex_text(table.title), rf"\label{{tab:{table.name}}}"
    stacked = len(table.columns) > _MOST_COLUMNS
    for part, rows in enumerate(_parts(table.rows, _MOST_LINES // (3 if stacked else 2))):
        lines = _latex_header(header)
        for dataset, of_dataset in groupby(rows, lambda row: row.dataset):
            above = rf"\emph{{{latex_text(dataset)}}}"
            lines += [r"\midrule", rf"\multicolumn{{{len(header)}}}{{@{{}}l}}{{{above}}} \\"]
            lines += [line for row in of_dataset for line in _latex_row(row, stacked)]
        said = rf"\caption[{{{title}}}]{{\footnotesize {caption}}}"
        if part:
            said, label = rf"\caption[]{{\footnotesize {title}, continued.}}", ""
        yield "\n".join(
            [
                r"\begin{table*}",
                r"\centering",
                rf"\bovefit{{\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
                r"\toprule",
                *lines,
                r"\bottomrule",
                r"\end{tabular}}",
                said,
                *([label] if label else []),
                r"\end{table*}",
                "",
            ]
        )


def _parts(rows: Sequence[Row], most: int) -> Iterator[list[Row]]:
    """Rows by float, at most so many: whole data sets, or parts of one."""
    part: list[Row] = []
    for _, group in groupby(rows, lambda row: row.dataset):
        of_dataset = list(group)
        if part and len(part) + len(of_dataset) > most:
            yield part
            part = []
        part += of_dataset
        while len(part) > most:
            yield part[:most]
            part = part[most:]
    yield part


def _latex_header(names: Sequence[str]) -> list[str]:
    """As many lines as the longest name needs; what stands before a colon has a line of its own."""
    parts = [[line for part in name.split(": ") for line in wrap(part, _NAME_WIDTH)] for name in names]
    height = max(map(len, parts))
    padded = [[""] * (height - len(part)) + part for part in parts]
    return [_line(map(latex_text, line)) for line in zip(*padded, strict=True)]


def _latex_row(row: Row, stacked: bool) -> list[str]:
    """The values; below them, in small print, their intervals, and below the subset how many pairs it has.

    Where `stacked`, the ends of an interval stand below each other.
    """
    detail = ", ".join(part for part in (row.detail, f"{row.pairs} pairs") if part)
    values = [*map(latex_text, (row.subset, *row.names)), *map(_latex_cell, row.cells)]
    intervals = [cell.interval.split(" ") if stacked else [cell.interval] for cell in row.cells]
    lines = [values]
    for number, ends in enumerate(zip_longest(*intervals, fillvalue="")):
        names = ["" if number else latex_text(detail), *[""] * len(row.names)]
        lines.append([_small(text) for text in (*names, *(_minus(latex_text(end)) for end in ends))])
    return list(map(_line, lines))


def _small(text: str) -> str:
    return rf"{{\boveprint {text}}}" if text else ""


def _latex_cell(cell: Cell) -> str:
    text = _minus(latex_text(cell.text))
    text = rf"\textbf{{{text}}}" if cell.bold else text
    # marks take no room, so that the digits stand below each other
    marks = rf"\rlap{{\textsuperscript{{{latex_text(cell.marks)}}}}}" if cell.marks else ""
    return " ".join(part for part in (text + marks, latex_text(cell.note)) if part)


def _minus(text: str) -> str:
    """Numbers with a minus sign in place of a hyphen."""
    return _NUMBER.sub("$-$", text)


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


# Captions and notes of the result tables: every choice behind a figure, said where the figure stands.

# Systems that the others are held against, where they are scored, and what marks a difference from each.
REFERENCES = ("word-vectors", "properties-only")
MARKS = "†‡"
_TITLES = {
    "similarity": "Semantic textual similarity",
    "entailment": "Textual entailment",
    "differences": "Differences between systems",
    "spearman": "Rank correlation",
    "roc-auc": "Area under the ROC curve",
    "length-correlation": "Correlation with length",
}
_SUMMARIES = (
    f"*{MEAN}* is the unweighted mean of the subsets' correlations, *{WEIGHTED_MEAN}* weights them by their "
    f"scored pairs, *{TOGETHER}* is one correlation over all of a data set's pairs."
)
_CAPTIONS = {
    "pearson": (
        "Pearson's correlation between the gold scores and STS(S1, S2), the harmonic mean of the alignment "
        "scores of both directions (0 where their sum is not positive). Pairs without a gold score are "
        f"left out. {_SUMMARIES}"
    ),
    "spearman": f"Spearman's rank correlation between the gold scores and STS(S1, S2). {_SUMMARIES}",
    "average-precision": (
        "Average precision, in percent, of the ranking of the pairs by SNLI(S1, S2), how well the first "
        "sentence entails the second. The positive class is *entailment*, against *neutral* and "
        "*contradiction* together; pairs of one score share a threshold. Pairs without a gold label are "
        "left out."
    ),
    "roc-auc": (
        "Area under the ROC curve, in percent, of the same ranking: how often a pair of the class "
        "*entailment* is scored above one of the other classes; 50% is chance."
    ),
    "length-correlation": (
        "Pearson's correlation between SNLI(S1, S2) and the length of the second sentence, in tokens that "
        "take part in the alignment. Scores that do not depend on length have 0."
    ),
}


@dataclass(frozen=True)
class Findings:
    """What the tables of a run are made of.

    Attributes:
        results, differences: of all tasks, metrics and data sets; p-values adjusted.
        labels: name in print of each data set.
        development: data sets on which choices were made.
        notes: what else stands below a task's first table, or below a metric's, by its name.
        bootstrap: behind intervals and p-values; None where there are none.
        origin: sentences on versions and models.
    """

    results: Sequence[Result]
    labels: Mapping[str, str]
    development: Collection[str] = ()
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    differences: Sequence[Difference] = ()
    bootstrap: Bootstrap | None = None
    origin: str = ""


def table_title(name: str) -> str:
    """The heading of a task's first table, or of a further one."""
    return _TITLES[name]


def subsets_of(dataset: str, results: Iterable[Result]) -> list[str]:
    """The data set's subsets, summaries left out."""
    return list(
        dict.fromkeys(r.subset for r in results if r.dataset == dataset and r.subset not in AGGREGATES)
    )


def references(task: str, findings: Findings) -> list[str]:
    """The systems that marks stand for: those of REFERENCES, or else the first."""
    systems = list(dict.fromkeys(r.system for r in findings.results if r.task == task))
    return [name for name in REFERENCES if name in systems] or systems[:1]


def metric_caption(task: str, metric: str, findings: Findings, published: bool) -> str:
    """What stands in a table of values."""
    results = [r for r in findings.results if (r.task, r.metric) == (task, metric)]
    several = len({result.system for result in results}) > 1
    parts = [_CAPTIONS[metric]]
    if several and metric != "length-correlation":
        parts.append("The best system of each row is bold.")
    if published:
        parts.append(
            "The columns *paper* hold the figures of Popa and Henderson (2017), from other training data; "
            "they are not in the contest for bold."
        )
    main = metric == METRICS[task]
    if findings.bootstrap and main:
        parts.append(_intervals(findings.bootstrap))
        parts.append(_marks(task, findings) if several else "")
    elif findings.bootstrap:
        parts.append(f"Intervals{' and marks' if several else ''} are made as in {FIRST}.")
    if main:
        parts += [_data(results, findings), findings.origin]
    return " ".join(part for part in parts if part)


def differences_caption(metric: str, findings: Findings) -> str:
    """What stands in the table of differences."""
    unit = "percentage points" if metric == "average-precision" else "Pearson's correlation"
    return (
        f"Differences, in {unit}: above 0, *system* is better than *against*. {_tests(findings.bootstrap)} "
        "There is no difference where a value is undefined, nor between means over different subsets. The "
        "differences on all subsets, between all systems and by all metrics are in differences.csv, in full "
        "precision."
    )


def _intervals(bootstrap: Bootstrap) -> str:
    few = f" So few make rough intervals of this level; take at least {bootstrap.least}."
    return (
        f"In brackets stand {100 * bootstrap.confidence:g}% intervals: percentiles of {bootstrap.resamples} "
        "resamples of the pairs, drawn with replacement within each subset "
        f"(seed {bootstrap.seed}), the same for all systems."
        f"{few if bootstrap.resamples < bootstrap.least else ''}"
    )


def _tests(bootstrap: Bootstrap) -> str:
    return (
        f"Intervals are made as in {FIRST}. *p* is two-sided, from the same resamples, and can not fall "
        f"below {2 / (bootstrap.resamples + 1):.2g}. *adjusted p* allows for testing many differences: it is "
        "*p* after Benjamini and Hochberg's procedure over all comparisons by this metric, of all systems, "
        "subsets and summaries of this task. Both speak of other pairs like these, not of models trained "
        "with other seeds."
    )


def _marks(task: str, findings: Findings) -> str:
    pairs = zip(MARKS, references(task, findings), strict=False)
    named = " and ".join(f"{mark} a system that differs from *{name}*" for mark, name in pairs)
    return (
        f"Marked are, by {named}, for better or worse, where the paired two-sided p-value from these "
        f"resamples is below {findings.bootstrap.level:g} after Benjamini and Hochberg's adjustment for all "
        "comparisons by this metric."
    )


def _data(results: Sequence[Result], findings: Findings) -> str:
    """How many pairs of each data set count and are left out."""
    counts = []
    for dataset in dict.fromkeys(result.dataset for result in results):
        subsets = {r.subset: r for r in results if r.dataset == dataset and r.subset not in AGGREGATES}
        n_pairs, n_scored = (
            sum(getattr(r, name) for r in subsets.values()) for name in ("n_pairs", "n_scored")
        )
        name = dataset_name(dataset, findings.labels)
        counts.append(f"{name} ({n_scored} pairs scored, {n_pairs - n_scored} left out)")
    return f"Data: {', '.join(counts)}."


def row_notes(results: Sequence[Result], findings: Findings) -> list[str]:
    """What a reader must know about single rows: empty bags, other pair counts, where choices were made."""
    notes = []
    rows: dict[tuple[str, str], dict[str, Result]] = {}
    for result in results:
        if result.subset not in AGGREGATES:
            rows.setdefault((result.dataset, result.subset), {})[result.system] = result
    for (dataset, subset), row in rows.items():
        where = f"{dataset_name(dataset, findings.labels)} {subset}"
        empty = [f"{system} {result.n_empty}" for system, result in row.items() if result.n_empty]
        if empty:
            notes.append(f"{where}: pairs in which a sentence has no vectors, scored 0: {', '.join(empty)}.")
        count = paper.pair_count(findings.labels[dataset], subset)
        found = next(iter(row.values()))
        if count is not None and count not in (found.n_pairs, found.n_scored):
            notes.append(f"{where}: the paper has {count} pairs, this table {pairs_cell(found)}.")
    if not any(result.n_empty for result in results):
        notes.insert(0, "No scored pair has a sentence without vectors.")
    datasets = dict.fromkeys(result.dataset for result in results)
    return notes + development_notes(datasets, findings.labels, findings.development)


def undefined_notes(found: Sequence[Result | Difference], findings: Findings) -> list[str]:
    """Of how many resamples intervals and p-values lack a value, where values have one."""
    if findings.bootstrap is None:
        return []
    counts: dict[str, list[str]] = {}
    for row in found:
        value = row.value if isinstance(row, Result) else row.difference
        if value is not None and row.undefined_resamples:
            where = f"{dataset_name(row.dataset, findings.labels)} {row.subset}"
            system = row.system if isinstance(row, Result) else f"{row.system} against {row.against}"
            counts.setdefault(where, []).append(f"{system} {row.undefined_resamples}")
    return [
        f"{where}: resamples without a value, of {findings.bootstrap.resamples}, which intervals and "
        f"p-values leave out: {', '.join(each)}."
        for where, each in counts.items()
    ]


# The tables of one task, in the shape of the paper's two: a row for each subset, a column for each system.
#
# First comes the metric that the task is judged by, with the paper's own figures where a data set's label
# and a
# subset's name are those of the paper; then the differences between systems; then the other metrics.

FILES = {"similarity": "sts", "entailment": "snli"}


def task_files(task: str, findings: Findings) -> dict[str, str]:
    """The task's tables in Markdown and LaTeX, by name of their file."""
    tables = task_tables(task, findings)
    name = FILES[task]
    if not tables:
        said = "No data set of this task was scored."
        return {f"{name}.md": f"# {table_title(task)}\n\n{said}\n", f"{name}.tex": f"% {said}\n"}
    return {f"{name}.md": markdown(tables), f"{name}.tex": latex(tables)}


def task_tables(task: str, findings: Findings) -> list[Table]:
    """The tables of one task; none where no data set of it was scored. Rows and columns keep their order."""
    metrics = [m for m in MEASURES[task] if any((r.task, r.metric) == (task, m) for r in findings.results)]
    tables = [_metric_table(task, metric, findings) for metric in metrics]
    if any((d.task, d.metric) == (task, METRICS[task]) for d in findings.differences):
        tables.insert(1, _differences_table(task, findings))
    return tables


def _metric_table(task: str, metric: str, findings: Findings) -> Table:
    results = [r for r in findings.results if (r.task, r.metric) == (task, metric)]
    systems = list(dict.fromkeys(result.system for result in results))
    rows: dict[tuple[str, str], dict[str, Result]] = {}
    for result in results:
        rows.setdefault((result.dataset, result.subset), {})[result.system] = result
    main = metric == METRICS[task]
    published = _published(results, findings) if main else {}
    columns = [*systems, *(f"paper: {name}" for name in paper.SYSTEMS if published)]
    body = []
    for (dataset, subset), row in rows.items():
        n_subsets = len(subsets_of(dataset, results))
        cells = _value_cells(metric, row, systems, n_subsets, findings)
        if published:
            figures = published.get((dataset, subset), [None] * len(paper.SYSTEMS))
            cells += [Cell(ABSENT if x is None else printed(metric, x)) for x in figures]
        body.append(_row(next(iter(row.values())), n_subsets, cells, findings))
    notes = [*row_notes(results, findings), *findings.notes.get(task, ())] if main else []
    notes += findings.notes.get(metric, ())
    return Table(
        f"{FILES[task]}-{metric}",
        table_title(task if main else metric),
        columns,
        body,
        metric_caption(task, metric, findings, bool(published)),
        [*notes, *undefined_notes(results, findings)],
    )


def _differences_table(task: str, findings: Findings) -> Table:
    """The systems against those that marks stand for, on the summaries, or else on the subsets."""
    metric, held = METRICS[task], references(task, findings)
    results = [r for r in findings.results if (r.task, r.metric) == (task, metric)]
    of_row = {(r.dataset, r.subset): r for r in results}
    summarised = {r.dataset for r in results if r.subset in AGGREGATES}
    shown = [
        d
        for d in findings.differences
        if (d.task, d.metric) == (task, metric)
        and (d.system in held or d.against in held)
        and (d.subset in AGGREGATES or d.dataset not in summarised)
    ]
    body = []
    for d in shown:
        cells = [_difference_cell(d), Cell(_p(d.p_value)), Cell(_p(d.p_adjusted))]
        n_subsets = len(subsets_of(d.dataset, results))
        body.append(_row(of_row[d.dataset, d.subset], n_subsets, cells, findings, (d.system, d.against)))
    return Table(
        f"{FILES[task]}-differences",
        table_title("differences"),
        ["difference", "p", "adjusted p"],
        body,
        differences_caption(metric, findings),
        undefined_notes(shown, findings),
        ["system", "against"],
    )


def _row(result: Result, n_subsets: int, cells, findings: Findings, names: Sequence[str] = ()) -> Row:
    """The row of a subset or a summary, which any system's result names."""
    means = result.subset in (MEAN, WEIGHTED_MEAN)
    detail = f"of {n_subsets} subset{'s' if n_subsets > 1 else ''}" if means else ""
    name = dataset_cell(result.dataset, findings.labels, findings.development)
    return Row(name, result.subset, detail, pairs_cell(result), cells, names)


def _published(results: Sequence[Result], findings: Findings) -> dict[tuple[str, str], tuple[float, float]]:
    """The paper's figures for the rows that it has."""
    found = {}
    for result in results:
        subsets = subsets_of(result.dataset, results)
        figures = paper.figures(findings.labels[result.dataset], result.subset, subsets)
        if figures:
            found[result.dataset, result.subset] = figures
    return found


def _value_cells(metric, row: dict[str, Result], systems, n_subsets, findings: Findings) -> list[Cell]:
    """A cell for each system; the best printed value is bold where there is another to beat."""
    texts = {name: printed(metric, r.value) for name, r in row.items() if r.value is not None}
    best = max(texts.values(), key=amount, default=None) if metric != "length-correlation" else None
    cells = []
    for system in systems:
        if system not in row:
            cells.append(Cell(ABSENT))
            continue
        result = row[system]
        text = texts.get(system) or undefined(result)
        bounded = findings.bootstrap is not None and result.value is not None
        cells.append(
            Cell(
                text,
                bold=len(texts) > 1 and text == best,
                marks=_table_marks(result, findings),
                interval=_interval(metric, result.low, result.high) if bounded else "",
                note=entered_note(result, n_subsets).strip(),
            )
        )
    return cells


def _table_marks(result: Result, findings: Findings) -> str:
    """A mark for each reference system that the result differs from; of two of these the later is marked."""
    marks = ""
    for mark, name in zip(MARKS, references(result.task, findings), strict=False):
        if name == result.system:
            break
        marks += mark if _differs(result, name, findings) else ""
    return marks


def _differs(result: Result, other: str, findings: Findings) -> bool:
    row = (result.task, result.dataset, result.subset, result.metric)
    return any(
        (d.task, d.dataset, d.subset, d.metric) == row
        and {d.system, d.against} == {result.system, other}
        and d.p_adjusted is not None
        and d.p_adjusted < findings.bootstrap.level
        for d in findings.differences
    )


def _interval(metric: str, low: float | None, high: float | None) -> str:
    if low is None:
        return "[no interval]"
    return "[{}, {}]".format(*(printed(metric, x).removesuffix("%") for x in (low, high)))


def _difference_cell(difference: Difference) -> Cell:
    if difference.difference is None:
        return Cell("undefined")
    text = printed(difference.metric, difference.difference).removesuffix("%")
    interval = _interval(difference.metric, difference.low, difference.high)
    return Cell(f"+{text}" if amount(text) > 0 else text, interval=interval)


def _p(value: float | None) -> str:
    if value is None:
        return ABSENT
    return f"{value:.3f}" if value >= 0.0005 else "<0.001"
