"""Clusters of several pages over shared vertices: the copies of a vertex become one again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hra.compiling import njit
from hra.domains.meshes.asset.pages import Page
from hra.domains.meshes.mesh.ragged import run_offsets, take_runs
from hra.errors import MeshError


@dataclass(frozen=True, eq=False)
class Welded:
    """Clusters one after the other.

    Attributes
    ----------
    streams : arrays [n, ...] by name over the vertices that the clusters use, by rising number in the mesh.
    indices : uint32 [3 T], rows of ``streams``; offsets : int64 [K + 1], where each cluster begins.
    """

    streams: Mapping[str, np.ndarray]
    indices: np.ndarray
    offsets: np.ndarray


def weld_pages(pages: Sequence[Page], clusters: np.ndarray, count: int | None = None) -> Welded:
    """The ``clusters`` [K] of ``pages``, in this order.

    Parameters
    ----------
    pages : hold all of the clusters, and no others.
    count : of the mesh's vertices, where the pages use all of them; None where they use only some.

    Raises
    ------
    MeshError : copies of a vertex differ, or one of ``count`` is not used.
    """
    places = [page.vertices for page in pages]
    if count is None:
        numbers = np.unique(np.concatenate(places))
        places, count = [np.searchsorted(numbers, own).astype(np.uint32) for own in places], len(numbers)
    streams = {name: _weld([page.streams[name] for page in pages], places, count) for name in pages[0].streams}
    resolved = [
        _resolve(p.corners, p.vertex_offsets, p.corner_offsets, at) for p, at in zip(pages, places, strict=True)
    ]
    stored = np.concatenate([page.clusters for page in pages])
    offsets = run_offsets(np.concatenate([np.diff(page.corner_offsets) for page in pages]))
    order = np.argsort(stored)
    rows = order[np.searchsorted(stored, clusters, sorter=order)]
    return Welded(streams, *take_runs(np.concatenate(resolved), offsets, rows))


def _weld(parts: list[np.ndarray], places: list[np.ndarray], count: int) -> np.ndarray:
    """One array [count, ...] from the rows of ``parts``, which belong at ``places``."""
    welded, seen = np.empty((count, *parts[0].shape[1:]), parts[0].dtype), np.zeros(count, np.bool_)
    for part, at in zip(parts, places, strict=True):
        if not _scatter(_words(part), at, _words(welded), seen):
            raise MeshError("copies of a vertex differ")
    if not seen.all():
        raise MeshError(f"vertex {int((~seen).argmax())} is not used by any cluster")
    return welded


def _words(rows: np.ndarray) -> np.ndarray:
    """The bits of ``rows`` [n, ...] as uint32 [n, w]."""
    return rows.view(np.uint32).reshape(len(rows), -1)


@njit(cache=True)
def _scatter(words, places, out, seen):
    """Put ``words`` [n, w] to their ``places`` [n]; whether they equal what was there before."""
    for i in range(words.shape[0]):
        at = places[i]
        for k in range(words.shape[1]):
            if seen[at] and out[at, k] != words[i, k]:
                return False
            out[at, k] = words[i, k]
        seen[at] = True
    return True


@njit(cache=True)
def _resolve(corners, vertex_offsets, corner_offsets, places):
    """Corners that count within their cluster as places of vertices."""
    indices = np.empty(corners.size, np.uint32)
    for k in range(vertex_offsets.size - 1):
        for i in range(corner_offsets[k], corner_offsets[k + 1]):
            indices[i] = places[vertex_offsets[k] + corners[i]]
    return indices
