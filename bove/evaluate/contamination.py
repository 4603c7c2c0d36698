"""What data sets share with those that choices were made on, and with the training treebank.

Two pairs are one where their sentences are, in either order; two sentences are one where they agree after
Unicode's normal form C, case folding and with every run of white space as one space. A treebank has tokens,
not text, so its sentences are compared without any white space. Pairs without gold count nowhere.
"""

import csv
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from bove.evaluate.tables import dataset_cell, dataset_name, escape, markdown_table
from bove.text.conll import Sentence
from bove.text.pairs import Pair

CSV_COLUMNS = (
    "kind", "dataset", "subset", "id", "other_dataset", "other_subset", "other_id", "swapped",
)  # fmt: skip
NAMED = 20


@dataclass(frozen=True, slots=True)
class SharedPair:
    """A pair to report on that a development set has too; `swapped` where its sentences change places."""

    pair: Pair
    other: Pair
    swapped: bool


@dataclass(frozen=True, slots=True)
class SharedSentence:
    """A side of a pair, 1 or 2, and the id of the first sentence of the treebank that is the same."""

    pair: Pair
    side: int
    other: str


def normalised(text: str) -> str:
    """The text as sentences are compared: normal form C, case folded, one space for all white space."""
    folded = unicodedata.normalize("NFC", text).casefold()
    return " ".join(unicodedata.normalize("NFC", folded).split())


def shared_pairs(pairs: Iterable[Pair], development: Collection[str]) -> list[SharedPair]:
    """Every match of a scored pair outside the development sets with a scored one inside them."""
    known: dict[tuple[str, str], list[tuple[Pair, tuple[str, str]]]] = {}
    reported = []
    for pair in pairs:
        if pair.scored and pair.dataset in development:
            sides = normalised(pair.first), normalised(pair.second)
            known.setdefault(_unordered(sides), []).append((pair, sides))
        elif pair.scored:
            reported.append(pair)
    found = []
    for pair in reported:
        sides = normalised(pair.first), normalised(pair.second)
        for other, of_other in known.get(_unordered(sides), ()):
            found.append(SharedPair(pair, other, sides != of_other))
    return found


def shared_sentences(pairs: Iterable[Pair], treebank: Iterable[Sentence]) -> list[SharedSentence]:
    """Every side of a scored pair that is a sentence of the treebank; sentences without a word are none."""
    first: dict[str, str] = {}
    for sentence in treebank:
        first.setdefault(_letters("".join(sentence.forms)), sentence.id)
    first.pop("", None)
    return [
        SharedSentence(pair, side, first[letters])
        for pair in pairs
        if pair.scored
        for side, text in ((1, pair.first), (2, pair.second))
        if (letters := _letters(text)) in first
    ]


def write_csv(stream: IO[str], pairs: Sequence[SharedPair], sentences: Sequence[SharedSentence]) -> None:
    """Write all that is shared: a row a match, of the kind `pair` or `sentence`."""
    table = csv.writer(stream, lineterminator="\n")
    table.writerow(CSV_COLUMNS)
    for match in pairs:
        pair, other = match.pair, match.other
        places = [pair.dataset, pair.subset, pair.id, other.dataset, other.subset, other.id]
        table.writerow(["pair", *places, str(match.swapped).lower()])
    for match in sentences:
        pair = match.pair
        name = f"{pair.id}.{match.side}"
        table.writerow(["sentence", pair.dataset, pair.subset, name, "treebank", "", match.other, ""])


def contamination_page(
    pairs: Sequence[Pair],
    development: Collection[str],
    shared: Sequence[SharedPair],
    sentences: Sequence[SharedSentence] | None,
) -> str:
    """The Markdown page: shared pairs, named, and shared sentences (None where no treebank was read)."""
    labels = labels_of(pairs)
    parts = ["# What data sets share\n", "## Pairs\n", _pairs_part(pairs, labels, development, shared)]
    if sentences is not None:
        parts += ["## Sentences of the training treebank\n", _sentences_part(pairs, labels, sentences)]
    return "\n".join(parts)


