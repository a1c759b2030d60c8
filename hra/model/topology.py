"""From nodes to refinements: what each kind of hierarchy calls one step from coarse to fine.

Each function returns a `Topology`: which refinement adds and which removes every node, and which refinement must come
before which. `hra.model.hierarchy.Hierarchy` puts the result into level order and checks it.

Level order is coarse before fine, with the children of a forest's refinement side by side.

Children that are added one by one are chains of siblings. A refinement adds one child; it opens up the next sibling,
and the first child of what it adds. The last sibling takes the parent away. Compiled for those who make many such
hierarchies a second, such as one for every image of a batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.compiling import njit
from hra.errors import ArrayError, HierarchyError, wrong_kind
from hra.model.arrays import group, indices, offsets_of, to_numpy, whole_in


@njit(cache=True, nogil=True)
def sorted_siblings(offsets, children, order):
    """``children`` [C] with those of each node in falling ``order`` [N]; equal ones stay as they are.

    ``offsets`` [N + 1] are where the children of each node begin. By insertion: for few siblings each.
    """
    child = children.copy()
    for v in range(offsets.size - 1):
        for i in range(offsets[v] + 1, offsets[v + 1]):
            c, j = child[i], i
            while j > offsets[v] and order[child[j - 1]] < order[c]:
                child[j] = child[j - 1]
                j -= 1
            child[j] = c
    return child


@njit(cache=True, nogil=True)
def child_chains(offsets, child, roots):
    """The refinements that add ``child`` [C], the children of each node side by side, in level order.

    Parameters
    ----------
    offsets : int32 [N + 1], where the children of each node begin; roots : int [K], nodes that nothing adds.

    Returns
    -------
    node : int32 [R], what each refinement adds; R < C if some nodes are below none of the roots.
    first_child : int32 [R + 1], the successors of r are ``first_child[r] .. first_child[r + 1] - 1``.
    before, predecessors : int32 [R + 1] and [E], at most one predecessor each.
    last : bool [R], whether it adds the last child, which takes the parent away.
    """
    size = child.size
    place, above = np.empty(size, np.int32), np.empty(size, np.int32)
    node, predecessor = np.empty(size, np.int32), np.empty(size, np.int32)
    first_child, last = np.empty(size + 1, np.int32), np.empty(size, np.bool_)
    count = 0
    for v in roots:
        if offsets[v] < offsets[v + 1]:
            place[count], above[count] = offsets[v], v
            count += 1
    ready, r = count, 0
    # The result is its own queue: refinements from r on are known by their place among siblings, and r appends what it
    # opens up. That is level order, and what each opens up stands side by side.
    while r < count:
        c, v = child[place[r]], above[r]
        node[r], first_child[r], last[r] = c, count, place[r] + 1 == offsets[v + 1]
        if not last[r]:
            place[count], above[count], predecessor[count] = place[r] + 1, v, r
            count += 1
        if offsets[c] < offsets[c + 1]:
            place[count], above[count], predecessor[count] = offsets[c], c, r
            count += 1
        r += 1
    first_child[count] = count
    before = np.empty(count + 1, np.int32)
    for r in range(count + 1):
        # The first ``ready`` have no predecessor, all others have one.
        before[r] = max(r - ready, 0)
    return node[:count], first_child[: count + 1], before, predecessor[ready:count].copy(), last[:count]


@njit(cache=True)
def _breadth_first(offsets, successors, waiting, order, level):
    """Kahn's algorithm with a first-in-first-out queue; ``level`` becomes the longest distance from a source."""
    tail = 0
    for r in range(waiting.size):
        if waiting[r] == 0:
            order[tail] = r
            tail += 1
    head = 0
    # Each refinement is queued once, when its last predecessor is done. What is on a cycle, or after one, never is.
    while head < tail:
        r = order[head]
        head += 1
        for k in range(offsets[r], offsets[r + 1]):
            s = successors[k]
            level[s] = max(level[s], level[r] + 1)
            waiting[s] -= 1
            if waiting[s] == 0:
                order[tail] = s
                tail += 1
    return tail


