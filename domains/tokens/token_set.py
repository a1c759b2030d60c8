"""The result of a token allocation: the token array with everything a model needs beside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.blocks import block_means
from hra.domains.tokens.context import TokenContext
from hra.domains.tokens.patches import patch_boxes
from hra.domains.tokens.reconstruct import reconstruct


@dataclass(frozen=True, eq=False)
class TokenSet:
    """K tokens, each the pixel values of one patch at its level.

    Attributes
    ----------
    values : float32 [K, patch * patch * 3] in [0, 1], pixels row by row, channels last.
    positions : int32 [K, 3], (level, x, y) in patches of that level; level 0 is the finest.
    relevance : float64 [K], mean relevance of the token's region.
    image_size : (height, width) of the image in pixels.
    patch : side of a patch in pixels of its level.
    """

    values: np.ndarray
    positions: np.ndarray
    relevance: np.ndarray
    image_size: tuple[int, int]
    patch: int

    @classmethod
    def of(cls, context: TokenContext, positions: np.ndarray) -> TokenSet:
        """The tokens of the patches at (level, x, y) ``positions`` [K, 3]."""
        pyramid = context.pyramid
        height, width = pyramid.image.shape[:2]
        relevance = _region_means(context.relevance, positions)
        return cls(pyramid.values(positions), positions, relevance, (height, width), pyramid.patch)

    def __len__(self) -> int:
        """Number of tokens."""
        return len(self.values)

    @property
    def boxes(self) -> np.ndarray:
        """Pixels (x0, y0, x1, y1), end excluded, that each token covers, int32 [K, 4]."""
        return patch_boxes(self.positions, self.patch, *self.image_size)

    @property
    def order(self) -> np.ndarray:
        """Token indices from the most to the least relevant, ties in the given order, int64 [K]."""
        return np.argsort(-self.relevance, kind="stable")

    def reconstruct(self) -> np.ndarray:
        """The image from these tokens alone, float32 [H, W, 3] in [0, 1]; see `reconstruct.reconstruct`."""
        return reconstruct(self.values, self.positions, self.image_size, self.patch)


def _region_means(relevance: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Mean relevance over the finest patches that each position [K, 3] covers, float64 [K]."""
    means = np.empty(len(positions))
    for level in np.unique(positions[:, 0]):
        here = positions[:, 0] == level
        size = 2 ** int(level)
        blocks = block_means(relevance, size)
        means[here] = blocks[positions[here, 2], positions[here, 1]]
    return means
