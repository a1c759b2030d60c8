"""Merge equal vertices, so that neighbouring faces share vertices, and find those at one position that differ."""

from __future__ import annotations

import numpy as np

from hra.domains.meshes.mesh import meshopt
from hra.domains.meshes.mesh.attributes import VertexAttributes


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
    if count == len(rows):
        return rows, triangles.astype(np.uint32, copy=False)
    distinct = np.empty((count, 3), np.float32)
    distinct[number] = rows
    return distinct, number[triangles]


def weld_wedges(
    positions: np.ndarray, triangles: np.ndarray, attributes: VertexAttributes | None
) -> tuple[np.ndarray, np.ndarray, VertexAttributes | None]:
    """Merge vertices that are equal in position and in all attributes; without attributes this is `weld`.

    What is left at a position are its wedges: a seam has two, one for each side.

    Parameters
    ----------
    positions : float32 [V, 3]; triangles : integers [F, 3]; attributes : of the V vertices, or None.

    Returns
    -------
    float32 [W, 3] positions, uint32 [F, 3], attributes of the W vertices.
    """
    if attributes is None:
        return *weld(positions, triangles), None
    number, count = row_numbers(positions, attributes)
    first = first_occurrences(number, count)
    return positions[first] + np.float32(0.0), number[triangles], attributes.take(first)


def first_at_position(positions: np.ndarray) -> np.ndarray:
    """The first vertex at the position of each of ``positions`` float32 [V, 3] (-0.0 equals 0.0), uint32 [V]."""
    number, count = row_numbers(positions, None)
    return first_occurrences(number, count)[number].astype(np.uint32)


def row_numbers(positions: np.ndarray, attributes: VertexAttributes | None) -> tuple[np.ndarray, int]:
    """Each vertex's number among those distinct in position and attributes, uint32 [V], and how many these are."""
    rows = np.ascontiguousarray(positions + np.float32(0.0))
    if attributes is not None:
        rows = np.concatenate([rows.view(np.uint8), attributes.rows], axis=1)
    return meshopt.unique_rows(rows)


def first_occurrences(number: np.ndarray, count: int) -> np.ndarray:
    """Where each of the numbers 0 .. count - 1 occurs first in ``number`` [V], int64 [count]."""
    first = np.empty(count, np.int64)
    first[number[::-1]] = np.arange(len(number) - 1, -1, -1)  # written last: the first occurrence
    return first


def by_first_use(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct ones of ``numbers`` [n] in the order in which they come, and the place there of each, int64 [n]."""
    found, first, which = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return found[order], place[which.reshape(-1)]


def without_degenerate(triangles: np.ndarray, position_of: np.ndarray | None = None) -> np.ndarray:
    """The faces [F, 3] whose corners are three different vertices, at different positions by ``position_of`` [V]."""
    a, b, c = (triangles if position_of is None else position_of[triangles]).T
    proper = (a != b) & (b != c) & (c != a)
    return triangles if proper.all() else triangles[proper]
