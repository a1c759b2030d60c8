from __future__ import annotations

import numpy as np

from hra.domains.tokens.pictures.lettering import GAP, line_height, written


def test_lines_are_black_below_each_other_and_the_canvas_stays():
    canvas = np.full((60, 400, 3), 255, np.uint8)
    shown = written(canvas, ["first", "second"], height=25)
    assert (canvas == 255).all()
    dark = shown.max(axis=2) < 128
    assert dark[:25].any() and dark[25:50].any()
    assert not dark[50:].any() and not dark[:, :GAP].any()
    assert line_height(4000) > line_height(100) >= 18
