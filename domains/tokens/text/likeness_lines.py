"""Lines of text found without a package for it: strokes smeared along the line, and what hangs together."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.domains.tokens.text.lines import TextLine
from hra.errors import MissingExtra
from hra.files.images.arrays import LUMA

_STEP = 0.12  # least luma step of a stroke on a coarse copy
_GAP = 5  # pixels of the coarse copy that a gap between words may have
_HEIGHTS = (3, 40)  # of a line on the coarse copy, in pixels


def likeness_lines(image: np.ndarray, scale: float) -> list[TextLine]:
    """Lines on a coarse copy of an image, unread.

    Source: run-length smearing, K. Y. Wong, R. G. Casey and F. M. Wahl, "Document analysis system" (IBM Journal of
    Research and Development, 1982), on steps of brightness in place of black pixels.

    Parameters
    ----------
    image : float32 [h, w, 3] in [0, 1], the copy.
    scale : pixels of the image per pixel of the copy.

    Raises
    ------
    MissingExtra : SciPy is not installed.
    """
    try:
        from scipy import ndimage
    except ImportError as error:
        raise MissingExtra.of("scipy", "tokens") from error
    grey = image @ LUMA
    strokes = np.abs(np.diff(grey, axis=1, append=grey[:, -1:])) > _STEP
    smeared = ndimage.binary_closing(np.pad(strokes, _GAP), np.ones((1, _GAP)))[_GAP:-_GAP, _GAP:-_GAP]
    labels: Any = ndimage.label(smeared)
    boxes = [(x.start, y.start, x.stop, y.stop) for y, x in ndimage.find_objects(labels[0])]
    return [_line(box, scale) for box in boxes if _HEIGHTS[0] <= box[3] - box[1] <= _HEIGHTS[1] and box[2] - box[0] > 4]


def _line(box: tuple[int, int, int, int], scale: float) -> TextLine:
    x0, y0, x1, y1 = (scale * side for side in box)
    return TextLine(np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]]))
