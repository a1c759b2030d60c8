"""The rules that are compared, by the names that tables and pictures show."""

from __future__ import annotations

from hra.traversals.base import Traversal
from hra.traversals.best_first import BestFirst
from hra.traversals.exact import Exact
from hra.traversals.hull import Hull
from hra.traversals.threshold import Threshold
from hra_lab.evaluation.random_order import RandomOrder
from hra_lab.evaluation.sort_by_ratio import SortByRatio
from hra_lab.evaluation.sort_with_ancestors import SortWithAncestors
from hra_lab.evaluation.whole_levels import WholeLevels

RULES: dict[str, Traversal] = {
    "Exact": Exact(),
    "Hull": Hull(),
    "Hull, not filled": Hull(finish="none"),
    "best first": BestFirst(),
    "threshold": Threshold(),
    "sort, with ancestors": SortWithAncestors(),
    "sort, one pass": SortByRatio(),
    "whole levels": WholeLevels(),
    "random order": RandomOrder(),
}

# What the library proposes; all others are what is commonly run.
PROPOSED = ("Exact", "Hull", "Hull, not filled")
