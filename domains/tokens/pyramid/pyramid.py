"""The patch pyramid: square patches of an image at every level of detail, and who lies under whom."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from hra.caching import cached_property, kept
from hra.domains.tokens.pyramid.blocks import block_means
from hra.errors import ArrayError
from hra.files.images.arrays import as_image
from hra.kernels import Pyramid, build_pyramid, level_errors, node_errors, take_blocks
from hra.model.arrays import POSITIVE, frozen, whole_in, whole_number
from hra.model.short_repr import ShortRepr


@dataclass(frozen=True, eq=False, repr=False)
class PatchPyramid(ShortRepr):
    """Patches (level, y, x) of an image; level 0 is the image, each further level halves it by the mean of 2 x 2.

    The patch (level, y, x) covers the pixels from (y, x) * patch * 2**level, and has up to four children one level
    below. If the image is not a multiple of the patch, the last patches repeat the edge; patches that would lie fully
    outside do not exist. Patches are numbered level by level from fine to coarse, row by row. Build with `build`.

    Attributes
    ----------
    levels : float32 [ceil(H / 2**l), ceil(W / 2**l), 3] for l = 0, 1, ...
    patch : side of a patch in pixels of its level.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> pyramid = tokens.PatchPyramid.build(image, patch=16)
    >>> len(pyramid.levels), pyramid.positions.shape, pyramid.grids
    (5, (129, 3), [(8, 12), (4, 6), (2, 3), (1, 2), (1, 1)])
    """

    levels: tuple[np.ndarray, ...]
    patch: int = 16

    @classmethod
    def build(cls, image: Any, *, patch: int = 16, levels: int | None = None) -> PatchPyramid:
        """The pyramid of one image.

        Parameters
        ----------
        image : [H, W, 3] of any size, floats in [0, 1], or any other form that `hra.files.images.as_image` takes.
        patch : side of a patch in pixels, even.
        levels : how many, at most; by default as many as it takes until one patch shows the whole image.

        Raises
        ------
        ImageError : wrong layout, dtype or values.
        ArrayError : patch or levels out of range.
        """
        pixels = np.ascontiguousarray(as_image(image))
        patch, levels = checked_sizes(patch, levels)
        depth = full_depth(pixels.shape[:2], patch)
        depth = depth if levels is None else min(levels, depth)
        mips = build_pyramid(pixels, "block_mean", depth)
        made = cls(mips.levels, patch)
        made.once("mips", lambda: mips)
        return made

    once = kept

    @property
    def mips(self) -> Pyramid:
        """The levels in one buffer, for kernels; without a copy where `build` made them."""
        return self.once("mips", lambda: Pyramid.of_levels(self.levels, "block_mean"))

    @cached_property
    def image(self) -> np.ndarray:
        """The image itself, float32 [H, W, 3]."""
        return self.levels[0]

    @cached_property
    def grids(self) -> list[tuple[int, int]]:
        """Rows and columns of patches at each level."""
        return [(-(-level.shape[0] // self.patch), -(-level.shape[1] // self.patch)) for level in self.levels]

    @cached_property
    def offsets(self) -> np.ndarray:
        """Number of the first patch of each level and the count of all, int64 [L + 1]."""
        return np.cumsum([0] + [rows * columns for rows, columns in self.grids])

    @cached_property
    def positions(self) -> np.ndarray:
        """(level, x, y) of every patch, int32 [N, 3]."""
        parts = []
        for level, (rows, columns) in enumerate(self.grids):
            y, x = np.divmod(np.arange(rows * columns, dtype=np.int32), np.int32(columns))
            parts.append(np.stack([np.full_like(x, level), x, y], axis=1))
        return np.concatenate(parts)

    @cached_property
    def parents(self) -> np.ndarray:
        """Number of the patch one level coarser that covers each patch, -1 at the coarsest level, int32 [N]."""
        return self.tree.parent

    @cached_property
    def tree(self) -> Quadtree:
        """The quadtree of the patches; the same object for all images of one size, as long as it is kept."""
        return quadtree(tuple(self.grids))

    @cached_property
    def patch_means(self) -> np.ndarray:
        """Mean of every finest patch, [rows, columns, 3]: a level of the pyramid where all patches are whole."""
        level = self.patch.bit_length() - 1
        whole = 1 << level == self.patch and not any(extent % self.patch for extent in self.image.shape[:2])
        return self.levels[level] if whole and level < len(self.levels) else block_means(self.image, self.patch)

    @cached_property
    def errors_by_level(self) -> np.ndarray:
        """Squared error of each finest patch while a level shows all: `hra.kernels.level_errors`."""
        # Python 3.11 computes a cached property of one object at a time, whatever the thread.
        return self.once("errors", lambda: level_errors(self.mips, self.patch))

    def boxes(self, positions: np.ndarray) -> np.ndarray:
        """Pixels (x0, y0, x1, y1), end excluded, that patches [K, 3] at (level, x, y) cover, int32 [K, 4]."""
        height, width = self.image.shape[:2]
        return patch_boxes(positions, self.patch, height, width)

    def values(self, positions: np.ndarray) -> np.ndarray:
        """Pixel values of patches [K, 3] at (level, x, y), row by row: float32 [K, patch * patch * 3]."""
        level, x, y = np.asarray(positions, np.int64).T
        columns = np.array([columns for _, columns in self.grids])
        numbers = (self.offsets[level] + y * columns[level] + x).astype(np.int32)
        return take_blocks(self.mips, numbers, self.patch).reshape(len(positions), 3 * self.patch**2)

    def node_errors(self, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weighted squared error over the region of every patch, and the same one level coarser.

        Parameters
        ----------
        weight : [rows, columns] of the finest patches, >= 0.

        Returns
        -------
        own : float64 [N], while the patch itself shows the region.
        inherited : float64 [N], while its parent does (at the coarsest level: the patch itself).
        """
        return node_errors(self.errors_by_level, np.asarray(weight, np.float64))


