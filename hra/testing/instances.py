"""Small random hierarchies of every kind, numbered in random order, and what a check raises."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from hra.errors import HraError
from hra.model.hierarchy import Hierarchy, Mode


class CheckFailed(HraError):
    """Something that hra relies on does not hold; the message says what, on which instance, and how to fix it.

    Examples
    --------
    >>> import hra, hra.testing
    >>> class Greedy(hra.Traversal):
    ...     def select(self, problem):
    ...         return hra.Solution(problem.gain >= 0)
    >>> try:
    ...     hra.testing.check_traversal(Greedy(), kinds=["flat"])
    ... except hra.testing.CheckFailed as failure:
    ...     print("the traversal spent 12" in failure.what)
    True
    """

    code = "check-failed"


def require(holds: bool, what: str, *, where: str, fix: str = "") -> None:
    """Raise unless ``holds``.

    Raises
    ------
    CheckFailed : it does not.
    """
    if not holds:
        raise CheckFailed(what, where=where, fix=fix)


def random_parents(rng: np.random.Generator, size: int, roots: int = 2) -> np.ndarray:
    """Parents of a random forest; children may come before their parents."""
    name = rng.permutation(size)
    parent = np.full(size, -1)
    for i in range(min(roots, size), size):
        parent[name[i]] = name[rng.integers(i)]
    return parent


def depths(parent: np.ndarray) -> np.ndarray:
    """Distance of every node from its root, by walking up."""
    depth = np.zeros(parent.size, int)
    for v in range(parent.size):
        u = parent[v]
        while u >= 0:
            depth[v] += 1
            u = parent[u]
    return depth


def random_tree(rng: np.random.Generator, size: int, mode: Mode) -> Hierarchy:
    """A forest whose children cost at least as much as their parents, so that every mode accepts it."""
    parent = random_parents(rng, size)
    cost = (
        rng.integers(0, 3, size) if mode == "add" else depths(parent) + rng.integers(0, 2, size) * (depths(parent) > 0)
    )
    if mode == "child":
        cost = 1 + depths(parent)
    return Hierarchy.tree(parent, cost, mode=mode, order=rng.random(size) if mode == "child" else None)


def random_flat(rng: np.random.Generator, size: int) -> Hierarchy:
    """Independent nodes."""
    return Hierarchy.flat(rng.integers(0, 6, size))


def random_chains(rng: np.random.Generator, size: int) -> Hierarchy:
    """Up to three chains."""
    cuts = np.sort(rng.choice(np.arange(1, size), min(2, size - 1), replace=False))
    return Hierarchy.chains(np.diff([0, *cuts, size]), rng.integers(0, 6, size))


def random_edges(rng: np.random.Generator, size: int, density: float = 0.25) -> np.ndarray:
    """Edges of a random acyclic graph whose nodes are numbered in random order."""
    name = rng.permutation(size)
    later, earlier = np.nonzero(np.tril(rng.random((size, size)) < density, -1))
    return np.stack([name[earlier], name[later]], axis=1)


def random_dag(rng: np.random.Generator, size: int) -> Hierarchy:
    """Nodes with any number of predecessors."""
    return Hierarchy.dag(rng.integers(0, 6, size), random_edges(rng, size))


def random_group_table(rng: np.random.Generator, groups: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Costs, added_by, removed_by and errors of a group DAG; every group replaces one to three active nodes.

    Groups never get cheaper, and their errors never grow.
    """
    cost, error = [2.0, 1.0, 1.0], [10.0, 8.0, 6.0]
    added_by, removed_by = [-1, -1, -1], [-1, -1, -1]
    name = rng.permutation(groups)
    for g in name:
        active = [v for v, by in enumerate(removed_by) if by < 0]
        removed = rng.choice(active, min(len(active), rng.integers(1, 4)), replace=False)
        for v in removed:
            removed_by[v] = g
        fine = int(rng.integers(1, 4))
        added_cost = sum(cost[v] for v in removed) + rng.integers(0, 4)
        added_error = sum(error[v] for v in removed) * rng.random()
        cost += [added_cost - (fine - 1) * (added_cost // fine)] + [added_cost // fine] * (fine - 1)
        error += [added_error / fine] * fine
        added_by += [g] * fine
        removed_by += [-1] * fine
    return np.array(cost), np.array(added_by), np.array(removed_by), np.array(error)


def random_groups(rng: np.random.Generator, size: int) -> Hierarchy:
    """A group DAG of this many refinements."""
    cost, added_by, removed_by, _ = random_group_table(rng, size)
    return Hierarchy.groups(cost, added_by, removed_by)


KINDS: dict[str, Callable[[np.random.Generator, int], Hierarchy]] = {
    "replace": lambda rng, size: random_tree(rng, size, "replace"),
    "child": lambda rng, size: random_tree(rng, size, "child"),
    "add": lambda rng, size: random_tree(rng, size, "add"),
    "chains": random_chains,
    "flat": random_flat,
    "dag": random_dag,
    "groups": random_groups,
}


def random_values(rng: np.random.Generator, size: int) -> np.ndarray:
    """Values of nodes: distinct, or few and often equal or zero."""
    return rng.random(size) if rng.random() < 0.5 else rng.integers(0, 4, size).astype(float)


def case(kind: str, seed: int, largest: int = 10) -> tuple[Hierarchy, np.ndarray, np.random.Generator]:
    """A hierarchy of a kind with at most ``largest`` refinements, values for its nodes, and the generator."""
    rng = np.random.default_rng(seed)
    hierarchy = KINDS[kind](rng, int(rng.integers(2, largest + 1)))
    return hierarchy, random_values(rng, hierarchy.node_cost.size), rng


def random_closed_set(rng: np.random.Generator, hierarchy: Hierarchy) -> np.ndarray:
    """A random valid selection, bool [R]."""
    selected = rng.random(len(hierarchy)) < 0.7
    before, after = hierarchy.edges.T
    # Edges are sorted by successor, and predecessors stand in levels above: what they lack is known level by level.
    for begin, end in pairwise(np.searchsorted(after, hierarchy.level_offsets)):
        np.logical_and.at(selected, after[begin:end], selected[before[begin:end]])
    return selected
