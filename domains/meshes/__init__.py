"""Meshes: cluster hierarchies over shared vertices, cut to a budget of triangles or to an error in pixels.

>>> import hra, hra.samples
>>> from hra.domains import meshes
>>> skull = meshes.build(hra.samples.path("skull.ply"))
>>> allocator = meshes.MeshAllocator(skull)
>>> allocation = allocator.allocate(hra.Camera.orbit(skull.bounds, azimuth=30), budget=10_000)
>>> len(allocator.realize(allocation).triangles) <= 10_000
True
"""

from __future__ import annotations

from hra.domains.meshes.allocator import MeshAllocator
from hra.domains.meshes.asset import (
    MeshAsset,
    Page,
    drawable,
    load_clusters,
    open_asset,
    page_parents,
    page_trace,
    wanted_pages,
)
from hra.domains.meshes.attributes import VertexAttributes
from hra.domains.meshes.building.builder import build
from hra.domains.meshes.building.discrete import DiscreteLOD, build_discrete
from hra.domains.meshes.cluster_mesh import ClusterMesh
from hra.domains.meshes.files.read import load
from hra.domains.meshes.files.validate import from_arrays
from hra.domains.meshes.materials import Material
from hra.domains.meshes.measures.check import CheckReport, check, is_closed
from hra.domains.meshes.measures.edges import boundary_chain
from hra.domains.meshes.measures.surface import surface_points
from hra.domains.meshes.measures.triangle_distance import nearest_distances
from hra.domains.meshes.metrics import ScreenError
from hra.domains.meshes.occlusion import VisibleScreenError, cluster_boxes, visible_clusters
from hra.domains.meshes.pictures.drawing import render
from hra.domains.meshes.pictures.viewer import Viewer
from hra.domains.meshes.scene import Instance, Scene
from hra.domains.meshes.triangle_mesh import TriangleMesh
from hra.domains.meshes.views import View

__all__ = [
    "CheckReport",
    "ClusterMesh",
    "DiscreteLOD",
    "Instance",
    "Material",
    "MeshAllocator",
    "MeshAsset",
    "Page",
    "Scene",
    "ScreenError",
    "TriangleMesh",
    "VertexAttributes",
    "View",
    "Viewer",
    "VisibleScreenError",
    "boundary_chain",
    "build",
    "build_discrete",
    "check",
    "cluster_boxes",
    "drawable",
    "from_arrays",
    "is_closed",
    "load",
    "load_clusters",
    "nearest_distances",
    "open_asset",
    "page_parents",
    "page_trace",
    "render",
    "surface_points",
    "visible_clusters",
    "wanted_pages",
]
