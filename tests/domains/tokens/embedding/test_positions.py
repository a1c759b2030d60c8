from __future__ import annotations

import numpy as np
import pytest

from hra.domains.tokens.embedding.positions import positions
from hra.errors import HraError

BOXES, DETAIL = np.array([[0, 0, 16, 16], [32, 16, 64, 48]]), np.array([0.0, 1.0])


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("centres", [[0, 0], [2.5, 1.5]]),
        ("level_xy", [[0, 0, 0], [1, 1, 0.5]]),
        ("boxes", [[0, 0, 1, 1, 1, 1], [2, 1, 4, 3, 2, 2]]),
    ],
)
def test_positions_by_hand(kind: str, expected: list):
    found = positions(BOXES, DETAIL, kind, (64, 96), (4, 6), 16)
    np.testing.assert_allclose(found, expected)
    assert found.dtype == np.float32


def test_another_kind_is_refused():
    with pytest.raises(HraError, match="corners"):
        positions(BOXES, DETAIL, "corners", (64, 96), (4, 6), 16)
