"""Texture streaming: which mip levels and tiles are resident within a pool of bytes.

Directly here are pages and their pool, metrics, plans and replays. Which pages a view wants is found in ``feedback``,
the scenes and cameras in ``views``, and files are read in ``sources``.
"""

from __future__ import annotations

import lazy_loader

# The names stand in the stub beside this file; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
