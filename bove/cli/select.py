"""`bove select`: choose one of several trained models by its scores on the development sets."""

import io
import json
import logging
import shutil
from pathlib import Path

from bove.cli.outputs import write_files
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
    settings,
    summarise,
    write_csv,
)
from bove.files import atomic_path

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
    given = _candidates(args.candidate)
    scores = {name: [_read(path) for path in paths] for name, _, _, paths in given}
    _check(scores)
    results = {name: {s.dataset: results_of(s) for s in found} for name, found in scores.items()}
    datasets = next(iter(results.values()))
    values: dict[str, dict] = {name: {} for name in results}
    for dataset in datasets:
        of_set = {name: found[dataset] for name, found in results.items()}
        for name, value in summarise(of_set, args.summary).items():
            values[name][dataset] = value
    candidates = [Candidate(name, changes, values[name]) for name, changes, _, _ in given]
    best = ranked(candidates)[0]
    if best.value is None:
        raise BoveError(
            f"no candidate has a value on all of {', '.join(datasets)}: scores or gold are constant there; "
            f"choose on other data sets"
        )
    metrics = {dataset: found[0].metric for dataset, found in datasets.items()}
    tasks = {dataset: found[0].task for dataset, found in datasets.items()}
    decided = choice(candidates, args.summary, metrics)
    _write(args.output, candidates, decided, candidate_table(candidates, tasks, args.summary))
    folder = next(folder for name, _, folder, _ in given if name == best.name)
    for file in MODEL_FILES:
        with atomic_path(Path(args.model) / file) as path:
            shutil.copyfile(folder / file, path)
    log.info("%s: %s", best.name, decided["reason"])


def _candidates(groups: list[list[str]]) -> list[tuple[str, dict, Path, list[str]]]:
    """Name, changes, folder and paths of scores of each."""
    found: list[tuple[str, dict, Path, list[str]]] = []
    for group in groups:
        if len(group) < 4:
            raise BoveError(f"--candidate {' '.join(group)}: not NAME CHANGES FOLDER SCORES…; give all four")
        name, text, folder, *paths = group
        try:
            changes = json.loads(text)
        except (ValueError, RecursionError) as e:
            raise BoveError(f"--candidate {name}: {text!r} is no JSON ({e}); give a map of changes") from e
        if not isinstance(changes, dict):
            raise BoveError(f"--candidate {name}: {text!r} is no map; give a map of changes")
        if any(name == other for other, *_ in found):
            raise BoveError(f"--candidate {name}: stands twice; give each its own name")
        if found and list(settings(name)) != list(settings(found[0][0])):
            raise BoveError(f"--candidate {name}: has other keys than {found[0][0]}; give all the same")
        for file in MODEL_FILES:
            if not (Path(folder) / file).is_file():
                raise BoveError(f"{Path(folder) / file}: no such file; train candidate {name} first")
        found.append((name, changes, Path(folder), paths))
    return found


def _check(scores: dict[str, list[Scores]]) -> None:
    """All candidates have the same data sets, and of each the same pairs."""
    pairs = {name: {(s.dataset, s.task, s.pairs_sha256) for s in found} for name, found in scores.items()}
    first, *others = pairs
    for name in scores:
        if len({s.dataset for s in scores[name]}) < len(scores[name]):
            raise BoveError(f"--candidate {name}: a data set's scores stand twice; give one file for each")
    for name in others:
        if pairs[name] != pairs[first]:
            raise BoveError(
                f"--candidate {name}: its scores are of other pairs than those of {first}; score all "
                f"candidates on the same development sets"
            )


def _read(path: str) -> Scores:
    scores = read_scores(path)
    if SYSTEM not in scores.values:
        raise BoveError(f"{path}: has no scores by '{SYSTEM}'; score the bags of the candidate's model")
    return scores


def _write(folder, candidates, decided: dict, table: str) -> None:
    stream = io.StringIO()
    write_csv(stream, candidates)
    # JSON is YAML too: the file can be given to --configfile as it is
    changes = json.dumps({**decided["changes"], "select": None}, indent=1)
    texts = {
        "choice.json": json.dumps(decided, indent=1) + "\n",
        "chosen.yaml": f"# The chosen settings; give this file after your own ones.\n{changes}\n",
        "candidates.csv": stream.getvalue(),
        "candidates.md": table,
    }
    write_files(folder, texts)
    print(table, end="")
