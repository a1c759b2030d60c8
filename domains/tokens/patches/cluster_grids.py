"""Grids of token clusters, level above level, whose borders may differ from one level to the next."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hra.domains.tokens.embedding.overlaps import Overlaps, Regions
from hra.domains.tokens.patches.pyramid import PatchPyramid
from hra.errors import ArrayError


@dataclass(frozen=True)
class ClusterGrid:
    """Square tokens of one pyramid level over an image.

    Attributes
    ----------
    level : of the pyramid; a token's pixel is 2**level pixels wide.
    side : of a token in pixels of the image.
    shift : pixels by which the first token begins outside of the image, a multiple of 2**level.
    size : (height, width) of the image.
    """

    level: int
    side: int
    shift: int
    size: tuple[int, int]

    @cached_property
    def counts(self) -> tuple[int, int]:
        """Rows and columns."""
        return -(-(self.size[0] + self.shift) // self.side), -(-(self.size[1] + self.shift) // self.side)

    @cached_property
    def corners(self) -> np.ndarray:
        """(x, y) of the first pixel of every token, which may lie outside of the image, int64 [N, 2]."""
        y, x = np.divmod(np.arange(self.counts[0] * self.counts[1]), self.counts[1])
        return np.stack([x, y], axis=1) * self.side - self.shift

    @property
    def boxes(self) -> np.ndarray:
        """(x0, y0, x1, y1) in pixels, within the image, int64 [N, 4]."""
        return np.clip(np.concatenate([self.corners, self.corners + self.side], axis=1), 0, [*self.size[::-1]] * 2)

    def covering(self, finer: ClusterGrid) -> tuple[np.ndarray, np.ndarray]:
        """All pairs of a token of a ``finer`` grid and one of this grid that share pixels, two int64 [n]."""
        rows, columns = (
            np.clip(np.arange(count + 1) * self.side - self.shift, 0, extent).astype(np.float64)
            for count, extent in zip(self.counts, self.size, strict=True)
        )
        overlaps = Overlaps.of(Regions.of(finer.boxes), rows, columns)
        return overlaps.token[overlaps.area > 0], overlaps.cell[overlaps.area > 0]


def cluster_grids(pyramid: PatchPyramid, cluster: int, *, staggered: bool) -> list[ClusterGrid]:
    """Grids from the finest patches to the coarsest level; ``cluster`` x ``cluster`` tokens become one of the next.

    Staggered, every grid begins half a token of the next finer grid (for the coarsest ones a little less) before that
    one does, so that its borders run through the middle of finer tokens. Only a grid of one token does not.

    Raises
    ------
    ArrayError : staggered grids of a patch that is not a power of two from 4 on.
    """
    patch, size = pyramid.patch, (pyramid.image.shape[0], pyramid.image.shape[1])
    if staggered and (patch < 4 or patch & (patch - 1)):
        fix = "use a power of two, at least 4, or boundaries='aligned'"
        raise ArrayError(f"patches of {patch} pixels cannot be staggered by whole pixels", where="patch", fix=fix)
    top, step = len(pyramid.levels) - 1, cluster.bit_length() - 1
    levels = sorted({*range(0, top + 1, step), top})
    grids = [ClusterGrid(level, patch << level, _shift(patch, level) * staggered, size) for level in levels]
    whole = ClusterGrid(top, patch << top, 0, size)
    return [*grids[:-1], whole] if whole.counts == (1, 1) else grids


def _shift(patch: int, level: int) -> int:
    """Half of what is a token at all finer levels together, in whole pixels of the level."""
    return (patch // 2 * (2**level - 1) >> level) << level
