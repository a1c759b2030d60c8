"""A few levels of a whole mesh, each a quarter of the one before: what files without tiles carry."""

from __future__ import annotations

from pathlib import Path

from hra.domains.meshes.asset.info import mesh_facts
from hra.domains.meshes.asset.layout import SUFFIXES
from hra.domains.meshes.asset.mesh_asset import MeshAsset, open_asset
from hra.domains.meshes.building.builder import build
from hra.domains.meshes.lods.chains import lod_chain
from hra.domains.meshes.lods.discrete_lod import DiscreteLOD
from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh

_STEP = 4
_LEAST_TRIANGLES = 256


def quarter_levels(source: str | Path | ClusterMesh | MeshAsset) -> DiscreteLOD:
    """All of a mesh, a quarter of its triangles, a sixteenth ... while at least 256 are left; with normals.

    Raises
    ------
    FileError, MeshError, MissingExtra, BackendUnavailable : see `build` and `open_asset`.
    """
    if not isinstance(source, (ClusterMesh, MeshAsset)):
        source = open_asset(source) if Path(source).suffix.lower() in SUFFIXES else build(source)
    facts = mesh_facts(source.hierarchy, source.triangles_per_cluster)
    share, shares = 1 / _STEP, [1.0]
    while facts["triangles"] * share >= max(_LEAST_TRIANGLES, facts["root_triangles"]):
        shares.append(share)
        share /= _STEP
    return lod_chain(source, shares).with_normals()
