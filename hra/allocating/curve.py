"""Gain against budget: every hull point from one solve."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace

import numpy as np

from hra.model.problem import Problem
from hra.model.sets import total
from hra.solvers.dag.dag_relaxation import price_range
from hra.solvers.dag.split_flow import closure, even_shares
from hra.solvers.forest.pava import hull_slopes
from hra.solvers.reduction import join

# Prices tried on a DAG, evenly on a logarithmic scale, and sweeps at each.
_PRICES, _SWEEPS = 64, 60
_LEAST = np.finfo(np.float64).tiny


@dataclass(frozen=True, eq=False, repr=False)
class Curve:
    """Hull points from the base to full use, by rising cost; gain is concave in cost.

    Attributes
    ----------
    cost : float64 [K], with the base, in the hierarchy's cost unit; a budget of as much pays for the point if it covers
        the coarsest level, which costs more than some points where refinements cost less than nothing.
    gain, residual : float64 [K], error removed and error that remains, in the metric's unit.
    """

    cost: np.ndarray
    gain: np.ndarray
    residual: np.ndarray

    def __repr__(self) -> str:
        return f"Curve({self.cost.size:,} hull points, cost {self.cost[0]:,.12g} to {self.cost[-1]:,.12g})"

    def _repr_png_(self) -> bytes | None:
        return _png(self.cost, self.residual)


def curve(problem: Problem) -> Curve:
    """All hull points of a forest; on a DAG those met at a range of prices, each with the best set that was found."""
    whole = problem.hierarchy
    sure = 0.0  # what the base gains with all that makes room in it
    if whole.shrinks:
        joined = join(whole)
        sure = total(problem.gain, joined.group < 0)
        problem = joined.problem(problem)
    # Costs without a common unit are rounded up: a budget of what a point costs pays for it.
    problem = replace(problem, strict=not problem.hierarchy.units.exact)
    cost, gain = _forest(problem) if problem.hierarchy.parent is not None else _dag(problem)
    units = problem.hierarchy.units
    cost = units.costs(cost + units.ceil(problem.hierarchy.cost_of(_pin(problem))))
    return Curve(cost, gain + sure, np.maximum(problem.base_error - gain, 0.0))


def _pin(problem: Problem) -> np.ndarray:
    return np.zeros(len(problem.hierarchy), np.bool_) if problem.pinned is None else problem.pinned


def _forest(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    hierarchy = problem.hierarchy
    slope = hull_slopes(hierarchy.first_child, problem.gain, problem.slope_cost)
    order = np.argsort(-slope, kind="stable")
    order = order[slope[order] > 0]
    # Refinements of one slope are taken together: only where it falls is there a hull point.
    last = np.append(slope[order][1:] < slope[order][:-1], True)[: order.size]
    cost, gain = np.cumsum(problem.cost[order])[last], np.cumsum(problem.gain[order])[last]
    # Free refinements of different slopes lie at one cost: the last of them counts.
    dearer = np.append(cost[1:] > cost[:-1], True)[: cost.size]
    cost, gain = cost[dearer], gain[dearer]
    # The base is in front, unless something is free.
    return (cost, gain) if cost.size and cost[0] == 0 else (np.r_[0.0, cost], np.r_[0.0, gain])


def _dag(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    order = problem.hierarchy.predecessors
    share, selected = even_shares(order[0]), np.empty(len(problem.hierarchy), np.bool_)
    points = [(0.0, 0.0)]
    low, high = price_range(problem)
    # At the lowest price that matters a refinement may be worth exactly nothing, and quotients may vanish: end at none.
    for price in np.append(np.geomspace(max(high, _LEAST), max(low, _LEAST), _PRICES - 1), 0.0):
        closure(order, problem.gain, problem.cost, price, share, _SWEEPS, selected)
        points.append((total(problem.cost, selected), total(problem.gain, selected)))
    return _concave(sorted(set(points)))


def _concave(points: list[tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    """Those of (cost, gain) by rising cost that lie on their upper convex hull (monotone chain, Andrew 1979)."""
    kept: list[tuple[float, float]] = []
    for c, g in points:
        if kept and g <= kept[-1][1]:
            continue
        if kept and c == kept[-1][0]:
            kept.pop()
        while len(kept) > 1 and _below(kept[-2], kept[-1], (c, g)):
            kept.pop()
        kept.append((c, g))
    hull = np.array(kept)
    return hull[:, 0], hull[:, 1]


def _below(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Whether b lies on or below the line from a to c."""
    return (b[1] - a[1]) * (c[0] - a[0]) <= (c[1] - a[1]) * (b[0] - a[0])


def _png(cost: np.ndarray, residual: np.ndarray) -> bytes | None:
    """What remains against the cost, as PNG; None without Matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    figure, stream = Figure(figsize=(6, 3.5), layout="constrained"), io.BytesIO()
    axes = figure.subplots()
    axes.plot(cost, residual, color="#0072b2")
    axes.set_xlabel("cost")
    axes.set_ylabel("error that remains")
    axes.grid(alpha=0.3)
    figure.savefig(stream, format="png", dpi=100)
    return stream.getvalue()
