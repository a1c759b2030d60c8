"""A part of the mesh, or all of it, simplified with some vertices kept, by whatever leads on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.meshes.building.borders import Borders
from hra.domains.meshes.building.creases import without_slivers
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.building.simplify import CoarseStep, Simplified, simplify_group, split_into_clusters
from hra.domains.meshes.building.vertex_clustering import cluster_vertices
from hra.domains.meshes.mesh.weld import without_degenerate


@dataclass(frozen=True, eq=False)
class Kept:
    """The vertices that simplification leaves in place, uint8 [V], 1 for those.

    Attributes
    ----------
    shared : of several groups, which no group may move.
    locked : those and what the source's borders need; with_borders : those and all border vertices.
    borders : of the source.
    """

    shared: np.ndarray
    locked: np.ndarray
    with_borders: np.ndarray
    borders: Borders

    @classmethod
    def of(cls, shared: np.ndarray, borders: Borders) -> Kept:
        """From ``shared`` and the borders of the source."""
        return cls(shared, shared | borders.uneven, shared | borders.ends, borders)


def simplify_part(
    indices: np.ndarray, vertex_references: int, geometry: Geometry, kept: Kept, step: CoarseStep
) -> Simplified | None:
    """The triangles ``indices`` uint32 [3 T] simplified by one ``step``; None where they are stuck.

    Where the result would leave the borders of the source, it is simplified again without moving any border vertex.

    Parameters
    ----------
    vertex_references : see `simplify_group`.
    """

    def attempt(locked: np.ndarray) -> Simplified | None:
        return simplify_group(indices, geometry, locked, vertex_references, step) or simplify_stuck_group(
            indices, geometry, kept.shared, locked, step
        )

    result = attempt(kept.locked)
    if result is not None and kept.borders.left_by(result.indices, indices, geometry):
        return attempt(kept.with_borders)
    return result


def simplify_stuck_group(
    indices: np.ndarray, geometry: Geometry, shared: np.ndarray, locked: np.ndarray, step: CoarseStep
) -> Simplified | None:
    """A stuck group's triangles at about the ``step``'s share, by removing islands or by clustering vertices.

    Whichever leaves the smaller error: islands of one size go all at once, and may be much more than is asked for.
    Neither minds ``locked`` vertices. Where a vertex is ``shared`` with other groups, only clustering is tried, without
    those, and only if the step is a coarse one: other groups can wait until they are put together with what they touch.

    Returns
    -------
    None where nothing helps.
    """
    alone = not shared[indices].any()
    if not (alone or step.coarse):
        return None
    # The locks are 0 or 1 a byte, which bools are too: no copy.
    found = [_cluster(indices, geometry, None if alone else shared.view(bool), step)]
    if alone:
        found.append(geometry.simplify(indices, locked, step.target(indices), prune=True))
    found = [(error, coarse) for coarse, error in found if step.reach(coarse, indices)]
    if not found:
        return None
    error, coarse = min(found, key=lambda pair: pair[0])
    return split_into_clusters(coarse, geometry.unit_positions, step.cluster_size, error)


def _cluster(
    indices: np.ndarray, geometry: Geometry, pinned: np.ndarray | None, step: CoarseStep
) -> tuple[np.ndarray, float]:
    """The triangles with clustered vertices, indices uint32 [3 S], and the error."""
    triangles, materials = geometry.by_position(indices).reshape(-1, 3), None
    if geometry.material is not None:
        materials = geometry.material[indices].reshape(-1, 3)
    target = step.target(indices) // 3
    moved, error = cluster_vertices(triangles, geometry.unit_positions, target, materials, pinned)
    return _with_wedges(indices, moved.astype(np.uint32), geometry), error


def _with_wedges(indices: np.ndarray, moved: np.ndarray, geometry: Geometry) -> np.ndarray:
    """The triangles ``moved`` [F, 3] with three positions as wedges like the corners ``indices`` [3 F] were, uint32."""
    if geometry.metric is None or geometry.position_of is None:
        return without_degenerate(moved).reshape(-1)
    corners = geometry.metric.nearest_wedges(indices, moved.reshape(-1), geometry.position_of, geometry.material)
    return without_slivers(corners, geometry.positions)
