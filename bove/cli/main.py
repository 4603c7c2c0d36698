"""Entry point of the `bove` command: `bove STAGE …`."""

import argparse
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from functools import partial

from bove._version import __version__
from bove.cli.stages import GROUPS, STAGES, USE, code, functions
from bove.errors import BoveError, one_line, visible
from bove.files import refusal

log = logging.getLogger("bove")
MOST_SEED = 2**32 - 1  # the configuration's; some libraries take no more
# Arguments that name a file to write, or a folder that gets files.
WRITTEN = ("output", "sentence_output", "report", "training_log", "times", "table_notes", "trees", "html")
WRITTEN += ("log",)
WORKFLOW = "Stages of the workflow, which calls them in this order; each runs with its files alone:"
SHORT = 12  # options of a stage that its usage line lists; of more, those that it needs
# What only some stages import → the extra that installs it.
EXTRAS = {
    "argcomplete": "completion", "gensim": "vectors", "jinja2": "plots", "markdown_it": "workflow",
    "matplotlib": "plots", "mpi4py": "mpi", "networkx": "networkx", "pooch": "workflow",
    "pygments": "workflow", "qdrant_edge": "search", "requests": "workflow",
    "sentence_transformers": "encoders", "snakemake": "workflow", "stanza": "parse", "torch": "parse",
    "transformers": "encoders",
}  # fmt: skip


class _Stage(argparse.ArgumentParser):
    """Takes a word after an option for its value, though it starts with a dash, such as --meaning -=-."""

    def parse_known_args(self, args=None, namespace=None):
        """As of any parser."""
        known, words = self._option_string_actions, []
        for word in args or ():
            option = known.get(words[-1]) if words else None
            dashed = (
                word.startswith("-") and not word.startswith("--") and word.partition("=")[0] not in known
            )
            if option and option.nargs is None and dashed:
                words[-1] += f"={word}"
            else:
                words.append(word)
        return super().parse_known_args(words, namespace)


def main(argv: list[str] | None = None) -> int:
    """Run one stage; a BoveError becomes one line on stderr and exit code 2.

    As a command of its own, without arguments given, it ends by a signal in good order: nothing half written
    is left, and the exit code is 143 or, for ^C, 130.
    """
    alone = argv is None
    if "_ARGCOMPLETE" in os.environ:
        _complete(os.environ["COMP_LINE"].split())
    if alone:
        _prepare()
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
        said = f"needs {name}; install it with: pip install 'bove[{EXTRAS[name]}]'"
        print(f"bove {stage}: {said}", file=sys.stderr)
        return 2


def _complete(words: list[str]) -> None:
    """End with what may come next in a command line, which a shell asks for by argcomplete's variables."""
    import argcomplete

    argcomplete.autocomplete(_parser(next((word for word in words[1:] if word in STAGES), None))[0])


