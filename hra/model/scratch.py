"""Working memory that outlives a solve: fresh memory of this size costs as much as the solve itself."""

from __future__ import annotations

import threading

import numpy as np


class Scratch(threading.local):
    """Arrays by name, one set for every thread; contents are whatever the last user left."""

    def array(self, name: str, shape: tuple[int, ...], dtype: type = np.float64) -> np.ndarray:
        """The array ``name``, made on first use and again when its shape changes."""
        known = self.__dict__.get(name)
        if known is None or known.shape != shape:
            known = np.empty(shape, dtype)
            setattr(self, name, known)
        return known
