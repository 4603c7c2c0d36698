"""Entry point of the `bove` command: `bove STAGE …`, each stage a module of this package."""

import argparse
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from importlib import import_module

from bove._version import __version__
from bove.errors import BoveError, one_line, visible
from bove.files import refusal

# What is seen to of the arguments of every stage, before it begins.

MOST_SEED = 2**32 - 1  # the configuration's; some libraries take no more
# Arguments that name a file to write, or a folder that gets files.
WRITTEN = ("output", "report", "training_log", "times", "table_notes", "trees", "html", "log")


def check_arguments(args: argparse.Namespace) -> None:
    """See that the seed can be one, and that what a stage writes takes the place of nothing that it reads.

    Raises:
        BoveError: another seed, two files to write that are one, or a file to write that is read too.
    """
    seed = getattr(args, "seed", None)
    if seed is not None and not 0 <= seed <= MOST_SEED:
        raise BoveError(f"--seed {seed}: must be a whole number from 0 to {MOST_SEED}")
    written = {name: str(getattr(args, name)) for name in WRITTEN if _names_a_file(getattr(args, name, None))}
    read = {name: value for name, value in vars(args).items() if name not in written}
    seen: dict[str, str] = {}
    for name, path in written.items():
        place = os.path.realpath(path)
        if place in seen:
            raise BoveError(f"{seen[place]} and {_flag(name)} are one file, {path}; name two")
        seen[place] = _flag(name)
        if os.path.isfile(path):  # noqa: PTH113 pathlib costs start-up
            for other, value in read.items():
                if any(text and os.path.realpath(text) == place for text in _texts(value)):
                    raise BoveError(f"{_flag(name)} {path}: {other} names it too; name another file")


def _names_a_file(value: object) -> bool:
    return isinstance(value, str | os.PathLike) and bool(str(value))


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _texts(value: object) -> Iterator[str]:
    """Every text in an argument, and of NAME=FILE the file."""
    if isinstance(value, str):
        yield value
        yield value.partition("=")[2]
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


# Entry point of the `bove` command: `bove STAGE …`, each stage a module of this package.

