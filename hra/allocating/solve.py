"""Arrays in, an allocation out: for those who have a hierarchy and one number per node, and need no classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hra.allocating.allocation import Allocation
from hra.allocating.allocator import HierarchicalResourceAllocator
from hra.errors import MetricError, check_kind
from hra.model.arrays import own, to_numpy
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.traversals.base import Traversal
from hra.traversals.hull import Hull


def solve(
    hierarchy: Hierarchy,
    budget: float,
    *,
    errors: Any = None,
    gains: Any = None,
    inherited: Any = None,
    traversal: Traversal | None = None,
    previous: Allocation | None = None,
    pinned: Any = None,
    unit: str = "error",
) -> Allocation:
    """The allocation of ``budget`` that leaves the least error, with a bound on how far it is from the best.

    Parameters
    ----------
    budget : in the hierarchy's cost unit; ``inf`` for full detail.
    errors : [N], >= 0, error of each node's region while the node represents it; or
    gains : [N], what adding each node gains. One of the two.
    inherited : [N], only with ``errors`` where nodes are added one by one: error of each node's region while the
        node's parent represents it; by default a split's gain is shared evenly.
    traversal : `Hull` by default.
    previous, pinned : see `HierarchicalResourceAllocator.allocate`.
    unit : of the errors or gains, for messages and pools.

    Raises
    ------
    HraError : something else in the place of the hierarchy, the traversal or the unit.
    MetricError : not one of errors and gains, unusable values, or ``inherited`` where they would not count.
    InvalidBudget, BudgetTooSmall, HierarchyError, ArrayError : see `HierarchicalResourceAllocator.allocate`.

    Examples
    --------
    >>> import hra
    >>> pyramid = hra.Hierarchy.tree([-1, 0, 0, 0, 0], [1, 1, 1, 1, 1], mode="child", cost_unit="tokens")
    >>> hra.solve(pyramid, 4, errors=[8, 1, 1, 1, 1])
    4 of 4 tokens, residual 4 error, the best possible
    """
    if (errors is None) == (gains is None):
        fix = "pass errors=... (what is wrong while a node is shown) or gains=... (what adding a node brings)"
        raise MetricError("solve takes either errors or gains", where="hra.solve", fix=fix)
    if inherited is not None and errors is None:
        raise MetricError("inherited errors need errors", where="hra.solve", fix="pass errors=..., too")
    fix = "call hra.solve(hierarchy, budget, errors=..., traversal=hra.Hull())"
    traversal = Hull() if traversal is None else traversal
    kinds = (("hierarchy", hierarchy, Hierarchy), ("traversal", traversal, Traversal), ("unit", unit, str))
    for name, value, wanted in kinds:
        check_kind(name, value, wanted, fix)
    if inherited is not None and (hierarchy.node_parent is None or _several_at_once(hierarchy)):
        what = "inherited errors count only where a tree adds its nodes one by one"
        raise MetricError(what, where="inherited", fix="build it with mode='child' or mode='add', or leave them out")
    values, kind = (gains, "gain") if errors is None else (errors, "error")
    # Copies: the largest error is asked for later, when the caller may have written the next step's into them.
    above = None if inherited is None else own(to_numpy(inherited))
    allocator = _Arrays(hierarchy, _Given(own(to_numpy(values)), above, kind, unit), traversal)
    return allocator.allocate(None, budget, previous=previous, pinned=pinned)


def _several_at_once(hierarchy: Hierarchy) -> bool:
    return int(np.count_nonzero(hierarchy.added_by >= 0)) > len(hierarchy)


@dataclass(frozen=True, eq=False)
class _Given(ErrorMetric):
    """One number per node, whatever the context."""

    values: np.ndarray
    above: np.ndarray | None
    kind: Literal["error", "gain"]
    unit: str

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        return self.values

    def inherited(self, hierarchy: Hierarchy, context: Any) -> np.ndarray | None:
        return self.above


class _Arrays(HierarchicalResourceAllocator):
    """Realises the cut as node ids."""

    def realize(self, allocation: Allocation) -> np.ndarray:
        return allocation.cut
