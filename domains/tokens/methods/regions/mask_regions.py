"""Regions that masks of a segmentation model give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.methods.regions.agglomeration import Linkage
from hra.domains.tokens.methods.regions.merged_labels import merge_labels
from hra.domains.tokens.methods.regions.region_source import RegionSource, patch_labels
from hra.domains.tokens.methods.regions.region_tree import RegionTree
from hra.errors import ArrayError
from hra.model.arrays import to_numpy

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
    masks : bool [M, H, W] or int [H, W], where labels of 0 and less are no object.
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
