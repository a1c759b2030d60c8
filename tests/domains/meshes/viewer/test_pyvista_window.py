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
