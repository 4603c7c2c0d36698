"""The estimator: scikit-learn conventions, graphs of every shape, files, and bags as formulas give them."""

import inspect
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
import reference
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import estimator_checks

import bove
from bove.config.load import load_schema

pytestmark = pytest.mark.filterwarnings("ignore:training did all of its")
SMALL = {
    "rank": 5, "scale": "absolute", "alpha": 2.0, "lambda_P": 0.3, "lambda_R": 0.2, "lambda_E": 0.4,
    "dtype": "float64", "max_rounds": 15, "energy": 1.0, "infer_tolerance": 1e-10, "iterations": 300,
    "r_tolerance": 1e-9,
}  # fmt: skip


def random_graphs(seed=0, sizes=(4, 7, 1, 0, 12, 5)):
    """Cycles, loops, parallel edges, isolated nodes, and nodes with 0 to 3 properties."""
    rng = np.random.default_rng(seed)
    graphs = []
    for n in sizes:
        nodes = [[f"p:{i}" for i in rng.choice(6, rng.integers(0, 4), replace=False)] for _ in range(n)]
        edges = [(f"r{rng.integers(3)}", rng.integers(n), rng.integers(n)) for _ in range(2 * n)]
        graphs.append(bove.Graph(nodes, edges))
    return graphs


@pytest.fixture(scope="module")
def fitted():
    return bove.BoVE(**SMALL).fit(random_graphs())


def dense(graph, names):
    W = np.zeros((len(names.properties), len(graph)))
    X = np.zeros((len(names.relations), len(graph), len(graph)))
    for node, properties in enumerate(graph.nodes):
        W[[names.property_rows[name] for name in properties], node] = 1
    for label, head, dependent in graph.edges:
        X[names.relation_rows[label], head, dependent] = 1
    return W, X


def test_the_parameters_are_the_settings_of_the_workflow_by_the_same_names():
    keys = load_schema()["properties"]
    model, inference = (keys[name]["properties"] for name in ("model", "inference"))
    known = inference | model["als"]["properties"] | model["sgd"]["properties"] | model
    known |= {
        "infer_tolerance": inference["tolerance"],
        "threads": keys["threads"],
        "random_state": keys["seed"],
    }
    parameters = bove.BoVE().get_params()
    assert parameters.pop("init") == "zero" and parameters.pop("pool") is None
    assert parameters == {name: known[name]["default"] for name in parameters}
    # what is given in fit, or has no place here
    assert known.keys() - parameters.keys() == {"als", "sgd", "pretrained", "checkpoint_every", "shards"}
    assert next(iter(inspect.signature(bove.BoVE).parameters)) == "rank"
    with pytest.raises(TypeError, match="unexpected keyword argument 'alpah'; did you mean alpha"):
        bove.BoVE(alpah=1)


@pytest.mark.parametrize("check", [
    "no_attributes_set_in_init", "get_params_invariance", "set_params", "parameters_default_constructible",
    "estimator_cloneable", "estimator_repr", "do_not_raise_errors_in_init_or_set_params",
    "estimator_tags_renamed", "valid_tag_types", "mixin_order",
])  # fmt: skip
def test_the_conventions_of_scikit_learn_hold(check):
    getattr(estimator_checks, f"check_{check}")("BoVE", bove.BoVE(rank=2))


def test_a_clone_learns_the_same_and_is_not_fitted(fitted):
    other = clone(fitted)
    for use in (other.transform, other.save):
        with pytest.raises(NotFittedError):
            use("nowhere")
    other.fit(random_graphs())
    np.testing.assert_array_equal(other.properties_, fitted.properties_)
    np.testing.assert_array_equal(other.relations_, fitted.relations_)
    other.set_params(random_state=2).fit(random_graphs())
    assert not np.array_equal(other.properties_, fitted.properties_)
    again = pickle.loads(pickle.dumps(fitted)).transform(random_graphs())
    np.testing.assert_array_equal(again[1], fitted.transform(random_graphs())[1])


