"""Data: fetched or written, counted, encoded and read as pairs, and what data sets have in common."""

import argparse
import logging
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bove.bags.store import Bags
from bove.cli.common import (
    SWITCH,
    add_development_argument,
    add_keys,
    add_seed,
    add_table_notes_argument,
    add_treebank_arguments,
    read_files,
    write_files,
    write_notes,
)
from bove.config.load import defaults, described
from bove.config.sources import fetch
from bove.demo import SENTENCES, write
from bove.errors import BoveError
from bove.evaluate.contamination import (
    contamination_csv,
    contamination_notes,
    contamination_page,
    scored_pairs,
    shared_pairs,
    shared_sentences,
)
from bove.files import atomic_write, read_json
from bove.text.conll import Sentence, read_sentences
from bove.text.encoders import Components
from bove.text.graphs import Counts, OwnVectors, encode, save_graphs
from bove.text.pairs import (
    FILE_TASKS,
    LEFT_OUT,
    Pair,
    check_dataset,
    read_pairs,
    read_subset,
    write_pairs,
)
from bove.text.vectors import WordVectors, convert, train
from bove.text.vocabulary import UNKNOWN_RELATION, Vocabulary, build

log = logging.getLogger("bove")
OPTIONS = ("numbers", "punctuation", "lookup", "adjacency", "words", "tags", "dependencies")
WORD2VEC = {
    "window": "most words between two that predict each other",
    "epochs": "times that the text is read",
    "min_count": "least count of a word",
    "negative": "negative samples for each observed pair",
}
# What a data set needs that is described by options.
NEEDED = ("task", "subset")
DESCRIBED = (*NEEDED, "dataset", "label", "column", "separator", "encoding", "header")


def register_fetch(parser) -> None:
    add, member = parser.add_argument, "file to take out of the archive, by name or pattern; repeatable"
    add("--name", help="name of the source, for the log")
    add("--url", required=True, help="address to download from")
    hashes = parser.add_mutually_exclusive_group()
    hashes.add_argument("--sha256", metavar="HEX", help="what the download must hash to")
    hashes.add_argument("--md5", metavar="HEX", help="the same, where only an MD5 is published")
    add("--member", action="append", default=[], metavar="NAME", help=member)
    add("--output", required=True, type=Path, help="file, or folder of the members")
    add("--retries", type=int, default=5, help="tries after the first (default 5)")


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
    log.info("%s: fetching %s", args.name or args.output.name, args.url)
    fetch(args.url, args.output, known, tuple(args.member), args.retries)


def register_demo(parser: argparse.ArgumentParser) -> None:
    add, about = (
        parser.add_argument,
        f"sentences of the training treebank, the first ones (default {SENTENCES})",
    )
    add("--sentences", type=int, default=SENTENCES, help=about)
    add("--output", required=True, help="folder that gets treebank/, raw.txt, sts/ and snli/")


def run_demo(args: argparse.Namespace) -> None:
    """Write the files and log how many rows each has."""
    for path, count in write(args.output, args.sentences).items():
        log.info("%s/%s: %d", args.output, path, count)


def register_vocabulary(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--treebank", nargs="+", required=True, metavar="FILE", help="CoNLL-2009 or CoNLL-U files")
    add_treebank_arguments(parser, strict=True)
    add_keys(
        parser,
        "vocabulary",
        min_words="least count of a word form",
        min_tags="least count of a tag",
        min_relations="least count of a relation",
        lookup="forms under which a word is looked up, in order",
    )
    for name, about in (
        ("numbers", "replace numbers by NB"),
        ("punctuation", "replace punctuation by PUNCT"),
        ("adjacency", "a relation from each token to the next"),
        ("words", "words are properties; without them each token has a vector of its own"),
        ("tags", "tags are properties, and distinguish unknown words"),
        ("dependencies", "the treebank's relations are relations"),
    ):
        add(f"--{name}", action=SWITCH, default=True, help=about)
    add("--output", required=True, metavar="FILE", help="vocabulary.json to write")


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
        vocabulary.n_words, coverage["word_types_kept"], coverage["word_types"], vocabulary.n_tags,
        len(vocabulary.rare_tags), vocabulary.n_relations, len(vocabulary.rare_relations),
    )  # fmt: skip
    if not vocabulary.has_words:
        log.info("words are switched off: each token has a vector of its own")
    if not vocabulary.has_tags:
        log.info("tags are switched off: a token has its word alone")
    if not vocabulary.has_dependencies:
        log.info("dependencies are switched off: the one relation is adjacency")
    for route, count in coverage["tokens_by_route"].items():
        log.info("%7d tokens (%.1f %%): %s", count, 100 * count / coverage["tokens"], route)
    if vocabulary.rare_relations and not any(map(vocabulary.is_own_relation, vocabulary.relations)):
        log.warning("every relation is below the threshold: all arcs are %s", UNKNOWN_RELATION)


