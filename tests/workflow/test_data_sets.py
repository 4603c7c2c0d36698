"""Data sets that come along, and those of any columns: the plan, and what `bove pairs` makes of it."""

import json
import re
import shlex

import yaml
from checkout import write_file

from bove.cli.main import main
from bove.text.pairs import read_pairs

SICK = (
    "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tentailment_AB\tSemEval_set\r\n"
    "1\tA cat sleeps\tAn animal sleeps\tENTAILMENT\t4.5\tA_entails_B\tTEST\r\n"
    "2\tA cat sleeps\tA cat eats\tNEUTRAL\t3.1\tA_neutral_B\tTRIAL\r\n"
    "4\tA cat sleeps\tNo cat sleeps\tCONTRADICTION\t3.6\tA_contradicts_B\tTEST\r\n"
    "7\tA bird sings\tA bird sings loudly\tNEUTRAL\t4\tA_neutral_B\tTRAIN\r\n"
)
STS_B = (
    "main-captions\tMSRvid\t2012test\t0001\t5.000\tA cat sleeps.\tThe cat is sleeping.\n"
    'main-news\theadlines\t2015\t0002\t0.4\t"Rain" in Rome\tSun in Oslo\tone\ttwo\n'
)
MULTINLI = (
    '{"annotator_labels": ["neutral"], "genre": "fiction", "gold_label": "neutral", "pairID": "7n", '
    '"promptID": "7", "sentence1": "He left.", "sentence2": "He left early."}\n'
    '{"annotator_labels": [], "genre": "travel", "gold_label": "-", "pairID": "8c", "promptID": "8", '
    '"sentence1": "n/a", "sentence2": "It rains."}\n'
)
PAWS = (
    "id\tsentence1\tsentence2\tlabel\n1\tA cat chased a dog .\tA dog chased a cat .\t0\n"
    "2\t`` Rome '' is old .\tRome is `` old '' .\t1\n"
)
STS_INPUT, STS_GOLD = "A cat sleeps\tThe cat sleeps\tsource\nA dog\tA cat\tother\n", "4.6\n\n"
GOLDS = {
    "similarity": {5.0, 4.6, 4.5, 3.6, 3.1, 0.4, None},
    "entailment": {"entailment", "neutral", "contradiction", "other", "-"},
}
FILES = [
    f"config/datasets/{name}.yaml"
    for name in ("sick", "sts-benchmark", "multinli", "paws-wiki", "paws-qqp", "all-sts")
]
# For each source: the files there, and how many pairs each data set has then, and how many of them scored.
SHIPPED = {
    "sick": ({"SICK.txt": SICK}, {"SICK-R": (3, 3), "SICK-E": (3, 3)}),
    "sts-benchmark": (
        {"sts-dev.csv": STS_B, "sts-test.csv": STS_B},
        {"STS-B": (4, 4)},
    ),
    "multinli": (
        {f"multinli_1.0_dev_{part}.jsonl": MULTINLI for part in ("matched", "mismatched")},
        {"MultiNLI": (4, 2)},
    ),
    "paws-wiki": (
        {"dev.tsv": PAWS, "test.tsv": PAWS},
        {"PAWS-Wiki": (4, 4)},
    ),
    "paws-qqp": ({"dev_and_test.tsv": PAWS}, {"PAWS-QQP": (2, 2)}),
    **{
        f"sts-{year}": (
            {
                f"{start}.{part}.{name}.txt": text
                for name in names.split()
                for part, text in (("input", STS_INPUT), ("gs", STS_GOLD))
            },
            {f"STS-{year}": (2 * len(names.split()), len(names.split()))},
        )
        for year, start, names in (
            (2012, "STS", "MSRpar MSRvid SMTeuroparl surprise.OnWN surprise.SMTnews"),
            (2013, "STS", "FNWN headlines OnWN"),
            (2014, "STS", "deft-forum deft-news headlines images OnWN tweet-news"),
            (2015, "STS", "answers-forums answers-students belief headlines images"),
            (2016, "STS2016", "answer-answer headlines plagiarism postediting question-question"),
        )
    },
}


def datasets(plan):
    """The descriptions of data sets that the rule of pairs writes, by name."""
    printed = re.findall(r"^Shell command: (printf .*); bove pairs ", plan.text, re.M)
    found = [json.loads(shlex.split(command)[2]) for command in printed]
    return {dataset["name"]: dataset for dataset in found}


def made(dataset, folder, monkeypatch, output):
    """The pairs that `bove pairs` makes of a data set, run in the folder."""
    monkeypatch.chdir(folder)
    path = write_file(output.with_suffix(".json"), json.dumps(dataset))
    assert main(["pairs", "--dataset-file", path, "--output", str(output)]) == 0
    return read_pairs(output)


def test_the_data_sets_that_come_along_are_planned_and_their_files_are_read(checkout, tmp_path, monkeypatch):
    own, expected = {"sources": {}}, {}
    for source, (files, counts) in SHIPPED.items():
        folder = tmp_path / "my data" / source
        folder.mkdir(parents=True)
        for file, text in files.items():
            (folder / file).write_bytes(text.encode())
        own["sources"][source] = {"file": str(folder)}
        expected |= counts
    path = write_file(tmp_path / "own.yaml", yaml.safe_dump(own))
    plan = datasets(checkout.planned("--configfile", "config/config.yaml", *FILES, path))
    assert set(plan) == {"sts", "snli", *expected}
    for name, (count, scored) in expected.items():
        pairs = made(plan[name], checkout.folder, monkeypatch, tmp_path / f"{name}.jsonl")
        assert (len(pairs), sum(pair.scored for pair in pairs)) == (count, scored)
        golds = {pair.gold for pair in pairs}
        assert golds <= GOLDS[pairs[0].task], name


def test_without_copies_they_are_fetched_but_for_what_nobody_may_distribute(checkout):
    files = [file for file in FILES if "paws-qqp" not in file]
    plan = checkout.planned("--configfile", "config/config.yaml", *files)
    assert plan["pairs"] == 2 + 10
    fetched = {rule for rule in plan if rule.startswith("fetch_")}
    assert fetched == {f"fetch_{name.replace('-', '_')}" for name in SHIPPED if name != "paws-qqp"}
    done = checkout.snakemake(
        "--dry-run", "--configfile", "config/config.yaml", "config/datasets/paws-qqp.yaml"
    )
    assert done.returncode == 2 and "data/paws-qqp" in done.stderr


def test_odd_columns_labels_and_values_reach_the_command_as_they_are_written(
    checkout, own, tmp_path, monkeypatch
):
    text = (
        "to day|it's {x}|$HOME|i=d\nA cat sleeps|A cat's asleep|so it is|x=1\nA dog|A cat|*|x=1\n??|!|*|y\n"
    )
    entry = {
        "label": "Odd {label}",
        "task": "entailment",
        "columns": {"first": "to day", "second": "it's {x}", "gold": "$HOME"},
        "labels": {"so it is": "entailment", "*": "-", "": "a 'word'"},
        "separator": "|",
        "encoding": "latin-1",
        "header": True,
        "subsets": {"a": {"input": write_file(tmp_path / "odd.txt", text), "where": {"i=d": "x=1"}}},
    }
    dataset = datasets(checkout.planned(*own(datasets={"odd": entry})))["odd"]
    pairs = made(dataset, checkout.folder, monkeypatch, tmp_path / "odd.jsonl")
    assert [(pair.label, pair.first, pair.second, pair.gold) for pair in pairs] == [
        ("Odd {label}", "A cat sleeps", "A cat's asleep", "entailment"),
        ("Odd {label}", "A dog", "A cat", "-"),
    ]
