"""Regions where it pays, the grid elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hra.domains.tokens.channels.text_likeness import text_likeness
from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.methods.regions.agglomeration import Linkage, agglomerate
from hra.domains.tokens.methods.regions.descriptors import importance
from hra.domains.tokens.methods.regions.region_sources import (
    GridRegions,
    PatchRegions,
    RegionSource,
    grid_merges,
    patch_features,
    patch_grid,
    patch_labels,
    region_edges,
)
from hra.domains.tokens.methods.regions.region_tree import RegionTree, parents_of, sum_up
from hra.domains.tokens.pyramid.blocks import block_counts
from hra.kernels.trees import Tree

# Mean text-likeness from which on an image counts as a document: the shipped page has 0.016, the photos 0.0013.
_DOCUMENT = 0.005


@dataclass(frozen=True)
class ForegroundRegions(RegionSource):
    """Patches of at least mean importance grow into regions, all others stay blocks of the grid.

    See `importance`. If there is no background (all patches alike), this is `PatchRegions`.
    """

    linkage: Linkage = Linkage.WARD

    def build(self, context: TokenContext) -> RegionTree:
        """The merge tree of the foreground joined with that of the background, smaller regions first."""
        labels, grid = patch_labels(context), patch_grid(context)
        scores = importance(context)
        front = scores >= min(scores.mean(), scores.max())
        background = grid_merges(np.where(front, -1, grid), grid.size)
        merges = _in_turn(background, self._merges(context, labels, np.where(front, grid, -1)), grid.size)
        areas = block_counts(*labels.shape, context.patch).ravel()
        return RegionTree(labels, smaller_first(merges, areas), cell=context.patch)

    def _merges(self, context: TokenContext, labels: np.ndarray, grid: np.ndarray) -> np.ndarray:
        """Merges of the patches on ``grid`` [rows, columns] (-1: not these), new nodes numbered from its size."""
        chosen = np.flatnonzero(grid.ravel() >= 0)
        local = np.full(grid.size + 1, -1)
        local[chosen] = np.arange(chosen.size)
        features = patch_features(context, self.linkage).reshape(grid.size, -1)[chosen]
        sizes = block_counts(*labels.shape, context.patch).ravel()[chosen]
        merges = agglomerate(features, sizes, region_edges(local[grid]), self.linkage)
        nodes = np.concatenate([chosen, grid.size + np.arange(len(merges))])
        return nodes[merges]


def _in_turn(first: np.ndarray, second: np.ndarray, leaves: int) -> np.ndarray:
    """Two lists of merges, each with nodes from ``leaves`` on, and the merge of what they end in: one list."""
    shifted = np.where(second >= leaves, second + len(first), second)
    merges = np.concatenate([first, shifted])
    if len(merges) == leaves - 1:
        return merges
    unmerged = np.setdiff1d(np.arange(leaves + len(merges)), merges)
    return np.concatenate([merges, unmerged[None]])


def smaller_first(merges: np.ndarray, areas: np.ndarray) -> np.ndarray:
    """The same merges in the order of the areas of what they make; equal areas keep their order.

    Parameters
    ----------
    merges : int [L - 1, 2]; areas : int [L], of the leaves, > 0.
    """
    leaves = len(areas)
    made = sum_up(Tree.of(parents_of(merges)), areas)[leaves:]
    order = np.argsort(made, kind="stable")
    number = np.arange(leaves + len(merges))
    number[leaves + order] = leaves + np.arange(len(merges))
    return number[merges[order]].astype(np.int32)


@dataclass(frozen=True)
class RegionsByImageType(RegionSource):
    """One source for documents, another one for all other images; text-likeness tells them apart.

    Parameters
    ----------
    document, photo : the sources; by default regions for documents and the grid for photos.
    """

    document: RegionSource = field(default_factory=PatchRegions)
    photo: RegionSource = field(default_factory=GridRegions)

    def build(self, context: TokenContext) -> RegionTree:
        """The tree of the source that fits the image."""
        return (self.document if is_document(context.pyramid.image) else self.photo).build(context)


def is_document(image: np.ndarray) -> bool:
    """Whether an image [H, W, 3] looks like text on paper: by its mean text-likeness."""
    return float(text_likeness(image).mean()) > _DOCUMENT
