"""Figures and signs that stand alone in the row of a line: detectors of text pass over what is as small as one letter.

What stands out from the paper, touches no line that was found, and is as high as the letters of a line in whose row it
stands, is a short line, too. Leaders are lower than letters, and pictures and rules are larger.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hra.domains.tokens.text.lines import TextLine

_INK = 0.4  # of the strongest stroke
_LOW, _HIGH = 0.35, 1.1  # of the line's box, in whose row it stands: letters are a bit more than half as high as it
_WIDE = 3.0  # of that, too
_APART = 0.4  # of it, up to which signs are one line
_BESIDE = 0.35  # of it, by which its middle may lie higher or lower
_MARGIN = 0.35  # of its height around it, as boxes of the detector have
_MOST = 40  # more are not figures but the texture of something


def isolated(strokes: np.ndarray, lines: Sequence[TextLine], strength: float) -> list[TextLine]:
    """Short lines, unread, that lie beside other lines and were not found before.

    Parameters
    ----------
    strokes : float32 [h, w], how much darker or lighter than the paper around it each pixel is.
    lines : that were found, in pixels of ``strokes``, upright.
    strength : of the strongest strokes.
    """
    import cv2

    if not lines or strength <= 0:
        return []
    ink = np.ascontiguousarray(np.abs(strokes) > _INK * strength).astype(np.uint8)
    covered = np.zeros_like(ink)
    for line in lines:
        cv2.fillPoly(covered, [np.round(line.quad).astype(np.int32)], 1)
    boxes = np.array([line.box for line in lines])
    heights, middles = boxes[:, 3] - boxes[:, 1], (boxes[:, 1] + boxes[:, 3]) / 2
    usual = float(np.median(heights))
    _, labelled, stats, _ = cv2.connectedComponentsWithStats(ink)
    signs = np.asarray(labelled, np.int32)
    left_out = np.asarray(stats)[:, cv2.CC_STAT_HEIGHT] < _LOW * usual  # points and leaders
    left_out[signs[covered > 0]] = True  # a sign of which a line has a part belongs to it
    ink[left_out[signs]] = 0
    apart = max(round(_APART * usual), 1)
    joined = cv2.morphologyEx(ink, cv2.MORPH_CLOSE, np.ones((1, 2 * (apart // 2) + 1), np.uint8))
    count, _, stats, _ = cv2.connectedComponentsWithStats(joined)
    found = []
    for left, top, width, height, _ in stats[1:count]:
        beside = np.abs(top + height / 2 - middles) < _BESIDE * heights
        fits = beside & (height > _LOW * heights) & (height < _HIGH * heights) & (width < _WIDE * heights)
        if fits.any():
            margin = _MARGIN * height
            x0, y0, x1, y1 = left - margin, top - margin, left + width + margin, top + height + margin
            found.append(TextLine(np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], np.float64)))
    return found if len(found) <= _MOST else []
