"""What runs again after a change, and what does not, seen on a small demo that is really run once."""

import hashlib
import json
import os
import re
import shutil

import pytest
import yaml
from finished_run import SMALL, Run

# the tables of ablations are a page of the report too, and results are recorded
AFTER_ABLATIONS = {"ablations": 1, "pages": 1, "provenance": 1}
AFTER_SCORING = {"tables": 1, "figure_results": 1, "figure_scores": 1, **AFTER_ABLATIONS}
AFTER_INFERENCE = {"score": 4, "figure_tokens": 2, **AFTER_SCORING}
AFTER_PARSING = {"encode": 2, "look_up_words": 2, "infer": 6, "overview": 1, "figure_iterations": 1}
AFTER_PARSING |= AFTER_INFERENCE
AFTER_TRAINING = {"infer": 6, "training": 1, "figure_iterations": 1, "figure_relations": 1, **AFTER_INFERENCE}
AFTER_THE_VOCABULARY = {"encode_treebank": 1, "train_als": 1, **AFTER_PARSING, **AFTER_TRAINING}
AFTER_ANOTHER_PARSER = {"train_tagger": 1, "train_parser": 1, "evaluate_parser": 1, "parse": 2}
ONE_MORE_DATA_SET = {
    "pairs": 1,
    "parse": 1,
    "encode": 1,
    "infer": 3,
    "look_up_words": 1,
    "score": 2,
    "contamination": 1,
    "overview": 1,
    "figure_iterations": 1,
    # the first one of its task, so its token vectors are drawn instead
    "figure_tokens": 1,
    **AFTER_SCORING,
}
MORE = (
    "task: similarity, subsets: {a: {input: source:corpus/sts/STS.input.roles.txt,"
    " gold: source:corpus/sts/STS.gs.roles.txt}}",
    "task: entailment, subsets: {a: {input: source:corpus/snli/test.jsonl}}",
)


@pytest.fixture(scope="module")
def finished(checkout):
    return Run(checkout)


def test_the_run_has_its_tables_and_its_configuration(finished):
    results = finished.folder / "results" / "small"
    endings = ("csv", "md", "svg", "png")
    assert {path.name for path in (results / "tables").iterdir()} == {
        *("scores.csv", "differences.csv", "sts.md", "sts.tex", "snli.md", "snli.tex"),
        *("contamination.csv", "contamination.md", "run.json"),
        *(f"ablations.{ending}" for ending in endings),
    }
    assert {path.name for path in (results / "training").iterdir()} == {f"training.{e}" for e in endings}
    assert {path.name for path in (results / "model").iterdir()} == {
        "model.safetensors",
        "log.csv",
        "times.csv",
    }
    stored = yaml.safe_load((results / "config.yaml").read_text(encoding="utf-8"))
    assert stored["model"]["rank"] == 10
    assert stored["model"]["als"]["tolerance"] == 0.001
    assert sorted(path.name for path in (results / "ablations" / "once").iterdir()) == ["bags", "scores"]
    figures = {"similarity", "entailment", "iterations", "relations"}
    figures |= {"similarity-differences", "entailment-differences"}
    figures |= {f"{kind}-{dataset}" for kind in ("scores", "tokens") for dataset in ("sts", "snli")}
    found = {path.name for path in (results / "figures").iterdir()}
    assert found == {f"{name}.{e}" for name in figures for e in ("svg", "png")} | {"relations.csv"}
    accuracy = json.loads((results / "parser" / "accuracy.json").read_text(encoding="utf-8"))
    assert set(accuracy["accuracy"]) == {"tags", "UAS", "LAS"} and accuracy["sentences"]["used"] > 0
    left_over = [path for path in results.rglob("*") if path.name.endswith(".tmp")]
    assert left_over == []


