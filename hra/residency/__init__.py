"""Residency over time: pools of bytes that are filled frame by frame, traces of demands, and judges of policies.

Live, a lane holds textures and meshes in one pool and a loader reads ahead for it. Recorded, a trace states what
frames demand, a policy serves it and writes a log, the pool loads and evicts for the policies of ours, and a verdict
judges any log. Policies of other systems stand beside ours, one per file, and `policies` knows them by name. Made-up
traces are in the lab; what a page or a tile is, the domains know.
"""

from __future__ import annotations

import lazy_loader

# The names stand in the stub beside this file; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
