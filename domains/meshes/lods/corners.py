"""Corners of a level's triangles in the charts of textures that they show.

Where seams are given up, a triangle may lie where the source shows another chart than that of its corners, or between
several, and the source may have no vertex of that chart at its corners. Each triangle gets the chart of most of what
lies below it. A corner that has no vertex there gets one of its own: it begins with what the nearest point of the chart
carries, and is fitted with all others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.caching import cached_property
from hra.compiling import njit
from hra.domains.meshes.building.creases import FACING, Charts
from hra.domains.meshes.distances.box_tree import box_tree, find_feet
from hra.domains.meshes.distances.surface import triangle_normals
from hra.domains.meshes.mesh import meshopt
from hra.domains.meshes.mesh.connected import connected
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh

# Triangles are asked in the middles of so many parts along each side; one keeps its chart for this share of them.
_PARTS, _KEPT = 4, 0.2
# The least cosine where normals do not matter.
ANY = -2.0


class SourceCharts:
    """The surface of a source, in charts.

    Parameters
    ----------
    source : its vertices are those of levels.
    first : int64 [V], the first of the vertices that a crease alone tells apart: they are in one chart.

    Attributes
    ----------
    points : float64 [V, 3], around ``origin`` float64 [3]; triangles : int64 [F, 3], near ones side by side.
    chart : int64 [V], a number for what is connected; joined : int64 [V], the first with its position and material.
    """

    def __init__(self, source: TriangleMesh, first: np.ndarray) -> None:
        self.origin = source.positions[source.triangles[0, 0]].astype(np.float64)
        self.points = source.positions.astype(np.float64) - self.origin
        flat = np.ascontiguousarray(source.triangles.reshape(-1), np.uint32)
        self.triangles = meshopt.spatial_sort(flat, source.positions).reshape(-1, 3).astype(np.int64)
        self.chart = connected(first[self.triangles], len(self.points))[first]
        carried = source.attributes
        material = None if carried is None else carried.material
        self.joined = Charts.of(source.position_of, material).first.astype(np.int64)
        self._normals = None if carried is None else carried.normals

    @cached_property
    def tree(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`box_tree` of the triangles, without an origin."""
        return box_tree(self.points, np.ascontiguousarray(self.triangles.reshape(-1), np.uint32), np.zeros(3))

    @cached_property
    def _surfaces(self) -> tuple[np.ndarray, np.ndarray]:
        """Normals of the triangles, and a number for each vertex's surface, whatever charts that has."""
        surface = connected(self.joined[self.triangles], len(self.points))[self.joined]
        return triangle_normals(self.points[self.triangles]), surface

    @cached_property
    def _by_key(self) -> tuple[np.ndarray, np.ndarray]:
        """The vertices of triangles and their keys, sorted by these."""
        used = np.unique(self.triangles)
        keys = self._keys(used, self.chart[used])
        order = np.argsort(keys, kind="stable")
        return used[order], keys[order]

    def _keys(self, vertices: np.ndarray, chart: np.ndarray) -> np.ndarray:
        return self.joined[vertices] * len(self.points) + chart

    def below(self, corners: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """The charts below points of triangles ``corners`` int64 [n, 3], with ``shares`` [k, 3] of these: [n, k]."""
        here, (normals, surface) = self.points[corners], self._surfaces
        points = np.einsum("kc,ncd->nkd", shares, here).reshape(-1, 3)
        own, kind = (np.repeat(one, len(shares), axis=0) for one in (triangle_normals(here), surface[corners[:, 0]]))
        face, found = np.full(len(points), -1), np.empty((len(points), 3))
        find_feet(points, own, kind, self.tree, (normals, surface[self.triangles[:, 0]]), FACING, face, found)
        return self.chart[self.triangles[face, 0]].reshape(-1, len(shares))

    def vertices(self, corners: np.ndarray, chart: np.ndarray, normals: np.ndarray) -> np.ndarray:
        """The vertex in place of each of ``corners`` [n] that is in this ``chart`` [n], -1 where there is none.

        Of several the one with a normal like that of the corner's triangle, float64 [n, 3].
        """
        (vertices, keys), wanted = self._by_key, self._keys(corners, chart)
        begin, end = (np.searchsorted(keys, wanted, side) for side in ("left", "right"))
        found, best = np.where(begin < end, vertices[np.minimum(begin, len(keys) - 1)], -1), np.full(len(corners), ANY)
        if self._normals is None:
            return found
        for k in range(int((end - begin).max(initial=0))):
            some = np.flatnonzero(begin + k < end)
            one = vertices[begin[some] + k]
            alike = (self._normals[one] * normals[some]).sum(axis=1)
            better = alike > best[some]
            found[some[better]], best[some[better]] = one[better], alike[better]
        return found

    def nearest(self, vertices: np.ndarray, chart: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which mean of vertices the point of each ``chart`` [n] is that is nearest to a vertex: [n, 3] and shares."""
        face, shares = np.full(len(vertices), -1), np.empty((len(vertices), 3))
        anyhow = np.zeros((len(self.triangles), 3)), self.chart[self.triangles[:, 0]]
        points = self.points[vertices]
        find_feet(points, np.zeros_like(points), chart, self.tree, anyhow, ANY, face, shares)
        return self.triangles[face], shares


@dataclass(frozen=True, eq=False)
class Corners:
    """Vertices of a level, each in one chart.

    Attributes
    ----------
    vertices : int64 [n], the vertex of the source that each is like; added : bool [n], those of other charts than it.
    triangles : int64 [F, 3] of them; chart : int64 [n].
    corners, shares : [n, 3], which mean of the source's vertices each begins as.
    """

    vertices: np.ndarray
    added: np.ndarray
    triangles: np.ndarray
    chart: np.ndarray
    corners: np.ndarray
    shares: np.ndarray

    @classmethod
    def of(cls, triangles: np.ndarray, source: SourceCharts, frozen: np.ndarray) -> Corners:
        """Those of a level's ``triangles`` integers [F, 3]; what has a ``frozen`` vertex, bool [V], is left alone."""
        given = triangles.astype(np.int64)
        free = np.flatnonzero(~frozen[given].any(axis=1))
        chart = source.chart[given]
        chart[free] = _charts(given[free], source)[:, None]
        at, corner = np.nonzero(source.chart[given] != chart)
        normals = triangle_normals(source.points[given[at]])
        there = source.vertices(given[at, corner], chart[at, corner], normals)
        given[at, corner] = np.where(there >= 0, there, given[at, corner])
        rows, local = np.unique(given * len(source.points) + chart, return_inverse=True)
        vertices, chart = np.divmod(rows, len(source.points))
        added = source.chart[vertices] != chart
        corners, shares = np.repeat(vertices[:, None], 3, axis=1), np.tile([1.0, 0.0, 0.0], (len(rows), 1))
        corners[added], shares[added] = source.nearest(vertices[added], chart[added])
        return cls(vertices, added, local.reshape(-1, 3).astype(np.int64), chart, corners, shares)

    def values(self, source: np.ndarray) -> np.ndarray:
        """Numbers [V, k] of the source's vertices as those that each of these begins with, float64 [n, k]."""
        return means(self.corners, self.shares, source.astype(np.float64))


def _charts(corners: np.ndarray, source: SourceCharts) -> np.ndarray:
    """The chart that each of the triangles [n, 3] shows, int64 [n]."""
    own = source.chart[corners]
    alike, result = (own == own[:, :1]).all(axis=1), own[:, 0].copy()
    middle = source.below(corners, np.full((1, 3), 1 / 3))
    asked = np.flatnonzero(~alike | (middle[:, 0] != result))
    # The middle counts twice, and where others have as many votes.
    votes = np.column_stack([middle[asked], source.below(corners[asked], middles(_PARTS))])
    count = np.stack([(votes == one[:, None]).sum(axis=1) for one in votes.T], axis=1)
    most = votes[np.arange(len(asked)), count.argmax(axis=1)]
    kept = alike[asked] & ((votes == own[asked, :1]).mean(axis=1) > _KEPT)
    result[asked] = np.where(kept, result[asked], most)
    return result


def middles(n: int) -> np.ndarray:
    """The middles of the n^2 parts of a triangle, as shares of its corners, float64 [n^2, 3]."""
    i, j = (steps.reshape(-1) for steps in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    both = np.column_stack([i, j])
    at = np.concatenate([both[i + j < n] + 1 / 3, both[i + j < n - 1] + 2 / 3]) / n
    return np.column_stack([1 - at.sum(axis=1), at])


@njit(cache=True, nogil=True)
def means(corners, shares, values):
    """Means of the ``values`` [V, k] of three ``corners`` [S, 3] each, by ``shares`` [S, 3]: float64 [S, k]."""
    means = np.empty((len(corners), values.shape[1]))
    for i in range(len(corners)):
        a, b, c = corners[i, 0], corners[i, 1], corners[i, 2]
        for k in range(values.shape[1]):
            means[i, k] = shares[i, 0] * values[a, k] + shares[i, 1] * values[b, k] + shares[i, 2] * values[c, k]
    return means
