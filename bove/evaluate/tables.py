"""Markdown tables in the shape of the paper's two: a row for each subset, a column for each system.

Beside the systems stand the paper's own figures, where a data set's label and a subset's name are those of
the paper.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from bove.evaluate import paper
from bove.evaluate.results import AGGREGATES, MEAN, TOGETHER, WEIGHTED_MEAN, Result

UNDEFINED = "undefined (constant)"
ABSENT = "-"
_TITLES = {"similarity": "Semantic textual similarity", "entailment": "Textual entailment"}
_CAPTIONS = {
    "similarity": (
        "Pearson's correlation between the gold scores and STS(S1, S2), the harmonic mean of the alignment "
        "scores of both directions (0 where their sum is not positive). Pairs without a gold score are "
        f"left out. *{MEAN}* is the unweighted mean of the subsets' correlations, *{WEIGHTED_MEAN}* weights "
        f"them by their scored pairs, *{TOGETHER}* is one correlation over all of a data set's pairs."
    ),
    "entailment": (
        "Average precision, in percent, of the ranking of the pairs by SNLI(S1, S2), how well the first "
        "sentence entails the second. The positive class is *entailment*, against *neutral* and "
        "*contradiction* together; pairs of one score share a threshold. Pairs without a gold label are "
        "left out."
    ),
}


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], n_text: int) -> str:
    """A pipe table; the first n_text columns are left-aligned, the others right-aligned."""
    lines = [[escape(cell) for cell in row] for row in (header, *rows)]
    widths = [max(3, *(len(cell) for cell in column)) for column in zip(*lines, strict=True)]
    rule = ["-" * w if c < n_text else "-" * (w - 1) + ":" for c, w in enumerate(widths)]
    pad = [str.ljust if c < n_text else str.rjust for c in range(len(widths))]
    padded = [[p(cell, w) for p, cell, w in zip(pad, line, widths, strict=True)] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in (padded[0], rule, *padded[1:])) + "\n"


def task_table(
    task: str,
    results: Sequence[Result],
    labels: Mapping[str, str],
    development: Collection[str] = (),
    notes: Sequence[str] = (),
) -> str:
    """The table of one task, with its title, caption and notes.

    Args:
        task: "similarity" or "entailment".
        results: of any tasks; rows and columns keep their order.
        labels: name in print of each data set.
        development: data sets on which choices were made.
        notes: what other stages have to say about the task's results.
    """
    title = f"# {_TITLES[task]}\n\n"
    results = [result for result in results if result.task == task]
    if not results:
        return f"{title}No data set of this task was scored.\n"
    systems = list(dict.fromkeys(result.system for result in results))
    rows: dict[tuple[str, str], dict[str, Result]] = {}
    for result in results:
        rows.setdefault((result.dataset, result.subset), {})[result.system] = result
    published = _published(rows, labels)
    header = ["data set", "subset", "pairs", *systems]
    header += [f"paper: {name}" for name in paper.SYSTEMS] if published else []
    body = []
    for (dataset, subset), row in rows.items():
        n_subsets = sum(name == dataset and part not in AGGREGATES for name, part in rows)
        any_result = next(iter(row.values()))
        cells = [dataset_cell(dataset, labels, development), _subset_cell(subset, n_subsets)]
        cells += [_pairs_cell(any_result), *_value_cells(row, systems, n_subsets)]
        if published:
            figures = published.get((dataset, subset))
            cells += [number(task, x) for x in figures] if figures else [ABSENT] * len(paper.SYSTEMS)
        body.append(cells)
    caption = _caption(task, len(systems), bool(published))
    listed = [*_notes(rows, labels, development), *map(escape, notes)]
    return f"{title}{markdown_table(header, body, 2)}\n{caption}\n\n" + "".join(f"* {n}\n" for n in listed)


def _published(rows, labels) -> dict[tuple[str, str], tuple[float, float]]:
    """The paper's figures for the rows that it has."""
    found = {}
    for dataset, subset in rows:
        subsets = [part for name, part in rows if name == dataset and part not in AGGREGATES]
        figures = paper.figures(labels[dataset], subset, subsets)
        if figures:
            found[dataset, subset] = figures
    return found


