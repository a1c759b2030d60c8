"""Rectangles of an image that its EXIF orientation turns or mirrors, without turning the whole image."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Span = tuple[int, int]


@dataclass(frozen=True)
class Orientation:
    """How the upright image follows from the stored one: transposed first, then mirrored along its axes."""

    transposed: bool = False
    flip_rows: bool = False
    flip_columns: bool = False

    @classmethod
    def of(cls, exif: int) -> Orientation:
        """The meaning of an EXIF orientation from 1 to 8 (Exif 2.32, tag 0x0112)."""
        return cls(exif >= 5, exif in (3, 4, 7, 8), exif in (2, 3, 6, 7))

    def upright_size(self, height: int, width: int) -> tuple[int, int]:
        """Height and width of the upright image from those of the stored one."""
        return (width, height) if self.transposed else (height, width)

    def store(self, rows: Span, columns: Span, size: tuple[int, int]) -> tuple[Span, Span]:
        """The stored rows and columns that hold a rectangle of the upright image of ``size`` (height, width)."""
        if self.flip_rows:
            rows = size[0] - rows[1], size[0] - rows[0]
        if self.flip_columns:
            columns = size[1] - columns[1], size[1] - columns[0]
        return (columns, rows) if self.transposed else (rows, columns)

    def turn(self, texels: np.ndarray) -> np.ndarray:
        """Stored texels [h, w, C] of a rectangle as they stand upright."""
        if self.transposed:
            texels = texels.swapaxes(0, 1)
        return texels[:: -1 if self.flip_rows else 1, :: -1 if self.flip_columns else 1]
