"""The summary of a run: systems by data sets, in Markdown, LaTeX (booktabs) and CSV, with a legend.

A data set has one column: the mean of its subsets' correlations (similarity) or all of its pairs together
(roles); entailment has a column for each subset. Values are times 100, by the metric that the task is judged
by. Below them stands by how much `bove` exceeds each reference and baseline, with the adjusted p-value. The
legend has the captions and notes of all tables in Markdown: definitions, intervals, data, versions.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bove.bags import BASELINES, BOVE, ENCODED
from bove.evaluate.metrics import METRICS
from bove.evaluate.results import AGGREGATES, MEAN, TOGETHER, csv_text, parted, weighted
from bove.evaluate.tables import (
    ABSENT,
    FLOAT,
    HEAD,
    Cell,
    Findings,
    amount,
    below,
    best_and_marks,
    entered_note,
    latex_cell,
    latex_header,
    latex_line,
    latex_text,
    markdown_cell,
    markdown_table,
    marks_of,
    printed_p,
    references,
    task_tables,
)

if TYPE_CHECKING:
    from pandas import DataFrame

_METRICS = {
    "similarity": "Pearson's r of similarity (mean of subsets)",
    "entailment": "average precision of entailment",
    "roles": "accuracy of roles",
}
_COLUMNS = """The columns of the summary are the data sets: the *mean* of their subsets for similarity, *all
    pairs together* for roles, each subset for entailment. Rows *bove less* another system are differences, in
    the same unit, with the adjusted p-value in brackets; all differences are in differences.csv. The other
    tables have the subsets, intervals and further metrics. What follows is of the summary and of these."""
_MOST_LINES = 10  # of the table, at the end of a run
_MOST_COLUMNS = 6  # in print that is not the smallest
_CHOSEN = "*"  # behind data sets on which settings were chosen


class Column(NamedTuple):
    """A data set or a subset: its title, its place in the results, and its rows by system."""

    title: str
    task: str
    place: tuple[str, str]
    rows: dict[str, NamedTuple]


def summary_files(findings: Findings) -> dict[str, str]:
    """The table in three forms, and the legend, by name of their file."""
    columns = columns_of(findings.results)
    systems = list(dict.fromkeys(name for column in columns for name in column.rows))
    header, caption = ["", *(column.title for column in columns)], _caption(columns, findings)
    values = [
        [name, *cells] for name, cells in zip(systems, _values(systems, columns, findings), strict=True)
    ]
    compared = list(_differences(columns, findings))
    shown = [[name, *(f"{text} ({p})" if p else text for text, p in cells)] for name, cells in compared]
    lines = [[name, *map(markdown_cell, cells)] for name, *cells in values] + shown
    body = [latex_line([latex_text(name), *map(latex_cell, cells)]) for name, *cells in values]
    body += [r"\midrule"] if compared else []
    for name, cells in compared:
        own, _, other = name.partition(" less ")
        body.append(latex_line(map(latex_text, [f"{own} less", *(text for text, _ in cells)])))
        ps = (latex_text(f"({p})" if p else p) for _, p in cells)
        body.append(latex_line([rf"\quad {latex_text(other)}", *ps]))
    size = "footnotesize" if len(columns) <= _MOST_COLUMNS else "scriptsize"
    tex = "\n".join([*latex_header(header), r"\midrule", *body])
    below_it = rf"\caption{{{latex_text(caption)}}}" + "\n\\label{tab:summary}"
    return {
        "summary.md": f"# Summary\n\n{markdown_table(header, lines, 1)}{below(caption)}",
        "summary.tex": HEAD + FLOAT % (size, "3pt", "l" + "c" * len(columns), tex, below_it),
        "summary.csv": _csv(systems, columns),
        "legend.md": _legend(columns, findings),
    }


def ending(folder: str, summary: str) -> str:
    """What is said when a run is finished: its summary, which is text of summary.md, and what to do next."""
    table = [line for line in summary.split("\n") if line.startswith("|")]
    if len(table) > _MOST_LINES:
        table[_MOST_LINES - 1 :] = [
            f"… {len(table) - _MOST_LINES + 1} more lines in {folder}/tables/summary.md"
        ]
    caption = [text for text in summary.split("\n")[1:] if text and not text.startswith("|")]
    return "\n".join(
        [
            f"The run in {folder} is finished.",
            *("", *table, "", *caption, ""),
            f"Intervals, other metrics and figures are in {folder}; results/README.md says where. What next:",
            f"  bove embed sentences.txt --run {folder} -o vectors.npz    vectors of your sentences",
            f'  bove explain "a dog sees a cat" "a cat sees a dog" --run {folder}    why they score so',
            f"  make report RUN={folder}    the whole run on one page",
        ]
    )


def columns_of(results: "DataFrame") -> list[Column]:
    """The columns, tasks in the order of METRICS, data sets as in the results."""
    found = []
    for task, metric in METRICS.items():
        of_task = results[(results.task == task) & (results.metric == metric)]
        for _, of_dataset in of_task.groupby("dataset", sort=False):
            subsets = list(dict.fromkeys(of_dataset.subset))
            whole = next((name for name in (MEAN, TOGETHER) if name in subsets), None)
            chosen = [whole] if whole else [name for name in subsets if name not in AGGREGATES]
            for subset in chosen:
                rows = {row.system: row for row in of_dataset[of_dataset.subset == subset].itertuples()}
                row = next(iter(rows.values()))
                title = row.name if whole or len(chosen) == 1 else f"{row.name} {subset}"
                title += _CHOSEN if row.development else ""
                found.append(Column(title, task, (row.dataset, subset), rows))
    return found


def _values(systems: Sequence[str], columns: Sequence[Column], findings: Findings) -> list[list[Cell]]:
    """[systems][columns] cells; the best of a column is bold where there is another to beat."""
    sure = findings.differences[findings.differences.p_adjusted < findings.bootstrap.level]
    sure = sure[sure.metric == sure.task.map(METRICS)]
    marks = marks_of(references(findings.results), sure)
    cells: list[list[Cell]] = [[] for _ in systems]
    for column in columns:
        texts = {name: _times_100(row.value) for name, row in column.rows.items() if not np.isnan(row.value)}
        best = max(texts.values(), key=amount, default=None) if len(texts) > 1 else None
        for name, line in zip(systems, cells, strict=True):
            text = texts.get(name, ABSENT)
            note = entered_note(column.rows[name]).strip() if name in texts else ""
            line.append(Cell(text, text == best, marks[(*column.place, name)], note=note))
    return cells


def _differences(
    columns: Sequence[Column], findings: Findings
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """What is compared, and bove's difference with its p-value in each column."""
    by_place: dict[tuple, tuple[str, str]] = {}
    for row in findings.differences.dropna(subset="difference").itertuples():
        if row.metric == METRICS[row.task]:
            for sign, sides in ((1, (row.system, row.against)), (-1, (row.against, row.system))):
                text = _times_100(sign * row.difference)
                text = f"+{text}" if amount(text) > 0 else text
                by_place[(row.dataset, row.subset, *sides)] = text, printed_p(row.p_adjusted)
    systems = list(findings.results.system.unique())
    own = next((name for name in systems if parted(name)[0] == BOVE), BOVE)
    plain = dict.fromkeys(parted(system)[0] for system in systems)
    baselines = [name for name in plain if name in BASELINES or name.endswith(ENCODED)]
    for other in dict.fromkeys([*references(findings.results), *baselines]):
        alike = weighted(other, parted(own)[1])
        sides = own, alike if alike in systems else other
        cells = [by_place.get((*column.place, *sides), (ABSENT, "")) for column in columns]
        if any(p for _, p in cells):
            yield " less ".join(sides), cells


