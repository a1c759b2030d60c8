"""Archives of arrays that hold no pickles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO

import numpy as np

from hra.errors import ArrayError


def save_plain(stream: IO[bytes], arrays: Mapping[str, np.ndarray], *, compressed: bool = False) -> None:
    """Write arrays of numbers and texts as ``.npz``.

    ``numpy.savez`` has an argument for that from NumPy 2.2 on, and before it writes the argument as an array.

    Raises
    ------
    ArrayError : an array of objects, which NumPy would pickle.
    """
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise ArrayError("an array of objects cannot be saved", where=name, fix="pass numbers or texts")
    (np.savez_compressed if compressed else np.savez)(stream, **arrays)  # pyright: ignore[reportArgumentType]
