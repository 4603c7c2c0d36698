"""`bove figures KIND …`: figures that look inside a run, each kind a module of this package."""

import argparse
from importlib import import_module

KINDS = {
    "results": "results and differences of the systems on every subset, with intervals",
    "scores": "scores by gold score or label",
    "iterations": "iterations of inference against the length of sentences",
    "relations": "singular values of the relation matrices",
    "tokens": "token vectors of chosen pairs, in two dimensions",
}


def register(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="|".join(KINDS))
    for name, line in KINDS.items():
        kind = kinds.add_parser(name, help=line, description=f"{line[0].upper()}{line[1:]}.")
        import_module(f"{__name__}.{name}").register(kind)
        # Each stage's parser has these; here they may follow the kind too.
        kind.add_argument("--threads", type=int, default=argparse.SUPPRESS, help="threads to use (default 1)")
        kind.add_argument("--log", default=argparse.SUPPRESS, help="file that gets the log, beside stderr")


def run(args: argparse.Namespace) -> None:
    """Draw one kind of figure."""
    import_module(f"{__name__}.{args.kind}").run(args)