def _times_100(value: float) -> str:
    text = f"{100 * value:.1f}"
    return text.removeprefix("-") if float(text) == 0 else text


def _caption(columns: Sequence[Column], findings: Findings) -> str:
    """At most 40 words."""
    tasks = dict.fromkeys(column.task for column in columns)
    said = ", ".join(_METRICS[task] for task in tasks) + ", times 100"
    if findings.results.system.nunique() > 1:
        said += f"; {best_and_marks(references(findings.results), findings.bootstrap.level)}; p in brackets"
    chosen = any(column.title.endswith(_CHOSEN) for column in columns)
    return f"{said}." + (f" {_CHOSEN}: settings were chosen on it." if chosen else "")


def _csv(systems: Sequence[str], columns: Sequence[Column]) -> str:
    """Values in full precision, not times 100."""
    import pandas as pd

    found = {
        column.title.removesuffix(_CHOSEN): [
            getattr(column.rows.get(name), "value", np.nan) for name in systems
        ]
        for column in columns
    }
    return csv_text(pd.DataFrame({"system": systems, **found}))


def _legend(columns: Sequence[Column], findings: Findings) -> str:
    """The caption and the notes of each table of values or differences, by task."""
    parts = ["# Legend\n", f"{' '.join(_COLUMNS.split())}\n"]
    for task in dict.fromkeys(column.task for column in columns):
        for t, table in enumerate(task_tables(task, findings)):
            parts.append(f"{'###' if t else '##'} {table.title}\n{below(table.caption, table.notes)}")
    return "\n".join(parts)
