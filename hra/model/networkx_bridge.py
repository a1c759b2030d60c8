"""Hierarchies from and to networkx graphs, for inspection, import and small references; never on a hot path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hra.errors import HierarchyError, MissingExtra

if TYPE_CHECKING:
    import networkx

    from hra.model.hierarchy import Hierarchy, Mode


def from_networkx(kind: type[Hierarchy], graph: Any, cost: str, mode: Mode | Literal["dag"]) -> Hierarchy:
    """A hierarchy whose nodes are numbered as ``list(graph)``; edges lead from coarse to fine.

    Parameters
    ----------
    kind : `hra.Hierarchy`, which is passed so that its module imports this one and not both each other.
    graph : networkx.DiGraph, every node with the attribute named by ``cost``. Further attributes that all nodes share
        and that are numbers become node attributes.
    mode : as in `Hierarchy.tree`, or "dag" where a node may have several predecessors and every node is optional.

    Raises
    ------
    HierarchyError : an undirected or multi graph, a missing cost, a cycle, or two parents in a tree.
    MissingExtra : networkx is not installed.
    """
    if not isinstance(graph, _networkx().DiGraph) or graph.is_multigraph():
        raise HierarchyError("the graph must be a networkx.DiGraph", where=type(graph).__name__)
    number = {name: i for i, name in enumerate(graph)}
    costs = [_number(graph, name, cost) for name in graph]
    attributes = _shared_numbers(graph, cost)
    edges = np.array([(number[a], number[b]) for a, b in graph.edges], np.int64).reshape(-1, 2)
    if mode == "dag":
        return kind.dag(costs, edges, attributes=attributes)
    return kind.tree(_parents(graph, number), costs, mode=mode, attributes=attributes)


def to_networkx(hierarchy: Hierarchy) -> networkx.DiGraph:
    """The refinements as a graph: node r carries ``cost``, ``adds`` and ``removes`` (lists of node ids).

    Raises
    ------
    MissingExtra : networkx is not installed.
    """
    graph = _networkx().DiGraph()
    (added_at, added), (removed_at, removed) = hierarchy.added_nodes, hierarchy.removed_nodes
    for r, cost in enumerate(hierarchy.cost.tolist()):
        adds = added[added_at[r] : added_at[r + 1]].tolist()
        removes = removed[removed_at[r] : removed_at[r + 1]].tolist()
        graph.add_node(r, cost=cost, adds=adds, removes=removes)
    graph.add_edges_from(hierarchy.edges.tolist())
    return graph


def _networkx() -> Any:
    try:
        import networkx
    except ImportError as error:
        raise MissingExtra.of("networkx", "networkx") from error
    return networkx


def _number(graph: Any, name: Any, attribute: str) -> float:
    value = graph.nodes[name].get(attribute)
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        fix = f"set graph.nodes[{name!r}][{attribute!r}]"
        raise HierarchyError(f"the node has no number {attribute!r}", where=f"node {name!r}", fix=fix)
    return float(value)


def _shared_numbers(graph: Any, cost: str) -> dict[str, list[float]]:
    """Attributes other than ``cost`` that are a number on every node."""
    records = [data for _, data in graph.nodes(data=True)]
    names = set.intersection(*(set(record) for record in records)) - {cost} if records else set()
    numeric = (n for n in sorted(names) if all(isinstance(record[n], (int, float, np.number)) for record in records))
    return {name: [record[name] for record in records] for name in numeric}


def _parents(graph: Any, number: dict[Any, int]) -> np.ndarray:
    parent = np.full(len(number), -1, np.int64)
    for name, i in number.items():
        coarser = list(graph.predecessors(name))
        if len(coarser) > 1:
            fix = "remove one edge, or use mode='dag'"
            raise HierarchyError("a node of a tree has two parents", where=f"{name!r}: {coarser[:3]!r}", fix=fix)
        if coarser:
            parent[i] = number[coarser[0]]
    return parent