# stage → its module in this package, and what it does
STAGES = {
    "check": ("check", "say what files are, what they hold, and what in them is odd"),
    "fetch": ("data", "download a data set, checked by hash, or link a local file"),
    "demo": ("data", "write the built-in treebank, STS and SNLI files"),
    "vocabulary": ("data", "count a treebank and choose its words, tags and relations"),
    "vectors": ("data", "read pretrained word vectors, or train them, into a mapped file"),
    "encode": ("data", "turn sentences into graphs"),
    "train-als": ("train", "train a model by alternating least squares"),
    "train-sgd": ("train", "train a model by stochastic gradient descent"),
    "train-again": ("train", "train a model with the settings of another one and another seed"),
    "train-tagger": ("parse", "train a part-of-speech tagger on a treebank"),
    "train-parser": ("parse", "train a dependency parser on a treebank"),
    "evaluate-parser": ("parse", "measure tagger and parser together on a treebank"),
    "pairs": ("data", "read files of sentence pairs, such as those of STS and SNLI"),
    "contamination": (
        "data",
        "find the pairs that are in development sets too, and the sentences of the treebank",
    ),
    "parse": ("parse", "parse the sentences of the pairs"),
    "gather-parses": ("parse", "put the trees of all shards of parsing into the pairs' order"),
    "compress": ("infer", "keep a model's relations as low-rank factors"),
    "infer": ("infer", "infer bags of vectors for graphs"),
    "gather-bags": ("infer", "put the bags of all shards of inference into one file"),
    "compare-bags": ("infer", "compare two files of bags of the same sentences, token by token"),
    "score": ("score", "score pairs of bags"),
    "select": ("score", "choose one of several models by its scores on development sets"),
    "tables": ("tables", "write the result tables"),
    "ablations": ("tables", "hold variants of a run against a base, in a table and a figure"),
    "seeds": ("tables", "show mean and spread of the results over several seeds of the model"),
    "provenance": ("report", "record what a run was made from and with, by hashes and versions"),
    "training": ("report", "show how L fell in training, in a table and a figure"),
    "explain": ("explain", "show word by word how two sentences are aligned"),
    "neighbours": ("explain", "find the training words nearest to a word in its sentence"),
    "index": ("search", "make an index of a file of bags, for searches in large collections"),
    "search": ("search", "find the sentences of a file of bags that answer a query best"),
    "overview": ("report", "say what a run is made of, in tables"),
    "pages": ("report", "turn tables in Markdown into pages of HTML"),
    "figures": ("figures", "look inside a run: scores, iterations, relations, token vectors"),
}
# What only some stages import → the extra that installs it.
EXTRAS = {
    "gensim": "vectors", "jinja2": "plots", "markdown_it": "workflow", "matplotlib": "plots", "mpi4py": "mpi",
    "networkx": "networkx", "pandas": "workflow", "pooch": "workflow", "pygments": "workflow",
    "qdrant_edge": "search", "requests": "workflow", "snakemake": "workflow", "stanza": "parse",
    "torch": "parse",
}  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    """Run one stage; a BoveError becomes one line on stderr and exit code 2.

    As a command of its own, without arguments given, it ends by a signal in good order: nothing half written
    is left, and the exit code is 143 or, for ^C, 130.
    """
    alone = argv is None
    if alone:
        _use_utf8()
        _write_any_text()
        signal.signal(signal.SIGTERM, _stop)
        argv = sys.argv[1:]
    stage = next((word for word in argv if word in STAGES), None)
    try:
        return _run(stage, argv)
    except KeyboardInterrupt:
        if not alone:
            raise
        print(f"bove {stage}: stopped", file=sys.stderr)
        return 130
    except ModuleNotFoundError as e:
        name = (e.name or "").partition(".")[0]
        if name not in EXTRAS:
            raise
        print(
            f"bove {stage}: needs {name}; install it with: pip install 'bove[{EXTRAS[name]}]'",
            file=sys.stderr,
        )
        return 2


def _stop(number: int, frame: object) -> None:
    sys.exit(128 + number)


def _run(stage: str | None, argv: list[str]) -> int:
    parser, execute = _parser(stage)
    args = parser.parse_args(argv)
    if stage is None:
        parser.print_help()
        return 0
    try:
        check_arguments(args)
        _set_threads(args.threads)
        speaks = _speaks(getattr(args, "mpi", 1))
        _set_logging(args.log if speaks else None, logging.INFO if speaks else logging.CRITICAL)
        _execute(stage, execute, args)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        return 1
    except (BoveError, MemoryError, OSError, UnicodeEncodeError) as e:
        _say(stage, _sentence(e))
        return 2
    return 0


def _sentence(error: Exception) -> str:
    """What is said of an error, which is none of the program where the memory or the disk is full."""
    if isinstance(error, MemoryError):
        return f"out of memory ({error or 'no more is given'}); work on less at once, or on a larger machine"
    if isinstance(error, UnicodeEncodeError):
        return str(refusal(error))
    if isinstance(error, OSError):
        return f"{error.filename or 'standard output'}: {error.strerror or error}"
    return str(error)


def _say(stage: str, text: str) -> None:
    """One line on stderr, and in the log's file."""
    print(f"bove {stage}: {one_line(text)}", file=sys.stderr)
    for handler in logging.getLogger("bove").handlers:
        if isinstance(handler, _LogFile):
            with contextlib.suppress(BoveError):
                handler.handle(logging.makeLogRecord({"name": "bove", "levelname": "ERROR", "msg": text}))


