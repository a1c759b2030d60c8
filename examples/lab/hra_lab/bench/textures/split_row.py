"""Row: one pool split over many textures, by the solver and by the rules of engines."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.traversals.hull import Hull
from hra_lab.bench.harness import Case, Contender
from hra_lab.bench.suite import Scale
from hra_lab.bench.textures.timed_row import timed_row

_SHARES = (0.5, 0.25, 0.1)
_QUOTED = 0.25
# The coarsest levels of every chain are always resident.
_TAIL_LEVELS = 3


@dataclass(frozen=True, eq=False)
class Chains:
    """Mip chains from their tails to the wanted levels.

    Attributes
    ----------
    hierarchy : one chain per texture, coarse to fine.
    gain : float64 [R], pixels that see each level: the error of a pixel is the number of levels that it misses.
    steps : int32 [R], levels between each refinement and the wanted level.
    """

    hierarchy: Hierarchy
    gain: np.ndarray
    steps: np.ndarray

    def problem(self, share: float) -> Problem:
        """The split of ``share`` of what all wanted levels take."""
        budget = self.hierarchy.base_cost + share * (self.hierarchy.total_cost - self.hierarchy.base_cost)
        return Problem(self.hierarchy, self.gain, 0.0, budget, "pixel levels", True, self.gain.copy)


@dataclass(frozen=True)
class SplitBenchmark:
    """Textures of 256 to 4096 texels, each wanted at the level that its size on the screen asks for."""

    name: str
    textures: int
    needs: tuple[str, ...] = ()

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """The row: the seconds are those of a quarter of the bytes; errors are multiples of the least possible one."""
        chains = made_up_chains(self.textures if scale == "full" else 60)
        rules = {"Godot's rule": _largest_first, "uniform bias": _uniform_bias}
        contenders = (
            Contender("hra", Hull().solve, read=lambda solution: solution.selected),
            *(Contender(name, partial(_by_rule, rule, chains)) for name, rule in rules.items()),
        )
        case = Case(contenders, lambda _: chains.problem(_QUOTED), lambda *_: {}, len(chains.gain), 0)
        results = {key: value for share in _SHARES for key, value in _errors(chains, share, rules).items()}
        row = timed_row(self.name, case, "Godot's rule", repeat, results)
        return row | {"gap": _allocation(chains.problem(_QUOTED)).gap}


def made_up_chains(count: int, seed: int = 0) -> Chains:
    """Textures whose sizes, areas on the screen and wanted levels are random."""
    random = np.random.default_rng(seed)
    top = random.integers(8, 13, count)
    pixels = np.exp(random.normal(7, 2, count))
    wanted = np.log2(2.0**top / np.sqrt(pixels) / random.lognormal(0, 0.5, count))
    wanted = np.clip(np.round(wanted), 0, top - _TAIL_LEVELS).astype(int)
    lengths = top - _TAIL_LEVELS - wanted + 1
    steps = np.concatenate([np.arange(length - 1, -1, -1) for length in lengths])
    level = np.repeat(wanted, lengths) + steps
    cost = 4.0 * np.exp2(2 * (np.repeat(top, lengths) - level))
    hierarchy = Hierarchy.chains(lengths, cost, cost_unit="bytes")
    by_refinement = np.flatnonzero(hierarchy.added_by >= 0)
    order = by_refinement[np.argsort(hierarchy.added_by[by_refinement])]
    return Chains(hierarchy, np.repeat(pixels, lengths)[order], steps[order].astype(np.int32))


def _allocation(problem: Problem) -> Allocation:
    """The answer of the solver, which states its bound."""
    return Allocation(problem, Hull().solve(problem), seconds=0.0)


def _by_rule(rule: Any, chains: Chains, problem: Problem) -> np.ndarray:
    return rule(chains, problem.capacity)


def _largest_first(chains: Chains, capacity: float) -> np.ndarray:
    """Drop the level with the most bytes until all fits; finer levels of a chain have more."""
    cost = chains.hierarchy.cost
    order = np.lexsort((np.arange(cost.size), cost))
    kept = np.zeros(cost.size, np.bool_)
    kept[order[: np.searchsorted(np.cumsum(cost[order]), capacity, side="right")]] = True
    return kept


def _uniform_bias(chains: Chains, capacity: float) -> np.ndarray:
    """Drop the finest wanted level of every chain, again and again, until all fits."""
    for bias in range(int(chains.steps.max(initial=0)) + 1):
        if chains.hierarchy.cost[chains.steps >= bias].sum() <= capacity:
            return chains.steps >= bias
    return np.zeros(chains.steps.size, np.bool_)


def _errors(chains: Chains, share: float, rules: dict[str, Any]) -> dict[str, float]:
    """Error of every rule as a multiple of the bound of the relaxation."""
    problem = chains.problem(share)
    allocation = _allocation(problem)
    least = allocation.least_residual
    errors = {"hra": allocation.residual}
    for name, rule in rules.items():
        errors[name] = problem.base_error - float(problem.gain[rule(chains, problem.capacity)].sum())
    return {f"{name} at {share:.0%}": error / least for name, error in errors.items()}