def level_order(edges: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Order of ``size`` refinements so that predecessors come first, and their levels in that order.

    Parameters
    ----------
    edges : int32 [E, 2], (predecessor, successor).

    Returns
    -------
    order [size] of old indices, level [size] (ascending). Children of one predecessor are contiguous in a forest. What
    is in level order already stays as it is.

    Raises
    ------
    HierarchyError : the edges contain a cycle; the message names one.
    """
    offsets, by_predecessor = group(edges[:, 0], size)
    successors = np.ascontiguousarray(edges[by_predecessor, 1])
    waiting = np.bincount(edges[:, 1], minlength=size).astype(np.int32)
    order, level = np.empty(size, np.int32), np.zeros(size, np.int32)
    done = _breadth_first(offsets, successors, waiting, order, level)
    if done < size:
        _refuse_cycle(edges, waiting)
    if np.bincount(edges[:, 1], minlength=1).max() > 1:
        # Breadth-first order keeps a forest's children together; a DAG has no such order, so the given one decides.
        order = np.argsort(level, kind="stable").astype(np.int32)
    return order, level[order]


def _refuse_cycle(edges: np.ndarray, waiting: np.ndarray) -> None:
    """Walk predecessors among the refinements that never became ready until one repeats, and name that cycle."""
    inside = (waiting[edges[:, 0]] > 0) & (waiting[edges[:, 1]] > 0)
    predecessor = dict(zip(edges[inside, 1].tolist(), edges[inside, 0].tolist(), strict=True))
    seen: dict[int, int] = {}
    step = next(iter(predecessor))
    while step not in seen:
        seen[step] = len(seen)
        step = predecessor[step]
    cycle = [*list(seen)[seen[step] :], step]
    shown = cycle if len(cycle) <= 12 else [*cycle[:10], "...", cycle[-1]]
    raise HierarchyError(
        "the refinements form a cycle, so none of them can come first",
        where=" <- ".join(map(str, shown)),
        fix="remove one of these edges",
    )


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
    child, added_by, removed_by = np.flatnonzero(parent >= 0), _none(parent.size), _none(parent.size)
    child = child[np.lexsort((child, -order[child], parent[child]))].astype(np.int32)
    offsets = offsets_of(np.bincount(parent[child], minlength=parent.size))
    node, _, before, predecessors, last = child_chains(offsets, child, np.flatnonzero(parent < 0))
    if node.size < child.size:  # what hangs below no root hangs on a cycle, which this names
        level_order(pairs(parent, np.arange(parent.size, dtype=np.int32)), parent.size)
    steps = np.arange(node.size, dtype=np.int32)
    added_by[node] = steps
    removed_by[parent[node[last]]] = steps[last]
    return Topology(node.size, added_by, removed_by, np.stack([predecessors, steps[np.diff(before) > 0]], axis=1))


def flat(size: int) -> Topology:
    """Every node is an independent refinement."""
    return Topology(size, np.arange(size, dtype=np.int32), _none(size), np.empty((0, 2), np.int32))


def dag(size: int, edges: np.ndarray) -> Topology:
    """Every node is a refinement; ``edges`` [E, 2] are (predecessor, successor) pairs of nodes."""
    return Topology(size, np.arange(size, dtype=np.int32), _none(size), np.unique(edges, axis=0).astype(np.int32))


def checked(shape: Any, nodes: int) -> Topology:
    """``shape`` over so many ``nodes``, its arrays int32 and in range.

    Raises
    ------
    HraError : no topology. ArrayError : refinements or edges out of range, or not one refinement per node.
    """
    if not isinstance(shape, Topology):
        raise wrong_kind("shape", shape, Topology, "pass Hierarchy.topology, or use Hierarchy.tree, dag or groups")
    size = whole_in("Topology.size", shape.size, range(2**31))
    added = indices("added_by", shape.added_by, -1, size, nodes)
    removed = indices("removed_by", shape.removed_by, -1, size, nodes)
    return Topology(size, added, removed, edge_pairs(shape.edges, size))


def edge_pairs(edges: Any, size: int) -> np.ndarray:
    """Edges as int32 [E, 2], both ends below ``size``.

    Raises
    ------
    ArrayError : of another shape, or out of range.
    """
    pairs = to_numpy(edges)
    if pairs.size and (pairs.ndim != 2 or pairs.shape[1] != 2):
        raise ArrayError(f"edges must have shape [E, 2], got {pairs.shape}", where="edges")
    return indices("edges", pairs.reshape(-1), 0, size).reshape(-1, 2)


def check_parents(
    parent: np.ndarray, added_by: np.ndarray, removed_by: np.ndarray, predecessors: tuple[np.ndarray, np.ndarray]
) -> None:
    """Every node but the base has a parent, which is there when it comes.

    A refinement adds children of one node, and follows what adds that node or a sibling. What removes a node adds the
    last of its children. Gains are taken from a node's parent, so that others would be wrong without a word.

    Parameters
    ----------
    parent, added_by, removed_by : int32 [N], in level order.
    predecessors : of each refinement, offsets [R + 1] and indices [E].

    Raises
    ------
    HierarchyError : a node for which this does not hold.
    """
    node = _stray(parent, added_by, removed_by, *predecessors)
    if node >= 0:
        above = parent[node]
        what = f"node {node} cannot be a child of node {above}" if above >= 0 else f"node {node} has no parent"
        what = f"{what} by the refinements that add and remove them" if added_by[node] >= 0 else f"{what}: it is base"
        fix = "leave node_parent as it was, or build the tree by Hierarchy.tree"
        raise HierarchyError(what, where=f"node_parent[{node}]", fix=fix)


@njit(cache=True, nogil=True)
def _stray(parent, added_by, removed_by, offsets, predecessors):
    """The first node whose parent the refinements contradict, -1 for none."""
    size = offsets.size - 1
    above, one = np.full(size, -1, np.int32), np.full(size, -1, np.int32)
    leads_on = np.zeros(size, np.bool_)
    for v in range(parent.size):
        r = added_by[v]
        if (r >= 0) != (parent[v] >= 0):
            return v
        if r >= 0:
            if above[r] >= 0 and above[r] != parent[v]:
                return v
            above[r], one[r] = parent[v], v
    for r in range(size):
        for k in range(offsets[r], offsets[r + 1]):
            if above[r] >= 0 and above[predecessors[k]] == above[r]:
                leads_on[predecessors[k]] = True
    for v in range(parent.size):
        r, p = added_by[v], parent[v]
        if r < 0:
            continue
        follows = added_by[p] < 0
        for k in range(offsets[r], offsets[r + 1]):
            follows = follows or predecessors[k] == added_by[p] or above[predecessors[k]] == p
        # Siblings lead on to the one that takes the parent away.
        if not follows or not (removed_by[p] < 0 or removed_by[p] == r or leads_on[r]):
            return v
    for p in range(parent.size):
        if removed_by[p] >= 0 and above[removed_by[p]] != p:
            return one[removed_by[p]] if one[removed_by[p]] >= 0 else p
    return -1


def check_changes(shape: Topology, predecessors: tuple[np.ndarray, np.ndarray]) -> None:
    """Every node comes before it goes: what adds it precedes what removes it, by one edge or by several.

    Parameters
    ----------
    shape : in level order, its edges sorted by successor.
    predecessors : of each refinement, offsets [R + 1] and indices [E].

    Raises
    ------
    HierarchyError : a node may go before it comes, or that can only be told by following too many edges.
    """
    most = _STEPS * (shape.size + len(shape.edges) + shape.added_by.size)
    node, far = _gone_early(*predecessors, shape.added_by, shape.removed_by, most)
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
