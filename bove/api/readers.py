"""Graphs from networkx and from files: dependency trees, JSON lines, triples; vectors of their properties."""

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from bove.api.graph import Graph, checked, each_property, mapped, missing, number_of, series
from bove.errors import BoveError, finite
from bove.files import atomic_write, check_text, read_lines, read_object
from bove.text.conll import Sentence, read_sentences
from bove.text.vectors import WordVectors
from bove.text.vocabulary import ADJACENCY

if TYPE_CHECKING:
    import networkx
    import pandas

EDGE, LABEL = "edge", "label"
Properties = Iterable[str] | Callable[[Hashable, Mapping[str, Any]], Iterable[str]] | None
_TRIPLE = "head, relation, dependent"
Triples = Union[str, PathLike[str], Iterable[Sequence], "pandas.DataFrame", np.ndarray]
# What columns of triples are called, in the order of their parts.
_COLUMNS = ("head", "relation", "tail"), ("head", "relation", "dependent"), ("subject", "predicate", "object")
_KEYS = ("nodes", "edges", "id", "names", "unknown")


class _WordProperties(Mapping[str, np.ndarray]):
    """Properties `word:…` of a mapped file, read when asked for."""

    def __init__(self, vectors: WordVectors, prefix: str):
        self._vectors, self._prefix = vectors, prefix

    def _row(self, name: object) -> int:
        if not isinstance(name, str) or not name.startswith(self._prefix):
            return -1
        return int(self._vectors.find([name.removeprefix(self._prefix)])[0])

    def __contains__(self, name: object) -> bool:
        return self._row(name) >= 0

    def __getitem__(self, name: str) -> np.ndarray:
        row = self._row(name)
        if row < 0:
            raise KeyError(name)
        return self._vectors.rows(np.array([row]))[0]

    def __len__(self) -> int:
        return len(self._vectors)

    def __iter__(self) -> Iterator[str]:
        return (self._prefix + self._vectors.word(row) for row in range(len(self)))


def read_vectors(path: str | Path, prefix: str = "word:") -> Mapping[str, np.ndarray]:
    """Word vectors that `bove vectors` wrote, mapped, by the property that a word is: `word:dog`.

    Raises:
        BoveError: the file is missing, damaged or something else.
    """
    return _WordProperties(WordVectors.open(path), prefix)


def from_networkx(
    network: "networkx.Graph[Any]", properties: Properties = None, label: str | None = LABEL, id: str = "",
    weight: str | None = None, values: str | Iterable[str] = (), unknown: Triples = (),
) -> Graph:  # fmt: skip
    """The graph of a networkx graph of any kind; its nodes keep their order, and their keys as names.

    An edge of an undirected graph goes both ways (a loop once). Parallel edges of one relation count as one,
    or, with `weight`, by the sum of their weights; those of different relations all count.

    Args:
        network: Graph, DiGraph, MultiGraph or MultiDiGraph.
        properties: names of the node attributes that are properties, all by default; or a function of a
            node's key and attributes that gives its properties. An attribute `size` of the value 3 is the
            property `size:3`; of a list, tuple or set each item is one; None and not a number are none.
        label: edge attribute that is the relation. Edges without it have their key as relation, where that
            is a text, as multigraphs may have it; else `edge`.
        id: the graph's name; by default the network's.
        weight: edge attribute that is the weight; edges without it have 1. By default none is.
        values: node attributes that are numbers and stay so: `size` of the value 3 is the property `size` of
            the value 3, a list or an array of numbers the properties `size:0`, `size:1`, …
        unknown: (head, relation, dependent) of which nothing is known, by the nodes' keys; of an undirected
            graph the other way round too.

    Raises:
        BoveError: no networkx graph, an attribute that no node, or no edge, has, properties that are no
            texts, weights and values that are no finite numbers, or an unknown triple of no node.
    """
    if not hasattr(network, "is_directed") or not hasattr(network, "nodes"):
        raise BoveError(f"{type(network).__name__} is not a networkx graph")
    find = properties if callable(properties) else _attributes(network, properties)
    kept = [values] if isinstance(values, str) else list(values)
    if kept and len(network):
        _check_known("node", kept, (data for _, data in network.nodes(data=True)))
    graph, numbers = Graph(id=id or str(getattr(network, "name", "") or "")), dict[Hashable, int]()
    for key, data in network.nodes(data=True):
        given = data if callable(properties) else {name: data[name] for name in data if name not in kept}
        own = each_property(find(key, given), f"properties of node {key!r}")
        valued = chain.from_iterable(_values(name, data[name]) for name in kept if name in data)
        numbers[key] = graph.add_node(*own, *valued, name=key)
    if label not in (None, LABEL) and network.number_of_edges():
        _check_known("edge", [label], (data for *_, data in network.edges(data=True)))
    if weight is not None and network.number_of_edges():
        _check_known("edge", [weight], (data for *_, data in network.edges(data=True)))
    sums = dict[tuple[str, int, int], Any]()
    for head, dependent, relation, data in _edges(network, label):
        ends = [(numbers[head], numbers[dependent])]
        if not network.is_directed() and head != dependent:
            ends.append((numbers[dependent], numbers[head]))
        given = data.get(weight, 1) if weight is not None else 1
        if number_of(given) is None:
            raise BoveError(f"edge {head!r}, {dependent!r}: its weight is {given!r}; give a finite number")
        for i, j in ends:
            if weight is None:
                graph.add_edge(relation, i, j)
            else:
                sums[relation, i, j] = given + sums.get((relation, i, j), 0)
    for cell, total in sums.items():
        graph.add_edge(*cell, total)
    for head, relation, dependent, _ in each_triple(unknown):
        if strange := [k for k in (head, dependent) if not isinstance(k, Hashable) or k not in numbers]:
            raise BoveError(f"unknown: {(head, relation, dependent)!r}: the graph has no node {strange[0]!r}")
        graph.add_unknown(relation, numbers[head], numbers[dependent])
        if not network.is_directed():
            graph.add_unknown(relation, numbers[dependent], numbers[head])
    return graph


