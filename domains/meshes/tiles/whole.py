"""The finest mesh of whatever a mesh is given as, and how far it is from what it was made of."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from hra.domains.meshes.asset.layout import SUFFIXES
from hra.domains.meshes.asset.mesh_asset import MeshAsset, open_asset
from hra.domains.meshes.files.read import load
from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh


def whole_mesh(source: str | Path | TriangleMesh | ClusterMesh | MeshAsset) -> tuple[TriangleMesh, float]:
    """The source's triangles, and a bound on their distance from the mesh that clusters were built of.

    The bound is 0 but for files whose vertices were moved to a grid.

    Raises
    ------
    FileError, MeshError, MissingExtra, BackendUnavailable : see `load` and `open_asset`.
    """
    if isinstance(source, TriangleMesh):
        return source, 0.0
    if not isinstance(source, (ClusterMesh, MeshAsset)):
        if Path(source).suffix.lower() not in SUFFIXES:
            return load(source), 0.0
        source = open_asset(source)
    step = source.grid_step if isinstance(source, MeshAsset) else 0.0
    clusters = source.read() if isinstance(source, MeshAsset) else source
    finest = np.flatnonzero(clusters.hierarchy.removed_by < 0)
    if "hausdorff" in clusters.hierarchy.node:
        return clusters.mesh(finest), float(clusters.hierarchy.attribute("hausdorff")[finest].max())
    return clusters.mesh(finest), step * math.sqrt(3) / 2
