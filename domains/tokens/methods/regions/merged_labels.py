"""The region tree over any label map."""

from __future__ import annotations

import numpy as np

from hra.domains.tokens.context.blocks import block_counts
from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.methods.regions.adjacency import region_edges
from hra.domains.tokens.methods.regions.agglomeration import Linkage, agglomerate
from hra.domains.tokens.methods.regions.descriptors import colours, pool_patches, textures, visual_features
from hra.domains.tokens.methods.regions.region_tree import RegionTree


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
