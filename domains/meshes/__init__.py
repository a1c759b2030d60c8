"""Meshes: cluster hierarchies over shared vertices, cut to a budget of triangles or to an error in pixels.

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
