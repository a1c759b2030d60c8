"""Allocators without a domain: the context is the table of node values itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

import hra
from hra.allocating.allocation import Allocation
from hra.allocating.allocator import HierarchicalResourceAllocator
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.model.problem import Problem
from hra.traversals.base import Traversal


@dataclass(frozen=True, eq=False)
class Table(ErrorMetric):
    """Returns the values it was given, or the context if it was given none."""

    values: Any = None
    unit: str = "error"
    kind: Literal["error", "gain"] = "error"
    additive: bool = True
    inherit: Any = None
    peaks: Any = None
    inherit_peaks: Any = None

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> Any:
        return context if self.values is None else self.values

    def inherited(self, hierarchy: Hierarchy, context: Any) -> Any:
        return self.inherit

    def peak(self, hierarchy: Hierarchy, context: Any) -> Any:
        return self.evaluate(hierarchy, context) if self.peaks is None else self.peaks

    def inherited_peak(self, hierarchy: Hierarchy, context: Any) -> Any:
        return self.inherit_peaks


class Plain(HierarchicalResourceAllocator):
    """Realises the cut as the list of its nodes."""

    def realize(self, allocation: Allocation) -> list[int]:
        return allocation.cut.tolist()


def allocate(
    hierarchy: Hierarchy,
    values: Any,
    budget: Any,
    traversal: Traversal | None = None,
    kind: Literal["error", "gain"] = "error",
    **facts: Any,
) -> Allocation:
    """Allocate with ``values`` as the metric's table; ``facts`` are further fields of `Table`."""
    return Plain(hierarchy, Table(values, kind=kind, **facts), traversal or hra.Hull()).allocate(None, budget)


def problem_of(
    hierarchy: Hierarchy, values: Any, kind: Literal["error", "gain"] = "error", budget: float = np.inf, **facts: Any
) -> Problem:
    """The problem that a traversal would see."""
    return Problem.of(hierarchy, Table(values, kind=kind, **facts), None, budget)
