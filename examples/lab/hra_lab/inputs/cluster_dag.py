"""A synthetic cluster hierarchy (group DAG) as mesh builders make them: groups overlap those of the next level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.model.hierarchy import Hierarchy
from hra_lab.inputs.instances import SyntheticProblem

# Clusters per side of a group; groups of two successive levels are shifted by up to half of it.
_SIDE = 4


@dataclass(frozen=True, eq=False)
class _Level:
    """Groups of one level: gain, cost [G], and pairs (coarse group of the next level, fine group of this one)."""

    gain: np.ndarray
    cost: np.ndarray
    finer: np.ndarray


def smooth_dag(side: int) -> SyntheticProblem:
    """Errors that differ little from group to group; ``side`` clusters a side at the finest level."""
    return cluster_dag(side, spread=0.3, growth=1.0)


def heavy_dag(side: int) -> SyntheticProblem:
    """Heavy-tailed errors that shrink towards the coarse levels, where a rule without foresight stops."""
    return cluster_dag(side, spread=1.2, growth=0.6)


def cluster_dag(side: int, spread: float, growth: float, seed: int = 0) -> SyntheticProblem:
    """Refinements of a grid of clusters; 512 a side give about 33,000 groups.

    Each level forms groups of up to 4 x 4 clusters on a randomly shifted grid and halves their clusters; the next level
    groups what is left, so that a group gets clusters from up to four finer ones.

    Parameters
    ----------
    spread : standard deviation of the logarithm of a group's error.
    growth : factor of the error from one level to the next coarser one.
    """
    rng = np.random.default_rng(seed)
    made_by = np.full((side, side), -1)
    fine_to_coarse: list[_Level] = []
    first = 0
    while min(made_by.shape) >= 4 and made_by.size > 32:
        group = _groups(made_by.shape, rng)
        fine_to_coarse.append(_level(made_by, group, first, len(fine_to_coarse), spread, growth, rng))
        # Simplification leaves every second cluster, along one axis after the other.
        made_by = (group + first)[:, ::2] if len(fine_to_coarse) % 2 else (group + first)[::2]
        first += int(group.max()) + 1
    return _instance(fine_to_coarse, first)


def _groups(shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Group of every cluster on a grid of 4 x 4 blocks that starts at a random half block."""
    rows, columns = ((np.arange(n) + rng.integers(0, 2) * (_SIDE // 2)) // _SIDE for n in shape)
    return rows[:, None] * (columns[-1] + 1) + columns


def _level(
    made_by: np.ndarray,
    group: np.ndarray,
    first: int,
    level: int,
    spread: float,
    growth: float,
    rng: np.random.Generator,
) -> _Level:
    clusters = np.bincount(group.ravel())
    error = growth**level * np.exp(spread * rng.standard_normal(clusters.size))
    gain = np.square(error) * clusters * 2.0**level * _focus(group)
    cost = np.round(clusters / 2 * rng.uniform(100, 128, clusters.size))
    known = made_by >= 0
    finer = np.stack([group[known] + first, made_by[known]], axis=1)
    return _Level(gain, cost, np.unique(finer, axis=0))


def _focus(group: np.ndarray) -> np.ndarray:
    """Weight of each group as a camera near one point sees it."""
    columns = int(group[0, -1]) + 1
    rows = int(group[-1, 0]) // columns + 1
    y, x = (np.arange(rows) + 0.5) / rows, (np.arange(columns) + 0.5) / columns
    return (1 / (0.02 + np.square(y[:, None] - 0.3) + np.square(x - 0.6))).ravel()


def _instance(fine_to_coarse: list[_Level], size: int) -> SyntheticProblem:
    """Groups renumbered from coarse to fine."""
    gain, cost = (
        np.concatenate([getattr(level, name) for level in fine_to_coarse])[::-1].copy() for name in ("gain", "cost")
    )
    edges = size - 1 - np.concatenate([level.finer for level in fine_to_coarse])
    hierarchy = Hierarchy.dag(cost, edges)
    return SyntheticProblem(hierarchy, _in_level_order(gain, hierarchy))


def _in_level_order(gain: np.ndarray, hierarchy: Hierarchy) -> np.ndarray:
    """Gains by refinement from gains by node: the hierarchy may renumber what it is given."""
    by_refinement = np.empty_like(gain)
    by_refinement[hierarchy.added_by] = gain
    return by_refinement
