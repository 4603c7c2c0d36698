"""`bove pairs`: files of sentence pairs, in whatever columns, to pairs.jsonl."""

import argparse
import io
import logging
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bove.cli.common import (
    add_development_argument,
    add_strict_argument,
    add_table_notes_argument,
    read_files,
    write_files,
    write_notes,
)
from bove.config.sources import fetch
from bove.demo import SENTENCES, write
from bove.errors import BoveError
from bove.evaluate.contamination import (
    contamination_page,
    labels_of,
    shared_pairs,
    shared_sentences,
    table_notes,
    write_csv,
)
from bove.files import atomic_write
from bove.text.conll import Sentence, read_sentences
from bove.text.graphs import Counts, encode, save_graphs
from bove.text.pairs import (
    LEFT_OUT,
    TASKS,
    Pair,
    check_dataset,
    read_dataset,
    read_pairs,
    read_subset,
    write_pairs,
)
from bove.text.vectors import WordVectors, convert, train
from bove.text.vocabulary import UNKNOWN_RELATION, VARIANTS, Vocabulary, build

# `bove fetch`: download a file, or members of an archive, checked by hash.

log = logging.getLogger("bove")


def register_fetch(parser) -> None:
    parser.add_argument("--name", required=True, help="name of the source, for the log")
    parser.add_argument("--url", required=True, help="address to download from")
    hashes = parser.add_mutually_exclusive_group()
    hashes.add_argument("--sha256", metavar="HEX", help="what the download must hash to")
    hashes.add_argument("--md5", metavar="HEX", help="the same, where only an MD5 is published")
    parser.add_argument(
        "--member",
        action="append",
        default=[],
        metavar="NAME",
        help="file to take out of the archive, by name or pattern; repeatable",
    )
    parser.add_argument("--output", required=True, type=Path, help="file, or folder of the members")
    parser.add_argument("--retries", type=int, default=5, help="tries after the first (default 5)")


def run_fetch(args) -> None:
    """Download, check, unpack."""
    known = None
    for kind, digits in (("sha256", 64), ("md5", 32)):
        value = getattr(args, kind)
        if value is not None:
            if not re.fullmatch(rf"[0-9a-fA-F]{{{digits}}}", value):
                raise BoveError(f"--{kind} {value}: not {digits} hexadecimal digits; correct it")
            known = f"{kind}:{value.lower()}"
    if args.retries < 0:
        raise BoveError(f"--retries {args.retries}: below 0; give how often to try again")
    log.info("%s: fetching %s", args.name, args.url)
    fetch(args.url, args.output, known, tuple(args.member), args.retries, log.info)


# `bove demo`: write the built-in corpus.


def register_demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sentences",
        type=int,
        required=True,
        help=f"sentences of the training treebank, the first of {SENTENCES}",
    )
    parser.add_argument("--output", required=True, help="folder that gets treebank/, raw.txt, sts/ and snli/")


def run_demo(args: argparse.Namespace) -> None:
    """Write the files and log how many rows each has."""
    for path, count in write(args.output, args.sentences).items():
        log.info("%s/%s: %d", args.output, path, count)


# `bove vocabulary`: count a treebank and write the vocabulary.

OPTIONS = ("numbers", "punctuation", "lookup", "adjacency", "tags", "dependencies")


