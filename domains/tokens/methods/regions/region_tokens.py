"""Tokens that are regions of any shape, and what a region leaves wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.embedding.feature_grid import Regions, runs
from hra.domains.tokens.methods.regions.descriptors import pool_patches
from hra.domains.tokens.methods.regions.painting import paint, region_values
from hra.domains.tokens.methods.regions.region_tree import region_boxes
from hra.domains.tokens.token_sets.token_set import TokenSet
from hra.errors import ArrayError
from hra.model.arrays import to_numpy, whole_in
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric


@dataclass(frozen=True)
class RegionError(ErrorMetric):
    """Squared error of a region that its own token shows, weighted by relevance.

    ``sum over the region's pixels of relevance (image - shown)**2 / sum of relevance``. Regions of a cut are disjoint
    and each is painted by its own token only: together they give the relevance-weighted mean squared error of the
    reconstruction, except that a region counts at least the errors of its parts.
    """

    unit = "relevance-weighted mean squared error"

    def evaluate(self, hierarchy: Hierarchy, context: TokenContext) -> np.ndarray:
        """Error of every node, float64 [N]."""
        return hierarchy.attribute("error")


_NO_TOKENS = np.float32(0.5)  # mid-grey, as for patches


def _checked(labels: Any, size: tuple[int, ...], count: int) -> np.ndarray:
    """Labels int32 [H, W] of ``count`` regions: compiled code would write past its arrays for others."""
    array, count = to_numpy(labels), whole_in("count", count, kind=ArrayError)
    if array.shape != size or array.dtype.kind not in "iu":
        what = f"labels must be integers {list(size)}, got {array.dtype} {list(array.shape)}"
        raise ArrayError(what, where="labels")
    if array.size and not (array.min() >= -1 and array.max() < count):
        what = f"labels of {count} regions go from {array.min()} to {array.max()}"
        raise ArrayError(what, where="labels", fix=f"use -1 for no region, and 0 .. {count - 1}")
    return np.ascontiguousarray(array, np.int32)


@dataclass(frozen=True, eq=False, repr=False)
class RegionTokens(TokenSet):
    """K tokens, each a region whose box is resampled to patch x patch pixels; see `painting`.

    Attributes
    ----------
    values : float32 [K, patch * patch * 3] in [0, 1], pixels row by row, channels last.
    labels : int32 [H, W], the token whose region holds each pixel, -1 for none.
    relevance : float64 [K], mean relevance of the token's region.
    image_size : (height, width) of the image in pixels.
    patch : side of a token in its own pixels.
    fixations : float64 [K, 2] or None, see `TokenSet`.

    Raises
    ------
    ArrayError : labels of another kind or size, or of a token that is not among the K.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.SemanticTree()
    >>> regions = allocator.realize(allocator.allocate((image, ""), budget=20))
    >>> isinstance(regions, tokens.RegionTokens), len(regions.values)
    (True, 20)
    """

    values: np.ndarray
    labels: np.ndarray
    relevance: np.ndarray
    image_size: tuple[int, int]
    patch: int
    fixations: np.ndarray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", _checked(self.labels, tuple(self.image_size), len(self.values)))

    @classmethod
    def of(cls, context: TokenContext, labels: np.ndarray, count: int) -> RegionTokens:
        """The tokens of ``count`` regions, each with at least one pixel of ``labels`` int32 [H, W].

        Raises
        ------
        ArrayError : labels of another kind or size, or of a region that is not among the ``count``.
        """
        labels, patch = _checked(labels, context.image.shape[:2], count), context.pyramid.patch
        values = region_values(context.pyramid.image, labels, region_boxes(labels, count), patch)
        relevance = pool_patches(context.relevance[..., None], labels, count, patch)[:, 0]
        height, width = labels.shape
        return cls(values, labels, relevance, (height, width), patch)

    @property
    def boxes(self) -> np.ndarray:
        """Pixels (x0, y0, x1, y1), end excluded, that enclose each token's region, int32 [K, 4]."""
        return region_boxes(self.labels, len(self))

    @property
    def detail(self) -> np.ndarray:
        """log2 of the image's pixels along the longer side of a token's pixel, at least 0: float32 [K]."""
        boxes = self.boxes
        extent = (boxes[:, 2:] - boxes[:, :2]).max(axis=1, initial=1)
        return np.log2(np.maximum(extent / self.patch, 1)).astype(np.float32)

    def token_map(self) -> np.ndarray:
        """The token that shows each pixel, -1 for none: int32 [H, W]."""
        return self.labels

    def reconstruct(self) -> np.ndarray:
        """Every region painted with its token, float32 [H, W, 3] in [0, 1]; the mean of all tokens where there is none.

        Exact where a box is no larger than a patch.
        """
        mean = np.float32(self.values.mean(dtype=np.float64)) if len(self) else _NO_TOKENS
        return paint(self.values, self.labels, self.boxes, self.patch, mean)

    @property
    def _regions(self) -> Regions:
        return runs(self.labels)