def _values(name: str, given: Any) -> Iterator[tuple[str, Any]]:
    """The properties of an attribute whose numbers stay numbers."""
    if missing(given):
        return
    several = isinstance(given, list | tuple | np.ndarray)
    yield from ((f"{name}:{i}", value) for i, value in enumerate(given)) if several else [(name, given)]


def _edges(network: Any, label: str | None) -> Iterator[tuple[Hashable, Hashable, str, Mapping]]:
    """Each edge with its relation and its attributes."""
    several = network.is_multigraph()
    for edge in network.edges(data=True, keys=True) if several else network.edges(data=True):
        found = edge[-1].get(label) if label is not None else None
        if missing(found):
            found = edge[2] if several and isinstance(edge[2], str) else EDGE
        yield edge[0], edge[1], str(found), edge[-1]


def _check_known(kind: str, names: Iterable[Any], data: Iterable[Mapping[str, Any]]) -> None:
    """BoveError for an attribute that no node, or no edge, has."""
    known = {name for own in data for name in own}
    for name in names:
        if name not in known:
            there = ", ".join(sorted(map(str, known)))
            raise BoveError(f"no {kind} has the attribute {name!r}; there are: {there}")


def _attributes(network: Any, chosen: Iterable[str] | None) -> Callable[..., Iterable[str]]:
    """A function that makes the chosen attributes of a node properties."""
    names = [chosen] if isinstance(chosen, str) else chosen
    wanted = None if names is None else list(series(names, "properties", "names of attributes of the nodes"))
    if wanted and len(network):
        _check_known("node", wanted, (data for _, data in network.nodes(data=True)))

    def find(_: Hashable, data: Mapping[str, Any]) -> Iterator[str]:
        for name, value in data.items():
            if not missing(value) and (wanted is None or name in wanted):
                if isinstance(value, Mapping | np.ndarray):
                    raise BoveError(
                        f"attribute {name!r} is {type(value).__name__}; make names of it by a function"
                    )
                items = value if isinstance(value, list | tuple | set | frozenset) else [value]
                for item in sorted(str(item) for item in items if not missing(item)):
                    yield f"{name}:{item}"

    return find


def read_conll(
    path: str | Path, columns: str = "gold", encoding: str = "utf-8", adjacency: bool = True,
    counts: Counter[str] | None = None,
) -> Iterator[Graph]:  # fmt: skip
    """Stream the trees of a CoNLL-2009 or CoNLL-U file, recognised by content, as graphs.

    A token has the properties `word:…` and `pos:…`, as they stand there; an edge goes from head to dependent.

    Args:
        columns: "gold" or "predicted" tag, head and label of CoNLL-2009.
        adjacency: whether an edge ADJACENCY goes from each token to the next.
        counts: gets the number of odd things in the file, by kind.

    Raises:
        BoveError: a malformed row, or a file without any head.
    """
    for sentence in read_sentences(path, columns, encoding, counts):
        yield from_sentence(sentence, adjacency)


def from_sentence(sentence: Sentence, adjacency: bool = True) -> Graph:
    """The graph of a tree, as `read_conll` makes it; without a node for the artificial root."""
    words = (f"word:{form}" for form in sentence.forms)
    tags = (f"pos:{tag}" for tag in sentence.tags)
    graph = Graph(zip(words, tags, strict=True), id=sentence.id)
    for dependent, (head, label) in enumerate(zip(sentence.heads, sentence.relations, strict=True)):
        if head > 0:
            graph.add_edge(label, head - 1, dependent)
    if adjacency:
        for token in range(1, len(graph)):
            graph.add_edge(ADJACENCY, token - 1, token)
    return graph


