"""A traversal of one's own: whole levels first, and the proof that it keeps what hra promises.

Run ``python examples/write_a_traversal.py [FOLDER]``; a plot is written there (default: out).
A package would register it under the entry point group
``hra.traversals``; every command then takes it by name.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import hra
import hra.testing


@dataclass(frozen=True)
class LevelByLevel(hra.Traversal):
    """Every region at the same level, as far as the budget goes; what is left buys the most gain per cost.

    Parameters
    ----------
    fill : whether what is left is spent.
    """

    fill: bool = True

    def select(self, problem):
        """Refinements stand in level order: any number of whole levels is a valid set."""
        sizes = np.diff(problem.hierarchy.level_offsets)
        level = np.repeat(np.arange(sizes.size), sizes)
        spent = np.cumsum(np.bincount(level, problem.cost, sizes.size))
        selected = level < np.searchsorted(spent, problem.capacity, side="right")
        if self.fill:
            selected = hra.complete(problem, selected, problem.ratio, spend_all=False)
        return hra.Solution(selected)


if __name__ == "__main__":
    hra.testing.check_traversal(LevelByLevel())
    print("LevelByLevel keeps its promises on every kind of hierarchy")
    # A quadtree of six levels whose detail lies in one corner.
    levels = np.repeat(np.arange(6), 4 ** np.arange(6))
    parent = (np.arange(levels.size) - 1) // 4
    share = np.random.default_rng(0).dirichlet([4, 1, 0.5, 0.5], levels.size)
    errors = np.ones(levels.size)
    for node in range(1, levels.size):
        errors[node] = errors[parent[node]] * share[parent[node], (node - 1) % 4] * 0.7
    pyramid = hra.Hierarchy.tree(parent, np.ones(levels.size), cost_unit="tokens")
    for traversal in (LevelByLevel(fill=False), LevelByLevel(), hra.Hull()):
        print(f"{traversal}: {hra.solve(pyramid, 130, errors=errors, traversal=traversal)}")
    axes = (figure := Figure(figsize=(7, 4), layout="constrained")).subplots()
    budgets = np.unique(np.geomspace(4, 1000, 40).astype(int))
    for name, traversal in {"levels": LevelByLevel(fill=False), "filled": LevelByLevel(), "hull": hra.Hull()}.items():
        solved = [hra.solve(pyramid, budget, errors=errors, traversal=traversal) for budget in budgets]
        axes.plot(budgets, [allocation.residual for allocation in solved], label=name)
    axes.set(xscale="log", yscale="log", xlabel="tokens", ylabel="error that remains")
    axes.legend()
    (folder := Path(sys.argv[1] if len(sys.argv) > 1 else "out")).mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "traversals.png", dpi=100)
