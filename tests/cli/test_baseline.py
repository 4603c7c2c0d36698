"""`bove baseline` and its scores, held against a few lines of NumPy and plain loops."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import reference
from tiny_treebank import count_and_encode, flat, write_treebank

from bove.bags import BASELINES
from bove.bags.store import Bags
from bove.cli.main import main
from bove.evaluate.results import read_scores
from bove.files import atomic_write
from bove.text.pairs import Pair, write_pairs
from bove.text.vectors import write_vectors

R, WORDS = 5, ("cat", "dog", "sees", "the", "a", "bird")
VECTORS = dict(zip(WORDS, np.random.default_rng(0).standard_normal((6, R)).astype(np.float32), strict=True))
TREEBANK = "The cat sees a dog", "a dog sees the dog", "the odd one", "nothing here", "sees the cat the dog"
PAIRS = [
    ("The cat sees the dog .", "a dog sees a cat ."),
    ("the bird", "A bird"),
    ("odd thing", "the dog"),
    ("a cat sees the bird", "the bird sees a cat"),
    ("dog dog cat", "bird the"),
]


def tree(name, text):
    """A tree whose first token heads all others, by two labels in turn."""
    found = flat(name, text.split())
    labels = tuple("YX"[i % 2] for i in range(1, len(found.forms)))
    return replace(found, relations=found.relations[:1] + labels)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("baseline")
    write_treebank(folder / "t.conllu", [flat(str(i), text.split()) for i, text in enumerate(TREEBANK)])
    count_and_encode(folder)
    words = [word.encode() for word in WORDS]
    write_vectors(folder / "vectors", [(words, np.array(list(VECTORS.values())))], {})
    sides = {f"p-{i}.{side}": pair[side - 1] for i, pair in enumerate(PAIRS) for side in (1, 2)}
    write_treebank(folder / "pairs.conllu", [tree(*side) for side in sides.items()])
    for task in ("similarity", "entailment"):
        gold = [float(i) if task == "similarity" else "entailment" for i in range(len(PAIRS))]
        pairs = [Pair(f"p-{i}", "d", "D", task, "s", *pair, gold[i], True) for i, pair in enumerate(PAIRS)]
        with atomic_write(folder / task) as stream:
            write_pairs(stream, pairs)
    for system in BASELINES:
        words = (
            f"baseline --system {system} --sentences pairs.conllu --vectors vectors --vocabulary vocabulary"
        )
        words += f" --treebank t.conllu --output {system}"
        assert not main(_located(folder, words))
    return folder


def _located(folder, words):
    files = {"pairs.conllu", "vectors", "vocabulary", "t.conllu"}
    words = [str(folder / word) if word in files else word for word in words.split()]
    return [*words[:-1], str(folder / words[-1])]


def known(text):
    return [word for word in text.lower().split() if word in VECTORS]


def vectors(text):
    return np.array([VECTORS[word] for word in known(text)], float).reshape(-1, R)


def sif(text, component=None):
    counts = Counter(word for sentence in TREEBANK for word in sentence.lower().split())
    weights = [1e-3 / (1e-3 + counts[word] / counts.total()) for word in known(text)]
    s = weights @ vectors(text) / len(weights) if weights else np.zeros(R)
    return s if component is None else s - component * (component @ s)


def cosine(u, v):
    return u @ v / (np.linalg.norm(u) * np.linalg.norm(v)) if u.any() and v.any() else 0


def expected_mean(first, second, task):
    return cosine(*(vectors(text).mean(axis=0) if known(text) else np.zeros(R) for text in (first, second)))


def expected_sif(first, second, task):
    component = np.linalg.svd(np.array([sif(text) for text in TREEBANK]))[2][0]
    return cosine(sif(first, component), sif(second, component))


def whitening_matrix():
    P = np.array([VECTORS[word] for word in ("cat", "sees", "dog", "the", "a")], float)
    return P.T @ P + np.sum(P**2) / R * np.eye(R)


def expected_whitened(first, second, task):
    D = whitening_matrix()
    bags = [[np.linalg.solve(D, p) for p in vectors(text)] for text in (first, second)]
    return (reference.sts if task == "similarity" else reference.snli)(*bags)


def expected_rwmd(first, second, task):
    def distance(X, Y):
        return sum(min(np.sqrt(np.sum((x - y) ** 2)) for x in X) for y in Y) / len(Y)

    X, Y = vectors(first), vectors(second)
    if not (len(X) and len(Y)):
        return 0
    d = distance(X, Y)
    return 1 / (1 + (max(d, distance(Y, X)) if task == "similarity" else d))


def expected_overlap(first, second, task):
    first, second = first.lower().split(), second.lower().split()
    a, b = (sum(w in X for w in Y) / len(Y) for X, Y in ((first, second), (second, first)))
    return a if task == "entailment" else 2 * a * b / (a + b) if a + b else 0


def expected_arcs(first, second, task):
    def sentence(text):
        tokens = text.lower().split()
        p = {i: VECTORS[token].astype(float) for i, token in enumerate(tokens) if token in VECTORS}
        e = {i: np.linalg.solve(whitening_matrix(), vector) for i, vector in p.items()}
        return e, {i: p[i] @ e[i] for i in p}, [(0, i, i % 2) for i in e if i > 0 and 0 in e]

    def one_way(one, other):
        (e, _, ours), (f, weights, theirs) = one, other
        if not (e and f):
            return 0
        best = [weights[j] * max([0, *(cosine(x, y) for x in e.values())]) for j, y in f.items()]
        words = sum(best) / sum(weights.values())
        if not theirs:
            return words
        near = [
            max([0, *(cosine(e[h], f[k]) * cosine(e[d], f[n]) * (1 + (a == b)) / 2 for h, d, a in ours)])
            for k, n, b in theirs
        ]
        shares = [weights[k] * weights[n] for k, n, _ in theirs]
        return (words + 0.15 * np.dot(shares, near) / sum(shares)) / 1.15

    sides = sentence(first), sentence(second)
    a, b = one_way(*sides), one_way(*sides[::-1])
    return a if task == "entailment" else 2 * a * b / (a + b) if a + b else 0


EXPECTED = dict(
    zip(
        BASELINES,
        (expected_mean, expected_sif, expected_whitened, expected_rwmd, expected_overlap, expected_arcs),
        strict=True,
    )
)


@pytest.mark.parametrize("task", ["similarity", "entailment"])
def test_scores_equal_a_few_lines_of_numpy(folder, task):
    bags = [f"{system}={folder / system}" for system in BASELINES]
    out = folder / "scores"
    assert not main(["score", "--pairs", str(folder / task), "--bags", *bags, "--output", str(out)])
    scores = read_scores(out)
    for system in BASELINES:
        made = [EXPECTED[system](*pair, task) for pair in PAIRS]
        assert len({round(value, 3) for value in made}) > 2
        np.testing.assert_allclose(scores.values[system], made, atol=1e-6, err_msg=system)


def test_only_what_compares_tokens_of_their_own_has_columns_of_weights(folder):
    bags, out = [f"{system}={folder / system}" for system in BASELINES], folder / "weighted"
    words = ["--pairs", str(folder / "similarity"), "--bags", *bags, "--output", str(out)]
    assert not main(["score", *words, "--weight", "evidence", "length"])
    weighted = ["mean", "sif", "whitened (evidence)", "rwmd", "overlap", "arcs", "whitened (length)"]
    assert list(read_scores(out).values) == weighted


def test_the_same_words_in_another_order_have_the_same_bag_of_one_vector(folder):
    for system in ("mean", "sif"):
        bags = Bags.open(folder / system)
        assert bags.bag_of("p-3.1") == bags.bag_of("p-3.2") and bags["p-3.1"].shape == (1, R)
        assert bags["p-2.1"].shape == (0, R)


def test_what_a_baseline_lacks_and_a_comparison_that_is_unknown_are_one_line(folder, tmp_path, refused):
    words = f"baseline --system sif --sentences x --vectors v --output {tmp_path / 'b'}"
    refused(words.split(), "--system sif needs --vocabulary, --treebank")
    copy = tmp_path / "bags"
    copy.write_bytes((folder / "mean").read_bytes().replace(b'"cosine"', b'"cosinf"'))
    words = f"score --pairs {folder / 'similarity'} --bags x={copy} --output {tmp_path / 's'}"
    refused(words.split(), "its comparison is 'cosinf'; make the bags again with one of cosine, ")


def test_punctuation_is_a_word_or_is_left_out(folder, tmp_path):
    words = [
        "baseline",
        "--system",
        "overlap",
        "--sentences",
        str(folder / "pairs.conllu"),
        "--no-punctuation",
    ]
    assert not main([*words, "--output", str(tmp_path / "b")])
    assert len(Bags.open(folder / "overlap")["p-0.1"]) == 6 and len(Bags.open(tmp_path / "b")["p-0.1"]) == 5
