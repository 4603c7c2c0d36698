"""Captions and notes of the result tables: every choice behind a figure, said where the figure stands."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bove.evaluate import paper
from bove.evaluate.bootstrap import Bootstrap
from bove.evaluate.layout import FIRST
from bove.evaluate.metrics import METRICS
from bove.evaluate.results import AGGREGATES, MEAN, TOGETHER, WEIGHTED_MEAN, Result
from bove.evaluate.statistics import Difference
from bove.evaluate.tables import dataset_name, development_notes, pairs_cell

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
