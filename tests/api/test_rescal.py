"""On one graph without properties the estimator is RESCAL."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import reference

import bove

WEIGHT, ROUNDS = 0.5, 12


def rescal(X, E):
    """[d, n, n] scores of the dense formulas from node vectors E [n, r]: R, then E and R in turns."""
    graph, none = (np.zeros((0, len(E))), X), np.zeros((0, E.shape[1]))
    R = reference.r_step([graph], [E], WEIGHT)
    for _ in range(ROUNDS - 1):
        E = reference.e_step(graph, none, R, E, 1.0, WEIGHT)
        R = reference.r_step([graph], [E], WEIGHT)
    return E @ R @ E.T


@pytest.mark.parametrize(("n", "rank"), [(12, 5), (4, 6)])
def test_scores_of_edges_are_those_of_the_dense_formulas(n, rank):
    X = (np.random.default_rng(n).random((3, n, n)) < 0.3).astype(float)
    values, vectors = np.linalg.eigh(X.sum(0) + X.sum(0).T)
    E = np.zeros((n, rank))
    E[:, : min(n, rank)] = vectors[:, np.argsort(-np.abs(values), kind="stable")[:rank]]
    graph = bove.Graph([[] for _ in range(n)], [(str(k), i, j) for k, i, j in np.argwhere(X)])
    model = bove.BoVE(
        rank, scale="absolute", alpha=1, lambda_R=WEIGHT, lambda_E=WEIGHT, e_step="single",
        init="eigenvectors", dtype="float64", max_rounds=ROUNDS, tolerance=0, r_tolerance=1e-12,
        r_iterations=500,
    ).fit([graph])  # fmt: skip
    assert model.n_iter_ == ROUNDS
    (bag,) = model.bags_
    for k, scores in enumerate(rescal(X, E)):
        np.testing.assert_allclose(model.score_edges(bag, str(k)), scores, atol=1e-8)


@pytest.fixture(scope="module")
def bench():
    """The benchmark's module, which is a script."""
    sys.path.append(str(Path(__file__).parent.parent / "bench"))
    yield pytest.importorskip("link_prediction")
    sys.path.pop()


@pytest.mark.parametrize(("n", "rank"), [(9, 4), (4, 6)])
def test_the_closed_form_of_the_benchmark_solves_the_literal_equations(bench, n, rank):
    rng = np.random.default_rng(rank)
    X, E = (rng.random((3, n, n)) < 0.3).astype(float), rng.standard_normal((n, rank))
    want = reference.r_step([(np.zeros((0, n)), X)], [E], WEIGHT)
    np.testing.assert_allclose(bench.r_step(E, X, WEIGHT), want, atol=1e-9)


@pytest.mark.filterwarnings("ignore:the model explains")
def test_the_benchmark_chooses_the_penalty_without_the_cells_that_it_tests(bench, monkeypatch):
    A = np.random.default_rng(0).standard_normal((12, 3))
    R = np.random.default_rng(1).standard_normal((2, 3, 3))
    X = (np.einsum("ir,krs,js->kij", A, R, A) > 0.5).astype(float)
    choose, seen = bench.chosen, []

    def chosen(given, known, rank, weights):
        hidden = np.setdiff1d(np.arange(X.size), known)
        assert not given.ravel()[hidden].any() and X.ravel()[hidden].any()
        np.testing.assert_array_equal(given.ravel()[known], X.ravel()[known])
        seen.append((*hidden, choose(given, known, rank, weights)))
        return seen[-1][-1]

    monkeypatch.setattr(bench, "chosen", chosen)
    rows = bench.measure(X, 3, [1.0, 1000.0])
    assert sorted(cell for fold in seen for cell in fold[:-1]) == list(range(X.size))
    assert [fold[-1]["raw"] for fold in seen] == [1.0] * 10 and rows[0]["lambda of raw"] == "1×10"
    pairs = [fold[-1]["pairs"] for fold in seen]
    assert rows[0]["lambda of pairs"] == " ".join(f"{w:g}×{pairs.count(w)}" for w in (1.0, 1e3) if w in pairs)
    assert [row["system"] for row in rows] == list(bench.SYSTEMS)
    assert rows[0]["raw"] == pytest.approx(rows[1]["raw"], abs=1e-6) and rows[0]["raw"] > X.mean() + 0.1


def test_the_recipe_saved_and_loaded_elsewhere_scores_and_ranks_alike(tmp_path):
    rng = np.random.default_rng(3)
    triples = sorted({(f"n{h}", f"r{k}", f"n{t}") for h, k, t in rng.integers(0, (15, 3, 15), (90, 3))})
    (tmp_path / "train.tsv").write_text(
        "".join("\t".join(one) + "\n" for one in triples[9:]), encoding="utf-8"
    )
    (tmp_path / "test.tsv").write_text(
        "".join("\t".join(one) + "\n" for one in triples[:9]), encoding="utf-8"
    )
    graph = bove.read_triples(tmp_path / "train.tsv", own_property=False)
    settings = {"scale": "absolute", "alpha": 1, "lambda_R": 0.1, "lambda_E": 0.1, "e_step": "single"}
    model = bove.BoVE(4, **settings, init="eigenvectors", max_rounds=20, tolerance=0).fit([graph])
    model.save(tmp_path / "m")
    command = f"""
import sys; sys.path.insert(0, {str(Path(bove.__file__).parent.parent)!r})
import bove
model = bove.BoVE.load("m")
graph = bove.read_triples("train.tsv", own_property=False)
links = bove.LinkPredictor(model, graph)
print(model.score([graph]).hex(), links.ranks("test.tsv", ["train.tsv"]).tolist())
print(model.transform([graph])[0].tobytes().hex())
"""
    done = subprocess.run(
        [sys.executable, "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    links = bove.LinkPredictor(model, graph)
    ranks = links.ranks(tmp_path / "test.tsv", [tmp_path / "train.tsv"]).tolist()
    assert done.stdout.split("\n")[:2] == [
        f"{model.score([graph]).hex()} {ranks}",
        model.bags_[0].tobytes().hex(),
    ]
    E, left = model.bags_[0].astype(np.float64), 0.0
    for k, name in enumerate(model.names_.relations):
        X = np.zeros((len(graph), len(graph)))
        for _, head, tail in (edge for edge in graph.edges if edge[0] == name):
            X[head, tail] = 1
        left += np.square(X - E @ model.relations_[k].astype(np.float64) @ E.T).sum()
    assert model.score([graph]) == pytest.approx(1 - left / len(graph.edges), abs=1e-5)
    named = bove.BoVE(4, max_rounds=2, tolerance=0).fit([bove.from_triples(triples)])
    with pytest.raises(
        bove.BoveError, match=r"graph 'train.tsv', of 1 such: no node has a property that the model has"
    ):
        named.transform([graph])
