"""Children that are added one by one: the refinements of a forest of nodes, as chains of siblings in level order.

A refinement adds one child; it opens up the next sibling, and the first child of what it adds. The last sibling takes
the parent away. Compiled for those who make many such hierarchies a second, such as one for every image of a batch.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit


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
