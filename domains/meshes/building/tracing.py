"""Triangles followed from mesh to mesh, while a surface is simplified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hra.compiling import njit
from hra.domains.meshes.building.compact import local_vertices
from hra.domains.meshes.mesh.ragged import run_offsets

_FREE, _TAKEN = -1, -2


@dataclass(frozen=True, eq=False)
class Lives:
    """Every triangle of consecutive meshes, once for each run of meshes that it is in.

    Attributes
    ----------
    triangles : uint32 [K, 3], in the order of the meshes.
    born : int64 [K], the first mesh of each; gone : int64 [K], the first one without it.
    steps : from mesh to mesh.
    """

    triangles: np.ndarray
    born: np.ndarray
    gone: np.ndarray
    steps: int

    @classmethod
    def of(cls, meshes: Sequence[np.ndarray]) -> Lives:
        """Of ``meshes`` uint32 [3 T]; triangles are the same that have the same corners in the same order."""
        vertices, corners = local_vertices(np.concatenate(meshes))
        triangles, at = corners.reshape(-1, 3), run_offsets(np.array([mesh.size // 3 for mesh in meshes]))
        born, gone, row = np.empty((3, len(triangles)), np.int64)
        count = _trace(triangles, at, np.empty(len(triangles), np.int64), born, gone, row)
        return cls(vertices[triangles[row[:count]]], born[:count], gone[:count], len(meshes) - 1)


@njit(cache=True)
def _trace(triangles, at, number, born, gone, row):
    """Number the triangles; of each, write its first mesh, the first one without it, and one of its rows.

    Returns how many there are.
    """
    count, before = np.int64(0), np.int64(0)
    for m in range(at.size - 1):
        size = 16
        while size < 2 * (at[m] - before):
            size *= 2
        table = np.full(size, _FREE, np.int64)
        for k in range(before, at[m]):
            slot = _slot(triangles, k, size)
            while table[slot] != _FREE:
                slot = (slot + 1) & (size - 1)
            table[slot] = k
        for k in range(at[m], at[m + 1]):
            same = _take(triangles, k, table)
            if same >= 0:
                number[k] = number[same]
            else:
                number[k], born[count], row[count] = count, m, k
                count += 1
            gone[number[k]] = m + 1
        before = at[m]
    return count


@njit(cache=True)
def _take(triangles, k, table):
    """The row of a triangle like ``k`` in the table, which is taken out: repeated ones are found once each."""
    slot = _slot(triangles, k, table.size)
    while table[slot] != _FREE:
        other = table[slot]
        if other != _TAKEN and _equal(triangles, k, other):
            table[slot] = _TAKEN
            return other
        slot = (slot + 1) & (table.size - 1)
    return np.int64(_FREE)


@njit(cache=True)
def _slot(triangles, k, size):
    """Where to look first: Fibonacci hashing of one corner after the other."""
    key = np.int64(0)
    for corner in range(3):
        key = ((key ^ np.int64(triangles[k, corner])) * 2654435769) & 0x7FFFFFFF
    return (key >> 7) & (size - 1)


@njit(cache=True)
def _equal(triangles, a, b):
    same = True
    for corner in range(3):
        same &= triangles[a, corner] == triangles[b, corner]
    return same
