"""Meshes: cluster hierarchies over shared vertices, cut to a budget of triangles or to an error in pixels.

Rooms from the bottom up: what a mesh is (``mesh``), how far surfaces are apart (``distances``), foreign files
(``files``), errors that a cut is chosen by (``metrics``) and the choice (`MeshAllocator`), how clusters are made
(``building``, ``outofcore``), their file (``asset``), whole levels (``lods``), placed copies (``scene``), tiles
(``tiles``), what is seen (``viewer``) and ``commands``. A room imports only rooms below it: an import rule says so.

>>> import hra
>>> from hra.domains import meshes
>>> skull = meshes.build(hra.samples.path("skull.ply"))
>>> allocator = meshes.MeshAllocator(skull)
>>> allocation = allocator.allocate(hra.Camera.orbit(skull.bounds, azimuth=30), budget=10_000)
>>> len(allocator.realize(allocation).triangles) <= 10_000
True
"""

from __future__ import annotations

from typing import Any

import lazy_loader

from hra.domains.meshes.mesh.methods import METHODS

# The names stand in the stub beside this file; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def _export(mesh: Any, path: Any) -> None:
    from hra.domains.meshes.files.write_glb import export

    export(mesh, path)


def _save(clusters: Any, path: Any, grid_bits: int | None) -> None:
    from hra.domains.meshes.asset.writing import save

    save(clusters, path, grid_bits)


def _portrait(mesh: Any) -> bytes | None:
    from hra.domains.meshes.viewer.drawing import portrait

    return portrait(mesh)


def _cluster_portrait(clusters: Any) -> bytes | None:
    from hra.domains.meshes.viewer.drawing import cluster_portrait

    return cluster_portrait(clusters)


METHODS.update(export=_export, save=_save, portrait=_portrait, cluster_portrait=_cluster_portrait)
