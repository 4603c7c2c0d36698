"""Graphs from networkx."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from bove.api.checks import missing, series
from bove.api.graph import Graph
from bove.errors import BoveError

if TYPE_CHECKING:
    import networkx

EDGE = "edge"
LABEL = "label"
Properties = Iterable[str] | Callable[[Hashable, Mapping[str, Any]], Iterable[str]] | None


def from_networkx(
    network: "networkx.Graph[Any]", properties: Properties = None, label: str | None = LABEL, id: str = ""
) -> Graph:
    """The graph of a networkx graph of any kind; its nodes keep their order, and their keys as names.

    An edge of an undirected graph goes both ways (a loop once). Each of several edges counts.

    Args:
        network: Graph, DiGraph, MultiGraph or MultiDiGraph.
        properties: names of the node attributes that are properties, all by default; or a function of a
            node's key and attributes that gives its properties. An attribute `size` of the value 3 is the
            property `size:3`; of a list, tuple or set each item is one; None and not a number are none.
        label: edge attribute that is the relation. Edges without it have their key as relation, where that
            is a text, as multigraphs may have it; else `edge`.
        id: the graph's name; by default the network's.

    Raises:
        BoveError: no networkx graph, an attribute that no node, or no edge, has, or properties that are no
            texts.
    """
    if not hasattr(network, "is_directed") or not hasattr(network, "nodes"):
        raise BoveError(f"{type(network).__name__} is no networkx graph")
    find = properties if callable(properties) else _attributes(network, properties)
    graph, numbers = Graph(id=id or str(getattr(network, "name", "") or "")), dict[Hashable, int]()
    for key, data in network.nodes(data=True):
        own = series(find(key, data), f"properties of node {key!r}", "the list of its properties")
        numbers[key] = graph.add_node(*own, name=key)
    _check_label(network, label)
    for head, dependent, relation in _edges(network, label):
        graph.add_edge(relation, numbers[head], numbers[dependent])
        if not network.is_directed() and head != dependent:
            graph.add_edge(relation, numbers[dependent], numbers[head])
    return graph


def _edges(network: Any, label: str | None) -> Iterator[tuple[Hashable, Hashable, str]]:
    """Each edge with its relation."""
    several = network.is_multigraph()
    for edge in network.edges(data=True, keys=True) if several else network.edges(data=True):
        found = edge[-1].get(label) if label is not None else None
        if missing(found):
            found = edge[2] if several and isinstance(edge[2], str) else EDGE
        yield edge[0], edge[1], str(found)


def _check_label(network: Any, label: str | None) -> None:
    """BoveError where the relation is to be an attribute, other than by default, that no edge has."""
    if label is None or label == LABEL or not network.number_of_edges():
        return
    known = {name for *_, data in network.edges(data=True) for name in data}
    if label not in known:
        raise BoveError(
            f"no edge has the attribute {label!r}; there are: {', '.join(sorted(map(str, known)))}"
        )


def _attributes(network: Any, chosen: Iterable[str] | None) -> Callable[..., Iterable[str]]:
    """A function that makes the chosen attributes of a node properties."""
    names = [chosen] if isinstance(chosen, str) else chosen
    wanted = None if names is None else list(series(names, "properties", "names of attributes of the nodes"))
    if wanted and len(network):
        known = {name for _, data in network.nodes(data=True) for name in data}
        for name in wanted:
            if name not in known:
                raise BoveError(
                    f"no node has the attribute {name!r}; there are: {', '.join(map(str, known))}"
                )

    def find(_: Hashable, data: Mapping[str, Any]) -> Iterator[str]:
        for name, value in data.items():
            if not missing(value) and (wanted is None or name in wanted):
                several = isinstance(value, list | tuple | set | frozenset)
                items = value if several else [value]
                for item in sorted(str(item) for item in items if not missing(item)):
                    yield f"{name}:{item}"

    return find