def test_the_record_of_the_run_is_made_anew_to_the_byte_and_has_what_was_read(finished):
    path = finished.folder / "results" / "small" / "tables" / "run.json"
    before = path.read_bytes()
    path.unlink()
    (path.parent / "seeds.md").write_text("of more seeds", encoding="utf-8")
    done = finished.checkout.snakemake("--configfile", "config/config.yaml", "small.yaml")
    assert done.returncode == 0 and finished.checkout.jobs(done.stdout + done.stderr) == {"provenance": 1}
    assert path.read_bytes() == before
    said = "Of an earlier configuration, and not of this one: results/small/tables/seeds.md.\n"
    assert said in done.stdout + done.stderr
    (path.parent / "seeds.md").unlink()
    record = json.loads(before)
    assert record["configuration"]["model"]["rank"] == 10 and record["threads"]["train_als"] == 1
    assert set(record["inputs"]) == {
        "treebank.train",
        "treebank.dev",
        "datasets.sts.subsets.roles.input",
        "datasets.sts.subsets.roles.gold",
        "datasets.snli.subsets.dev.input",
    }
    raw = (finished.folder / "results/small/data/raw.txt").read_bytes()
    assert record["vectors"]["run"]["source_sha256"] == hashlib.sha256(raw).hexdigest()
    assert set(record["results"]) == {
        path.name for path in path.parent.iterdir() if path.suffix in (".csv", ".md", ".tex")
    }
    assert (list(record["models"]), list(record["vocabularies"])) == (["run"], ["run"])


@pytest.mark.parametrize("cores", [2, 1, 3])
def test_a_second_run_does_nothing_with_any_number_of_cores(finished, cores):
    files = ("--configfile", "config/config.yaml", "small.yaml")
    done = finished.checkout.snakemake(*files, "--cores", str(cores))
    assert done.returncode == 0
    assert "Nothing to be done" in done.stdout + done.stderr


def test_every_file_of_a_run_is_asked_for(finished):
    """What a job that failed has left missing would else count as not needed, with old tables beside it."""
    files = ("--configfile", "config/config.yaml", "small.yaml")
    said = finished.checkout.snakemake("--dry-run", "--force", *files).stdout
    [asked] = re.findall(r"^(?:local)?rule default:\n    input: (.*)$", said, re.M)
    _, *rows = finished.checkout.snakemake("--detailed-summary", *files).stdout.strip().split("\n")
    jobs = {}  # the files of each, by its command, which may have tabs itself
    for file, _, _, _, _, *command, _, _ in (row.split("\t") for row in rows):
        jobs.setdefault("\t".join(command), set()).add(file)
    assert len(jobs) > 30
    assert [made for made in jobs.values() if not made & set(asked.split(", "))] == []


def embedded(page, name):
    """What a report's page holds under a name."""
    [content] = re.findall(rf"<script id=\"[\w-]+\">\s*var {name} = (.*);\s*</script>", page)
    return json.loads(content)


def test_the_report_shows_every_figure_and_table_with_a_description_and_loads_nothing(finished):
    files = ("--configfile", "config/config.yaml", "small.yaml")
    done = finished.checkout.snakemake("--report", "report.html", *files)
    assert done.returncode == 0, done.stdout + done.stderr
    text = (finished.folder / "report.html").read_text(encoding="utf-8")
    shown = embedded(text, "results")
    folder = finished.folder / "results" / "small"
    expected = {path.name for kind in ("figures", "training") for path in (folder / kind).glob("*.svg")}
    expected |= {
        f"{name}.html" for name in ("data", "contamination", "parser", "training", "sts", "snli", "ablations")
    }
    assert {result["name"] for result in shown.values()} == expected | {"ablations.svg"}
    for name, result in shown.items():
        assert "<p>" in result["caption"] and "{{" not in result["caption"], name
        assert result["labels"]["what"] and result["data_uri"].startswith("data:"), name
    categories = embedded(text, "categories")
    assert [name[0] for name in sorted(categories)] == ["1", "2", "3", "4", "5", "6", "7"]
    description = embedded(text, "workflow_desc")
    assert "run small" in description and "min_relations: 20" in description
    assert "system-message" not in description
    assert "starts at its top" in text, "the style sheet is missing"
    assert not re.search(r"<(script|img|link|iframe)\b[^>]*\b(src|href)=[\"']https?:", text)


