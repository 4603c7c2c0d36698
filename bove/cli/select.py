"""`bove select`: choose one of several trained models by its scores on the development sets."""

import io
import json
import logging
import shutil
from pathlib import Path

from bove.errors import BoveError
from bove.evaluate.results import results_of
from bove.evaluate.scores import Scores, read_scores
from bove.evaluate.selection import (
    SUMMARIES,
    SYSTEM,
    Candidate,
    candidate_table,
    choice,
    ranked,
    summarise,
    write_csv,
)
from bove.files import atomic_path, atomic_write

log = logging.getLogger("bove")
MODEL_FILES = ("model.safetensors", "log.csv", "times.csv")


def register(parser) -> None:
    parser.add_argument(
        "--candidate",
        required=True,
        nargs="+",
        action="append",
        metavar=("NAME", "CHANGES"),
        help="a candidate: its name (key~value/key~value), its changes of the configuration as JSON, its "
        "model's folder, and its scores.parquet of each development set; once for each candidate",
    )
    parser.add_argument(
        "--summary", choices=SUMMARIES, required=True, help="which summary of a similarity set counts"
    )
    parser.add_argument(
        "--output", required=True, help="folder that gets choice.json, chosen.yaml and candidates.csv and .md"
    )
    parser.add_argument("--model", required=True, help="folder that gets the chosen model and its log")


def run(args) -> None:
    """Rank the candidates, write tables and choice, copy the best one's model."""
    folders, candidates, first = {}, [], None
    for name, changes, folder, *paths in map(_whole, args.candidate):
        if name in folders:
            raise BoveError(f"--candidate {name}: stands twice; give each its own name")
        scores = [_read(path) for path in paths]
        found = {(s.dataset, s.task, s.pairs_sha256) for s in scores}
        first = first or scores
        if found != {(s.dataset, s.task, s.pairs_sha256) for s in first} or len(found) < len(scores):
            raise BoveError(
                f"--candidate {name}: its scores are of other pairs than the first candidate's; score all "
                f"candidates on the same development sets"
            )
        folders[name] = Path(folder)
        values = {s.dataset: summarise(results_of(s), args.summary) for s in scores}
        candidates.append(Candidate(name, changes, values))
    best = ranked(candidates)[0]
    if best.value is None:
        raise BoveError("no candidate has a defined value on the development sets: all scores are constant")
    results = [result for s in first for result in results_of(s)]
    tasks = {result.dataset: result.task for result in results}
    decided = choice(candidates, args.summary, {result.dataset: result.metric for result in results})
    _write(args.output, candidates, decided, candidate_table(candidates, tasks, args.summary))
    for file in MODEL_FILES:
        with atomic_path(Path(args.model) / file) as path:
            shutil.copyfile(folders[best.name] / file, path)
    log.info("%s: %s", best.name, decided["reason"])


def _whole(group: list[str]) -> tuple:
    if len(group) < 4:
        raise BoveError(f"--candidate {' '.join(group)}: not NAME CHANGES FOLDER SCORES…; give all four")
    name, changes, *files = group
    try:
        parsed = json.loads(changes)
    except ValueError as e:
        raise BoveError(f"--candidate {name}: {changes!r} is no JSON ({e}); give a map of changes") from e
    return name, parsed, *files


def _read(path: str) -> Scores:
    scores = read_scores(path)
    if SYSTEM not in scores.values:
        raise BoveError(f"{path}: has no scores by '{SYSTEM}'; score the bags of the candidate's model")
    return scores


def _write(folder, candidates, decided: dict, table: str) -> None:
    stream = io.StringIO()
    write_csv(stream, candidates)
    # JSON is YAML too: the file can be given to --configfile as it is
    settings = json.dumps({**decided["changes"], "select": None}, indent=1)
    texts = {
        "choice.json": json.dumps(decided, indent=1) + "\n",
        "chosen.yaml": f"# The chosen settings; give this file after your own ones.\n{settings}\n",
        "candidates.csv": stream.getvalue(),
        "candidates.md": table,
    }
    for name, text in texts.items():
        with atomic_write(Path(folder) / name) as file:
            file.write(text)
        log.info("wrote %s", Path(folder) / name)
    print(table, end="")