def checked_sizes(patch: Any, levels: Any = None) -> tuple[int, int | None]:
    """The side of a patch as an int, and how many levels there are at most; None for no limit.

    Raises
    ------
    ArrayError : a side that is not an even whole number from 2 on, or levels that are not a whole number from 1 on.
    """
    side = patch if type(patch) is int else whole_number(patch)
    if side is None or side < 2 or side % 2:
        what = f"the side of a patch must be even and at least 2, got {patch}"
        raise ArrayError(what, where="patch", fix="use 14, 16 or another even number")
    count = None if levels is None else whole_number(levels)
    if levels is not None and (count is None or count < 1):
        what = f"levels must be at least 1, got {levels}"
        raise ArrayError(what, where="levels", fix="use a whole number, or None for all")
    return side, count


def full_depth(image_size: tuple[int, ...], patch: int) -> int:
    """Levels that it takes until one patch shows the whole image of (height, width) pixels."""
    side = patch if type(patch) is int and patch > 0 else whole_in("patch", patch, POSITIVE, ArrayError)
    return 1 + (-(-int(max(image_size)) // side) - 1).bit_length()


def patch_boxes(positions: np.ndarray, patch: int, height: int, width: int) -> np.ndarray:
    """Pixels (x0, y0, x1, y1), end excluded, that patches [K, 3] at (level, x, y) cover in an image, int32 [K, 4]."""
    size = patch << positions[:, 0].astype(np.int64)
    x0, y0 = positions[:, 1] * size, positions[:, 2] * size
    return np.stack([x0, y0, np.minimum(x0 + size, width), np.minimum(y0 + size, height)], axis=1).astype(np.int32)


Grids = tuple[tuple[int, int], ...]


class Quadtree(NamedTuple):
    """Who lies under whom in a patch pyramid, numbered as in `PatchPyramid`.

    parent : int32 [N], -1 for the coarsest level, whose first patch is number ``first_root``.
    offsets, children : int32 [N + 1] and [N - roots], the children of each patch in ascending order.
    """

    parent: np.ndarray
    offsets: np.ndarray
    children: np.ndarray
    first_root: int


@lru_cache(maxsize=32)
def quadtree(grids: Grids) -> Quadtree:
    """The quadtree of levels of (rows, columns) patches, from fine to coarse; kept for a few sizes."""
    begin = np.cumsum([0] + [rows * columns for rows, columns in grids])
    parent = np.full(begin[-1], -1, np.int32)
    for level, (rows, columns) in enumerate(grids[:-1]):
        y, x = np.divmod(np.arange(rows * columns), columns)
        parent[begin[level] : begin[level + 1]] = begin[level + 1] + y // 2 * grids[level + 1][1] + x // 2
    child = np.flatnonzero(parent >= 0)
    offsets = np.append(0, np.cumsum(np.bincount(parent[child], minlength=parent.size))).astype(np.int32)
    children = child[np.argsort(parent[child], kind="stable")].astype(np.int32)
    return Quadtree(frozen(parent), frozen(offsets), frozen(children), int(begin[-2]))
