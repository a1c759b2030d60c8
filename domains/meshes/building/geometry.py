"""The vertices that all levels of a hierarchy share, and how much a change of their attributes counts when simplifying.

The simplifier takes a change of a weighted attribute by 1 over a distance d for a displacement by d (meshoptimizer,
`quadricFromAttributes`).

- Normals: 0.5 per component, as in meshoptimizer's own cluster hierarchy (demo/clusterlod.cpp).
- Colours in 0 .. 1: 1 per component, so that black for white over an edge counts like the edge's length.
- Texture coordinates, of each set: in mean edge lengths of the group's triangles in the texture. A texture that slides
  by one edge counts like a displacement by one edge, whatever the texture's size, its repetitions, or the part of it
  that is used.
- Tangents: 0.125 per component. They turn what a normal map adds to normals, which is a part of these.
- Materials have no distance: vertices at their borders are doubled, and such seams are kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from hra.caching import cached_property
from hra.compiling import njit
from hra.domains.meshes.building.creases import Charts, Creases, Unseen, without_slivers
from hra.domains.meshes.mesh import meshopt
from hra.domains.meshes.mesh.attributes import VertexAttributes
from hra.domains.meshes.mesh.weld import first_at_position

NORMAL_WEIGHT, COLOR_WEIGHT, TANGENT_WEIGHT = 0.5, 1.0, 0.125
# The bit of a lock that says that others need the vertex; without it only the border of what is left minds.
HELD = 4
# Texture edges count as at least this long, a texel of a texture of 16,384: rounding must not become an error.
_SHORTEST_UV_EDGE = 2.0**-14
# Seams of charts are given up where shapes err so many times as much with them, and by so many edges of what is left;
# or where so many times as much is left. What that does to textures counts as much as what it does to the shape.
_HELD, _NOTABLE, _STUCK, _ACROSS = 2.0, 0.5, 1.25, 2.0
# A group of which more is left than this share is simplified again with creases smoothed over.
_WORTH = 0.75
# Seams of what no picture shows stay where they cost at most this many times the error.
_SEAMS = 2.0


class Simplify(Protocol):
    """`meshopt.simplify` of a part of a mesh whose vertices are known."""

    def __call__(
        self, indices: np.ndarray, locked: np.ndarray, target: int, *, limit: float = math.inf
    ) -> tuple[np.ndarray, float]:
        """See `meshopt.simplify`."""
        ...


class PartsSimplifier(Protocol):
    """See `hra.domains.meshes.building.parts.Parts`."""

    def simplify(
        self, geometry: Geometry, simplify: Simplify, indices: np.ndarray, locked: np.ndarray, target: int
    ) -> tuple[np.ndarray, float]:
        """Triangles uint32 [3 S] in place of ``indices``, and the error."""
        ...

    def joined_pairs(self, vertices: np.ndarray, step: np.ndarray, sign: np.ndarray, label: np.ndarray) -> np.ndarray:
        """Labels int64 [P] of triangles, equal for what one pair replaces."""
        ...


@dataclass(frozen=True, eq=False)
class AttributeMetric:
    """How groups of a mesh with attributes are simplified.

    Attributes
    ----------
    values : float32 [V, k], texture coordinates first if there are any, tangents and normals last.
    weights : float32 [k], of texture coordinates before they are scaled to a group.
    sets : how many sets of texture coordinates the first columns are, two columns each.
    directions : how many of the last columns are tangents and normals.
    creases : what may be smoothed over where nothing else helps, None where normals and colours make no seams.
    unseen : seams of what no picture shows, None where there are none.
    smooth : float32 [V, k], the values, with the mean of normals for all wedges that a crease tells apart: so edges
        that look sharp cost something, and facets of a round surface little.
    """

    values: np.ndarray
    weights: np.ndarray
    sets: int
    directions: int
    creases: Creases | None
    unseen: Unseen | None
    smooth: np.ndarray

    @classmethod
    def of(
        cls, positions: np.ndarray, attributes: VertexAttributes, behind: np.ndarray | None = None
    ) -> AttributeMetric:
        """From welded positions float32 [V, 3] and attributes of the same vertices; ``behind`` see `Geometry.of`."""
        columns = [
            (values, weight)
            for values, weight in (
                (attributes.uv, 1.0),
                (attributes.uv2, 1.0),
                (None if attributes.colors is None else attributes.colors / np.float32(255), COLOR_WEIGHT),
                (attributes.more, 1.0),
                (attributes.tangents, TANGENT_WEIGHT),
                (attributes.normals, NORMAL_WEIGHT),
            )
            if values is not None
        ]
        nothing = np.empty((len(positions), 0), np.float32)
        values = np.concatenate([nothing, *(array for array, _ in columns)], axis=1, dtype=np.float32)
        weights = [weight for array, weight in columns for _ in range(array.shape[1])]
        sets = (attributes.uv is not None) + (attributes.uv2 is not None)
        directions = 3 * (attributes.normals is not None) + 4 * (attributes.tangents is not None)
        creases, unseen = Creases.of(positions, attributes, behind), Unseen.of(positions, attributes, behind)
        smooth = values if creases is None else creases.smoothed(values)
        return cls(values, np.array(weights, np.float32), sets, directions, creases, unseen, smooth)

    def simplify(
        self,
        indices: np.ndarray,
        positions: np.ndarray,
        locked: np.ndarray,
        target: int,
        *,
        prune: bool = False,
        limit: float = math.inf,
    ) -> tuple[np.ndarray, float]:
        """`meshopt.simplify` of a part of the mesh with attributes in the metric and seams kept.

        Where seams leave too little to collapse, those of normals and colours alone are smoothed over: faceted surfaces
        consist of nothing else. Seams of what no picture shows are closed where they cost too much. Those of texture
        coordinates that are shown, and borders of materials, always stay.
        """
        weights = self._weights_for(indices)
        ends = {"prune": prune, "limit": limit}
        coarse, error = meshopt.simplify(indices, positions, locked, target, self.values, weights, **ends)
        if self.unseen is not None:
            first = self.unseen.first[indices]
            whole, own = meshopt.simplify(first, positions, locked, target, self.values, weights, **ends)
            if whole.size < coarse.size or (whole.size == coarse.size and _SEAMS * own < error):
                coarse, error = self.unseen.restore(whole, indices), own
        if self.creases is not None and coarse.size > _WORTH * indices.size:
            # Tangents of the first wedge stand for all now, and say nothing of the surface.
            normals = 0 if self.creases.normals is None else 3
            weights[weights.size - self.directions : weights.size - normals] = 0
            first = self.creases.first[indices]
            smooth, own = meshopt.simplify(first, positions, locked, target, self.smooth, weights, **ends)
            if smooth.size < coarse.size:
                coarse, error = self.creases.restore(smooth, positions), own
                coarse = coarse if self.unseen is None else self.unseen.restore(coarse, indices)
        return without_slivers(coarse, positions), error

    def simplify_across(
        self, indices: np.ndarray, positions: np.ndarray, locked: np.ndarray, target: int, charts: Charts
    ) -> tuple[np.ndarray, float]:
        """Simplify by positions alone: unlike in `simplify`, charts of textures are joined.

        Borders of materials stay. The error is twice that of positions, as what happens to textures is not in it.
        """
        whole, error = meshopt.simplify(charts.first[indices], positions, locked, target)
        weights = self._weights_for(indices)
        whole = charts.restore(whole, indices, positions, self.values, weights, self.directions)
        return without_slivers(whole, positions), _ACROSS * error

    def nearest_wedges(
        self, indices: np.ndarray, targets: np.ndarray, position_of: np.ndarray, material: np.ndarray | None
    ) -> np.ndarray:
        """The wedges most like corners that move to other positions, by their attributes.

        Parameters
        ----------
        indices : uint32 [3 T], corners of a part of the mesh.
        targets : integers [3 T], the first vertex at the position that each moves to, a position of the same part.
        position_of : uint32 [V], the first vertex at the position of each.
        material : int32 [V], of which each target has a wedge of the corner's one; or None.

        Returns
        -------
        uint32 [3 T], vertices of the same part.
        """
        wedges = np.unique(indices)
        # Sorted by position, the wedges of each are one run, which two searches find.
        wedges = wedges[np.argsort(position_of[wedges], kind="stable")]
        begin, end = (np.searchsorted(position_of[wedges], targets, side) for side in ("left", "right"))
        result = targets.astype(np.uint32)
        material = np.zeros(len(position_of), np.int32) if material is None else material
        _choose_wedges(indices, wedges, begin, end, self.values, self._weights_for(indices), material, result)
        return result

    def _weights_for(self, indices: np.ndarray) -> np.ndarray:
        """Weights float32 [k] for a group of triangles, ``indices`` uint32 [3 T]."""
        weights = self.weights.copy()
        for column in range(0, 2 * self.sets, 2):
            # The legs of a right triangle of the mean area.
            edge = np.sqrt(2 * _texture_area(self.values, indices, column) / (indices.size // 3))
            weights[column : column + 2] = 1 / max(edge, _SHORTEST_UV_EDGE)
        return weights


@njit(cache=True, nogil=True)
def _choose_wedges(indices, wedges, begin, end, values, weights, material, result):
    for i in range(indices.size):
        least = np.inf
        for k in range(begin[i], end[i]):
            if material[wedges[k]] != material[indices[i]]:
                continue
            square = 0.0
            for column in range(weights.size):
                square += (weights[column] * (values[wedges[k], column] - values[indices[i], column])) ** 2
            if square < least:
                least = square
                result[i] = wedges[k]


@njit(cache=True, nogil=True)
def _mean_edge(indices, positions):
    total = 0.0
    for i in range(indices.size):
        a, b = indices[i], indices[i - 2 if i % 3 == 2 else i + 1]
        square = 0.0
        for axis in range(3):
            square += (np.float64(positions[a, axis]) - positions[b, axis]) ** 2
        total += np.sqrt(square)
    return total / max(indices.size, 1)


@njit(cache=True, nogil=True)
def _texture_area(values, indices, u):
    """Sum of the triangles' areas by columns ``u`` and u + 1."""
    total = 0.0
    for t in range(0, indices.size, 3):
        a, b, c = indices[t], indices[t + 1], indices[t + 2]
        x0, y0 = values[b, u] - values[a, u], values[b, u + 1] - values[a, u + 1]
        x1, y1 = values[c, u] - values[a, u], values[c, u + 1] - values[a, u + 1]
        # Products of float32 are exact in float64; only their difference is rounded.
        total += 0.5 * abs(np.float64(x0) * y1 - np.float64(x1) * y0)
    return total


