"""hra: which level of detail where, within this budget?

One hierarchical resource allocator for meshes (triangles), textures (bytes) and visual tokens, exact in its budget and
with a bound on how far each answer is from the best possible one.

This folder is the core and, above it, pages, viewers and the command line. Only what every room needs lies here by
itself: the errors, the plug-ins and the compiler's settings. Code about meshes, textures or tokens belongs to
`hra.domains`, loops over arrays that know no hierarchy to `hra.kernels`.
"""

from __future__ import annotations

import lazy_loader

from hra.files.forking import guard_forks
from hra.moved import keep_old_names

__version__ = "0.1.0"
guard_forks()
keep_old_names()

# The names stand in the stub beside this file; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
