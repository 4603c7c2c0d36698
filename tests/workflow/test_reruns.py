"""What runs again after a change, and what does not."""

import hashlib
import json
import os
import re
import shutil
from dataclasses import replace

import pytest
from small_demo import FILES, RUN, SETTINGS
from test_small_demo import AFTER_PARSING
from tiny_run import CHASED, TURNED
from tiny_treebank import write_treebank

# the tables of ablations are a page of the report too, and results are recorded
AFTER_ABLATIONS = {"ablations": 1, "pages": 1, "provenance": 1}
AFTER_SCORING = {"tables": 1, "figure_results": 1, "figure_scores": 1, **AFTER_ABLATIONS}
AFTER_INFERENCE = {"score": 4, "figure_tokens": 2, **AFTER_SCORING}


@pytest.fixture(scope="module")
def finished(demo, tmp_path_factory):
    return demo.copy(tmp_path_factory.mktemp("a folder") / "checkout")


def test_the_record_of_the_run_is_made_anew_to_the_byte_and_has_what_was_read(finished):
    path = finished.results / "tables" / "run.json"
    before = path.read_bytes()
    path.unlink()
    (path.parent / "seeds.md").write_text("of more seeds", encoding="utf-8")
    done = finished.snakemake(*FILES)
    said = done.stdout + done.stderr
    assert done.returncode == 0 and finished.jobs(said) == {"provenance": 1}
    assert path.read_bytes() == before
    assert f"Of an earlier configuration, and not of this one: results/{RUN}/tables/seeds.md.\n" in said
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
    raw = (finished.results / "data" / "raw.txt").read_bytes()
    assert record["vectors"]["run"]["source_sha256"] == hashlib.sha256(raw).hexdigest()
    assert set(record["results"]) == {
        path.name for path in path.parent.iterdir() if path.suffix in (".csv", ".md", ".tex")
    }
    assert (list(record["models"]), list(record["vocabularies"])) == (["run"], ["run"])


def test_every_file_of_a_run_is_asked_for(finished):
    """What a failed job has left missing would otherwise count as not needed, with old tables beside it."""
    said = finished.snakemake("--dry-run", "--force", *FILES).stdout
    [asked] = re.findall(r"^(?:local)?rule default:\n    input: (.*)$", said, re.M)
    _, *rows = finished.snakemake("--detailed-summary", *FILES).stdout.strip().split("\n")
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
    finished.run("--report", "report.html")
    text = (finished.folder / "report.html").read_text(encoding="utf-8")
    shown = embedded(text, "results")
    drawn = [path for kind in ("figures", "training") for path in (finished.results / kind).glob("*.svg")]
    pages = ("data", "contamination", "parser", "training", "summary", "sts", "snli", "roles", "ablations")
    expected = {path.name for path in drawn} | {f"{name}.html" for name in pages} | {"ablations.svg"}
    assert {result["name"] for result in shown.values()} == expected
    for name, result in shown.items():
        assert "<p>" in result["caption"] and "{{" not in result["caption"], name
        assert result["labels"]["what"] and result["data_uri"].startswith("data:"), name
    assert [name[0] for name in sorted(embedded(text, "categories"))] == ["1", "2", "3", "4", "5", "6", "7"]
    description = embedded(text, "workflow_desc")
    assert f"run {RUN}" in description and "min_relations: 20" in description
    assert "system-message" not in description
    assert "starts at its top" in text, "the style sheet is missing"
    assert not re.search(r"<(script|img|link|iframe)\b[^>]*\b(src|href)=[\"']https?:", text)


