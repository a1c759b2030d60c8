"""What several tests of search share."""

from __future__ import annotations

import numpy as np

from hra.kernels.cut import ForestCut, LevelForest

FIELDS = ("selected", "cost", "gain", "bound", "price")


def random_forest(rng: np.random.Generator, levels: int = 5, width: int = 7) -> LevelForest:
    """Levels of random sizes, children of random parents side by side; some refinements are free."""
    sizes = rng.integers(1, width + 1, int(rng.integers(1, levels + 1)))
    offsets = np.r_[0, np.cumsum(sizes)]
    parents = [np.full(sizes[0], -1)]
    for begin, above, size in zip(offsets, sizes, sizes[1:], strict=False):
        parents.append(np.sort(rng.integers(begin, begin + above, size)))
    parent = np.concatenate(parents).astype(np.int32)
    children = np.bincount(parent[parent >= 0], minlength=parent.size)
    first_child = (sizes[0] + np.r_[0, np.cumsum(children)]).astype(np.int32)
    cost = rng.integers(0, 4, parent.size).astype(float)
    return LevelForest(tuple(offsets.tolist()), parent, first_child, cost, base_cost=2.0)


def random_gains(rng: np.random.Generator, members: int, size: int) -> np.ndarray:
    """Distinct, few and often equal or zero, or over many magnitudes."""
    draw = (rng.random, lambda shape: rng.integers(0, 4, shape).astype(float), lambda shape: rng.pareto(0.5, shape))
    return draw[rng.integers(3)]((members, size))


def case(seed: int) -> tuple[LevelForest, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(seed)
    forest = random_forest(rng)
    return forest, random_gains(rng, int(rng.integers(1, 5)), len(forest)), rng


def random_capacity(forest: LevelForest, members: int, rng: np.random.Generator) -> np.ndarray:
    return rng.random(members) * (forest.cost.sum() + 1)


def assert_same(found: ForestCut, expected: ForestCut) -> None:
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
