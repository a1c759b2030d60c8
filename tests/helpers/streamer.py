"""A plain twin of the texture streamer without look-ahead: lists instead of compiled loops."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hra.allocating.allocation import Allocation


@dataclass
class PlainStreamer:
    """Loads what an allocation wants by gain per byte, parents first, and evicts the least recently wanted leaves."""

    cost: list[int]
    parent: list[int]
    pool: int
    upload: int
    recent: list[int] = field(default_factory=list)  # what is there, least recently wanted first

    def step(self, allocation: Allocation) -> tuple[list[int], list[int], set[int]]:
        """Loads, evictions and what is there then."""
        loads: list[int] = []
        evictions: list[int] = []
        if not self.recent:
            loads = [page for page, above in enumerate(self.parent) if above < 0]
            self.recent += loads
        wanted, left = self.in_order(allocation), self.upload
        for page in wanted:
            if page in self.recent:
                continue
            if self.cost[page] > left:
                break
            while sum(self.cost[p] for p in self.recent) + self.cost[page] > self.pool:
                victim = next(p for p in self.recent if self.may_go(p) and p not in wanted)
                self.recent.remove(victim)
                evictions.append(victim)
            self.recent.append(page)
            loads.append(page)
            left -= self.cost[page]
        for page in [p for p in reversed(wanted) if p in self.recent]:
            self.recent.remove(page)
            self.recent.append(page)
        return loads, evictions, set(self.recent)

    def in_order(self, allocation: Allocation) -> list[int]:
        """The wanted pages by falling gain per byte, none before its parent."""
        added_by, gain = allocation.hierarchy.added_by, allocation.problem.gain
        density = {p: float(gain[added_by[p]]) / self.cost[p] if added_by[p] >= 0 else 0.0 for p in allocation.cut}
        rank = {int(p): (-min(density[a] for a in self.line(p)), len(self.line(p)), int(p)) for p in allocation.cut}
        # Mip tails gain nothing and are there: they go last.
        return sorted(rank, key=rank.__getitem__)

    def line(self, page: int) -> list[int]:
        """A page and all above it but the mip tail."""
        found = [page]
        while self.parent[found[-1]] >= 0:
            found.append(self.parent[found[-1]])
        return found

    def may_go(self, page: int) -> bool:
        """Whether it is not a mip tail and has no child there."""
        return self.parent[page] >= 0 and not any(self.parent[p] == page for p in self.recent)


def carry_out(loads: np.ndarray, evictions: np.ndarray, there: set[int], cost: np.ndarray, parent: np.ndarray) -> int:
    """Do to ``there`` what an update asks for, one page at a time; the most bytes at any moment."""
    peak = int(cost[list(there)].sum())
    for page in evictions.tolist():
        there.remove(page)
        assert not any(parent[p] == page for p in there), "a page went under a finer one"
    for page in loads.tolist():
        assert page not in there
        assert parent[page] < 0 or parent[page] in there, "a page came before its parent"
        there.add(page)
        peak = max(peak, int(cost[list(there)].sum()))
    return peak