def read_json_lines(path: str | Path) -> Iterator[Graph]:
    """Stream graphs of one JSON object per line, gzip or not; blank lines are left out.

    Such as {"nodes": [["word:dog", "pos:NN"], ["word:barks"]], "edges": [["SBJ", 1, 0]], "id": "s1"};
    `edges`, `id` and `names` (of the nodes: texts or numbers) may be left out. A property with a value is
    ["degree", 3], an edge with a weight has this behind it, and `unknown` has cells as `Graph` takes them.

    Raises:
        BoveError: with the line, anything else.
    """
    return (graph for _, graph in numbered_graphs(path))


def numbered_graphs(path: str | Path) -> Iterator[tuple[int, Graph]]:
    """The same graphs with their line numbers."""
    for number, line in read_lines(path):
        if not line.strip(" \t\r"):
            continue
        record = read_object(path, number, line)
        check_text(path, number, json.dumps(record, ensure_ascii=False))
        if (unknown := [key for key in record if key not in _KEYS]) or "nodes" not in record:
            found = f"unknown key {unknown[0]!r}" if unknown else "no key 'nodes'"
            raise BoveError(f"{path}, line {number}: {found}; a graph has: {', '.join(_KEYS)}")
        try:
            _check_record(record)
            yield number, Graph(**record)
        except BoveError as e:
            raise BoveError(f"{path}, line {number}: {e}") from e


def _check_record(record: Mapping[str, Any]) -> None:
    """BoveError for a list that is something else, such as an object, or for a name that JSON cannot have."""
    for key in ("nodes", "edges", "names", "unknown"):
        if not isinstance(record.get(key, []), list):
            raise BoveError(f"{key!r} is not a list")
    for kind in ("nodes", "edges", "unknown"):
        for item in record.get(kind, []):
            if not isinstance(item, list):
                raise BoveError(f"{item!r} among the {kind} is not a list")
    for name in record.get("names", []):
        if not isinstance(name, str | int) or isinstance(name, bool):
            raise BoveError(f"{name!r} cannot name a node in JSON; give texts or whole numbers")


def write_json_lines(graphs: Iterable[Graph], path: str | Path) -> None:
    """Write graphs for `read_json_lines`, whole or not at all.

    Raises:
        BoveError: the file cannot be written, nodes have names other than texts and whole numbers, or a text
            has half a surrogate pair.
    """
    with atomic_write(path) as stream:
        for number, graph in enumerate(checked(graphs), 1):
            record = {key: getattr(graph, key) for key in _KEYS}
            _check_record({"names": graph.names})
            content = {key: value for key, value in record.items() if value or key == "nodes"}
            line = json.dumps(content, ensure_ascii=False)
            check_text(path, number, line)
            stream.write(f"{line}\n")


def each_triple(triples: Triples) -> Iterator[tuple[Hashable, str, Hashable, Any]]:
    """(head, relation, dependent, weight) of each; for arguments and errors see `from_triples`."""
    given: Any = triples
    if isinstance(given, str | PathLike):
        given = (row for _, row in file_triples(Path(given)))
    elif (shape := getattr(given, "shape", None)) is not None:
        if len(shape) != 2 or shape[1] not in (3, 4):
            said = f"triples: a table of shape {tuple(shape)}; give three columns: {_TRIPLE}"
            raise BoveError(f"{said}, and perhaps weights as a fourth")
        frame = hasattr(given, "itertuples")
        given = _ordered(given).itertuples(index=False, name=None) if frame else np.asarray(given).tolist()
    for triple in series(given, "triples", f"a list of ({_TRIPLE})"):
        if not isinstance(triple, Sequence) or isinstance(triple, str) or len(triple) not in (3, 4):
            raise BoveError(f"{triple!r} is not a triple; give ({_TRIPLE})")
        head, relation, dependent, weight = (*triple, 1)[:4]
        numbered = isinstance(relation, Integral) and not isinstance(relation, bool)
        yield head, str(relation) if numbered else relation, dependent, weight


def _ordered(frame: Any) -> Any:
    """A data frame whose columns are in the order of their names, where it has such."""
    columns = list(frame.columns)
    for named in _COLUMNS:
        order = [*named, "weight"][: len(columns)]
        if columns != order and set(columns) == set(order):
            return frame[order]
    return frame


