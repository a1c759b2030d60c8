"""Where regions come from: strategies that turn an image into a region tree.

`GridRegions` are blocks of patches; the others grow from a label map: of finest patches (`PatchRegions`), of SLIC
superpixels (`SlicRegions`), or of the masks that a segmentation model gives (`MaskRegions`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.methods.regions.agglomeration import Linkage, agglomerate
from hra.domains.tokens.methods.regions.descriptors import colours, pool_patches, textures, visual_features
from hra.domains.tokens.methods.regions.region_tree import RegionTree
from hra.domains.tokens.pyramid.blocks import block_counts
from hra.errors import ArrayError, needs
from hra.model.arrays import to_numpy


@dataclass(frozen=True)
class RegionSource(ABC):
    """Makes the region tree of an image: subclasses implement `build`."""

    def tree(self, context: TokenContext) -> RegionTree:
        """The region tree of a context, built once."""
        return context.once(self, lambda: self.build(context))

    @abstractmethod
    def build(self, context: TokenContext) -> RegionTree:
        """The region tree of a context."""


def patch_labels(context: TokenContext) -> np.ndarray:
    """The number of the finest patch that holds each pixel, int32 [H, W]."""
    patch, (height, width) = context.pyramid.patch, context.pyramid.image.shape[:2]
    rows, columns = (np.arange(extent, dtype=np.int32) // patch for extent in (height, width))
    return rows[:, None] * np.int32(context.pyramid.grids[0][1]) + columns


def patch_grid(context: TokenContext) -> np.ndarray:
    """The numbers of the finest patches, int64 [rows, columns]."""
    rows, columns = context.pyramid.grids[0]
    return np.arange(rows * columns).reshape(rows, columns)


@dataclass(frozen=True)
class GridRegions(RegionSource):
    """Patches merged two by two, in turn beside and below each other, whatever they show: the degenerate atlas.

    Every second step gives the square patches of the pyramid.
    """

    def build(self, context: TokenContext) -> RegionTree:
        """The merge tree of the grid of finest patches."""
        merges = grid_merges(patch_grid(context), int(np.prod(context.grid)))
        return RegionTree(patch_labels(context), merges, cell=context.patch)


def grid_merges(grid: np.ndarray, first: int) -> np.ndarray:
    """Merges of neighbouring cells up to one, alternately along rows and columns.

    Parameters
    ----------
    grid : int [rows, columns], the node of each cell, -1 where there is none; blocks without any cell are left out.
    first : the number of the first new node.

    Returns
    -------
    int32 [cells - 1, 2], see `RegionTree.merges`.
    """
    parts = [np.empty((0, 2), np.int32)]
    while grid.size > 1:
        for _ in range(2):
            grid, merged = _pair(grid, first)
            parts.append(merged)
            first += len(merged)
            grid = grid.T
    return np.concatenate(parts).astype(np.int32)


def _pair(grid: np.ndarray, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Cells joined with their right neighbours; the new grid, and the merges."""
    padded = np.pad(grid, ((0, 0), (0, grid.shape[1] % 2)), constant_values=-1)
    left, right = padded[:, ::2], padded[:, 1::2]
    both = (left >= 0) & (right >= 0)
    joined = np.maximum(left, right)
    joined[both] = first + np.arange(both.sum())
    return joined, np.stack([left[both], right[both]], axis=1)


def region_edges(labels: np.ndarray) -> np.ndarray:
    """Pairs of labels that are side by side or one above the other somewhere.

    Parameters
    ----------
    labels : int [H, W], >= 0; -1 is not a region.

    Returns
    -------
    int64 [E, 2], the smaller label first, sorted, each pair once.
    """
    across = np.stack([labels[:, :-1].ravel(), labels[:, 1:].ravel()])
    along = np.stack([labels[:-1].ravel(), labels[1:].ravel()])
    pairs = np.concatenate([across, along], axis=1).astype(np.int64)
    pairs = np.sort(pairs[:, (pairs[0] != pairs[1]) & (pairs.min(axis=0) >= 0)], axis=0)
    count = int(labels.max(initial=0)) + 1
    return np.stack(np.divmod(np.unique(pairs[0] * count + pairs[1]), count), axis=1)


def merge_labels(
    context: TokenContext,
    labels: np.ndarray,
    linkage: Linkage,
    *,
    group: np.ndarray | None = None,
    cell: int | None = None,
) -> RegionTree:
    """Merge the regions of a label map up to the whole image.

    Parameters
    ----------
    labels : int32 [H, W], 0 .. L - 1, each with at least one pixel.
    group : int [L] or None, see `agglomerate`.
    cell : see `RegionTree`.
    """
    known = labels[::cell, ::cell]  # all neighbours, if cells are
    count = int(known.max()) + 1
    sizes = np.bincount(labels.ravel(), minlength=count) if cell is None else block_counts(*labels.shape, cell).ravel()
    if cell == context.patch:
        rows = patch_features(context, linkage).reshape(count, -1)
    else:
        rows = linkage_features(context, labels, count, linkage)
    merges = agglomerate(rows, sizes, region_edges(known), linkage, group=group)
    return RegionTree(labels, merges, 1 if group is None else _parts(merges, group), cell)


def _parts(merges: np.ndarray, group: np.ndarray) -> int:
    """Regions that are left when all merges within groups are done; a group that is not connected is several."""
    within = np.concatenate([group, np.full(len(merges), -1)])
    for k, (a, b) in enumerate(merges.tolist()):
        if within[a] != within[b] or within[a] < 0:
            return len(group) - k
        within[len(group) + k] = within[a]
    return 1


