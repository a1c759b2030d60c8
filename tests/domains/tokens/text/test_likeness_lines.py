from __future__ import annotations

import numpy as np

from hra.domains.tokens.text.likeness_lines import likeness_lines
from tests.helpers.reader_cases import page


def test_lines_are_found_by_their_strokes():
    image, quads = page()
    boxes = np.array([one.box for one in likeness_lines(np.ascontiguousarray(image[::2, ::2]), 2.0)])
    for quad in quads:
        centre = quad.mean(axis=0)
        inside = (boxes[:, :2] <= centre).all(axis=1) & (boxes[:, 2:] >= centre).all(axis=1)
        near = (abs(boxes[:, [1, 3]].mean(axis=1) - centre[1]) < 12).any()
        assert inside.any() or near