def test_bags_are_fixed_points_of_the_formulas_and_the_loss_is_equation_3(fitted):
    graphs, s = random_graphs(7), SMALL
    for graph, bag in zip(graphs, fitted.transform(graphs), strict=True):
        assert bag.shape == (len(graph), 5)
        if len(graph):
            cells, P, R = dense(graph, fitted.names_), fitted.properties_, fitted.relations_
            step = reference.e_step(cells, P, R, bag, s["alpha"], s["lambda_E"])
            np.testing.assert_allclose(bag, step, atol=1e-7)
            np.testing.assert_allclose(fitted.transform([graph])[0], bag, atol=1e-8)
    cells = [dense(graph, fitted.names_) for graph in random_graphs()]
    weights = (s["alpha"], s["lambda_P"], s["lambda_R"], s["lambda_E"])
    loss = reference.objective(cells, fitted.properties_, fitted.relations_, fitted.bags_, *weights)
    assert fitted.losses_[-1]["total"] == pytest.approx(loss)
    assert fitted.n_iter_ == len(fitted.losses_)


def test_evidence_is_what_bags_reconstruct_of_a_node_and_weights_their_scores(fitted):
    graphs = random_graphs(seed=4)
    bags, evidence = fitted.transform(graphs), fitted.evidence(graphs)
    for graph, bag, own in zip(graphs, bags, evidence, strict=True):
        every = range(len(fitted.properties_))
        want = reference.evidence(dense(graph, fitted.names_), fitted.properties_, bag, every)
        np.testing.assert_allclose(own, want, atol=1e-12)
    weights = [np.maximum(own, 0) for own in evidence[:2]]
    found = bove.similarity_score(*bags[:2], weights=tuple(weights))
    assert found == pytest.approx(reference.sts(*bags[:2], tuple(weights)), abs=1e-11)


def test_reconstruction_is_what_the_dense_cells_say(fitted):
    graphs = [graph for graph in random_graphs(3) if any(graph.nodes)]
    got, P, R = fitted.score_reconstruction(graphs), fitted.properties_, fitted.relations_
    left, whole = np.zeros(3), np.zeros(3)
    words, ones = 0.0, 0
    for graph, E in zip(graphs, fitted.transform(graphs), strict=True):
        W, X = dense(graph, fitted.names_)
        words, ones = words + np.sum((W - P @ E.T) ** 2), ones + W.sum()
        left += [np.sum((X[k] - E @ R[k] @ E.T) ** 2) for k in range(3)]
        whole += X.sum((1, 2))
    assert got.properties == pytest.approx(1 - words / ones)
    assert got.relations == pytest.approx(1 - left.sum() / whole.sum())
    by = dict(zip(fitted.names_.relations, 1 - left / whole, strict=True))
    assert got.by_relation == pytest.approx(by)
    share = 1 - (words + 2 * left.sum()) / (ones + 2 * whole.sum())
    assert fitted.score(graphs) == pytest.approx(share)
    nothing = fitted.score_reconstruction([bove.Graph()])
    assert np.isnan([nothing.properties, nothing.relations]).all() and fitted.score([bove.Graph()]) == 0


def test_what_the_model_does_not_know_is_counted_warned_of_and_left_out(fitted):
    known = bove.Graph([["p:1"], ["p:2"]], [["r0", 0, 1]])
    more = bove.Graph([["p:1", "q:x"], ["p:2"]], [["r0", 0, 1], ["new", 1, 0]])
    with pytest.warns(bove.BoveWarning, match=r"1 properties of 1 .* \(q:x\) and 1 edges.*\(new\)"):
        (bag,) = fitted.transform([more])
    np.testing.assert_allclose(bag, fitted.transform([known])[0], atol=1e-12)
    unseen = fitted.unseen([more, more])
    assert unseen.properties == {"q:x": 2} and unseen.relations == {"new": 2}
    with pytest.warns(bove.BoveWarning), pytest.raises(bove.BoveError, match="'2', of 1 such: no node has a"):
        fitted.transform([known, bove.Graph([["q:x"]])])