def functions(stage: str) -> tuple[Callable, Callable]:
    """A stage's two functions: `register_…` takes its parser of arguments, `run_…` the arguments."""
    module, _, run = code(stage).partition(":")
    found = import_module(module)
    return getattr(found, run.replace("run_", "register_", 1)), getattr(found, run)


def code(stage: str) -> str:
    """Module and name of the function that runs a stage, or a kind of it such as "figures results"."""
    return f"bove.cli.{STAGES[stage.split()[0]][0]}:run_{stage.replace('-', '_').replace(' ', '_')}"


def _execute(stage: str, execute, args) -> None:
    """Run a stage; what is dear may come from the cache, where there is one."""
    if os.environ.get("BOVE_CACHE"):
        from bove.cli import cache

        cache.run(stage, code(stage), execute, args)
    else:
        execute(args)


def _use_utf8() -> None:
    """Start anew in Python's UTF-8 mode where the locale, such as C, makes paths and output ASCII."""
    if sys.getfilesystemencoding() == "ascii" and os.environ.get("PYTHONUTF8") != "1":
        os.environ["PYTHONUTF8"] = "1"
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def _write_any_text() -> None:
    r"""Have \ escapes printed for what stdout has no place for, such as the odd bytes of a file's name."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")


def _parser(stage):
    parser = argparse.ArgumentParser(
        prog="bove", description="Bag-of-vector embeddings of dependency graphs."
    )
    parser.add_argument("--version", action="version", version=f"bove {__version__}")
    stages = parser.add_subparsers(title="stages, in the order of a run", metavar="STAGE")
    execute = None
    for name, (_, line) in STAGES.items():
        sub = stages.add_parser(name, help=line, description=line[0].upper() + line[1:] + ".")
        if name == stage:
            register, execute = functions(name)
            register(sub)
            sub.add_argument("--threads", type=int, default=1, help="threads to use (default 1)")
            sub.add_argument("--log", help="file that gets the log, beside stderr")
    return parser, execute


def _set_threads(count: int) -> None:
    """Fix the thread count of every numerical library, in the environment and in what is loaded."""
    if count < 1:
        raise BoveError(f"--threads {count}: must be at least 1")
    for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM"):
        os.environ[f"{name}_NUM_THREADS"] = str(count)
    if "numpy" in sys.modules:
        from threadpoolctl import threadpool_limits

        threadpool_limits(count)


def _speaks(processes: int) -> bool:
    """Whether this process is the one that logs, where a stage runs as several of MPI."""
    if processes <= 1:
        return True
    from bove.factor.parallel import world

    return world(processes).number == 0


class _LogFile(logging.FileHandler):
    """A log that cannot be written, as on a full disk, is one line and no traceback."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Raise what stopped the log from being written, as BoveError if it is of the disk."""
        error = sys.exception()
        if not isinstance(error, OSError):
            super().handleError(record)
            return
        raise BoveError(
            f"--log {self.baseFilename}: cannot be written ({error.strerror}); choose another file"
        ) from error


class _Visible(logging.Formatter):
    """Names that stand in a file steer no terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, or the lines, of a record."""
        return visible(super().format(record))


def _set_logging(path: str | None, level: int) -> None:
    log = logging.getLogger("bove")
    log.setLevel(level)
    log.propagate = False
    for handler in log.handlers[:]:
        log.removeHandler(handler)
        with contextlib.suppress(OSError):  # what could not be written has been said by then
            handler.close()
    log.addHandler(logging.StreamHandler())
    if path:
        try:
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)  # noqa: PTH103, PTH120 pathlib costs start-up
            log.addHandler(_LogFile(path, mode="w", encoding="utf-8", errors="backslashreplace"))
        except OSError as e:
            raise BoveError(f"--log {path}: cannot be written ({e.strerror}); choose another file") from e
    for handler in log.handlers:
        handler.setFormatter(_Visible("%(asctime)s %(message)s", "%H:%M:%S"))


if __name__ == "__main__":
    sys.exit(main())
