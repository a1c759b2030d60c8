"""A small picture of a mesh, for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hra.allocating.solve import solve
from hra.camera.framing import fit_camera
from hra.domains.meshes.viewer.drawing import add_shaded, new_plotter, place_camera
from hra.errors import BackendUnavailable, ImageError, MissingExtra
from hra.files.images.files import png_bytes

if TYPE_CHECKING:
    from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh
    from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh

_SIZE = (640, 480)
# More triangles than its pixels show.
_TRIANGLES = 200_000


def portrait(mesh: TriangleMesh) -> bytes | None:
    """A shaded PNG of the whole mesh, None where nothing can draw it."""
    camera = fit_camera(mesh.positions, azimuth=30, elevation=10, viewport=_SIZE)
    try:
        plotter = new_plotter(_SIZE, off_screen=True)
        try:
            add_shaded(plotter, mesh)
            place_camera(plotter, camera)
            return png_bytes(plotter.screenshot(return_img=True)[..., :3])
        finally:
            plotter.close()
    except (MissingExtra, BackendUnavailable, ImageError):
        return None


def cluster_portrait(clusters: ClusterMesh) -> bytes | None:
    """The same of a cut that has as many triangles as a small picture shows."""
    clusters = clusters.with_cost("triangles")
    node, budget = clusters.hierarchy.node, max(_TRIANGLES, clusters.root_triangle_count)
    errors = node["area"] * np.square(node["error"], dtype=np.float64)
    return portrait(clusters.mesh(solve(clusters.hierarchy, budget, errors=errors).cut))
