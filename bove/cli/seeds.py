"""`bove seeds`: mean and spread of the results over models that differ in their seed alone."""

import io
import logging
import re

from bove.cli.notes import add_table_notes_argument, write_notes
from bove.cli.outputs import add_development_argument, write_files
from bove.cli.variant_scores import add_scores_arguments, read_variants
from bove.errors import BoveError
from bove.evaluate.results import results_of
from bove.evaluate.scores import Scores
from bove.evaluate.seeds import seeds_table, spreads, table_notes, write_csv

log = logging.getLogger("bove")


def register(parser) -> None:
    add_scores_arguments(parser, "SEED", "a seed")
    add_development_argument(parser)
    add_table_notes_argument(parser)
    parser.add_argument("--output", required=True, help="folder that gets seeds.csv and seeds.md")


def run(args) -> None:
    """Write both files, each whole, and print the Markdown page."""
    for seed, *_ in args.scores:
        if not re.fullmatch("0|[1-9][0-9]{0,18}", seed):
            raise BoveError(
                f"--scores {seed}: not a seed; write a whole number of at least 0, then its files"
            )
    scores = read_variants(args)
    if len(scores) < 2:
        raise BoveError(f"--scores {args.base}: one seed has no spread; give the scores of another one too")
    order = list(scores[args.base])
    labels = {dataset: scores[args.base][dataset].label for dataset in order}
    results = {
        seed: [result for dataset in order for result in results_of(of_seed[dataset])]
        for seed, of_seed in scores.items()
    }
    found = spreads(results, args.base)
    same = _same(scores, args.system)
    for group in same:
        log.warning("seeds %s have the same scores", ", ".join(group))
    page, stream = seeds_table(found, args.base, args.system, labels, args.development, same), io.StringIO()
    write_csv(stream, found)
    write_files(args.output, {"seeds.csv": stream.getvalue(), "seeds.md": page})
    write_notes(args.table_notes, table_notes(found, args.system, labels))
    print(page, end="")


def _same(scores: dict[str, dict[str, Scores]], system: str) -> list[list[str]]:
    """Groups of seeds that agree in the score of every pair."""
    groups: dict[bytes, list[str]] = {}
    for seed, of_seed in scores.items():
        content = b"".join(of_seed[dataset].values[system].tobytes() for dataset in sorted(of_seed))
        groups.setdefault(content, []).append(seed)
    return [group for group in groups.values() if len(group) > 1]
