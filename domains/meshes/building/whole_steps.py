"""The coarsest levels: the whole mesh simplified in small steps, without borders between groups."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.building.level import Groups, coarse_clusters
from hra.domains.meshes.building.meshopt import MAX_TRIANGLES
from hra.domains.meshes.building.part import Kept, simplify_part
from hra.domains.meshes.building.simplify import CoarseStep, Simplified
from hra.domains.meshes.building.threads import Workers
from hra.domains.meshes.cluster_table import ClusterTable

# Small steps spend a budget better and leave less error than halves (`docs/mesh-quality.md`): eight to a level, four
# where meshes are too fine to be kept.
_SHARE, _SHARE_AHEAD = 2.0 ** (-1 / 8), 2.0 ** (-1 / 4)
# The error of a level beside that of one of its steps. There are twice as many triangles as vertices, and a vertex that
# goes changes about six: until half of them are gone, a place is simplified about twice. Squared distances add up.
_LEVEL_PER_STEP = math.sqrt(2)
# Deviations are measured from meshes of so many times the triangles.
_FINER = 4


def whole_steps(
    top: ClusterTable,
    ahead: ClusterTable,
    geometry: Geometry,
    kept: Kept,
    cluster_size: int,
    workers: Workers,
    *,
    first_group: int,
    certified: bool,
) -> Iterator[ClusterTable]:
    """Coarser and coarser meshes, each one group whose members are the clusters of the one before, ``top`` at first.

    Groups of few clusters consist of borders for the most part, which must stay. They no longer pay where a group is a
    large part of the mesh: a camera sees all of it at about one distance.

    Parameters
    ----------
    top : all clusters of the last level that was simplified in groups.
    ahead : all clusters of an earlier level. Steps begin there, so that the borders of the last groups leave no trace
        in coarser meshes.
    first_group : number of the first step.
    certified : whether deviations are computed, each from a much finer mesh or from ``ahead``: bounds of small steps
        would add up. The vertices of a mesh are among those of all before it, which makes the bounds tight.
    """
    below, level = Groups.single(top), int(top.level.max())
    finer = [Groups.single(ahead)]
    meshes = _smaller(ahead.indices, top.indices.size, geometry, kept, cluster_size)
    for group, mesh in enumerate(meshes, first_group):
        # Rounded up, but for a sixteenth of a level: eight steps of 2**(-1/8) may come to a little more than a halving.
        halvings = math.log2(top.indices.size / mesh.indices.size)
        numbers = {
            "level": min(level + max(1, math.ceil(halvings - 1 / 16)), int(below.clusters.level.max()) + 1),
            "first_group": group,
        }
        # The coarsest of the meshes that are still fine enough.
        while len(finer) > 1 and finer[1].clusters.indices.size >= _FINER * mesh.indices.size:
            finer.pop(0)
        measured_from = finer[0] if certified else None
        products = coarse_clusters(below, [mesh], geometry, workers, **numbers, measured_from=measured_from)
        yield products
        below = Groups.single(products)
        finer.append(below)


def _smaller(indices: np.ndarray, most: int, geometry: Geometry, kept: Kept, cluster_size: int) -> Iterator[Simplified]:
    """One mesh after the other, from a step below ``most`` indices to at most 128 triangles, or where it is stuck.

    A mesh's error is made comparable with those of other levels, which are of half the triangles at once.
    """
    while indices.size > 3 * MAX_TRIANGLES:
        mesh = _step(indices, _SHARE_AHEAD if indices.size > most else _SHARE, geometry, kept, cluster_size)
        if mesh is None:
            return
        indices = mesh.indices
        if indices.size <= CoarseStep(cluster_size, _SHARE).most(most):
            yield replace(mesh, error=mesh.error * _LEVEL_PER_STEP)
            most = indices.size


def _step(indices: np.ndarray, share: float, geometry: Geometry, kept: Kept, cluster_size: int) -> Simplified | None:
    """The triangles ``indices`` at that ``share``, or at half where this does not lead far enough."""
    for attempted in (share, 0.5):
        mesh = simplify_part(indices, indices.size, geometry, kept, CoarseStep(cluster_size, attempted))
        if mesh is not None:
            return mesh
    return None
