"""Level order of a partial order: coarse before fine, the children of a forest's refinement side by side."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.errors import HierarchyError
from hra.model.arrays import group


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
