"""Tokens that sample the image anywhere, at any scale.

Below them: sampling a pyramid at any place and scale, painting samples back, and what lies between the tokens, unknown
pixels from the known ones around them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from hra.compiling import njit
from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.pyramid.blocks import block_sums
from hra.domains.tokens.pyramid.interpolation import refine
from hra.domains.tokens.token_sets.position_codes import finest_on_top, mean_over_boxes
from hra.domains.tokens.token_sets.token_set import TokenSet
from hra.kernels import Pyramid, sample
from hra.kernels.sampling.numba_backend import between


@final
@dataclass(frozen=True, eq=False, repr=False)
class SampledTokens(TokenSet):
    """K tokens, each a square of patch x patch samples around a centre.

    Samples are read from the pyramid between the two levels next to their spacing, so that coarse tokens do not alias
    (trilinear mip mapping, L. Williams, "Pyramidal parametrics", SIGGRAPH 1983). Tokens may overlap and leave gaps.

    Attributes
    ----------
    values : float32 [K, patch * patch * 3] in [0, 1], samples row by row, channels last.
    points : float64 [K, 2], (x, y) in pixels, the middle of each square.
    scales : float64 [K], pixels between two samples, >= 1.
    relevance : float64 [K], mean relevance of the finest patches that the token touches.
    image_size : (height, width) of the image in pixels.
    patch : samples along a side.
    fixations : float64 [K, 2] or None, see `TokenSet`.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.LogPolar()
    >>> samples = allocator.realize(allocator.allocate((image, ""), budget=20))
    >>> isinstance(samples, tokens.SampledTokens), len(samples.values)
    (True, 20)
    """

    values: np.ndarray
    points: np.ndarray
    scales: np.ndarray
    relevance: np.ndarray
    image_size: tuple[int, int]
    patch: int
    fixations: np.ndarray | None = None

    @classmethod
    def of(
        cls, context: TokenContext, points: np.ndarray, scales: np.ndarray, fixations: np.ndarray | None = None
    ) -> SampledTokens:
        """Sample the image of ``context`` at ``points`` [K, 2] and ``scales`` [K] >= 1."""
        pyramid = context.pyramid
        height, width = pyramid.image.shape[:2]
        points, scales = np.asarray(points, np.float64), np.asarray(scales, np.float64)
        values = sample_patches(pyramid.mips, points, scales, pyramid.patch)
        boxes = _boxes(points, scales, pyramid.patch, (height, width))
        relevance = mean_over_boxes(context.relevance, boxes, pyramid.patch)
        return cls(
            values.reshape(len(points), 3 * pyramid.patch**2),
            points,
            scales,
            relevance,
            (height, width),
            pyramid.patch,
            fixations,
        )

    @classmethod
    def whole(cls, context: TokenContext, fixations: np.ndarray) -> SampledTokens:
        """The finest patches, of ``fixations`` [K, 2]: what there is to see where there is a token for each."""
        pyramid = context.pyramid
        places = pyramid.positions[: pyramid.offsets[1], 1:]
        return cls.of(context, (places + 0.5) * pyramid.patch, np.ones(len(places)), fixations)

    @property
    def boxes(self) -> np.ndarray:
        """Pixels (x0, y0, x1, y1), end excluded, whose centres each token's square contains, int32 [K, 4]."""
        return _boxes(self.points, self.scales, self.patch, self.image_size)

    @property
    def centres(self) -> np.ndarray:
        """(x, y) of the middle of each token's square in pixels, float64 [K, 2]."""
        return self.points

    @property
    def _corners(self) -> np.ndarray:
        half = self.scales[:, None] * self.patch / 2
        return np.concatenate([self.points - half, self.points + half], axis=1)

    @property
    def detail(self) -> np.ndarray:
        """log2 of the spacing of each token's samples, float32 [K]."""
        return np.log2(self.scales).astype(np.float32)

    def token_map(self) -> np.ndarray:
        """The token of finest scale whose square contains each pixel, -1 in the gaps: int32 [H, W]."""
        return finest_on_top(self.boxes, self.scales, self.image_size)

    def reconstruct(self) -> np.ndarray:
        """The image from these tokens alone, finest on top, gaps filled from around: float32 [H, W, 3] in [0, 1]."""
        canvas = np.zeros((*self.image_size, 3), np.float32)
        patches = self.values.reshape(-1, self.patch, self.patch, 3)
        paint(np.argsort(-self.scales, kind="stable"), self.boxes, self.points, self.scales, patches, canvas)
        return np.clip(fill_gaps(canvas, self.token_map() >= 0), 0, 1)


