r"""CoNLL-2009, CoNLL-2008 and CoNLL-U files as streams of sentences.

CoNLL-2009 columns: ID FORM LEMMA PLEMMA POS PPOS FEAT PFEAT HEAD PHEAD DEPREL PDEPREL, then any number of
columns about predicates, which are not read. CoNLL-2008: ID FORM LEMMA GPOS PPOS SPLIT_FORM SPLIT_LEMMA PPOSS
HEAD DEPREL, then such columns; tokens are its split forms. CoNLL-U: ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL
DEPS MISC, or what a comment `global.columns` says; its multiword ranges (1-2) and empty nodes (8.1) are not
tokens. A file has one layout, which the columns of its first sentences tell. Cells are separated by tabs
alone. A line that starts with `#` is a comment: a row starts with its number. Sentences end at blank lines.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, NamedTuple

from bove.errors import BoveError
from bove.files import note, read_lines

# Kinds of oddity: what keeps a sentence's heads from being one tree, and what is only counted.
NO_HEAD = "tokens without a head"
OUT_OF_RANGE = "heads beyond the sentence"
NEGATIVE = "negative heads"
SELF_LOOP = "tokens that head themselves"
CYCLE = "sentences with a cycle"
NO_ROOT = "sentences without a root"
TWO_ROOTS = "sentences with several roots"
NO_TAG = "tokens without a tag"
NO_LABEL = "tokens with a head but no label"
REPEATED_ID = "repeated sentence ids"
NO_TOKENS = "sentences without tokens"
INNER_COMMENT = "comments inside a sentence"
RANGE = "multiword ranges (no tokens)"
EMPTY_NODE = "empty nodes (no tokens)"

SENT_ID = re.compile(r"#[ \t]*sent_id[ \t]*=[ \t]*(.*?)[ \t]*$")
_GLOBAL = re.compile(r"#[ \t]*global\.columns[ \t]*=(.*)")
_NUMBER = re.compile(r"-?[0-9]{1,18}")
_COUNT = re.compile(r"[1-9][0-9]{0,17}")
_NO_TOKEN = re.compile(r"[0-9]+([-.])[0-9]+")
Line = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and its dependencies; all tuples hold one entry per token.

    Attributes:
        id: name of the sentence.
        forms: the words as in the text.
        tags: parts of speech.
        heads: number of each token's head, from 1; 0 for a root, -1 where none is known.
        relations: dependency labels.
    """

    id: str
    forms: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    heads: tuple[int, ...] = ()
    relations: tuple[str, ...] = ()


class Layout(NamedTuple):
    """The name of a layout, its number of columns (at least, unless it is CoNLL-U), and places, from 0."""

    name: str
    width: int
    form: int
    tag: int
    other_tag: int
    head: int
    relation: int

    @property
    def universal(self) -> bool:
        """Whether it is CoNLL-U, or CoNLL-U Plus."""
        return self.name.startswith("CoNLL-U")


_LAYOUTS = {
    "gold": Layout("CoNLL-2009", 12, 1, 4, 4, 8, 10),
    "predicted": Layout("CoNLL-2009", 12, 1, 5, 5, 9, 11),
}
_CONLL_2008 = Layout("CoNLL-2008", 10, 5, 7, 7, 8, 9)
_CONLLU = Layout("CoNLL-U", 10, 1, 4, 3, 6, 7)
_LOOKED_AT = 500  # rows at least, where there are as many, that tell the layout


def read_sentences(
    path: str | Path,
    columns: str = "gold",
    encoding: str = "utf-8",
    counts: Counter | None = None,
    strict: bool = False,
) -> Iterator[Sentence]:
    """Stream the sentences of a CoNLL-2009, CoNLL-2008 or CoNLL-U file, whose columns tell which it is.

    A sentence is named by its `sent_id` comment, or else numbered from 1. A block of comments with a
    `sent_id` and no rows is an empty sentence. A CoNLL-U token's tag is its XPOS, or its UPOS where there is
    none. A head beyond the sentence or below 0 becomes -1; cycles, self-loops and any number of roots stay.
    An id may be repeated.

    Args:
        path: the file, gzip or not.
        columns: "gold" or "predicted" tag, head and label of CoNLL-2009; the others have one set.
        counts: gets the number of odd things, by kind; if it is an Oddities, their lines too.
        strict: raise at the first odd tree instead of counting it.

    Raises:
        BoveError: a malformed row, a file without any head, an unknown encoding, or, if strict, an odd tree.
    """
    if columns not in ("gold", "predicted"):
        raise BoveError(f"columns {columns!r}: unknown; choose gold or predicted")
    counts = Counter() if counts is None else counts
    layout, found = open_blocks(path, columns, encoding, counts)
    number, tokens, headed = 0, 0, False
    seen: set[str] = set()  # ids; those before the first name are 1 to `unnamed`, and need no memory
    unnamed = 0
    for comments, rows in found:
        place, name = first_comment(SENT_ID, comments)
        if not rows and name is None:
            continue
        number += 1
        own = name or str(number)
        if name or seen:
            if own in seen or (_COUNT.fullmatch(own) and int(own) <= unnamed):
                note(counts, REPEATED_ID, place or rows[0][0])
            seen.add(own)
        else:
            unnamed = number
        sentence = _sentence(path, own, rows, layout, counts, strict)
        if not sentence.forms:
            note(counts, NO_TOKENS, rows[0][0] if rows else place)
        tokens += len(sentence.forms)
        headed = headed or any(head >= 0 for head in sentence.heads)
        yield sentence
    if tokens and not headed:
        raise BoveError(
            f"{path}: none of its {tokens} tokens has a head in the {columns} columns; "
            f"parse the file first, or choose the other columns"
        )


