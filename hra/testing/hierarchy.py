"""Does a hierarchy mean what its author meant?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from hra.model.hierarchy import Hierarchy
from hra.testing.instances import random_closed_set, require

# Random cuts that are looked at: this many, or as many of a larger hierarchy as have this many nodes together.
_CUTS, _NODES = 100, 5_000_000


def check_hierarchy(hierarchy: Hierarchy, *, seed: int = 0) -> None:
    """Check that a hierarchy is what every traversal and realization relies on.

    Costs of refinements add up to those of the nodes that they make active, and in trees that replace nodes every cut
    shows each leaf's region once. That each refinement comes after what it needs is checked where a hierarchy is made.

    Raises
    ------
    CheckFailed : something does not hold.

    Examples
    --------
    >>> import hra, hra.testing
    >>> hra.testing.check_hierarchy(hra.Hierarchy.tree([-1, 0, 0], [1, 1, 1]))
    """
    where = repr(hierarchy)
    require(hierarchy.node_cost.size > 0, "there are no nodes", where=where, fix="build it from at least one node")
    for name, values in hierarchy.node.items():
        finite = values.dtype.kind not in "fc" or bool(np.isfinite(values).all())
        require(finite, f"attribute {name!r} is not finite everywhere", where=where, fix="leave out what is not known")
    rng = np.random.default_rng(seed)
    for _ in range(max(min(_CUTS, _NODES // hierarchy.node_cost.size), 3)):
        _check_cut(hierarchy, random_closed_set(rng, hierarchy), where)


def _check_cut(hierarchy: Hierarchy, selected: np.ndarray, where: str) -> None:
    active = hierarchy.active_nodes(selected)
    stated, spent = hierarchy.cost_of(selected), _sum(hierarchy, active)
    require(
        abs(Fraction(stated) - spent) <= Fraction(np.spacing(max(stated, 1e-300))) * 4,
        f"refinements add up to {stated!r}, the nodes that they leave active to {float(spent)!r}",
        where=where,
        fix="each node is added once and removed at most once, after it was added",
    )
    if hierarchy.node_parent is not None and hierarchy.replaces:
        _check_cover(hierarchy.node_parent, active, where)


def _check_cover(parent: np.ndarray, active: np.ndarray, where: str) -> None:
    leaf = np.ones(parent.size, np.bool_)
    leaf[parent[parent >= 0]] = False
    leaves = np.flatnonzero(leaf)
    shown, at, node = np.zeros(leaves.size, np.int64), np.arange(leaves.size), leaves
    while node.size:
        shown[at] += active[node]
        above = parent[node]
        at, node = at[above >= 0], above[above >= 0]
    for i in np.flatnonzero(shown != 1)[:1]:
        what = f"leaf {leaves[i]} is shown {shown[i]} times"
        require(False, what, where=where, fix="pass every child's own parent")


def _sum(hierarchy: Hierarchy, active: np.ndarray) -> Fraction:
    costs, counts = np.unique(hierarchy.node_cost[active], return_counts=True)
    exact = map(hierarchy.units.exactly, costs.tolist())
    return sum((cost * count for cost, count in zip(exact, counts.tolist(), strict=True)), Fraction(0))
