"""`bove score`: score sentence pairs by the alignment of their bags.

A sentence's length is the number of vectors in the longest of its bags: its tokens, without punctuation where
that takes no part in the alignment. Word vectors alone give the number of words that have one.
"""

import io
import json
import logging
import shutil
from pathlib import Path

import numpy as np

from bove.bags.store import Bags
from bove.cli.common import write_files
from bove.errors import BoveError
from bove.evaluate.alignment import Alignments, score_pairs
from bove.evaluate.comparisons import (
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
from bove.evaluate.results import Scores, read_scores, results_of, write_scores
from bove.files import atomic_path, sha256
from bove.text.pairs import Pair, read_pairs

log = logging.getLogger("bove")


def register_score(parser) -> None:
    parser.add_argument("--pairs", required=True, help="pairs of one data set (pairs.jsonl)")
    parser.add_argument(
        "--bags",
        required=True,
        nargs="+",
        action="extend",
        metavar="NAME=FILE",
        help="a system's name in the tables and its bags (bags.safetensors, from `bove infer` or elsewhere)",
    )
    parser.add_argument("--output", required=True, help="scores.parquet to write")


def run_score(args) -> None:
    """Score every scored pair of the file by every system."""
    files = _systems(args.bags)
    pairs = read_pairs(args.pairs)
    _check_pairs(args.pairs, pairs)
    counted = [pair for pair in pairs if pair.scored]
    log.info("%s: %d pairs, %d of them with gold", args.pairs, len(pairs), len(counted))
    scored = np.array([pair.scored for pair in pairs], bool)
    opened = {name: Bags.open(path) for name, path in files.items()}
    sides = {name: _sides(bags, counted) for name, bags in opened.items()}
    values, empty = {}, {}
    for name, bags in opened.items():
        first, second = sides[name]
        alignments = score_pairs(first, second, bags.finite_bag, pairs[0].task)
        values[name] = np.full(len(pairs), np.nan)
        values[name][scored] = alignments.values
        empty[name] = np.zeros(len(pairs), bool)
        empty[name][scored] = alignments.empty
        _log(name, alignments)
    scores = Scores(
        dataset=pairs[0].dataset,
        label=pairs[0].label,
        task=pairs[0].task,
        ids=tuple(pair.id for pair in pairs),
        subsets=tuple(pair.subset for pair in pairs),
        gold=tuple(_gold(pair) for pair in pairs),
        scored=scored,
        values=values,
        empty=empty,
        pairs_sha256=sha256(args.pairs),
        model_hashes={name: bags.model_hash for name, bags in opened.items()},
        lengths=_lengths(opened, sides, scored),
    )
    write_scores(scores, args.output)
    log.info("wrote %s", args.output)


def _systems(arguments: list[str]) -> dict[str, str]:
    files: dict[str, str] = {}
    for argument in arguments:
        name, _, path = argument.partition("=")
        if not name.strip() or not path:
            raise BoveError(f"--bags {argument}: not NAME=FILE; write for example bove=bags.safetensors")
        if name != " ".join(name.split()):
            raise BoveError(f"--bags {argument}: the name has odd spaces; write it as tables should show it")
        if name in files:
            raise BoveError(f"--bags {argument}: system '{name}' stands twice; give each its own name")
        files[name] = path
    return files


def _check_pairs(path: str | Path, pairs: list[Pair]) -> None:
    if not pairs:
        raise BoveError(f"{path}: holds no pairs; make the file again with `bove pairs`")
    kind = (pairs[0].dataset, pairs[0].label, pairs[0].task)
    for number, pair in enumerate(pairs, 1):
        if (pair.dataset, pair.label, pair.task) != kind:
            raise BoveError(
                f"{path}, line {number}: data set '{pair.dataset}' ({pair.label}, {pair.task}), but the "
                f"first line has '{kind[0]}' ({kind[1]}, {kind[2]}); keep one data set in a file"
            )
        if pair.scored and pair.gold is None:
            raise BoveError(f"{path}, line {number}: scored, but without gold; make the file again")


def _sides(bags: Bags, pairs: list[Pair]) -> tuple[list[int], list[int]]:
    """Bag numbers of both sides of the pairs; BoveError for sentences that have none."""
    wanted = [f"{pair.id}.{side}" for pair in pairs for side in (1, 2)]
    if missing := [name for name in wanted if name not in bags]:
        others = f" and {len(missing) - 1} others" if len(missing) > 1 else ""
        raise BoveError(
            f"{bags.path}: has no bag for sentence '{missing[0]}'{others} of {len(wanted)}; give one for "
            f"each side, PAIR.1 and PAIR.2, of every scored pair"
        )
    both = [(bags.bag_of(f"{pair.id}.1"), bags.bag_of(f"{pair.id}.2")) for pair in pairs]
    return [first for first, _ in both], [second for _, second in both]


def _lengths(opened: dict[str, Bags], sides: dict, scored: np.ndarray) -> np.ndarray:
    """[n, 2] vectors of the longest bag of each side; 0 where not scored."""
    lengths = np.zeros((len(scored), 2), np.int64)
    for name, bags in opened.items():
        bags_of = np.array(sides[name], np.int64).T
        lengths[scored] = np.maximum(lengths[scored], np.diff(bags.offsets)[bags_of])
    return lengths


def _log(name: str, alignments: Alignments) -> None:
    log.info(
        "%s: %d pairs scored, %d with an empty bag (scored 0), %d similarities with a direction that is "
        "not positive",
        name,
        len(alignments.values),
        alignments.empty.sum(),
        alignments.opposed.sum(),
    )


def _gold(pair: Pair) -> str | None:
    if pair.gold is None or pair.task == "entailment":
        return pair.gold
    return repr(float(pair.gold))


# `bove select`: choose one of several trained models by its scores on the development sets.

MODEL_FILES = ("model.safetensors", "log.csv", "times.csv")


def register_select(parser) -> None:
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


def run_select(args) -> None:
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
