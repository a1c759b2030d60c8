"""Copies of a few hierarchies, as the loops over them want them: rows of refinements, one lane for each copy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hra.caching import cached_property
from hra.errors import HierarchyError
from hra.model.arrays import EXACT_LIMIT, offsets_of
from hra.model.hierarchy import Hierarchy
from hra.model.sets import cost_step


class Rows(NamedTuple):
    """The refinements of all kinds one after the other, each a row with one lane for each copy of its kind.

    Attributes
    ----------
    first : int64 [K + 1], where the rows of each kind begin.
    at : int64 [Q + 1], where the lanes of each row begin; those of row q of lane i lie at ``at[q] + i``.
    before, needed : offsets int64 [Q + 1] and rows int64 [E], the predecessors of each row.
    after, opened : the same for successors.
    cost : float64 [Q], in units.
    """

    first: np.ndarray
    at: np.ndarray
    before: np.ndarray
    needed: np.ndarray
    after: np.ndarray
    opened: np.ndarray
    cost: np.ndarray


@dataclass(frozen=True, eq=False)
class Copies:
    """Kinds of hierarchies, and how many copies there are of each.

    Attributes
    ----------
    hierarchies : K kinds whose costs have one common unit, none below 0 (see `suits`).
    counts : copies of each kind, each >= 1.

    Raises
    ------
    HierarchyError : costs of all copies together are too many units to add up exactly.
    """

    hierarchies: tuple[Hierarchy, ...]
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self._are_exact(self.hierarchies, self.counts):
            what = "the costs of all copies are too many units to add up exactly"
            raise HierarchyError(
                what, where="cost", fix="use a larger cost unit, round costs to fewer digits, or hra.pool"
            )

    @staticmethod
    def suits(hierarchies: Sequence[Hierarchy], counts: Sequence[int]) -> bool:
        """Whether all costs are whole numbers of one unit whose sums over all copies are exact, and none is below 0."""
        alike = len({h.units.size for h in hierarchies}) == 1
        whole = alike and all(h.units.exact and not h.shrinks for h in hierarchies)
        return whole and Copies._are_exact(hierarchies, counts)

    @staticmethod
    def _are_exact(hierarchies: Sequence[Hierarchy], counts: Sequence[int]) -> bool:
        """Whether doubles count the units of all copies, and the union of all counts costs as each copy does."""
        units = hierarchies[0].units
        most = EXACT_LIMIT / 4 if units.decimal and units.size != 1 else EXACT_LIMIT  # see `hra.model.units`
        return sum(count * h.units.whole for h, count in zip(hierarchies, counts, strict=True)) <= most

    @cached_property
    def rows(self) -> Rows:
        """All refinements as rows of lanes."""
        sizes = [len(hierarchy) for hierarchy in self.hierarchies]
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        starts = first[:-1].tolist()
        before, needed = _joined([h.predecessors for h in self.hierarchies], starts)
        after, opened = _joined([h.successors for h in self.hierarchies], starts)
        at = np.concatenate([[0], np.cumsum(np.repeat(self.counts, sizes))]).astype(np.int64)
        cost = np.concatenate([h.unit_cost for h in self.hierarchies])
        return Rows(first, at, before, needed, after, opened, cost)

    @property
    def lanes(self) -> int:
        """Refinements of all copies together."""
        return int(self.rows.at[-1])

    @cached_property
    def base_units(self) -> float:
        """What the bases of all copies cost, in units."""
        units = [float(h.units.value(h.base_cost)) for h in self.hierarchies]
        return math.fsum(count * base for count, base in zip(self.counts, units, strict=True))

    @property
    def base_cost(self) -> float:
        """The smallest budget that serves all copies, in cost units."""
        return self.hierarchies[0].units.cost(self.base_units)

    def capacity(self, budget: float) -> float:
        """What ``budget`` leaves for refinements, in units: what sums of costs can reach of it; finite."""
        rows = self.rows
        most = float(rows.cost @ np.diff(rows.at))
        left = min(self.hierarchies[0].units.floor(budget) - self.base_units, most)
        step = cost_step(rows.cost)
        return left // step * step if step else left

    def parts(self, values: np.ndarray) -> list[np.ndarray]:
        """``values`` of all lanes [Q lanes] as one view [R, I] for each kind."""
        first, at = self.rows.first.tolist(), self.rows.at
        ends = zip(first[:-1], first[1:], self.counts, strict=True)
        return [values[at[begin] : at[end]].reshape(end - begin, count) for begin, end, count in ends]


def _joined(orders: Sequence[tuple[np.ndarray, np.ndarray]], starts: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    degrees = np.concatenate([np.diff(offsets) for offsets, _ in orders])
    others = np.concatenate([other + start for (_, other), start in zip(orders, starts, strict=True)])
    return offsets_of(degrees).astype(np.int64), others.astype(np.int64)
