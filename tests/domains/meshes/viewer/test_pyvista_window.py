from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hra
from hra.domains import meshes


def camera(**options: Any) -> hra.Camera:
    return hra.Camera.perspective((0, 0, 4), (0, 0, 0), viewport=(160, 120), **options)


@pytest.mark.gl
def test_the_viewer_follows_its_budget(bumpy_clusters: meshes.ClusterMesh, tmp_path: Path) -> None:
    viewer = meshes.Viewer(bumpy_clusters, camera(), 500, off_screen=True)
    few = viewer.allocation.cost
    assert few <= 500
    viewer.color_by("error")
    assert viewer.allocate(np.inf).cost == bumpy_clusters.triangle_count > few
    viewer.save(tmp_path / "v.png")
    viewer.close()
    assert (tmp_path / "v.png").stat().st_size > 1000


@pytest.mark.gl
def test_a_small_mesh_is_cut_for_where_the_camera_is(bumpy_clusters: meshes.ClusterMesh) -> None:
    """The near plane follows what the window turns around: the mesh, and not a point one unit ahead."""
    source = bumpy_clusters.mesh(np.flatnonzero(bumpy_clusters.hierarchy.removed_by < 0))
    small = meshes.build(meshes.from_arrays(source.positions * np.float32(1e-5), source.triangles))
    view = hra.Camera.perspective((0, 0, 2e-5), (0, 0, 0), near=1e-8, viewport=(160, 120))
    expected = meshes.MeshAllocator(small).allocate(view, 300)
    viewer = meshes.Viewer(small, view, 1_000, off_screen=True)
    found = viewer.allocate(300)
    viewer.close()
    assert found.residual == pytest.approx(expected.residual, rel=1e-3)
