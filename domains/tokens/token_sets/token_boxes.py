"""What tokens of any kind do with the boxes that enclose them."""

from __future__ import annotations

import numpy as np


def finest_on_top(boxes: np.ndarray, detail: np.ndarray, image_size: tuple[int, int]) -> np.ndarray:
    """The token of finest detail whose box contains each pixel, the last one of equals, -1 for none: int32 [H, W].

    Parameters
    ----------
    boxes : int [K, 4], (x0, y0, x1, y1), end excluded; detail : [K], 0 is the finest.
    """
    shown = np.full(image_size, -1, np.int32)
    for token in np.argsort(-detail, kind="stable"):
        x0, y0, x1, y1 = boxes[token]
        shown[y0:y1, x0:x1] = token
    return shown


def mean_over_boxes(relevance: np.ndarray, boxes: np.ndarray, patch: int) -> np.ndarray:
    """Mean relevance of the finest patches that each box touches, float64 [K].

    Parameters
    ----------
    relevance : [rows, columns] of the finest patches, >= 0; boxes : int [K, 4], (x0, y0, x1, y1) in pixels, not empty.
    """
    sums = np.zeros((relevance.shape[0] + 1, relevance.shape[1] + 1))
    sums[1:, 1:] = relevance.cumsum(axis=0).cumsum(axis=1)
    x0, y0 = boxes[:, 0] // patch, boxes[:, 1] // patch
    x1, y1 = -(-boxes[:, 2] // patch), -(-boxes[:, 3] // patch)
    mean = (sums[y1, x1] - sums[y0, x1] - sums[y1, x0] + sums[y0, x0]) / ((x1 - x0) * (y1 - y0))
    return np.maximum(mean, 0)  # where nothing is relevant, differences of sums may round to less
