"""One graph: nodes with any number of properties, and labelled directed edges; and checks of user input."""

import numbers
import operator
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from bove.errors import BoveError, finite

Vectors = Mapping[str, np.ndarray]
Edge = tuple[str, int, int] | tuple[str, int, int, float]
Property = str | tuple[str, float]


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


def number_of(value: Any) -> float | None:
    """A finite number as a float; None for anything else, such as a text or a truth value."""
    plain = isinstance(value, numbers.Real | np.number) and not isinstance(value, bool | np.bool_)
    return finite(value) if plain else None


class Graph:
    """Nodes, numbered from 0, and edges between them.

    A node may have several properties or none; two nodes may have several edges of different labels, and a
    node may have edges to itself. The same property of a node, or the same edge, given twice counts once.

    Attributes:
        nodes: the properties of each node, such as ("word:dog", "pos:NN"), or with a value other than 1
            ("word:dog", ("degree", 3.0)). The part before the first colon is the property's kind; each kind
            is a term of the loss.
        edges: (label, head, dependent), in the model X[label, head, dependent] = 1; or with another weight
            than 1 (label, head, dependent, weight).
        id: the graph's name, for messages and files.
        names: what each node is called outside, where it is; or none at all.
        unknown: (label, head, dependent) of cells of which nothing is known. Where there is no edge the model
            otherwise learns a 0. An edge that is unknown too does not count.
    """

    __slots__ = ("edges", "id", "names", "nodes", "unknown")

    def __init__(
        self,
        nodes: Iterable[Iterable[str]] = (),
        edges: Iterable[Sequence] = (),
        id: str = "",
        names: Iterable[Hashable] = (),
        unknown: Iterable[Sequence] = (),
    ):
        """Make a graph of all its parts, or an empty one to be added to.

        The properties of a node may be a mapping too, from properties to values.

        Raises:
            BoveError: properties or labels that are not text, edges that are not (label, head, dependent) or
                that go beyond the nodes, weights and values that are not finite numbers, or another number of
                names than of nodes.
        """
        if not isinstance(id, str):
            raise BoveError(f"graph {id!r}: the id of a graph is a text")
        self.id = id
        self.nodes: list[tuple[Property, ...]] = []
        self.edges: list[Edge] = []
        self.names: list[Hashable] = []
        self.unknown: list[tuple[str, int, int]] = []
        given = list(series(names, f"{self._shown()}: names", "the list of the nodes' names"))
        listed = list(series(nodes, f"{self._shown()}: nodes", "a list with the properties of each node"))
        if given and len(given) != len(listed):
            raise self._error(f"{len(given)} names for {len(listed)} nodes; give each one or none")
        for number, properties in enumerate(listed):
            what = f"{self._shown()}: node {number}"
            self.add_node(*each_property(properties, what))
        self.names = [_plain(name) for name in given]
        for edge in series(edges, f"{self._shown()}: edges", "a list of (label, head, dependent)"):
            if isinstance(edge, str) or not isinstance(edge, Sequence) or len(edge) not in (3, 4):
                raise self._error(
                    f"{edge!r} is not an edge; write (label, head, dependent), or a weight behind these"
                )
            self.add_edge(*edge)
        for cell in series(unknown, f"{self._shown()}: unknown", "a list of (label, head, dependent)"):
            if isinstance(cell, str) or not isinstance(cell, Sequence) or len(cell) != 3:
                raise self._error(f"{cell!r} is not a cell; write (label, head, dependent)")
            self.add_unknown(*cell)

    def add_node(self, *properties: Property, name: Hashable | None = None) -> int:
        """Add a node; its number. A name is for all nodes or none.

        Raises:
            BoveError: a property that is neither text nor (text, value), or a name where other nodes have
                none.
        """
        own = [self._property(one) for one in properties]
        if name is not None:
            if len(self.names) != len(self.nodes):
                raise self._error(f"name {name!r}, but other nodes have none; name all or none")
            self.names.append(_plain(name))
        elif self.names:
            raise self._error("a node without a name, but others have one; name all or none")
        self.nodes.append(tuple(dict.fromkeys(own)))
        return len(self.nodes) - 1

    def _property(self, given: Any) -> Property:
        if isinstance(given, str):
            return given
        pair = isinstance(given, Sequence) and len(given) == 2 and isinstance(given[0], str)
        value = number_of(given[1]) if pair else None
        if value is None:
            raise self._error(
                f"{given!r} is not a property; a property is a text, or a text with a finite number"
            )
        return given[0] if value == 1 else (given[0], value)

    def add_edge(self, label: str, head: int, dependent: int, weight: float = 1) -> None:
        """Add an edge between two nodes that are there.

        Raises:
            BoveError: a label that is not text, a node that is not there, or a weight that is not a finite
                number.
        """
        cell, value = self._cell(label, head, dependent), number_of(weight)
        if value is None:
            raise self._error(f"an edge {label!r} of weight {weight!r}; a weight is a finite number")
        self.edges.append(cell if value == 1 else (*cell, value))

    def add_unknown(self, label: str, head: int, dependent: int) -> None:
        """Say that nothing is known of a cell: there may be such an edge or not.

        Raises:
            BoveError: a label that is not text, or a node that is not there.
        """
        self.unknown.append(self._cell(label, head, dependent))

    def _cell(self, label: Any, head: Any, dependent: Any) -> tuple[str, int, int]:
        if not isinstance(label, str):
            order = "; write (label, head, dependent)" if isinstance(head, str) else ""
            raise self._error(f"{label!r} is not a label of an edge; a label is a text{order}")
        ends = []
        for end in (head, dependent):
            try:
                ends.append(operator.index(end))
            except TypeError as e:
                raise self._error(f"{end!r} is not a node; name nodes by number, from 0") from e
            if not 0 <= ends[-1] < len(self.nodes):
                there = f"there are {len(self.nodes)} nodes, numbered from 0"
                raise self._error(f"an edge {label!r} of node {end}, but {there}")
        return label, ends[0], ends[1]

    def check(self) -> None:
        """Check nodes and edges, which anybody may change.

        Raises:
            BoveError: something among them that `add_node` and `add_edge` would not have put there.
        """
        n = len(self.nodes)
        for properties in self.nodes:
            if type(properties) is not tuple or not all(isinstance(p, str) or _valued(p) for p in properties):
                raise self._error(f"{properties!r} is not a node; add nodes with add_node")
        for edge in chain(self.edges, self.unknown):
            fits = type(edge) is tuple and len(edge) in (3, 4) and isinstance(edge[0], str)
            fits = fits and all(type(end) is int and 0 <= end < n for end in edge[1:3])
            if not (fits and all(map(_number, edge[3:]))):
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


