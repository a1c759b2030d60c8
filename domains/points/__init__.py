"""Points and Gaussian splats: clouds as trees, cut to a budget of points, splats or bytes for a camera.

Rooms from the bottom up: what a cloud and its tree are (``cloud``), its pictures on the processor (``pictures``), files
(``files``), errors that points are chosen by (``metrics``), how trees are made (``building``), what is seen
(``viewer``) and ``commands``. Nothing here uses more of hra than it exports: an import rule says so.
"""

from __future__ import annotations

import lazy_loader

# The names stand in the stub beside this file; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
