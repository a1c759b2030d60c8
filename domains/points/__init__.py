"""Points and Gaussian splats: clouds as trees, cut to a budget of points, splats or bytes for a camera.

Directly here are clouds, the trees over them, metrics and the allocator. Files are in ``files``, clouds larger than
memory in ``outofcore``, pictures in ``pictures``, commands in ``commands``. Nothing here uses more of hra than it
exports: an import rule says so.
"""

from __future__ import annotations

import lazy_loader

# The names stand in the stub beside this file; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
