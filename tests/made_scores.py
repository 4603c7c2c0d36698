"""Scores of a data set from a few columns; what else they need is filled in."""

import numpy as np

from bove.evaluate.results import Scores, write_scores


def scores_of(
    task, subsets, gold, values, *, dataset="d", label=None, empty=None, lengths=None, pairs=None, models=None
):
    """A gold of None or "-" is not scored; `values` has a column for each system."""
    scored = np.array([g not in (None, "-") for g in gold])
    none = np.zeros(len(gold), bool)
    return Scores(
        dataset=dataset,
        label=label or dataset.upper(),
        task=task,
        ids=tuple(f"p{i}" for i in range(len(gold))),
        subsets=tuple(subsets),
        gold=tuple(g if g is None else str(g) for g in gold),
        scored=scored,
        values={name: np.where(scored, np.array(column, float), np.nan) for name, column in values.items()},
        empty={name: (empty or {}).get(name, none) for name in values},
        pairs_sha256=pairs or dataset,
        model_hashes=dict.fromkeys(values, "") | (models or {}),
        lengths=np.ones((len(gold), 2), int) if lengths is None else lengths,
    )


def written(folder, name, *several):
    """Paths of files of scores."""
    paths = [str(folder / f"{name}-{i}.parquet") for i in range(len(several))]
    for path, scores in zip(paths, several, strict=True):
        write_scores(scores, path)
    return paths
