"""The whole mesh simplified again and again, a little each time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.building.part import Kept, simplify_part
from hra.domains.meshes.building.simplify import CoarseStep
from hra.domains.meshes.mesh.meshopt import MAX_TRIANGLES

# Small steps leave less error than halves (`docs/mesh-quality.md`): eight to a halving.
_SHARE = 2.0 ** (-1 / 8)


def smaller_meshes(
    indices: np.ndarray, geometry: Geometry, kept: Kept, cluster_size: int
) -> Iterator[tuple[np.ndarray, float]]:
    """One mesh after the other with the error of its step, to at most 128 triangles, or where it is stuck.

    Parameters
    ----------
    indices : uint32 [3 T], to begin with.
    """
    while indices.size > 3 * MAX_TRIANGLES:
        found = _step(indices, _SHARE, geometry, kept, cluster_size) or _step(
            indices, 0.5, geometry, kept, cluster_size
        )
        if found is None:
            return
        yield found
        indices = found[0]


def _step(
    indices: np.ndarray, share: float, geometry: Geometry, kept: Kept, cluster_size: int
) -> tuple[np.ndarray, float] | None:
    """A ``share`` of the triangles, and the error; where no edges can be collapsed, by whatever leads on."""
    step = CoarseStep(cluster_size, share)
    coarse, error = geometry.simplify(indices, kept.locked, step.target(indices))
    if step.reach(coarse, indices) and not kept.borders.left_by(coarse, indices, geometry):
        return coarse, error
    part = simplify_part(indices, indices.size, geometry, kept, step)
    return None if part is None else (part.indices, part.error)
