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

from typing import TYPE_CHECKING

from hra.lazy_exports import lazy_exports

# Exported lazily (PEP 562), as in hra itself: what is not used is not imported.
_EXPORTS = {
    "CheckReport": "hra.domains.meshes.measures.check",
    "ClusterMesh": "hra.domains.meshes.cluster_mesh",
    "DiscreteLOD": "hra.domains.meshes.building.discrete",
    "Instance": "hra.domains.meshes.scene",
    "Material": "hra.domains.meshes.materials",
    "MeshAllocator": "hra.domains.meshes.allocator",
    "MeshAsset": "hra.domains.meshes.asset.mesh_asset",
    "Page": "hra.domains.meshes.asset.pages",
    "Scene": "hra.domains.meshes.scene",
    "SceneAllocation": "hra.domains.meshes.scene_allocation",
    "ScreenError": "hra.domains.meshes.metrics",
    "TriangleMesh": "hra.domains.meshes.triangle_mesh",
    "VertexAttributes": "hra.domains.meshes.attributes",
    "View": "hra.domains.meshes.views",
    "Viewer": "hra.domains.meshes.pictures.viewer",
    "VisibleScreenError": "hra.domains.meshes.occlusion",
    "boundary_chain": "hra.domains.meshes.measures.edges",
    "build": "hra.domains.meshes.building.builder",
    "build_discrete": "hra.domains.meshes.building.discrete",
    "check": "hra.domains.meshes.measures.check",
    "cluster_boxes": "hra.domains.meshes.occlusion",
    "drawable": "hra.domains.meshes.asset.paging",
    "from_arrays": "hra.domains.meshes.files.validate",
    "is_closed": "hra.domains.meshes.measures.check",
    "load": "hra.domains.meshes.files.read",
    "load_clusters": "hra.domains.meshes.asset.mesh_asset",
    "nearest_distances": "hra.domains.meshes.measures.triangle_distance",
    "open_asset": "hra.domains.meshes.asset.mesh_asset",
    "page_parents": "hra.domains.meshes.asset.paging",
    "page_trace": "hra.domains.meshes.asset.paging",
    "render": "hra.domains.meshes.pictures.drawing",
    "surface_points": "hra.domains.meshes.measures.surface",
    "visible_clusters": "hra.domains.meshes.occlusion",
    "wanted_pages": "hra.domains.meshes.asset.paging",
}

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
    "SceneAllocation",
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

if TYPE_CHECKING:
    from hra.domains.meshes.allocator import MeshAllocator as MeshAllocator
    from hra.domains.meshes.asset.mesh_asset import MeshAsset as MeshAsset
    from hra.domains.meshes.asset.mesh_asset import load_clusters as load_clusters
    from hra.domains.meshes.asset.mesh_asset import open_asset as open_asset
    from hra.domains.meshes.asset.pages import Page as Page
    from hra.domains.meshes.asset.paging import drawable as drawable
    from hra.domains.meshes.asset.paging import page_parents as page_parents
    from hra.domains.meshes.asset.paging import page_trace as page_trace
    from hra.domains.meshes.asset.paging import wanted_pages as wanted_pages
    from hra.domains.meshes.attributes import VertexAttributes as VertexAttributes
    from hra.domains.meshes.building.builder import build as build
    from hra.domains.meshes.building.discrete import DiscreteLOD as DiscreteLOD
    from hra.domains.meshes.building.discrete import build_discrete as build_discrete
    from hra.domains.meshes.cluster_mesh import ClusterMesh as ClusterMesh
    from hra.domains.meshes.files.read import load as load
    from hra.domains.meshes.files.validate import from_arrays as from_arrays
    from hra.domains.meshes.materials import Material as Material
    from hra.domains.meshes.measures.check import CheckReport as CheckReport
    from hra.domains.meshes.measures.check import check as check
    from hra.domains.meshes.measures.check import is_closed as is_closed
    from hra.domains.meshes.measures.edges import boundary_chain as boundary_chain
    from hra.domains.meshes.measures.surface import surface_points as surface_points
    from hra.domains.meshes.measures.triangle_distance import nearest_distances as nearest_distances
    from hra.domains.meshes.metrics import ScreenError as ScreenError
    from hra.domains.meshes.occlusion import VisibleScreenError as VisibleScreenError
    from hra.domains.meshes.occlusion import cluster_boxes as cluster_boxes
    from hra.domains.meshes.occlusion import visible_clusters as visible_clusters
    from hra.domains.meshes.pictures.drawing import render as render
    from hra.domains.meshes.pictures.viewer import Viewer as Viewer
    from hra.domains.meshes.scene import Instance as Instance
    from hra.domains.meshes.scene import Scene as Scene
    from hra.domains.meshes.scene_allocation import SceneAllocation as SceneAllocation
    from hra.domains.meshes.triangle_mesh import TriangleMesh as TriangleMesh
    from hra.domains.meshes.views import View as View

__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
