"""Rows: a camera in, the clusters to draw out, by a triangle budget and by an error in pixels.

Peers of the cuts: the usual traversals in plain Python, on the library's own errors.

Cameras of the rows that cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.camera import Camera
from hra.domains.meshes import ClusterMesh, MeshAllocator, ScreenError
from hra.traversals.threshold import Threshold
from hra_lab.bench.allocate_cases import JUMP, STEP, Cold, NaiveBudget, Warm, peer_gaps
from hra_lab.bench.harness import Case, Clock, Contender, Gaps, measure
from hra_lab.bench.meshes.build_row import SMALL
from hra_lab.bench.meshes.inputs import Input, clusters
from hra_lab.bench.meshes.times import times
from hra_lab.bench.peers import HeapBestFirst
from hra_lab.bench.suite import Scale

_PEER = "naive Python"
_NEEDS = ("trimesh:creation", "meshoptimizer:simplify")
# Of the longest side: part of the mesh is out of view, and what is near needs more than what is far.
_DISTANCE = 0.9


def camera_at(bounds: np.ndarray, degrees: float) -> Camera:
    """A place around the mesh, near enough that distances differ."""
    distance = _DISTANCE * float(np.ptp(bounds, axis=0).max())
    return Camera.orbit(bounds, azimuth=30 + degrees, elevation=15, distance=distance)


@dataclass(frozen=True, eq=False)
class NaiveThreshold:
    """From the root down: a group whose error is above the tolerance gives way to its members.

    Attributes
    ----------
    roots : clusters of the coarsest cut; members, siblings : of the group that made each cluster.
    """

    clusters: ClusterMesh
    pixels: float
    roots: list[int]
    made_by: list[int]
    members: list[list[int]]
    products: list[list[int]]

    @classmethod
    def over(cls, clusters: ClusterMesh, pixels: float) -> NaiveThreshold:
        """With the hierarchy as lists, which are made outside of the clock."""
        hierarchy = clusters.hierarchy
        parts = [
            [nodes[begin:end].tolist() for begin, end in pairwise(offsets)]
            for offsets, nodes in (hierarchy.added_nodes, hierarchy.removed_nodes)
        ]
        roots = np.flatnonzero(hierarchy.added_by < 0).tolist()
        return cls(clusters, pixels, roots, hierarchy.removed_by.tolist(), *parts)

    def __call__(self, camera: Camera) -> np.ndarray:
        """Clusters to draw, int64 [K]."""
        error = ScreenError("quadric").peak(self.clusters.hierarchy, camera).tolist()
        drawn, refined, todo = [], set[int](), list(self.roots)
        while todo:
            cluster = todo.pop()
            group = self.made_by[cluster]
            if group in refined:
                continue
            if group < 0 or max(error[other] for other in self.products[group]) <= self.pixels:
                drawn.append(cluster)
            else:
                refined.add(group)
                todo += self.members[group]
        drawn = [cluster for cluster in drawn if self.made_by[cluster] not in refined]
        return np.sort(np.array(drawn, np.int64))


@dataclass(frozen=True)
class BudgetBenchmark:
    """The best cut within a budget of triangles: from nothing, and from the cut of the frame before.

    Parameters
    ----------
    triangles : the budget.
    """

    name: str
    given: Input
    triangles: int
    needs: tuple[str, ...] = _NEEDS

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """The row; ``ours_s`` and ``cpu_s`` are of the cold cut, ``warm_s`` and ``warm_cpu_s`` of the other."""
        mesh, budget = _mesh(self.given, scale), self.triangles if scale == "full" else 1000
        allocator, worst, shares = MeshAllocator(mesh), Gaps(0.0, 0.0), []

        def judge(camera: Camera, outputs: Mapping[str, Any]) -> dict[str, Gaps]:
            nonlocal worst
            own: Allocation = outputs["hra"]
            _check_spent(own)
            shares.append(own.utilisation)
            worst = worst.worst(Gaps(own.gap, own.residual_gap))
            return peer_gaps(outputs)

        hierarchy, own = allocator.hierarchy_for(None), Contender("hra", Cold(allocator, budget))
        naive = NaiveBudget(allocator, hierarchy, HeapBestFirst.over(hierarchy), budget)
        peer = Contender(_PEER, naive, warm_up=False)
        cold = measure(_case((own, peer), mesh, JUMP, judge), repeat)
        warm = measure(_case((replace(own, run=Warm(allocator, budget)),), mesh, STEP, judge), repeat)["hra"]
        return {
            "name": self.name,
            **_fields(mesh, cold),
            "warm_s": warm.seconds,
            "warm_cpu_s": warm.cpu_seconds,
            "budget": budget,
            "spent": min(shares),
            "gap": worst.gap,
            "residual_gap": worst.residual_gap,
            "peer_residual_gap": cold[_PEER].gaps.residual_gap,
        }


@dataclass(frozen=True)
class PixelsBenchmark:
    """The clusters whose error is at most a pixel while that of the next coarser group is not."""

    name: str
    given: Input
    needs: tuple[str, ...] = _NEEDS

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """The row; every cut is compared with that of the naive traversal."""
        mesh, drawn = _mesh(self.given, scale), []
        allocator = MeshAllocator(mesh, ScreenError("quadric"), Threshold(1.0))

        def judge(camera: Camera, outputs: Mapping[str, Any]) -> dict[str, Gaps]:
            if not np.array_equal(outputs["hra"].cut, outputs[_PEER]):
                raise ValueError("the cut is not the one that the rule asks for")
            drawn.append(outputs["hra"].cost)
            return {}

        own = Contender("hra", Cold(allocator, np.inf))
        peer = Contender(_PEER, NaiveThreshold.over(mesh, 1.0), warm_up=False)
        clocks = measure(_case((own, peer), mesh, JUMP, judge), repeat)
        return {"name": self.name, **_fields(mesh, clocks), "triangles": float(np.mean(drawn))}


def _mesh(given: Input, scale: Scale) -> ClusterMesh:
    return clusters(given if scale == "full" else replace(given, source=SMALL))


def _case(contenders: tuple[Contender, ...], mesh: ClusterMesh, degrees: float, judge: Any) -> Case:
    bounds = mesh.bounds
    return Case(contenders, lambda number: camera_at(bounds, degrees * number), judge, mesh.triangle_count, 0)


def _check_spent(allocation: Allocation) -> None:
    """Raise ValueError if the cut leaves a refinement out that is ready, gains something and fits."""
    hierarchy, selected = allocation.hierarchy, allocation.selected
    waiting = np.bincount(hierarchy.edges[:, 1], ~selected[hierarchy.edges[:, 0]], len(hierarchy)) > 0
    left = allocation.budget - allocation.cost
    if (~selected & ~waiting & (hierarchy.cost <= left) & (allocation.problem.gain > 0)).any():
        raise ValueError(f"a refinement fits into the {left} triangles that are left")


def _fields(mesh: ClusterMesh, clocks: Mapping[str, Clock]) -> dict[str, Any]:
    return {
        "n": mesh.triangle_count,
        **times(clocks),
        "clusters": mesh.hierarchy.node_cost.size,
        "groups": len(mesh.hierarchy),
    }
