"""Boxes of many placed copies against one camera, compiled: `hra.camera.view_bounds` for many placements at once.

The innermost loops run over copies and are vectorised: copies share the boxes, and each has its own matrix.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit


@njit(cache=True, error_model="numpy")
def square_pixels_per_unit(eye, rows, scale, box, result):
    """Fill ``result`` [L] with the square of the most pixels that a unit covers in ``box`` [2, 3], for each copy.

    As `hra.Camera.visible_pixels_per_unit_in_boxes`, for boxes in view; ``rows`` and ``scale`` as of `lenses`.
    """
    for i in range(result.size):
        result[i] = (scale[i] * eye.focal_pixels) ** 2
    if not eye.perspective:
        return
    x, y, z = np.float64(box[0, 0]), np.float64(box[0, 1]), np.float64(box[0, 2])
    wide, high, deep = box[1, 0] - x, box[1, 1] - y, box[1, 2] - z
    widest = 1.0 / (eye.corner_cosine * eye.corner_cosine) - 1.0
    for i in range(result.size):
        across_x, across_y, across_z = rows[0, 0, i] * wide, rows[0, 1, i] * high, rows[0, 2, i] * deep
        up_x, up_y, up_z = rows[1, 0, i] * wide, rows[1, 1, i] * high, rows[1, 2, i] * deep
        away_x, away_y, away_z = -rows[2, 0, i] * wide, -rows[2, 1, i] * high, -rows[2, 2, i] * deep
        across = rows[0, 0, i] * x + rows[0, 1, i] * y + rows[0, 2, i] * z + rows[0, 3, i]
        up = rows[1, 0, i] * x + rows[1, 1, i] * y + rows[1, 2, i] * z + rows[1, 3, i]
        away = -(rows[2, 0, i] * x + rows[2, 1, i] * y + rows[2, 2, i] * z + rows[2, 3, i])
        nearest = away + _below(away_x) + _below(away_y) + _below(away_z)
        # All eight corners, each one edge from the last; the largest square tangent is kept as a quotient, because
        # divisions would take most of the time.
        above, below = _steeper(across, up, away, 0.0, 1.0)
        across, up, away = across + across_x, up + up_x, away + away_x
        above, below = _steeper(across, up, away, above, below)
        across, up, away = across + across_y, up + up_y, away + away_y
        above, below = _steeper(across, up, away, above, below)
        across, up, away = across - across_x, up - up_x, away - away_x
        above, below = _steeper(across, up, away, above, below)
        across, up, away = across + across_z, up + up_z, away + away_z
        above, below = _steeper(across, up, away, above, below)
        across, up, away = across + across_x, up + up_x, away + away_x
        above, below = _steeper(across, up, away, above, below)
        across, up, away = across - across_y, up - up_y, away - away_y
        above, below = _steeper(across, up, away, above, below)
        across, up, away = across - across_x, up - up_x, away - away_x
        above, below = _steeper(across, up, away, above, below)
        inside = nearest > 0.0 and above < widest * below
        above, below = (above if inside else widest), (below if inside else 1.0)
        reached = nearest if nearest > eye.near else eye.near
        result[i] *= (below + above) / (below * reached * reached)


@njit(cache=True, error_model="numpy")
def _steeper(across, up, away, above, below):
    aside, away = across * across + up * up, away * away
    more = aside * below > above * away
    return (aside if more else above), (away if more else below)


@njit(cache=True, error_model="numpy")
def _below(x):
    return x if x < 0.0 else 0.0
