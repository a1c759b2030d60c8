"""Regions that are merged in rounds of bipartite matching, as ToMe merges tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hra.compiling import njit
from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.methods.regions.region_builders import RegionTreeBuilder
from hra.domains.tokens.methods.regions.region_sources import RegionSource, patch_labels
from hra.domains.tokens.methods.regions.region_tree import RegionTree
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric


@dataclass(frozen=True)
class BipartiteRegions(RegionSource):
    """Bipartite soft matching in rounds: every second region joins the most similar of the others, the closest first.

    A round joins at most half of the regions, means are weighted by sizes. Stopping after any number of joins is what
    ToMe does with that many in its last round. Regions need not be connected.

    Source: D. Bolya et al., "Token merging: your ViT but faster" (ICLR 2023), on one layer's features.
    """

    def build(self, context: TokenContext) -> RegionTree:
        """The merge tree of the finest patches."""
        features = context.features.reshape(-1, context.features.shape[2])
        return RegionTree(patch_labels(context), bipartite_merges(features), cell=context.patch)


def bipartite_merges(features: np.ndarray) -> np.ndarray:
    """Rounds of matching until one is left, int32 [N - 1, 2]; see `RegionTree.merges`.

    Parameters
    ----------
    features : [N, D], at least one.
    """
    # A sum points where its mean does, so that sizes are never needed for cosines.
    total, node = features.astype(np.float32, copy=False), np.arange(len(features))
    merges = np.empty((len(features) - 1, 2), np.int32)
    while len(node) > 1:
        partner, best = _matched(total)
        source = np.argsort(-best, kind="stable")[: len(node) // 2]
        first = len(features) - len(node)
        total, node = _merged(source, partner[source], total, node, merges[first:], len(features) + first)
    return merges


def _matched(total: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The odd row that is most similar to each even row, and the cosine."""
    length = np.sqrt(np.einsum("nd,nd->n", total, total))
    scale = 1 / np.maximum(length, np.finfo(np.float32).tiny)
    similarity = total[::2] @ total[1::2].T
    similarity *= scale[1::2]
    partner = similarity.argmax(axis=1)
    return partner, similarity[np.arange(len(partner)), partner] * scale[::2]


@njit(cache=True)
def _merged(source, target, total, node, merges, new):
    """Even rows added to odd ones, which become the nodes from ``new`` on; what is left, in its order."""
    left = np.ones(len(node), np.bool_)
    left[2 * source] = False
    row = np.cumsum(left) - 1
    sums, nodes = np.empty((row[-1] + 1, total.shape[1]), np.float32), np.empty(row[-1] + 1, np.int64)
    for i in range(len(node)):
        if left[i]:
            nodes[row[i]] = node[i]
            kept, copied = total[i], sums[row[i]]
            for k in range(len(kept)):
                copied[k] = kept[k]
    for k in range(len(source)):
        even, place = 2 * source[k], row[2 * target[k] + 1]
        merges[k, 0], merges[k, 1] = node[even], nodes[place]
        nodes[place] = new + k
        added, kept = total[even], sums[place]
        for i in range(len(kept)):
            kept[i] += added[i]
    return sums, nodes


@dataclass(frozen=True)
class MergeTreeBuilder(RegionTreeBuilder):
    """The region tree, whose nodes know when they were merged."""

    in_time: ClassVar[bool] = True

    def build(self, context: TokenContext) -> Hierarchy:
        """A binary tree with the attribute "error": of what is left, the last merge is the first to be undone."""
        tree = self.source.tree(context)
        error = _numbers_below(tree.merges)
        return Hierarchy.tree(tree.parent, np.ones(len(tree)), attributes={"error": error}, cost_unit="tokens")


@njit(cache=True)
def _numbers_below(merges):
    error, leaves = np.zeros(2 * len(merges) + 1), len(merges) + 1
    for k in range(len(merges)):
        error[leaves + k] = error[merges[k, 0]] + error[merges[k, 1]] + k + 1
    return error


@dataclass(frozen=True)
class MergeOrder(ErrorMetric):
    """The numbers of all merges below a node: a cut by them undoes the last ones."""

    unit = "merge"
    additive = False  # an order is not a quality

    def evaluate(self, hierarchy: Hierarchy, context: TokenContext) -> np.ndarray:
        """The sum over the merges of every node [N]."""
        return hierarchy.attribute("error")
