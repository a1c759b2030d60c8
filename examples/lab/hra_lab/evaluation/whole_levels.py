"""One level of detail everywhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.model.problem import Problem
from hra.model.solution import Solution
from hra.solvers.fill import complete
from hra.traversals.base import Traversal


@dataclass(frozen=True)
class WholeLevels(Traversal):
    """Refine level by level, whatever a refinement gains; the level that is reached last is filled in storage order.

    Needs the node attribute ``level``, 0 at the finest.
    """

    def select(self, problem: Problem) -> Solution:
        """The finest uniform level that fits, and the beginning of the next one."""
        hierarchy = problem.hierarchy
        offsets, nodes = hierarchy.added_nodes
        first = nodes[offsets[:-1]]
        order = np.lexsort((first, -hierarchy.attribute("level")[first]))
        return Solution(in_order(problem, order))


def in_order(problem: Problem, order: np.ndarray) -> np.ndarray:
    """Refinements [R] taken in ``order`` (int [R]) as far as they are ready and fit, gain or not."""
    priority = np.empty(order.size)
    priority[order] = np.arange(order.size, 0, -1)
    return complete(problem, np.zeros(order.size, np.bool_), priority, spend_all=True)
