"""Checking files of graphs that the package reads from Python: JSON lines and triples."""

from collections import Counter

from bove.api.names import kind_of
from bove.api.readers import numbered_graphs, numbered_rows
from bove.check.report import Report, most_frequent
from bove.errors import BoveError
from bove.oddities import note

NO_NODES = "graphs without nodes"
NO_PROPERTIES = "graphs in which a node has no property"
AGAIN = "graphs in which an edge stands twice, and counts once"
SAME_ID = "graphs of an id that stood before"
REPEATED = "triples that stood before, and count once"
LOOP = "triples of a node with itself"


def check_json_graphs(report: Report) -> None:
    """Fill in a report on graphs of JSON lines.

    Raises:
        BoveError: a damaged line, or no graph.
    """
    report.kind = "graphs (JSON lines)"
    sizes: list[int] = []
    kinds: Counter[str] = Counter()
    relations: Counter[str] = Counter()
    ids: set[str] = set()
    for number, graph in numbered_graphs(report.path):
        sizes.append(len(graph))
        for properties in graph.nodes:
            kinds.update(map(kind_of, properties))
        relations.update(label for label, _, _ in graph.edges)
        for kind, holds in (
            (NO_NODES, not len(graph)),
            (NO_PROPERTIES, not all(graph.nodes)),
            (AGAIN, len(set(graph.edges)) < len(graph.edges)),
            (SAME_ID, graph.id in ids),
        ):
            if holds:
                note(report.oddities, kind, number)
        ids |= {graph.id} - {""}
    report.facts |= {
        "graphs": len(sizes),
        "nodes": sum(sizes),
        "largest graph": f"{max(sizes, default=0):,} nodes",
        "properties by kind": most_frequent(Counter({name or "(none)": n for name, n in kinds.items()})),
        "edges": relations.total(),
        "relations": f"{len(relations):,}: {most_frequent(relations)}",
    }
    if not any(sizes):
        raise BoveError(f"{report.path}: no graph has a node; give graphs with nodes")


def check_triples(report: Report, encoding: str) -> None:
    """Fill in a report on triples.

    Raises:
        BoveError: a line that is no triple, or none at all.
    """
    report.kind = "triples (head, relation, dependent)"
    nodes: set[str] = set()
    relations: Counter[str] = Counter()
    seen: set[tuple[str, ...]] = set()
    for number, row in numbered_rows(report.path, 3, encoding=encoding):
        head, relation, dependent = row
        nodes |= {head, dependent}
        relations[relation] += 1
        if tuple(row) in seen:
            note(report.oddities, REPEATED, number)
        if head == dependent:
            note(report.oddities, LOOP, number)
        seen.add(tuple(row))
    report.facts |= {
        "triples": relations.total(),
        "nodes": len(nodes),
        "relations": f"{len(relations):,}: {most_frequent(relations)}",
    }
    if not relations:
        raise BoveError(f"{report.path}: no triple; give lines of head, relation and dependent")
