"""Which regions of a label map touch each other."""

from __future__ import annotations

import numpy as np


def region_edges(labels: np.ndarray) -> np.ndarray:
    """Pairs of labels that are side by side or one above the other somewhere.

    Parameters
    ----------
    labels : int [H, W], >= 0; -1 is no region.

    Returns
    -------
    int64 [E, 2], the smaller label first, sorted, each pair once.
    """
    across = np.stack([labels[:, :-1].ravel(), labels[:, 1:].ravel()])
    along = np.stack([labels[:-1].ravel(), labels[1:].ravel()])
    pairs = np.concatenate([across, along], axis=1).astype(np.int64)
    pairs = np.sort(pairs[:, (pairs[0] != pairs[1]) & (pairs.min(axis=0) >= 0)], axis=0)
    count = int(labels.max(initial=0)) + 1
    return np.stack(np.divmod(np.unique(pairs[0] * count + pairs[1]), count), axis=1)