def test_what_changes_no_result_reruns_nothing(finished):
    """Comments, docstrings, layout, time stamps, the order of keys, the form of numbers, code that no stage
    of this run uses; settings that none uses rerun none."""
    turned = {key: SMALL[key] for key in reversed(SMALL)}
    turned["datasets"] = {key: SMALL["datasets"][key] for key in reversed(SMALL["datasets"])}
    turned["model"] = {"lambda_R": "1e-1", "als": {"max_rounds": "2e0"}}
    turned["model"] |= {"rank": 10.0, "alpha": "1e1"}
    with (
        finished.edited("bove/text/vocabulary.py", r'\A(r?)"""', r'\1"""Once more: '),
        finished.edited(
            "bove/factor/steps.py", r"\nimport numpy as np\n", "\n\n# arrays\nimport numpy as np\n"
        ),
        finished.edited("bove/factor/als.py", r"\Z", "\n\nUNUSED = 1\n"),
        finished.edited("workflow/rules/train.smk", r"\A#", "# Here is"),
        finished.edited("environment.yml", r"\A#", "# Note:"),
    ):
        for path in (finished.folder / "results" / "small").rglob("*.conll09"):
            os.utime(path)
        finished.write(turned)
        plan = finished.planned()
        unused = finished.planned("threads=2", "mpi={processes: 2}", "model={sgd: {epochs: 1}}")
        finished.write(SMALL)
    assert plan == {}
    assert unused == {"provenance": 1}, "the record of the run says what was asked for"


CHANGES = [
    ("model={alpha: 3}", {"train_als": 1, **AFTER_TRAINING}),
    # the ablation has iterations of its own
    (
        "inference={iterations: 2}",
        {"infer": 4, "score": 2, "figure_iterations": 1, "figure_tokens": 2, **AFTER_SCORING},
    ),
    ("vocabulary={min_words: 3}", {"vocabulary": 1, **AFTER_THE_VOCABULARY}),
    ("parser={max_tokens: 30}", {"evaluate_parser": 1, "parse": 2, **AFTER_PARSING}),
    ("parser={shards: 2}", {"parse_shard": 4, "gather_parses": 2, **AFTER_PARSING}),
    (
        "inference={shards: 2}",
        {"infer_shard": 8, "gather_bags": 4, "figure_iterations": 1, **AFTER_INFERENCE},
    ),
    ("figures={pairs: {snli: ['a#1', \"it's\"]}}", {"figure_tokens": 1, "provenance": 1}),
    ("systems=[word-vectors, bove]", {"score": 2, **AFTER_SCORING}),
    ("ablations={still: {model: {alpha: 0}}}", {"train_als": 1, "infer": 2, "score": 2, **AFTER_ABLATIONS}),
    ("ablations={silent: {scoring: {punctuation: false}}}", {"infer": 2, "score": 2, **AFTER_ABLATIONS}),
    (
        "ablations={rarer: {vocabulary: {min_words: 3}}}",
        {
            "vocabulary": 1,
            "encode_treebank": 1,
            "encode": 2,
            "train_als": 1,
            "infer": 2,
            "score": 2,
            **AFTER_ABLATIONS,
        },
    ),
    ("ablations={same: {inference: {solver: fixed-point}}}", {"score": 2, **AFTER_ABLATIONS}),
    (
        "compare={sgd: {model: {trainer: sgd}}}",
        {"train_sgd": 1, "infer": 2, "score": 2, "training": 1, **AFTER_SCORING},
    ),
    *((f"datasets={{more: {{label: More, {more}}}}}", ONE_MORE_DATA_SET) for more in MORE),
]


@pytest.mark.parametrize(
    ("setting", "expected"), CHANGES, ids=[setting.partition(" ")[0] for setting, _ in CHANGES]
)
def test_a_setting_reruns_what_depends_on_it(finished, setting, expected):
    assert finished.planned(setting) == expected


