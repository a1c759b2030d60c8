"""Peers of the instances: the union of all that are in view, and one tolerance for all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hra.camera import Camera
from hra.camera.view import View
from hra.domains.meshes import MeshAllocator, Scene
from hra.domains.meshes.scene.placed_errors import PlacedViews
from hra.domains.meshes.scene.placements import instances_seen
from hra.model.gains import peak_errors
from hra.pooling.copies_allocation import CopiesAllocation
from hra.pooling.pool import Pool, PooledAllocation
from hra.pooling.union import Unions
from hra.solvers.selection import select_threshold
from hra.traversals.hull import Hull


@dataclass
class Joined:
    """All instances in view as members of one pool: each with its camera, and a union of all hierarchies."""

    scene: Scene
    budget: float
    unions: Unions = field(default_factory=Unions)

    def __call__(self, camera: Camera) -> PooledAllocation:
        """What every instance in view received, its cut included."""
        placed = self.scene._placed
        numbers = np.flatnonzero(instances_seen(placed, (View(camera),)))
        allocators = [MeshAllocator(mesh) for mesh in placed.meshes]
        members = tuple(allocators[kind] for kind in placed.mesh_of[numbers].tolist())
        contexts = list(PlacedViews((View(camera),), placed.matrices[numbers]))
        found = Pool(members, Hull(), _unions=self.unions).allocate(contexts, self.budget)
        for member in found.members:
            member.cut  # noqa: B018  computed on first use
        return found


@dataclass
class OneTolerance:
    """What renderers do: an error in pixels for all, by the distance of each instance's center; groups above it go.

    The tolerance is the least that the budget allows. One mesh only.
    """

    scene: Scene
    budget: float

    def __call__(self, camera: Camera) -> np.ndarray:
        """Refinements taken by the instances in view, in the order of the placements, bool [R, M]."""
        placed = self.scene._placed
        hierarchy = placed.meshes[0].hierarchy
        numbers = np.flatnonzero(instances_seen(placed, (View(camera),)))
        error = peak_errors(hierarchy, hierarchy.attribute("error").astype(np.float64), None)
        size = placed.radii[numbers] / placed.extents[0].radius
        away = np.linalg.norm(placed.centers[numbers] - camera.position, axis=1)
        pixels = error[:, None] * (camera.focal_pixels * size / away)
        capacity = self.budget - len(numbers) * hierarchy.base_cost
        cost = np.repeat(hierarchy.unit_cost, len(numbers))
        return pixels > select_threshold(pixels.ravel(), cost, capacity)


def residual_of(own: CopiesAllocation, output: Any) -> float:
    """What a peer's answer leaves of the error, by the gains that the library saw."""
    if isinstance(output, PooledAllocation):
        return output.whole.residual
    (gain,) = own.copies.parts(own.gain)
    return float(own.least_error[0].sum() + np.where(output, 0.0, gain[:, own.order]).sum())
