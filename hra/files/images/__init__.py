"""Images: from and to files, as arrays of one form, and how close two of them are.

Whole images belong here: their readers and writers, the one form that they have inside the library, and the measures
that compare two of them. Textures, which are read tile by tile, and tokens belong to their domains.
"""

from __future__ import annotations

import lazy_loader

# The names stand in the stub beside this file; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
