"""From scores to results: one value for each subset and system, and what sums up a data set's subsets."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO

import numpy as np

from bove.errors import BoveError
from bove.evaluate.metrics import METRICS, evaluate
from bove.evaluate.scores import Scores

MEAN = "mean"
WEIGHTED_MEAN = "mean weighted by pairs"
TOGETHER = "all pairs together"
AGGREGATES = (MEAN, WEIGHTED_MEAN, TOGETHER)
CSV_COLUMNS = (
    *("task", "dataset", "subset", "system", "n_pairs", "n_scored", "n_empty", "metric", "value", "entered"),
    *("low", "high", "undefined_resamples"),
)


@dataclass(frozen=True, slots=True)
class Result:
    """One system's value on a subset, or on a summary of the subsets.

    Attributes:
        task, dataset, subset, system, metric: names; subset may be one of AGGREGATES.
        n_pairs: pairs of the subset, scored or not.
        n_scored: pairs with gold, which alone count.
        n_empty: scored pairs of which the system has no vectors on a side.
        value: the metric, or None where undefined.
        entered: subsets that a mean is over; 1 or 0 elsewhere.
        low, high: ends of the value's interval, None where there is none.
        undefined_resamples: resamples without a value; the interval is over the others.
    """

    task: str
    dataset: str
    subset: str
    system: str
    n_pairs: int
    n_scored: int
    n_empty: int
    metric: str
    value: float | None
    entered: int
    low: float | None = None
    high: float | None = None
    undefined_resamples: int = 0


def results_of(scores: Scores, metrics: Iterable[str] = ()) -> list[Result]:
    """Results of a data set: a row for each subset and system in the file's order, then the summaries.

    Similarity has three summaries: the unweighted mean of its subsets, their mean weighted by scored
    pairs (undefined subsets left out of both), and the metric over all pairs. Subsets of entailment
    stand for themselves.

    Args:
        metrics: of MEASURES, one after another; by default the one that the task is judged by.
    """
    subsets = list(dict.fromkeys(scores.subsets))
    clash = [name for name in subsets if name in AGGREGATES]
    if clash:
        raise BoveError(
            f"data set '{scores.dataset}' has a subset '{clash[0]}', the name of a summary; rename it"
        )
    metrics = tuple(metrics) or (METRICS[scores.task],)
    return [result for metric in metrics for result in _of_metric(scores, metric, subsets)]


def write_csv(stream: IO[str], results: Iterable[Result]) -> None:
    """Write results as CSV in full precision; an undefined value is an empty cell."""
    table = csv.writer(stream, lineterminator="\n")
    table.writerow(CSV_COLUMNS)
    for result in results:
        table.writerow([getattr(result, name) for name in CSV_COLUMNS])


def _of_metric(scores: Scores, metric: str, subsets: list[str]) -> list[Result]:
    of_subset = np.array(scores.subsets, object)
    rows = [
        [_result(scores, metric, system, subset, of_subset == subset) for system in scores.values]
        for subset in subsets
    ]
    if scores.task == "similarity":
        everything = np.ones(len(scores.ids), bool)
        together = [_result(scores, metric, system, TOGETHER, everything) for system in scores.values]
        columns = list(zip(*rows, strict=True))
        means = [
            [_mean(column, whole, name) for column, whole in zip(columns, together, strict=True)]
            for name in (MEAN, WEIGHTED_MEAN)
        ]
        rows += [*means, together]
    return [result for row in rows for result in row]


def _result(scores: Scores, metric: str, system: str, subset: str, rows: np.ndarray) -> Result:
    chosen = np.flatnonzero(rows & scores.scored)
    lengths = scores.lengths[chosen, 1]
    value = evaluate(scores.task, scores.gold_of(chosen), scores.values[system][chosen], metric, lengths)
    return Result(
        task=scores.task,
        dataset=scores.dataset,
        subset=subset,
        system=system,
        n_pairs=int(rows.sum()),
        n_scored=len(chosen),
        n_empty=int(scores.empty[system][chosen].sum()),
        metric=metric,
        value=value,
        entered=int(value is not None),
    )


def _mean(column: tuple[Result, ...], whole: Result, name: str) -> Result:
    defined = [result for result in column if result.value is not None]
    weights = [result.n_scored if name == WEIGHTED_MEAN else 1 for result in defined]
    value = float(np.average([result.value for result in defined], weights=weights)) if defined else None
    return Result(
        task=whole.task,
        dataset=whole.dataset,
        subset=name,
        system=whole.system,
        n_pairs=whole.n_pairs,
        n_scored=whole.n_scored,
        n_empty=whole.n_empty,
        metric=whole.metric,
        value=value,
        entered=len(defined),
    )
