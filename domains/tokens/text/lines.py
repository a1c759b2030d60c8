"""A line of text: where it stands, and what it says if it was read."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np


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
