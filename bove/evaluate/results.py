"""Scores of pairs, the file that keeps them, and the results made from them as one long data frame.

The Parquet file of scores has one row per pair. Its columns are id, dataset, label, task, subset, gold
(text), scored, length_1 and length_2 (int32, tokens of each side, null where the pair is not scored), then
for each system NAME `score:NAME` (float64, null where not scored) and `empty:NAME` (bool, a side has no
vectors; false where not scored). The schema's metadata hold the format, the SHA-256 of the pair file and
each system's model hash, the power of the weights, and a hash of all of this, which tells a file that has
changed. The same scores give the same bytes. A system that is
scored with weights of its tokens has their name in brackets behind its own, as in `bove (evidence)`.

The frame of results has one row per data set, metric, subset and system; tables, differences, ablations,
seeds and the selection of a model are pivots of such frames. Its columns, also those of scores.csv:

    task, dataset, subset, system   names; a subset may be one of AGGREGATES
    n_pairs, n_scored, n_empty      pairs; those with gold, which alone count; of these, those without vectors
    metric, value                   a name of MEASURES; NaN where undefined
    entered                         how many subsets a mean is over; 1 or 0 for others
    low, high                       ends of the value's interval, NaN where there is none
    undefined_resamples             resamples without a value; the interval is over the others

and, beside those of scores.csv, the data set's `label` and how many `subsets` it has.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bove.bags.baselines import comparison_of
from bove.errors import BoveError
from bove.evaluate.alignment import NONE, WEIGHTS
from bove.evaluate.metrics import METRICS, evaluate
from bove.files import atomic_write, check_file

if TYPE_CHECKING:
    import pyarrow as pa
    from pandas import DataFrame

FORMAT, VERSION = "bove-scores", "1"
_SHARED = ("dataset", "label", "task")
_LENGTHS = ("length_1", "length_2")
_AGAIN, _HASH = "score the pairs again", "sha256"

MEAN, WEIGHTED_MEAN, TOGETHER = AGGREGATES = ("mean", "mean weighted by pairs", "all pairs together")
MEANS = (MEAN, WEIGHTED_MEAN)
SUMMED_UP = ("similarity", "roles")  # tasks with results over all pairs of a data set
KEY = ["task", "dataset", "subset"]  # of a row, beside metric and system
RESULT_COLUMNS = [
    *(*KEY, "system", "n_pairs", "n_scored", "n_empty", "metric", "value", "entered"),
    *("low", "high", "undefined_resamples"),
]


@dataclass(frozen=True)
class Scores:
    """Scores of the n pairs of one data set by any number of systems.

    Attributes:
        dataset, label, task: of the data set.
        ids, subsets: n names.
        gold: n texts: a number (similarity), a label (entailment), "second" (roles) or None.
        scored: [n] bool, whether the pair counts.
        values: [n] float64 of each system, NaN where not scored.
        empty: [n] bool of each system, a side has no vectors.
        pairs_sha256: hash of the pair file.
        model_hashes: hash of the model behind each system's bags.
        lengths: [n, 2] tokens of each side that take part in scores; 0 where not scored.
        power: of the weights of tokens.
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
    power: float = 1.0

    def gold_of(self, pairs: np.ndarray) -> np.ndarray:
        """Gold of numbered scored pairs: [k] float64 for similarity, [k] texts for other tasks."""
        kind = np.float64 if self.task == "similarity" else object
        return np.array([self.gold[p] for p in pairs], kind)

    def by_subset(self) -> dict[str, np.ndarray]:
        """The numbers of each subset's pairs, scored or not, subsets in the file's order."""
        of_subset = np.array(self.subsets, object)
        return {name: np.flatnonzero(of_subset == name) for name in dict.fromkeys(self.subsets)}


def weighted(system: str, weight: str) -> str:
    """The name of a system's scores with a weight; without one it is the system's own."""
    return system if weight == NONE else f"{system} ({weight})"


def parted(name: str) -> tuple[str, str]:
    """System and weight of such a name."""
    for weight in WEIGHTS:
        if name.endswith(ending := f" ({weight})"):
            return name.removesuffix(ending), weight
    return name, NONE