def register_vocabulary(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--treebank", nargs="+", required=True, metavar="FILE", help="CoNLL-2009 or CoNLL-U files"
    )
    parser.add_argument(
        "--columns", choices=("gold", "predicted"), required=True, help="columns of CoNLL-2009"
    )
    parser.add_argument("--encoding", default="utf-8", help="of the treebank (default utf-8)")
    add_strict_argument(parser)
    parser.add_argument("--min-words", type=int, required=True, help="least count of a word form")
    parser.add_argument("--min-tags", type=int, required=True, help="least count of a tag")
    parser.add_argument("--min-relations", type=int, required=True, help="least count of a relation")
    for name, word in (("--numbers", "NB"), ("--punctuation", "PUNCT")):
        parser.add_argument(
            name, action=argparse.BooleanOptionalAction, default=True, help=f"replace {name[2:]} by {word}"
        )
    parser.add_argument(
        "--lookup",
        nargs="+",
        choices=tuple(VARIANTS),
        required=True,
        help="forms under which a word is looked up, in order",
    )
    parser.add_argument(
        "--adjacency",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="a relation from each token to the next",
    )
    parser.add_argument(
        "--tags",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="tags are properties, and tell unknown words apart",
    )
    parser.add_argument(
        "--dependencies",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="the treebank's relations are relations",
    )
    parser.add_argument("--output", required=True, metavar="FILE", help="vocabulary.json to write")


def run_vocabulary(args: argparse.Namespace) -> None:
    thresholds = {"words": args.min_words, "tags": args.min_tags, "relations": args.min_relations}
    for name, least in thresholds.items():
        if least < 1:
            raise BoveError(f"--min-{name} {least}: must be at least 1")
    sentences = read_files(args.treebank, args.columns, args.encoding, args.strict, "treebank: ")
    options = {name: getattr(args, name) for name in OPTIONS}
    vocabulary = build(sentences, thresholds, options)
    _log_vocabulary(vocabulary)
    vocabulary.save(args.output)


def _log_vocabulary(vocabulary: Vocabulary) -> None:
    coverage = vocabulary.coverage
    log.info(
        "%d words (%d of %d types kept), %d tags (%d rare), %d relations (%d rare)",
        vocabulary.n_words,
        coverage["word_types_kept"],
        coverage["word_types"],
        vocabulary.n_tags,
        len(vocabulary.rare_tags),
        vocabulary.n_relations,
        len(vocabulary.rare_relations),
    )
    if not vocabulary.has_tags:
        log.info("tags are switched off: a token has its word alone")
    if not vocabulary.has_dependencies:
        log.info("dependencies are switched off: the one relation is adjacency")
    for route, count in coverage["tokens_by_route"].items():
        log.info("%7d tokens (%.1f %%): %s", count, 100 * count / coverage["tokens"], route)
    if vocabulary.rare_relations and not any(map(vocabulary.is_own_relation, vocabulary.relations)):
        log.warning("every relation is below the threshold: all arcs are %s", UNKNOWN_RELATION)


# `bove vectors load` and `bove vectors train`: word vectors into a mapped file.


def register_vectors(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="load|train")
    load = actions.add_parser(
        "load", help="read word2vec or GloVe", description="Read word2vec or GloVe vectors."
    )
    load.add_argument("--input", required=True, metavar="FILE", help="vectors, gzip or not")
    load.add_argument(
        "--format", choices=("auto", "word2vec", "glove"), required=True, help="auto: by content"
    )
    load.add_argument("--limit", type=int, help="rows to read, from the first (default all)")
    own = actions.add_parser(
        "train", help="train word2vec", description="Train word2vec (skip-gram) on raw text."
    )
    own.add_argument(
        "--input", required=True, metavar="FILE", help="text, a sentence a line, spaces between tokens"
    )
    own.add_argument("--dimensions", type=int, required=True, help="numbers of a vector")
    own.add_argument(
        "--window", type=int, required=True, help="most words between two that predict each other"
    )
    own.add_argument("--epochs", type=int, required=True, help="times that the text is read")
    own.add_argument("--min-count", type=int, required=True, help="least count of a word")
    own.add_argument("--negative", type=int, required=True, help="negative samples for each observed pair")
    own.add_argument("--seed", type=int, required=True, help="of the random numbers")
    for action in (load, own):
        action.add_argument("--output", required=True, metavar="FILE", help="vectors.safetensors to write")
        # Each stage's parser has these; here they may follow the action too.
        action.add_argument(
            "--threads", type=int, default=argparse.SUPPRESS, help="threads to use (default 1)"
        )
        action.add_argument("--log", default=argparse.SUPPRESS, help="file that gets the log, beside stderr")


