"""Faces with different numbers of corners as triangles."""

from __future__ import annotations

import numpy as np

from hra.errors import FileError


def triangulate(corners: np.ndarray, offsets: np.ndarray, where: str) -> tuple[np.ndarray, int]:
    """Fans around the first corner of each face, in the order of the faces.

    Parameters
    ----------
    corners : [n] of any type; offsets : int64 [F + 1], where each face begins among them.

    Returns
    -------
    Places among ``corners`` int64 [T, 3], and how many faces had more than three.

    Raises
    ------
    FileError : a face of fewer than three corners.
    """
    counts = np.diff(offsets)
    short = np.flatnonzero(counts < 3)
    if short.size:
        what = f"face {short[0]} has {counts[short[0]]} corners (and {short.size - 1} more have fewer than 3)"
        raise FileError(what, where=where)
    if (counts == 3).all():
        return np.arange(len(corners)).reshape(-1, 3), 0
    per_face = counts - 2
    first = np.repeat(offsets[:-1], per_face)
    ends = np.cumsum(per_face)
    second = first + 1 + np.arange(len(first)) - np.repeat(ends - per_face, per_face)
    return np.stack([first, second, second + 1], axis=1), int((counts > 3).sum())


def strips(indices: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Triangle strips as triangles [T, 3] of ``indices``: every second one is turned, -1 begins a new strip.

    Parameters
    ----------
    indices : integers [n]; offsets : int64 [S + 1], where each strip begins.
    """
    begins = np.zeros(len(indices) + 1, bool)
    begins[offsets] = True
    restart = indices == -1
    begins[1:] |= restart
    begins[:-1] |= restart  # the restart itself is a strip of one
    runs = np.flatnonzero(begins)
    run_of = np.repeat(np.arange(len(runs) - 1), np.diff(runs))
    place = np.arange(len(indices)) - runs[:-1][run_of]
    last = np.flatnonzero(place >= 2)
    odd = (place[last] % 2 == 1)[:, None]
    three = np.stack([last - 2, last - 1, last], axis=1)
    return indices[np.where(odd, three[:, [1, 0, 2]], three)]
