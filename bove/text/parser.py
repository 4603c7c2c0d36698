"""Plain text to dependency trees, with a Stanza tagger and parser.

Text is divided into sentences and tokens as in the parser's treebank (`bove.text.tokens`); every sentence is
parsed by itself, and the trees of one text make one graph with a root each. Nothing is fetched.

A model file is read with PyTorch's restricted loader, which builds tensors and plain values only; Stanza
reads it the same way. BoVE adds one entry, `bove`: a JSON text with the model's kind and the treebank's
conventions. Models that BoVE trains need no other file. Stanza's published ones do: their files hold what was
learnt from the treebank, and not the vectors and character models below it; and their parsers read lemmas.
"""

import hashlib
import json
import logging
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from itertools import islice
from pathlib import Path

from bove.errors import BoveError
from bove.files import atomic_path, check_file, sha256
from bove.text import tokens
from bove.text.conll import Sentence
from bove.text.tokens import Conventions

# Settings of the training run that say where it ran, not what was learnt.
_PLACES = (
    "train_file", "eval_file", "save_dir", "save_name", "data_dir", "wordvec_dir", "charlm_save_dir",
    "checkpoint_save_name",
)  # fmt: skip
_KIND_SIGNS = {"tagger": "upos", "parser": "deprel"}
# Each kind of further file, with the sets of entries of which it has one.
NAMES: dict[str, tuple[set[str], ...]] = {
    "lemmatizer": ({"model", "dicts", "vocab", "config"},),
    "pretrain": ({"emb", "vocab"},),
    "charlm_forward": ({"state_dict", "vocab", "args"}, {"model"}),
    "charlm_backward": ({"state_dict", "vocab", "args"}, {"model"}),
}
_KEYWORDS = {"pretrain": "pretrain_path"}
_KEYWORDS |= {f"charlm_{way}": f"{way}_charlm_path" for way in ("forward", "backward")}
_NO_LEMMAS = {"<PAD>", "<UNK>", "<EMPTY>", "<ROOT>", "_"}
CHUNK = 256  # texts at a time; larger chunks are no faster
# Kinds that `Parser.parse` counts.
EMPTY = "texts without a token"
SEVERAL = "texts of several sentences"
CUT = "sentences longer than the limit, parsed in pieces"
TOKENS = "tokens"
# What Stanza raises for models that it was not made for, and for texts that it cannot parse.
_FAILURES = (
    RuntimeError, ValueError, LookupError, AssertionError, TypeError, AttributeError, ImportError,
    ArithmeticError,
)  # fmt: skip


def load_safely(path: str | Path, kind: str):
    """What a file of PyTorch holds, of tensors and plain values only.

    Raises:
        BoveError: no such file, or one that cannot be read so.
    """
    import torch

    check_file(path)
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as e:  # a damaged file can fail in any step of unpickling
        reason = str(e).split("\n")[0][:120]
        raise BoveError(
            f"{path}: not a Stanza {kind} that can be read safely ({reason}); make or fetch it again"
        ) from e


def read_checkpoint(path: str | Path, kind: str) -> dict:
    """A tagger's or parser's file as a dictionary.

    Raises:
        BoveError: no such file, not a model, or one of another kind.
    """
    content, advice = load_safely(path, kind), f"give the file that `bove train-{kind}` wrote"
    parts = ("model", "vocab", "config")
    if not isinstance(content, dict) or not all(isinstance(content.get(name), dict) for name in parts):
        raise BoveError(f"{path}: not a Stanza model; {advice}")
    if "deprel" in content["vocab"] and kind == "tagger":
        raise BoveError(f"{path}: a parser in the place of the tagger; exchange the two files")
    if _KIND_SIGNS[kind] not in content["vocab"]:
        raise BoveError(f"{path}: a Stanza model, but no {kind}; {advice}")
    read_conventions(path, content)
    return content


def units(vocab: object) -> list[str]:
    """The names that one of a model's vocabularies numbers; none where it is of another make."""
    found = vocab.get("_id2unit") if isinstance(vocab, dict) else None
    return [str(unit) for unit in found] if isinstance(found, list) else []


