"""Ten thousand random instances: no bound is below what can be gained within the budget."""

from __future__ import annotations

import numpy as np
import pytest

from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.solvers.forest.bracket import hull_point
from hra.solvers.relaxation import relaxation
from tests.helpers.allocators import problem_of
from tests.helpers.hierarchies import KINDS, case, random_closed_set
from tests.helpers.references import best_gain, bound_of
from tests.helpers.traversals import TRAVERSALS

INSTANCES, PARTS = 10_000, 10
pytestmark = pytest.mark.slow


def random_problem(seed: int) -> tuple[Problem, np.random.Generator]:
    """A problem of any kind with at most 12 or at most 200 refinements, gains of any scale, and a random budget."""
    kind = list(KINDS)[seed % len(KINDS)]
    hierarchy, values, rng = case(kind, seed, 12 if seed % 3 else 200)
    scale = 10.0 ** rng.integers(-9, 10) * rng.lognormal(sigma=rng.choice([0.0, 1.0, 4.0]), size=values.size)
    budget = hierarchy.base_cost + rng.random() * hierarchy.cost.sum()
    return problem_of(hierarchy, values * scale, "gain", float(np.floor(budget))), rng


def feasible_gain(problem: Problem, rng: np.random.Generator) -> float:
    """The most that any choice gains, or for large hierarchies any traversal and any of some random choices."""
    if len(problem.hierarchy) <= 12:
        return best_gain(problem)
    sets = [traversal.solve(problem).selected for traversal in TRAVERSALS.values() if traversal.objective == "sum"]
    sets += [random_closed_set(rng, problem.hierarchy) for _ in range(5)]
    return max(float(problem.gain @ s) for s in sets if problem.hierarchy.cost @ s <= problem.capacity)


def bounds(problem: Problem) -> dict[str, float]:
    """Every upper bound that the library computes of this problem."""
    found = {"relaxation": relaxation(problem).upper_bound}
    for name in ("hull", "exact"):
        found[name] = bound_of(problem, TRAVERSALS[name].solve(problem))
    hierarchy: Hierarchy = problem.hierarchy
    if hierarchy.parent is not None and problem.capacity > 0 and found["relaxation"] > 0:
        # The bracket that large forests use, from a good and from a bad guess.
        for guess in (found["relaxation"] / max(problem.capacity, 1.0), 1e-3 * found["relaxation"]):
            point = hull_point(problem, guess, 1.13)
            if point is not None:
                found[f"bracket around {guess:g}"] = point.upper_bound
    return found


@pytest.mark.parametrize("part", range(PARTS))
def test_no_bound_is_below_a_feasible_gain(part):
    for seed in range(part, INSTANCES, PARTS):
        problem, rng = random_problem(seed)
        gain = feasible_gain(problem, rng)
        for name, bound in bounds(problem).items():
            assert gain <= bound * (1 + 1e-12), (seed, name)
