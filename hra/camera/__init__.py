"""Cameras, and what they see: matrices, bounds in view, what lies behind a depth buffer, visual acuity.

Code that depends on a view and on no domain belongs here, with compiled tests of many boxes and spheres. What a view
means for meshes or textures, their metrics define; `hra.kernels` makes depth pyramids.
"""

from __future__ import annotations

import lazy_loader

# The names stand in the stub beside this file; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
