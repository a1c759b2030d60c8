"""Merge vertices at equal positions, so that neighbouring faces share vertices."""

from __future__ import annotations

import numpy as np

from hra.domains.meshes import meshopt


def weld(positions: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Merge vertices at exactly the same position (-0.0 equals 0.0), numbered by first occurrence.

    Simplification is stuck where neighbouring faces do not share vertices, and locks hold by vertex: without welding a
    mesh with seams could neither reach a small root nor be cut without cracks.

    Parameters
    ----------
    positions : float32 [V, 3]; triangles : integers [F, 3].

    Returns
    -------
    float32 [W, 3] distinct positions, uint32 [F, 3].
    """
    rows = np.ascontiguousarray(positions + np.float32(0.0))  # -0.0 becomes 0.0: equal positions have equal bits
    number, count = meshopt.unique_rows(rows)
    distinct = np.empty((count, 3), np.float32)
    distinct[number] = rows
    return distinct, number[triangles]


def without_degenerate(triangles: np.ndarray) -> np.ndarray:
    """The faces [F, 3] whose corners are three different vertices."""
    a, b, c = triangles.T
    return triangles[(a != b) & (b != c) & (c != a)]