def write_checkpoint(path: str | Path, content: dict, kind: str, conventions: Conventions) -> None:
    """Write a model without the paths of its training run; the same content gives the same bytes."""
    import torch

    config = {name: value for name, value in content["config"].items() if name not in _PLACES}
    note = json.dumps({"kind": kind, "conventions": conventions.as_json()}, sort_keys=True)
    kept = {name: value for name, value in content.items() if "optimizer" not in name}
    with atomic_path(path) as tmp, open(tmp, "wb") as stream:
        torch.save(kept | {"config": config, "bove": note}, stream)


def read_conventions(path: str | Path, content: dict) -> Conventions | None:
    """The treebank's conventions that a checkpoint holds; None for a model that BoVE did not train.

    Raises:
        BoveError: they are damaged.
    """
    note = content.get("bove")
    try:
        return None if note is None else Conventions.from_json(json.loads(note)["conventions"])
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as e:
        raise BoveError(f"{path}: its note of the treebank's conventions is damaged; train it again") from e


def state_hash(content: dict) -> str:
    """Hex SHA-256 of a checkpoint's tensors, by name; equal for models with equal weights."""
    import torch

    digest = hashlib.sha256()
    for name, tensor in sorted(content["model"].items()):
        if isinstance(tensor, torch.Tensor):
            digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
            digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def needed(path: str | Path, content: dict) -> list[str]:
    """The names, from `NAMES`, of the further files that a checkpoint needs.

    Raises:
        BoveError: it needs a transformer, which is not a file.
    """
    config, vocab = content["config"], content["vocab"]
    if config.get("bert_model"):
        raise BoveError(
            f"{path}: needs the transformer {config['bert_model']}, which `bove parse` does not load; choose "
            f"a model without one, or parse with Stanza yourself and give the trees with --parses"
        )
    names = ["pretrain"] if config.get("pretrain") else []
    names += ["charlm_forward", "charlm_backward"] if config.get("charlm") else []
    lemmas = set(units(vocab.get("lemma"))) - _NO_LEMMAS if "deprel" in vocab else set()
    return [*names, "lemmatizer"] if lemmas and config.get("word_emb_dim") else names


