"""PLY files as tables: every element with its properties as columns, checked before memory is taken.

The domains say what the columns mean: vertices and faces, points, splats. The rows of numbers in text that PLY shares
with other formats are here too.
"""

from __future__ import annotations

import lazy_loader

# The names stand in the stub beside this file; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