def register_vectors(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="load|train")
    about, rank = "Read word2vec or GloVe vectors.", defaults()["model"]["rank"]
    load = actions.add_parser("load", help="read word2vec or GloVe", description=about)
    add = load.add_argument
    add("--input", required=True, metavar="FILE", help="vectors, gzip or not")
    add_keys(load, "vectors", format="auto: by content")
    add("--limit", type=int, help="rows to read, from the first (default all)")
    about = "Train word2vec (skip-gram) on raw text."
    own = actions.add_parser("train", help="train word2vec", description=about)
    add = own.add_argument
    add("--input", required=True, metavar="FILE", help="text, one sentence per line, spaces between tokens")
    add("--dimensions", type=int, default=rank, metavar="N", help=f"numbers of a vector (default {rank})")
    add_keys(own, "vectors", **WORD2VEC)
    add_seed(own, "of the random numbers")
    for action in (load, own):
        add = action.add_argument
        add("--output", required=True, metavar="FILE", help="vectors.safetensors to write")
        # Each stage's parser has these; here they may follow the action too.
        add("--threads", type=int, default=argparse.SUPPRESS, help="threads to use (default 1)")
        add("--log", default=argparse.SUPPRESS, help="file that gets the log, beside stderr")


def run_vectors(args: argparse.Namespace) -> None:
    if args.action == "load":
        counts = convert(args.input, args.output, args.format, args.limit)
        for kind, count in counts.items():
            log.info("%d %s, first in row %d", count, kind, counts.places[kind][0])
    else:
        train(
            args.input,
            args.output,
            **{name: getattr(args, name) for name in ("dimensions", *WORD2VEC, "seed")},
        )
    vectors = WordVectors.open(args.output)
    log.info("%d words, %d dimensions", len(vectors), vectors.dimensions)


def register_encode(parser: argparse.ArgumentParser) -> None:
    add, sentences = parser.add_argument, "CoNLL-2009 or CoNLL-U files with heads"
    add("--sentences", nargs="+", required=True, metavar="FILE", help=sentences)
    add_treebank_arguments(parser)
    add("--vocabulary", required=True, metavar="FILE", help="vocabulary.json")
    add("--vectors", metavar="FILE", help="vectors for words that the vocabulary lacks")
    about = "an encoder's bags of the sentences' tokens, of which --vectors has the components"
    add("--tokens", metavar="FILE", help=about)
    coverage = "stop if fewer tags or relations (0 to 1) are known"
    add("--min-coverage", type=float, metavar="X", help=coverage)
    add("--output", required=True, metavar="FILE", help="graphs.safetensors to write")


def run_encode(args: argparse.Namespace) -> None:
    least = args.min_coverage
    if least is not None and not 0 <= least <= 1:
        raise BoveError(f"--min-coverage {least}: not between 0 and 1; give a share such as 0.95")
    vocabulary = Vocabulary.load(args.vocabulary)
    counts = Counts()
    sentences = read_files(args.sentences, args.columns, args.encoding)
    graphs = encode(sentences, vocabulary, _vectors(args), counts)
    source = ", ".join(args.sentences)
    if not graphs.n_graphs:
        raise BoveError(f"{source}: no sentences; check the file")
    _log_counts(graphs, counts, vocabulary)
    for kind, names, coverage in (
        ("relation", counts.new_relations, counts.relation_coverage),
        ("tag", counts.new_tags, counts.tag_coverage),
    ):
        if least is not None and coverage < least:
            raise BoveError(
                f"{source}: the vocabulary's treebank has {100 * coverage:.1f} % of its {kind}s, below the "
                f"{100 * least:g} % asked for; most frequent unknown ones: {_most_frequent(names)}; labels "
                f"must be the treebank's: parse with a tagger and parser trained on that treebank"
            )
    save_graphs(graphs, args.output)


def _vectors(args) -> WordVectors | OwnVectors | None:
    if not args.tokens:
        return WordVectors.open(args.vectors) if args.vectors else None
    if not args.vectors:
        raise BoveError("--tokens needs --vectors, what `bove components` wrote")
    bags, components = Bags.open(args.tokens), Components.load(args.vectors)
    bags.check_finite()
    own = components.of(bags.vectors, bags.model_hash, args.tokens)
    return OwnVectors(bags.ids, own, bags.offsets, bags.index, args.tokens)


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


