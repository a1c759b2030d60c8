"""A part of the mesh, or all of it, simplified with some vertices kept, by whatever leads on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.meshes.building.borders import Borders
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.building.simplify import CoarseStep, Simplified, simplify_group
from hra.domains.meshes.building.stuck import simplify_stuck_group


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
