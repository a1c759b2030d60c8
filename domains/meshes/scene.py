"""Scenes: many placed copies of a few meshes under one budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hra.camera import checks
from hra.domains.meshes.allocator import Clusters, MeshAllocator
from hra.domains.meshes.culling import Extent
from hra.domains.meshes.placed_metric import placed_metric
from hra.domains.meshes.scene_allocation import SceneAllocation, nothing_drawn, seen_before
from hra.domains.meshes.views import View, views_of
from hra.errors import HierarchyError, HraError, UnitMismatch
from hra.model.arrays import frozen, to_numpy
from hra.model.metrics import ErrorMetric
from hra.pooling.pool import pool
from hra.traversals.base import Traversal


@dataclass(frozen=True, eq=False)
class Instance:
    """One copy to draw: a mesh, where it stands, and which of its clusters.

    Attributes
    ----------
    number : its place in the order of the scene's placements.
    mesh : shared between copies.
    placement : float64 [4, 4], object to world.
    cut : int64 [K], numbers of clusters.

    Examples
    --------
    >>> import numpy as np, hra
    >>> from hra.domains import meshes
    >>> skull = meshes.build(hra.samples.path("skull.ply"))
    >>> scene = meshes.Scene([(skull, np.eye(4)[None])])
    >>> camera = hra.Camera.orbit(skull.bounds, azimuth=30, up=(0, 0, 1))
    >>> (instance,) = scene.realize(scene.allocate(camera, budget=2_000))
    >>> len(instance.mesh.mesh(instance.cut).triangles) <= 2_000
    True
    """

    number: int
    mesh: Clusters
    placement: np.ndarray
    cut: np.ndarray


class Scene:
    """Placed copies of meshes, which share one budget of triangles or bytes.

    Each copy is one more context of its mesh's hierarchy: what it needs is the arrays of the hierarchy, not its
    triangles. A budget in bytes counts a cluster once for each copy that draws it. A copy that no view may see is not
    drawn and costs nothing; one that is partly in view costs at least its coarsest level.

    Parameters
    ----------
    placed : pairs of a mesh and its placements [B, 4, 4], object to world; rigid with an even scale. Mirrored ones and
        uneven scales work too: there the largest scale counts, an upper bound.
    metric : context to error of each cluster in the mesh's coordinates; `ScreenError` by default. One that knows of the
        world, as `VisibleScreenError` does, has a method ``seen_from(placement)`` that brings it to a mesh's.
    traversal : splits the budget and chooses the clusters; `Hull` by default.

    Raises
    ------
    HraError : no copies.
    UnitMismatch : some meshes cost triangles and others bytes.
    CameraError : a placement that is not [4, 4], not finite, not affine, or singular.

    Examples
    --------
    >>> import hra, numpy as np
    >>> from hra.domains import meshes
    >>> skull = meshes.build(hra.samples.path("skull.ply"))
    >>> row = np.tile(np.eye(4), (10, 1, 1))
    >>> row[:, 0, 3] = np.arange(10) * 0.3
    >>> scene = meshes.Scene([(skull, row)])
    >>> camera = hra.Camera.perspective(eye=(-0.5, -1, 0.3), target=(1, 0, 0), up=(0, 0, 1))
    >>> allocation = scene.allocate(camera, budget=50_000)
    >>> sum(len(instance.mesh.mesh(instance.cut).triangles) for instance in scene.realize(allocation)) <= 50_000
    True
    """

    def __init__(
        self,
        placed: Sequence[tuple[Clusters, Any]],
        metric: ErrorMetric | None = None,
        traversal: Traversal | None = None,
    ) -> None:
        meshes: list[Clusters] = []
        placements: list[np.ndarray] = []
        extents: list[Extent] = []
        for mesh, matrices in placed:
            checked = [frozen(checks.view_matrix(matrix, "placement")) for matrix in to_numpy(matrices)]
            meshes += [mesh] * len(checked)
            extents += [Extent.of(mesh.hierarchy)] * len(checked)
            placements += checked
        _check(meshes)
        self.placements = tuple(placements)
        self._meshes, self._extents = tuple(meshes), tuple(extents)
        self._members = _members(self._meshes, self.placements, metric)
        self._pool = pool(*self._members, traversal=traversal)

    def __len__(self) -> int:
        """Number of instances."""
        return len(self.placements)

    def with_metric(self, metric: ErrorMetric) -> Scene:
        """The same scene by another metric: every frame, say, what its last depth buffer hides.

        Allocations of both serve each other as ``previous``.
        """
        scene = object.__new__(Scene)
        scene.__dict__.update(self.__dict__, _members=_members(self._meshes, self.placements, metric))
        scene._pool = replace(self._pool, members=scene._members)
        return scene

    def allocate(self, context: Any, budget: float, *, previous: SceneAllocation | None = None) -> SceneAllocation:
        """Spend ``budget`` over the instances that the views of the world may see.

        Parameters
        ----------
        context : a `hra.Camera`, a `View` or several, in world space.
        budget : in the meshes' cost unit; covers at least the coarsest level of every instance in view.
        previous : the last step of a sequence. An instance that was not in view then starts from its coarsest level;
            those that have left the view count no changes.

        Raises
        ------
        MetricError, UnitMismatch, InvalidBudget, BudgetTooSmall : see `hra.pool`.
        HierarchyError : ``previous`` is of another scene.
        """
        views = views_of(context)
        seen = [tuple(view.seen_from(placement) for view in views) for placement in self.placements]
        numbers = [n for n, (extent, own) in enumerate(zip(self._extents, seen, strict=True)) if _sees(own, extent)]
        members = tuple(self._members[n] for n in numbers)
        unit = self._members[0].metric.unit
        if previous is not None:
            self._check_own(previous)
        if not members:
            return nothing_drawn(self._meshes[0].hierarchy.cost_unit, unit, budget, len(self))
        before = previous and seen_before(previous, numbers, [self._meshes[n].hierarchy for n in numbers], unit)
        pooled = replace(self._pool, members=members).allocate([seen[n] for n in numbers], budget, previous=before)
        drawn = np.zeros(len(self), np.bool_)
        drawn[numbers] = True
        return SceneAllocation(pooled.whole, pooled.members, frozen(drawn))

    def realize(self, allocation: SceneAllocation) -> tuple[Instance, ...]:
        """What to draw, one cut per drawn instance in the order of the placements.

        ``mesh.mesh(cut)`` are its triangles.

        Raises
        ------
        HierarchyError : the allocation is of another scene.
        """
        self._check_own(allocation)
        return tuple(
            Instance(number, self._meshes[number], self.placements[number], member.cut)
            for number, member in zip(np.flatnonzero(allocation.drawn).tolist(), allocation.members, strict=True)
        )

    def _check_own(self, allocation: SceneAllocation) -> None:
        drawn = allocation.drawn
        own = [self._meshes[n].hierarchy for n in np.flatnonzero(drawn)] if len(drawn) == len(self) else None
        if own is None or any(not a.hierarchy.same_as(h) for a, h in zip(allocation.members, own, strict=True)):
            raise HierarchyError("the allocation belongs to another scene", fix="use it where it was allocated")


def _members(
    meshes: Sequence[Clusters], placements: Sequence[np.ndarray], metric: ErrorMetric | None
) -> tuple[MeshAllocator, ...]:
    metrics = [metric and placed_metric(metric, placement) for placement in placements]
    made: dict[tuple[int, int], MeshAllocator] = {}
    return tuple(
        made.setdefault((id(mesh), id(own)), MeshAllocator(mesh, own))
        for mesh, own in zip(meshes, metrics, strict=True)
    )


def _check(meshes: Sequence[Clusters]) -> None:
    if not meshes:
        raise HraError("a scene needs at least one instance", where="placed")
    units = sorted({mesh.hierarchy.cost_unit for mesh in meshes})
    if len(units) > 1:
        fix = "give all meshes the same cost, see with_cost"
        raise UnitMismatch("the meshes of a scene cost different things", where=", ".join(units), fix=fix)


def _sees(views: Sequence[View], extent: Extent) -> bool:
    return any(extent.seen_by(view.camera) for view in views)