def register_pairs(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    subset = "a part's name, its file, and the file of its gold unless that is a column; repeatable"
    column = (
        "column of first, second, gold or id: a number from 1, or a name; repeatable (default: as STS, SNLI)"
    )
    meaning = "what a gold label means: entailment, any other word, or - for no label; repeatable"
    where = "take only the rows that have this value; repeatable"
    header = "whether text has a header (otherwise: if a column is named)"
    add("--dataset-file", metavar="FILE.json", help="the data set as the workflow describes it, or else:")
    add("--dataset", metavar="NAME", help="the data set's name (default: of the output)")
    add("--label", metavar="NAME", help="its name in the tables, such as STS-2014 (default: NAME)")
    add("--task", choices=FILE_TASKS, help="graded similarity, or entailment")
    add("--subset", nargs="+", action="append", metavar=("NAME", "FILE"), help=subset)
    add("--column", action="append", metavar="ROLE=COLUMN", help=column)
    add("--meaning", action="append", default=[], metavar="LABEL=MEANING", help=meaning)
    add("--where", action="append", default=[], metavar="SUBSET=COLUMN=VALUE", help=where)
    add("--separator", help="what separates the columns (default: a tab)")
    add("--encoding", help="of the files (default utf-8)")
    add("--header", action=SWITCH, help=header)
    add("--output", required=True, metavar="FILE", help="pairs.jsonl to write")


def run_pairs(args: argparse.Namespace) -> None:
    """Read the subsets one after another and write their pairs."""
    if args.dataset_file and any(getattr(args, name) is not None for name in DESCRIBED):
        raise BoveError("--dataset-file describes the data set alone; leave out the other options")
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


def read_dataset(path: str | Path) -> dict:
    """The data set of a file of JSON; BoveError where there is none."""
    given = read_json(path)
    name = given.pop("name", None)
    if not isinstance(name, str) or given.get("task") not in FILE_TASKS:
        raise BoveError(f"{path}: has no name or task; give what the workflow writes, or the options")
    return described(given, name)


def _described(args) -> dict:
    """The data set that the options describe."""
    if missing := [name for name in NEEDED if getattr(args, name) is None]:
        raise BoveError(f"--{missing[0]} is missing; give it, or --dataset-file in place of all options")
    name = Path(args.output).name.partition(".")[0] if args.dataset is None else args.dataset
    subsets = _subsets(args.subset)
    for text in args.where:
        subset, rest = _split("--where", text, text.partition("="))
        if subset not in subsets:
            raise BoveError(f"--where: there is no subset {subset!r}; name one of --subset")
        column, value = _split("--where", text, rest.partition("="))
        _put(f"--where {subset}", subsets[subset].setdefault("where", {}), column, value)
    columns, labels = {}, {}
    for text in args.column or ():
        _put("--column", columns, *_split("--column", text, text.partition("=")))
    for text in args.meaning:
        _put("--meaning", labels, *_split("--meaning", text, text.rpartition("=")))
    options = {key: getattr(args, key) for key in ("task", "separator", "encoding", "header")}
    given = {"label": name if args.label is None else args.label, **options, "subsets": subsets}
    return described({**given, "columns": columns or None, "labels": labels or None}, name)


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


def register_contamination(parser) -> None:
    add = parser.add_argument
    add("--pairs", required=True, nargs="+", action="extend", metavar="FILE", help="pairs of each data set")
    add_development_argument(parser)
    add("--treebank", metavar="FILE", help="training treebank, to look for sentences in it")
    add_treebank_arguments(parser)
    add_table_notes_argument(parser)
    add("--output", required=True, help="folder that gets contamination.csv and .md")


def run_contamination(args) -> None:
    """Write both files, each whole, and print the Markdown page."""
    pairs = _read(args.pairs)
    datasets = dict.fromkeys(pair.dataset for pair in pairs)
    for name in args.development:
        if name not in datasets:
            raise BoveError(f"--development {name}: no such data set; the pairs have {', '.join(datasets)}")
    scored = scored_pairs(pairs, args.development)
    shared = shared_pairs(scored)
    sentences = shared_sentences(scored, _treebank(args)) if args.treebank else None
    page = contamination_page(scored, shared, sentences)
    files = {"contamination.csv": contamination_csv(shared, sentences), "contamination.md": page}
    write_files(args.output, files)
    write_notes(args.table_notes, contamination_notes(scored, shared))
    by = ["dataset", "subset", "other_dataset"]
    for (dataset, subset, other), ids in shared.groupby(by, sort=False).id:
        log.warning("%s %s: %d scored pairs are in %s too", dataset, subset, ids.nunique(), other)
    if shared.empty:
        log.info("no scored pair to report on is in a development data set")
    if sentences is not None:
        log.info("%d sides of scored pairs are sentences of the treebank", len(sentences))
    print(page, end="")


def _read(paths: list[str]) -> list[Pair]:
    found: dict[str, list[Pair]] = {}
    for path in paths:
        pairs = read_pairs(path)
        for name in dict.fromkeys(pair.dataset for pair in pairs):
            if name in found:
                raise BoveError(f"{path}: data set '{name}' is in another file too; give each once")
            found[name] = [pair for pair in pairs if pair.dataset == name]
    return [pair for pairs in found.values() for pair in pairs]


def _treebank(args) -> Iterator[Sentence]:
    """Its sentences; BoveError at the end if there was none, for then nothing was looked for."""
    sentence = None
    for sentence in read_sentences(args.treebank, columns=args.columns, encoding=args.encoding):
        yield sentence
    if sentence is None:
        raise BoveError(f"{args.treebank}: holds no sentences; give the training treebank")
