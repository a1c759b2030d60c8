"""From images in a device's memory to chosen patches, of which nothing visits the host but counts."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from hra.allocating.batch import BatchAllocation, allocate_batch
from hra.domains.tokens.pyramid.pyramid import Grids, checked_sizes, full_depth, quadtree
from hra.errors import ArrayError, BackendUnavailable
from hra.kernels import Pyramid, build_pyramid, level_errors, node_errors, take_blocks
from hra.kernels.backends import adopt, device_of, fetch, give_back, give_back_all
from hra.kernels.compaction import compact
from hra.kernels.cut import Chains, chain_cut, chain_gains
from hra.model.gains import warn_of_repairs
from hra.model.hierarchy import Hierarchy
from hra.traversals.hull import Hull


@dataclass(frozen=True, eq=False)
class SelectedPatches:
    """The chosen patches of a batch of images, of the kind and on the device of the images.

    Attributes
    ----------
    pyramid : the levels of all images.
    active : bool [B, N], which patches were chosen, numbered as in `PatchPyramid`.
    blocks : int32 [K], b * N + n of every chosen patch, image by image, from fine to coarse.
    values : float32 [K, patch, patch, C], their pixels.
    allocation : cost, gain and bound of each image, and what was refined.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> images = np.random.default_rng(0).random((2, 64, 64, 3), dtype=np.float32)
    >>> chosen = tokens.select_patches(images, budget=10)
    >>> chosen.values.shape, chosen.active.sum(axis=1)
    ((20, 16, 16, 3), array([10, 10]))
    """

    pyramid: Pyramid
    active: Any
    blocks: Any
    values: Any
    allocation: BatchAllocation


def select_patches(
    images: Any,
    budget: int,
    *,
    weight: Any = None,
    patch: int = 16,
    levels: int | None = None,
    backend: str = "auto",
) -> SelectedPatches:
    """As many patches of each image as the budget, chosen where the images are.

    The refinements, gains and ties are those of `PyramidBuilder` and `RelevanceError` with ``Hull(spend_all=True)``,
    image by image. `PyramidSampling` itself searches further on the host, for the best set of all.

    Parameters
    ----------
    images : float32 [B, H, W, C] in [0, 1]; NumPy, torch, Warp or any array with DLPack, on the host or a CUDA device.
    budget : patches of each image.
    weight : float64 [B, rows, columns] on the same device, >= 0, of the finest patches' squared errors; by default 1.
    patch, levels : as for `PatchPyramid.build`.
    backend : "auto", "reference" or "warp", for all steps; "auto" is Warp on a CUDA device and what is fastest on the
        host.

    Raises
    ------
    ArrayError : another shape or dtype; values that are not finite, which make gains that are none.
    BackendUnavailable : patches of one level have different numbers of children, so that the order of siblings would
        give each image a forest of its own; fewer ``levels`` may do. Or the backend is missing.
    InvalidBudget, BudgetTooSmall : see `hra.allocate_batch`.

    Warns
    -----
    RepairWarning : a finer level had more error than the coarser one.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> images = np.random.default_rng(0).random((3, 128, 128, 3), dtype=np.float32)
    >>> tokens.select_patches(images, 20).values.shape
    (60, 16, 16, 3)
    """
    given = adopt(images, "images")
    if given.ndim != 4:
        raise ArrayError(f"shape {list(given.shape)} is not [B, H, W, C]", where="argument images")
    patch, levels = checked_sizes(patch, levels)
    depth = full_depth(tuple(given.shape[1:3]), patch)
    pyramid = build_pyramid(given, "block_mean", depth if levels is None else min(levels, depth), backend)
    grids = tuple((-(-height // patch), -(-width // patch)) for height, width in pyramid.layout.sizes)
    hierarchy, host = _shared(grids)
    device = device_of(given)
    chains = host if device == "cpu" else _sent(grids, device)
    own, inherited = node_errors(level_errors(pyramid, patch, backend=backend), weight, backend=backend)
    gains = chain_gains(chains, own, inherited, backend=backend)
    warn_of_repairs(int(fetch(gains.repaired).sum()))
    allocation = allocate_batch(hierarchy, gains.gain, budget, traversal=Hull(spend_all=True), backend=backend)
    active = chain_cut(chains, gains.node, allocation.selected, backend=backend)
    blocks = compact(active.reshape((active.shape[0] * active.shape[1],)), backend=backend)
    values = take_blocks(pyramid, blocks, patch, backend=backend)
    kept = replace(pyramid, data=give_back(pyramid.data, images))
    told = {field.name: give_back(getattr(allocation, field.name), images) for field in fields(allocation)}
    found = give_back_all((active, blocks, values), images)
    return SelectedPatches(kept, found[0], found[1], found[2], BatchAllocation(**told))


@lru_cache(maxsize=8)
def _shared(grids: Grids) -> tuple[Hierarchy, Chains]:
    """The forest that all images of one size share, and how nodes come to its slots."""
    tree = quadtree(grids)
    begins = [0, *np.cumsum([rows * columns for rows, columns in grids]).tolist()]
    counts = np.diff(tree.offsets)
    # The coarsest patches are never in another order.
    uneven = [level for level, (begin, end) in enumerate(pairwise(begins[:-1])) if np.ptp(counts[begin:end])]
    if uneven:
        what = f"patches of level {uneven[0]} have different numbers of children in a grid of {grids[0]}"
        fix = f"levels={uneven[0] + 1}, a size of a power of two of patches, or TokenAllocator on the host"
        raise BackendUnavailable(what, where="argument images", fix=fix)
    hierarchy = Hierarchy.tree(tree.parent, np.ones(tree.parent.size), mode="child", cost_unit="tokens")
    ends = list(pairwise(begins[:-1]))[::-1]
    last = hierarchy.unit_cost == 0
    chains = Chains(tree.parent, tree.offsets, tree.children, hierarchy.first_child, last, tuple(ends))
    return hierarchy, chains


@lru_cache(maxsize=8)
def _sent(grids: Grids, device: str) -> Chains:
    return _shared(grids)[1].to(device)
