"""A second run, in another checkout and under another name, takes what the first has kept."""

from checkout import Checkout
from small_demo import SETTINGS, arguments, tables

# Their logs.
DEAR = {
    "train_vectors": ["vectors.log"],
    "train_tagger": ["train_tagger.log"],
    "train_parser": ["train_parser.log"],
    "parse_shard": ["parse/sts/1-of-2.log", "parse/sts/2-of-2.log"],
}
RUN = "another"


def said(checkout, stage):
    return [
        (checkout.folder / "results" / RUN / "logs" / name).read_text(encoding="utf-8")
        for name in DEAR[stage]
    ]


def test_the_dear_stages_are_taken_and_the_tables_are_the_same(undisturbed, tmp_path):
    there = Checkout(tmp_path / "there")
    words = arguments(there.folder, run=RUN)
    done = there.snakemake(*words, BOVE_CACHE=str(undisturbed.shared))
    assert done.returncode == 0, done.stdout + done.stderr
    for stage in DEAR:
        for text in said(there, stage):
            [line] = text.strip().split("\n")
            assert "taken from the cache: " in line, stage
    assert tables(there.folder, RUN) == undisturbed.tables


def test_a_changed_treebank_is_trained_on_anew(undisturbed, tmp_path):
    there = Checkout(tmp_path / "there")
    words = arguments(there.folder, run=RUN, sources={"corpus": {"sentences": 299}})
    assert SETTINGS["sources"]["corpus"]["sentences"] == 300
    tagger = f"results/{RUN}/parser/tagger.pt"
    done = there.snakemake(tagger, *words[words.index("--configfile") :], BOVE_CACHE=str(undisturbed.shared))
    assert done.returncode == 0, done.stdout + done.stderr
    [text] = said(there, "train_tagger")
    assert "taken" not in text and "kept in the cache: " in text


def test_a_folder_that_is_not_there_is_one_line_before_anything_runs(tmp_path):
    checkout = Checkout(tmp_path / "checkout")
    done = checkout.snakemake(*arguments(checkout.folder), BOVE_CACHE=f"{tmp_path}/nowhere")
    assert done.returncode == 2
    last = done.stderr.strip().split("\n")[-1]
    assert last == f"BOVE_CACHE: {tmp_path}/nowhere: no such folder; make it, or unset BOVE_CACHE"
