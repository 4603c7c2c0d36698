"""From scores to results: one value for each subset and system, and what sums up a data set's subsets."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from bove.errors import BoveError, finite
from bove.evaluate.metrics import METRICS, evaluate
from bove.files import atomic_write, check_file

# The Parquet file of scores: one row a pair, two columns a system.
#
# Columns id, dataset, label, task, subset, gold (text), scored, length_1 and length_2 (int32, tokens of
# each
# side, null where the pair is not scored), then for each system NAME `score:NAME` (float64, null where not
# scored) and `empty:NAME` (bool, a side has no vectors; false where not scored). The schema's metadata hold
# the
# format, the SHA-256 of the pair file and each system's model hash. The same scores give the same bytes.

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "bove-scores"
VERSION = "1"
_SHARED = ("dataset", "label", "task")
_LENGTHS = ("length_1", "length_2")
_AGAIN = "score the pairs again"


@dataclass(frozen=True)
class Scores:
    """Scores of the n pairs of one data set by any number of systems.

    Attributes:
        dataset, label, task: of the data set.
        ids, subsets: n names.
        gold: n texts: a number (similarity), a label (entailment) or None.
        scored: [n] bool, whether the pair counts.
        values: [n] float64 of each system, NaN where not scored.
        empty: [n] bool of each system, a side has no vectors.
        pairs_sha256: hash of the pair file.
        model_hashes: hash of the model behind each system's bags.
        lengths: [n, 2] tokens of each side that take part in scores; 0 where not scored.
    """

    dataset: str
    label: str
    task: str
    ids: tuple[str, ...]
    subsets: tuple[str, ...]
    gold: tuple[str | None, ...]
    scored: np.ndarray
    values: dict[str, np.ndarray]
    empty: dict[str, np.ndarray]
    pairs_sha256: str
    model_hashes: dict[str, str]
    lengths: np.ndarray

    def gold_of(self, pairs: np.ndarray) -> np.ndarray:
        """Gold of numbered scored pairs: [k] float64 for similarity, [k] labels for entailment."""
        kind = np.float64 if self.task == "similarity" else object
        return np.array([self.gold[p] for p in pairs], kind)


def write_scores(scores: Scores, path: str | Path) -> None:
    """Write scores atomically."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    n, absent = len(scores.ids), ~scores.scored
    columns = {"id": scores.ids, **{name: [getattr(scores, name)] * n for name in _SHARED}}
    columns |= {"subset": scores.subsets, "gold": scores.gold, "scored": scores.scored}
    columns |= dict(zip(_LENGTHS, np.asarray(scores.lengths, np.int32).T, strict=True))
    metadata = {"format": FORMAT, "version": VERSION, "pairs_sha256": scores.pairs_sha256}
    for name, values in scores.values.items():
        columns |= {f"score:{name}": values, f"empty:{name}": scores.empty[name]}
        metadata[f"model_hash:{name}"] = scores.model_hashes[name]
    types = _types(scores.values)
    made = {
        name: pa.array(values, types[name], mask=absent if _is_null_unscored(name) else None)
        for name, values in columns.items()
    }
    stream = pa.BufferOutputStream()
    pq.write_table(pa.table(made).replace_schema_metadata(metadata), stream, compression="zstd")
    with atomic_write(path, "wb") as file:
        file.write(stream.getvalue())


def _types(systems: Iterable[str]) -> dict[str, "pa.DataType"]:
    """Of every column, by its name."""
    import pyarrow as pa

    types = dict.fromkeys(("id", *_SHARED, "subset", "gold"), pa.string()) | {"scored": pa.bool_()}
    types |= dict.fromkeys(_LENGTHS, pa.int32())
    for system in systems:
        types |= {f"score:{system}": pa.float64(), f"empty:{system}": pa.bool_()}
    return types


def _is_null_unscored(name: str) -> bool:
    return name in _LENGTHS or name.startswith("score:")


def read_scores(path: str | Path) -> Scores:
    """Read a file that `write_scores` wrote.

    Raises BoveError where the file is missing, damaged, or holds something else.
    """
    try:
        return _read(path)
    except UnicodeDecodeError as e:
        raise BoveError(f"{path}: damaged, text in it is not UTF-8; {_AGAIN}") from e


def _read(path) -> Scores:
    table, metadata = _read_table(path)
    names = table.column_names
    systems = [name.removeprefix("score:") for name in names if name.startswith("score:")]
    for name, kind in _types(systems).items():
        if names.count(name) != 1:
            raise BoveError(f"{path}: has no column '{name}', or has it twice; {_AGAIN}")
        empty = table[name].null_count and name != "gold" and not _is_null_unscored(name)
        if table[name].type != kind or empty:
            raise BoveError(f"{path}: column '{name}' is not of {kind}, or has cells without; {_AGAIN}")
    shared = {name: _one_value(path, table, name) for name in _SHARED}
    scores = Scores(
        **shared,
        ids=tuple(table["id"].to_pylist()),
        subsets=tuple(table["subset"].to_pylist()),
        gold=tuple(table["gold"].to_pylist()),
        scored=np.array(table["scored"].to_pylist(), bool),
        values={s: np.array(table[f"score:{s}"].to_pylist(), np.float64) for s in systems},
        empty={s: np.array(table[f"empty:{s}"].to_pylist(), bool) for s in systems},
        pairs_sha256=metadata.get("pairs_sha256", ""),
        model_hashes={s: metadata.get(f"model_hash:{s}", "") for s in systems},
        lengths=np.array([[n or 0 for n in table[name].to_pylist()] for name in _LENGTHS], np.int64).T,
    )
    _check(path, scores)
    return scores


def _read_table(path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    check_file(path)
    try:
        file = pq.ParquetFile(path)
        groups = [file.metadata.row_group(group) for group in range(file.metadata.num_row_groups)]
        # Room is made for as many rows as the groups say, so that a damaged number could take all memory.
        if sum(group.num_rows for group in groups) != file.metadata.num_rows:
            raise BoveError(f"{path}: damaged, its numbers of rows differ; {_AGAIN}")
        table = file.read()
    except (pa.ArrowException, OSError) as e:
        raise BoveError(f"{path}: not a Parquet file, or a damaged one; {_AGAIN}") from e
    metadata = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    if metadata.get("format") != FORMAT or metadata.get("version") != VERSION:
        found = f"{metadata.get('format', 'an unnamed format')} version {metadata.get('version', '?')}"
        raise BoveError(f"{path}: holds {found}, not {FORMAT} version {VERSION}; {_AGAIN}")
    return table, metadata


def _one_value(path, table, name) -> str:
    values = set(table[name].to_pylist())
    if len(values) != 1:
        raise BoveError(f"{path}: column '{name}' has {len(values)} values, not one; {_AGAIN}")
    return values.pop()


def _check(path, scores: Scores) -> None:
    if scores.task not in METRICS:
        raise BoveError(f"{path}: task {scores.task!r}, not one of {', '.join(METRICS)}; {_AGAIN}")
    for system, values in scores.values.items():
        if not np.isfinite(values[scores.scored]).all():
            raise BoveError(f"{path}: a scored pair has no score by '{system}'; {_AGAIN}")
    for name, gold, scored in zip(scores.ids, scores.gold, scores.scored, strict=True):
        if scored and (gold is None or (scores.task == "similarity" and finite(gold) is None)):
            raise BoveError(f"{path}: pair '{name}' is scored, but its gold is {gold!r}; {_AGAIN}")


# From scores to results: one value for each subset and system, and what sums up a data set's subsets.

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


def write_results(stream: IO[str], results: Iterable[Result]) -> None:
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
