"""Compressed gestalt: the tokens of the finest patches, pooled into few (COC)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.embedding.features import Encoder, check_features
from hra.domains.tokens.methods.gestalt.gestalt import Gestalt, Size
from hra.domains.tokens.patches.reconstruct import reconstruct
from hra.domains.tokens.pyramid.blocks import cell_borders, cell_labels, cell_means
from hra.domains.tokens.pyramid.pyramid import PatchPyramid
from hra.errors import MetricError
from hra.model.arrays import to_numpy

Compressor = Callable[[np.ndarray, tuple[int, int]], Any]
"""(finest tokens float32 [rows, columns, D], (r, c)) -> tokens [r, c, D]."""


@final
@dataclass(frozen=True)
class CompressedGestalt(Gestalt):
    """Token vectors of the finest patches, compressed to ``rows`` x ``columns``: 4096 to 256 at 1024 x 1024.

    Tokens are pooled, not pixels: pixel i of a base token is the mean of the pixels i of its patches. That suits
    learned features; from raw pixels it keeps the mean colour and little else, so that images restored from it are
    worse than those of `ResizedGestalt`.

    It combines freely with selection: `GridTopK` is selection alone, ``GestaltSaccades(gestalt=CompressedGestalt())``
    at its smallest budget is compression alone, with more tokens it is both.

    Parameters
    ----------
    compressor : by default the mean over each cell (average pooling); or a learned one, such as
        `hra.domains.tokens.learned.Resampler`. One that states its ``width`` is for features of that length: tokens of
        pixels, which have another, are means then.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> context = tokens.PyramidSampling().context(image, "what is at the top left?")
    >>> tokens.CompressedGestalt(2, 3).values(context).shape
    (6, 768)
    """

    compressor: Compressor = cell_means

    def borders(self, size: Size, patch: int) -> tuple[np.ndarray, np.ndarray]:
        """Pixels at which rows and columns of base tokens begin and end, multiples of ``patch``."""
        return _borders(size[0], self.rows, patch), _borders(size[1], self.columns, patch)

    def detail(self, size: Size, patch: int) -> float:
        """log2 of the patches along the longer side of the largest cell."""
        return float(np.log2(max(-(-int(np.diff(edges).max()) // patch) for edges in self.borders(size, patch))))

    def values(self, context: TokenContext) -> np.ndarray:
        """The compressed tokens; see `Gestalt.values`.

        Raises
        ------
        MetricError : the compressor returned another shape or values that are not finite.
        """
        pyramid = context.pyramid
        finest = pyramid.values(pyramid.positions[: pyramid.offsets[1]])
        return self._compress(finest.reshape(*pyramid.grids[0], -1), pyramid, self._for_pixels(finest.shape[1]))

    def encode(self, pyramid: PatchPyramid, encoder: Encoder) -> np.ndarray:
        """The compressed features of the finest patches, float32 [rows * columns, D].

        Raises
        ------
        MetricError : features of another grid than that of the patches; see also `values`.
        """
        return self._compress(check_features(encoder(pyramid.image), pyramid.grids[0]), pyramid, self.compressor)

    def _for_pixels(self, width: int) -> Compressor:
        return self.compressor if getattr(self.compressor, "width", width) == width else cell_means

    def _compress(self, finest: np.ndarray, pyramid: PatchPyramid, compressor: Compressor) -> np.ndarray:
        grid, width = self.grid(pyramid.image.shape[:2], pyramid.patch), finest.shape[2]
        compressed = to_numpy(compressor(finest, grid))
        if compressed.shape != (*grid, width) or not np.isfinite(compressed).all():
            what = f"the compressor returned {compressed.dtype} of shape {compressed.shape}"
            raise MetricError(what, where="compressor", fix=f"return finite numbers of shape {(*grid, width)}")
        return compressed.reshape(-1, width).astype(np.float32)

    def image(self, values: np.ndarray, size: Size, patch: int) -> np.ndarray:
        """Every finest patch shown by the token of its cell; see `Gestalt.image`."""
        shape = (-(-size[0] // patch), -(-size[1] // patch))
        y, x = (places.ravel() for places in np.indices(shape))
        labels = cell_labels(shape, (self.rows, self.columns)).ravel()
        return reconstruct(values[labels], np.stack([np.zeros_like(x), x, y], axis=1), size, patch)


def _borders(extent: int, cells: int, patch: int) -> np.ndarray:
    return np.minimum(cell_borders(-(-extent // patch), cells) * patch, extent)
