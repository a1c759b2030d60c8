"""Whether what an allocation states is true, by rational brute force; and allocations that state something else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import inf, isfinite, ulp
from typing import Any

import numpy as np

import hra
from hra.allocating.allocation import Allocation
from hra.model.sets import take_with_predecessors
from hra.solvers.duals import Certificate
from tests.helpers.instances import Instance
from tests.helpers.rational import Exactly

STATED = ("cost", "gain", "residual", "shortfall", "upper_bound", "certificate")


def is_true(claims: Allocation) -> bool:
    """Whether everything that ``claims`` states holds."""
    exactly, selected = Exactly.of(claims.problem), claims.selected
    closed = all(selected[a] or not selected[b] for a, b in claims.hierarchy.edges.tolist())
    kept = all(taken or not pin for taken, pin in zip(selected.tolist(), exactly.pinned, strict=True))
    valid = closed and kept and claims.problem.gain.min(initial=0) >= 0 and claims.budget >= 0
    valid = valid and exactly.least_error >= 0
    spent, gained = exactly.spent(selected), exactly.gained(selected)
    residual = exactly.least_error + exactly.everything - gained
    numbers = ((claims.cost, spent), (claims.gain, gained), (claims.residual, residual))
    if not (valid and exactly.affordable(spent) and all(_near(*pair) for pair in numbers)):
        return False
    if not (isfinite(claims.shortfall) and claims.shortfall >= 0 and isfinite(claims.upper_bound)):
        return False
    best, claim = exactly.best(), gained + Fraction(claims.shortfall)
    return best is not None and best <= claim <= Fraction(claims.upper_bound)


def _near(claim: float, exact: Fraction) -> bool:
    return isfinite(claim) and abs(Fraction(claim) - exact) < Fraction(ulp(claim))


def stating(allocation: Allocation, **changes: Any) -> Allocation:
    """What ``allocation`` states, but for ``changes``; nothing is recomputed and nothing checked."""
    forged = object.__new__(Allocation)
    facts = {name: getattr(allocation, name) for name in ("problem", "solution", "seconds", "context", *STATED)}
    forged.__dict__.update({**facts, **changes})
    return forged


def reshaping(hierarchy: hra.Hierarchy, **fields: Any) -> hra.Hierarchy:
    """``hierarchy`` with other ``fields``, which no constructor lets pass; nothing is checked."""
    forged = object.__new__(hra.Hierarchy)
    kept = {name: getattr(hierarchy, name) for name in hra.Hierarchy.__dataclass_fields__}
    forged.__dict__.update({**kept, **fields})
    return forged


def forgeries(true: Allocation, rng: np.random.Generator) -> Iterator[tuple[str, Allocation]]:
    """Changed statements of more than twenty kinds; some of them may still be true."""
    problem, solution, proof = true.problem, true.solution, true.certificate
    r, v = int(rng.integers(len(true.hierarchy))), int(rng.integers(true.hierarchy.node_cost.size))
    less, more = float(rng.choice([0.0, 0.5, 1 - 1e-9])), float(rng.choice([1 + 1e-9, 2.0, 1e9]))
    selected = true.selected.copy()
    selected[r] = not selected[r]
    yield "selection", stating(true, solution=replace(solution, selected=selected))
    for kind, other in _selections(true.selected, rng):
        yield kind, stating(true, solution=replace(solution, selected=other))
    yield "cost for gain", stating(true, cost=true.gain, gain=true.cost)
    yield "gain for residual", stating(true, gain=true.residual, residual=true.gain)
    yield "least error", stating(true, problem=replace(problem, least_error=problem.least_error * more + 1.0))
    yield "over budget", stating(true, problem=replace(problem, budget=true.cost * less))
    for name in ("cost", "gain", "residual"):
        yield name, stating(true, **{name: getattr(true, name) * float(rng.choice([less, more])) + 1e-300})
    yield "shortfall", stating(true, shortfall=true.shortfall * less)
    yield "upper bound", stating(true, upper_bound=true.upper_bound * less)
    yield "no number", stating(true, **{str(rng.choice(STATED[:5])): float(rng.choice([np.nan, inf, -inf, -1.0]))})
    lower = {"shortfall": true.shortfall * less, "upper_bound": true.gain + true.shortfall * less}
    for kind, forged in _proofs(proof, rng):
        yield kind, stating(true, certificate=forged, **lower)
    yield "budget", stating(true, problem=replace(problem, budget=true.budget * more + 1))
    yield "no pins", stating(true, problem=replace(problem, pinned=None))
    pinned = np.zeros(len(true.hierarchy), np.bool_)
    pinned[r] = True
    take_with_predecessors(*true.hierarchy.predecessors, pinned)
    yield "pins", stating(true, problem=replace(problem, pinned=pinned))
    gain = problem.gain.copy()
    gain[r] = gain[r] * float(rng.choice([less, more])) + float(rng.choice([0.0, 1.0, -1.0]))
    yield "gains", stating(true, problem=replace(problem, gain=gain))
    node_cost = true.hierarchy.node_cost.copy()
    node_cost[v] = node_cost[v] * float(rng.choice([less, 1.5])) + float(rng.choice([0.0, 0.1]))
    yield "node costs", stating(true, problem=replace(problem, hierarchy=replace(true.hierarchy, node_cost=node_cost)))


def _selections(selected: np.ndarray, rng: np.random.Generator) -> Iterator[tuple[str, np.ndarray]]:
    """Other sets of refinements."""
    yield "nothing selected", np.zeros_like(selected)
    yield "everything selected", np.ones_like(selected)
    yield "the others selected", ~selected
    yield "selection of other refinements", rng.permutation(selected)


def _proofs(proof: Certificate, rng: np.random.Generator) -> Iterator[tuple[str, Certificate]]:
    """Certificates that prove something else, or nothing."""
    yield "price", replace(proof, price=proof.price * float(rng.choice([0.0, -1.0, 0.9, 1e6, np.nan, inf])) + 1e-9)
    yield "unit", replace(proof, unit=proof.unit * int(rng.choice([0, -1, 7])))
    for _ in range(3 if proof.flow.size else 0):
        flow = proof.flow.copy()
        k = int(rng.integers(flow.size))
        flow[k] = float(rng.choice([-1.0, np.nan, inf, -flow[k] - 1, flow[k] * 2 + 1, flow[k] * 0.5, 1e300]))
        yield "flow", replace(proof, flow=flow)


def small(rng: np.random.Generator) -> Instance:
    """A small forest or graph, with a budget that decides something."""
    size = int(rng.integers(2, 9))
    cost = rng.choice([rng.integers(0, 6, size).astype(float), rng.integers(0, 99, size) / 10, rng.random(size)])
    if rng.random() < 0.5:
        parent = [-1, *(int(rng.integers(-1, i)) for i in range(1, size))]
        hierarchy = hra.Hierarchy.tree(parent, cost, mode="add" if rng.random() < 0.5 else "replace")
    else:
        edges = [(a, b) for b in range(size) for a in range(b) if rng.random() < 0.3]
        hierarchy = hra.Hierarchy.dag(cost, np.array(edges, np.int32).reshape(-1, 2))
    gain = rng.choice([rng.integers(0, 9, len(hierarchy)).astype(float), rng.random(len(hierarchy))])
    most = max(hierarchy.largest_cost, hierarchy.base_cost)
    budget = hierarchy.base_cost + round(float(rng.random() * (most - hierarchy.base_cost)), 1)
    return Instance(hierarchy, gain, max(budget, hierarchy.base_cost), float(rng.choice([0.0, 1.0])))
