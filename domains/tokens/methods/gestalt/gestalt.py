"""The gestalt: a fixed grid of tokens that shows the whole image, over which finest patches may be laid."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.context.features import Encoder
from hra.domains.tokens.patches.pyramid import PatchPyramid
from hra.errors import ArrayError

Size = tuple[int, int]
"""(height, width) of an image in pixels."""


@dataclass(frozen=True)
class Gestalt(ABC):
    """How an image becomes ``rows`` x ``columns`` base tokens, and what they show.

    An image with fewer finest patches along an axis has one cell for each of them.

    Parameters
    ----------
    rows, columns : of base tokens, at most; 16 x 16 = 256, and 24 x 24 = 576 as LLaVA-1.5 has them.
    """

    rows: int = 16
    columns: int = 16

    def __post_init__(self) -> None:
        if self.rows < 1 or self.columns < 1:
            what = f"a gestalt of {self.rows} x {self.columns} tokens"
            raise ArrayError(what, where="rows, columns", fix="use at least 1 x 1")

    def grid(self, size: Size, patch: int) -> tuple[int, int]:
        """Rows and columns of base tokens of an image of (height, width)."""
        return min(self.rows, -(-size[0] // patch)), min(self.columns, -(-size[1] // patch))

    @abstractmethod
    def borders(self, size: Size, patch: int) -> tuple[np.ndarray, np.ndarray]:
        """Pixels at which rows [rows + 1] and columns [columns + 1] of base tokens begin and end, ascending int."""

    @abstractmethod
    def detail(self, size: Size, patch: int) -> float:
        """log2 of the image's pixels along one side of a base token's pixel; 0 if the base shows the image itself."""

    def base(self, context: TokenContext) -> np.ndarray:
        """`values`, computed once for an image."""
        return context.pyramid.once((self, "base"), lambda: self.values(context))

    @abstractmethod
    def values(self, context: TokenContext) -> np.ndarray:
        """The base tokens, row by row: float32 [rows * columns, patch * patch * 3]."""

    @abstractmethod
    def encode(self, pyramid: PatchPyramid, encoder: Encoder) -> Any:
        """What an encoder makes of the base tokens, row by row: [rows * columns, D], NumPy or torch as it returns."""

    @abstractmethod
    def image(self, values: np.ndarray, size: Size, patch: int) -> np.ndarray:
        """What base tokens alone show: float32 [H, W, 3] in [0, 1]."""


def boxes_between(borders: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Pixels (x0, y0, x1, y1), end excluded, of the cells between borders of rows and columns: int32 [cells, 4]."""
    down, across = borders
    y0, x0 = np.meshgrid(down[:-1], across[:-1], indexing="ij")
    y1, x1 = np.meshgrid(down[1:], across[1:], indexing="ij")
    return np.stack([x0, y0, x1, y1], axis=-1).reshape(-1, 4).astype(np.int32)


def cells_between(borders: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """The cell, row by row, of every pixel between borders of rows and columns: int32 [H, W]."""
    row, column = (np.repeat(np.arange(edges.size - 1, dtype=np.int32), np.diff(edges)) for edges in borders)
    return row[:, None] * np.int32(borders[1].size - 1) + column
