"""Which cells of W_s and X_s a mini-batch of stochastic gradient descent looks at, and with what weights.

The sampled loss (see `bove.factor.sgd`) sums w (target − score)² over some cells of the batch's graphs:

    observed cells     all of them, with target 1, or their weight or value, and w = 1
    negatives          drawn cells that are 0, with target 0 and, by `negative_weight`,
      contrastive        w = negative_weight, a number
      unbiased           w = z / m for each of m draws from a group of z zero cells

For each observed (token t, property) `negatives` cells are drawn from the properties that t lacks; for each
observed (k, i, j) as many from the zero cells of X_s that differ from it in one of k, i and j alone
(contrastive), or from all zero cells of X_s (unbiased). So unbiased, with a = `negatives`,

    W, the group of token t:    z = c − nnz(W_t),         m = a max(nnz(W_t), 1)
    X, the group of graph s:    z = d n_s² − nnz(X_s),    m = a max(nnz(X_s), 1)

where cells that are unknown are neither zeros nor arcs: z loses their number, and none is drawn. So
the expected sum over the draws of a group is the sum over its zero cells, since each of them is drawn
m / z times on average. Draws are uniform, with replacement. They are made by number: the u-th zero of a group
is found from the sorted observed cells, so that no draw is in vain and a group without a zero gives none.
"""

from dataclasses import dataclass, replace

import numpy as np

from bove.errors import BoveError
from bove.factor.graphs import GraphCorpus, filled, offsets_of, ranges, some

UNBIASED = "unbiased"


@dataclass(frozen=True)
class Cells:
    """Cells of a sparse array.

    Attributes:
        index: one int64 array [m] per dimension.
        target: [m] what the cell holds, 0 where it was drawn.
        weight: [m] of the squared error.
    """

    index: tuple[np.ndarray, ...]
    target: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True)
class Sample:
    """What one update sees.

    Attributes:
        tokens: [t] distinct rows of E.
        share: of all tokens, in (0, 1]; the penalties on P and R are scaled by it.
        properties: cells (row within `tokens`, property).
        relations: cells (relation, head, dependent), the latter two rows within `tokens`.
    """

    tokens: np.ndarray
    share: float
    properties: Cells
    relations: Cells


def draw_zeros(rng, cells, observed, offsets, draws) -> tuple[np.ndarray, np.ndarray]:
    """Draw unobserved cells of groups, uniformly and with replacement.

    Args:
        cells: [g] cells of each group, numbered from 0.
        observed: the observed cells, rising within each group, those of group q at
            offsets[q] : offsets[q + 1].
        draws: [g] how many to draw; a group whose cells are all observed gives none.

    Returns:
        The cells drawn and the group of each, group by group.
    """
    taken = np.diff(offsets)
    zeros = cells - taken
    group = np.repeat(np.arange(len(cells)), np.where(zeros > 0, draws, 0))
    number = rng.integers(0, zeros[group])
    # zeros are numbered over all groups; observed cell q of a group comes after (cell − q) of its zeros
    base = np.cumsum(zeros) - zeros
    owner = np.repeat(np.arange(len(cells)), taken)
    before = observed - (np.arange(len(observed)) - offsets[owner]) + base[owner]
    passed = np.searchsorted(before, base[group] + number, side="right") - offsets[group]
    return number + passed, group


