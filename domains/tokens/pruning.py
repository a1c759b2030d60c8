"""Relevance pruning: whole regions without relevance are dropped by one test of a max pyramid."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.arrays import to_numpy
from hra.domains.tokens.relevance import checked_relevance
from hra.errors import MetricError
from hra.kernels import Pyramid, build_pyramid, rect_max

# Patches along one side of the regions that are tested first, and how many parts a region is split into per side.
_REGION, _SPLIT = 16, 4


def relevance_pyramid(relevance: Any) -> Pyramid:
    """The maximum pyramid of relevance maps [..., rows, columns], one entry per finest patch, down to a single cell.

    Raises
    ------
    MetricError : not maps of finite numbers.
    """
    shape = np.shape(relevance)
    if len(shape) < 2:
        raise MetricError(f"the relevance has shape {shape}, expected [..., rows, columns]", where="relevance")
    rows = to_numpy(relevance).reshape(-1, shape[-1])
    scores = checked_relevance(rows, rows.shape).astype(np.float32)
    return build_pyramid(scores.reshape(*shape, 1), reduce="max")


def prune(pyramid: Pyramid, boxes: np.ndarray, threshold: float, patch: int = 16) -> np.ndarray:
    """Which boxes may hold anything of at least ``threshold`` relevance.

    Conservative: a few cells of the pyramid are read, which may reach beyond the box, so that a relevant box is never
    dropped. Boxes of pyramid patches are met exactly. It is the look-up by which Hi-Z culls triangles.

    Parameters
    ----------
    pyramid : from `relevance_pyramid`, of one map.
    boxes : int [K, 4], pixels (x0, y0, x1, y1), end excluded.
    patch : side of a finest patch in pixels.

    Returns
    -------
    bool [K], True for boxes to keep.
    """
    first, last = boxes[:, :2] // patch, (boxes[:, 2:] - 1) // patch
    cells = np.concatenate([first, last], axis=1).astype(np.int32)
    # What reaches beyond a box may be relevant where the box is not: where the answer is open, look closer.
    against = np.full(len(cells), threshold, np.float32)
    return np.asarray(rect_max(pyramid, cells, against=against)) >= against


def prune_patches(pyramid: Pyramid, threshold: float) -> np.ndarray:
    """Which finest patches hold at least ``threshold`` relevance, from coarse to fine.

    Regions of 16 x 16 patches are tested first; only those that reach the threshold are looked into, in parts of 4 x 4
    patches and then patch by patch.

    Parameters
    ----------
    pyramid : from `relevance_pyramid`, of any number of maps [..., rows, columns].

    Returns
    -------
    bool [..., rows, columns], True for patches to keep.
    """
    rows, columns = pyramid.layout.sizes[0]
    keep = np.zeros((pyramid.layout.images, rows, columns), np.bool_)
    across = np.indices((len(keep), -(-rows // _REGION), -(-columns // _REGION)), np.int32)
    image, y, x = across.reshape(3, -1) * np.array([[1], [_REGION], [_REGION]], np.int32)
    side = _REGION
    while True:
        cells = np.stack([x, y, x + (side - 1), y + (side - 1)], axis=1)
        kept = np.asarray(rect_max(pyramid, cells, image)) >= np.float32(threshold)
        image, y, x = image[kept], y[kept], x[kept]
        if side == 1:
            keep[image, y, x] = True
            return keep.reshape(*pyramid.layout.batch, rows, columns)
        side //= _SPLIT
        image, y, x = _parts(image, y, x, side, (rows, columns))


def _parts(
    image: np.ndarray, y: np.ndarray, x: np.ndarray, side: int, size: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The parts of ``side`` patches of regions at (y, x), those that begin within their map."""
    down, right = np.indices((_SPLIT, _SPLIT), np.int32).reshape(2, -1) * np.int32(side)
    y, x = (y[:, None] + down).reshape(-1), (x[:, None] + right).reshape(-1)
    image = np.repeat(image, _SPLIT * _SPLIT)
    within = (y < size[0]) & (x < size[1])
    return (image, y, x) if within.all() else (image[within], y[within], x[within])
