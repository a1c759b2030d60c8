"""Cluster meshes as files: one file, memory-mapped, checksummed, in pages that can be loaded one by one.

Writing and reading that file belong here: the layout and its checks, packed tables and pages, and the code that streams
pages in. docs/mesh-format.md describes every byte.
"""

from __future__ import annotations

from hra.domains.meshes.asset.mesh_asset import MeshAsset, load_clusters, open_asset
from hra.domains.meshes.asset.pages import Page
from hra.domains.meshes.asset.paging import drawable, page_parents, page_trace, wanted_pages
from hra.domains.meshes.asset.writing import save

__all__ = [
    "MeshAsset",
    "Page",
    "drawable",
    "load_clusters",
    "open_asset",
    "page_parents",
    "page_trace",
    "save",
    "wanted_pages",
]
