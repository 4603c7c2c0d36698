"""What data sets share with those that choices were made on, and with the training treebank.

Two pairs are the same where their sentences are, in either order; two sentences are the same where they agree
after Unicode's normal form C, case folding and with every run of white space as one space. A treebank has
tokens, not text, so its sentences are compared without any white space. Pairs without gold are not counted.
"""

import unicodedata
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from bove.evaluate.results import KEY
from bove.evaluate.tables import Names, bullets, escape, markdown_table
from bove.text.conll import Sentence
from bove.text.pairs import Pair

if TYPE_CHECKING:
    import pandas as pd

# Of contamination.csv: a row for each match, of the kind `pair` or `sentence`.
CSV_COLUMNS = ["kind", "dataset", "subset", "id", "other_dataset", "other_subset", "other_id", "swapped"]
NAMED = 20  # matches that the page names


def normalised(text: str) -> str:
    """The text as sentences are compared: normal form C, case folded, one space for all white space."""
    folded = unicodedata.normalize("NFC", text).casefold()
    return " ".join(unicodedata.normalize("NFC", folded).split())


def scored_pairs(pairs: Iterable[Pair]) -> "pd.DataFrame":
    """The scored pairs: task, dataset, subset, id, and the sides, normalised, as `first` and `second`."""
    import pandas as pd

    sides = ((pair, normalised(pair.first), normalised(pair.second)) for pair in pairs if pair.scored)
    rows = [(pair.task, pair.dataset, pair.subset, pair.id, first, second) for pair, first, second in sides]
    return pd.DataFrame(rows, columns=[*KEY, "id", "first", "second"])


def shared_pairs(scored: "pd.DataFrame", names: Names) -> "pd.DataFrame":
    """Every match of a pair outside the development sets with one inside them: CSV_COLUMNS, and the task."""
    sides = zip(scored["first"], scored["second"], strict=True)
    pairs = scored.assign(key=["\n".join(sorted(pair)) for pair in sides])
    inside = pairs.dataset.isin(names.development)
    others = pairs[inside].add_prefix("other_")
    found = pairs[~inside].merge(others, left_on="key", right_on="other_key")
    swapped = (found["first"] != found.other_first) | (found["second"] != found.other_second)
    return found.assign(kind="pair", swapped=swapped)[[*CSV_COLUMNS, "task"]]


def shared_sentences(scored: "pd.DataFrame", treebank: Iterable[Sentence]) -> "pd.DataFrame":
    """Every side of a pair that is a sentence of the treebank: CSV_COLUMNS, task, text without spaces.

    The side's id is PAIR.1 or PAIR.2. Sentences without a word match nothing.
    """
    import pandas as pd

    first: dict[str, str] = {}
    for sentence in treebank:
        first.setdefault(_letters(normalised("".join(sentence.forms))), sentence.id)
    first.pop("", None)
    rows = [
        (
            "sentence",
            pair.dataset,
            pair.subset,
            f"{pair.id}.{side}",
            "treebank",
            "",
            first[text],
            "",
            pair.task,
            text,
        )
        for pair in scored.itertuples()
        for side, text in ((1, _letters(pair.first)), (2, _letters(pair.second)))
        if text in first
    ]
    return pd.DataFrame(rows, columns=[*CSV_COLUMNS, "task", "letters"])


def _letters(text: str) -> str:
    return text.replace(" ", "")


def contamination_csv(shared: "pd.DataFrame", sentences: "pd.DataFrame | None") -> str:
    """All matches as CSV."""
    import pandas as pd

    pairs = shared.assign(swapped=shared.swapped.map({True: "true", False: "false"}))
    matches = pd.concat([pairs] if sentences is None else [pairs, sentences])
    return matches.to_csv(columns=CSV_COLUMNS, index=False, lineterminator="\n")


