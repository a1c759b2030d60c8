"""Base tokens of a smaller copy of the image, as vision encoders of one resolution see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.context.features import Encoder
from hra.domains.tokens.embedding.crops import encode_boxes
from hra.domains.tokens.methods.gestalt.gestalt import Gestalt, Size
from hra.domains.tokens.patches.downsample import resize, restore
from hra.domains.tokens.patches.pyramid import PatchPyramid
from hra.domains.tokens.patches.reconstruct import reconstruct


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