def test_what_changes_no_result_reruns_nothing(finished):
    """Comments, docstrings, layout, time stamps, the order of keys, the form of numbers, unused code, and
    settings that no stage of this run uses."""
    turned = {key: SETTINGS[key] for key in reversed(SETTINGS)}
    turned["datasets"] = {key: SETTINGS["datasets"][key] for key in reversed(SETTINGS["datasets"])}
    turned["model"] = {"lambda_R": "1e-1", "als": {"max_rounds": "2e0"}, "rank": 10.0, "alpha": "7e-2"}
    numpy = r"\nimport numpy as np\n"
    with (
        finished.edited("bove/text/vocabulary.py", r'\A(r?)"""', r'\1"""Once more: '),
        finished.edited("bove/factor/steps.py", numpy, "\n\n# arrays\nimport numpy as np\n"),
        finished.edited("bove/factor/als.py", r"\Z", "\n\nUNUSED = 1\n"),
        finished.edited("workflow/rules/train.smk", r"\A#", "# Here is"),
        finished.edited("environment.yml", r"\A#", "# Note:"),
    ):
        for path in finished.results.rglob("*.conll09"):
            os.utime(path)
        finished.configure(turned)
        plan = finished.plan()
        unused = finished.plan("threads=2", "mpi={processes: 2}", "model={sgd: {epochs: 1}}")
        finished.configure(SETTINGS)
    assert plan == {}
    assert unused == {"provenance": 1}, "the record of the run says what was asked for"


def test_ablations_and_comparisons_share_what_they_do_not_change(finished):
    ablations = {
        "still": {"model": {"alpha": 0}},
        "silent": {"scoring": {"punctuation": False}},
        "rarer": {"vocabulary": {"min_words": 3}},
        "same": {"inference": {"solver": "fixed-point"}},
    }
    plan = finished.plan(
        f"ablations={json.dumps(ablations)}",
        "compare={sgd: {model: {trainer: sgd}}}",
        "figures={pairs: {snli: ['a#1', \"it's\"]}}",
    )
    assert plan == {
        **{"vocabulary": 1, "encode_treebank": 1, "encode": 2},  # of rarer
        **{"train_als": 2, "train_sgd": 1, "training": 1},
        "infer": 2 * (3 + 1),
        "score": 2 * (4 + 1),
        "figure_tokens": 1,
        **AFTER_SCORING,
    }


def test_a_further_data_set_is_read_parsed_and_scored_alone(finished):
    similar = "{input: source:corpus/sts/STS.input.roles.txt, gold: source:corpus/sts/STS.gs.roles.txt}"
    entailed = "{input: source:corpus/snli/test.jsonl}"
    more = f"a: {{label: A, task: similarity, subsets: {{x: {similar}}}}}"
    more += f", b: {{label: B, task: entailment, subsets: {{x: {entailed}}}}}"
    once = dict.fromkeys(("contamination", "overview", "figure_iterations"), 1)
    # both are the first of their task, so their token vectors are drawn instead
    each = {
        "pairs": 2,
        "parse": 2,
        "encode": 2,
        "infer": 6,
        "look_up_words": 2,
        "score": 4,
        "figure_tokens": 2,
    }
    assert finished.plan(f"datasets={{{more}}}") == {**each, **once, **AFTER_SCORING}


def test_other_labels_of_roles_make_the_probes_anew_and_parse_nothing(finished, tmp_path):
    copy = finished.copy(tmp_path / "copy")
    (copy.folder / "own.txt").write_text("5\tThe dog sees a cat .\tA cat sees the dog .\n", encoding="utf-8")
    trees = [replace(tree, id=f"a-00001.{side}") for side, tree in enumerate((CHASED, TURNED), 1)]
    write_treebank(copy.folder / "own.conllu", trees)
    own = {
        "label": "Own",
        "task": "similarity",
        "columns": {"gold": 1, "first": 2, "second": 3},
        "subsets": {"a": {"input": "own.txt"}},
        "parses": "own.conllu",
    }
    target = f"results/{RUN}/scores/roles.parquet"

    def configure(**roles):
        roles = {"label": "Roles", "task": "roles", "from": ["own"], **roles}
        copy.configure(SETTINGS | {"datasets": SETTINGS["datasets"] | {"own": own, "roles": roles}})

    configure()
    of_probes = {"roles": 1, "encode": 1, "look_up_words": 1, "infer": 2, "score": 1}
    assert copy.run(target) == {"pairs": 1, "parse": 1, **of_probes}
    configure(subjects=["nsubj", "SBJ"], min_gold="4e0")  # as before
    assert copy.planned(target, *FILES) == {}
    for change in ({"subjects": ["SBJ"]}, {"objects": ["OBJ"]}, {"min_gold": 5}):
        configure(**change)
        assert copy.planned(target, *FILES) == of_probes, change
    (copy.folder / "own.conllu").write_text("", encoding="utf-8")
    assert copy.planned(target, *FILES) == {"parse": 1, **of_probes}


