"""Published reducers of visual tokens in PyTorch, as in their papers, on features alone.

- ToMe: D. Bolya et al., "Token merging: your ViT but faster" (ICLR 2023), bipartite soft matching.
- DivPrune: S. R. Alvar et al. (CVPR 2025), greedy maximum of the smallest cosine distance.
- PruneVid: X. Huang et al. (2024), its clusters of one picture.
- CDPruner: Q. Zhang et al. (2025), greedy maximum a posteriori of a determinantal point process over relevance and
  cosine similarity, by the incremental Cholesky factor of L. Chen et al. (NeurIPS 2018).
"""

from __future__ import annotations

from typing import Any

from hra_lab.bench.kernels.peers_torch import load


def top_k(relevance: Any, count: int) -> Any:
    """Indices of the ``count`` largest of every row of ``relevance`` [B, N], int64 [B, count]."""
    return load().topk(relevance, count, dim=-1).indices


def divprune(features: Any, count: int) -> Any:
    """``count`` rows of ``features`` [N, D], each the farthest from those before it, int64 [count]."""
    torch = load()
    directions = torch.nn.functional.normalize(features, dim=-1)
    distance = 1 - directions @ directions.T
    chosen = torch.empty(count, dtype=torch.int64)
    # The first is the one whose nearest neighbour is farthest.
    chosen[0] = distance.topk(2, dim=0, largest=False).values[1].argmax()
    nearest = distance[chosen[0]].clone()
    for step in range(1, count):
        chosen[step] = nearest.argmax()
        torch.minimum(nearest, distance[chosen[step]], out=nearest)
    return chosen


def cdpruner(features: Any, relevance: Any, count: int) -> Any:
    """``count`` rows of ``features`` [N, D] of greatest determinant, weighted by ``relevance`` [N], int64 [count].

    Rows of the kernel are made when they are needed: no entry of the rest is ever read.
    """
    torch = load()
    directions = torch.nn.functional.normalize(features, dim=-1) * relevance[:, None]
    factor = features.new_zeros((count, len(features)))
    left = (directions * directions).sum(dim=-1)
    chosen = torch.empty(count, dtype=torch.int64)
    for step in range(count):
        best = chosen[step] = left.argmax()
        row = directions @ directions[best] - factor[:step, best] @ factor[:step]
        factor[step] = row / left[best].clamp_min(1e-12).sqrt()
        left -= factor[step] ** 2
        left[best] = -torch.inf
    return chosen


def prunevid(features: Any, count: int, neighbours: int = 7) -> Any:
    """Means [count, D] of clusters of ``features`` [N, D] around density peaks."""
    torch = load()
    distance = torch.cdist(features, features) / features.shape[1] ** 0.5
    near = distance.topk(neighbours, dim=-1, largest=False).values
    density = (-near.square().mean(dim=-1)).exp()
    denser = density[None, :] > density[:, None]
    gap = torch.where(denser, distance, distance.max()).amin(dim=-1)
    centres = (gap * density).topk(count).indices
    owner = distance[centres].argmin(dim=0)
    owner[centres] = torch.arange(count)
    total = features.new_zeros((count, features.shape[1])).index_add(0, owner, features)
    return total / torch.bincount(owner, minlength=count)[:, None]


def tome(features: Any, count: int) -> Any:
    """``features`` [N, D] merged to ``count`` rows by rounds of bipartite soft matching, which halve them at most."""
    torch = load()
    size = features.new_ones((len(features), 1))
    while len(features) > count:
        merged = min(len(features) - count, len(features) // 2)
        directions = torch.nn.functional.normalize(features, dim=-1)
        similarity, partner = (directions[::2] @ directions[1::2].T).max(dim=-1)
        order = similarity.argsort(descending=True)
        source, kept, target = 2 * order[:merged], 2 * order[merged:], partner[order[:merged]]
        weighted, odd, odd_size = features * size, (features * size)[1::2], size[1::2]
        odd = odd.index_add(0, target, weighted[source])
        odd_size = odd_size.index_add(0, target, size[source])
        features, size = torch.cat([features[kept], odd / odd_size]), torch.cat([size[kept], odd_size])
    return features
