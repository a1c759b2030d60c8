"""From nodes to refinements: what each kind of hierarchy calls one step from coarse to fine.

Each function returns a `Topology`: which refinement adds and which removes every node, and which refinement must come
before which. `hra.model.hierarchy.Hierarchy` puts the result into level order and checks it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.compiling import njit
from hra.errors import HierarchyError
from hra.model.arrays import offsets_of
from hra.model.child_chains import child_chains
from hra.model.ordering import level_order

# Edges that are followed for each node, refinement and edge on average before a node's way is too long.
_STEPS = 100


@dataclass(frozen=True)
class Topology:
    """Refinements 0 .. size-1 in any order.

    added_by, removed_by : int32 [N], the refinement that activates or deactivates a node, -1 for none.
    edges : int32 [E, 2], (predecessor, successor) pairs of refinements.
    """

    size: int
    added_by: np.ndarray
    removed_by: np.ndarray
    edges: np.ndarray


def _none(size: int) -> np.ndarray:
    return np.full(size, -1, np.int32)


def _ranks(mask: np.ndarray) -> np.ndarray:
    """Consecutive numbers for the true entries, -1 elsewhere."""
    return np.where(mask, np.cumsum(mask) - 1, -1).astype(np.int32)


def pairs(predecessor: np.ndarray, successor: np.ndarray) -> np.ndarray:
    """The (predecessor, successor) rows [E, 2] that have a predecessor."""
    keep = predecessor >= 0
    return np.stack([predecessor[keep], successor[keep]], axis=1)


def replace(parent: np.ndarray) -> Topology:
    """One refinement per inner node: the node goes, all its children come."""
    has_parent = parent >= 0
    inner = np.zeros(parent.size, bool)
    inner[parent[has_parent]] = True
    split = _ranks(inner)
    added_by = _none(parent.size)
    added_by[has_parent] = split[parent[has_parent]]
    return Topology(int(inner.sum()), added_by, split, pairs(added_by[inner], split[inner]))


def add(parent: np.ndarray) -> Topology:
    """One refinement per node that has a parent: the node comes, its parent stays."""
    added_by = _ranks(parent >= 0)
    child = np.flatnonzero(parent >= 0)
    return Topology(child.size, added_by, _none(parent.size), pairs(added_by[parent[child]], added_by[child]))


def child_by_child(parent: np.ndarray, order: np.ndarray) -> Topology:
    """One refinement per node that has a parent, siblings in a chain by falling ``order`` [N].

    The last sibling removes the parent. With equal node costs the steps of a quadtree cost 1, 1, 1, 0, so every count
    is reachable.
    """
    child = np.flatnonzero(parent >= 0)
    child = child[np.lexsort((child, -order[child], parent[child]))].astype(np.int32)
    offsets = offsets_of(np.bincount(parent[child], minlength=parent.size))
    node, _, before, predecessors, last = child_chains(offsets, child, np.flatnonzero(parent < 0))
    if node.size < child.size:  # what hangs below no root hangs on a cycle, which this names
        level_order(pairs(parent, np.arange(parent.size, dtype=np.int32)), parent.size)
    steps = np.arange(node.size, dtype=np.int32)
    added_by, removed_by = _none(parent.size), _none(parent.size)
    added_by[node] = steps
    removed_by[parent[node[last]]] = steps[last]
    return Topology(node.size, added_by, removed_by, np.stack([predecessors, steps[np.diff(before) > 0]], axis=1))


def flat(size: int) -> Topology:
    """Every node is an independent refinement."""
    return Topology(size, np.arange(size, dtype=np.int32), _none(size), np.empty((0, 2), np.int32))


def dag(size: int, edges: np.ndarray) -> Topology:
    """Every node is a refinement; ``edges`` [E, 2] are (predecessor, successor) pairs of nodes."""
    return Topology(size, np.arange(size, dtype=np.int32), _none(size), np.unique(edges, axis=0).astype(np.int32))


def check_changes(shape: Topology) -> None:
    """Every node comes before it goes: what adds it precedes what removes it, by one edge or by several.

    Parameters
    ----------
    shape : in level order, its edges sorted by successor.

    Raises
    ------
    HierarchyError : a node may go before it comes, or that can only be told by following too many edges.
    """
    before, after = shape.edges.T
    offsets = offsets_of(np.bincount(after, minlength=shape.size))
    most = _STEPS * (shape.size + before.size + shape.added_by.size)
    node, far = _gone_early(offsets, np.ascontiguousarray(before), shape.added_by, shape.removed_by, most)
    if node >= 0:
        added, removed = shape.added_by[node], shape.removed_by[node]
        what = "can be removed before it is added" if not far else "is removed too many steps after it is added"
        fix = f"add the edge ({added}, {removed}), numbers in level order"
        raise HierarchyError(f"node {node} {what}", where=f"refinements {added}, {removed}", fix=fix)


@njit(cache=True, nogil=True)
def _gone_early(offsets, predecessors, added_by, removed_by, most):
    """The first node whose removal does not follow its addition, and whether ``most`` steps did not suffice."""
    size = offsets.size - 1
    seen, stack, steps = np.full(size, -1, np.int32), np.empty(size, np.int32), 0
    for v in range(added_by.size):
        first, last = added_by[v], removed_by[v]
        if first < 0 or last < 0:
            continue
        stack[0], waiting, found = last, 1, False
        while waiting > 0 and not found:
            waiting -= 1
            r = stack[waiting]
            for k in range(offsets[r], offsets[r + 1]):
                p, steps = predecessors[k], steps + 1
                if p == first:
                    found = True
                    break
                if p > first and seen[p] != v:  # predecessors have lower numbers
                    seen[p], stack[waiting], waiting = v, p, waiting + 1
        if not found or steps > most:
            return v, found
    return -1, False


def groups(added_by: np.ndarray, removed_by: np.ndarray) -> Topology:
    """A group DAG: refinement g removes the nodes with ``removed_by == g`` and adds those with ``added_by == g``.

    A node can only be removed after it was added, which is the whole partial order.
    """
    size = int(max(added_by.max(initial=-1), removed_by.max(initial=-1))) + 1
    missing = np.setdiff1d(np.arange(size), np.union1d(added_by, removed_by))
    if missing.size:
        raise HierarchyError("a refinement neither adds nor removes a node", where=f"refinement {missing[0]}")
    both = (added_by >= 0) & (removed_by >= 0)
    # As one number each: rows take NumPy several times as long to sort.
    edges = np.unique(added_by[both].astype(np.int64) * size + removed_by[both])
    return Topology(size, added_by, removed_by, np.stack(np.divmod(edges, size), axis=1).astype(np.int32))
