"""The allocator of meshes: which clusters to draw within a budget of triangles or bytes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from hra.allocating.allocation import Allocation
from hra.allocating.allocator import HierarchicalResourceAllocator
from hra.camera.view import views_of
from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh
from hra.domains.meshes.metrics.displacement import least_displacement
from hra.domains.meshes.metrics.screen_error import ScreenError
from hra.domains.meshes.metrics.visibility import VisibleScreenError
from hra.errors import HierarchyError, MeshError, wrong_kind
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.model.problem import Problem
from hra.traversals.base import Traversal
from hra.traversals.hull import Hull


class Clusters(Protocol):
    """Clusters of a mesh: a `ClusterMesh` in memory, or a `MeshAsset` of which only the pages of the cut are read."""

    @property
    def hierarchy(self) -> Hierarchy:
        """Clusters and groups; see `ClusterMesh.hierarchy`."""
        ...

    @property
    def triangles_per_cluster(self) -> np.ndarray:
        """int64 [N]."""
        ...

    def mesh(self, clusters: Any) -> TriangleMesh:
        """The triangles of some clusters."""
        ...


def check_clusters(name: str, mesh: Clusters) -> None:
    """Raise MeshError unless the argument ``name`` has clusters: meshes and paths are passed in their place."""
    if not isinstance(getattr(mesh, "hierarchy", None), Hierarchy):
        what = f"a {type(mesh).__name__} has no clusters to choose from"
        raise MeshError(what, where=name, fix="pass meshes.build(mesh) or meshes.open_asset('mesh.hra')")


class MeshAllocator(HierarchicalResourceAllocator):
    """Chooses the clusters of a mesh that a camera needs most.

    Parameters
    ----------
    cluster_mesh : from `build`, `load_clusters` or `open_asset`; its ``with_cost`` sets whether budgets are triangles
        or bytes.
    metric : context to error of each cluster; `ScreenError` by default, which reads a `hra.Camera`. Allocations hold it
        with its error named, so that ``allocation.metric.certified`` tells whether thresholds are bounds.
    traversal : `Hull` for the least error within a budget, `Threshold` for a bound on the error in pixels.

    Raises
    ------
    MeshError : no clusters, but a mesh or a path; HraError : another kind of metric or traversal.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> skull = meshes.build(hra.samples.path("skull.ply"))
    >>> allocator = meshes.MeshAllocator(skull)
    >>> allocation = allocator.allocate(hra.Camera.orbit(skull.bounds, azimuth=30), budget=10_000)
    >>> len(allocator.realize(allocation).triangles) <= 10_000
    True
    """

    def __init__(
        self, cluster_mesh: Clusters, metric: ErrorMetric | None = None, traversal: Traversal | None = None
    ) -> None:
        check_clusters("MeshAllocator: cluster_mesh", cluster_mesh)
        hierarchy, metric = cluster_mesh.hierarchy, ScreenError() if metric is None else metric
        if not isinstance(metric, ErrorMetric):
            raise wrong_kind("metric", metric, ErrorMetric, "pass an object, such as ScreenError()")
        if isinstance(metric, (ScreenError, VisibleScreenError)):
            metric = metric.resolve(hierarchy)
        super().__init__(hierarchy, metric, Hull() if traversal is None else traversal)
        self.cluster_mesh = cluster_mesh

    def problem_for(self, hierarchy: Hierarchy, context: Any, budget: float) -> Problem:
        """The gain of every refinement, and what measures a cut of a mesh in memory."""
        problem, mesh = super().problem_for(hierarchy, context, budget), self.cluster_mesh
        metric = problem.metric
        if not isinstance(mesh, ClusterMesh) or not isinstance(metric, ScreenError) or metric.error == "appearance":
            return problem
        return replace(problem, least_peak=partial(_least_displacement, mesh, hierarchy, metric, context))

    def realize(self, allocation: Allocation) -> TriangleMesh:
        """The triangles of the cut, without cracks, with just the vertices that they use.

        Raises
        ------
        HraError : no allocation.
        HierarchyError : the allocation is of another mesh, or of a pool (realize the pool's parts instead).
        """
        if not isinstance(allocation, Allocation):
            raise wrong_kind("allocation", allocation, Allocation, "pass what allocate(...) returned")
        if not allocation.hierarchy.same_as(self.hierarchy_for(allocation.context)):
            raise HierarchyError("the allocation belongs to another hierarchy", fix="realize it where it was allocated")
        return self.cluster_mesh.mesh(allocation.cut)


def _least_displacement(
    mesh: ClusterMesh, hierarchy: Hierarchy, metric: ScreenError, context: Any, peak: np.ndarray, selected: np.ndarray
) -> float:
    return least_displacement(mesh, hierarchy, views_of(context), metric.certified, peak, selected)
