"""The finest mesh of whatever a mesh is given as, and a few whole levels of it for files without tiles."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from hra.domains.meshes.asset.info import mesh_facts
from hra.domains.meshes.asset.layout import SUFFIXES
from hra.domains.meshes.asset.mesh_asset import MeshAsset, open_asset
from hra.domains.meshes.files.read import load
from hra.domains.meshes.lods.chains import for_levels, lod_chain
from hra.domains.meshes.lods.discrete_lod import DiscreteLOD
from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh
from hra.files.local_files import local_path

_STEP = 4
_LEAST_TRIANGLES = 256


def whole_mesh(source: str | Path | TriangleMesh | ClusterMesh | MeshAsset) -> tuple[TriangleMesh, float]:
    """The source's triangles, and a bound on their distance from the mesh that clusters were built of.

    The bound is 0 except for files whose vertices were moved to a grid.

    Raises
    ------
    FileError, MeshError, MissingExtra, BackendUnavailable : see `load` and `open_asset`.
    """
    if isinstance(source, TriangleMesh):
        return source, 0.0
    if not isinstance(source, (ClusterMesh, MeshAsset)):
        if local_path(source).suffix.lower() not in SUFFIXES:
            return load(source), 0.0
        source = open_asset(source)
    step = source.grid_step if isinstance(source, MeshAsset) else 0.0
    clusters = source.read() if isinstance(source, MeshAsset) else source
    finest = np.flatnonzero(clusters.hierarchy.removed_by < 0)
    if "hausdorff" in clusters.hierarchy.node:
        return clusters.mesh(finest), float(clusters.hierarchy.attribute("hausdorff")[finest].max())
    return clusters.mesh(finest), step * math.sqrt(3) / 2


def quarter_levels(source: str | Path | ClusterMesh | MeshAsset) -> DiscreteLOD:
    """All of a mesh, a quarter of its triangles, a sixteenth ... while at least 256 are left; with normals.

    Raises
    ------
    FileError, MeshError, MissingExtra, BackendUnavailable : see `build` and `open_asset`.
    """
    if not isinstance(source, (ClusterMesh, MeshAsset)):
        source = open_asset(source) if Path(source).suffix.lower() in SUFFIXES else for_levels(source)
    facts = mesh_facts(source.hierarchy, source.triangles_per_cluster)
    share, shares = 1 / _STEP, [1.0]
    while facts["triangles"] * share >= max(_LEAST_TRIANGLES, facts["root_triangles"]):
        shares.append(share)
        share /= _STEP
    return lod_chain(source, shares).with_normals()
