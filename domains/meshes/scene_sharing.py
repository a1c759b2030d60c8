"""Scenes of many instances: copies treated alike, see `hra.pooling.copies`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hra.camera.view import View
from hra.domains.meshes.allocator import MeshAllocator
from hra.domains.meshes.placed_views import PlacedViews
from hra.domains.meshes.placements import Placements
from hra.domains.meshes.scene_allocation import SceneAllocation
from hra.domains.meshes.scene_history import copies_before, taken_before
from hra.pooling.copies import allocate_copies
from hra.pooling.copies_allocation import CopiesAllocation
from hra.pooling.copies_members import Kind
from hra.traversals.base import Traversal


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
    kinds, lanes = [], []
    for kind, allocator in enumerate(allocators):
        own = np.flatnonzero((placed.mesh_of == kind) & (seen > 0))
        if not own.size:
            continue
        own = own[np.argsort(-_sizes(placed, own, views), kind="stable")]
        hierarchy = placed.meshes[kind].hierarchy
        before = None if previous is None else taken_before(previous, names[own], hierarchy)
        seen_by = PlacedViews(views, placed.matrices[own])
        kinds.append(Kind(hierarchy, allocator.error_metric(seen_by), seen_by, before))
        lanes.append(own)
    numbers = np.concatenate(lanes)
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
