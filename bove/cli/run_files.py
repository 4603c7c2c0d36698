"""What commands share that look at sentences under a finished run: its files, or files named one by one."""

import argparse
import logging
from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches

from bove.cli.parser_files import add_parser_files, further_files
from bove.cli.stanza_log import stanza_messages
from bove.embedder import Embedder, Settings
from bove.errors import BoveError
from bove.factor.embedding import SOLVERS, Options
from bove.factor.model import Model
from bove.runs import Run, defaults
from bove.text.conll import Sentence, read_sentences
from bove.text.graphs import Counts
from bove.text.parsing import Parser
from bove.text.vectors import WordVectors
from bove.text.vocabulary import Vocabulary

log = logging.getLogger("bove")
SHOWN = 5  # names in a warning


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --run, what may stand in its place, and how sentences are embedded."""
    files = parser.add_argument_group("the run, or its files; a file that is named goes before the run's")
    files.add_argument("--run", metavar="results/NAME", help="a finished run")
    files.add_argument(
        "--variant", metavar="FOLDER", default="", help="of the run, such as ablations/no-relations"
    )
    files.add_argument("--model", metavar="FILE", help="model.safetensors")
    files.add_argument("--vocabulary", metavar="FILE", help="vocabulary.json, the model's")
    files.add_argument("--vectors", metavar="FILE", help="vectors.safetensors, the model's")
    add_parser_files(files, required=False)
    usual = "(default: the run's, or the configuration's default)"
    how = parser.add_argument_group(f"how sentences are embedded {usual}")
    how.add_argument("--max-tokens", type=int, help="a longer sentence is parsed in pieces")
    how.add_argument("--solver", choices=SOLVERS, help="of the inference")
    how.add_argument("--iterations", type=int, help="most iterations of it")
    how.add_argument("--tolerance", type=float, help="relative change of a token at which it stops")
    how.add_argument("--energy", type=float, help="share of each relation's energy to keep")
    how.add_argument(
        "--punctuation", action=argparse.BooleanOptionalAction, help="whether punctuation is aligned too"
    )


def open_run(args: argparse.Namespace) -> Run | None:
    """The run, if one is named.

    Raises:
        BoveError: neither a run nor the files that are needed in its place.
    """
    if args.run:
        return Run.open(args.run, args.variant)
    if args.variant:
        raise BoveError("--variant names a variant of a run; give --run too")
    missing = [f"--{name}" for name in ("model", "vocabulary") if getattr(args, name) is None]
    if missing:
        raise BoveError(f"give --run, such as --run results/demo, or else name files: {', '.join(missing)}")
    return None


def open_embedder(args: argparse.Namespace, run: Run | None) -> Embedder:
    """Load the files; tagger and parser wait until there is text to parse.

    Raises:
        BoveError: a file that is missing or does not fit the others.
    """
    config = run.config if run else defaults()
    vocabulary = Vocabulary.load(args.vocabulary or run.file("vocabulary"))
    model = Model.load(args.model or run.file("model"))
    vectors = args.vectors or (run.file("vectors") if run else None)
    inference = config["inference"]
    given = {name: getattr(args, name) for name in ("solver", "iterations", "tolerance", "energy")}
    options = {name: inference[name] if value is None else value for name, value in given.items()}
    punctuation = config["scoring"]["punctuation"] if args.punctuation is None else args.punctuation
    settings = Settings(
        Options(**options),
        inference["batch_tokens"],
        punctuation=punctuation,
        pretrained=config["model"]["pretrained"] if run else bool(model.frozen.any()),
    )
    if vectors is None:
        log.info("no --vectors: word vectors are left out of the comparison")
    opened = WordVectors.open(vectors) if vectors else None
    return Embedder(vocabulary, model, settings, opened, lambda: _load_parser(args, run, config["parser"]))


def _load_parser(args, run, section) -> Parser:
    if args.tagger or args.parser:
        if not (args.tagger and args.parser):
            raise BoveError("--tagger and --parser belong together; give both")
        files = {"tagger": args.tagger, "parser": args.parser}
    elif run:
        files = run.parser_files()
    else:
        raise BoveError("text is to be parsed: give --tagger and --parser, or trees with --conllu")
    tagger, parser, *_ = files.pop("tagger"), files.pop("parser")
    limit = section["max_tokens"] if args.max_tokens is None else args.max_tokens
    with stanza_messages():
        return Parser(tagger, parser, limit, further={**files, **further_files(args)})


def trees_of(path: str, ids: Sequence[str] | None, count: int) -> list[Sentence]:
    """The trees of a CoNLL file that are asked for.

    Args:
        path: CoNLL-U or CoNLL-2009, gzip or not.
        ids: their sent_ids; None where the file holds just those.
        count: how many there must be.

    Raises:
        BoveError: another number of trees, or an id that the file lacks or has twice.
    """
    wanted = f"{count} trees are" if count > 1 else "one tree is"
    if ids is None:
        trees = list(read_sentences(path))
        if len(trees) != count:
            raise BoveError(f"{path}: holds {len(trees)} trees, but {wanted} needed; name them with --ids")
        return trees
    if len(ids) != count:
        raise BoveError(f"--ids {' '.join(ids)}: {len(ids)} given, but {wanted} needed")
    found: dict[str, Sentence] = {}
    seen: Counter[str] = Counter()
    for tree in read_sentences(path):
        seen[tree.id] += 1
        if tree.id in ids:
            found[tree.id] = tree
    for name in ids:
        if name not in found:
            close = get_close_matches(name, seen, n=1)
            hint = f" did you mean {close[0]}?" if close else " ids are the trees' sent_id"
            raise BoveError(f"{path}: no tree has id {name!r};{hint}")
        if seen[name] > 1:
            raise BoveError(f"{path}: {seen[name]} trees have id {name!r}; give each its own")
    return [found[name] for name in ids]


def parsed(embedder: Embedder, texts: Sequence[str]) -> list[Sentence]:
    """A tree of each text, with Stanza's messages in the log."""
    with stanza_messages():
        return embedder.parse(texts)


def check_sentences(embedder: Embedder, sentences: Sequence[Sentence], names: Sequence[str]) -> None:
    """See that each sentence has words, and warn of tags and labels that the treebank lacks.

    Raises:
        BoveError: a sentence without words, by its name.
    """
    for sentence, name in zip(sentences, names, strict=True):
        if not sentence.forms:
            raise BoveError(f"{name}: there is no word in it; give a sentence")
    counts = Counts()
    embedder.graphs(sentences, counts)
    for kind, new in (("tags", counts.new_tags), ("relations", counts.new_relations)):
        if new:
            shown = ", ".join(sorted(new)[:SHOWN]) + (", …" if len(new) > SHOWN else "")
            log.warning(
                "the model's treebank has no such %s: %s; the trees should be made like it", kind, shown
            )
