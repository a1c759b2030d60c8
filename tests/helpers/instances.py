"""Hard instances for the allocator, drawn by hypothesis: each family is hard in one way and anything else in others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from hra.allocating.allocation import Allocation
from hra.allocating.allocator import HierarchicalResourceAllocator
from hra.model.gains import peak_values
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.model.problem import Problem
from hra.model.solution import Solution
from hra.model.topology import Topology
from hra.traversals.base import Traversal

Draw = Callable[[st.SearchStrategy[Any]], Any]
Costs = Callable[[Draw, int], np.ndarray]
Shape = Callable[[Draw, Costs, int], Hierarchy]
MOST = 12


@dataclass(frozen=True, eq=False, repr=False)
class Instance:
    """What is allocated: gains [R], nodes that are pinned, and what the last step of a sequence took."""

    hierarchy: Hierarchy
    gain: np.ndarray
    budget: float
    least_error: float = 0.0
    pinned: tuple[int, ...] | None = None
    previous: np.ndarray | None = None

    @property
    def problem(self) -> Problem:
        """The problem without what modifies it."""
        peak = peak_values(self.hierarchy, np.append(self.gain, 0.0)[self.hierarchy.added_by])
        return Problem(self.hierarchy, self.gain.copy(), self.least_error, self.budget, "error", True, lambda: peak)

    def allocate(self, traversal: Traversal) -> Allocation:
        """What ``traversal`` makes of it, by way of an allocator."""
        before = None
        if self.previous is not None:
            before = Allocation(replace(self.problem, budget=np.inf), Solution(self.previous.copy()), 0.0)
        return Given(self.hierarchy, NoMetric(), traversal).allocate(
            self, self.budget, previous=before, pinned=self.pinned
        )

    def __repr__(self) -> str:
        h = self.hierarchy
        nodes = f"{h.node_cost.tolist()}, {h.added_by.tolist()}, {h.removed_by.tolist()}, {h.edges.tolist()}"
        rest = f"{self.gain.tolist()}, {self.budget!r}, {self.least_error!r}, {self.pinned}"
        return f"Instance({nodes}, {rest}, {None if self.previous is None else self.previous.tolist()})"


class NoMetric(ErrorMetric):
    """Stands where a metric must; the instance has the gains."""

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> Any:
        raise NotImplementedError


class Given(HierarchicalResourceAllocator):
    """The context is the instance."""

    def problem_for(self, hierarchy: Hierarchy, context: Instance, budget: float) -> Problem:
        return replace(context.problem, budget=budget)

    def realize(self, allocation: Allocation) -> list[int]:
        return allocation.cut.tolist()


def _ints(draw: Draw, size: int, most: int) -> np.ndarray:
    return np.array(draw(st.lists(st.integers(0, most), min_size=size, max_size=size)), np.float64)


def _floats(draw: Draw, size: int) -> np.ndarray:
    return np.array(draw(st.lists(st.floats(0.0, 1.0), min_size=size, max_size=size)), np.float64)


def _picked(draw: Draw, size: int, values: list[float]) -> np.ndarray:
    return np.array(draw(st.lists(st.sampled_from(values), min_size=size, max_size=size)), np.float64)


def _magnitudes(draw: Draw, size: int, low: int, high: int) -> np.ndarray:
    """Numbers whose decimal exponents are anywhere between two."""
    return (1.0 + _floats(draw, size)) * 10.0 ** (low + _ints(draw, size, high - low))


_UNEVEN = [0.0, 0.1, 0.2, 0.3, 1.0, 1.0 + 2**-52, 3.7, 1e6, 1e14, 1e14 + 4.0, 123456.789, 1e-9, 2.0**40 + 0.125]
COSTS: dict[str, Costs] = {
    "whole": lambda draw, n: _ints(draw, n, 6),
    "cents": lambda draw, n: _ints(draw, n, 999) / 100,
    "tenths": lambda draw, n: _ints(draw, n, 9) / 10,
    "eighths": lambda draw, n: _ints(draw, n, 40) / 8,
    "digits": lambda draw, n: 10.0 * _floats(draw, n),
    "uneven": lambda draw, n: _picked(draw, n, _UNEVEN),
    "magnitudes": lambda draw, n: _magnitudes(draw, n, -20, 13),
    "tiny": lambda draw, n: _ints(draw, n, 9) * draw(st.sampled_from([5e-324, 1e-310, 1e-300, 1.7e-200])),
    "same": lambda draw, n: np.full(n, draw(st.sampled_from([1.0, 0.1, 3.0, 1 / 3, 1e-30]))),
    "free": lambda draw, n: _picked(draw, n, [0.0, 0.0, 0.0, 1.0, 0.25]),
}
GAINS: dict[str, Callable[[Draw, int], np.ndarray]] = {
    "whole": lambda draw, n: _ints(draw, n, 9),
    "few": lambda draw, n: _ints(draw, n, 1),
    "reals": lambda draw, n: _floats(draw, n),
    "range": lambda draw, n: _magnitudes(draw, n, -300, 300),
    "dominant": lambda draw, n: _picked(draw, n, [1e13, 3.0, 1.6, 1.4, 0.7, 0.1, 0.0, 1e16, 1e-9]),
    "subnormal": lambda draw, n: _ints(draw, n, 9) * 5e-324,
}


def parents(draw: Draw, size: int, *, deep: bool = False) -> np.ndarray:
    """Parents of a forest, numbered from coarse to fine; in a deep one each node follows one of the last two."""
    nearest = [draw(st.integers(max(i - 2, 0) if deep else -1, i - 1)) for i in range(1, size)]
    return np.array([-1, *nearest])


def _tree(mode: Any, *, deep: bool = False) -> Shape:
    def make(draw: Draw, costs: Costs, most: int) -> Hierarchy:
        size = draw(st.integers(20, 23)) if deep else draw(st.integers(1, most))
        return Hierarchy.tree(parents(draw, size, deep=deep), costs(draw, size), mode=mode)

    return make


def _chain(draw: Draw, costs: Costs, most: int) -> Hierarchy:
    size = draw(st.integers(20, 30))
    return Hierarchy.chains([size], costs(draw, size))


def _flat(draw: Draw, costs: Costs, most: int) -> Hierarchy:
    return Hierarchy.flat(costs(draw, draw(st.integers(1, most))))


def _edges(draw: Draw, size: int) -> np.ndarray:
    """Up to three predecessors for each refinement."""
    pairs = []
    for i in range(1, size):
        pairs += [(p, i) for p in draw(st.sets(st.integers(0, i - 1), max_size=3))]
    return np.array(pairs, np.int32).reshape(-1, 2)


def _dag(draw: Draw, costs: Costs, most: int) -> Hierarchy:
    size = draw(st.integers(2, most))
    return Hierarchy.dag(costs(draw, size), _edges(draw, size))


def _swaps(draw: Draw, costs: Costs, most: int) -> Hierarchy:
    """Groups that replace one to three of the nodes that are there by up to two others, of any cost."""
    added_by, removed_by = [-1, -1], [-1, -1]
    for g in range(draw(st.integers(1, min(most, 9)))):
        there = [v for v, by in enumerate(removed_by) if by < 0]
        for v in draw(st.sets(st.sampled_from(there), min_size=1, max_size=3)) if there else ():
            removed_by[v] = g
        fine = draw(st.integers(1, 2))
        added_by, removed_by = added_by + [g] * fine, removed_by + [-1] * fine
    return Hierarchy.groups(costs(draw, len(added_by)), added_by, removed_by)


def _mixed(draw: Draw, costs: Costs, most: int) -> Hierarchy:
    """A graph in which some refinements replace nodes that others added, and some only add."""
    size = draw(st.integers(2, min(most, 9)))
    edges = _edges(draw, size)
    removed_by = np.full(size + 1, -1, np.int32)
    for before, after in edges.tolist():
        if removed_by[before] < 0 and draw(st.booleans()):
            removed_by[before] = after
    added_by = np.append(np.arange(size, dtype=np.int32), np.int32(-1))
    return Hierarchy.from_topology(costs(draw, size + 1), Topology(size, added_by, removed_by, edges))


SHAPES: dict[str, Shape] = {
    "add": _tree("add"),
    "child": _tree("child"),
    "replace": _tree("replace"),
    "deep": _tree("replace", deep=True),
    "chain": _chain,
    "flat": _flat,
    "dag": _dag,
    "swaps": _swaps,
    "mixed": _mixed,
}
_ANY = {"shapes": tuple(SHAPES), "costs": tuple(COSTS), "gains": tuple(GAINS)}
FAMILIES: dict[str, dict[str, tuple[str, ...]]] = {
    "fractional": {"costs": ("cents", "eighths", "digits")},
    "decimal": {"costs": ("tenths",)},
    "uneven costs": {"costs": ("uneven", "magnitudes", "tiny")},
    "huge range": {"gains": ("range", "dominant", "subnormal")},
    "tied": {"costs": ("same",), "gains": ("few",)},
    "deep": {"shapes": ("deep", "chain")},
    "wide": {"shapes": ("flat",)},
    "free": {"costs": ("free",)},
    "shrinking": {"shapes": ("replace", "child", "swaps", "mixed")},
    "whole forests": {"shapes": ("add", "chain", "flat"), "costs": ("whole",)},
    "overlapping": {"shapes": ("dag", "swaps", "mixed")},
}


def closed_set(draw: Draw, hierarchy: Hierarchy) -> np.ndarray:
    """A down-closed set [R]."""
    size = len(hierarchy)
    selected = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)), np.bool_)
    for before, after in hierarchy.edges:
        selected[after] &= selected[before]
    return selected


def budget(draw: Draw, hierarchy: Hierarchy) -> float:
    """Around what some set costs to the last bit, anything between, or all that there is and more."""
    some = hierarchy.cost_of(closed_set(draw, hierarchy))
    most = hierarchy.largest_cost
    share = draw(st.floats(0.0, 1.0))
    values = [some, np.nextafter(some, 0.0), np.nextafter(some, np.inf), round(share * most, 1), share * most]
    values += [np.inf, most, np.nextafter(most, 0.0), 2.0 * most, hierarchy.base_cost]
    return max(float(draw(st.sampled_from(values))), hierarchy.base_cost)


@st.composite
def instances(draw: Draw, family: str, *, modified: bool = False) -> Instance:
    """An instance of a family; where ``modified``, with pinned nodes and a step before."""
    kinds = {**_ANY, **FAMILIES[family]}
    shape, cost, gain = (draw(st.sampled_from(kinds[axis])) for axis in ("shapes", "costs", "gains"))
    hierarchy = SHAPES[shape](draw, COSTS[cost], MOST)
    gains = GAINS[gain](draw, len(hierarchy))
    least_error = draw(st.sampled_from([0.0, 0.0, 1.0, 1e-12, 1e20]))
    plain = Instance(hierarchy, gains, budget(draw, hierarchy), least_error)
    return _modified(draw, plain) if modified else plain


def _modified(draw: Draw, plain: Instance) -> Instance:
    hierarchy = plain.hierarchy
    nodes = st.integers(0, hierarchy.node_cost.size - 1)
    pinned = draw(st.none() | st.lists(nodes, max_size=3).map(tuple))
    previous = closed_set(draw, hierarchy) if draw(st.booleans()) else None
    return replace(plain, pinned=pinned, previous=previous)
