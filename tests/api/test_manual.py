"""The examples of the README and of the manual run, and give what their pages say."""

import re
from pathlib import Path

import numpy as np
import pytest

import bove

ROOT = Path(__file__).parent.parent.parent
pytestmark = pytest.mark.filterwarnings("error")


def names_of(file, word):
    """The names that the one Python example of a page that has this word leaves."""
    page, names = (ROOT / file).read_text(encoding="utf-8"), {}
    (text,) = [one for one in re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S) if word in one]
    exec(text, names)
    return names


def test_the_readme_s_and_the_manual_s_graphs_have_bags_that_explain_them(tmp_path, monkeypatch, capsys):
    names = names_of("README.md", "karate_club")
    assert names["bag"].shape == (34, 8) and np.isfinite(names["bag"]).all()
    model = bove.BoVE(rank=8, alpha=1, lambda_P=0.1, lambda_E=0.1).fit([names["club"]])
    got = model.score_reconstruction([names["club"]])
    assert min(got.properties, got.relations) > 0.5
    monkeypatch.chdir(tmp_path)
    names = names_of("docs/own-graphs.md", "bark")
    assert [bag.shape for bag in names["bags"]] == [(2, 4), (2, 4)]
    np.testing.assert_array_equal(names["bags"], names["same"].transform(names["graphs"]))
    assert "Reconstruction(properties=0." in capsys.readouterr().out


def test_the_manual_s_facts_are_completed_as_it_says():
    names = names_of("docs/knowledge-graphs.md", "Vienna")
    links, train = names["links"], names["train"]
    assert links.predict(head="Vienna", relation="in", top=3)["tail"].iloc[0] == "Europe"
    assert links.predict(relation="in", tail="Africa", filter=[train])["head"].iloc[0] == "Cairo"
    assert links.predict(head="Cairo", tail="Egypt")["relation"].iloc[0] == "capital of"
    europe = {"Paris", "France", "Vienna", "Austria", "Rome", "Italy"}
    assert europe.issuperset(links.most_similar("Paris", top=3)["node"])
    assert links.evaluate_ranking(names["test"], filter=[train]).loc["both", "mean_rank"] == 1


def test_the_manual_s_molecules_are_like_those_of_their_kind():
    names = names_of("docs/own-graphs.md", "ethanol")
    scores = names["scores"]
    assert names["nearest"] == "ethanol" and scores["ethanol"] > scores["acetone"] + 0.01
