"""The image difference FLIP."""

from __future__ import annotations

from hra.images.flip.difference import PIXELS_PER_DEGREE, flip, flip_map

__all__ = ["PIXELS_PER_DEGREE", "flip", "flip_map"]
