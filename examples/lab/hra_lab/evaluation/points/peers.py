"""The rules by which other viewers choose, on our trees; from their sources, none of their code.

Potree (``updateVisibility``): a heap by the radius on the screen; the first node that does not fit ends it. Spark
(``lod_tree.rs``): a heap by size over distance, the same end. PlayCanvas (``GSplatBudgetBalancer`` without error
data): buckets of log distance; passes over them from near to far refine every chunk by a level until the budget is met.
"""

from __future__ import annotations

import heapq

import numpy as np

from hra.camera import Camera
from hra.domains.points import CloudTree
from hra.kernels.trees import Tree

_BUCKETS, _CHUNKS = 64, 256


def potree(tree: CloudTree, camera: Camera, budget: int) -> np.ndarray:
    """Nodes of the cut [K]."""
    node = tree.hierarchy.node
    distance = np.linalg.norm(node["position"] - camera.position, axis=1)
    inside = camera.spheres_visible(node["position"], node["reach"])
    radius = np.where(distance > node["reach"], node["reach"] / np.maximum(distance, 1e-30), np.inf)
    return _best_first(tree, np.where(inside, radius, -1.0), budget)


def spark(tree: CloudTree, camera: Camera, budget: int) -> np.ndarray:
    """Nodes of the cut [K]."""
    node = tree.hierarchy.node
    distance = np.linalg.norm(node["position"] - camera.position, axis=1)
    return _best_first(tree, node["size"] / np.maximum(distance, 1e-30), budget)


def _best_first(tree: CloudTree, priority: np.ndarray, budget: int) -> np.ndarray:
    """Refine what stands first in the heap; the first that does not fit ends it."""
    first, order = _children(tree)
    heap, spent, cut = [(-priority[0], 0)], 1, []
    while heap:
        rank, v = heapq.heappop(heap)
        count = first[v + 1] - first[v]
        if count == 0 or rank > 0:
            cut.append(v)
        elif spent + count - 1 > budget:
            cut += [v, *(other for _, other in heap)]
            break
        else:
            spent += count - 1
            for child in order[first[v] : first[v + 1]]:
                heapq.heappush(heap, (-priority[child], int(child)))
    return np.array(cut)


def playcanvas(tree: CloudTree, camera: Camera, budget: int) -> np.ndarray:
    """Nodes of the cut [K]: chunks of about a 256th of the leaves, each at one level below its node."""
    first, order = _children(tree)
    chunks = _chunks(tree, first, min(_CHUNKS, budget // 4))
    distance = np.linalg.norm(tree.hierarchy.node["position"][chunks] - camera.position, axis=1)
    scale = np.log(np.maximum(distance, 1e-30))
    bucket = np.floor((scale - scale.min()) / max(np.ptp(scale), 1e-30) * (_BUCKETS - 1))
    shown = [np.array([chunk]) for chunk in chunks]
    spent = len(shown)
    if spent > budget:
        return np.array([0])
    while True:
        changed = False
        for i in np.argsort(bucket, kind="stable"):
            finer = _one_level(shown[i], first, order)
            if len(finer) == len(shown[i]):
                continue
            if spent + len(finer) - len(shown[i]) > budget:
                return np.concatenate(shown)
            spent, shown[i], changed = spent + len(finer) - len(shown[i]), finer, True
        if not changed:
            return np.concatenate(shown)


def _chunks(tree: CloudTree, first: np.ndarray, parts: int) -> np.ndarray:
    """The largest nodes of at most a share of 1 / ``parts`` of the leaves."""
    below = (np.diff(first) == 0).astype(np.int64)
    for v in range(len(tree.parent) - 1, 0, -1):
        below[tree.parent[v]] += below[v]
    small = below <= max(below[0] // max(parts, 1), 1)
    return np.flatnonzero(small & ~np.concatenate([[False], small[tree.parent[1:]]]))


def _one_level(nodes: np.ndarray, first: np.ndarray, order: np.ndarray) -> np.ndarray:
    leaf = first[nodes] == first[nodes + 1]
    ranges = [order[first[v] : first[v + 1]] for v in nodes[~leaf]]
    return np.concatenate([nodes[leaf], *ranges])


def _children(tree: CloudTree) -> tuple[np.ndarray, np.ndarray]:
    """Children of node v are ``order[first[v] : first[v + 1]]``."""
    linked = Tree.of(tree.parent)
    return linked.first_child, linked.node
