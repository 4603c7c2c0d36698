"""A whole run where there is no network at all: downloads apart, no stage needs one."""

import pytest
from no_network import namespace

REASON = "unshare --net is not here, or not permitted: that a run needs no network is not shown"


@pytest.mark.skipif(not namespace(), reason=REASON)
def test_every_stage_but_the_downloads_runs_without_a_network(undisturbed):
    assert undisturbed.without_network
    rules = {path.stem for path in undisturbed.logs.rglob("*.log")}
    assert rules >= {"demo", "vocabulary", "vectors", "train", "train_parser", "evaluate_parser", "1-of-2"}
    assert rules >= {"tables", "contamination", "overview", "pages", "results", "relations", "provenance"}