@dataclass(frozen=True, eq=False)
class Geometry:
    """The shared vertices of all levels.

    Attributes
    ----------
    positions : float32 [V, 3], object units.
    unit_positions : float32 [V, 3], the same within about a unit, where the simplifier's float32 products keep their
        digits: without rounding, so that what differs in position still does.
    scale : object units per unit, a power of two.
    position_of : uint32 [V], the first vertex at the position of each; None if all positions differ.
    metric : of the attributes, None if there are none.
    material : int32 [V], the number of each vertex's material; None if there are not several.
    parts : what many small parts are simplified by, None if there are none; see `hra.domains.meshes.building.parts`.
    spare : bool [V], rows behind those of the source for what parts are enlarged to; None if there are none.
    """

    positions: np.ndarray
    unit_positions: np.ndarray
    scale: float
    position_of: np.ndarray | None = None
    metric: AttributeMetric | None = None
    material: np.ndarray | None = None
    parts: PartsSimplifier | None = None
    spare: np.ndarray | None = None

    @classmethod
    def of(
        cls, positions: np.ndarray, attributes: VertexAttributes | None = None, behind: np.ndarray | None = None
    ) -> Geometry:
        """From welded positions float32 [V, 3] of any magnitude and the attributes of the same vertices.

        Parameters
        ----------
        behind : int64 [V], the vertex behind each in a second sheet, itself where there is none, and -1 for vertices
            that no triangle uses, which no coarser triangle gets. None for no second sheet and all vertices used.
        """
        position_of = None if attributes is None else first_at_position(positions)
        unit_positions, scale = exactly_scaled(positions)
        metric = None if attributes is None else AttributeMetric.of(positions, attributes, behind)
        material = attributes.material if attributes is not None and len(attributes.materials) > 1 else None
        return cls(positions, unit_positions, scale, position_of, metric, material)

    def by_position(self, vertices: np.ndarray) -> np.ndarray:
        """Each of ``vertices`` as the first one at its position: seams do not separate what touches there."""
        return vertices if self.position_of is None else self.position_of[vertices]

    def for_all_wedges(self, values: np.ndarray) -> np.ndarray:
        """``values`` [V] of the first vertex at each position, for all vertices there."""
        return values if self.position_of is None else values[self.position_of]

    def simplify(
        self, indices: np.ndarray, locked: np.ndarray, target: int, *, prune: bool = False
    ) -> tuple[np.ndarray, float]:
        """`meshopt.simplify` of a part of the mesh, with attributes in the metric if there are any.

        Where seams of charts hold the shape back, they are given up.
        """
        if self.parts is None or prune:
            return self._simplify(indices, locked, target, prune=prune)
        return self.parts.simplify(self, self._simplify, indices, locked, target)

    def _simplify(
        self, indices: np.ndarray, locked: np.ndarray, target: int, *, prune: bool = False, limit: float = math.inf
    ) -> tuple[np.ndarray, float]:
        simplify = meshopt.simplify if self.metric is None else self.metric.simplify
        coarse, error = simplify(indices, self.unit_positions, locked, target, prune=prune, limit=limit)
        if self.metric is None or prune or limit < math.inf:
            return coarse, error
        across = self._where_seams_hold(self.metric, indices, locked, target, coarse, error)
        return (coarse, error) if across is None else across

    def _where_seams_hold(
        self,
        metric: AttributeMetric,
        indices: np.ndarray,
        locked: np.ndarray,
        target: int,
        coarse: np.ndarray,
        error: float,
    ) -> tuple[np.ndarray, float] | None:
        """What `AttributeMetric.simplify_across` makes of a part whose shape suffers by seams; None of others.

        Parameters
        ----------
        coarse, error : what was made with seams.
        """
        if (self.charts.first[indices] == indices).all():
            return None
        notable, most = _NOTABLE * _mean_edge(coarse, self.unit_positions), _STUCK * max(target, 3)
        if error <= notable and coarse.size <= most:
            return None
        # By positions alone: textures and normals may have errors of their own.
        seamed, own = meshopt.simplify(indices, self.unit_positions, locked, target)
        if own <= notable and seamed.size <= most:
            return None
        across, least = metric.simplify_across(indices, self.unit_positions, locked, target, self.charts)
        held = own > _HELD * least or seamed.size > _STUCK * across.size
        return (across, least) if across.size and held else None

    @cached_property
    def charts(self) -> Charts:
        """What is one surface, though its texture or its normals are in several pieces."""
        return Charts.of(self.by_position(np.arange(len(self.positions), dtype=np.uint32)), self.material)

    def with_rows(self, vertices: np.ndarray) -> Geometry:
        """The same with spare rows at the end, to begin with like ``vertices`` [S] but at positions of their own."""
        count, total = len(self.positions), len(self.positions) + len(vertices)
        rows = np.concatenate([np.arange(count), vertices])
        position_of = self.position_of
        if position_of is not None:
            position_of = np.concatenate([position_of, np.arange(count, total, dtype=np.uint32)])
        metric = self.metric
        if metric is not None:
            creases = None if metric.creases is None else metric.creases.with_rows(vertices)
            unseen = None if metric.unseen is None else metric.unseen.with_rows(vertices)
            kept = {"creases": creases, "unseen": unseen, "smooth": metric.smooth[rows]}
            metric = replace(metric, values=metric.values[rows], **kept)
        return replace(
            self,
            positions=self.positions[rows],
            unit_positions=self.unit_positions[rows],
            position_of=position_of,
            metric=metric,
            material=None if self.material is None else self.material[rows],
            spare=np.arange(total) >= count,
        )

    def copy_attributes(self, old: np.ndarray, new: np.ndarray) -> None:
        """Give the spare rows ``new`` what the vertices ``old`` carry."""
        if self.metric is not None:
            self.metric.values[new] = self.metric.values[old]
            self.metric.smooth[new] = self.metric.smooth[old]
            if self.metric.creases is not None and self.metric.creases.normals is not None:
                self.metric.creases.normals[new] = self.metric.creases.normals[old]
        if self.material is not None:
            self.material[new] = self.material[old]


def exactly_scaled(positions: np.ndarray) -> tuple[np.ndarray, float]:
    """Positions [V, 3] of any magnitude in -2 .. 2, float32, and the power of two that they were divided by.

    Rounding would put different vertices at one place, where the simplifier takes them for wedges of one and moves them
    together. Powers of two are exact, and so is the difference of numbers within a factor of two of each other
    (Sterbenz 1974): an axis that lies far from the origin is moved there, and one that does not has no need of it.
    Only what is below 2**-149 of the extent is lost, where float32 ends.
    """
    # Axis by axis: along the first dimension NumPy takes thirty times as long.
    low, high = (np.array([end(axis) for axis in positions.T], np.float64) for end in (np.min, np.max))
    scale = 2.0 ** math.frexp(float((high - low).max()) or 1.0)[1]
    shift = np.where((low > 0) & (high <= 2 * low), low, np.where((high < 0) & (low >= 2 * high), high, 0.0))
    return np.ascontiguousarray((positions - shift) / scale, np.float32), scale
