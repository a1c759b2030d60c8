"""Windows on what was allocated: an eye that a mouse moves, and a loop of frames under a panel.

A domain brings a session, which holds what is viewed and draws it, and says what keys and panel do to it.
"""

from __future__ import annotations

import lazy_loader

# The names stand in the stub beside this file; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
