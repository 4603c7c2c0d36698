"""The tables of one task, in the shape of the paper's two: a row for each subset, a column for each system.

First comes the metric that the task is judged by, with the paper's own figures where a data set's label and a
subset's name are those of the paper; then the differences between systems; then the other metrics.
"""

from collections.abc import Sequence

from bove.evaluate import paper
from bove.evaluate.captions import (
    MARKS,
    Findings,
    differences_caption,
    metric_caption,
    references,
    row_notes,
    subsets_of,
    table_title,
    undefined_notes,
)
from bove.evaluate.layout import Cell, Row, Table, latex, markdown
from bove.evaluate.metrics import MEASURES, METRICS
from bove.evaluate.results import AGGREGATES, MEAN, WEIGHTED_MEAN, Result
from bove.evaluate.statistics import Difference
from bove.evaluate.tables import (
    ABSENT,
    amount,
    dataset_cell,
    entered_note,
    pairs_cell,
    printed,
    undefined,
)

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
                marks=_marks(result, findings),
                interval=_interval(metric, result.low, result.high) if bounded else "",
                note=entered_note(result, n_subsets).strip(),
            )
        )
    return cells


def _marks(result: Result, findings: Findings) -> str:
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
