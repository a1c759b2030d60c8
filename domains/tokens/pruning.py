"""Relevance pruning: whole regions without relevance are dropped by one test of a max pyramid."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.domains.tokens.relevance import checked_relevance
from hra.errors import MetricError
from hra.kernels import Pyramid, build_pyramid, rect_max


def relevance_pyramid(relevance: Any) -> Pyramid:
    """The maximum pyramid of a relevance map [rows, columns], one entry per finest patch, down to a single cell.

    Raises
    ------
    MetricError : not a map of finite numbers.
    """
    shape = np.shape(relevance)
    if len(shape) != 2:
        raise MetricError(f"the relevance has shape {shape}, expected [rows, columns]", where="relevance")
    scores = checked_relevance(relevance, shape)
    return build_pyramid(scores.astype(np.float32)[..., None], reduce="max")


def prune(pyramid: Pyramid, boxes: np.ndarray, threshold: float, patch: int = 16) -> np.ndarray:
    """Which boxes may hold anything of at least ``threshold`` relevance.

    Conservative: at most 2 x 2 cells of the pyramid are read, which may reach beyond the box, so that a relevant box is
    never dropped. Boxes of pyramid patches are met exactly. It is the test by which Hi-Z culls triangles.

    Parameters
    ----------
    pyramid : from `relevance_pyramid`.
    boxes : int [K, 4], pixels (x0, y0, x1, y1), end excluded.
    patch : side of a finest patch in pixels.

    Returns
    -------
    bool [K], True for boxes to keep.
    """
    first, last = boxes[:, :2] // patch, (boxes[:, 2:] - 1) // patch
    cells = np.concatenate([first, last], axis=1).astype(np.int32)
    return np.asarray(rect_max(pyramid, cells)) >= np.float32(threshold)