@pytest.mark.parametrize(
    ("path", "old", "new", "expected"),
    [
        ("bove/evaluate/alignment.py", r"\Z", "\n\nprint()\n", AFTER_INFERENCE),
        ("bove/factor/als.py", r"\Z", "\n\nprint()\n", {"train_als": 1, **AFTER_TRAINING}),
        # one of the stages of a file
        (
            "bove/cli/parse.py",
            r"def run_evaluate_parser.*\n",
            r"\g<0>    print()\n",
            {"evaluate_parser": 1, "overview": 1, "pages": 1},
        ),
    ],
)
def test_changed_code_reruns_the_stages_that_use_it(finished, path, old, new, expected):
    with finished.edited(path, old, new):
        assert finished.planned() == expected


@pytest.mark.parametrize(
    ("part", "further"),
    [
        ("dev", AFTER_PARSING),
        ("train", {"vocabulary": 1, "contamination": 1, **AFTER_THE_VOCABULARY, **AFTER_PARSING}),
    ],
)
def test_another_treebank_trains_the_parser_and_parses_again(finished, part, further):
    with finished.edited(f"results/small/data/treebank/{part}.conll09", r"\A1\t\w+", "1\tZebra"):
        assert finished.planned() == {**AFTER_ANOTHER_PARSER, **further}


def test_another_version_of_the_parser_trains_and_parses_again(finished):
    with finished.edited("workflow/rules/common.smk", r"metadata\.version\(package\)", "'9.9'"):
        assert finished.planned() == {**AFTER_ANOTHER_PARSER, **AFTER_PARSING}


def test_a_finished_run_may_be_moved(finished, tmp_path):
    moved = tmp_path / "elsewhere"
    shutil.move(finished.folder, moved)
    finished.folder = finished.checkout.folder = moved
    assert finished.planned() == {}


def check_made_again_alone(finished, whole, shard, jobs):
    """A lost shard costs itself and what is gathered from it, which is the same to the byte."""
    before = whole.read_bytes()
    whole.unlink()
    shard.unlink()
    target = str(whole.relative_to(finished.folder))
    done = finished.checkout.snakemake(target, "--configfile", "config/config.yaml", "small.yaml")
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert finished.checkout.jobs(said) == jobs
    assert whole.read_bytes() == before


def test_shards_give_the_same_bags_and_a_lost_one_is_inferred_alone(finished):
    """After the bags nothing runs again but the record of the settings; left out, the number stays."""
    bags = {name: finished.folder / f"results/small/bags/bove/{name}.safetensors" for name in ("sts", "snli")}
    before = {name: path.read_bytes() for name, path in bags.items()}
    finished.write({**SMALL, "inference": {"shards": 3}})
    files = ("--configfile", "config/config.yaml", "small.yaml")
    done = finished.checkout.snakemake(*files, "--until", "gather_bags")
    assert done.returncode == 0, done.stdout + done.stderr
    assert finished.checkout.jobs(done.stdout + done.stderr) == {"infer_shard": 12, "gather_bags": 4}
    assert {name: path.read_bytes() for name, path in bags.items()} == before
    assert finished.planned() == {"provenance": 1}
    shard = bags["sts"].with_name("sts") / "2-of-3.safetensors"
    check_made_again_alone(finished, bags["sts"], shard, {"infer_shard": 1, "gather_bags": 1})
    finished.write(SMALL)
    assert finished.planned() == {"provenance": 1}


def test_shards_give_the_same_trees_and_a_lost_one_is_parsed_alone(finished):
    """After the trees nothing runs again but the record of the settings: they are the same to the byte."""
    trees = {name: finished.folder / f"results/small/parses/{name}.conllu.gz" for name in ("sts", "snli")}
    before = {name: path.read_bytes() for name, path in trees.items()}
    finished.write({**SMALL, "parser": {**SMALL["parser"], "shards": 2}})
    files = ("--configfile", "config/config.yaml", "small.yaml")
    done = finished.checkout.snakemake(*files, "--until", "gather_parses")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {name: path.read_bytes() for name, path in trees.items()} == before
    assert finished.planned() == {"provenance": 1}
    shard = trees["sts"].with_name("sts") / "2-of-2.conllu.gz"
    check_made_again_alone(finished, trees["sts"], shard, {"parse_shard": 1, "gather_parses": 1})
    assert finished.planned() == {"provenance": 1}