def file_triples(
    path: str | Path, separator: str = "\t", encoding: str = "utf-8"
) -> Iterator[tuple[int, tuple[str, str, str, float]]]:
    """Line number and (head, relation, dependent, weight) of each line; the weight is 1 where it has none."""
    for number, cells in numbered_rows(path, 3, separator, encoding, weights=True):
        if number == 1 and set(map(str.lower, cells[:3])) in map(set, _COLUMNS):
            said = "names of columns, not a triple; delete the line, or give the data frame that pandas reads"
            raise BoveError(f"{path}, line 1: {said}")
        weight = finite(cells[3]) if len(cells) == 4 else 1
        if weight is None:
            raise BoveError(f"{path}, line {number}: {cells[3]!r} is not a weight, which is a finite number")
        yield number, (cells[0], cells[1], cells[2], weight)


def from_triples(
    triples: Triples,
    properties: Mapping[Hashable, Iterable[str]] | None = None, own_property: bool = True, id: str = "",
    unknown: Triples = (),
) -> Graph:  # fmt: skip
    """One graph of (head, relation, dependent) facts, its nodes numbered as they are first met.

    Args:
        triples: the path of a file as `read_triples` takes it; or a series of triples, read once; or a data
            frame or an array of three columns. A relation that is a whole number is called by its digits.
            A fourth part or column is the weight. A data frame whose columns are called head, relation and
            tail (or dependent), or subject, predicate and object, may have them, and weight, in any order.
        properties: of some nodes, or mappings from these to values; nodes that no triple has are isolated.
        own_property: whether each node has a property `node:…` of its own, and so a vector of its own in P.
            Without any property a node's vector comes from its edges alone, as in RESCAL.
        id: the graph's name.
        unknown: triples of which nothing is known, whether they are among the others or not.

    Raises:
        BoveError: a table or a triple of other parts, a weight that is no finite number, a node
            without identity, such as None, properties and relations that are not text, or nodes whose own
            properties read alike, such as 1 and "1".
    """
    graph = Graph(id=id or (Path(triples).name if isinstance(triples, str | PathLike) else ""))
    numbers, own = dict[Hashable, int](), dict[str, Hashable]()
    given = mapped(properties, "properties", "the properties of each node")

    def node(name: Hashable) -> int:
        if not isinstance(name, Hashable) or missing(name):
            raise BoveError(f"{name!r} cannot name a node; give a text, a number or a tuple of such")
        if name not in numbers:
            further = each_property(given.get(name, ()), f"properties of {name!r}")
            named = f"node:{name}"
            if own_property and named in own:
                raise BoveError(f"nodes {own[named]!r} and {name!r} read alike; rename one of them")
            own[named] = name
            numbers[name] = graph.add_node(*([named] if own_property else ()), *further, name=name)
        return numbers[name]

    for number, (head, relation, dependent, weight) in enumerate(each_triple(triples), 1):
        try:
            graph.add_edge(relation, node(head), node(dependent), weight)
        except BoveError as e:
            raise BoveError(f"triple {number}: {e}") from e
    for head, relation, dependent, _ in each_triple(unknown):
        graph.add_unknown(relation, node(head), node(dependent))
    for name in given:
        node(name)
    return graph


def read_triples(
    path: str | Path, properties: str | Path | None = None, separator: str = "\t", encoding: str = "utf-8",
    own_property: bool = True,
) -> Graph:  # fmt: skip
    """One graph of a file with `head, relation, dependent` in each line, as knowledge bases come, and perhaps
    a weight.

    Args:
        path: the triples, gzip or not; blank lines are left out.
        properties: a second file, `node, property` in each line.
        separator: between the cells of both files.
        encoding: of both files.
        own_property: as in `from_triples`.

    Raises:
        BoveError: with the line, other than three cells and a weight (two, of properties), and a line with
            the names of the columns.
    """
    owned: dict[Hashable, list[str]] = {}
    if properties is not None:
        for _, (node, name) in numbered_rows(properties, 2, separator, encoding):
            owned.setdefault(node, []).append(name)
    triples = (row for _, row in file_triples(path, separator, encoding))
    return from_triples(triples, owned, own_property, id=str(Path(path).name))


def numbered_rows(
    path: str | Path, count: int, separator: str = "\t", encoding: str = "utf-8", weights: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of each line that is not blank: 3 of triples, and perhaps a weight, or 2."""
    if not separator or "\n" in separator:
        raise BoveError(f"separator {separator!r}: cannot separate cells; give a tab or another mark")
    for number, line in read_lines(path, encoding):
        cells = line.split(separator)
        if not line.strip(" \t\r"):
            continue
        if not count <= len(cells) <= count + weights or not all(cells):
            due = _TRIPLE if count == 3 else "node, property"
            found = f"{len(cells)}" if all(cells) else f"{len(cells)}, not all filled"
            other = "; read_triples takes another separator" if len(cells) == 1 and count == 3 else ""
            said = f"needs {count} cells ({due}) separated by {separator!r}, but has {found}{other}"
            raise BoveError(f"{path}, line {number}: {said}")
        yield number, cells
