"""Every traversal that the library ships, by name."""

from __future__ import annotations

import hra
from hra.traversals.base import Traversal

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
