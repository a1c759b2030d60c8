"""Where a surface ends: vertices that edge collapses must not take off the border."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.caching import cached_property
from hra.compiling import njit
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.distances.surface import directed_edges
from hra.domains.meshes.mesh.ragged import local_vertices


@dataclass(frozen=True, eq=False)
class Borders:
    """The border of the source by its signed boundary chain; all wedges of a position are alike.

    Attributes
    ----------
    ends : bool [V], vertices where the surface ends.
    uneven : bool [V], those of edges where several faces meet whose directions do not cancel: three faces, or two that
        traverse it in the same direction. The simplifier sees a closed edge there, or a complex one, and would move the
        border off the source's border vertices, so that what is a crack and what is not could no longer be told apart.
    """

    ends: np.ndarray
    uneven: np.ndarray

    @cached_property
    def anywhere(self) -> bool:
        """Whether the surface ends at all."""
        return bool(self.ends.any())

    @classmethod
    def of(cls, geometry: Geometry, triangles: np.ndarray) -> Borders:
        """Find the borders of ``triangles`` uint32 [F, 3]."""
        ends, uneven = border_vertices(geometry.by_position(triangles), len(geometry.positions))
        if geometry.spare is not None:
            ends |= geometry.spare  # of an enlarged part, which may end like the part does
        return cls(geometry.for_all_wedges(ends), geometry.for_all_wedges(uneven))

    @classmethod
    def nowhere(cls, geometry: Geometry) -> Borders:
        """None that need to be kept."""
        return cls(*np.zeros((2, len(geometry.positions)), bool))

    def left_by(self, coarse: np.ndarray, fine: np.ndarray, geometry: Geometry) -> bool:
        """Whether the triangles ``coarse`` uint32 [3 S] end where those that they replace, ``fine`` [3 T], do not.

        Ends at the source's border vertices do not count. Collapsed edges map boundary chains, so only a group at such
        a vertex can end anywhere else: where uneven edges come up during simplification.
        """
        if not self.anywhere:
            return False
        coarse, fine = geometry.by_position(coarse), geometry.by_position(fine)
        if not self.ends[fine].any():
            return False
        vertices, corners = local_vertices(np.concatenate((fine, coarse)))
        # Sums agree where the boundary chains do, and elsewhere with a probability of 2**-64.
        before, after = np.zeros((2, len(vertices)), np.uint64)
        _add_edges(corners[: fine.size].reshape(-1, 3), before)
        _add_edges(corners[fine.size :].reshape(-1, 3), after)
        return bool(((before != after) & ~self.ends[vertices]).any())


def border_vertices(triangles: np.ndarray, vertex_count: int) -> tuple[np.ndarray, np.ndarray]:
    """Where ``triangles`` uint32 [F, 3], by position, end, and which vertices are uneven: bool [V], see `Borders`."""
    sums = np.zeros(vertex_count, np.uint64)
    _add_edges(triangles, sums)
    ends, uneven = sums != 0, np.zeros(vertex_count, bool)
    if ends.any():
        edges = directed_edges(triangles[ends[triangles].sum(axis=1) > 1])
        edges = edges[ends[edges].all(axis=1)]
        low, high = edges.min(axis=1), edges.max(axis=1)
        # An edge that does not cancel leaves a sum other than 0 at both its vertices: no other edges have to be sorted.
        undirected, which, faces = np.unique((low << 32) | high, return_inverse=True, return_counts=True)
        net = np.bincount(which, np.where(edges[:, 0] == low, 1, -1))
        chosen = undirected[(net != 0) & (faces > 1)]
        uneven[chosen >> 32] = uneven[chosen & (2**32 - 1)] = True
    return ends, uneven


@njit(cache=True, nogil=True)
def _add_edges(triangles, sums):
    """Add to both ends of every edge a random number for one direction, and take it off for the other.

    Where edges cancel, sums stay 0; where they do not, sums are 0 with a probability of 2**-64.
    """
    for t in range(len(triangles)):
        for side in range(3):
            a, b = triangles[t, side], triangles[t, (side + 1) % 3]
            if a == b:
                continue
            # Two rounds of splitmix64 (Steele, Lea and Flood 2014) over both numbers.
            value = (np.uint64(min(a, b)) << np.uint64(32)) | np.uint64(max(a, b))
            value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            value ^= value >> np.uint64(31)
            if a > b:
                # The negative modulo 2**64, so that an edge and its reverse cancel.
                value = ~value + np.uint64(1)
            sums[a] += value
            sums[b] += value
