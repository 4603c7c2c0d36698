"""What commands share: arguments, settings, progress, files, and sentences embedded as in a finished run."""

import argparse
import logging
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tqdm import tqdm

from bove.config.load import defaults, load_schema
from bove.config.variants import Run
from bove.embedder import Embedder
from bove.errors import BoveError, similar
from bove.evaluate.alignment import NONE, WEIGHTS, check_weighting
from bove.factor.settings import InferenceSettings, types_of
from bove.files import Oddities, atomic_write, encoded, read_json, write_json
from bove.text.conll import Sentence, read_sentences
from bove.text.graphs import Counts
from bove.text.pairs import TASKS, Pair
from bove.text.parser import NAMES as FURTHER

log = logging.getLogger("bove")
SHOWN = 5  # names in a warning
SWITCH = argparse.BooleanOptionalAction


def flag(name: str) -> str:
    """The option that sets a value: --lambda-P for lambda_P."""
    return f"--{name.replace('_', '-')}"


def add_settings(parser, kind: type, names: Iterable[str] = (), defaults: bool = True) -> None:
    """Options for settings, whose values `bove.factor.settings.make` checks.

    Args:
        parser: a parser, or a group of one.
        kind: the class of the settings. names: some of them; by default all.
        defaults: whether what is left out has the setting's default, or else None.
    """
    for one in fields(kind):
        if names and one.name not in names:
            continue
        first = one.metadata["help"].partition(". ")[0].removesuffix(".")
        said = first[0].lower() + first[1:] + (f" (default {one.default})" if defaults else "")
        given = {"default": one.default if defaults else None, "help": said.replace("%", "%%")}
        types, enum = types_of(one), one.metadata["rules"].get("enum", ())
        if types == (bool,):
            given["action"] = SWITCH
        else:
            number = {int: ["N"], float: ["X"]}.get(types[0], [])
            given["type"] = _number_or_text if types[1:] else types[0]
            given["metavar"] = "{" + ",".join([*number, *enum]) + "}" if enum else "".join(number) or None
        parser.add_argument(flag(one.name), **given)


def _number_or_text(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def add_keys(parser, section: str, **about: str) -> None:
    """Options for keys of a section of the configuration, with its defaults, and what each is about."""
    types = {"integer": int, "number": float}
    schemas, values = load_schema()["properties"][section]["properties"], defaults()[section]
    for name, text in about.items():
        schema, default = schemas[name], values[name]
        several = schema.get("type") == "array"
        shown = " ".join(default) if several else default
        parser.add_argument(
            flag(name),
            type=types.get(schema.get("type"), str),
            metavar={"integer": "N", "number": "X"}.get(schema.get("type")),
            choices=(schema["items"] if several else schema).get("enum"),
            **({"nargs": "+"} if several else {}),
            default=default,
            help=f"{text} (default {shown})",
        )


def add_seed(parser, about: str) -> None:
    """`--seed`, with the configuration's default."""
    seed = defaults()["seed"]
    parser.add_argument("--seed", type=int, default=seed, help=f"{about} (default {seed})")


def add_development_argument(parser) -> None:
    """`--development`: names of the data sets to be marked."""
    about = "data sets on which hyperparameters were chosen, to be marked in the tables"
    several = {"nargs": "+", "action": "extend", "default": []}
    parser.add_argument("--development", metavar="DATASET", help=about, **several)


def add_weights(parser, **weight) -> None:
    """`--weight`, with these arguments, and `--power`: how much each token counts in the alignment."""
    about = "what each token counts by: none, the length of its vector, or its evidence"
    parser.add_argument("--weight", choices=WEIGHTS, help=about, **weight)
    default = weight.get("default") and 1.0
    parser.add_argument("--power", type=float, default=default, metavar="X", help="power of these weights")


def weighting(args: argparse.Namespace, run: Run | None) -> tuple[str, float]:
    """Weight and power that are asked for, or else the run's first weight of tokens, if it has one."""
    scoring = (run.config if run else defaults())["scoring"]
    weights = [weight for weight in scoring["weight"] if weight != NONE]
    power = scoring["power"] if args.power is None else args.power
    weight = args.weight or next(iter(weights), NONE)
    check_weighting(weight, power, "--power")
    return weight, power


def check_confidence(confidence: float) -> None:
    """BoveError unless `--confidence` is a share."""
    if not 0 < confidence < 1:
        raise BoveError(f"--confidence {confidence:g}: must be between 0 and 1, such as 0.95")


def named_values(flag: str, arguments: Iterable[str]) -> dict[str, str]:
    """The values of NAME=VALUE arguments by name; BoveError for another form or a name that is repeated."""
    found: dict[str, str] = {}
    for argument in arguments:
        name, _, value = argument.partition("=")
        if not name.strip() or not value:
            raise BoveError(f"{flag} {argument}: not a name, = and a value; write both")
        if name in found:
            raise BoveError(f"{flag} {argument}: the name is repeated; give each its own")
        found[name] = value
    return found


def versions_of(libraries: Iterable[str]) -> dict[str, str]:
    """Of those that are installed; none of them is imported."""
    found = {}
    for name in libraries:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def write_files(folder: str | Path, contents: Mapping[str, str | bytes]) -> None:
    """Write files of a folder by their names, each whole, and say so."""
    for name, content in contents.items():
        path = Path(folder) / name
        with atomic_write(path, "wb") as file:
            file.write(encoded(content, f"{path}: ") if isinstance(content, str) else content)
        log.info("wrote %s", path)


class Progress:
    """Context manager that shows how far a stage is: a bar on a terminal, or else a line every few seconds.

    Args:
        total: steps in all. unit: what a step is.
        every: seconds between two lines.
    """

    def __init__(self, total: int, unit: str, every: float = 10.0):
        self.total, self.unit, self.every = total, unit, every
        self.done, self.start = 0, time.monotonic()
        self.said = self.start
        self.bar = tqdm(total=total, unit=unit, disable=not sys.stderr.isatty(), leave=False)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_) -> None:
        self.bar.close()

    @property
    def rate(self) -> float:
        """Steps a second so far."""
        return self.done / max(time.monotonic() - self.start, 1e-9)

    def step(self, count: int = 1, note: str = "") -> None:
        """Count steps; `note` is shown behind the bar."""
        self.done += count
        self.bar.set_postfix_str(note, refresh=False)
        self.bar.update(count)
        now = time.monotonic()
        if now - self.said >= self.every:
            self.said = now
            rate, steps = self.rate, f"{self.done} of {self.total} {self.unit}"
            log.info(
                "%s, %.1f a second, %.0f s left", steps, rate, (self.total - self.done) / max(rate, 1e-9)
            )


