"""Scenes: many placed copies of a few meshes under one budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.camera import checks
from hra.domains.meshes.allocator import Clusters, MeshAllocator
from hra.domains.meshes.views import views_of
from hra.errors import HierarchyError, HraError
from hra.model.arrays import frozen, to_numpy
from hra.model.metrics import ErrorMetric
from hra.pooling.pool import PooledAllocation, pool
from hra.traversals.base import Traversal


@dataclass(frozen=True, eq=False)
class Instance:
    """One copy: a mesh and where it stands, and of an allocation the clusters to draw.

    Attributes
    ----------
    mesh : shared between copies.
    placement : float64 [4, 4], object to world.
    cut : int64 [K], numbers of clusters.
    """

    mesh: Clusters
    placement: np.ndarray
    cut: np.ndarray


class Scene:
    """Placed copies of meshes, which share one budget of triangles or bytes.

    Each copy is one more context of its mesh's hierarchy: what it needs is the arrays of the hierarchy, not its
    triangles. A budget in bytes counts a cluster once for each copy that draws it.

    Parameters
    ----------
    placed : pairs of a mesh and its placements [B, 4, 4], object to world; rigid with an even scale. Mirrored ones and
        uneven scales work too: there the largest scale counts, an upper bound.
    metric : context to error of each cluster in the mesh's coordinates; `ScreenError` by default.
    traversal : splits the budget and chooses the clusters; `Hull` by default.

    Raises
    ------
    HraError : no copies.
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
        members: list[MeshAllocator] = []
        placements: list[np.ndarray] = []
        for mesh, matrices in placed:
            checked = [frozen(checks.view_matrix(matrix, "placement")) for matrix in to_numpy(matrices)]
            members += [MeshAllocator(mesh, metric)] * len(checked)
            placements += checked
        if not members:
            raise HraError("a scene needs at least one instance", where="placed")
        self.placements = tuple(placements)
        self._members = tuple(members)
        self._pool = pool(*members, traversal=traversal)

    def __len__(self) -> int:
        """Number of instances."""
        return len(self.placements)

    def allocate(self, context: Any, budget: float, *, previous: PooledAllocation | None = None) -> PooledAllocation:
        """Spend ``budget`` over all instances as the views of the world see them.

        Parameters
        ----------
        context : a `hra.Camera`, a `View` or several, in world space.
        budget : in the meshes' cost unit; covers at least the coarsest level of every instance.
        previous : the last step of a sequence.

        Raises
        ------
        MetricError, UnitMismatch, InvalidBudget, BudgetTooSmall : see `hra.pool`.
        """
        views = views_of(context)
        seen = [tuple(view.seen_from(placement) for view in views) for placement in self.placements]
        return self._pool.allocate(seen, budget, previous=previous)

    def realize(self, allocation: PooledAllocation) -> tuple[Instance, ...]:
        """What to draw, one cut per instance in the order of the placements; ``mesh.mesh(cut)`` are its triangles.

        Raises
        ------
        HierarchyError : the allocation is of another scene.
        """
        members = allocation.members
        hierarchies = [member.hierarchy for member in self._members]
        if len(members) != len(self) or any(a.hierarchy is not h for a, h in zip(members, hierarchies, strict=True)):
            raise HierarchyError("the allocation belongs to another scene", fix="realize it where it was allocated")
        return tuple(
            Instance(own.cluster_mesh, placement, member.cut)
            for own, placement, member in zip(self._members, self.placements, members, strict=True)
        )
