"""Lines of text: where they stand, what they say, and which of them are running text or begin a paragraph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

_LONG = 12.0  # aspect from which a line is not a label and no value
_WIDE, _RATHER_LONG = 0.6, 8.0  # or this share of the width of all text: loose boxes make lines look shorter
_APART = 1.25  # of the usual distance of lines
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