class Sampler:
    """Draws samples of one corpus.

    Args:
        corpus: graphs of which no cell is listed twice.
        negatives: draws for each observed cell.
        weight: of each draw, or `UNBIASED`.
        relations: false leaves X out.

    Attributes:
        exhausted: name → how many have no zero cell to draw from: `tokens` that have every property;
            `sentences` (unbiased) or `arcs` (contrastive).
    """

    def __init__(self, corpus: GraphCorpus, negatives: int, weight: float | str, relations: bool = True):
        self.negatives, self.weight = negatives, weight
        lengths, d = corpus.lengths, corpus.n_relations
        owner = np.repeat(np.arange(corpus.n_tokens), np.diff(corpus.property_offsets))
        sentence = np.repeat(np.arange(corpus.n_graphs), np.diff(corpus.arc_offsets))
        n, first = lengths[sentence], corpus.token_offsets[sentence]
        cell = (corpus.arc_relation * n + corpus.arc_head - first) * n + corpus.arc_dependent - first
        order = np.lexsort((cell, sentence))
        owned = np.lexsort((corpus.properties, owner))
        self.corpus = replace(
            corpus,
            properties=corpus.properties[owned],
            property_value=some(corpus.property_value, owned),
            arc_weight=some(corpus.arc_weight, order),
            arc_relation=corpus.arc_relation[order],
            arc_head=corpus.arc_head[order],
            arc_dependent=corpus.arc_dependent[order],
            arc_offsets=corpus.arc_offsets if relations else np.zeros_like(corpus.arc_offsets),
        )
        self.cell, self.cell_offsets = cell[order], self.corpus.arc_offsets
        self.relation_cells = d * lengths**2 * int(relations)
        full = {"tokens": np.sum(np.diff(corpus.property_offsets) >= corpus.n_properties)}
        if weight == UNBIASED:
            if relations and corpus.unknown_offsets is not None:
                self._keep_unknown(sentence)
            full["sentences"] = np.sum(
                (np.diff(self.corpus.arc_offsets) > 0) & (np.diff(self.cell_offsets) >= self.relation_cells)
            )
        else:
            self._corruptions(n, relations)
            full["arcs"] = np.sum(np.diff(self.taken_offsets) >= self.corrupted)
        self.exhausted = {name: int(count) for name, count in full.items() if count and negatives}

    def _keep_unknown(self, sentence):
        """Count unknown cells among those that are not drawn."""
        c = self.corpus
        owner = np.repeat(np.arange(c.n_graphs), np.diff(c.unknown_offsets))
        n, first = c.lengths[owner], c.token_offsets[owner]
        cell = (c.unknown_relation * n + c.unknown_head - first) * n + c.unknown_dependent - first
        cell, owner = np.concatenate([self.cell, cell]), np.concatenate([sentence, owner])
        self.cell = cell[np.lexsort((cell, owner))]
        self.cell_offsets = offsets_of(np.bincount(owner, minlength=c.n_graphs))

    def sample(self, graphs: np.ndarray, rng: np.random.Generator) -> Sample:
        """All observed cells of the given graphs, and new draws."""
        tokens, _ = ranges(self.corpus.token_offsets, graphs)
        return Sample(
            tokens,
            len(tokens) / max(self.corpus.n_tokens, 1),
            self._properties(tokens, rng),
            self._relations(graphs, rng),
        )

    def _properties(self, tokens, rng) -> Cells:
        entries, owner = ranges(self.corpus.property_offsets, tokens)
        observed = self.corpus.properties[entries]
        count = np.bincount(owner, minlength=len(tokens))
        cells = np.full(len(tokens), self.corpus.n_properties)
        drawn, group, weight = self._draw(rng, cells, observed, count, count)
        values = filled(self.corpus.property_value, entries, len(entries), float)
        return _join((owner, observed), (group, drawn), weight, values)

    def _relations(self, graphs, rng) -> Cells:
        c = self.corpus
        arcs, graph = ranges(c.arc_offsets, graphs)
        n = c.lengths[graphs]
        start = np.cumsum(n) - n
        shift = start[graph] - c.token_offsets[graphs][graph]
        observed = c.arc_relation[arcs], c.arc_head[arcs] + shift, c.arc_dependent[arcs] + shift
        values = filled(c.arc_weight, arcs, len(arcs), float)
        if self.weight == UNBIASED:
            cells = self.relation_cells[graphs]
            count = np.bincount(graph, minlength=len(graphs))
            taken, owner = ranges(self.cell_offsets, graphs)
            taken = self.cell[taken], np.bincount(owner, minlength=len(graphs))
            drawn, group, weight = self._draw(rng, cells, *taken, count)
            size = n[group]
            head, dependent = drawn // size % size + start[group], drawn % size + start[group]
            return _join(observed, (drawn // size**2, head, dependent), weight, values)
        entries, _ = ranges(self.taken_offsets, arcs)
        offsets = offsets_of(np.diff(self.taken_offsets)[arcs])
        draws = np.full(len(arcs), self.negatives)
        drawn, arc = draw_zeros(rng, self.corrupted[arcs], self.taken[entries], offsets, draws)
        corrupted = _corrupt(drawn, *(part[arc] for part in observed), n[graph][arc], start[graph][arc])
        return _join(observed, corrupted, np.full(len(drawn), float(self.weight)), values)

    def _draw(self, rng, cells, taken, sizes, count):
        """Draws for `count` [g] observed cells of each group, of those that are not among its taken ones.

        Args:
            taken: cells that are not drawn, `sizes` [g] of each group.

        Returns:
            The cells, their groups and their weights.
        """
        unbiased = self.weight == UNBIASED
        draws = self.negatives * (np.maximum(count, 1) if unbiased else count)
        drawn, group = draw_zeros(rng, cells, taken, offsets_of(sizes), draws)
        if unbiased:
            return drawn, group, (cells - sizes)[group] / draws[group]
        return drawn, group, np.full(len(drawn), float(self.weight))

    def _corruptions(self, n, relations):
        """Number the single corruptions of every arc, and list those that are observed or unknown.

        Arc (k, i, j) has n − 1 other heads, then n − 1 other dependents, then d − 1 other relations.
        """
        c = self.corpus
        count = len(c.arc_head) if relations else 0
        k, i, j = c.arc_relation[:count], c.arc_head[:count], c.arc_dependent[:count]
        first, n = np.repeat(c.token_offsets[:-1], np.diff(c.arc_offsets)), n[:count]
        if count and c.unknown_offsets is not None:  # behind the arcs, whose pairs alone are kept
            owner = np.repeat(np.arange(c.n_graphs), np.diff(c.unknown_offsets))
            hidden = (c.unknown_relation, c.unknown_head, c.unknown_dependent, c.token_offsets[owner],
                      c.lengths[owner])  # fmt: skip
            k, i, j, first, n = (np.concatenate(p) for p in zip((k, i, j, first, n), hidden, strict=True))
        parts = []
        for key, place, start in (
            (k * c.n_tokens + j, i - first, 0 * n),
            (k * c.n_tokens + i, j - first, n - 1),
            (i * c.n_tokens + j, k, 2 * (n - 1)),
        ):
            arc, other = _equal_pairs(key)
            arc, other = arc[arc < count], other[arc < count]
            parts.append((arc, start[arc] + place[other] - (place[other] > place[arc])))
        arc, taken = (np.concatenate(side) for side in zip(*parts, strict=True))
        self.taken = taken[np.lexsort((taken, arc))]
        self.taken_offsets = offsets_of(np.bincount(arc, minlength=count))
        self.corrupted = 2 * (n[:count] - 1) + c.n_relations - 1


def split_graphs(corpus: GraphCorpus, share: float, rng) -> tuple[GraphCorpus, GraphCorpus]:
    """The corpus without `share` of its sentences, and those; at least one sentence where share > 0.

    Empty graphs are in neither. Raises BoveError where nothing would be left.
    """
    graphs = np.flatnonzero(corpus.lengths)
    count = max(1, round(share * len(graphs))) if share else 0
    if len(graphs) <= count:
        raise BoveError(
            f"training: held_out {share:g} takes {count} of {len(graphs)} graphs with nodes, which leaves "
            "none to train on; set held_out to 0, which watches the training's own L, or give more graphs"
        )
    held = np.zeros(len(graphs), bool)
    held[rng.choice(len(graphs), count, replace=False)] = True
    return corpus.select(graphs[~held]), corpus.select(graphs[held])


def _join(observed, drawn, weight, values) -> Cells:
    m = len(observed[0])
    target = np.concatenate([values, np.zeros(len(weight))])
    index = tuple(np.concatenate(pair) for pair in zip(observed, drawn, strict=True))
    return Cells(index, target, np.concatenate([np.ones(m), weight]))


def _corrupt(number, k, i, j, n, start):
    """The corruption of that number (see `Sampler._corruptions`) of each arc; its tokens begin at `start`."""

    def other(number, value):
        return number + (number >= value)

    by_dependent, by_relation = number - (n - 1), number - 2 * (n - 1)
    head = np.where(by_dependent < 0, start + other(number, i - start), i)
    dependent = np.where((by_dependent >= 0) & (by_relation < 0), start + other(by_dependent, j - start), j)
    relation = np.where(by_relation >= 0, other(by_relation, k), k)
    return relation, head, dependent


def _equal_pairs(key):
    """All ordered pairs (a, b), a ≠ b, with key[a] = key[b]."""
    order = np.argsort(key, kind="stable")
    _, start, count = np.unique(key[order], return_index=True, return_counts=True)
    size, first = np.repeat(count, count), np.repeat(start, count)
    a = np.repeat(order, size)
    within = np.arange(len(a)) - np.repeat(np.cumsum(size) - size, size)
    b = order[np.repeat(first, size) + within]
    return a[a != b], b[a != b]
