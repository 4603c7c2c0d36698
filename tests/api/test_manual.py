"""The examples of the README and of the manual run as they stand there."""

import re
from pathlib import Path

import numpy as np
import pytest

import bove

ROOT = Path(__file__).parent.parent.parent


def blocks(file):
    """The Python examples of a page."""
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / file).read_text(encoding="utf-8"), re.M | re.S)


@pytest.mark.filterwarnings("error")
def test_the_readme_goes_from_networkx_to_bags_in_five_lines():
    (code,) = blocks("README.md")
    assert len([line for line in code.split("\n") if line]) <= 5
    names = {}
    exec(code, names)
    bag = names["bag"]
    assert bag.shape == (34, 8) and np.isfinite(bag).all()
    model = bove.BoVE(rank=8, alpha=1, lambda_P=0.1, lambda_E=0.1).fit([names["club"]])
    got = model.score_reconstruction([names["club"]])
    assert min(got.properties, got.relations) > 0.5


@pytest.mark.filterwarnings("error")
def test_the_manual_s_example_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code, _ = blocks("docs/own-graphs.md")
    names = {}
    exec(code, names)
    assert [bag.shape for bag in names["bags"]] == [(2, 4), (2, 4)]
    for a, b in zip(names["bags"], names["same"].transform(names["graphs"]), strict=True):
        np.testing.assert_array_equal(a, b)
    assert "Reconstruction(properties=0." in capsys.readouterr().out


@pytest.mark.filterwarnings("error")
def test_the_manual_s_molecules_are_like_those_of_their_kind():
    names = {}
    exec(blocks("docs/own-graphs.md")[1], names)
    scores, molecule = names["scores"], names["molecule"]
    assert names["nearest"] == "ethanol" and scores["ethanol"] > scores["acetone"] + 0.1
    bonds = ("single", 0, 1), ("single", 1, 2), ("double", 2, 3)
    (bag,) = names["model"].transform([molecule("propionaldehyde", "CCCO", *bonds)])
    scores = {
        graph.id: bove.similarity_score(bag, other)
        for graph, other in zip(names["known"], names["bags"], strict=True)
    }
    assert max(scores, key=scores.get) == "acetaldehyde"
