"""A forest of refinements as tensors, one slice per level: what the sweeps run over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from hra.errors import HierarchyError
from hra.model import topology
from hra.model.arrays import indices, numbers, offsets_of
from hra.model.hierarchy import Hierarchy
from hra.model.topology import level_order
from hra.model.units import Units


@dataclass(frozen=True, eq=False)
class SoftForest:
    """Refinements of a forest, coarse before fine, on one device. Make one and keep it where many cuts share it.

    Attributes
    ----------
    parent : int32 [R] in level order, -1 for roots; NumPy, for what is decided on the host.
    cost : float64 [R, 1], in level order.
    levels : where each level lies among the refinements.
    parents : int64 [refinements of the level] for each level but the first, positions within the level above.
    order : int64 [R], the caller's number of each refinement, or None if the caller uses level order too.
    base_cost : cost of what is there before any refinement.
    unit_cost, room : float64 [R] and a function from a budget to a capacity, in whole units (see `hra.model.units`):
        what hard cuts are decided by, so that they never exceed a budget.
    """

    parent: np.ndarray
    cost: Tensor
    levels: tuple[slice, ...]
    parents: tuple[Tensor, ...]
    order: Tensor | None
    base_cost: float
    unit_cost: np.ndarray
    room: Callable[[float], float]

    @classmethod
    def of(
        cls, hierarchy: Hierarchy, device: torch.device | str = "cpu", *, cost: np.ndarray | None = None
    ) -> SoftForest:
        """The refinements of ``hierarchy``, with its base and costs, or without a base at ``cost`` [R], whole numbers.

        Raises
        ------
        HierarchyError : it is a DAG.
        """
        if hierarchy.parent is None:
            raise HierarchyError(
                "the soft cut needs a forest, and this hierarchy is a DAG: some refinements have several predecessors",
                where="SoftCut",
                fix="use a tree, or Hull",
            )
        levels = hierarchy.level_offsets
        if cost is not None:
            return cls._of(hierarchy.parent, cost, levels, None, 0.0, device, (cost, _same))
        exact = hierarchy.unit_cost_high, partial(hierarchy.capacity, strict=True)
        return cls._of(hierarchy.parent, hierarchy.cost, levels, None, hierarchy.base_cost, device, exact)

    @classmethod
    def of_parents(cls, parent: Any, cost: Any, device: torch.device | str = "cpu") -> SoftForest:
        """Refinements in any order, with an empty base.

        Parameters
        ----------
        parent : int [R], the predecessor of each refinement, -1 for none.
        cost : [R], >= 0.

        Raises
        ------
        HierarchyError : a cycle, or a negative cost.
        ArrayError : parents out of range, or costs that are not finite.
        """
        cost = numbers("cost", cost)
        if (cost < 0).any():
            raise HierarchyError("a cost is negative", where=f"cost[{np.argmax(cost < 0)}]", fix="costs must be >= 0")
        parent = indices("parent", parent, -1, cost.size, cost.size)
        order, level = level_order(topology.pairs(parent, np.arange(cost.size, dtype=np.int32)), cost.size)
        # One entry more, which stays -1: roots stay roots under any numbering.
        rank = np.full(cost.size + 1, -1, np.int32)
        rank[order] = np.arange(cost.size)
        units = Units.of(cost)
        exact = units.high[order], units.floor
        return cls._of(rank[parent[order]], cost[order], offsets_of(np.bincount(level)), order, 0.0, device, exact)

    @classmethod
    def _of(
        cls,
        parent: np.ndarray,
        cost: np.ndarray,
        offsets: np.ndarray,
        order: np.ndarray | None,
        base_cost: float,
        device: torch.device | str,
        exact: tuple[np.ndarray, Callable[[float], float]],
    ) -> SoftForest:
        begin, end = offsets[:-1].tolist(), offsets[1:].tolist()
        return cls(
            parent=parent,
            cost=torch.tensor(cost, dtype=torch.float64, device=device)[:, None],
            levels=tuple(slice(*bounds) for bounds in zip(begin, end, strict=True)),
            # Levels are contiguous, so that a parent is a place within the slice of the level above.
            parents=tuple(
                torch.tensor(parent[low:high] - above, dtype=torch.int64, device=device)
                for above, low, high in zip(begin, begin[1:], end[1:], strict=False)
            ),
            order=None if order is None else torch.tensor(order, dtype=torch.int64, device=device),
            base_cost=base_cost,
            unit_cost=exact[0],
            room=exact[1],
        )

    def __len__(self) -> int:
        """Number of refinements."""
        return self.cost.shape[0]

    @property
    def roots(self) -> slice:
        """Where the refinements without a predecessor lie."""
        return self.levels[0] if self.levels else slice(0, 0)

    def columns(self, rows: Tensor) -> Tensor:
        """``rows`` [B, R] of the caller as contiguous columns [R, B] in level order."""
        columns = rows.T
        return columns.contiguous() if self.order is None else columns.index_select(0, self.order)

    def rows(self, columns: Tensor) -> Tensor:
        """``columns`` [R, ...] in level order as rows [..., R] in the caller's order."""
        if self.order is not None:
            columns = columns.index_select(0, self.order.argsort())
        return columns.movedim(0, -1)


def _same(budget: float) -> float:
    return budget
