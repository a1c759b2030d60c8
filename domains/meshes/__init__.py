"""Meshes: cluster hierarchies over shared vertices, cut to a budget of triangles or to an error in pixels.

Directly here are the meshes themselves (triangles, clusters, attributes), how a camera weighs them (views, metrics,
occlusion) and the allocators. How clusters are made is in ``building``, their file in ``asset``, other files in
``files``, what is measured on surfaces in ``measures`` and what is looked at in ``pictures``.

>>> import hra
>>> from hra.domains import meshes
>>> skull = meshes.build(hra.samples.path("skull.ply"))
>>> allocator = meshes.MeshAllocator(skull)
>>> allocation = allocator.allocate(hra.Camera.orbit(skull.bounds, azimuth=30), budget=10_000)
>>> len(allocator.realize(allocation).triangles) <= 10_000
True
"""

from __future__ import annotations

import lazy_loader

# The names stand in the stub beside this file; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
