"""A second run, in another checkout and under another name, takes what the first has kept."""

from small_demo import FILES, SETTINGS, SmallDemo

RUN = "another"
# What expensive stages make, and the log of each.
KEPT = {
    "vectors.safetensors": "train_vectors",
    "parser/tagger.pt": "train_tagger",
    "parser/parser.pt": "train_parser",
    "parses/sts.conllu.gz": "parse/sts",
}


def test_the_expensive_stages_are_taken_and_their_files_are_the_same(demo, tmp_path):
    there = SmallDemo(tmp_path / "there", SETTINGS | {"run": RUN})
    there.run(*(f"results/{RUN}/{file}" for file in KEPT), BOVE_CACHE=str(demo.cache))
    results = there.folder / "results" / RUN
    for file, log in KEPT.items():
        [line] = (results / "logs" / f"{log}.log").read_text(encoding="utf-8").strip().split("\n")
        assert "taken from the cache: " in line, file
        assert (results / file).read_bytes() == (demo.results / file).read_bytes()


def test_a_folder_that_is_not_there_is_one_line_before_anything_runs(tmp_path):
    checkout = SmallDemo(tmp_path / "checkout")
    done = checkout.snakemake(*FILES, BOVE_CACHE=f"{tmp_path}/nowhere")
    assert done.returncode == 2
    last = done.stderr.strip().split("\n")[-1]
    assert last == f"BOVE_CACHE: {tmp_path}/nowhere: no such folder; make it, or unset BOVE_CACHE"
