"""Graphs from networkx."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from bove.api.graph import Graph
from bove.errors import BoveError

if TYPE_CHECKING:
    import networkx

EDGE = "edge"
Properties = Iterable[str] | Callable[[Hashable, Mapping[str, Any]], Iterable[str]] | None


def from_networkx(
    network: "networkx.Graph[Any]", properties: Properties = None, label: str | None = "label", id: str = ""
) -> Graph:
    """The graph of a networkx graph of any kind; its nodes keep their order, and their keys as names.

    An edge of an undirected graph goes both ways (a loop once). Each of several edges counts.

    Args:
        network: Graph, DiGraph, MultiGraph or MultiDiGraph.
        properties: names of the node attributes that are properties, all by default; or a function of a
            node's key and attributes that gives its properties. An attribute `size` of the value 3 is the
            property `size:3`; of a list, tuple or set each item is one; of None none.
        label: edge attribute that is the relation; edges without it have the relation `edge`.
        id: the graph's name; by default the network's.

    Raises:
        BoveError: no networkx graph, or an attribute that no node has.
    """
    if not hasattr(network, "is_directed") or not hasattr(network, "nodes"):
        raise BoveError(f"{type(network).__name__} is no networkx graph")
    find = properties if callable(properties) else _attributes(network, properties)
    graph, numbers = Graph(id=id or str(getattr(network, "name", "") or "")), dict[Hashable, int]()
    for key, data in network.nodes(data=True):
        numbers[key] = graph.add_node(*find(key, data), name=key)
    for head, dependent, data in network.edges(data=True):
        found = data.get(label) if label is not None else None
        relation = EDGE if found is None else str(found)
        graph.add_edge(relation, numbers[head], numbers[dependent])
        if not network.is_directed() and head != dependent:
            graph.add_edge(relation, numbers[dependent], numbers[head])
    return graph


def _attributes(network: Any, chosen: Iterable[str] | None) -> Callable[..., Iterable[str]]:
    """A function that makes the chosen attributes of a node properties."""
    wanted = None if chosen is None else [chosen] if isinstance(chosen, str) else list(chosen)
    if wanted and len(network):
        known = {name for _, data in network.nodes(data=True) for name in data}
        for name in wanted:
            if name not in known:
                raise BoveError(
                    f"no node has the attribute {name!r}; there are: {', '.join(map(str, known))}"
                )

    def find(_: Hashable, data: Mapping[str, Any]) -> Iterator[str]:
        for name, value in data.items():
            if value is not None and (wanted is None or name in wanted):
                several = isinstance(value, list | tuple | set | frozenset)
                for item in sorted(map(str, value)) if several else [value]:
                    yield f"{name}:{item}"

    return find