def _prepare() -> None:
    """Write odd names as escapes, and end by SIGTERM in good order."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))


def _run(stage: str | None, argv: list[str]) -> int:
    parser, execute = _parser(stage)
    args = parser.parse_args(argv)
    if stage is None:
        parser.print_help()
        return 0
    try:
        check_arguments(args)
        _set_threads(args.threads)
        _set_logging(args)
        if os.environ.get("BOVE_CACHE"):
            from bove.cli import cache

            cache.run(stage, code(stage), execute, args)
        else:
            execute(args)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        return 1
    except (BoveError, MemoryError, OSError, UnicodeEncodeError) as e:
        text = one_line(_sentence(e))
        print(f"bove {stage}: {text}", file=sys.stderr)
        for handler in log.handlers:
            if isinstance(handler, _LogFile):
                with contextlib.suppress(OSError):
                    handler.handle(logging.makeLogRecord({"name": "bove", "levelname": "ERROR", "msg": text}))
        return 2
    return 0


def _sentence(error: Exception) -> str:
    """What is said of an error; a full memory or disk is not a fault of the program."""
    if isinstance(error, MemoryError):
        return f"out of memory ({error or 'no more is given'}); work on less at once, or on a larger machine"
    if isinstance(error, UnicodeEncodeError):
        return str(refusal(error))
    if isinstance(error, OSError):
        return f"{error.filename or 'standard output'}: {error.strerror or error}"
    return str(error)


def _parser(stage: str | None) -> tuple[argparse.ArgumentParser, Callable | None]:
    """The parser, which knows the arguments of one stage alone, and what runs that stage."""
    listed = {
        title: f"{title}:\n" + "".join(f"  {name:<17}{line}\n" for name, (_, line) in group.items())
        for title, group in GROUPS.items()
    }
    used = listed.pop(USE)
    parser = argparse.ArgumentParser(
        prog="bove",
        usage="bove STAGE …; bove STAGE --help says more",
        description=f"Bag-of-vector embeddings of dependency graphs.\n\n{used}",
        epilog="\n".join([f"{WORKFLOW}\n", *listed.values()]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"bove {__version__}")
    stages = parser.add_subparsers(parser_class=_Stage, prog="bove", metavar="STAGE", help=argparse.SUPPRESS)
    if stage is None:
        for name in STAGES:
            stages.add_parser(name)
        return parser, None
    line = STAGES[stage][1]
    layout = partial(argparse.HelpFormatter, max_help_position=34)
    sub = stages.add_parser(stage, description=f"{line[0].upper()}{line[1:]}.", formatter_class=layout)
    register, execute = functions(stage)
    register(sub)
    sub.add_argument("--threads", type=int, default=1, help="threads to use (default 1)")
    sub.add_argument("--log", help="file that gets the log, beside stderr")
    if len(sub._actions) > SHORT:
        needed = [action for action in sub._actions if action.required]
        words = [f"{a.option_strings[0]} …" if a.option_strings else str(a.metavar or a.dest) for a in needed]
        sub.usage = " ".join(["bove", stage, *words, "[options]"])
    return parser, execute


def check_arguments(args: argparse.Namespace) -> None:
    """See that the seed can be one, and that what a stage writes takes the place of nothing that it reads.

    Raises:
        BoveError: another seed, two files to write that are one, or a file to write that is read too.
    """
    seed = getattr(args, "seed", None)
    if seed is not None and not 0 <= seed <= MOST_SEED:
        raise BoveError(f"--seed {seed}: must be a whole number from 0 to {MOST_SEED}")
    places: dict[str, str] = {}
    for name in WRITTEN:
        if path := getattr(args, name, None):
            flag, place = f"--{name.replace('_', '-')}", os.path.realpath(path)
            if place in places:
                raise BoveError(f"{places[place]} and {flag} are one file; name two")
            places[place] = f"{flag} {path}"
    for name, value in vars(args).items():
        for text in _texts(value) if name not in WRITTEN else ():
            if os.path.isfile(text) and (flag := places.get(os.path.realpath(text))):  # noqa: PTH113 start-up
                raise BoveError(f"{flag}: {name} names it too; name another file")


def _texts(value: object) -> Iterator[str]:
    """Every text in an argument, and of NAME=FILE the file."""
    if isinstance(value, str):
        yield from (value, value.partition("=")[2])
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _set_threads(count: int) -> None:
    """Fix the thread count of every numerical library, in the environment and in what is loaded."""
    if count < 1:
        raise BoveError(f"--threads {count}: must be at least 1")
    for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM"):
        os.environ[f"{name}_NUM_THREADS"] = str(count)
    if "numpy" in sys.modules:
        from threadpoolctl import threadpool_limits

        threadpool_limits(count)


class _LogFile(logging.FileHandler):
    """A log that cannot be written, as on a full disk, is one line and no traceback."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Raise what stopped the log from being written, with the file's name."""
        error = sys.exception()
        reason = getattr(error, "strerror", None) or error
        raise OSError(getattr(error, "errno", None), reason, self.baseFilename) from error


class _Visible(logging.Formatter):
    """Escapes control characters, which names in a file may hold."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


def _set_logging(args: argparse.Namespace) -> None:
    """Log to stderr and the file of --log; of several processes of MPI the first one alone does."""
    silent = False
    if getattr(args, "mpi", 1) > 1:
        from bove.factor.parallel import world

        silent = world(args.mpi).number > 0
    log.setLevel(logging.CRITICAL if silent else logging.INFO)
    log.propagate = False
    for handler in log.handlers[:]:
        log.removeHandler(handler)
        with contextlib.suppress(OSError):  # what could not be written has been said by then
            handler.close()
    log.addHandler(logging.StreamHandler())
    if args.log and not silent:
        os.makedirs(os.path.dirname(args.log) or ".", exist_ok=True)  # noqa: PTH103, PTH120 start-up
        log.addHandler(_LogFile(args.log, mode="w", encoding="utf-8", errors="backslashreplace"))
    for handler in log.handlers:
        handler.setFormatter(_Visible("%(asctime)s %(message)s", "%H:%M:%S"))


if __name__ == "__main__":
    sys.exit(main())
