"""Features of finest patches: what an encoder returns, checked, and its projection to fewer dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hra.errors import ArrayError, MetricError
from hra.model.arrays import to_numpy

Encoder = Callable[[np.ndarray], Any]
"""image float32 [H, W, 3] -> features of every finest patch [ceil(H/patch), ceil(W/patch), D]."""

TextEncoder = Callable[[str], Any]
"""query -> its embedding [D], in the space of the patch features that it is compared with."""


def checked_features(values: Any, grid: tuple[int, int]) -> np.ndarray:
    """Validate patch features.

    Parameters
    ----------
    values : [rows, columns, D] numbers, one vector per finest patch; any array-like.
    grid : the expected (rows, columns).

    Returns
    -------
    float32 [rows, columns, D].

    Raises
    ------
    MetricError : wrong shape, no channels, not numeric, NaN or infinite.
    """
    features = to_numpy(values)
    if features.ndim != 3 or features.shape[:2] != grid or not features.shape[2] or features.dtype.kind not in "iuf":
        raise MetricError(
            f"the features have shape {features.shape} of {features.dtype}, expected {(*grid, 'D')} numbers",
            where="encoder",
            fix="return one vector per patch: [ceil(H/patch), ceil(W/patch), D]",
        )
    bad = np.argwhere(~np.isfinite(features))
    if bad.size:
        y, x, channel = bad[0]
        raise MetricError(f"a feature is {features[y, x, channel]}", where=f"patch ({y}, {x}), channel {channel}")
    return features.astype(np.float32)


def project(embeddings: Any, width: int) -> np.ndarray:
    """Embeddings in fewer dimensions, their scalar products kept on average.

    A fixed matrix of normal numbers: no weights to ship, and the same for images and queries, so that what is similar
    stays similar (W. B. Johnson and J. Lindenstrauss, 1984). Embeddings of at most ``width`` dimensions are only padded
    with zeros.

    Parameters
    ----------
    embeddings : [..., D] numbers.
    width : dimensions of the result.

    Returns
    -------
    float32 [..., width].

    Raises
    ------
    ArrayError : no dimension to project.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> tokens.project(np.eye(3, 768), width=64).shape
    (3, 64)
    """
    values = to_numpy(embeddings).astype(np.float32)
    if values.ndim == 0:
        raise ArrayError("a single number is not an embedding", where="embeddings", fix="pass an array [..., D]")
    if values.shape[-1] <= width:
        return np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, width - values.shape[-1])])
    matrix = np.random.default_rng(0).standard_normal((values.shape[-1], width), np.float32)
    return values @ (matrix / np.float32(np.sqrt(width)))