def linkage_features(context: TokenContext, labels: np.ndarray, count: int, linkage: Linkage) -> np.ndarray:
    """What `agglomerate` takes for a linkage: features of each region, texture or centroid in the last two columns."""
    return pool_patches(patch_features(context, linkage), labels, count, context.patch)


def patch_features(context: TokenContext, linkage: Linkage) -> np.ndarray:
    """`linkage_features` of every finest patch, [rows, columns, D + 2]."""
    if linkage is Linkage.COLOUR:
        return np.concatenate([colours(context), textures(context)], axis=-1)
    features = visual_features(context)
    if linkage is Linkage.AVERAGE:
        features = features / np.maximum(np.linalg.norm(features, axis=-1, keepdims=True), 1e-12)
    y, x = np.indices(features.shape[:2], np.float32) + np.float32(0.5)
    return np.concatenate([features, x[..., None], y[..., None]], axis=-1)


@dataclass(frozen=True)
class PatchRegions(RegionSource):
    """Neighbouring patches are merged by likeness, see `Linkage`.

    COLOUR compares luma and colour opponents, gradient and contrast, on a scale of 100 steps from black to white; WARD
    and AVERAGE compare the encoder's features, or without one the same colours and textures.
    """

    linkage: Linkage = Linkage.WARD

    def build(self, context: TokenContext) -> RegionTree:
        """The merge tree of the finest patches."""
        return merge_labels(context, patch_labels(context), self.linkage, cell=context.patch)


@dataclass(frozen=True)
class SlicRegions(RegionSource):
    """SLIC superpixels, merged by likeness; their borders follow edges of the image and not those of patches.

    Source: R. Achanta et al., "SLIC superpixels compared to state-of-the-art superpixel methods" (PAMI 2012), as
    implemented by scikit-image.

    Parameters
    ----------
    segments : about how many superpixels, at most one per finest patch. They are the finest tokens that there are.
    compactness : weight of distance against colour.
    """

    segments: int = 600
    compactness: float = 10.0
    linkage: Linkage = Linkage.WARD

    def build(self, context: TokenContext) -> RegionTree:
        """The merge tree of the superpixels.

        Raises
        ------
        MissingExtra : scikit-image is not installed.
        """
        with needs("scikit-image", "tokens"):
            from skimage.segmentation import slic
        image = context.pyramid.image
        count = min(self.segments, int(np.prod(context.pyramid.grids[0])))
        labels = slic(image, n_segments=count, compactness=self.compactness, start_label=0)
        _, consecutive = np.unique(labels, return_inverse=True)
        return merge_labels(context, consecutive.reshape(labels.shape).astype(np.int32), self.linkage)


_SMALLEST = 100


@dataclass(frozen=True, eq=False)
class MaskRegions(RegionSource):
    """Masks of objects: a region tree in which every mask is merged from patches before it joins its neighbours.

    What no mask covers forms regions of its own, one for each connected part. Pieces of patches at the borders of masks
    are leaves of their own, so that regions are as exact as the masks.

    Parameters
    ----------
    masks : bool [M, H, W], or int [H, W] with 0 where there is no object, or a callable image float32 [H, W, 3] -> one
        of both (a SAM-type model); any array-like.
    linkage : in which order the parts of a mask, and then the masks, are merged.
    """

    masks: Any | Callable[[np.ndarray], Any]
    linkage: Linkage = Linkage.WARD

    def build(self, context: TokenContext) -> RegionTree:
        """The merge tree over the masks of a context's image.

        Raises
        ------
        ArrayError : masks of another size than the image, or of another type.
        """
        masks = self.masks(context.pyramid.image) if callable(self.masks) else self.masks
        objects = object_labels(masks, context.pyramid.image.shape[:2])
        patches = int(np.prod(context.pyramid.grids[0]))
        keys, labels = np.unique(objects.astype(np.int64) * patches + patch_labels(context), return_inverse=True)
        pieces = labels.reshape(objects.shape).astype(np.int32)
        return merge_labels(context, pieces, self.linkage, group=keys // patches)


def object_labels(masks: Any, size: tuple[int, ...]) -> np.ndarray:
    """One object per pixel, 0 for none; masks of 100 pixels and less are dropped, and the smaller of two is on top.

    Parameters
    ----------
    masks : bool [M, H, W] or int [H, W], where labels of 0 and less are not object.
    size : (H, W).

    Returns
    -------
    int32 [H, W], masks numbered from 1 in their order.

    Raises
    ------
    ArrayError : another shape or dtype.
    """
    array = to_numpy(masks)
    if array.shape[-2:] != tuple(size) or array.dtype.kind not in ("b" if array.ndim == 3 else "iu") or array.ndim > 3:
        what = f"masks have shape {array.shape} of {array.dtype}"
        raise ArrayError(what, where="masks", fix=f"bool [M, {size[0]}, {size[1]}] or integers [{size[0]}, {size[1]}]")
    if array.ndim == 2:
        values, ranks, counts = np.unique(array, return_inverse=True, return_counts=True)
        keep = (values > 0) & (counts > _SMALLEST)
        return np.where(keep, np.cumsum(values > 0), 0).astype(np.int32)[ranks].reshape(size)
    areas = array.sum(axis=(1, 2))
    labels = np.zeros(size, np.int32)
    for number in np.argsort(-areas, kind="stable"):
        if areas[number] > _SMALLEST:
            labels[array[number]] = number + 1
    return labels
