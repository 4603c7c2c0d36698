"""Plain text to dependency trees, with a Stanza tagger and parser.

Text is divided into sentences and tokens as in the parser's treebank (`bove.text.tokens`); every sentence is
parsed by itself, and the trees of one text make one graph with a root each. Nothing is fetched.
"""

import json
import logging
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from itertools import islice
from pathlib import Path

from bove.errors import BoveError
from bove.files import sha256
from bove.text import tokens
from bove.text.checkpoints import read_checkpoint, read_conventions, state_hash
from bove.text.conll import Sentence
from bove.text.conventions import Conventions
from bove.text.foundations import read_foundation, settings

CHUNK = 256  # texts at a time; larger chunks are no faster
# Kinds that `Parser.parse` counts.
EMPTY = "texts without a token"
SEVERAL = "texts of several sentences"
CUT = "sentences longer than the limit, parsed in pieces"
TOKENS = "tokens"
# What Stanza raises for models that it was not made for, and for texts that it can not parse.
_FAILURES = (
    RuntimeError, ValueError, LookupError, AssertionError, TypeError, AttributeError, ImportError,
    ArithmeticError,
)  # fmt: skip


def distinct(ids: Sequence[str], texts: Sequence[str]) -> list[tuple[str, str]]:
    """(id, text) of the first appearance of every text, in order."""
    first: dict[str, str] = {}
    for name, text in zip(ids, texts, strict=True):
        first.setdefault(text, name)
    return [(name, text) for text, name in first.items()]


def spread(ids: Sequence[str], texts: Sequence[str], trees: Iterator[Sentence]) -> Iterator[Sentence]:
    """Yield one graph for every id, from the trees of the distinct texts in order.

    All of these trees are asked for, so that whoever gives them can see the end.
    """
    known: dict[str, Sentence] = {}
    for name, text in zip(ids, texts, strict=True):
        if text not in known:
            known[text] = next(trees)
        tree = known[text]
        yield Sentence(name, tree.forms, tree.tags, tree.heads, tree.relations)
    for tree in trees:
        raise AssertionError(f"a tree {tree.id} of no text")


def one_line(text: str) -> str:
    """A text as UTF-8 can hold it, on one line."""
    return " ".join(text.encode("utf-8", "replace").decode().split())


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute in one thread: faster for models of this size, and the only way to equal results."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def pipeline(
    tagger: str | Path | None = None,
    parser: str | Path | None = None,
    lemmatizer: str | Path | None = None,
    **more: str,
):
    """A Stanza pipeline for ready-made tokens, from files alone; without a tagger, tags are given.

    Further settings are those of Stanza, such as where a model's word vectors lie.
    """
    import stanza

    models = {"pos": tagger, "lemma": lemmatizer, "depparse": parser}
    paths = {f"{name}_model_path": str(path) for name, path in models.items() if path is not None}
    processors = {"tokenize": "custom"} | {
        name: "custom" for name, path in models.items() if path is not None
    }
    level = logging.getLogger("stanza").level
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "resources.json").write_text(json.dumps({"en": {"packages": {}}}), encoding="utf-8")
        try:
            return stanza.Pipeline(
                lang="en",
                dir=folder,
                download_method=None,
                allow_unknown_language=True,
                package=None,
                processors=processors,
                tokenize_pretokenized=True,
                use_gpu=False,
                logging_level="WARN",
                depparse_pretagged=True,
                depparse_resolve_head_constraints=False,  # a repair for Universal Dependencies alone
                **paths,
                **more,
            )
        finally:
            logging.getLogger("stanza").setLevel(level)


def _load(tagger, parser, further, told):
    """The pipeline of a parser and the labels that it can give, or a BoveError that names its files."""
    try:
        made = pipeline(tagger, parser, further.get("lemmatizer"), **told)
        return made, frozenset(made.processors["depparse"].get_known_relations())
    except (*_FAILURES, OSError) as e:
        files = ", ".join(map(str, (tagger, parser, *further.values())))
        raise BoveError(
            f"{files}: Stanza can not load them together ({type(e).__name__}: {e}); give files that were "
            f"made for each other, by a version of Stanza near {version('stanza')}"
        ) from e


