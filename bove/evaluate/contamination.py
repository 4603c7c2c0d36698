"""What data sets share with those that choices were made on, and with the training treebank.

Two pairs are the same where their sentences are, in either order; two sentences are the same where they agree
after Unicode's normal form C, case folding and with every run of white space as one space. A treebank has
tokens, not text, so its sentences are compared without any white space. Pairs without gold are not counted.
"""

import unicodedata
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from bove.evaluate.results import KEY
from bove.evaluate.tables import below, markdown_table, named
from bove.text.conll import Sentence
from bove.text.pairs import Pair

if TYPE_CHECKING:
    from pandas import DataFrame

# Of contamination.csv: a row for each match, of the kind `pair` or `sentence`.
CSV_COLUMNS = ["kind", "dataset", "subset", "id", "other_dataset", "other_subset", "other_id", "swapped"]
NAMED = 20  # matches that the page names


def normalised(text: str) -> str:
    """The text as sentences are compared: normal form C, case folded, one space for all white space."""
    folded = unicodedata.normalize("NFC", text).casefold()
    return " ".join(unicodedata.normalize("NFC", folded).split())


def scored_pairs(pairs: Iterable[Pair], development: Collection[str]) -> "DataFrame":
    """The scored pairs, `named`: KEY, id, and both sides, normalised, as `first` and `second`."""
    import pandas as pd

    rows = [
        (p.task, p.dataset, p.subset, p.label, p.id, normalised(p.first), normalised(p.second))
        for p in pairs
        if p.scored
    ]
    return named(pd.DataFrame(rows, columns=[*KEY, "label", "id", "first", "second"]), development)


def shared_pairs(scored: "DataFrame") -> "DataFrame":
    """Every match of a pair outside the development sets with one inside them, whose columns are `other_…`.

    `swapped` where the sides are in the other order.
    """
    sides = zip(scored["first"], scored["second"], strict=True)
    pairs = scored.assign(key=["\n".join(sorted(pair)) for pair in sides])
    others = pairs[pairs.development].add_prefix("other_")
    found = pairs[~pairs.development].merge(others, left_on="key", right_on="other_key")
    swapped = (found["first"] != found.other_first) | (found["second"] != found.other_second)
    return found.assign(kind="pair", swapped=swapped)


def shared_sentences(scored: "DataFrame", treebank: Iterable[Sentence]) -> "DataFrame":
    """Every side of a pair, PAIR.1 or PAIR.2, that is a sentence of the treebank, if it has a word."""
    first: dict[str, str] = {}
    for sentence in treebank:
        first.setdefault(normalised("".join(sentence.forms)).replace(" ", ""), sentence.id)
    first.pop("", None)
    sides = _sides(scored)
    found = sides[sides.letters.isin(list(first))]
    other = {"other_dataset": "treebank", "other_subset": "", "other_id": found.letters.map(first)}
    return found.assign(kind="sentence", swapped="", **other)


def _sides(scored: "DataFrame") -> "DataFrame":
    """Both sides of every pair, pair by pair, with their `letters`: the text without white space."""
    import pandas as pd

    letters = {1: scored["first"].str.replace(" ", ""), 2: scored["second"].str.replace(" ", "")}
    sides = [scored.assign(id=scored.id + f".{side}", letters=text) for side, text in letters.items()]
    return pd.concat(sides).sort_index(kind="stable")


def contamination_csv(shared: "DataFrame", sentences: "DataFrame | None") -> str:
    """All matches as CSV."""
    import pandas as pd

    pairs = shared.assign(swapped=shared.swapped.map({True: "true", False: "false"}))
    return pd.concat([pairs, sentences]).to_csv(columns=CSV_COLUMNS, index=False, lineterminator="\n")


def contamination_page(scored: "DataFrame", shared: "DataFrame", sentences: "DataFrame | None") -> str:
    """The Markdown page: shared pairs, named, and shared sentences (None where no treebank was read)."""
    parts = ["# What data sets share\n", "## Pairs\n", _pairs_part(scored, shared)]
    if sentences is not None:
        parts += ["## Sentences of the training treebank\n", _sentences_part(scored, sentences)]
    return "\n".join(parts)


def contamination_notes(scored: "DataFrame", shared: "DataFrame") -> dict[str, list[str]]:
    """Notes for each task's table of results; none where nothing could be shared."""
    reported = scored[~scored.development & scored.development.any()]
    notes: dict[str, list[str]] = {task: [] for task in reported.task.unique()}
    matches = dict(iter(shared.groupby(["task", "name", "subset"])))
    for place, total in _counts(reported).items():
        if place in matches:
            task, name, subset = place
            count, others = matches[place].id.nunique(), ", ".join(sorted(matches[place].other_name.unique()))
            where = f"{count} of {total} scored pairs stand in {others} (development) too"
            notes[task].append(f"{name} {subset}: {where}; contamination.md names them.")
    none = ["No scored pair to report on stands in a development data set (contamination.md)."]
    return {task: lines or none for task, lines in notes.items()}


def _counts(frame: "DataFrame", column: str = "id") -> Mapping[tuple[str, str, str], int]:
    """How many distinct pairs, or texts, there are by task, name of the data set, and subset."""
    return frame.groupby(["task", "name", "subset"], sort=False)[column].nunique().to_dict()


def _pairs_part(scored: "DataFrame", shared: "DataFrame") -> str:
    if scored.development.all() or not scored.development.any():
        lacking = "is left to report on" if scored.development.any() else "is for development"
        return f"No data set {lacking}, so there is nothing that pairs could be shared with.\n"
    straight = shared[~shared.swapped.astype(bool)]
    only_swapped = shared[~(shared.dataset + "\n" + shared.id).isin(straight.dataset + "\n" + straight.id)]
    found, swapped = _counts(shared), _counts(only_swapped)
    body = [
        [*place[1:], str(n), str(found.get(place, 0)), str(swapped.get(place, 0))]
        for place, n in _counts(scored[~scored.development]).items()
    ]
    header = ["data set", "subset", "scored pairs", "also in development", "with sides swapped only"]
    caption = (
        "Scored pairs that a data set for development has too "
        f"({', '.join(scored[scored.development].name.unique())}): the same two sentences, after Unicode's "
        "normal form C, case folding and with all white space alike."
    )
    notes = [
        f"{match.name} {match.id}: {match.other_name} (development) {match.other_id}"
        + (", sides swapped" if match.swapped else "")
        for match in shared[:NAMED].itertuples()
    ]
    notes += [f"{len(shared) - NAMED} more are in contamination.csv."] if len(shared) > NAMED else []
    return markdown_table(header, body, 2) + below(caption, notes)


def _sentences_part(scored: "DataFrame", sentences: "DataFrame") -> str:
    known, body = _counts(sentences, "letters"), []
    for place, n in _counts(_sides(scored), "letters").items():
        count = known.get(place, 0)
        body.append([*place[1:], str(n), str(count), f"{100 * count / n:.2f}%"])
    header = ["data set", "subset", "distinct sentences", "also in the treebank", "share"]
    caption = (
        "Sentences of scored pairs that the treebank has too, without regard to case and white space. One "
        "with quotation marks or brackets is found only if the treebank writes them alike."
    )
    return markdown_table(header, body, 2) + below(caption)
