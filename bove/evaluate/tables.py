"""What all tables share: Markdown, numbers in print, and how data sets, subsets and pairs are named."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from bove.evaluate.metrics import METRICS
from bove.evaluate.results import MEAN, WEIGHTED_MEAN, Result

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
