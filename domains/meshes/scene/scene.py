"""Scenes: many placed copies of a few meshes under one budget.

Few instances are members of a pool (`hra.pool`); many are treated alike, see `hra.pooling.copies`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hra.caching import cached_property
from hra.camera.view import View, views_of
from hra.domains.meshes.allocator import Clusters, MeshAllocator
from hra.domains.meshes.scene.placed_errors import PlacedViews
from hra.domains.meshes.scene.placements import Instance, Placements, instances_seen, keys_of
from hra.domains.meshes.scene.scene_allocation import (
    SceneAllocation,
    check_own,
    copies_before,
    nothing_drawn,
    seen_before,
    taken_before,
)
from hra.errors import check_kind
from hra.model.arrays import frozen
from hra.model.metrics import Combined, ErrorMetric, Scaled
from hra.pooling.copies import allocate_copies, can_share
from hra.pooling.copies_allocation import CopiesAllocation, Kind
from hra.pooling.pool import Pool, PooledAllocation
from hra.pooling.union import Unions
from hra.traversals.base import Traversal
from hra.traversals.hull import Hull

_METRIC = "pass an object, such as ScreenError()"

# Refinements of all instances in view from which on they are treated alike instead of joined (docs of
# the laboratory, decisions.md).
_MANY = 4_000


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
    keys : int [B] >= 0, what each instance is called from scene to scene: where instances come, go or move, make a new
        scene for the frame, and ``previous`` still knows what each of them had. By default an instance is its number,
        and sequences stay within one scene.

    Raises
    ------
    HraError : no copies, two with the same key, or something else in the place of a mesh, the metric or the traversal.
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
        *,
        keys: Any = None,
    ) -> None:
        self._placed = Placements.of(placed)
        if metric is not None:
            check_kind("metric", metric, ErrorMetric, _METRIC)
        self._metric, self._traversal = metric, Hull() if traversal is None else traversal
        check_kind("traversal", self._traversal, Traversal, "pass an object, such as hra.Hull()")
        self._keys, self._unions = keys_of(keys, len(self)), Unions()

    def __len__(self) -> int:
        """Number of instances."""
        return len(self._placed.matrices)

    @property
    def copies(self) -> Placements:
        """Which meshes stand where."""
        return self._placed

    @property
    def placements(self) -> np.ndarray:
        """Object to world, float64 [B, 4, 4]."""
        return self._placed.matrices

    def with_metric(self, metric: ErrorMetric) -> Scene:
        """The same scene by another metric: every frame, say, what its last depth buffer hides.

        Allocations of both serve each other as ``previous``. HraError : no metric.
        """
        check_kind("metric", metric, ErrorMetric, _METRIC)
        scene = object.__new__(Scene)
        scene.__dict__.update(self.__dict__, _metric=metric)
        scene.__dict__.pop("_allocators", None)
        return scene

    def allocate(self, context: Any, budget: float, *, previous: SceneAllocation | None = None) -> SceneAllocation:
        """Spend ``budget`` over the instances that the views of the world may see.

        Parameters
        ----------
        context : a `hra.Camera`, a `View` or several, in world space.
        budget : in the meshes' cost unit; covers at least the coarsest level of every instance in view.
        previous : the last step of a sequence: of this scene or, where both have keys, of one with other instances or
            other placements. An instance that was not in view then starts from its coarsest level; those that have
            left the view count no changes.

        Raises
        ------
        MetricError, UnitMismatch, InvalidBudget, BudgetTooSmall : see `hra.pool`.
        HierarchyError : ``previous`` is of another scene.
        """
        views = views_of(context)
        if previous is not None:
            self._check_follows(previous)
        seen = instances_seen(self._placed, views)
        numbers = np.flatnonzero(seen)
        if not numbers.size:
            cost_unit, unit = self._placed.meshes[0].hierarchy.cost_unit, self._allocators[0].metric.unit
            pooled = nothing_drawn(cost_unit, unit, budget)
        elif self._is_shared(numbers):
            rule = self._placed, self._allocators, self._traversal
            pooled = share_scene(*rule, views, seen, budget, self._names, previous)
        else:
            pooled = self._pool(views, numbers, budget, previous)
        return SceneAllocation(pooled, frozen(seen > 0), self._keys)

    def realize(self, allocation: SceneAllocation) -> tuple[Instance, ...]:
        """What to draw, one cut per drawn instance in the order of the placements.

        ``mesh.mesh(cut)`` are its triangles.

        Raises
        ------
        HierarchyError : the allocation is of another scene.
        """
        check_own(allocation, self._placed, self._keys)
        meshes, numbers = self._placed.meshes, np.flatnonzero(allocation.drawn)
        kinds, matrices = self._placed.mesh_of[numbers].tolist(), self._placed.matrices[numbers]
        drawn = zip(numbers.tolist(), map(meshes.__getitem__, kinds), matrices, allocation.cuts, strict=True)
        return tuple(map(Instance._make, drawn))

    @cached_property
    def _allocators(self) -> tuple[MeshAllocator, ...]:
        """One for each mesh."""
        return tuple(MeshAllocator(mesh, self._metric) for mesh in self._placed.meshes)

    def _is_shared(self, numbers: np.ndarray) -> bool:
        """Whether copies are many enough to be treated alike, and may be."""
        meshes, metric = self._placed.meshes, self._metric
        kinds = np.bincount(self._placed.mesh_of[numbers], minlength=len(meshes)).tolist()
        size = sum(count * len(mesh.hierarchy) for count, mesh in zip(kinds, meshes, strict=True))
        of_world = metric is not None and placed_metric(metric, np.eye(4)) is not metric
        return size >= _MANY and not of_world and can_share(self._traversal, [mesh.hierarchy for mesh in meshes], kinds)

    def _pool(
        self, views: tuple[View, ...], numbers: np.ndarray, budget: float, previous: SceneAllocation | None
    ) -> PooledAllocation:
        """The way for any traversal and metric: see `hra.pool`."""
        members = tuple(self._member(number) for number in numbers.tolist())
        contexts = list(PlacedViews(views, self._placed.matrices[numbers]))
        unit, hierarchies = members[0].metric.unit, [member.hierarchy_for(None) for member in members]
        before = previous and seen_before(previous, self._names[numbers].tolist(), hierarchies, unit)
        pool = Pool(members, self._traversal, _unions=self._unions)
        return pool.allocate(contexts, budget, previous=before)

    def _member(self, number: int) -> MeshAllocator:
        """The allocator of one instance, with a metric of the world brought to it."""
        allocator, metric = self._allocators[self._placed.mesh_of[number]], self._metric
        if metric is None:
            return allocator
        own = placed_metric(metric, self._placed.matrices[number])
        return allocator if own is metric else MeshAllocator(allocator.cluster_mesh, own)

    @property
    def _names(self) -> np.ndarray:
        """The keys of instances, which are their numbers where none were given."""
        return np.arange(len(self)) if self._keys is None else self._keys

    def _check_follows(self, previous: SceneAllocation) -> None:
        if self._keys is None or previous.keys is None:
            check_own(previous, self._placed, self._keys)


def placed_metric(metric: ErrorMetric, placement: np.ndarray) -> ErrorMetric:
    """The metric in the coordinates of a mesh that ``placement`` float64 [4, 4] puts into the world.

    Sums, products and multiples of metrics are taken apart; what has no method ``seen_from`` stays as it is.
    """
    if isinstance(metric, Scaled):
        return replace(metric, metric=placed_metric(metric.metric, placement))
    if isinstance(metric, Combined):
        left, right = placed_metric(metric.left, placement), placed_metric(metric.right, placement)
        return replace(metric, left=left, right=right)
    moved = getattr(metric, "seen_from", None)
    return metric if moved is None else moved(placement)


def share_scene(
    placed: Placements,
    allocators: Sequence[MeshAllocator],
    traversal: Traversal,
    views: tuple[View, ...],
    seen: np.ndarray,
    budget: float,
    names: np.ndarray,
    previous: SceneAllocation | None,
) -> CopiesAllocation:
    """Spend a budget over the instances in view.

    Parameters
    ----------
    allocators : one for each mesh.
    seen : [B], above 0 for what is in view; ``names`` int [B], by which ``previous`` knows the instances.
    """
    kinds, chosen = [], []
    for kind, allocator in enumerate(allocators):
        own = np.flatnonzero((placed.mesh_of == kind) & (seen > 0))
        if not own.size:
            continue
        own = own[np.argsort(-_sizes(placed, own, views), kind="stable")]
        hierarchy = placed.meshes[kind].hierarchy
        before = None if previous is None else taken_before(previous, names[own], hierarchy)
        seen_by = PlacedViews(views, placed.matrices[own])
        kinds.append(Kind(hierarchy, allocator.error_metric(seen_by), seen_by, before))
        chosen.append(own)
    numbers = np.concatenate(chosen)
    price = None if previous is None else previous.last_price
    last, came_from = None, None
    if previous is not None and isinstance(previous.pooled, CopiesAllocation):
        last, came_from = previous.pooled, copies_before(previous.names, previous.pooled, names[numbers])
    order = np.argsort(numbers)
    return allocate_copies(kinds, order, budget, traversal, price=price, last=last, came_from=came_from)


def _sizes(placed: Placements, numbers: np.ndarray, views: Sequence[View]) -> np.ndarray:
    """How large some instances look at most, [n]: copies of like size want the same at like prices."""
    result = np.zeros(len(numbers))
    for view in views:
        away = np.linalg.norm(placed.centers[numbers] - view.camera.position, axis=1)
        result = np.maximum(result, placed.radii[numbers] / np.maximum(away, 1e-300))
    return result