def test_changed_code_reruns_the_stages_that_use_it(finished):
    """Statements for the whole of a module, definitions for the one stage of a file that uses them."""
    with (
        finished.edited("bove/evaluate/alignment.py", r"\Z", "\n\nprint()\n"),
        finished.edited("bove/cli/parse.py", r"def run_evaluate_parser.*\n", r"\g<0>    print()\n"),
    ):
        assert finished.plan() == {"evaluate_parser": 1, "overview": 1, **AFTER_INFERENCE}


def test_another_version_of_the_parser_trains_and_parses_again(finished):
    with finished.edited("workflow/rules/common.smk", r"metadata\.version\(package\)", "'9.9'"):
        trained = {"train_tagger": 1, "train_parser": 1, "evaluate_parser": 1}
        assert finished.plan() == {**trained, **AFTER_PARSING}


def test_a_finished_run_may_be_moved(finished, tmp_path):
    moved = tmp_path / "elsewhere"
    shutil.move(finished.folder, moved)
    finished.folder = moved
    assert finished.plan() == {}


@pytest.mark.parametrize(
    ("part", "last", "jobs"),
    [
        ("inference", "gather_bags", {"infer_shard": 2 * 4, "gather_bags": 4}),
        ("parser", "gather_parses", {"parse_shard": 2 * 2, "gather_parses": 2}),
    ],
)
def test_shards_give_the_same_bytes_and_a_lost_one_is_made_alone(finished, part, last, jobs):
    """After that nothing runs again but the record of the settings; left out, the number of shards stays."""
    pattern = {"inference": "bags/bove/{}.safetensors", "parser": "parses/{}.conllu.gz"}[part]
    files = [finished.results / pattern.format(name) for name in ("sts", "snli")]
    before = [path.read_bytes() for path in files]
    finished.configure(SETTINGS | {part: SETTINGS.get(part, {}) | {"shards": 2}})
    assert finished.run("--until", last) == jobs
    assert [path.read_bytes() for path in files] == before
    assert finished.plan() == {"provenance": 1}
    whole = files[0]
    whole.unlink()
    whole.with_name("sts").joinpath(whole.name.replace("sts", "2-of-2")).unlink()
    assert finished.run(str(whole.relative_to(finished.folder))) == dict.fromkeys(jobs, 1)
    assert whole.read_bytes() == before[0]
    finished.configure(SETTINGS)
    assert finished.plan() == {"provenance": 1}


VOCABULARY = f"results/{RUN}/vocabulary.json"
# as Snakemake starts a job on another machine
JOB = ("--mode", "remote", "--target-jobs", "vocabulary:variant=", "--allowed-rules", "vocabulary", "--force")


def test_a_job_that_outlives_snakemake_records_the_settings_that_it_ran_with(finished):
    """As on a cluster, where Snakemake is killed and the job goes on."""
    after = ("--config", "vocabulary={min_relations: 10}")
    assert finished.planned(VOCABULARY, *FILES) == {}
    done = finished.snakemake(*JOB, "--nolock", "--ignore-incomplete", *FILES, *after)
    assert done.returncode == 0, done.stderr
    assert finished.planned(VOCABULARY, *FILES, *after) == {}  # nobody has to do it again
    assert finished.planned(VOCABULARY, *FILES) == {"vocabulary": 1}
