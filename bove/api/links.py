"""Link prediction in one graph: missing parts of triples, ranks of known ones, and nodes that are alike.

The score of a triple (h, k, t) is e_h R_k e_tᵀ, what the model expects X[k, h, t] to be. All tails of a head
take e_h R_k, which is O(r²), and one product of it with the vectors of the candidates; all heads of a tail
likewise. No matrix over all pairs of nodes is made.

Ranks are those of the field: among all nodes in the place of the right one, "filtered" without those that
are right themselves; realistic, which is the mean of the best and of the worst place that ties leave open.
"""

import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bove.api.estimator import BoVE
from bove.api.graph import Graph, checked, series
from bove.api.readers import Triples, each_triple
from bove.errors import BoveError, BoveWarning, similar
from bove.evaluate.alignment import DECIMALS, bag_of
from bove.evaluate.search import nearest

if TYPE_CHECKING:
    import pandas

Facts = Graph | Triples
HITS = (1, 3, 10)
# Scores that are in memory at once, 8 bytes each.
_CELLS = 1 << 22


class LinkPredictor:
    """A fitted model's view of the links of one graph.

    Args:
        model: fitted.
        graph: whose nodes are the candidates, by their names, or by their numbers where they have none.
        bag: [n, r] vectors of its nodes. By default those that training ended with, where the model was
            fitted to this graph alone; else those that `transform` infers.
        normalise: None, or "pairs": every score is divided by the length of the scores of its pair of nodes
            over all relations, which tells best where a pair has one relation as a rule.

    Attributes:
        nodes: names of the nodes, in the graph's order. relations: of the model's relations, in its order.
        bag: [n, r] float64 their vectors.

    Raises:
        BoveError: something else than a graph and its bag, two nodes of one name, or no such `normalise`.
        sklearn.exceptions.NotFittedError: the model is not fitted.
    """

    def __init__(
        self, model: BoVE, graph: Graph, bag: np.ndarray | None = None, normalise: str | None = None
    ):
        check_is_fitted(model, "model_")
        if normalise not in (None, "pairs"):
            raise BoveError(f"normalise {normalise!r}: must be None or 'pairs'")
        self._normalise = normalise
        (graph,) = checked([graph])
        found = model._bag_of(graph) if bag is None else bag
        self.bag = bag_of(found, model.model_.rank).astype(np.float64)
        self.nodes: tuple[Hashable, ...] = tuple(graph.names or range(len(graph)))
        if len(self.bag) != len(self.nodes):
            raise BoveError(f"a bag of {len(self.bag)} vectors for a graph of {len(self.nodes)} nodes")
        self._rows = {name: row for row, name in enumerate(self.nodes)}
        if len(self._rows) < len(self.nodes):
            raise BoveError("several nodes of the graph have the same name; rename them")
        self.relations = model.names_.relations
        self._relations: Mapping[str, int] = model.names_.relation_rows
        self._R = model.relations_.astype(np.float64)

    def predict(
        self, *, head: Hashable = None, relation: str | int | None = None, tail: Hashable = None,
        top: int | None = None, candidates: Iterable[Hashable] | None = None, filter: Iterable[Facts] = (),
    ) -> "pandas.DataFrame":  # fmt: skip
        """What completes a triple of which one part is left out, the best first.

        Args:
            head, relation, tail: two of them; the tail is what a graph's edge calls its dependent.
            top: how many rows; all by default.
            candidates: nodes, or relations, that may complete it; all by default.
            filter: a list of graphs, or of what `from_triples` takes; triples in them are left out.

        Returns:
            A data frame of two columns, the missing part by its name and `score`; its index is the rank, from
            1. Ties are in the order of the nodes.

        Raises:
            BoveError: not two parts, a node or a relation that is not there, or something else as filter.
        """
        import pandas

        _check_top(top)
        given = {"head": head, "relation": relation, "tail": tail}
        missing = [name for name, part in given.items() if part is None]
        if len(missing) != 1:
            raise BoveError(f"{3 - len(missing)} of head, relation and tail are given; give two of them")
        (part,) = missing
        place = list(given).index(part)
        known: Any = self._relations if part == "relation" else self._rows
        names = list(known)
        if candidates is not None:
            names = [self._named(name, part) for name in series(candidates, "candidates", "a list of names")]
        rows = np.array([known[name] for name in names], np.int64)
        row = [self._row(value, name) if value is not None else 0 for name, value in given.items()]
        scores = self._scores(np.array([row]), place, rows)[0]
        hidden = {
            triple[place] for triple in self._known(filter)
            if all(i == place or triple[i] == row[i] for i in range(3))
        }  # fmt: skip
        keep = np.array([r not in hidden for r in rows.tolist()], bool)
        order = np.flatnonzero(keep)
        order = order[np.argsort(-scores[order], kind="stable")][:top]
        index = pandas.RangeIndex(1, len(order) + 1, name="rank")
        column = pandas.Series([names[i] for i in order], index, object)
        return pandas.DataFrame({part: column.infer_objects(), "score": scores[order]}, index)

    def scores(self, triples: Facts) -> np.ndarray:
        """[m] float64, the score of each triple.

        Raises:
            BoveError: no triples, or one with a node or a relation that is not there.
        """
        rows = [self._placed(triple) for triple in _each(triples)]
        at = np.array(rows, np.int64).reshape(-1, 3)
        found = np.zeros(len(at))
        for k, of_relation in _by_relation(at):
            heads, tails = self.bag[at[of_relation, 0]], self.bag[at[of_relation, 2]]
            found[of_relation] = np.einsum("ij,ij->i", heads @ self._R[k], tails)
        if self._normalise:
            found = _divided(found, self._lengths(at))
        return found.round(DECIMALS) + 0.0

    def ranks(self, test: Facts, filter: Iterable[Facts] | None = None) -> np.ndarray:
        """[m, 2] float64, the realistic ranks of each test triple's head and tail; for arguments and errors
        see `evaluate_ranking`."""
        triples = list(_each(test))
        at = np.array([row for row in map(self._place, triples) if row], np.int64).reshape(-1, 3)
        if left := len(triples) - len(at):
            first = next(triple for triple in triples if not self._place(triple))
            said = f"{left} of {len(triples)} test triples have a node or a relation that is not there"
            said += f", first {tuple(first)!r}; they are left out"
            order = "" if len(at) else "; give head, relation and tail in this order"
            warnings.warn(said + order, BoveWarning, stacklevel=3)
        known = None
        if filter is not None:
            rows = [*self._known(filter), *map(tuple, at.tolist())]
            known = np.unique(np.array(rows, np.int64).reshape(-1, 3), axis=0)
        return np.stack([self._ranks(at, place, known) for place in (0, 2)], axis=1)

    def evaluate_ranking(self, test: Facts, filter: Iterable[Facts] | None = None) -> "pandas.DataFrame":
        """How high the model ranks the parts of test triples: mean reciprocal rank, mean rank and hits.

        Args:
            test: a graph, or what `from_triples` takes. Triples with a node that the graph lacks, or a
                relation that the model lacks, are left out with a warning.
            filter: a list of the same kinds, such as `[train, valid]`: other nodes with which a triple is in
                one of these or in `test` do not count (filtered ranks); None counts them all (raw ranks).

        Returns:
            A data frame with a row for the ranks of heads, of tails and of both together, and the columns
            `count`, `mrr`, `mean_rank`, and `hits@1`, `hits@3` and `hits@10`, which are shares. Not a number
            where no triple is left.

        Raises:
            BoveError: something else than triples.
        """
        import pandas

        ranks = self.ranks(test, filter)
        sides = {"head": ranks[:, 0], "tail": ranks[:, 1], "both": ranks.ravel()}
        return pandas.DataFrame({side: _metrics(own) for side, own in sides.items()}).T.astype({"count": int})

    def most_similar(self, node: Hashable, top: int = 10) -> "pandas.DataFrame":
        """The nodes whose vectors have the largest cosine with a node's, the best first, without itself.

        Returns:
            A data frame of the columns `node` and `score`, the cosine; its index is the rank, from 1.

        Raises:
            BoveError: a node that is not there.
        """
        import pandas

        _check_top(top)
        row = self._row(node, "node")
        (hits,) = nearest(self.bag[[row]], self.bag, top, np.arange(len(self.bag)) != row)
        names = pandas.Series([self.nodes[i] for i in hits.numbers], dtype=object).infer_objects()
        index = pandas.RangeIndex(1, len(names) + 1, name="rank")
        return pandas.DataFrame({"node": names.to_numpy(), "score": hits.scores}, index)

    def _scores(self, at: np.ndarray, place: int, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        """[b, c] scores of triples [b, 3] of one relation, with each candidate in a place of theirs."""
        found = self._raw(at, place, rows)
        if self._normalise and place == 1:
            found = _divided(found, self._lengths(at)[:, None])
        elif self._normalise:
            squares = sum(
                self._raw(at * [1, 0, 1] + [0, k, 0], place, rows) ** 2 for k in range(len(self._R))
            )
            found = _divided(found, np.sqrt(squares))
        return found.round(DECIMALS) + 0.0

    def _lengths(self, at: np.ndarray) -> np.ndarray:
        """[b] lengths of the scores of each triple's pair of nodes over all relations."""
        return np.linalg.norm(self._raw(at, 1), axis=1)

    def _raw(self, at: np.ndarray, place: int, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        """The scores of `_scores` as the model gives them; of place 1 the relations may differ."""
        if place == 1:
            ends = self.bag[at[:, 0]], self.bag[at[:, 2]]
            return np.einsum("bi,kij,bj->bk", ends[0], self._R[rows], ends[1], optimize=True)
        R = self._R[at[0, 1]]
        half = self.bag[at[:, 0]] @ R if place == 2 else self.bag[at[:, 2]] @ R.T
        return half @ self.bag[rows].T

    def _ranks(self, at: np.ndarray, place: int, known: np.ndarray | None) -> np.ndarray:
        """[m] realistic rank of what triples [m, 3] have in a place, 0 or 2, among what is not `known`."""
        found, other, n = np.zeros(len(at)), 2 - place, len(self.nodes)
        if known is not None:
            keys = known[:, 1] * n + known[:, other]
            order = np.argsort(keys, kind="stable")
            keys, answers = keys[order], known[order, place]
        size = max(1, _CELLS // max(1, n))
        for k, of_relation in _by_relation(at):
            for start in range(0, len(of_relation), size):
                rows = of_relation[start : start + size]
                scores, right = self._scores(at[rows], place), (np.arange(len(rows)), at[rows, place])
                true = scores[right][:, None]
                if known is not None:
                    asked = k * n + at[rows, other]
                    first, last = np.searchsorted(keys, asked), np.searchsorted(keys, asked, "right")
                    for row, a, b in zip(scores, first, last, strict=True):
                        row[answers[a:b]] = -np.inf
                    scores[right] = true[:, 0]
                found[rows] = (scores > true).sum(axis=1) + ((scores == true).sum(axis=1) + 1) / 2
        return found

    def _known(self, facts: Iterable[Facts]) -> list[tuple[int, int, int]]:
        """The triples of a filter, those with nodes or relations that are not there left out."""
        one = isinstance(facts, Graph | str | PathLike) or hasattr(facts, "shape")
        each = [] if one else list(series(facts, "filter", "a list of graphs or triples"))
        if one or any(_is_triple(item) for item in each):
            kind = "graph" if isinstance(facts, Graph) else "set of triples"
            raise BoveError(f"filter: one {kind} is given; give a list of such, as in filter=[train]")
        return [row for one in each for row in map(self._place, _each(one)) if row]

    def _place(self, triple: tuple[Hashable, str, Hashable]) -> tuple[int, int, int] | None:
        """Head, relation and tail by number; None where one is not there."""
        head, relation, tail = triple
        if not isinstance(head, Hashable) or not isinstance(tail, Hashable):
            raise BoveError(f"{triple!r}: has a node that cannot be one; give texts, numbers or tuples")
        row = self._rows.get(head), self._relations.get(relation), self._rows.get(tail)
        return None if None in row else row  # type: ignore[return-value]

    def _placed(self, triple: tuple[Hashable, str, Hashable]) -> tuple[int, int, int]:
        head, relation, tail = triple
        return self._row(head, "head"), self._row(relation, "relation"), self._row(tail, "tail")

    def _named(self, name: Any, part: str) -> Hashable:
        """The name of a node or, where `part` is "relation", of a relation that is there."""
        if part == "relation":
            name = str(name) if isinstance(name, int | np.integer) else name
        known: Any = self._relations if part == "relation" else self._rows
        if not isinstance(name, Hashable) or name not in known:
            what = "relation of the model" if part == "relation" else "node of the graph"
            alike = next((own for own in known if str(own) == str(name)), None)
            hint = similar(str(name), map(str, known)) if alike is None else f"did you mean {alike!r}? "
            raise BoveError(f"{part} {name!r}: no {what}; {hint}there are {len(known)}")
        return name

    def _row(self, name: Any, part: str) -> int:
        named = self._named(name, part)
        return self._relations[named] if part == "relation" else self._rows[named]  # type: ignore[index]


def _divided(scores: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The scores, each divided by a length; 0 where that is 0."""
    return np.divide(scores, lengths, out=np.zeros_like(scores), where=lengths > 0)


def _check_top(top: int | None) -> None:
    if top is not None and top < 1:
        raise BoveError(f"top {top}: must be at least 1")


def _is_triple(item: Any) -> bool:
    listed = isinstance(item, list | tuple) and len(item) in (3, 4)
    return listed and isinstance(item[1], str | int | np.integer)


def _each(facts: Facts) -> Iterator[tuple[Hashable, str, Hashable]]:
    """(head, relation, tail) of each edge of a graph, or of each triple."""
    if not isinstance(facts, Graph):
        yield from ((head, relation, tail) for head, relation, tail, _ in each_triple(facts))
        return
    names = facts.names or range(len(facts))
    for label, head, tail, *_ in facts.edges:
        yield names[head], label, names[tail]


def _by_relation(at: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Each relation of triples [m, 3] with the rows that have it."""
    order = np.argsort(at[:, 1], kind="stable")
    relations, starts = np.unique(at[order, 1], return_index=True)
    yield from zip(relations.tolist(), np.split(order, starts[1:]), strict=True) if len(at) else ()


def _metrics(ranks: np.ndarray) -> dict[str, float]:
    def mean(values: np.ndarray) -> float:
        return float(values.mean()) if len(values) else float("nan")

    hits = {f"hits@{k}": mean(ranks <= k) for k in HITS}
    return {"count": len(ranks), "mrr": mean(1 / ranks), "mean_rank": mean(ranks), **hits}
