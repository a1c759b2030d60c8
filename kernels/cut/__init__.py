"""Cuts of many members over one forest: the best set at a price by level sweeps, and the price of a budget."""

from __future__ import annotations

from hra.kernels.cut.forest import Cut, Forest
from hra.kernels.cut.search import all_valid, check_gain, price_search, tree_sweep

__all__ = ["Cut", "Forest", "all_valid", "check_gain", "price_search", "tree_sweep"]
