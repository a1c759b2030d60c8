"""Peers of the cuts: the usual traversals in plain Python, on the library's own errors."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hra.camera import Camera
from hra.domains.meshes import ClusterMesh, MeshAllocator, ScreenError
from hra.model.hierarchy import Hierarchy
from hra_lab.bench.peers import HeapBestFirst


@dataclass(frozen=True, eq=False)
class NaiveBudget:
    """Best-first with heapq until the budget is spent, the metric included."""

    allocator: MeshAllocator
    hierarchy: Hierarchy
    heap: HeapBestFirst
    budget: float

    @classmethod
    def over(cls, allocator: MeshAllocator, budget: float) -> NaiveBudget:
        """With the hierarchy as lists, which are made outside of the clock."""
        hierarchy = allocator.hierarchy_for(None)
        return cls(allocator, hierarchy, HeapBestFirst.over(hierarchy), budget)

    def __call__(self, camera: Camera) -> np.ndarray:
        """Refinements taken, bool [R]."""
        problem = self.allocator.problem_for(self.hierarchy, camera, self.budget)
        selected = self.heap.run(self.heap.prepare(problem))
        np.flatnonzero(self.hierarchy.active_nodes(selected))  # the cut, as for hra
        return selected


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
