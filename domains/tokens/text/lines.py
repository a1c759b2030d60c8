"""Lines of text: where they stand, what they say, and which of them are running text or begin a paragraph.

`likeness_lines` finds them without a package for it: strokes smeared along the line, and what hangs together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hra.errors import needs
from hra.files.images.arrays import LUMA

_LONG = 12.0  # aspect from which a line is not a label and no value
_WIDE, _RATHER_LONG = 0.6, 8.0  # or this share of the width of all text: loose boxes make lines look shorter
_APART = 1.25  # of the usual distance of lines
_STEP = 0.12  # least luma step of a stroke on a coarse copy
_GAP = 5  # pixels of the coarse copy that a gap between words may have
_HEIGHTS = (3, 40)  # of a line on the coarse copy, in pixels
_EARLY = 3.0  # heights of a line before the margin: more than most words that would not fit are long


@dataclass(frozen=True, eq=False)
class TextLine:
    """One stretch of text, as far as its words stand close together.

    Attributes
    ----------
    quad : float64 [4, 2], corners (x, y) in pixels of the image: top left, top right, bottom right, bottom left.
    text : what it says; None if it was not read.
    edges : float64 [letters + 1], shares of its length where letters begin, and the end of the last one; None where
        they are as wide as each other.
    """

    quad: np.ndarray
    text: str | None = None
    edges: np.ndarray | None = None

    @property
    def box(self) -> np.ndarray:
        """(x0, y0, x1, y1), float64."""
        return np.concatenate([self.quad.min(axis=0), self.quad.max(axis=0)])

    @property
    def height(self) -> float:
        """Height in pixels, along its left side."""
        return float(np.linalg.norm(self.quad[3] - self.quad[0]))

    @property
    def aspect(self) -> float:
        """Length over height."""
        return float(np.linalg.norm(self.quad[1] - self.quad[0])) / max(self.height, 1e-9)

    def saying(self, text: str, edges: np.ndarray | None = None) -> TextLine:
        """The same line, read."""
        return replace(self, text=text, edges=edges)

    def share(self, letter: int) -> float:
        """The share of its length where a letter begins, by its number; 1 where it ends."""
        return letter / max(len(self.text or ""), 1) if self.edges is None else float(self.edges[letter])

    def part(self, start: float, end: float) -> np.ndarray:
        """Corners of the stretch from ``start`` to ``end``, shares of its length."""
        top_left, top_right, bottom_right, bottom_left = self.quad
        top, bottom = top_right - top_left, bottom_right - bottom_left
        ends = (top_left + start * top, top_left + end * top, bottom_left + end * bottom, bottom_left + start * bottom)
        return np.stack(ends)


def running(lines: Sequence[TextLine]) -> np.ndarray:
    """Whether each line is running text, bool [n]."""
    aspects = np.array([line.aspect for line in lines])
    boxes = np.array([line.box for line in lines]).reshape(-1, 4)
    width = np.ptp(boxes[:, [0, 2]]) if len(lines) else 0.0
    return (aspects >= _LONG) | ((aspects >= _RATHER_LONG) & (boxes[:, 2] - boxes[:, 0] >= _WIDE * width))


def paragraph_heads(lines: Sequence[TextLine], long: np.ndarray) -> np.ndarray:
    """Whether each line stands farther below the line above it than running text usually does, bool [n].

    Parameters
    ----------
    long : which lines are running text, bool [n].
    """
    x0, y0, x1, y1 = np.array([line.box for line in lines]).reshape(-1, 4).T
    middle = (y0 + y1) / 2
    # From the middle of the nearest line above to that of each line; infinite without one.
    over = (x0 < x1[:, None]) & (x1 > x0[:, None]) & (middle < middle[:, None])
    gaps = np.where(over, middle[:, None] - middle, np.inf).min(axis=1, initial=np.inf)
    known = gaps[np.isfinite(gaps) & long]
    return gaps > _APART * (np.median(known) if len(known) else 0.0)


def ends_early(lines: Sequence[TextLine], long: np.ndarray) -> np.ndarray:
    """Whether each line ends well before the rightmost end of running text, bool [n].

    Parameters
    ----------
    long : which lines are running text, bool [n].
    """
    ends, heights = np.array([line.box[2] for line in lines]), np.array([line.height for line in lines])
    return ends < ends[long].max(initial=0) - _EARLY * heights


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
    with needs("scipy", "tokens"):
        from scipy import ndimage
    grey = image @ LUMA
    strokes = np.abs(np.diff(grey, axis=1, append=grey[:, -1:])) > _STEP
    smeared = ndimage.binary_closing(np.pad(strokes, _GAP), np.ones((1, _GAP)))[_GAP:-_GAP, _GAP:-_GAP]
    labels: Any = ndimage.label(smeared)
    boxes = [(x.start, y.start, x.stop, y.stop) for y, x in ndimage.find_objects(labels[0])]
    return [_line(box, scale) for box in boxes if _HEIGHTS[0] <= box[3] - box[1] <= _HEIGHTS[1] and box[2] - box[0] > 4]


def _line(box: tuple[int, int, int, int], scale: float) -> TextLine:
    x0, y0, x1, y1 = (scale * side for side in box)
    return TextLine(np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]]))
