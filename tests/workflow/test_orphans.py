"""A job that goes on after Snakemake has been killed, as on a cluster, leaves a file taken for what it is."""

import yaml
from small_settings import SMALL

FILES = ("--configfile", "config/config.yaml", "small.yaml")
VOCABULARY = "results/small/vocabulary.json"
# as Snakemake starts a job on another machine
JOB = ("--mode", "remote", "--target-jobs", "vocabulary:variant=", "--allowed-rules", "vocabulary", "--force")


def test_a_file_has_the_record_of_the_settings_that_it_was_made_with(checkout):
    (checkout.folder / "small.yaml").write_text(yaml.safe_dump({"run": "small", **SMALL}), encoding="utf-8")
    before, after = (("--config", f"vocabulary={{min_relations: {least}}}") for least in (20, 10))
    assert checkout.snakemake(VOCABULARY, *FILES, *before).returncode == 0
    assert checkout.planned(VOCABULARY, *FILES, *before) == {}
    done = checkout.snakemake(*JOB, "--nolock", "--ignore-incomplete", *FILES, *after)
    assert done.returncode == 0, done.stderr
    assert checkout.planned(VOCABULARY, *FILES, *after) == {}  # nobody has to do it again
    assert checkout.planned(VOCABULARY, *FILES, *before) == {"vocabulary": 1}