def table_notes(
    pairs: Sequence[Pair], development: Collection[str], shared: Sequence[SharedPair]
) -> dict[str, list[str]]:
    """Notes for each task's table of results; none where nothing could be shared."""
    labels, notes = labels_of(pairs), {}
    found = _by_subset(match.pair for match in shared)
    for (task, dataset, subset), total in _by_subset(pairs).items():
        if dataset in development or not development:
            continue
        of_task = notes.setdefault(task, [])
        if count := found.get((task, dataset, subset)):
            others = {
                match.other.dataset for match in shared if _place(match.pair) == (task, dataset, subset)
            }
            where = ", ".join(sorted(dataset_name(other, labels) for other in others))
            of_task.append(
                f"{dataset_name(dataset, labels)} {subset}: {count} of {total} scored pairs stand in {where} "
                "(development) too; contamination.md names them."
            )
    return {
        task: lines or ["No scored pair to report on stands in a development data set (contamination.md)."]
        for task, lines in notes.items()
    }


def labels_of(pairs: Iterable[Pair]) -> dict[str, str]:
    """Name in print of each data set."""
    return {pair.dataset: pair.label for pair in pairs}


def _unordered(sides: tuple[str, str]) -> tuple[str, str]:
    return min(sides), max(sides)


def _letters(text: str) -> str:
    return normalised(text).replace(" ", "")


def _place(pair: Pair) -> tuple[str, str, str]:
    return pair.task, pair.dataset, pair.subset


def _by_subset(pairs: Iterable[Pair]) -> dict[tuple[str, str, str], int]:
    """How many distinct scored pairs there are of each task, data set and subset."""
    found: dict[tuple[str, str, str], set[str]] = {}
    for pair in pairs:
        if pair.scored:
            found.setdefault(_place(pair), set()).add(pair.id)
    return {place: len(ids) for place, ids in found.items()}


def _pairs_part(pairs, labels: Mapping[str, str], development, shared: Sequence[SharedPair]) -> str:
    reported = [name for name in labels if name not in development]
    if not development or not reported:
        lacking = "is for development" if not development else "is left to report on"
        return f"No data set {lacking}, so there is nothing that pairs could be shared with.\n"
    found, swapped = (_by_subset(m.pair for m in matches) for matches in (shared, _swapped(shared)))
    body = [
        [dataset_name(place[1], labels), place[2], *map(str, (n, found.get(place, 0), swapped.get(place, 0)))]
        for place, n in _by_subset(pairs).items()
        if place[1] not in development
    ]
    header = ["data set", "subset", "scored pairs", "also in development", "with sides swapped only"]
    marked = ", ".join(dataset_name(name, labels) for name in labels if name in development)
    named = "".join(f"* {escape(_named(match, labels, development))}\n" for match in shared[:NAMED])
    more = f"* {len(shared) - NAMED} more are in contamination.csv.\n" if len(shared) > NAMED else ""
    caption = (
        f"Scored pairs that a data set for development has too ({marked}): the same two sentences, after "
        "Unicode's normal form C, case folding and with all white space alike."
    )
    return f"{markdown_table(header, body, 2)}\n{escape(caption)}\n" + (f"\n{named}{more}" if shared else "")


def _swapped(shared: Sequence[SharedPair]) -> list[SharedPair]:
    """Matches of the pairs that no match has in their own order."""
    straight = {(match.pair.dataset, match.pair.id) for match in shared if not match.swapped}
    return [match for match in shared if (match.pair.dataset, match.pair.id) not in straight]


def _named(match: SharedPair, labels, development) -> str:
    pair, other = match.pair, match.other
    mine = f"{dataset_name(pair.dataset, labels)} {pair.id}"
    return f"{mine}: {dataset_cell(other.dataset, labels, development)} {other.id}" + (
        ", sides swapped" if match.swapped else ""
    )


def _sentences_part(pairs: Sequence[Pair], labels, sentences: Sequence[SharedSentence]) -> str:
    texts: dict[tuple[str, str, str], set[str]] = {}
    for pair in pairs:
        if pair.scored:
            texts.setdefault(_place(pair), set()).update(map(_letters, (pair.first, pair.second)))
    known: dict[tuple[str, str, str], set[str]] = {}
    for match in sentences:
        text = match.pair.first if match.side == 1 else match.pair.second
        known.setdefault(_place(match.pair), set()).add(_letters(text))
    body = []
    for place, distinct in texts.items():
        count = len(known.get(place, ()))
        cells = [str(len(distinct)), str(count), f"{100 * count / len(distinct):.2f}%"]
        body.append([dataset_name(place[1], labels), place[2], *cells])
    header = ["data set", "subset", "distinct sentences", "also in the treebank", "share"]
    caption = (
        "Sentences of scored pairs that the treebank has too, without regard to case and white space. One "
        "with quotation marks or brackets is found only if the treebank writes them alike."
    )
    return f"{markdown_table(header, body, 2)}\n{caption}\n"
