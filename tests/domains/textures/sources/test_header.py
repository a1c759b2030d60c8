from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.textures.sources.header import Orientation


def reference(stored: np.ndarray, exif: int) -> np.ndarray:
    """The upright image, as the EXIF specification describes where row 0 and column 0 are."""
    turned = {
        1: stored,
        2: stored[:, ::-1],
        3: stored[::-1, ::-1],
        4: stored[::-1],
        5: stored.transpose(1, 0, 2),
        6: np.rot90(stored, -1),
        7: stored[::-1, ::-1].transpose(1, 0, 2),
        8: np.rot90(stored, 1),
    }
    return turned[exif]


@pytest.mark.parametrize("exif", range(1, 9))
@given(data=st.data())
def test_a_rectangle_of_the_upright_image_is_found_in_the_stored_one(exif: int, data: st.DataObject) -> None:
    height, width = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 9))
    stored = np.arange(height * width).reshape(height, width, 1)
    upright, orientation = reference(stored, exif), Orientation.of(exif)
    size = orientation.upright_size(height, width)
    assert size == upright.shape[:2]
    (top, bottom), (left, right) = (
        sorted(data.draw(st.tuples(st.integers(0, n), st.integers(0, n)).filter(lambda p: p[0] != p[1]))) for n in size
    )
    rows, columns = orientation.store((top, bottom), (left, right), size)
    part = orientation.turn(stored[slice(*rows), slice(*columns)])
    np.testing.assert_array_equal(part, upright[top:bottom, left:right])