def open_blocks(
    path: str | Path, columns: str = "gold", encoding: str = "utf-8", counts: Counter | None = None
) -> tuple[Layout | None, Iterator[tuple[list[Line], list[Line]]]]:
    """The layout of a file, None where it has no rows, and all that `blocks` gives.

    Args and Raises: as of `read_sentences`, but no row is looked into beyond what tells the layout.
    """
    found, head, rows = blocks(path, encoding, counts), [], []
    for block in found:
        head.append(block)
        rows += block[1]
        if len(rows) >= _LOOKED_AT:
            break
    number, names = first_comment(_GLOBAL, [comment for comments, _ in head for comment in comments])
    if names is not None:
        layout = _named_layout(path, number, names.split())
    else:
        layout = _find_layout(path, rows, columns) if rows else None
    return layout, chain(head, found)


def first_comment(pattern: re.Pattern, comments: Sequence[Line]) -> tuple[int, str | None]:
    """Line and first group of the first comment that a pattern matches; (0, None) without one."""
    found = ((number, match[1]) for number, line in comments if (match := pattern.match(line)))
    return next(found, (0, None))


def blocks(
    path: str | Path, encoding: str = "utf-8", counts: Counter | None = None
) -> Iterator[tuple[list[Line], list[Line]]]:
    """Numbered comments and numbered rows of each run of lines between blank ones.

    Args and Raises: as of `read_sentences`, but rows are not looked into. Comments after the first row are
    only counted.
    """
    counts = Counter() if counts is None else counts
    comments, rows = [], []
    for number, line in chain(read_lines(path, encoding), [(0, "")]):
        if not line.strip(" \t"):
            if comments or rows:
                yield comments, rows
            comments, rows = [], []
        elif not line.startswith("#"):
            rows.append((number, line))
        elif rows:
            note(counts, INNER_COMMENT, number)
        else:
            comments.append((number, line))


def _named_layout(path, number, names) -> Layout:
    """The layout that a comment `global.columns` names."""
    tags = [name for name in ("XPOS", "UPOS") if name in names] or ["UPOS"]
    needed = ("FORM", tags[0], tags[-1], "HEAD", "DEPREL")
    if missing := [name for name in ("ID", *needed) if name not in names[: 1 if name == "ID" else None]]:
        raise BoveError(
            f"{path}, line {number}: global.columns names no {missing[0]} where it is due; give a file whose "
            f"columns start with ID and have FORM, UPOS or XPOS, HEAD and DEPREL"
        )
    return Layout("CoNLL-U Plus", len(names), *map(names.index, needed))


def _find_layout(path, rows, columns) -> Layout:
    """The layout by the most frequent number of cells and by what these rows have where heads are due."""
    cells = [line.rstrip("\t").split("\t") for _, line in rows]  # trailing empty cells are padding
    width = _most(map(len, cells))
    usual = [row for row in cells if len(row) == width]
    if width >= 10:
        # where CoNLL-2009 has two heads, CoNLL-2008 has a head and its label
        older = [row for row in usual if _NUMBER.fullmatch(row[8]) and not _is_head(row[9])]
        older = [row for row in older if width > 10 or not _is_head(row[6])]
        if 2 * len(older) > len(usual):
            return _CONLL_2008
    if 8 <= width <= 10:
        return _CONLLU
    if width >= 12:
        return _LAYOUTS[columns]
    wanted = "CoNLL-2009 has 12 or more columns, CoNLL-2008 10 or more, CoNLL-U 10"
    raise _row_error(path, *rows[list(map(len, cells)).index(width)], wanted)


def _most(numbers) -> int:
    return Counter(numbers).most_common(1)[0][0]


def _is_head(cell: str) -> bool:
    return cell == "_" or _NUMBER.fullmatch(cell) is not None


def _row_error(path, number, line, wanted) -> BoveError:
    if "\t" not in line and len(line.split()) >= 10:
        return BoveError(
            f"{path}, line {number}: its columns are separated by spaces; separate them by single tabs "
            f"(such as with: sed -E 's/ +/\\t/g')"
        )
    found = line.count("\t") + 1
    return BoveError(
        f"{path}, line {number}: {found} column{'s' * (found > 1)}, but {wanted}; repair the row"
    )


