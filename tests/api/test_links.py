"""Link prediction: scores, ranks and filters are those of plain loops over all triples."""

import numpy as np
import pandas
import pytest
from sklearn.exceptions import NotFittedError

import bove

RELATIONS, N, RANK = ("likes", "hates", "knows"), 9, 4
SMALL = {
    "rank": RANK, "scale": "absolute", "alpha": 1, "lambda_P": 0.1, "lambda_R": 0.1, "lambda_E": 0.1,
    "dtype": "float64", "max_rounds": 8, "tolerance": 0,
}  # fmt: skip


def random_triples(count, seed):
    rng = np.random.default_rng(seed)
    parts = rng.integers(N, size=count), rng.integers(len(RELATIONS), size=count), rng.integers(N, size=count)
    return [(f"n{h}", RELATIONS[k], f"n{t}") for h, k, t in zip(*parts, strict=True)]


TRAIN, VALID, TEST = random_triples(60, 0), random_triples(10, 1), random_triples(25, 2)


@pytest.fixture(scope="module")
def fitted():
    graph = bove.from_triples(TRAIN)
    return bove.BoVE(**SMALL).fit([graph]), graph


@pytest.fixture
def links(fitted):
    return bove.LinkPredictor(*fitted)


def tied(fitted):
    """Vectors of few small numbers, so that many scores tie."""
    model, graph = fitted
    bag = np.random.default_rng(3).integers(-1, 2, size=(len(graph), RANK)).astype(float)
    return bove.LinkPredictor(model, graph, bag * [1, 0, 0, 0])


def score(links, fitted, triple):
    head, relation, tail = triple
    R = fitted[0].relations_[fitted[0].names_.relation_rows[relation]]
    e = dict(zip(links.nodes, links.bag, strict=True))
    return round(sum(e[head][i] * R[i, j] * e[tail][j] for i in range(RANK) for j in range(RANK)), 12)


def plain_ranks(links, fitted, test, known):
    """The rank of each test triple's head and tail: the mean of the best and the worst that ties allow."""
    ranks = []
    for triple in test:
        own = []
        for place in (0, 2):
            others = [(*triple[:place], node, *triple[place + 1 :]) for node in links.nodes]
            rivals = [score(links, fitted, o) for o in others if o != triple and o not in known]
            mine = score(links, fitted, triple)
            best = 1 + sum(s > mine for s in rivals)
            own.append((best + best + sum(s == mine for s in rivals)) / 2)
        ranks.append(own)
    return np.array(ranks)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("filters", [None, [], [TRAIN, VALID]])
def test_ranks_are_those_of_loops_over_all_nodes(fitted, links, filters, ties, monkeypatch):
    links = tied(fitted) if ties else links
    known = set() if filters is None else {*TEST, *(triple for one in filters for triple in one)}
    want = plain_ranks(links, fitted, TEST, known)
    monkeypatch.setattr("bove.api.links._CELLS", 3 * N)
    np.testing.assert_array_equal(links.ranks(TEST, filters), want)
    table = links.evaluate_ranking(bove.from_triples(TEST), filters)
    for side, ranks in {"head": want[:, 0], "tail": want[:, 1], "both": want.ravel()}.items():
        row = table.loc[side]
        assert row["count"] == len(ranks) and row["mean_rank"] == pytest.approx(np.mean(ranks))
        assert row["mrr"] == pytest.approx(np.mean([1 / rank for rank in ranks]))
        for k in (1, 3, 10):
            assert row[f"hits@{k}"] == pytest.approx(np.mean([rank <= k for rank in ranks]))


def test_scores_of_triples_are_those_of_the_matrices(fitted, links):
    want = [score(links, fitted, triple) for triple in TEST]
    np.testing.assert_allclose(links.scores(TEST), want, atol=1e-11)
    h, k, t = TEST[0]
    whole = fitted[0].score_edges(links.bag, k)
    assert links.scores([TEST[0]])[0] == pytest.approx(whole[links.nodes.index(h), links.nodes.index(t)])
    assert links.scores([]).shape == (0,)


def test_scores_of_pairs_have_length_1_over_all_relations(fitted, links):
    model, graph = fitted
    scaled = bove.LinkPredictor(model, graph, normalise="pairs")
    whole = np.stack([model.score_edges(links.bag, k) for k in links.relations])
    whole /= np.linalg.norm(whole, axis=0)
    at = {name: row for row, name in enumerate(links.nodes)}
    want = [whole[links.relations.index(k), at[h], at[t]] for h, k, t in TEST]
    np.testing.assert_allclose(scaled.scores(TEST), want, atol=1e-6)
    (h, k, t), row = TEST[0], links.relations.index(TEST[0][1])
    for part, of in (
        ("head", whole[row, :, at[t]]),
        ("tail", whole[row, at[h]]),
        ("relation", whole[:, at[h], at[t]]),
    ):
        given = {"head": h, "relation": k, "tail": t} | {part: None}
        found = scaled.predict(**given)
        names = links.relations if part == "relation" else links.nodes
        scores = dict(zip(names, of, strict=True))
        np.testing.assert_allclose(found["score"], [scores[name] for name in found[part]], atol=1e-6)
        assert list(found["score"]) == sorted(found["score"], reverse=True)
    rank = 1 + (whole[row, at[h]] > whole[row, at[h], at[t]] + 1e-9).sum()
    assert scaled.ranks(TEST[:1])[0, 1] == rank
    with pytest.raises(bove.BoveError, match="normalise 'all': must be None or 'pairs'"):
        bove.LinkPredictor(model, graph, normalise="all")