def _boxes(centres: np.ndarray, scales: np.ndarray, patch: int, image_size: tuple[int, int]) -> np.ndarray:
    """Pixels (x0, y0, x1, y1) whose centres lie within half a side of each centre, int32 [K, 4], never empty."""
    limit = np.array(image_size[::-1])
    half = scales[:, None] * patch / 2
    low = np.clip(np.ceil(centres - half - 0.5), 0, limit - 1)
    high = np.clip(np.ceil(centres + half - 0.5), low + 1, limit)
    return np.concatenate([low, high], axis=1).astype(np.int32)


def fill_gaps(pixels: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Fill unknown pixels from the finest coarser level that knows something there; mid-grey if nothing is known.

    Source: pull-push, S. Gortler et al., "The Lumigraph" (SIGGRAPH 1996), with average interpolation as the push.

    Parameters
    ----------
    pixels : float32 [H, W, C], ignored where not ``known`` bool [H, W].

    Returns
    -------
    float32 [H, W, C], `pixels` wherever they are known.
    """
    if known.all():
        return pixels
    if not known.any():
        return np.full_like(pixels, 0.5)
    counts = block_sums(known.astype(np.float32), 2)[..., None]
    means = block_sums(np.where(known[..., None], pixels, 0), 2) / np.maximum(counts, 1)
    coarse = fill_gaps(means.astype(np.float32), counts[..., 0] > 0)
    return np.where(known[..., None], pixels, refine(coarse, *known.shape))


def sample_patches(mips: Pyramid, centres: np.ndarray, scales: np.ndarray, patch: int) -> np.ndarray:
    """Patches of ``patch`` x ``patch`` samples around each centre, trilinear in the pyramid.

    Parameters
    ----------
    mips : "block_mean" pyramid of the image [H, W, C]; centres : float64 [K, 2], (x, y) in pixels of level 0.
    scales : float64 [K], pixels of level 0 between two samples, >= 1.

    Returns
    -------
    float32 [K, patch, patch, C].
    """
    along = centres[:, :, None] + (np.arange(patch) + (0.5 - patch / 2)) * scales[:, None, None]
    points = np.empty((len(centres), patch, patch, 2))
    points[..., 0], points[..., 1] = along[:, 0, None, :], along[:, 1, :, None]
    values = sample(mips, points.reshape(-1, 2), np.repeat(np.log2(scales), patch**2))
    return values.reshape(len(centres), patch, patch, values.shape[-1])


@njit(cache=True)
def paint(order, boxes, centres, scales, values, canvas):
    """Paint the patches ``values`` float32 [K, patch, patch, C] over the ``canvas`` [H, W, C], in ``order``.

    Each pixel of a token's box is looked up bilinearly among its samples (inverse warp).
    """
    patch = values.shape[1]
    for token in order:
        x0, y0, x1, y1 = boxes[token]
        for y in range(y0, y1):
            top, bottom, down = between((y + 0.5 - centres[token, 1]) / scales[token] + patch / 2 - 0.5, patch)
            for x in range(x0, x1):
                left, right, across = between((x + 0.5 - centres[token, 0]) / scales[token] + patch / 2 - 0.5, patch)
                for c in range(canvas.shape[2]):
                    upper = (1 - across) * values[token, top, left, c] + across * values[token, top, right, c]
                    under = (1 - across) * values[token, bottom, left, c] + across * values[token, bottom, right, c]
                    canvas[y, x, c] = (1 - down) * upper + down * under
