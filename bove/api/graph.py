"""One graph: nodes with any number of properties, and labelled directed edges."""

import numbers
import operator
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from bove.errors import BoveError

# What is handed over from Python, looked at before it is used: what it can not be is one sentence.


def seed_of(random_state: Any) -> int:
    """A seed of what scikit-learn takes as random_state.

    Raises:
        BoveError: something else than a whole number of at least 0, a RandomState or None.
    """
    whole = isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool)
    if whole and int(random_state) >= 0:
        return int(random_state)
    if random_state is not None and not isinstance(random_state, np.random.RandomState):
        raise BoveError(
            f"random_state {random_state!r}: must be a whole number of at least 0, a RandomState or None"
        )
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(2**31 - 1))


def vector_of(name: str, vector: Any, rank: int | None) -> np.ndarray:
    """The vector [r] of a property as single-precision numbers; of any length where the rank is None.

    Raises:
        BoveError: no row of finite numbers, or one of another length.
    """
    try:
        row = np.asarray(vector, np.float32)
    except (TypeError, ValueError):
        row = np.empty((0, 0), np.float32)
    if row.ndim != 1 or not np.isfinite(row).all():
        raise BoveError(f"vector of {name!r}: give one row of finite numbers")
    if rank is not None and len(row) != rank:
        raise BoveError(f"vector of {name!r}: {len(row)} numbers, but {rank} are due, as the rank says")
    return row


def missing(value: Any) -> bool:
    """Whether a value stands for none: None, or not a number or a time, as tables have it in empty cells."""
    if value is None or type(value).__name__ == "NAType":  # pandas.NA, which is neither equal nor different
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # an array
        return False


def series(given: Any, what: str, due: str) -> Iterator[Any]:
    """An iterator over what was given.

    Raises:
        BoveError: a text, or something that is no series: what it is, and what is due.
    """
    if isinstance(given, str) or not isinstance(given, Iterable):
        found = f"the text {given!r}" if isinstance(given, str) else f"{given!r} is no series"
        raise BoveError(f"{what}: {found}; give {due}")
    return iter(given)


# One graph: nodes with any number of properties, and labelled directed edges.

Edge = tuple[str, int, int]


def _fits(edge: object, n: int) -> bool:
    if type(edge) is not tuple or len(edge) != 3 or not isinstance(edge[0], str):
        return False
    return all(type(end) is int and 0 <= end < n for end in edge[1:])


class Graph:
    """Nodes, numbered from 0, and edges between them.

    A node may have several properties or none; two nodes may have several edges of different labels, and a
    node may have edges to itself. The same property of a node, or the same edge, given twice counts once.

    Attributes:
        nodes: the properties of each node, such as ("word:dog", "pos:NN"). What stands before the first
            colon is the property's kind; kinds are told apart when the loss is reported.
        edges: (label, head, dependent); in the model X[label, head, dependent] = 1.
        id: the graph's name, for messages and files.
        names: what each node is called outside, where it is; or none at all.
    """

    __slots__ = ("edges", "id", "names", "nodes")

    def __init__(
        self,
        nodes: Iterable[Iterable[str]] = (),
        edges: Iterable[Sequence] = (),
        id: str = "",
        names: Iterable[Hashable] = (),
    ):
        """Make a graph of all its parts, or an empty one to be added to.

        Raises:
            BoveError: properties or labels that are no text, edges that are no (label, head, dependent) or
                that go beyond the nodes, or another number of names than of nodes.
        """
        if not isinstance(id, str):
            raise BoveError(f"graph {id!r}: the id of a graph is a text")
        self.id = id
        self.nodes: list[tuple[str, ...]] = []
        self.edges: list[Edge] = []
        self.names: list[Hashable] = []
        given = list(series(names, f"{self._shown()}: names", "the list of the nodes' names"))
        listed = list(series(nodes, f"{self._shown()}: nodes", "a list with the properties of each node"))
        if given and len(given) != len(listed):
            raise BoveError(
                f"{self._shown()}: {len(given)} names for {len(listed)} nodes; give each one or none"
            )
        for number, properties in enumerate(listed):
            what = f"{self._shown()}: node {number}"
            self.add_node(*series(properties, what, "the list of its properties"))
        self.names = given
        for edge in series(edges, f"{self._shown()}: edges", "a list of (label, head, dependent)"):
            if isinstance(edge, str) or not isinstance(edge, Sequence) or len(edge) != 3:
                raise BoveError(f"{self._shown()}: {edge!r} is no edge; write (label, head, dependent)")
            self.add_edge(*edge)

    def add_node(self, *properties: str, name: Hashable | None = None) -> int:
        """Add a node; its number. A name is for all nodes or none.

        Raises:
            BoveError: a property that is no text, or a name where other nodes have none.
        """
        for text in properties:
            if not isinstance(text, str):
                raise BoveError(f"{self._shown()}: {text!r} is no property; a property is a text")
        if name is not None:
            if len(self.names) != len(self.nodes):
                raise BoveError(
                    f"{self._shown()}: name {name!r}, but other nodes have none; name all or none"
                )
            self.names.append(name)
        elif self.names:
            raise BoveError(f"{self._shown()}: a node without a name, but others have one; name all or none")
        self.nodes.append(tuple(dict.fromkeys(properties)))
        return len(self.nodes) - 1

    def add_edge(self, label: str, head: int, dependent: int) -> None:
        """Add an edge between two nodes that are there.

        Raises:
            BoveError: a label that is no text, or a node that is not there.
        """
        if not isinstance(label, str):
            raise BoveError(f"{self._shown()}: {label!r} is no label of an edge; a label is a text")
        ends = []
        for end in (head, dependent):
            try:
                ends.append(operator.index(end))
            except TypeError as e:
                raise BoveError(f"{self._shown()}: {end!r} is no node; name nodes by number, from 0") from e
            if not 0 <= ends[-1] < len(self.nodes):
                raise BoveError(
                    f"{self._shown()}: an edge {label!r} of node {end}, but there are "
                    f"{len(self.nodes)} nodes, numbered from 0"
                )
        self.edges.append((label, ends[0], ends[1]))

    def check(self) -> None:
        """See that nodes and edges, which anybody may change, are still those of a graph.

        Raises:
            BoveError: something among them that `add_node` and `add_edge` would not have put there.
        """
        n = len(self.nodes)
        for properties in self.nodes:
            if type(properties) is not tuple or not all(isinstance(text, str) for text in properties):
                raise BoveError(f"{self._shown()}: {properties!r} is no node; add nodes with add_node")
        for edge in self.edges:
            if not _fits(edge, n):
                raise BoveError(
                    f"{self._shown()}: {edge!r} is no edge between its {n} nodes; add edges with add_edge"
                )

    def _shown(self) -> str:
        return f"graph {self.id!r}" if self.id else "graph"

    def __len__(self) -> int:
        """Number of nodes."""
        return len(self.nodes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return all(getattr(self, part) == getattr(other, part) for part in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self._shown()}: {len(self.nodes)} nodes, {len(self.edges)} edges>"