def test_pretrained_vectors_stay_and_serve_unseen_properties(fitted):
    rng = np.random.default_rng(1)
    vectors = {name: rng.standard_normal(5).astype(np.float32) for name in ("p:1", "p:3", "p:x")}
    model = bove.BoVE(**SMALL).fit(random_graphs(), vectors=vectors)
    rows = model.names_.property_rows
    for name in ("p:1", "p:3"):
        np.testing.assert_array_equal(model.properties_[rows[name]], vectors[name])
    assert model.model_.frozen.sum() == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (bag,) = model.transform([bove.Graph([["p:x"]])], vectors=vectors)
    P, R, G = model.properties_, model.relations_, bag.T @ bag
    A = P.T @ P + 0.4 * np.eye(5) + 2.0 * sum(Rk @ G @ Rk.T + Rk.T @ G @ Rk for Rk in R)
    np.testing.assert_allclose(bag @ A, vectors["p:x"][None], atol=1e-6)


def test_vectors_of_no_property_are_refused():
    row, graphs = np.ones(5), random_graphs()
    several = {"1": row}, {"p:1": row, "1": row}, {"p:x": row}, {3: row}
    for vectors, key in zip(several, ("1", "1", "p:x", 3), strict=True):
        with pytest.raises(bove.BoveError, match=f"vectors of {key!r}: no node has a property of that name"):
            bove.BoVE(**SMALL).fit(graphs, vectors=vectors)