def add_table_notes_argument(parser) -> None:
    """`--table-notes`: where to leave notes."""
    parser.add_argument("--table-notes", metavar="FILE", help="notes for `bove tables --notes` to write")


def write_notes(path: str | Path | None, notes: Mapping[str, Sequence[str]]) -> None:
    """Write JSON with the notes of each task, for the tables of another stage; without a path nothing."""
    if path is not None:
        write_json(path, {task: list(notes.get(task, ())) for task in TASKS})


def read_notes(paths: Iterable[str | Path]) -> dict[str, list[str]]:
    """The notes of each task, of one file after another."""
    found: dict[str, list[str]] = {task: [] for task in TASKS}
    for path in paths:
        notes = read_json(path)
        for task in TASKS:
            found[task] += notes.get(task, [])  # of a task that is newer than the file there are none
    return found


def add_treebank_arguments(parser, strict: bool = False) -> None:
    """How a treebank is read: `--columns`, `--encoding`, and perhaps `--strict`."""
    add = parser.add_argument
    add("--columns", choices=("gold", "predicted"), default="gold", help="of CoNLL-2009 files (default gold)")
    add("--encoding", default="utf-8", help="of the treebank (default utf-8)")
    if strict:
        add("--strict", action="store_true", help="stop at the first sentence that is not one whole tree")


def read_files(
    paths: Sequence[str], columns: str, encoding: str, strict: bool = False, what: str = ""
) -> Iterator[Sentence]:
    """Stream the sentences of files, one after another; the log has what is odd, with its first line.

    Args:
        paths, columns, encoding, strict: as in `read_sentences`.
        what: what the files are, for the log, such as "treebank: ".
    """
    for path in paths:
        counts = Oddities(keep=1)
        yield from read_sentences(path, columns, encoding, counts, strict)
        where = f" of {path}" if len(paths) > 1 else ""
        for kind, count in counts.items():
            log.info("%s%d %s, first in line %d%s", what, count, kind, counts.places[kind][0], where)


def check_ids(where, ids) -> None:
    """A bag is found by its sentence's id, so none may be repeated."""
    if len(set(ids)) < len(ids):
        name, _ = Counter(ids).most_common(1)[0]
        advice = "give each its own in a comment '# sent_id = …'"
        raise BoveError(f"{where}: two sentences have the id {name!r}; {advice}")


@contextmanager
def stanza_messages() -> Iterator[None]:
    """Send what Stanza reports to the handlers of BoVE's log instead of its own."""
    import stanza.models._training_logging  # noqa: F401 sets handler and level when first imported

    messages = logging.getLogger("stanza")
    before = messages.handlers[:], messages.level, messages.propagate
    messages.handlers[:], messages.propagate = log.handlers, False
    messages.setLevel(logging.INFO)
    try:
        yield
    finally:
        messages.handlers[:], messages.propagate = before[0], before[2]
        messages.setLevel(before[1])