def dataset_cell(dataset: str, labels: Mapping[str, str], development: Collection[str]) -> str:
    """The data set's name in print, marked where choices were made on it."""
    return dataset_name(dataset, labels) + (" (development)" if dataset in development else "")


def dataset_name(dataset: str, labels: Mapping[str, str]) -> str:
    """The label, with the data set's name where another one has the same label."""
    label = labels[dataset]
    return label if list(labels.values()).count(label) == 1 else f"{label} ({dataset})"


def _subset_cell(subset, n_subsets) -> str:
    if subset in (MEAN, WEIGHTED_MEAN):
        return f"{subset} (of {n_subsets} subset{'s' if n_subsets > 1 else ''})"
    return subset


def _pairs_cell(result: Result) -> str:
    if result.n_scored == result.n_pairs:
        return str(result.n_pairs)
    return f"{result.n_scored} of {result.n_pairs}"


def _value_cells(row: Mapping[str, Result], systems: Sequence[str], n_subsets: int) -> list[str]:
    """A cell for each system; the best printed value is bold where there is another to beat."""
    printed = {name: number(r.task, r.value) for name, r in row.items() if r.value is not None}
    best = max(printed.values(), key=_amount, default=None)
    cells = []
    for system in systems:
        cell = printed.get(system, UNDEFINED if system in row else ABSENT)
        if len(printed) > 1 and cell == best:
            cell = f"**{cell}**"
        cells.append(cell + (entered_note(row[system], n_subsets) if system in row else ""))
    return cells


def entered_note(result: Result, n_subsets: int) -> str:
    """How many subsets a mean is over, in brackets, where some are undefined; empty elsewhere."""
    if result.subset not in (MEAN, WEIGHTED_MEAN) or result.entered >= n_subsets:
        return ""
    return f" ({result.entered} of {n_subsets} subsets defined)"


def number(task: str, value: float) -> str:
    """A value in print: 4 decimals for similarity, percent with 2 for entailment; never -0."""
    text = f"{value:.4f}" if task == "similarity" else f"{100 * value:.2f}%"
    return text.removeprefix("-") if _amount(text) == 0 else text


def _amount(text: str) -> float:
    return float(text.removesuffix("%"))


def _caption(task: str, n_systems: int, published: bool) -> str:
    parts = [_CAPTIONS[task]]
    if n_systems > 1:
        parts.append("The best system of each row is bold.")
    if published:
        parts.append(
            "The columns *paper* hold the figures of Popa and Henderson (2017), from other training data; "
            "they are not in the contest for bold."
        )
    return " ".join(parts)


def _notes(rows, labels, development) -> list[str]:
    """What a reader must know about single rows: empty bags, other pair counts, where choices were made."""
    notes = []
    for (dataset, subset), row in rows.items():
        if subset in AGGREGATES:
            continue
        where = f"{dataset_name(dataset, labels)} {subset}"
        empty = [f"{system} {result.n_empty}" for system, result in row.items() if result.n_empty]
        if empty:
            notes.append(f"{where}: pairs in which a sentence has no vectors, scored 0: {', '.join(empty)}.")
        count = paper.pair_count(labels[dataset], subset)
        found = next(iter(row.values()))
        if count is not None and count not in (found.n_pairs, found.n_scored):
            notes.append(f"{where}: the paper has {count} pairs, this table {_pairs_cell(found)}.")
    if not any(result.n_empty for row in rows.values() for result in row.values()):
        notes.insert(0, "No scored pair has a sentence without vectors.")
    notes += development_notes(dict.fromkeys(name for name, _ in rows), labels, development)
    return [escape(note) for note in notes]


def development_notes(
    datasets: Iterable[str], labels: Mapping[str, str], development: Collection[str]
) -> list[str]:
    """What to know where choices were made on a data set: a note, or none."""
    chosen = [dataset_name(dataset, labels) for dataset in datasets if dataset in development]
    if not chosen:
        return []
    return [f"Hyperparameters were chosen on {', '.join(chosen)}: its results are optimistic."]


def escape(text: str) -> str:
    """Text that can not break a table or a list."""
    return text.replace("|", "\\|").replace("\n", " ")
