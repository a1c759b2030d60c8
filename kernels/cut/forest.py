"""Forests of refinements, and cuts of many members over one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from hra.caching import cached_property
from hra.kernels.backends import fetch, load_warp


@dataclass(frozen=True, eq=False)
class LevelForest:
    """Refinements in level order, the children of each side by side.

    Parameters
    ----------
    level_offsets : where each level begins, and last the number of refinements R.
    parent : int32 [R], -1 for the refinements of the first level.
    first_child : int32 [R + 1], the children of r are ``first_child[r] .. first_child[r + 1] - 1``.
    cost : float64 [R], >= 0.
    base_cost : cost of what is there before any refinement.
    """

    level_offsets: tuple[int, ...]
    parent: Any
    first_child: Any
    cost: Any
    base_cost: float = 0.0

    def __len__(self) -> int:
        """Number of refinements R."""
        return self.level_offsets[-1]

    @property
    def roots(self) -> int:
        """Number of refinements of the first level."""
        return self.level_offsets[1] if len(self.level_offsets) > 1 else 0

    @property
    def levels(self) -> list[tuple[int, int]]:
        """Begin and end of every level, coarse to fine."""
        return list(pairwise(self.level_offsets))

    def to(self, device: str) -> LevelForest:
        """The same forest as Warp arrays on ``device``; keep it where several calls share it."""
        wp = load_warp()
        parent, first_child, cost = (wp.array(a, device=device) for a in (self.parent, self.first_child, self.cost))
        sent = LevelForest(self.level_offsets, parent, first_child, cost, self.base_cost)
        vars(sent)["total_cost"] = self.total_cost
        return sent

    @cached_property
    def total_cost(self) -> float:
        """The cost of all refinements; fetched from a device once, where the forest was not sent by `to`."""
        return float(fetch(self.cost).sum())


@dataclass(frozen=True, eq=False)
class ForestCut:
    """One set of refinements per member.

    Parameters
    ----------
    selected : bool [B, R], valid: no refinement without its parent.
    cost : float64 [B], the base included.
    gain : float64 [B].
    bound : float64 [B], best value of gain - price * (cost - base cost) at the prices of `tree_sweep`; for
        `price_search`, what no set within the capacity can exceed, rounded outward; None for `hull_points`.
    price : float64 [B], gain per cost at which ``bound`` was found; for `hull_points`, that of the hull point.
    """

    selected: Any
    cost: Any
    gain: Any
    bound: Any
    price: Any
