"""Crack check: a cut of a closed surface must be closed."""

from __future__ import annotations

from hra.domains.meshes.edges import boundary_chain
from hra.domains.meshes.triangle_mesh import TriangleMesh
from hra.domains.meshes.weld import weld


def is_closed(mesh: TriangleMesh) -> bool:
    """Whether the surface has no border: the signed boundary chain over positions is empty.

    Every cut of a cluster mesh is closed if its source is. A cut of an open source has a border that simplification may
    have shortened, so this check does not apply to it.
    """
    _, corners = weld(mesh.positions, mesh.triangles)
    return not len(boundary_chain(corners)[0])