class Parser:
    """Tagger and parser, loaded once.

    Attributes:
        conventions: how text is divided and written.
        relations: labels that the parser can give.
        hashes: SHA-256 of the weights of "tagger" and "parser", and of the further files.
        counts: kinds of texts seen so far, and tokens; equal texts are counted once a call.
    """

    def __init__(
        self,
        tagger: str | Path,
        parser: str | Path,
        max_tokens: int,
        conventions: Conventions | None = None,
        further: Mapping[str, str | Path] | None = None,
    ):
        """Load the models.

        Args:
            tagger, parser: files from `bove train-tagger` and `bove train-parser`, or of Stanza.
            max_tokens: a longer sentence is cut into pieces of so many tokens, each with a root of its own.
            conventions: by default those that the parser's file holds, or else the defaults.
            further: files that the two models need, by their names in `foundations.NAMES`.

        Raises:
            BoveError: a file that is missing, of another kind, or in need of files that are not given.
        """
        if max_tokens < 1:
            raise BoveError(f"at most {max_tokens} tokens a sentence: give 1 or more")
        models = {"tagger": read_checkpoint(tagger, "tagger"), "parser": read_checkpoint(parser, "parser")}
        further = further or {}
        processors = {"pos": (tagger, models["tagger"]), "depparse": (parser, models["parser"])}
        for name, path in further.items():
            content = read_foundation(name, path)
            processors |= {"lemma": (path, content)} if name == "lemmatizer" else {}
        told = settings(processors, further)
        self.max_tokens = max_tokens
        self.conventions = conventions or read_conventions(parser, models["parser"]) or Conventions()
        self.hashes = {kind: state_hash(content) for kind, content in models.items()}
        self.hashes |= {name: sha256(path) for name, path in further.items()}
        self.counts: Counter[str] = Counter()
        with one_thread():
            self._pipeline, self.relations = _load(tagger, parser, further, told)

    def parse(self, texts: Sequence[str], ids: Sequence[str] | None = None) -> Iterator[Sentence]:
        """One graph a text, in order; equal texts are parsed once.

        A text without a token (blank, or of characters that can not be seen) gives a graph without tokens.

        Args:
            texts: anything; line breaks are spaces.
            ids: their names, by default 1, 2, …

        Raises:
            BoveError: a text that Stanza can not parse, with its name.
        """
        names = [str(number) for number in range(1, len(texts) + 1)] if ids is None else ids
        return spread(names, texts, self._parse_distinct(distinct(names, texts)))

    def parse_tokens(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """Yield a tree of each sentence's own tokens, in order and under its id, a chunk at a time.

        Only the forms are read: tags, heads and labels are all predicted. A sentence without tokens stays so.

        Raises:
            BoveError: a sentence that Stanza can not parse, with its id.
        """
        waiting = iter(sentences)
        while chunk := list(islice(waiting, CHUNK)):
            yield from self._parse_pieces([(s.id, self._cut([s.forms] if s.forms else [])) for s in chunk])

    def _parse_distinct(self, items) -> Iterator[Sentence]:
        for start in range(0, len(items), CHUNK):
            chunk = items[start : start + CHUNK]
            yield from self._parse_pieces([(name, self._pieces(text)) for name, text in chunk])

    def _parse_pieces(self, chunk) -> Iterator[Sentence]:
        """One graph for each (name, token lists) of a chunk, which is parsed at once."""
        owners = [name for name, own in chunk for _ in own]
        with one_thread():
            trees = iter(self._run([piece for _, own in chunk for piece in own], owners))
        for name, own in chunk:
            yield _join(name, [next(trees) for _ in own])

    def _pieces(self, text) -> list[list[str]]:
        """Token lists to parse: the sentences of a text, the long ones cut."""
        found = tokens.sentences(text, self.conventions)
        self.counts[EMPTY] += not found
        self.counts[SEVERAL] += len(found) > 1
        return self._cut(found)

    def _cut(self, sentences) -> list[list[str]]:
        """Sentences as token lists, none longer than the limit."""
        step = self.max_tokens
        self.counts[CUT] += sum(len(sentence) > step for sentence in sentences)
        self.counts[TOKENS] += sum(map(len, sentences))
        return [list(sentence[i : i + step]) for sentence in sentences for i in range(0, len(sentence), step)]

    def _run(self, pieces, owners) -> list[Sentence]:
        """Parse token lists; if they fail together, one by one to find the one to name."""
        if not pieces:
            return []
        try:
            return _trees(self._pipeline, pieces)
        except _FAILURES as e:
            if len(pieces) == 1:
                reason = f"{type(e).__name__}: {e}"
                raise BoveError(
                    f"sentence {owners[0]}: Stanza can not parse it ({reason}); repair or remove it"
                ) from e
        return [self._run([piece], [owner])[0] for piece, owner in zip(pieces, owners, strict=True)]


def _trees(run, pieces) -> list[Sentence]:
    """One tree a token list, of the very same tokens."""
    found = run(pieces).sentences
    trees = []
    for piece, sentence in zip(pieces, found, strict=True):
        words = sentence.words
        forms = tuple(word.text for word in words)
        if forms != tuple(piece):
            raise ValueError(f"its tokens {' '.join(piece)!r} came back as {' '.join(forms)!r}")
        tags = tuple(word.xpos if word.xpos and word.xpos != "_" else word.upos for word in words)
        heads = tuple(int(word.head) for word in words)
        trees.append(Sentence("", forms, tags, heads, tuple(word.deprel for word in words)))
    return trees


def _join(name: str, trees: Iterable[Sentence]) -> Sentence:
    """Several trees as one graph; each keeps its root."""
    forms: list[str] = []
    tags: list[str] = []
    heads: list[int] = []
    relations: list[str] = []
    for tree in trees:
        heads += [head + len(forms) if head else 0 for head in tree.heads]
        forms += tree.forms
        tags += tree.tags
        relations += tree.relations
    return Sentence(name, tuple(forms), tuple(tags), tuple(heads), tuple(relations))