def contamination_page(
    scored: "pd.DataFrame", names: Names, shared: "pd.DataFrame", sentences: "pd.DataFrame | None"
) -> str:
    """The Markdown page: shared pairs, named, and shared sentences (None where no treebank was read)."""
    parts = ["# What data sets share\n", "## Pairs\n", _pairs_part(scored, names, shared)]
    if sentences is not None:
        parts += ["## Sentences of the training treebank\n", _sentences_part(scored, names, sentences)]
    return "\n".join(parts)


def contamination_notes(scored: "pd.DataFrame", names: Names, shared: "pd.DataFrame") -> dict[str, list[str]]:
    """Notes for each task's table of results; none where nothing could be shared."""
    notes: dict[str, list[str]] = {}
    matches = {place: rows for place, rows in shared.groupby(KEY)}
    for (task, dataset, subset), total in _counts(scored).items():
        if dataset in names.development or not names.development:
            continue
        of_task = notes.setdefault(task, [])
        if (rows := matches.get((task, dataset, subset))) is not None:
            others = ", ".join(sorted(map(names.name, rows.other_dataset.unique())))
            of_task.append(
                f"{names.name(dataset)} {subset}: {rows.id.nunique()} of {total} scored pairs stand in "
                f"{others} (development) too; contamination.md names them."
            )
    none = ["No scored pair to report on stands in a development data set (contamination.md)."]
    return {task: lines or none for task, lines in notes.items()}


def _counts(frame: "pd.DataFrame", column: str = "id") -> Mapping[tuple[str, str, str], int]:
    """How many distinct pairs, or texts, there are by task, data set and subset."""
    return frame.groupby(KEY, sort=False)[column].nunique().to_dict()


def _pairs_part(scored: "pd.DataFrame", names: Names, shared: "pd.DataFrame") -> str:
    marked = ", ".join(names.name(dataset) for dataset in names.labels if dataset in names.development)
    if not names.development or set(names.labels) <= set(names.development):
        lacking = "is left to report on" if names.development else "is for development"
        return f"No data set {lacking}, so there is nothing that pairs could be shared with.\n"
    straight = shared[~shared.swapped.astype(bool)]
    only_swapped = shared[~(shared.dataset + "\n" + shared.id).isin(straight.dataset + "\n" + straight.id)]
    found, swapped = _counts(shared), _counts(only_swapped)
    body = [
        [names.name(place[1]), place[2], *map(str, (n, found.get(place, 0), swapped.get(place, 0)))]
        for place, n in _counts(scored).items()
        if place[1] not in names.development
    ]
    header = ["data set", "subset", "scored pairs", "also in development", "with sides swapped only"]
    caption = (
        f"Scored pairs that a data set for development has too ({marked}): the same two sentences, after "
        "Unicode's normal form C, case folding and with all white space alike."
    )
    lines = [
        f"{names.name(match.dataset)} {match.id}: {names.marked(match.other_dataset)} {match.other_id}"
        + (", sides swapped" if match.swapped else "")
        for match in shared[:NAMED].itertuples()
    ]
    lines += [f"{len(shared) - NAMED} more are in contamination.csv."] if len(shared) > NAMED else []
    named = f"\n{bullets(lines)}" if lines else ""
    return f"{markdown_table(header, body, 2)}\n{escape(caption)}\n{named}"


def _sentences_part(scored: "pd.DataFrame", names: Names, sentences: "pd.DataFrame") -> str:
    import pandas as pd

    sides = pd.concat([scored.assign(letters=scored[side].map(_letters)) for side in ("first", "second")])
    known, body = _counts(sentences, "letters"), []
    for place, n in _counts(sides, "letters").items():
        count = known.get(place, 0)
        body.append([names.name(place[1]), place[2], str(n), str(count), f"{100 * count / n:.2f}%"])
    header = ["data set", "subset", "distinct sentences", "also in the treebank", "share"]
    caption = (
        "Sentences of scored pairs that the treebank has too, without regard to case and white space. One "
        "with quotation marks or brackets is found only if the treebank writes them alike."
    )
    return f"{markdown_table(header, body, 2)}\n{caption}\n"
