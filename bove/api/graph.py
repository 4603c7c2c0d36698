"""One graph: nodes with any number of properties, and labelled directed edges; and checks of user input."""

import numbers
import operator
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from bove.errors import BoveError

Vectors = Mapping[str, np.ndarray]
Edge = tuple[str, int, int]


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


def missing(value: Any) -> bool:
    """Whether a value is that of an empty cell in a table: None, or not a number, or not a time."""
    if value is None or type(value).__name__ == "NAType":  # pandas.NA, which is neither equal nor different
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # an array
        return False


def mapped(given: Mapping | None, what: str = "vectors", due: str = "the vector of each property") -> Mapping:
    """What is given by name, nothing where None is given; BoveError for something else."""
    if given is not None and not isinstance(given, Mapping):
        raise BoveError(f"{what} is {type(given).__name__}; give {due} by its name")
    return given or {}


def series(given: Any, what: str, due: str) -> Iterator[Any]:
    """An iterator over what was given.

    Raises:
        BoveError: a text, or something that is not a series: what it is, and what is due.
    """
    if isinstance(given, str) or not isinstance(given, Iterable):
        found = f"the text {given!r}" if isinstance(given, str) else f"{given!r} is not a series"
        raise BoveError(f"{what}: {found}; give {due}")
    return iter(given)


class Graph:
    """Nodes, numbered from 0, and edges between them.

    A node may have several properties or none; two nodes may have several edges of different labels, and a
    node may have edges to itself. The same property of a node, or the same edge, given twice counts once.

    Attributes:
        nodes: the properties of each node, such as ("word:dog", "pos:NN"). The part before the first colon
            is the property's kind; each kind is a term of the loss.
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
            BoveError: properties or labels that are not text, edges that are not (label, head, dependent) or
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
            raise self._error(f"{len(given)} names for {len(listed)} nodes; give each one or none")
        for number, properties in enumerate(listed):
            what = f"{self._shown()}: node {number}"
            self.add_node(*series(properties, what, "the list of its properties"))
        self.names = given
        for edge in series(edges, f"{self._shown()}: edges", "a list of (label, head, dependent)"):
            if isinstance(edge, str) or not isinstance(edge, Sequence) or len(edge) != 3:
                raise self._error(f"{edge!r} is not an edge; write (label, head, dependent)")
            self.add_edge(*edge)

    def add_node(self, *properties: str, name: Hashable | None = None) -> int:
        """Add a node; its number. A name is for all nodes or none.

        Raises:
            BoveError: a property that is not text, or a name where other nodes have none.
        """
        for text in properties:
            if not isinstance(text, str):
                raise self._error(f"{text!r} is not a property; a property is a text")
        if name is not None:
            if len(self.names) != len(self.nodes):
                raise self._error(f"name {name!r}, but other nodes have none; name all or none")
            self.names.append(name)
        elif self.names:
            raise self._error("a node without a name, but others have one; name all or none")
        self.nodes.append(tuple(dict.fromkeys(properties)))
        return len(self.nodes) - 1

    def add_edge(self, label: str, head: int, dependent: int) -> None:
        """Add an edge between two nodes that are there.

        Raises:
            BoveError: a label that is not text, or a node that is not there.
        """
        if not isinstance(label, str):
            raise self._error(f"{label!r} is not a label of an edge; a label is a text")
        ends = []
        for end in (head, dependent):
            try:
                ends.append(operator.index(end))
            except TypeError as e:
                raise self._error(f"{end!r} is not a node; name nodes by number, from 0") from e
            if not 0 <= ends[-1] < len(self.nodes):
                there = f"there are {len(self.nodes)} nodes, numbered from 0"
                raise self._error(f"an edge {label!r} of node {end}, but {there}")
        self.edges.append((label, ends[0], ends[1]))

    def check(self) -> None:
        """Check nodes and edges, which anybody may change.

        Raises:
            BoveError: something among them that `add_node` and `add_edge` would not have put there.
        """
        n = len(self.nodes)
        for properties in self.nodes:
            if type(properties) is not tuple or not all(isinstance(text, str) for text in properties):
                raise self._error(f"{properties!r} is not a node; add nodes with add_node")
        for edge in self.edges:
            fits = type(edge) is tuple and len(edge) == 3 and isinstance(edge[0], str)
            if not (fits and all(type(end) is int and 0 <= end < n for end in edge[1:])):
                raise self._error(f"{edge!r} is not an edge between its {n} nodes; add edges with add_edge")

    def _shown(self) -> str:
        return f"graph {self.id!r}" if self.id else "graph"

    def _error(self, said: str) -> BoveError:
        return BoveError(f"{self._shown()}: {said}")

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


def checked(graphs: Iterable[Graph]) -> Iterator[Graph]:
    """The graphs; BoveError for something else, with its place."""
    if isinstance(graphs, Graph):
        raise BoveError("one Graph is given where several may stand; put it in a list")
    if hasattr(graphs, "is_directed"):
        raise BoveError("a networkx graph is given; give a list of what bove.from_networkx makes of each")
    if not isinstance(graphs, Iterable):
        raise BoveError(f"graphs are due, but {type(graphs).__name__} is given; give a list of Graph")
    for number, graph in enumerate(graphs):
        if hasattr(graph, "is_directed"):
            raise BoveError(f"item {number} is a networkx graph; make a Graph of it with bove.from_networkx")
        if not isinstance(graph, Graph):
            kind = type(graph).__name__
            raise BoveError(f"item {number} is {kind}, not a Graph; see bove.Graph and the readers")
        yield graph
