"""Cuts of many members over one forest: the best set at a price by level sweeps, and the price of a budget.

The arithmetic of a batch on a device, or in NumPy as its oracle; on the host the core's solvers are faster and prove
more.
"""

from __future__ import annotations

from hra.kernels.cut.chains import ChainGains, Chains, chain_cut, chain_gains
from hra.kernels.cut.forest import ForestCut, LevelForest
from hra.kernels.cut.search import all_valid, check_gain, hull_points, price_search, tree_sweep

__all__ = [
    "ChainGains",
    "Chains",
    "ForestCut",
    "LevelForest",
    "all_valid",
    "chain_cut",
    "chain_gains",
    "check_gain",
    "hull_points",
    "price_search",
    "tree_sweep",
]