def comparable(name: str, other: str) -> bool:
    """Whether two such names have the system or the weight in common, or one has no weights to choose."""
    sides = parted(name), parted(other)
    return any(one == another for one, another in zip(*sides, strict=True)) or any(
        comparison_of(system) for system, _ in sides
    )


def write_scores(scores: Scores, path: str | Path) -> None:
    """Write scores atomically."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"id": scores.ids, **{name: [getattr(scores, name)] * len(scores.ids) for name in _SHARED}}
    columns |= {"subset": scores.subsets, "gold": scores.gold, "scored": scores.scored}
    columns |= dict(zip(_LENGTHS, np.asarray(scores.lengths, np.int32).T, strict=True))
    metadata = {"format": FORMAT, "version": VERSION, "pairs_sha256": scores.pairs_sha256}
    if any(parted(name)[1] != NONE for name in scores.values):
        metadata["power"] = repr(scores.power)
    for name, values in scores.values.items():
        columns |= {f"score:{name}": values, f"empty:{name}": scores.empty[name]}
        metadata[f"model_hash:{name}"] = scores.model_hashes[name]
    schema = _schema(scores.values)
    masks = [~scores.scored if _is_null_unscored(name) else None for name in schema.names]
    arrays = [pa.array(columns[f.name], f.type, mask=mask) for f, mask in zip(schema, masks, strict=True)]
    stream = pa.BufferOutputStream()
    table = pa.Table.from_arrays(arrays, schema=schema)
    table = table.replace_schema_metadata({**metadata, _HASH: _hash(table, metadata)})
    pq.write_table(table, stream, compression="zstd")
    with atomic_write(path, "wb") as file:
        file.write(stream.getvalue())


def _schema(systems: Iterable[str]) -> "pa.Schema":
    """Names and types of the columns."""
    import pyarrow as pa

    types = dict.fromkeys(("id", *_SHARED, "subset", "gold"), pa.string()) | {"scored": pa.bool_()}
    types |= dict.fromkeys(_LENGTHS, pa.int32())
    for system in systems:
        types |= {f"score:{system}": pa.float64(), f"empty:{system}": pa.bool_()}
    return pa.schema(types)


def _hash(table: "pa.Table", metadata: dict[str, str]) -> str:
    columns = [(name, str(table[name].type), table[name].to_pylist()) for name in table.column_names]
    return hashlib.sha256(json.dumps([sorted(metadata.items()), columns], default=str).encode()).hexdigest()


def _is_null_unscored(name: str) -> bool:
    return name in _LENGTHS or name.startswith("score:")


def read_scores(path: str | Path) -> Scores:
    """Read a file that `write_scores` wrote.

    Raises:
        BoveError: the file is missing, damaged, or holds something else.
    """
    import pyarrow as pa

    check_file(path)
    try:
        return _read(path)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as e:
        raise BoveError(f"{path}: not a Parquet file, or a damaged one; {_AGAIN}") from e


def _read(path) -> Scores:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    groups = [file.metadata.row_group(group) for group in range(file.metadata.num_row_groups)]
    # Room is made for as many rows as the groups say, so that a damaged number could take all memory.
    if sum(group.num_rows for group in groups) != file.metadata.num_rows:
        raise BoveError(f"{path}: damaged, its numbers of rows differ; {_AGAIN}")
    table = file.read()
    metadata = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    found = metadata.get("format", "an unnamed format"), metadata.get("version", "?")
    if found != (FORMAT, VERSION):
        raise BoveError(f"{path}: holds {' version '.join(found)}, not {FORMAT} version {VERSION}; {_AGAIN}")
    systems = [name.removeprefix("score:") for name in table.column_names if name.startswith("score:")]
    if metadata.pop(_HASH, "") != _hash(table, metadata):
        raise BoveError(f"{path}: changed since it was written (its hash differs); {_AGAIN}")
    names = ("id", "subset", "gold", *_SHARED)
    columns = {name: tuple(table[name].to_pylist()) for name in names}
    return Scores(
        **{name: columns[name][0] for name in _SHARED},
        ids=columns["id"],
        subsets=columns["subset"],
        gold=columns["gold"],
        scored=table["scored"].to_numpy(),
        values={s: table[f"score:{s}"].to_numpy() for s in systems},
        empty={s: table[f"empty:{s}"].to_numpy() for s in systems},
        pairs_sha256=metadata.get("pairs_sha256", ""),
        model_hashes={s: metadata.get(f"model_hash:{s}", "") for s in systems},
        lengths=np.stack([table[name].fill_null(0).to_numpy() for name in _LENGTHS], axis=1).astype(np.int64),
        power=float(metadata.get("power", "1")),
    )


# From scores to results.


def results_of(scores: Scores, metrics: Iterable[str] = ()) -> "DataFrame":
    """Results of a data set: a row for each subset and system in the file's order, then the summaries.

    Similarity has three summaries: the unweighted mean of its subsets, their mean weighted by scored pairs
    (undefined subsets left out of both), and the metric over all pairs. Roles have the last of these, subsets
    of entailment have none.

    Args:
        metrics: of MEASURES, one after another; by default the one that the task is judged by.

    Raises:
        BoveError: a subset has the name of a summary.
    """
    import pandas as pd

    groups = scores.by_subset()
    if clash := [name for name in groups if name in AGGREGATES]:
        name = scores.dataset
        raise BoveError(f"data set '{name}' has a subset '{clash[0]}', the name of a summary; rename it")
    n_subsets, parts = len(groups), []
    if scores.task in SUMMED_UP:
        groups[TOGETHER] = np.arange(len(scores.ids))
    for metric in tuple(metrics) or (METRICS[scores.task],):
        rows = [_result(scores, metric, g, groups[g], s) for g in groups for s in scores.values]
        found = pd.DataFrame(rows, columns=RESULT_COLUMNS)
        parts += _with_means(found) if scores.task == "similarity" else [found]
    return pd.concat(parts, ignore_index=True).assign(label=scores.label, subsets=n_subsets)


def _result(scores: Scores, metric: str, subset: str, pairs: np.ndarray, system: str) -> tuple:
    """A row of a subset, or of all pairs together."""
    chosen = pairs[scores.scored[pairs]]
    gold, lengths = scores.gold_of(chosen), scores.lengths[chosen, 1]
    value = evaluate(metric, gold, scores.values[system][chosen], lengths)
    names = (scores.task, scores.dataset, subset, system)
    counts = (len(pairs), len(chosen), int(scores.empty[system][chosen].sum()))
    return (*names, *counts, metric, value, int(not np.isnan(value)), np.nan, np.nan, 0)


def _with_means(results: "DataFrame") -> list["DataFrame"]:
    """The results of one metric: those of the subsets, both means, those of all pairs together."""
    is_whole = results.subset == TOGETHER
    whole, subsets, means = results[is_whole], results[~is_whole], []
    for name in MEANS:
        values, entered = [], []
        for system in whole.system:
            defined = subsets[(subsets.system == system) & subsets.value.notna()]
            weights = defined.n_scored if name == WEIGHTED_MEAN else None
            values.append(np.average(defined.value, weights=weights) if len(defined) else np.nan)
            entered.append(len(defined))
        means.append(whole.assign(subset=name, value=values, entered=entered))
    return [subsets, *means, whole]


def without_summaries(results: "DataFrame") -> "DataFrame":
    """The rows of subsets alone."""
    return results[~results.subset.isin(AGGREGATES)]


def defined_subsets(results: "DataFrame", by: list[str]) -> dict[tuple[str, ...], set[str]]:
    """The subsets with a value, by the columns named: means are comparable where these sets are equal."""
    defined = without_summaries(results)
    defined = defined[defined.value.notna()]
    return defaultdict(set, {key: set(rows.subset) for key, rows in defined.groupby(by, sort=False)})


def csv_text(frame: "DataFrame") -> str:
    """The frame as CSV in full precision; what is undefined is an empty cell."""
    return frame.to_csv(index=False, lineterminator="\n")