def test_a_saved_model_gives_the_same_bags(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    loaded = bove.BoVE.load(tmp_path / "model")
    assert loaded.get_params() == fitted.get_params() and loaded.names_ == fitted.names_
    for a, b in zip(loaded.transform(random_graphs(2)), fitted.transform(random_graphs(2)), strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(bove.BoveError, match="no such file"):
        bove.BoVE.load(tmp_path / "none")
    damaged = (tmp_path / "model").read_bytes().replace(b"p:1", b"p:9")
    (tmp_path / "damaged").write_bytes(damaged)
    with pytest.raises(bove.BoveError, match="changed since it was written"):
        bove.BoVE.load(tmp_path / "damaged")


def test_a_graph_of_one_node_and_one_of_ten_thousand():
    (one,) = bove.BoVE(**SMALL).fit_transform([bove.Graph([["a"]], [["loop", 0, 0]])])
    assert one.shape == (1, 5) and one.any()
    rng = np.random.default_rng(0)
    n = 10_000
    edges = [(f"r{k}", i, j) for k in range(2) for i, j in rng.integers(n, size=(n, 2))]
    large = bove.Graph([[f"p:{i % 50}"] for i in range(n)], edges)
    model = bove.BoVE(rank=8, scale="absolute", alpha=1, lambda_P=1, lambda_E=1, max_rounds=3)
    (bag,) = model.fit_transform([large])
    assert bag.shape == (n, 8) and np.isfinite(bag).all()
    assert model.score_reconstruction([large]).properties > 0.1


@pytest.mark.parametrize("e_step", ["averaged", "single", "fixed-point"])
def test_every_e_step_learns_graphs_without_properties(e_step):
    ring = bove.from_triples([(i, "next", (i + 1) % 6) for i in range(6)], own_property=False)
    settings = {**SMALL, "rank": 6, "max_rounds": 60, "r_tolerance": 1e-6, "tolerance": 1e-4}
    model = bove.BoVE(**settings, init="random", e_step=e_step).fit([ring])
    loss = model.losses_[-1]["relation:0"] / settings["alpha"]
    assert loss < 0.1 * 6 and np.abs(model.bags_[0]).max() > 0.1


def test_graphs_without_properties_need_another_start():
    ring = bove.from_triples([(i, "next", (i + 1) % 6) for i in range(6)], own_property=False)
    with pytest.raises(bove.BoveError, match=r"no node has a property.* such as one of its own each"):
        bove.BoVE(**SMALL).fit([ring])
    for init in ("random", "eigenvectors"):
        model = bove.BoVE(**{**SMALL, "rank": 6, "max_rounds": 60}, init=init, e_step="single").fit([ring])
        (bag,) = model.bags_
        scores = model.score_edges(bag, "next")
        want = dense(ring, model.names_)[1][0]
        assert scores[want == 1].min() > scores[want == 0].max()
        # of a graph that training has not seen, beside one that has properties unknown to the model
        larger = bove.from_triples([(i, "next", (i + 1) % 5) for i in range(5)], own_property=False)
        for solver in ("averaged", "fixed-point"):
            model.set_params(solver=solver)
            bags = model.transform([larger, bove.Graph(), ring])
            assert model.score_reconstruction([ring]).relations > 0.9 and bags[0].any()
            np.testing.assert_array_equal(model.transform([ring])[0], bags[2])
    with pytest.raises(bove.BoveError, match="no relation 'last'; it has: next"):
        model.score_edges(bag, "last")


def test_graphs_without_edges_are_their_properties():
    graphs = [bove.Graph([["a:1"], ["a:2"], ["a:1", "a:2"]]), bove.Graph([["a:3"]])]
    model = bove.BoVE(**SMALL).fit(graphs)
    P = model.properties_
    want = dense(graphs[0], model.names_)[0].T @ P @ np.linalg.inv(P.T @ P + 0.4 * np.eye(5))
    np.testing.assert_allclose(model.transform(graphs)[0], want, atol=1e-9)
    assert model.relations_.shape == (0, 5, 5)


def test_what_leads_to_nothing_is_warned_of_or_refused():
    with pytest.warns(bove.BoveWarning, match=r"explains 0.00% of the .* lower both"):
        bove.BoVE(rank=3, scale="absolute", lambda_P=1e3, lambda_E=1e4).fit(random_graphs())
    with pytest.warns(bove.BoveWarning, match=r"explains 0.00% of the edges"):  # P and E as they should be
        bove.BoVE(**{**SMALL, "lambda_R": 1e9}).fit(random_graphs())
    ring = bove.from_triples([(i, "next", (i + 1) % 6) for i in range(6)], own_property=False)
    with pytest.warns(
        bove.BoveWarning, match=r"explains 0.00% of the edges: lambda_R and lambda_E are too large"
    ):
        bove.BoVE(**{**SMALL, "lambda_E": 1e3}, init="random").fit([ring])
    with pytest.raises(bove.BoveError, match="init 'random': only for trainer 'als'"):
        bove.BoVE(**SMALL, trainer="sgd", init="random").fit(random_graphs())
    for graphs in ([], [bove.Graph()]):
        with pytest.raises(bove.BoveError, match="no node"):
            bove.BoVE(**SMALL).fit(graphs)


def test_bags_serve_in_a_pipeline_and_settings_are_searched():
    rng = np.random.default_rng(0)
    graphs, classes = [], [0, 1] * 20
    for forth in classes:
        n = int(rng.integers(4, 9))
        edges = [("r", *((j, j + 1) if forth else (j + 1, j))) for j in range(n - 1)]
        graphs.append(bove.Graph([[f"end:{j == 0}"] for j in range(n)], edges))
    first = FunctionTransformer(lambda bags: np.stack([bag[0] / np.linalg.norm(bag[0]) for bag in bags]))
    model = bove.BoVE(**SMALL).set_params(iterations=30, max_rounds=6)
    whole = make_pipeline(model, first, LogisticRegression(C=100))
    search = GridSearchCV(whole, {"bove__alpha": [0.0, 2.0]}, cv=2).fit(graphs, classes)
    means = search.cv_results_["mean_test_score"]
    # without relations the first nodes of all graphs are alike
    assert means[0] == pytest.approx(0.5) and means[1] > 0.9


def typed_graphs(count):
    """Chains of two classes, alike but for the labels of their edges, of which most are of the class."""
    rng, graphs, classes = np.random.default_rng(0), [], np.arange(count) % 2
    for of_class in classes:
        n = int(rng.integers(6, 12))
        nodes = [[f"kind:{kind}"] for kind in rng.integers(4, size=n)]
        labels = np.where(rng.random(n - 1) < 0.8, of_class, 1 - of_class)
        graphs.append(bove.Graph(nodes, [(f"bond{label}", j, j + 1) for j, label in enumerate(labels)]))
    return graphs, classes


def test_pooled_bags_are_features_under_cross_validation():
    graphs, classes = typed_graphs(200)
    given = {**SMALL, "rank": 8, "iterations": 30, "max_rounds": 6, "tolerance": 0, "pool": "mean"}
    scores = {}
    for alpha in (0, 1):
        steps = bove.BoVE(**{**given, "alpha": alpha}), StandardScaler(), LogisticRegression(C=10)
        scores[alpha] = cross_val_score(make_pipeline(*steps), graphs, classes, cv=5)
    # the labels are known to the relations alone
    assert scores[1].mean() > 0.9 and scores[0].mean() < 0.65


def test_a_step_that_wants_one_row_for_each_graph_hears_of_pool(fitted):
    graphs = random_graphs()
    assert len({len(graph) for graph in graphs}) > 1
    with pytest.raises(bove.BoveError, match="set pool to 'mean'"):
        make_pipeline(clone(fitted), StandardScaler()).fit(graphs)
    same = fitted.transform(graphs[:1] * 2)
    np.testing.assert_array_equal(np.asarray(same, np.float64), np.stack(same))


def test_pooled_bags_are_means_with_names_for_their_columns(fitted):
    pandas = pytest.importorskip("pandas")
    graphs, bags = random_graphs(2), fitted.transform(random_graphs(2))
    assert not hasattr(fitted, "set_output")  # a bag has no columns
    model = clone(fitted).set_params(pool="mean").fit(random_graphs())
    means = model.transform(graphs)
    np.testing.assert_allclose(means, [bag.mean(axis=0) if len(bag) else np.zeros(5) for bag in bags])
    assert means.dtype == np.float64 and model.transform([]).shape == (0, 5)
    frame = make_pipeline(model, StandardScaler()).set_output(transform="pandas").fit_transform(graphs)
    assert isinstance(frame, pandas.DataFrame) and frame.shape == (6, 5)
    assert list(frame) == list(model.get_feature_names_out()) == [f"bove{i}" for i in range(5)]
    model.set_output(transform="default")
    means, bags = model.transform(graphs), model.set_params(pool=None).transform(graphs)
    grams = model.set_params(pool="gram").transform(graphs)
    np.testing.assert_array_equal(
        model.set_params(pool="both").transform(graphs), np.concatenate([means, grams], axis=1)
    )
    wanted = [bag.T @ bag / max(1, len(bag)) for bag in bags]
    assert grams.shape == (6, 15) and len(model.get_feature_names_out()) == 20
    np.testing.assert_allclose(grams @ grams.T, [[np.vdot(a, b) for a in wanted] for b in wanted])
    np.testing.assert_allclose(grams[:, 1], [2**0.5 * want[0, 1] for want in wanted])
    assert model.set_params(pool="gram").get_feature_names_out()[1] == "gram0_1"
    for pool in ("max", np.ones(2), True):
        with pytest.raises(bove.BoveError, match="must be None or one of 'mean', 'gram', 'both'"):
            clone(fitted).set_params(pool=pool).fit(graphs)


def test_training_that_ends_with_its_rounds_is_warned_of(recwarn):
    def warned(**more):
        recwarn.clear()
        model = bove.BoVE(**{**SMALL, "tolerance": 1e-3, **more}).fit(random_graphs())
        said = [str(one.message) for one in recwarn.list if issubclass(one.category, ConvergenceWarning)]
        return model.n_iter_, said

    assert warned(max_rounds=2) == (2, [
        "training did all of its 2 rounds and had not converged; raise max_rounds, or tolerance; a tolerance "
        "of 0 asks for all rounds"
    ])  # fmt: skip
    assert warned(max_rounds=2, tolerance=0) == (2, [])
    rounds, said = warned(max_rounds=500, tolerance=0.01)
    assert rounds < 500 and not said


def test_relative_settings_are_recorded_with_what_they_come_to():
    graphs = [bove.Graph([["w:a"], ["w:b"], ["w:a"]], [["x", 0, 1], ["x", 1, 2]]) for _ in range(3)]
    given = {"alpha": 0.1, "lambda_P": 1.0, "lambda_R": 0.1, "lambda_E": 1.0}
    for trainer in ("als", "sgd"):
        model = bove.BoVE(rank=2, trainer=trainer, scale="relative", **given).fit(graphs).model_
        assert {name: model.hyperparameters[name] for name in given} == given
        assert model.weight("lambda_E") == model.hyperparameters["absolute"]["lambda_E"] != 1


def test_the_names_of_the_package_are_those_of_its_types():
    stub = Path(bove.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    typed = {line.rsplit(" ", 1)[1] for line in stub.split("\n") if line}
    assert typed == set(bove.__all__)
    assert all(getattr(bove, name) is not None for name in dir(bove) if name in typed) and typed <= {
        *dir(bove)
    }
    with pytest.raises(AttributeError, match="'nothing'"):
        bove.nothing  # noqa: B018
