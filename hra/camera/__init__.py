"""Cameras: what a mesh or texture metric needs to know about the view."""

from __future__ import annotations

import lazy_loader

# The names stand in the stub beside this file; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
