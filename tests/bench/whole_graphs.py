"""Classes of whole graphs: pooled bags beside counts of Weisfeiler-Lehman labels and Graph2Vec.

    python tests/bench/whole_graphs.py FOLDER [--repeats 10] [--rank 32] [--alphas 0.1 1] [--output FILE]

The folder has one data set in the format of the TU collection: NAME_A.txt, NAME_graph_indicator.txt,
NAME_graph_labels.txt, NAME_node_labels.txt and NAME_edge_labels.txt. grakel's package has
`grakel/tests/data/MUTAG`. Graph2Vec needs karateclub, and is left out where that is not installed.

Stratified ten-fold cross-validation, repeated with other folds, the same for all. Each system gives a row per
graph without seeing the classes; a logistic regression on standardised columns is chosen among five strengths
by five folds of the training part. BoVE and the labels' numbers are learnt of the training part alone,
Graph2Vec of all graphs, as its package does it.
"""

import argparse
import time
import warnings
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
from made import write_rows
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bove


def read(folder: Path) -> tuple[list[bove.Graph], np.ndarray]:
    """The graphs of a data set, each node with the property `label:…`, and their classes."""
    (name,) = (path.name.removesuffix("_A.txt") for path in folder.glob("*_A.txt"))

    def rows(part):
        return np.loadtxt(folder / f"{name}_{part}.txt", dtype=np.int64, delimiter=",", ndmin=1)

    owner, nodes = rows("graph_indicator") - 1, rows("node_labels")
    first = np.searchsorted(owner, np.arange(owner.max() + 2))
    graphs = [
        bove.Graph([[f"label:{label}"] for label in nodes[a:b]], id=str(s + 1))
        for s, (a, b) in enumerate(zip(first[:-1], first[1:], strict=True))
    ]
    for (head, dependent), bond in zip(rows("A") - 1, rows("edge_labels"), strict=True):
        s = owner[head]
        graphs[s].add_edge(f"bond{bond}", int(head - first[s]), int(dependent - first[s]))
    return graphs, rows("graph_labels")


def labels_of(graph: bove.Graph, rounds: int) -> Counter[str]:
    """How often each Weisfeiler-Lehman label occurs, of all rounds; edges' labels are part of them."""
    labels, found = [" ".join(own) for own in graph.nodes], Counter[str]()
    for number in range(rounds + 1):
        found.update(f"{number} {label}" for label in labels)
        around = [[] for _ in labels]
        for kind, head, dependent in graph.edges:
            around[head].append(f"{kind}>{labels[dependent]}")
        labels = [f"({own} {' '.join(sorted(near))})" for own, near in zip(labels, around, strict=True)]
    return found


def counts(graphs, train, test, rounds):
    found = [labels_of(graph, rounds) for graph in graphs]
    numbers = DictVectorizer(sparse=False)
    return numbers.fit_transform([found[s] for s in train]), numbers.transform([found[s] for s in test])


def pooled(graphs, train, test, **settings):
    warnings.simplefilter("ignore")  # training that ends with all its rounds
    model = bove.BoVE(**settings).fit([graphs[s] for s in train])
    return model.transform([graphs[s] for s in train]), model.transform([graphs[s] for s in test])


def graph2vec(graphs):
    """A function of folds: vectors of all graphs, made once."""
    import networkx
    from karateclub import Graph2Vec

    made = []
    for graph in graphs:
        one = networkx.Graph([(head, dependent) for _, head, dependent in graph.edges])
        one.add_nodes_from((i, {"feature": own[0]}) for i, own in enumerate(graph.nodes))
        made.append(one)
    model = Graph2Vec(attributed=True, min_count=1, epochs=50, dimensions=128, workers=1)
    model.fit(made)
    vectors = model.get_embedding()
    return lambda graphs, train, test: (vectors[train], vectors[test])


def accuracy(train, test, classes, of_train, of_test) -> float:
    steps = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    grid = {"logisticregression__C": [1e-3, 1e-2, 1e-1, 1, 10]}
    chosen = GridSearchCV(steps, grid, cv=StratifiedKFold(5)).fit(of_train, classes[train])
    return chosen.score(of_test, classes[test])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--rank", type=int, default=32)
    parser.add_argument("--alphas", nargs="+", type=float, default=[0.1, 1.0])
    parser.add_argument("--output", type=Path, help="CSV of the table")
    args = parser.parse_args()
    graphs, classes = read(args.folder)
    nodes, edges = (sum(len(getattr(graph, part)) for graph in graphs) for part in ("nodes", "edges"))
    print(f"{len(graphs)} graphs, {nodes} nodes, {edges} edges; classes {Counter(classes.tolist())}")
    systems = {f"Weisfeiler-Lehman counts, {h} rounds": partial(counts, rounds=h) for h in range(4)}
    for alpha in args.alphas:
        for pool in ("mean", "gram", "both"):
            settings = {"rank": args.rank, "alpha": alpha, "pool": pool}
            systems[f"bove, {pool}, alpha {alpha:g}"] = partial(pooled, **settings)
    try:
        systems["Graph2Vec"] = graph2vec(graphs)
    except ModuleNotFoundError as e:
        print(f"without Graph2Vec: {e}")
    rows = []
    for name, represent in systems.items():
        began, found, width = time.process_time(), [], 0
        for seed in range(args.repeats):
            folds = StratifiedKFold(10, shuffle=True, random_state=seed).split(classes, classes)
            scores = []
            for train, test in folds:
                of_train, of_test = represent(graphs, train, test)
                width = of_train.shape[1]
                scores.append(accuracy(train, test, classes, of_train, of_test))
            found.append(np.mean(scores))
        seconds = (time.process_time() - began) / args.repeats
        rows.append({"system": name, "columns": width, "accuracy": np.mean(found), "sd": np.std(found)})
        rows[-1]["seconds"] = seconds
        print(*(f"{v:.3f}" if isinstance(v, float) else v for v in rows[-1].values()), flush=True)
    if args.output:
        write_rows(args.output, rows)


if __name__ == "__main__":
    main()
