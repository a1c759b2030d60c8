"""hra: which level of detail where, within this budget?

One hierarchical resource allocator for meshes (triangles), textures (bytes) and visual tokens, exact in its budget and
with a bound on how far each answer is from the best possible one.

This folder is the core and, above it, the lab and the command line. Only what every room needs lies here by itself: the
errors, the plug-ins and writing a file in one step. Whatever speaks of meshes, textures or tokens belongs to
`hra.domains`, loops over arrays that know no hierarchy to `hra.kernels`.
"""

from __future__ import annotations

import lazy_loader

from hra.files.forking import guard_forks

__version__ = "0.1.0"
guard_forks()

# The names stand in the stub beside this file; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
