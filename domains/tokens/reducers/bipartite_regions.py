"""Regions that are merged in rounds of bipartite matching, as ToMe merges tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.context import TokenContext
from hra.domains.tokens.reducers.merges import unit_rows
from hra.domains.tokens.regions.region_builders import RegionTreeBuilder
from hra.domains.tokens.regions.region_source import RegionSource, patch_labels
from hra.domains.tokens.regions.region_tree import RegionTree
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
    mean, size = features.astype(np.float32), np.ones(len(features), np.float32)
    node, merges = np.arange(len(features)), []
    while len(node) > 1:
        directions = unit_rows(mean)
        similarity = directions[::2] @ directions[1::2].T
        partner, best = similarity.argmax(axis=1), similarity.max(axis=1)
        source = np.argsort(-best, kind="stable")[: len(node) // 2]
        target = partner[source]
        total = mean * size[:, None]
        for even, odd in zip(2 * source, 2 * target + 1, strict=True):
            merges.append((node[even], node[odd]))
            node[odd] = len(features) + len(merges) - 1
            total[odd] += total[even]
            size[odd] += size[even]
        left = np.ones(len(node), np.bool_)
        left[2 * source] = False
        node, size, mean = node[left], size[left], (total / size[:, None])[left]
    return np.array(merges, np.int32).reshape(-1, 2)


@dataclass(frozen=True)
class MergeTreeBuilder(RegionTreeBuilder):
    """The region tree, whose nodes know when they were merged."""

    def build(self, context: TokenContext) -> Hierarchy:
        """A binary tree with the attribute "error": of what is left, the last merge is the first to be undone."""
        tree = self.source.tree(context)
        error = np.zeros(len(tree))
        for k, (left, right) in enumerate(tree.merges):
            error[tree.leaves + k] = error[left] + error[right] + k + 1
        return Hierarchy.tree(tree.parent, np.ones(len(tree)), attributes={"error": error}, cost_unit="tokens")


@dataclass(frozen=True)
class MergeOrder(ErrorMetric):
    """The numbers of all merges below a node: a cut by them undoes the last ones."""

    unit = "merge"
    additive = False  # an order is no quality

    def evaluate(self, hierarchy: Hierarchy, context: TokenContext) -> np.ndarray:
        """The sum over the merges of every node [N]."""
        return hierarchy.attribute("error")
