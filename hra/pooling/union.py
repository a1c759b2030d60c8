"""Several hierarchies as one: the basis of shared pools.

`join_problems` makes one problem of theirs over that union.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from hra.errors import UnitMismatch
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra.model.topology import Topology
from hra.model.units import rescale


def union(members: Sequence[Hierarchy]) -> tuple[Hierarchy, list[np.ndarray]]:
    """The disjoint union of hierarchies of one cost unit, with each member's place in it.

    Returns
    -------
    hierarchy : refinements of all members in a common level order; nodes of the members one after the other.
    refinements : per member, int [R_i], the refinements' indices in the union.

    Raises
    ------
    UnitMismatch : the members count different things.
    """
    units = sorted({member.cost_unit for member in members})
    if len(units) != 1:
        raise UnitMismatch("one pool needs one cost unit", where=", ".join(units), fix="let every member cost bytes")
    level = np.concatenate([_levels(member) for member in members])
    rank = np.empty(level.size, np.int32)
    rank[np.argsort(level, kind="stable")] = np.arange(level.size, dtype=np.int32)
    refinements = np.split(rank, np.cumsum([len(member) for member in members])[:-1])
    added = np.concatenate([_move(m.added_by, r) for m, r in zip(members, refinements, strict=True)])
    removed = np.concatenate([_move(m.removed_by, r) for m, r in zip(members, refinements, strict=True)])
    edges = np.concatenate([r[m.edges] for m, r in zip(members, refinements, strict=True)])
    cost = np.concatenate([member.node_cost for member in members])
    shape = Topology(rank.size, added, removed, edges)
    return Hierarchy.from_topology(cost, shape, cost_unit=units[0]), refinements


def edge_order(members: Sequence[Hierarchy], refinements: Sequence[np.ndarray]) -> np.ndarray:
    """Which edge of the members, one after the other, each edge of their `union` is: int [E].

    Parameters
    ----------
    refinements : per member, int [R_i], see `union`.
    """
    edges = np.concatenate([place[member.edges] for member, place in zip(members, refinements, strict=True)])
    return np.lexsort((edges[:, 0], edges[:, 1]))


class Unions:
    """Remembers the last few unions, so that a pool over the same hierarchies joins them only once.

    Threads may share it: each step on the dictionary is one that others cannot come between.
    """

    def __init__(self, kept: int = 4) -> None:
        self._kept = kept
        self._known: dict[tuple[Hierarchy, ...], tuple[Hierarchy, list[np.ndarray]]] = {}

    def of(self, members: Sequence[Hierarchy]) -> tuple[Hierarchy, list[np.ndarray]]:
        """`union` of ``members``: the same object for the same hierarchies."""
        key = tuple(members)  # hierarchies compare by identity
        joined = self._known.pop(key, None) or union(members)
        self._known[key] = joined
        for old in list(self._known)[: -self._kept]:
            self._known.pop(old, None)
        return joined


def _levels(member: Hierarchy) -> np.ndarray:
    return np.repeat(np.arange(member.level_offsets.size - 1), np.diff(member.level_offsets))


def _move(index: np.ndarray, place: np.ndarray) -> np.ndarray:
    return np.r_[place, np.int32(-1)][index]


def join_problems(
    whole: Hierarchy, problems: Sequence[Problem], places: Sequence[np.ndarray], budget: float
) -> Problem:
    """One problem over ``whole``, the union of the problems' hierarchies.

    Parameters
    ----------
    places : per problem, int [R_i], the indices of its refinements in ``whole``.

    Raises
    ------
    UnitMismatch : the problems measure errors in different units.
    """
    units = sorted({problem.unit for problem in problems})
    if len(units) != 1:
        fix = "use metrics of one unit, or scale one of them"
        raise UnitMismatch("one pool needs one unit of error", where=", ".join(units), fix=fix)
    gain = _place([problem.gain for problem in problems], places)
    least_error = math.fsum(problem.least_error for problem in problems)
    additive = all(problem.additive for problem in problems)
    steps = [problem.previous for problem in problems if problem.previous is not None]
    previous = _place(steps, places) if len(steps) == len(problems) else None
    peak = partial(_joined_peak, tuple(problems), tuple(places))
    # Members of one pool ended the last step at one price, unless a limit held them: it is only a guess.
    first = problems[0]
    guess = None if first.price is None else rescale(first.price, first.hierarchy.units.size, whole.units.size)
    return Problem(whole, gain, least_error, budget, units[0], additive, peak, previous=previous, price=guess)


def _joined_peak(problems: Sequence[Problem], places: Sequence[np.ndarray]) -> np.ndarray:
    return _place([problem.peak for problem in problems], places)


def _place(parts: Sequence[np.ndarray], places: Sequence[np.ndarray]) -> np.ndarray:
    """Every member's values [R_i] at its places in the union."""
    values = np.concatenate(parts)
    result = np.empty_like(values)
    result[np.concatenate(places)] = values
    return result
