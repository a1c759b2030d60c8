"""Every traversal once, on small problems: what of the core is compiled at first use."""

from __future__ import annotations

import contextlib

import numpy as np

from hra.allocating.allocation import Allocation
from hra.allocating.solve import solve
from hra.allocating.verification import verify
from hra.errors import HraError, MissingExtra
from hra.model.hierarchy import Hierarchy
from hra.plugins import available, load
from hra.traversals.base import Traversal

# Where some solvers hand over from plain Python to compiled code.
_LARGE = 120_000


def solve_everything() -> list[Allocation]:
    """Allocations of every registered traversal that needs no options, on trees and graphs, all verified."""
    rng, made = np.random.default_rng(0), []
    for hierarchy, gains in (_tree(rng, 341), _graph(rng, 200), _flat(rng, 64)):
        for traversal in _traversals():
            with contextlib.suppress(HraError):  # of hierarchies that this one does not serve
                made.append(solve(hierarchy, 0.4 * hierarchy.total_cost, gains=gains, traversal=traversal))
    large, gains = _tree(rng, _LARGE)
    made.append(solve(large, _LARGE / 3, gains=gains))
    for allocation in made[:-1]:
        verify(allocation)
    return made


def _traversals() -> list[Traversal]:
    found = []
    for name in sorted(available("hra.traversals")):
        try:
            found.append(load("hra.traversals", name)())
        except (MissingExtra, TypeError):  # of an extra that is not there, or one that needs options
            continue
    return found


def _tree(rng: np.random.Generator, size: int) -> tuple[Hierarchy, np.ndarray]:
    parent = (np.arange(size) - 1) // 4
    level = np.floor(np.log(3 * np.arange(size) + 1) / np.log(4))
    return Hierarchy.tree(parent, np.ones(size)), rng.random(size) * 4.0**-level


def _graph(rng: np.random.Generator, size: int) -> tuple[Hierarchy, np.ndarray]:
    later = np.arange(2, size)
    edges = np.concatenate([np.column_stack([rng.integers(0, later), later]) for _ in range(2)])
    return Hierarchy.dag(rng.integers(1, 5, size), np.unique(edges, axis=0)), rng.random(size)


def _flat(rng: np.random.Generator, size: int) -> tuple[Hierarchy, np.ndarray]:
    return Hierarchy.flat(np.ones(size)), rng.random(size)