def run_vectors(args: argparse.Namespace) -> None:
    if args.action == "load":
        counts = convert(args.input, args.output, args.format, args.limit)
        for kind, count in counts.items():
            log.info("%d %s, first in row %d", count, kind, counts.places[kind][0])
    else:
        train(
            args.input,
            args.output,
            dimensions=args.dimensions,
            window=args.window,
            epochs=args.epochs,
            min_count=args.min_count,
            negative=args.negative,
            seed=args.seed,
        )
    vectors = WordVectors.open(args.output)
    log.info("%d words, %d dimensions", len(vectors), vectors.dimensions)


# `bove encode`: sentences to graphs.


def register_encode(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sentences", nargs="+", required=True, metavar="FILE", help="CoNLL-2009 or CoNLL-U files with heads"
    )
    parser.add_argument(
        "--columns",
        choices=("gold", "predicted"),
        default="gold",
        help="columns of CoNLL-2009 (default gold)",
    )
    parser.add_argument("--encoding", default="utf-8", help="of the sentences (default utf-8)")
    parser.add_argument("--vocabulary", required=True, metavar="FILE", help="vocabulary.json")
    parser.add_argument("--vectors", metavar="FILE", help="vectors for words that the vocabulary lacks")
    parser.add_argument(
        "--min-coverage", type=float, metavar="X", help="stop if fewer tags or relations (0 to 1) are known"
    )
    parser.add_argument("--output", required=True, metavar="FILE", help="graphs.safetensors to write")


def run_encode(args: argparse.Namespace) -> None:
    least = args.min_coverage
    if least is not None and not 0 <= least <= 1:
        raise BoveError(f"--min-coverage {least}: not between 0 and 1; give a share such as 0.95")
    vocabulary = Vocabulary.load(args.vocabulary)
    vectors = WordVectors.open(args.vectors) if args.vectors else None
    counts = Counts()
    sentences = read_files(args.sentences, args.columns, args.encoding)
    graphs = encode(sentences, vocabulary, vectors, counts)
    source = ", ".join(args.sentences)
    if not graphs.n_graphs:
        raise BoveError(f"{source}: no sentences; check the file")
    _log_counts(graphs, counts, vocabulary)
    for kind, names, coverage in (
        ("relation", counts.new_relations, counts.relation_coverage),
        ("tag", counts.new_tags, counts.tag_coverage),
    ):
        if least is not None and coverage < least:
            raise _too_few(source, kind, names, coverage, least)
    save_graphs(graphs, args.output)


def _log_counts(graphs, counts: Counts, vocabulary: Vocabulary) -> None:
    empty = int((graphs.lengths == 0).sum())
    log.info("%d graphs (%d empty), %d tokens", graphs.n_graphs, empty, graphs.n_tokens)
    for route, count in sorted(counts.words.items()):
        log.info("%7d tokens (%.1f %%): word by %s", count, 100 * count / max(graphs.n_tokens, 1), route)
    kinds = {
        "tags": (counts.tags, counts.new_tags, counts.tag_coverage),
        "relations": (counts.relations, counts.new_relations, counts.relation_coverage),
    }
    if not vocabulary.has_tags:
        log.info("tags are switched off in the vocabulary: none is encoded")
        del kinds["tags"]
    if not vocabulary.has_dependencies:
        log.info("dependencies are switched off in the vocabulary: no arc of a tree is encoded")
        del kinds["relations"]
    for kind, (fates, new, coverage) in kinds.items():
        log.info(
            "%.2f %% of %s known (%s)", 100 * coverage, kind, ", ".join(f"{n} {f}" for f, n in fates.items())
        )
        if new:
            log.warning("%s that the treebank lacks: %s", kind, _most_frequent(new))
    for kind, count in counts.dropped.items():
        log.warning("%d %s left out: the vocabulary has no row for unknown ones", count, kind)


def _most_frequent(names: Counter) -> str:
    return ", ".join(f"{name} ({count})" for name, count in names.most_common(5))


