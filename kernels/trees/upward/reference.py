"""The plain reference of the bottom-up reductions: level by level, children one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.kernels.trees.tree import Tree

# Steps towards the farthest sphere: how many, the first one's share of the way, the ratio of each to the one before.
# The radius is then 0.5 % above the least on average; 16 steps of 1 / (4 + i) leave 1.2 % (sets of 5 to 64 points).
STEPS, FIRST_SHARE, DECAY = 12, 0.2, 0.8
# One float32 up: the product is rounded down by at most half of that, and the summand serves below 2**-126.
GROWTH, LEAST = 1 + 2.0**-23, 2.0**-149
# A computed reach is below the exact one by at most 4.5 u of it, u = 2**-53: under the root, which halves them, 2 u of
# the difference, 1 u of its square and 2 u of the sums; then one each of the root and of the sum with the radius. 8 u,
# less one of the product, are allowed for.
SURE = 1 + 2.0**-50


def sum_up(tree: Tree, leaves: np.ndarray) -> np.ndarray:
    """See :func:`hra.kernels.trees.upward.reductions.reduce_up`; ``leaves`` [B, L, C]."""
    nodes = _place(tree, leaves)
    for parents, children, above in _families(tree):
        total = np.zeros(nodes.shape)
        np.add.at(total, above, nodes[:, children])
        nodes[:, parents] = total[:, parents]
    return nodes


def max_up(tree: Tree, leaves: np.ndarray) -> np.ndarray:
    """See :func:`hra.kernels.trees.upward.reductions.reduce_up`; ``leaves`` [B, L, C]."""
    return _extremum_up(tree, leaves, np.maximum, -np.inf)


def min_up(tree: Tree, leaves: np.ndarray) -> np.ndarray:
    """See :func:`hra.kernels.trees.upward.reductions.reduce_up`; ``leaves`` [B, L, C]."""
    return _extremum_up(tree, leaves, np.minimum, np.inf)


def mean_up(tree: Tree, leaves: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """See :func:`hra.kernels.trees.upward.reductions.reduce_up`; ``weight`` [B, L, 1], [1, L, 1] or None."""
    given = np.ones((1, leaves.shape[1], 1)) if weight is None else weight
    weights = sum_up(tree, np.broadcast_to(given, (*leaves.shape[:2], 1)))
    nodes = _place(tree, leaves)
    for parents, children, above in _families(tree):
        total = np.zeros(nodes.shape)
        np.add.at(total, above, weights[:, children] * nodes[:, children])
        heavy = weights[:, parents]
        nodes[:, parents] = np.divide(total[:, parents], heavy, out=np.zeros_like(total[:, parents]), where=heavy > 0)
    return nodes


def spheres_up(tree: Tree, center: np.ndarray, radius: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """See :func:`hra.kernels.trees.spheres_up`; ``center`` [B, L, 3], ``radius`` [B, L, 1] or None."""
    given = np.zeros((*center.shape[:2], 1), np.float32) if radius is None else radius
    centers, radii = _place(tree, center), _place(tree, given)
    for position in reversed(range(len(tree))):
        children = tree.node[tree.first_child[position] : tree.first_child[position + 1]]
        for b in range(len(centers)) if children.size else ():
            sphere = _enclosing(centers[b, children].astype(np.float64), radii[b, children, 0].astype(np.float64))
            centers[b, tree.node[position]], radii[b, tree.node[position]] = sphere
    return centers, radii


def _place(tree: Tree, leaves: np.ndarray) -> np.ndarray:
    nodes = np.zeros((len(leaves), len(tree), leaves.shape[2]), leaves.dtype)
    nodes[:, tree.leaf] = leaves
    return nodes


def _families(tree: Tree) -> list[tuple[np.ndarray, np.ndarray, Any]]:
    """Each level's parents, fine to coarse, all their children left to right, and [:, parent of each child]."""
    children = [tree.node[begin:end] for begin, end in reversed(tree.levels[1:])]
    return [(np.unique(tree.parent[level]), level, np.s_[:, tree.parent[level]]) for level in children]


def _extremum_up(tree: Tree, leaves: np.ndarray, function: np.ufunc, worst: float) -> np.ndarray:
    nodes = _place(tree, leaves)
    for parents, children, above in _families(tree):
        nodes[:, parents] = worst
        function.at(nodes, above, nodes[:, children])
    return nodes


def _enclosing(centers: np.ndarray, radii: np.ndarray) -> tuple[np.ndarray, np.float32]:
    """A small sphere around spheres [K]; see :func:`hra.kernels.trees.upward.reductions.spheres_up`."""
    largest = int(np.argmax(radii))
    center = centers[largest]
    best, far = _farthest(centers, radii, center)
    if best <= radii[largest]:
        is_sure = _surely_within(centers, radii, largest)
        return center.astype(np.float32), np.float32(radii[largest] if is_sure else radii[largest] * GROWTH + LEAST)
    if len(radii) == 2:
        center = center + (centers[far] - center) * ((best - radii[largest]) / (2.0 * (best - radii[far])))
    else:
        center = _approach(centers, radii, best, center)
    center = center.astype(np.float32)
    reach = _farthest(centers, radii, center.astype(np.float64))[0]
    return center, np.float32(reach * GROWTH + LEAST)


def _surely_within(centers: np.ndarray, radii: np.ndarray, largest: int) -> bool:
    """Whether the largest sphere holds the others in exact arithmetic, not just by rounded distances."""
    x, y, z = (centers - centers[largest]).T
    distance = np.sqrt(x * x + y * y + z * z)
    return bool(((distance == 0) | ((distance + radii) * SURE <= radii[largest])).all())


def _approach(centers: np.ndarray, radii: np.ndarray, best: float, center: np.ndarray) -> np.ndarray:
    """The centre of the smallest sphere among steps from the middle of the box, or ``center`` if ``best`` is."""
    trial = ((centers - radii[:, None]).min(axis=0) + (centers + radii[:, None]).max(axis=0)) / 2
    share = FIRST_SHARE
    for _ in range(STEPS):
        reach, i = _farthest(centers, radii, trial)
        if reach < best:
            best, center = reach, trial
        if reach - radii[i] <= 0:
            break
        trial = trial + (centers[i] - trial) * (reach / (reach - radii[i]) * share)
        share *= DECAY
    return center


def _farthest(centers: np.ndarray, radii: np.ndarray, center: np.ndarray) -> tuple[float, int]:
    """Largest distance from ``center`` to the far side of a sphere, and the first such sphere."""
    x, y, z = (centers - center).T
    reach = np.sqrt(x * x + y * y + z * z) + radii
    return float(reach.max()), int(reach.argmax())
