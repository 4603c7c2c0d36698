"""Choosing one of several candidates by what they score on the development sets, and saying why."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO

import numpy as np

from bove.evaluate.results import AGGREGATES, MEAN, TOGETHER, WEIGHTED_MEAN, Result
from bove.evaluate.tables import UNDEFINED, escape, markdown_table, number

SUMMARIES = {"mean": MEAN, "weighted": WEIGHTED_MEAN, "together": TOGETHER}
SYSTEM = "bove"


@dataclass(frozen=True)
class Candidate:
    """A candidate and what it scores.

    Attributes:
        name: as its folder is called, such as alpha~10/lambda_P~1000.
        changes: what it changes of the configuration.
        values: for each development set its summary, or None where that is undefined.
    """

    name: str
    changes: Mapping
    values: Mapping[str, float | None]

    @property
    def value(self) -> float | None:
        """The mean over the development sets; None where one is undefined."""
        values = list(self.values.values())
        return None if None in values else float(np.mean(values))


def summarise(candidates: Mapping[str, Sequence[Result]], summary: str) -> dict[str, float | None]:
    """What counts of one development set, for each candidate.

    A candidate with an undefined subset has no mean if another candidate has a value there: means over other
    subsets are not to be compared.

    Args:
        candidates: results of each candidate, all on the same pairs.
        summary: of similarity a key of SUMMARIES; entailment's is the mean of its subsets.
    """
    own = {name: [r for r in results if r.system == SYSTEM] for name, results in candidates.items()}
    subsets = {name: [r for r in results if r.subset not in AGGREGATES] for name, results in own.items()}
    most = max(sum(r.entered for r in results) for results in subsets.values())
    values: dict[str, float | None] = {}
    for name, results in own.items():
        defined = [r.value for r in subsets[name] if r.value is not None]
        if results[0].task == "similarity":
            value = next(r.value for r in results if r.subset == SUMMARIES[summary])
        else:
            value = float(np.mean(defined)) if defined else None
        whole = len(defined) == most or (results[0].task == "similarity" and summary == "together")
        values[name] = value if whole else None
    return values


def ranked(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Best first; equal ones in the order given; undefined ones last."""
    return sorted(candidates, key=_place, reverse=True)


def _place(candidate: Candidate) -> float:
    # what differs by rounding alone is equal
    return -np.inf if candidate.value is None else round(candidate.value, 12)


def settings(name: str) -> dict[str, str]:
    """The candidate's keys and values as its name has them; a part without ~ has an empty value."""
    return dict(part.partition("~")[::2] for part in name.split("/"))


def choice(candidates: Sequence[Candidate], summary: str, metrics: Mapping[str, str]) -> dict:
    """The choice and its reason, ready to be written as JSON.

    Args:
        metrics: of each development set its metric.
    """
    best, *others = ranked(candidates)
    sets = ", ".join(f"{dataset} ({metrics[dataset]})" for dataset in best.values)
    of = f"highest of {len(candidates)} candidates" if others else "the only candidate"
    reason = f"{of} on {sets}: {best.value:.6f}"
    if others:
        next_value = "is undefined" if others[0].value is None else f"has {others[0].value:.6f}"
        reason += f"; the next, {others[0].name}, {next_value}"
        if _place(others[0]) == _place(best):
            reason += " too, and stands later in the list"
    return {
        "chosen": best.name,
        "changes": best.changes,
        "value": best.value,
        "values": dict(best.values),
        "summary": summary,
        "development": list(best.values),
        "candidates": len(candidates),
        "reason": reason,
    }


def write_csv(stream: IO[str], candidates: Sequence[Candidate]) -> None:
    """Every candidate in full precision, best first; an undefined value is an empty cell."""
    keys, sets = list(settings(candidates[0].name)), list(candidates[0].values)
    table = csv.writer(stream, lineterminator="\n")
    table.writerow(["rank", *keys, *sets, "value"])
    for place, candidate in enumerate(ranked(candidates), 1):
        table.writerow(
            [place, *settings(candidate.name).values(), *candidate.values.values(), candidate.value]
        )


def candidate_table(candidates: Sequence[Candidate], tasks: Mapping[str, str], summary: str) -> str:
    """A Markdown table of all candidates, best first.

    Args:
        tasks: of each development set its task.
    """
    order = ranked(candidates)
    keys, sets = list(settings(order[0].name)), list(order[0].values)
    one = len(sets) == 1
    rows = []
    for candidate in order:
        cells = [
            UNDEFINED if value is None else number(tasks[dataset], value)
            for dataset, value in candidate.values.items()
        ]
        mean = [] if one else [UNDEFINED if candidate.value is None else f"{candidate.value:.4f}"]
        row = [*settings(candidate.name).values(), *cells, *mean]
        rows.append([f"**{cell}**" for cell in row] if candidate is order[0] else row)
    header = [*keys, *sets, *([] if one else ["mean"])]
    caption = (
        f"All {len(order)} candidates, best first; the chosen one is bold. Chosen on {', '.join(sets)} "
        f"alone, by the *{SUMMARIES[summary]}* of the correlations for similarity and the mean of the "
        "subsets' average precision for entailment"
    )
    caption += "." if one else ", and by the mean over these data sets."
    caption += " The chosen one's results on them are optimistic."
    return f"# Candidates\n\n{markdown_table(header, rows, len(keys))}\n{escape(caption)}\n"