def _too_few(source, kind, names, coverage, least) -> BoveError:
    return BoveError(
        f"{source}: the vocabulary's treebank has {100 * coverage:.1f} % of its {kind}s, below the "
        f"{100 * least:g} % asked for; most frequent unknown ones: {_most_frequent(names)}; labels must be "
        f"the treebank's: parse with a tagger and parser trained on that treebank"
    )


# `bove pairs`: files of sentence pairs, in whatever columns, to pairs.jsonl.


def register_pairs(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--dataset-file", metavar="FILE.json", help="the data set as the workflow describes it, or else:"
    )
    parser.add_argument("--dataset", metavar="NAME", help="the data set's name in the configuration")
    parser.add_argument("--label", metavar="NAME", help="its name in the tables, such as STS-2014")
    parser.add_argument("--task", choices=TASKS, help="graded similarity, or entailment")
    parser.add_argument(
        "--subset",
        nargs="+",
        action="append",
        metavar=("NAME", "FILE"),
        help="a part's name, its file, and the file of its gold unless that is a column; repeatable",
    )
    parser.add_argument(
        "--column",
        action="append",
        metavar="ROLE=COLUMN",
        help="column of first, second, gold or id: a number from 1, or a name; repeatable",
    )
    parser.add_argument(
        "--meaning",
        action="append",
        metavar="LABEL=MEANING",
        help="what a gold label means: entailment, any other word, or - for no label; repeatable",
    )
    parser.add_argument(
        "--where",
        action="append",
        metavar="SUBSET=COLUMN=VALUE",
        help="take only the rows that have this value; repeatable",
    )
    parser.add_argument("--separator", help="what stands between columns")
    parser.add_argument("--encoding", help="of the files")
    parser.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="whether text has a header (otherwise: if a column is named)",
    )
    parser.add_argument("--output", required=True, metavar="FILE", help="pairs.jsonl to write")


NEEDED = ("dataset", "label", "task", "subset", "column", "separator", "encoding")


def run_pairs(args: argparse.Namespace) -> None:
    """Read the subsets one after another and write their pairs."""
    dataset = read_dataset(args.dataset_file) if args.dataset_file else _described(args)
    check_dataset(f"datasets.{dataset['name']}", dataset)
    label, pairs = dataset["label"], []
    for name, files in dataset["subsets"].items():
        counts: Counter[str] = Counter()
        found = read_subset(dataset, name, counts)
        scored = sum(pair.scored for pair in found)
        log.info("%s %s: %d pairs, %d scored, %d not", label, name, len(found), scored, len(found) - scored)
        if files.get("where"):
            log.info("%s %s: %d %s", label, name, counts[LEFT_OUT], LEFT_OUT)
        pairs += found
    with atomic_write(args.output) as stream:
        write_pairs(stream, pairs)


def _described(args) -> dict:
    """The data set that the options describe, as `read_dataset` gives it."""
    if missing := [name for name in NEEDED if getattr(args, name) is None]:
        raise BoveError(f"--{missing[0]} is missing; give it, or --dataset-file in place of all options")
    subsets = _subsets(args.subset)
    for text in args.where or ():
        subset, rest = _split("--where", text, text.partition("="))
        if subset not in subsets:
            raise BoveError(f"--where: there is no subset {subset!r}; name one of --subset")
        column, value = _split("--where", text, rest.partition("="))
        _put(f"--where {subset}", subsets[subset].setdefault("where", {}), column, value)
    columns, labels = {}, {}
    for text in args.column:
        _put("--column", columns, *_split("--column", text, text.partition("=")))
    for text in args.meaning or ():
        _put("--meaning", labels, *_split("--meaning", text, text.rpartition("=")))
    given = {name: getattr(args, name) for name in ("label", "task", "separator", "encoding", "header")}
    return {"name": args.dataset, **given, "columns": columns, "labels": labels, "subsets": subsets}


