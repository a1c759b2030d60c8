"""Visual tokens: which patches of an image, at which level of detail, within a budget of tokens.

>>> import numpy as np
>>> from hra.domains import tokens
>>> image = np.random.default_rng(0).random((240, 320, 3), dtype=np.float32)
>>> allocator = tokens.PyramidSampling()
>>> allocation = allocator.allocate((image, "what is at the top left?"), budget=64)
>>> allocator.realize(allocation).values.shape
(64, 768)

Where things are: ``methods`` has one file for each method, in folders by what its tokens are made of; patches of an
image and the error metric of most methods are in ``patches``; what is known of image and query in ``context``,
``relevance``, ``text`` and ``channels``; torch modules in ``learned``; what tokens are worth in ``quality``.
"""

from __future__ import annotations

import lazy_loader

# The names stand in the stub beside this file; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