@pytest.mark.parametrize("part", ["head", "relation", "tail"])
def test_what_completes_a_triple_is_ranked_and_filtered(fitted, links, part):
    given = dict(zip(("head", "relation", "tail"), TRAIN[0], strict=True))
    del given[part]
    names = RELATIONS if part == "relation" else links.nodes
    whole = [tuple(({part: name} | given)[p] for p in ("head", "relation", "tail")) for name in names]
    scores = {name: score(links, fitted, one) for name, one in zip(names, whole, strict=True)}
    table = links.predict(**given)
    assert list(table) == [part, "score"] and list(table.index) == list(range(1, len(names) + 1))
    assert list(table[part]) == sorted(names, key=scores.get, reverse=True)
    np.testing.assert_allclose(table["score"], [scores[name] for name in table[part]], atol=1e-11)
    new = [name for name, one in zip(names, whole, strict=True) if one not in TRAIN]
    found = links.predict(**given, filter=[fitted[1], VALID], top=2)
    new = [name for name, one in zip(names, whole, strict=True) if one not in {*TRAIN, *VALID}]
    assert list(found[part]) == sorted(new, key=scores.get, reverse=True)[:2]
    some = list(names[:2])
    few = links.predict(**given, candidates=iter(some))
    assert list(few[part]) == sorted(some, key=scores.get, reverse=True)


def test_nodes_are_alike_by_the_cosine_of_their_vectors(links):
    table = links.most_similar("n3", top=4)
    units = links.bag / np.linalg.norm(links.bag, axis=1)[:, None]
    cosines = dict(zip(links.nodes, units @ units[links.nodes.index("n3")], strict=True))
    del cosines["n3"]
    assert list(table["node"]) == sorted(cosines, key=cosines.get, reverse=True)[:4]
    np.testing.assert_allclose(table["score"], sorted(cosines.values(), reverse=True)[:4], atol=1e-9)


def test_the_vectors_are_those_of_training_or_inferred_or_given(fitted, tmp_path):
    model, graph = fitted
    np.testing.assert_array_equal(bove.LinkPredictor(model, graph).bag, model.bags_[0])
    model.save(tmp_path / "m")
    loaded = bove.BoVE.load(tmp_path / "m")
    np.testing.assert_array_equal(bove.LinkPredictor(loaded, graph).bag, model.transform([graph])[0])
    more = bove.from_triples([*TRAIN, ("n0", "likes", "n1"), ("n1", "likes", "n0")])
    inferred = bove.LinkPredictor(model, more).bag
    np.testing.assert_array_equal(inferred, model.transform([more])[0])
    given = bove.LinkPredictor(model, bove.Graph([[], []]), np.ones((2, RANK)))
    assert given.nodes == (0, 1) and len(given.predict(head=0, relation="likes")) == 2


def test_what_is_not_there_is_counted_or_refused(fitted, links):
    with pytest.warns(bove.BoveWarning, match=r"2 of 27 test triples .* are left out"):
        table = links.evaluate_ranking([*TEST, ("x", "likes", "n1"), ("n1", "x", "n2")], [[("x", "y", "z")]])
    assert list(table["count"]) == [25, 25, 50]
    empty = links.evaluate_ranking([])
    assert list(empty["count"]) == [0, 0, 0] and empty["mrr"].isna().all()
    for use, said in (
        (lambda: links.predict(head="n1"), "1 of head, relation and tail are given; give two"),
        (lambda: links.predict(head="n33", relation="likes"), "head 'n33': no node of the graph; did you"),
        (
            lambda: links.predict(head="n3", relation="like"),
            "'like': no relation of the model; did you mean",
        ),
        (lambda: links.predict(head="n3", tail="n1", candidates=["n1"]), "relation 'n1': no relation"),
        (lambda: links.predict(head="n3", relation="likes", filter=fitted[1]), "filter: one graph is given"),
        (lambda: links.evaluate_ranking(TEST, [TRAIN[0]]), r"filter: one set of triples .* filter=\[train\]"),
        (lambda: links.evaluate_ranking(TEST, np.array(TRAIN)), "filter: one set of triples is given"),
        (lambda: links.evaluate_ranking(TEST, "train.tsv"), "filter: one set of triples is given"),
        (lambda: links.predict(head="n3", relation="likes", top=0), "top 0: must be at least 1"),
        (lambda: links.most_similar("nobody"), "node 'nobody': no node"),
        (lambda: bove.LinkPredictor(fitted[0], fitted[1], np.ones((2, RANK))), "a bag of 2 vectors for a"),
        (lambda: bove.LinkPredictor(fitted[0], pandas.DataFrame(TRAIN)), "item 0 is a data frame"),
        (lambda: bove.LinkPredictor(fitted[0], [fitted[1]]), "item 0 is list, not a Graph"),
    ):
        with pytest.raises(bove.BoveError, match=said):
            use()
    with pytest.raises(NotFittedError):
        bove.LinkPredictor(bove.BoVE(), fitted[1], np.ones((2, RANK)))
