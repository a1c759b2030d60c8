"""The gestalt: a fixed grid of tokens that shows the whole image, over which finest patches may be laid.

`ResizedGestalt` is a smaller copy of the image, as vision encoders of one resolution see it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.embedding.batch_encoder import encode_boxes
from hra.domains.tokens.embedding.features import Encoder
from hra.domains.tokens.patches.reconstruct import reconstruct
from hra.domains.tokens.pyramid.downsample import resize, restore
from hra.domains.tokens.pyramid.pyramid import PatchPyramid
from hra.errors import ArrayError
from hra.model.arrays import POSITIVE, whole_in

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
        for name in ("rows", "columns"):
            object.__setattr__(self, name, whole_in(name, getattr(self, name), POSITIVE, ArrayError))

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


@final
@dataclass(frozen=True)
class ResizedGestalt(Gestalt):
    """The image at ``rows * patch`` x ``columns * patch`` pixels by the Lanczos filter, cut into patches.

    An axis that is shorter is not enlarged. Base tokens show what `uniform_downsample` shows.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> context = tokens.PyramidSampling().context(image, "what is at the top left?")
    >>> tokens.ResizedGestalt(2, 3).values(context).shape
    (6, 768)
    """

    def borders(self, size: Size, patch: int) -> tuple[np.ndarray, np.ndarray]:
        """Pixels at which rows and columns of base tokens begin and end; see `Gestalt.borders`."""
        return _borders(size[0], self.rows, patch), _borders(size[1], self.columns, patch)

    def detail(self, size: Size, patch: int) -> float:
        """log2 of the factor by which the more reduced axis is smaller."""
        small = self._reduced_size(size, patch)
        return float(np.log2(max(size[0] / small[0], size[1] / small[1])))

    def values(self, context: TokenContext) -> np.ndarray:
        """The patches of the smaller image; see `Gestalt.values`."""
        pyramid = PatchPyramid.build(self._small(context.pyramid), patch=context.pyramid.patch, levels=1)
        return pyramid.values(pyramid.positions)

    def encode(self, pyramid: PatchPyramid, encoder: Encoder) -> Any:
        """The features of the smaller image; see `Gestalt.encode`."""
        small = self._small(pyramid)
        rows, columns = self.grid(pyramid.image.shape[:2], pyramid.patch)
        y, x = np.divmod(np.arange(rows * columns), columns)
        boxes = np.stack([x, y, x + 1, y + 1], axis=1) * pyramid.patch
        return encode_boxes(small, encoder, pyramid.patch, boxes)

    def image(self, values: np.ndarray, size: Size, patch: int) -> np.ndarray:
        """The smaller image enlarged; see `Gestalt.image`."""
        rows, columns = self.grid(size, patch)
        y, x = np.divmod(np.arange(rows * columns), columns)
        positions = np.stack([np.zeros_like(x), x, y], axis=1)
        return restore(reconstruct(values, positions, self._reduced_size(size, patch), patch), size)

    def _small(self, pyramid: PatchPyramid) -> np.ndarray:
        image = pyramid.image
        return np.clip(resize(image, self._reduced_size(image.shape[:2], pyramid.patch)), 0, 1)

    def _reduced_size(self, size: Size, patch: int) -> Size:
        return min(self.rows * patch, size[0]), min(self.columns * patch, size[1])


def _borders(extent: int, cells: int, patch: int) -> np.ndarray:
    """Where patches of the smaller image begin and end in an axis of ``extent`` pixels."""
    small = min(cells * patch, extent)
    begins = np.arange(0, small, patch)
    return np.r_[np.rint(begins * (extent / small)).astype(np.int64), extent]