def add_parser_files(parser: argparse.ArgumentParser, required: bool) -> None:
    """Add --tagger, --parser, and the further files that published models need."""
    given = {"metavar": "FILE.pt", "required": required}
    for kind in ("tagger", "parser"):
        parser.add_argument(f"--{kind}", help=f"from `bove train-{kind}`, or Stanza's", **given)
    for name in FURTHER:
        parser.add_argument(flag(name), metavar="FILE.pt", help="of Stanza, if tagger or parser need it")


def further_files(args: argparse.Namespace) -> dict[str, str]:
    """The further files that are given, by name."""
    return {name: value for name in FURTHER if (value := getattr(args, name)) is not None}


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --run, what replaces it, and how sentences are embedded."""
    files = parser.add_argument_group("the run, or its files; a file that is named goes before the run's")
    add = files.add_argument
    add("--run", metavar="results/NAME", help="a finished run, or the file that `bove pack` made of one")
    add("--variant", metavar="FOLDER", default="", help="of the run, such as ablations/no-relations")
    add("--model", metavar="FILE", help="model.safetensors")
    add("--vocabulary", metavar="FILE", help="vocabulary.json, the model's")
    add("--vectors", metavar="FILE", help="vectors.safetensors, the model's")
    add_parser_files(files, required=False)
    usual = "(default: the run's, or the configuration's default)"
    how = parser.add_argument_group(f"how sentences are embedded {usual}")
    how.add_argument("--max-tokens", type=int, help="a longer sentence is parsed in pieces")
    add_settings(how, InferenceSettings, defaults=False)
    how.add_argument("--punctuation", action=SWITCH, help="whether punctuation is aligned too")


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
    given = {name: value for name, value in vars(args).items() if value is not None}
    names = ("vocabulary", "model", "vectors", "tagger", "parser", *FURTHER)
    return Embedder.open(run, {name: given[name] for name in names if name in given}, given, flag)


def trees_of(path: str, ids: Sequence[str] | None, count: int) -> list[Sentence]:
    """The trees of a CoNLL file that have these sent_ids, or else all; there must be `count` of them.

    Raises:
        BoveError: another number of trees, or an id that the file lacks or has twice.
    """
    wanted = f"{count} trees are" if count > 1 else "one tree is"
    trees = list(read_sentences(path))
    if ids is None:
        if len(trees) != count:
            raise BoveError(f"{path}: holds {len(trees)} trees, but {wanted} needed; name them with --ids")
        return trees
    if len(ids) != count:
        raise BoveError(f"--ids {' '.join(ids)}: {len(ids)} given, but {wanted} needed")
    found, seen = {tree.id: tree for tree in trees}, Counter(tree.id for tree in trees)
    for name in ids:
        if name not in found:
            hint = similar(name, seen) or "ids are the trees' sent_id"
            raise BoveError(f"{path}: no tree has id {name!r}; {hint}")
        if seen[name] > 1:
            raise BoveError(f"{path}: {seen[name]} trees have id {name!r}; give each its own")
    return [found[name] for name in ids]


def named_pairs(path: str | Path, pairs: Sequence[Pair], names: Iterable[str]) -> list[Pair]:
    """The pairs that --pair names by their ids; BoveError for one that is not there or not scored."""
    by_id = {pair.id: pair for pair in pairs}
    for name in names:
        if name not in by_id:
            looks = f"ids look like {pairs[0].id}" if pairs else "it holds none"
            raise BoveError(f"--pair {name}: {path} has no such pair; {similar(name, by_id)}{looks}")
        if not by_id[name].scored:
            raise BoveError(f"--pair {name}: has no gold, so was not parsed; choose a pair that is scored")
    return [by_id[name] for name in names]


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
    warn_of_new_names(embedder, sentences)


def warn_of_new_names(embedder: Embedder, sentences: Sequence[Sentence]) -> int:
    """Warn of tags and labels that the treebank lacks; how many tokens are of words that nothing knows."""
    counts = Counts()
    embedder.graphs(sentences, counts)
    for kind, new in (("tags", counts.new_tags), ("relations", counts.new_relations)):
        if new:
            shown = ", ".join(sorted(new)[:SHOWN]) + (", …" if len(new) > SHOWN else "")
            log.warning(
                "the model's treebank has no such %s: %s; the trees should be made like it", kind, shown
            )
    return counts.words["UNKNOWN_"] + counts.words["none"]