def _places_of_further_files(models, given) -> dict[str, str]:
    """A pipeline's arguments for the further files.

    Args:
        models: path and checkpoint of each processor: "pos", "depparse", and "lemma" where there is one.
        given: paths by name, from `NAMES`.
    """
    places = {}
    for processor, (path, content) in models.items():
        names = needed(path, content)
        missing = [f"--{name.replace('_', '-')}" for name in names if name not in given]
        if missing:
            raise BoveError(
                f"{path}: needs further files: give {', '.join(missing)}; or parse with Stanza yourself and "
                f"give the trees with --parses"
            )
        # the parts of a lemmatizer have needs of their own, which it does not say
        used = [name for name in (given if processor == "lemma" else names) if name in _KEYWORDS]
        places |= {f"{processor}_{_KEYWORDS[name]}": str(given[name]) for name in used}
    return places


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

    Further settings are those of Stanza, such as the path of a model's word vectors.
    """
    import stanza

    models = {"pos": tagger, "lemma": lemmatizer, "depparse": parser}
    paths = {f"{name}_model_path": str(path) for name, path in models.items() if path is not None}
    used = ["tokenize", *(name for name, path in models.items() if path is not None)]
    level = logging.getLogger("stanza").level
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "resources.json").write_text(json.dumps({"en": {"packages": {}}}), encoding="utf-8")
        try:
            return stanza.Pipeline(
                lang="en", dir=folder, download_method=None, allow_unknown_language=True, package=None,
                processors=dict.fromkeys(used, "custom"), tokenize_pretokenized=True, use_gpu=False,
                logging_level="WARN", depparse_pretagged=True,
                depparse_resolve_head_constraints=False,  # a repair for Universal Dependencies alone
                **paths, **more,
            )  # fmt: skip
        finally:
            logging.getLogger("stanza").setLevel(level)


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
        yield replace(known[text], id=name)
    for tree in trees:
        raise AssertionError(f"a tree {tree.id} of no text")


class Parser:
    """Tagger and parser, loaded once.

    Attributes:
        conventions: how text is divided and written: as the parser's file says, or else as by default.
        relations: labels that the parser can give.
        hashes: SHA-256 of the weights of "tagger" and "parser", and of the further files.
        counts: kinds of texts seen so far, and tokens; equal texts are counted once per call.
    """

    def __init__(
        self,
        tagger: str | Path,
        parser: str | Path,
        max_tokens: int,
        further: Mapping[str, str | Path] | None = None,
    ):
        """Load the models.

        Args:
            tagger, parser: files from `bove train-tagger` and `bove train-parser`, or of Stanza.
            max_tokens: a longer sentence is cut into pieces of so many tokens, each with a root of its own.
            further: files that the two models need, by their names in `NAMES`.

        Raises:
            BoveError: a file that is missing, of another kind, or in need of files that are not given.
        """
        if max_tokens < 1:
            raise BoveError(f"at most {max_tokens} tokens in a sentence: give 1 or more")
        models = {"tagger": read_checkpoint(tagger, "tagger"), "parser": read_checkpoint(parser, "parser")}
        further = further or {}
        processors = {"pos": (tagger, models["tagger"]), "depparse": (parser, models["parser"])}
        for name, path in further.items():
            content = load_safely(path, name)
            if not isinstance(content, dict) or not any(keys <= content.keys() for keys in NAMES[name]):
                raise BoveError(
                    f"{path}: no {name} of Stanza; give the file that tagger and parser were made with"
                )
            processors |= {"lemma": (path, content)} if name == "lemmatizer" else {}
        places = _places_of_further_files(processors, further)
        self.max_tokens = max_tokens
        self.conventions = read_conventions(parser, models["parser"]) or Conventions()
        self.hashes = {kind: state_hash(content) for kind, content in models.items()}
        self.hashes |= {name: sha256(path) for name, path in further.items()}
        self.counts: Counter[str] = Counter()
        try:
            with one_thread():
                self._pipeline = pipeline(tagger, parser, further.get("lemmatizer"), **places)
                self.relations = frozenset(self._pipeline.processors["depparse"].get_known_relations())
        except (*_FAILURES, OSError) as e:
            files = ", ".join(map(str, (tagger, parser, *further.values())))
            raise BoveError(
                f"{files}: Stanza cannot load them together ({type(e).__name__}: {e}); give files that were "
                f"made for each other, by a version of Stanza near {version('stanza')}"
            ) from e

    def parse(self, texts: Sequence[str], ids: Sequence[str] | None = None) -> Iterator[Sentence]:
        """One graph per text, in order; equal texts are parsed once.

        A text without a token (blank, or of invisible characters) gives a graph without tokens.

        Args:
            texts: anything; line breaks are spaces.
            ids: their names, by default 1, 2, …

        Raises:
            BoveError: a text that Stanza cannot parse, with its name.
        """
        names = [str(number) for number in range(1, len(texts) + 1)] if ids is None else ids
        items = ((name, self._divide(text)) for name, text in distinct(names, texts))
        return spread(names, texts, self._parse(items))

    def parse_tokens(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """Yield a tree of each sentence's own tokens, in order and under its id, a chunk at a time.

        Only the forms are read: tags, heads and labels are all predicted. A sentence without tokens stays so.

        Raises:
            BoveError: a sentence that Stanza cannot parse, with its id.
        """
        return self._parse((s.id, [s.forms] if s.forms else []) for s in sentences)

    def _divide(self, text) -> list[list[str]]:
        """The sentences of a text."""
        found = tokens.sentences(text, self.conventions)
        self.counts[EMPTY] += not found
        self.counts[SEVERAL] += len(found) > 1
        return found

    def _parse(self, items) -> Iterator[Sentence]:
        """One graph for each (name, sentences), a chunk at a time."""
        pieces = ((name, self._cut(sentences)) for name, sentences in items)
        while chunk := list(islice(pieces, CHUNK)):
            owners = [name for name, own in chunk for _ in own]
            with one_thread():
                trees = iter(self._run([piece for _, own in chunk for piece in own], owners))
            for name, own in chunk:
                yield _join(name, [next(trees) for _ in own])

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
                    f"sentence {owners[0]}: Stanza cannot parse it ({reason}); repair or remove it"
                ) from e
        return [self._run([piece], [owner])[0] for piece, owner in zip(pieces, owners, strict=True)]


def _trees(run, pieces) -> list[Sentence]:
    """One tree per token list, of the very same tokens."""
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
    forms, tags, heads, relations = [], [], [], []
    for tree in trees:
        heads += [head + len(forms) if head else 0 for head in tree.heads]
        forms += tree.forms
        tags += tree.tags
        relations += tree.relations
    return Sentence(name, tuple(forms), tuple(tags), tuple(heads), tuple(relations))