def _put(option, found, key, value) -> None:
    if key in found:
        raise BoveError(f"{option}: {key!r} is repeated; give it once")
    found[key] = value


def _split(option, text, parts) -> tuple[str, str]:
    key, separator, value = parts
    if not separator:
        raise BoveError(f"{option} {text}: something is missing; write its parts with = between them")
    return key, value


def _subsets(arguments) -> dict[str, dict]:
    """The files of each subset."""
    subsets: dict[str, dict] = {}
    for name, *files in arguments:
        if len(files) not in (1, 2):
            raise BoveError(f"--subset {' '.join([name, *files])}: give NAME FILE or NAME FILE GOLD")
        if name in subsets or not name.strip() or name != " ".join(name.split()):
            raise BoveError(
                f"--subset {name!r}: empty, spaced oddly, or repeated; give each subset its own name"
            )
        subsets[name] = dict(zip(("input", "gold"), files, strict=False))
    return subsets


# `bove contamination`: what data sets share with those that choices were made on, and with the treebank.


def register_contamination(parser) -> None:
    parser.add_argument(
        "--pairs", required=True, nargs="+", action="extend", metavar="FILE", help="pairs of each data set"
    )
    add_development_argument(parser)
    parser.add_argument("--treebank", metavar="FILE", help="training treebank, to look for sentences in it")
    parser.add_argument(
        "--columns",
        choices=("gold", "predicted"),
        default="gold",
        help="columns of CoNLL-2009 (default gold)",
    )
    parser.add_argument("--encoding", default="utf-8", help="of the treebank (default utf-8)")
    add_table_notes_argument(parser)
    parser.add_argument("--output", required=True, help="folder that gets contamination.csv and .md")


def run_contamination(args) -> None:
    """Write both files, each whole, and print the Markdown page."""
    pairs = _read(args.pairs)
    labels = labels_of(pairs)
    for name in args.development:
        if name not in labels:
            raise BoveError(f"--development {name}: no such data set; the pairs have {', '.join(labels)}")
    shared = shared_pairs(pairs, args.development)
    sentences = shared_sentences(pairs, _treebank(args)) if args.treebank else None
    page, stream = contamination_page(pairs, args.development, shared, sentences), io.StringIO()
    write_csv(stream, shared, sentences or [])
    write_files(args.output, {"contamination.csv": stream.getvalue(), "contamination.md": page})
    write_notes(args.table_notes, table_notes(pairs, args.development, shared))
    _log(shared, sentences)
    print(page, end="")


def _read(paths: list[str]) -> list[Pair]:
    found: dict[str, list[Pair]] = {}
    for path in paths:
        pairs = read_pairs(path)
        if not pairs:
            raise BoveError(f"{path}: holds no pairs; make the file again with `bove pairs`")
        for name in dict.fromkeys(pair.dataset for pair in pairs):
            if name in found:
                raise BoveError(f"{path}: data set '{name}' stands in another file already; give each once")
            found[name] = [pair for pair in pairs if pair.dataset == name]
    return [pair for pairs in found.values() for pair in pairs]


def _treebank(args) -> Iterator[Sentence]:
    """Its sentences; BoveError at the end if there was none, for then nothing was looked for."""
    sentence = None
    for sentence in read_sentences(args.treebank, columns=args.columns, encoding=args.encoding):
        yield sentence
    if sentence is None:
        raise BoveError(f"{args.treebank}: holds no sentences; give the training treebank")


def _log(shared, sentences) -> None:
    counts: dict[tuple[str, str, str], set[str]] = {}
    for match in shared:
        key = (match.pair.dataset, match.pair.subset, match.other.dataset)
        counts.setdefault(key, set()).add(match.pair.id)
    for (dataset, subset, other), ids in counts.items():
        log.warning("%s %s: %d scored pairs stand in %s too", dataset, subset, len(ids), other)
    if not shared:
        log.info("no scored pair to report on stands in a development data set")
    if sentences is not None:
        log.info("%d sides of scored pairs are sentences of the treebank", len(sentences))
