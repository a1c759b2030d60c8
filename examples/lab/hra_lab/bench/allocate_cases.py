"""Cases on the whole way: a camera in, the tiles to draw out, the error metric included."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.allocating.allocator import HierarchicalResourceAllocator
from hra.camera import Camera
from hra.domains.meshes import ScreenError
from hra.model.hierarchy import Hierarchy
from hra.traversals.hull import Hull
from hra_lab.bench import peers
from hra_lab.bench.harness import Case, CaseAt, Contender, Gaps
from hra_lab.bench.judges import gaps
from hra_lab.inputs import terrain

# Degrees between the views of two rounds: far apart, or like successive frames.
JUMP, STEP = 137.5, 0.2


def allocate(size: int) -> CaseAt:
    """Views that have nothing to do with each other."""
    allocator = _allocator(size)
    return _case_at(allocator, lambda budget: Cold(allocator, budget), JUMP)


def allocate_again(size: int) -> CaseAt:
    """Views of a slowly turning camera, each allocated from the one before."""
    allocator = _allocator(size)
    return _case_at(allocator, lambda budget: Warm(allocator, budget), STEP)


@dataclass(frozen=True)
class Cold:
    """Allocate without any memory; the cut is part of the answer."""

    allocator: HierarchicalResourceAllocator
    budget: float

    def __call__(self, camera: Camera) -> Allocation:
        """The allocation, with its cut."""
        return _with_cut(self.allocator.allocate(camera, self.budget))


@dataclass
class Warm:
    """Allocate from the last answer."""

    allocator: HierarchicalResourceAllocator
    budget: float
    last: Allocation | None = None

    def __call__(self, camera: Camera) -> Allocation:
        """The allocation, with its cut."""
        self.last = _with_cut(self.allocator.allocate(camera, self.budget, previous=self.last))
        return self.last


@dataclass(frozen=True, eq=False)
class NaiveBudget:
    """Best-first with heapq until the budget is spent, the metric included.

    The hierarchy's lists in ``heap`` are made outside of the clock.
    """

    allocator: HierarchicalResourceAllocator
    hierarchy: Hierarchy
    heap: peers.HeapBestFirst
    budget: float

    def __call__(self, camera: Camera) -> np.ndarray:
        """Refinements taken, bool [R]."""
        problem = self.allocator.problem_for(self.hierarchy, camera, self.budget)
        selected = self.heap.run(self.heap.prepare(problem))
        np.flatnonzero(self.hierarchy.active_nodes(selected))  # the cut, as for hra
        return selected


def _allocator(size: int) -> terrain.TerrainAllocator:
    return terrain.TerrainAllocator(terrain.terrain(size), ScreenError(), Hull())


def _with_cut(allocation: Allocation) -> Allocation:
    allocation.cut  # noqa: B018  computed on first use
    return allocation


def _case_at(allocator: terrain.TerrainAllocator, ours: Any, degrees: float) -> CaseAt:
    hierarchy = allocator.hierarchy_for(None)
    heap = peers.HeapBestFirst.over(hierarchy)

    def case(share: float) -> Case:
        budget = float(np.floor(hierarchy.base_cost + share * hierarchy.cost.sum()))
        peer = Contender("heapq best-first", NaiveBudget(allocator, hierarchy, heap, budget))
        return Case(
            (Contender("hra", ours(budget)), peer),
            lambda number: terrain.camera_at(30 + degrees * number),
            _judge,
            hierarchy.node_cost.size,
            _moved_bytes(hierarchy),
        )

    return case


def _judge(camera: Camera, outputs: Mapping[str, Any]) -> dict[str, Gaps]:
    own = outputs["hra"]
    return {"hra": Gaps(own.gap, own.residual_gap), **peer_gaps(outputs)}


def peer_gaps(outputs: Mapping[str, Any]) -> dict[str, Gaps]:
    """How far the selections of peers are from the bound of ours."""
    own = outputs["hra"]
    return {name: gaps(own.problem, selected, own.upper_bound) for name, selected in outputs.items() if name != "hra"}


def _moved_bytes(hierarchy: Hierarchy) -> int:
    """What the metric and the solver read once, and a byte per tile to write."""
    read = [*hierarchy.node.values(), hierarchy.cost, hierarchy.edges]
    return sum(array.nbytes for array in read) + hierarchy.node_cost.size
