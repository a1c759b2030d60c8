"""Hierarchies from and to networkx graphs, for inspection, import and small references; never on a hot path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hra.errors import HierarchyError, needs
from hra.model.arrays import is_number

if TYPE_CHECKING:
    import networkx

Group = tuple[np.ndarray, np.ndarray]


def from_networkx(graph: Any, cost: str, *, dag: bool) -> tuple[list[float], np.ndarray, dict[str, list[float]]]:
    """What `Hierarchy.dag` or `Hierarchy.tree` takes, with nodes numbered as ``list(graph)``.

    Parameters
    ----------
    graph : networkx.DiGraph with edges from coarse to fine, every node with the attribute named by ``cost``. Further
        attributes that all nodes share and that are numbers become node attributes.
    dag : whether a node may have several predecessors; every node is optional then.

    Returns
    -------
    costs : [N]; order : edges int64 [E, 2] if ``dag``, else parents int64 [N]; attributes : of nodes, by name.

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
    return costs, edges if dag else _parents(graph, number), attributes


def to_networkx(costs: np.ndarray, added: Group, removed: Group, edges: np.ndarray) -> networkx.DiGraph:
    """Refinements as a graph: node r carries ``cost``, ``adds`` and ``removes`` (lists of node ids).

    Parameters
    ----------
    costs : [R]; added, removed : offsets [R + 1] and node ids; edges : int [E, 2], from coarse to fine.

    Raises
    ------
    MissingExtra : networkx is not installed.
    """
    graph = _networkx().DiGraph()
    for r, cost in enumerate(costs.tolist()):
        adds, removes = (nodes[at[r] : at[r + 1]].tolist() for at, nodes in (added, removed))
        graph.add_node(r, cost=cost, adds=adds, removes=removes)
    graph.add_edges_from(edges.tolist())
    return graph


def _networkx() -> Any:
    with needs("networkx", "networkx"):
        import networkx
    return networkx


def _number(graph: Any, name: Any, attribute: str) -> float:
    value = graph.nodes[name].get(attribute)
    try:
        if is_number(value):
            return float(value)
    except OverflowError:
        pass  # a whole number of more than 308 digits
    fix = f"set graph.nodes[{name!r}][{attribute!r}]"
    raise HierarchyError(f"the node has no number {attribute!r}", where=f"node {name!r}", fix=fix)


def _shared_numbers(graph: Any, cost: str) -> dict[str, list[float]]:
    """Attributes other than ``cost`` that have a text for a name and are a number on every node."""
    records = [data for _, data in graph.nodes(data=True)]
    names = set.intersection(*(set(record) for record in records)) - {cost} if records else set()
    texts = sorted(name for name in names if isinstance(name, str))
    numeric = (n for n in texts if all(isinstance(record[n], bool) or is_number(record[n]) for record in records))
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