def _sentence(path, name, rows, layout, counts, strict) -> Sentence:
    forms, tags, heads, relations, lines = [], [], [], [], []
    filled = [line.rstrip("\t").count("\t") + 1 for _, line in rows]
    due = max(layout.width, 0 if layout.universal else _most(filled)) if rows else 0
    for (number, line), width in zip(rows, filled, strict=True):
        cells = line.split("\t")
        if width > due or len(cells) < due:
            wanted = f"{due} are due in a file that is {layout.name} by its first sentences"
            raise _row_error(path, number, line, wanted)
        if cells[0] != str(len(forms) + 1):
            found = _NO_TOKEN.fullmatch(cells[0])
            if found and layout.universal:
                note(counts, RANGE if found[1] == "-" else EMPTY_NODE, number)
                continue
            raise BoveError(
                f"{path}, line {number}: token number {cells[0]!r} in the place of {len(forms) + 1}; number "
                f"the tokens of a sentence from 1 and put a blank line between sentences"
            )
        tag = cells[layout.tag] if cells[layout.tag] != "_" else cells[layout.other_tag]
        if not (cells[layout.form] and tag and cells[layout.relation]):
            raise BoveError(f"{path}, line {number}: an empty cell; write _ for a value that is not known")
        forms.append(cells[layout.form])
        tags.append(tag)
        head = cells[layout.head]
        if not _is_head(head):
            raise BoveError(
                f"{path}, line {number}: head {head!r} is not a number; write 0 for the root, _ for none"
            )
        heads.append(None if head == "_" else int(head))
        relations.append(cells[layout.relation])
        lines.append(number)
    for line, tag, head, label in zip(lines, tags, heads, relations, strict=True):
        if tag == "_":
            note(counts, NO_TAG, line)
        if head and label == "_":
            note(counts, NO_LABEL, line)
    for kind, token in oddities(heads):
        note(counts, kind, lines[token])
        if strict:
            raise BoveError(f"{path}, line {lines[token]}: {kind}; repair the tree")
    size = len(forms)
    kept = tuple(-1 if head is None or not 0 <= head <= size else head for head in heads)
    return Sentence(name, tuple(forms), tuple(tags), kept, tuple(relations))


def oddities(heads: Sequence[int | None]) -> Iterator[tuple[str, int]]:
    """(kind, token from 0) of everything that keeps the heads from being one tree.

    Heads number tokens from 1; 0 is the root and None no head. A sentence may have any length.
    """
    if not heads:
        return
    for token, head in enumerate(heads):
        if head is None:
            yield NO_HEAD, token
        elif head < 0:
            yield NEGATIVE, token
        elif head > len(heads):
            yield OUT_OF_RANGE, token
        elif head == token + 1:
            yield SELF_LOOP, token
    roots = heads.count(0)
    if roots == 0:
        yield NO_ROOT, 0
    elif roots > 1:
        yield TWO_ROOTS, heads.index(0, heads.index(0) + 1)
    if (token := _first_in_cycle(heads)) is not None:
        yield CYCLE, token


def _first_in_cycle(heads) -> int | None:
    """A token (from 0) that is its own ancestor through another one, if there is any."""
    seen = [0] * (len(heads) + 1)
    for start in range(1, len(heads) + 1):
        token = start
        while token and 0 < token <= len(heads) and not seen[token]:
            seen[token] = start
            token = heads[token - 1]
        if token and 0 < token <= len(heads) and seen[token] == start and heads[token - 1] != token:
            return token - 1
    return None


def write_conllu(stream: IO[str], sentence: Sentence, text: str = "", comments: Sequence[str] = ()) -> None:
    """Write one tree in CoNLL-U, its tag as UPOS and as XPOS.

    A sentence without tokens becomes a block of comments, among them `# bove_empty = yes`.

    Args:
        sentence: its head -1 is written as `_`.
        text: the sentence as one string; line breaks and tabs become spaces.
        comments: further comment lines, without their `#`, such as the file's provenance; they go first.

    Raises:
        BoveError: a form, tag, label or the id is empty or holds a tab or a line break.
    """
    cells = (*sentence.forms, *sentence.tags, *sentence.relations, sentence.id)
    for cell in cells:
        if not cell or any(mark in cell for mark in "\t\r\n\ufeff"):
            raise BoveError(f"sentence {sentence.id!r}: {cell!r} cannot be a CoNLL-U cell; repair it")
    lines = [f"# {comment.translate(_SPACES)}" for comment in comments]
    lines += [f"# sent_id = {sentence.id}", f"# text = {text.translate(_SPACES)}".rstrip(" ")]
    if not sentence.forms:
        lines.append("# bove_empty = yes")
    rows = zip(sentence.forms, sentence.tags, sentence.heads, sentence.relations, strict=True)
    for number, (form, tag, head, relation) in enumerate(rows, 1):
        lines.append(f"{number}\t{form}\t_\t{tag}\t{tag}\t_\t{'_' if head < 0 else head}\t{relation}\t_\t_")
    stream.write("\n".join(lines) + "\n\n")


_SPACES = str.maketrans("\t\r\n", "   ")
