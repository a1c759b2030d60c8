"""Tilesets of viewers: which tiles to hold within a cache of bytes, and what the viewers' rules hold.

It reads 3D Tiles of any tool from disk. Directly here are the tree of tiles, its screen errors and the plan. Readers
are in ``files``, replays of viewers in ``rules``, commands in ``commands``.
"""

from __future__ import annotations

import lazy_loader

# The names stand in the stub beside this file; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
