"""What several tests of obj lines share."""

from __future__ import annotations

from array import array

from hra.domains.meshes.files.obj_words import ObjLines


def above(vertices: int = 9, coordinates: int = 8, directions: int = 7) -> ObjLines:
    """What stands above a run: so many vertices, coordinates and normals."""
    positions, uv, normals = (array("d", [0.0]) * size for size in (3 * vertices, 2 * coordinates, 3 * directions))
    return ObjLines(positions=positions, uv=uv, normals=normals, material=3)