def _plain(name: Any) -> Any:
    """A name, numbers and texts of numpy as those of Python, which are equal and can be written as JSON."""
    return name.item() if isinstance(name, np.generic) else name


def each_property(properties: Any, what: str) -> Iterator[Any]:
    """The properties of a node, of a mapping with their values; BoveError for no series."""
    if isinstance(properties, Mapping):
        return iter(properties.items())
    return series(properties, what, "the list of its properties")


def _number(value: Any) -> bool:
    return type(value) is float and finite(value) is not None


def _valued(given: Any) -> bool:
    return type(given) is tuple and len(given) == 2 and isinstance(given[0], str) and _number(given[1])


def checked(graphs: Iterable[Graph]) -> Iterator[Graph]:
    """The graphs; BoveError for something else, with its place."""
    if isinstance(graphs, Graph):
        raise BoveError("one Graph is given where several may stand; put it in a list")
    if hasattr(graphs, "is_directed"):
        raise BoveError("a networkx graph is given; give a list of what bove.from_networkx makes of each")
    if hasattr(graphs, "itertuples"):
        raise BoveError("a data frame is given; give a list of what bove.from_triples makes of each")
    if not isinstance(graphs, Iterable):
        raise BoveError(f"graphs are due, but {type(graphs).__name__} is given; give a list of Graph")
    for number, graph in enumerate(graphs):
        if hasattr(graph, "is_directed"):
            raise BoveError(f"item {number} is a networkx graph; make a Graph of it with bove.from_networkx")
        if not isinstance(graph, Graph):
            kind = type(graph).__name__
            if hasattr(graph, "itertuples"):
                raise BoveError(f"item {number} is a data frame; make a Graph of it with bove.from_triples")
            raise BoveError(f"item {number} is {kind}, not a Graph; see bove.Graph and the readers")
        yield graph
