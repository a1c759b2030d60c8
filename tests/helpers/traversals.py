"""Every traversal that the library ships, by name; and what rules pick one after another."""

from __future__ import annotations

import hra
from hra.traversals.base import Traversal
from hra.traversals.in_turn import InTurn

TRAVERSALS: dict[str, Traversal] = {
    "hull": hra.Hull(),
    "hull-none": hra.Hull(finish="none"),
    "hull-exact": hra.Hull(spend_all=True),
    "best-first": hra.BestFirst(),
    "largest error first": hra.BestFirst(by="error"),
    "exact": hra.Exact(),
    "coherent": hra.Coherent(),
    "threshold": hra.Threshold(),
    "threshold-tau": hra.Threshold(tau=0.4),
}
FILLING = ("hull", "hull-exact", "exact", "coherent", "best-first")


def cut_of(rules, budget: int, gains, **attributes) -> list[int]:
    """What rules pick of a flat hierarchy of costs 1, as its cut."""
    flat = hra.Hierarchy.flat([1] * len(gains), attributes=attributes)
    return hra.solve(flat, budget, gains=gains, traversal=InTurn(tuple(rules))).cut.tolist()
