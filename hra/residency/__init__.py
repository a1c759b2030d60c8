"""Residency over time: pools of bytes that are filled frame by frame, traces of demands, and policies on them.

``live`` keeps textures and meshes in one pool and reads ahead for it. ``replay`` has recorded demands, policies that
serve them, ours and those of other systems, and the evaluation of what each did. Synthetic traces are in the lab. The
domains define pages and tiles.
"""

from __future__ import annotations

import lazy_loader

from hra.moved import renamed

# The names stand in the stub beside this file; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = renamed(__name__, __getattr__)
