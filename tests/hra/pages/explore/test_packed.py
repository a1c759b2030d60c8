from __future__ import annotations

import numpy as np

from hra.pages.explore.packed import packed
from tests.helpers.explorers import unpacked


def test_arrays_are_packed_bit_by_bit():
    array = np.array([0.1, np.nan, np.inf, -0.0])
    assert unpacked(packed(array)).tobytes() == array.tobytes()
