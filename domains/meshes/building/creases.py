"""Seams that a surface goes on at: edges that look sharp, those of what no picture shows, and borders of charts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hra.compiling import njit
from hra.domains.meshes.distances.box_tree import box_tree, find_feet, nearest_shares
from hra.domains.meshes.distances.surface import triangle_normals
from hra.domains.meshes.mesh.attributes import VertexAttributes
from hra.domains.meshes.mesh.connected import connected
from hra.domains.meshes.mesh.weld import first_at_position, first_occurrences, row_numbers
from hra.model.arrays import group

# What lies below a triangle has a normal with this cosine with its own, if anything near has.
FACING = 0.2


@dataclass(frozen=True, eq=False)
class Creases:
    """Wedges that differ in normal, tangent or colour only.

    Attributes
    ----------
    first : uint32 [V], the first vertex with the same position, coordinates, side of the bitangent and material.
    offsets, wedges : int32 [V + 1], [V], the vertices that have the same first one.
    normals : float32 [V, 3] or None.
    """

    first: np.ndarray
    offsets: np.ndarray
    wedges: np.ndarray
    normals: np.ndarray | None

    @classmethod
    def of(
        cls, positions: np.ndarray, attributes: VertexAttributes, behind: np.ndarray | None = None
    ) -> Creases | None:
        """From welded positions float32 [V, 3] and attributes; None where no two vertices differ in that way.

        Vertices ``behind`` them (see `Geometry.of`) do not differ otherwise, either.
        """
        kept = None
        if any(array is not None for array in (attributes.uv, attributes.material, attributes.tangents)):
            kept = replace(attributes, normals=None, colors=None, tangents=_signs(attributes.tangents), unseen=None)
        wedges = _wedges(positions, kept, behind)
        return None if wedges is None else cls(*wedges, attributes.normals)

    def with_rows(self, vertices: np.ndarray) -> Creases:
        """The same with rows at the end like ``vertices`` [S], each alone at its position."""
        normals = None if self.normals is None else np.concatenate([self.normals, self.normals[vertices]])
        return Creases(*_with_rows(self, len(vertices)), normals)

    def smoothed(self, values: np.ndarray) -> np.ndarray:
        """``values`` float32 [V, k], whose last columns are normals if there are any, with means of those of wedges."""
        if self.normals is None:
            return values
        sums = np.stack([np.bincount(self.first, self.normals[:, axis], len(values)) for axis in range(3)], axis=1)
        length = np.linalg.norm(sums, axis=1, keepdims=True)
        means = np.divide(sums, length, out=np.zeros_like(sums), where=length > 0)
        return np.concatenate([values[:, :-3], means[self.first]], axis=1, dtype=np.float32)

    def restore(self, indices: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """Triangles uint32 [3 T] of first vertices, each corner replaced by the wedge whose normal suits the triangle.

        Without normals the first wedges stay.
        """
        if self.normals is None:
            return indices
        result = indices.copy()
        _restore(indices, positions, self.offsets, self.wedges, self.normals, result)
        return result


@dataclass(frozen=True, eq=False)
class Unseen:
    """Wedges that differ in nothing that a picture shows.

    Attributes
    ----------
    first : uint32 [V], the first vertex that looks the same at the same position.
    offsets, wedges : int32 [V + 1], [V], the vertices that have the same first one.
    side : uint32 [V], the first vertex at the same position with the same unseen number.
    """

    first: np.ndarray
    offsets: np.ndarray
    wedges: np.ndarray
    side: np.ndarray

    @classmethod
    def of(cls, positions: np.ndarray, attributes: VertexAttributes, behind: np.ndarray | None = None) -> Unseen | None:
        """From welded positions float32 [V, 3] and attributes; None where no two vertices differ in that way.

        Vertices ``behind`` them (see `Geometry.of`) do not differ otherwise, either.
        """
        if attributes.unseen is None:
            return None
        wedges = _wedges(positions, replace(attributes, unseen=None), behind)
        if wedges is None:
            return None
        keys = np.column_stack([first_at_position(positions).astype(np.int64), attributes.unseen])
        _, at, sides = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        return cls(*wedges, at[sides.reshape(-1)].astype(np.uint32))

    def with_rows(self, vertices: np.ndarray) -> Unseen:
        """The same with rows at the end like ``vertices`` [S], each alone at its position."""
        first, offsets, wedges = _with_rows(self, len(vertices))
        return Unseen(first, offsets, wedges, np.concatenate([self.side, first[len(self.first) :]]))

    def restore(self, indices: np.ndarray, before: np.ndarray) -> np.ndarray:
        """Triangles uint32 [3 T] with corners that are on one side of the unseen seams, wherever there are such.

        Parameters
        ----------
        before : uint32 [3 F], the triangles that these are in place of: what is connected in them is one side.
        """
        places, corners = np.unique(self.side[before], return_inverse=True)
        root = connected(corners.reshape(-1, 3), len(places))
        result = self.first[indices]
        _choose_side(result, self.offsets, self.wedges, self.side, places, root)
        return result


@dataclass(frozen=True, eq=False)
class Charts:
    """Wedges of one position and material, whatever else they differ in.

    Attributes
    ----------
    first : uint32 [V], the first of them.
    """

    first: np.ndarray

    @classmethod
    def of(cls, position_of: np.ndarray, material: np.ndarray | None) -> Charts:
        """From the first vertex at the position of each, uint32 [V], and materials int32 [V], None for one."""
        if material is None:
            return cls(position_of)
        keys = position_of.astype(np.int64) * (int(material.max(initial=0)) + 1) + material
        _, at, number = np.unique(keys, return_index=True, return_inverse=True)
        return cls(at[number].astype(np.uint32))

    def restore(
        self,
        indices: np.ndarray,
        before: np.ndarray,
        positions: np.ndarray,
        values: np.ndarray,
        weights: np.ndarray,
        directions: int,
    ) -> np.ndarray:
        """Triangles uint32 [3 T] of first vertices, each with corners like the surface that it is in place of.

        Below the middle of each is a triangle of ``before``. A corner is the wedge most like the point of that triangle
        that is nearest to it, one of the same chart if there is any: what has not changed keeps its corners.

        Parameters
        ----------
        before : uint32 [3 F], the triangles that these are in place of, whose vertices may be taken.
        positions : float32 [V, 3]; values : float32 [V, k], attributes, and their weights [k]; the last ``directions``
            are tangents and normals: of normals the corners are taken that suit the triangle.
        """
        used, numbers = np.unique(before, return_inverse=True)
        order = np.argsort(self.first[used], kind="stable")
        wedges, chart = used[order], connected(numbers.reshape(-1, 3), len(used))
        begin, end = (np.searchsorted(self.first[wedges], indices, side) for side in ("left", "right"))
        origin = positions[before[0]].astype(np.float64)
        there, here = (positions[one].astype(np.float64).reshape(-1, 3, 3) - origin for one in (before, indices))
        tree = box_tree(there.reshape(-1, 3), np.arange(before.size, dtype=np.uint32), np.zeros(3))
        # Each triangle's connected surface: what is nearer but belongs to another has other wedges.
        vertices, corners = np.unique(self.first[before], return_inverse=True)
        surface = connected(corners.reshape(-1, 3), len(vertices))
        own, normals = surface[np.searchsorted(vertices, indices[::3])], triangle_normals(here)
        below = np.full(len(here), -1)
        of_triangle = triangle_normals(there), surface[corners[::3]]
        find_feet(here.mean(axis=1), normals, own, tree, of_triangle, FACING, below, np.empty((len(here), 3)))
        surfaces = tree[0], before[3 * below[:, None] + np.arange(3)], below, chart[numbers[3 * below]]
        result, plain = indices.copy(), weights[: weights.size - directions]
        facing = normals if directions >= 3 else np.empty((0, 3))
        _choose_like_surface(here, facing, surfaces, (wedges, chart[order], begin, end), values, plain, result)
        return result


def _wedges(
    positions: np.ndarray, kept: VertexAttributes | None, behind: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """The fields of both classes: the first vertex stands for all with the same position and the same ``kept``."""
    number, count = row_numbers(positions, kept)
    if count == len(positions):
        return None
    if behind is not None:
        both = np.unique(number.astype(np.int64) * count + number[behind], return_inverse=True)[1].reshape(-1)
        number, count = np.where(behind >= 0, both, len(both) + np.arange(len(both))), 2 * len(both)
    first = first_occurrences(number, count)[number].astype(np.uint32)
    return first, *group(first, len(positions))


def _with_rows(given: Creases | Unseen, more: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The fields of both with ``more`` rows at the end, each alone."""
    rows = np.arange(len(given.first), len(given.first) + more)
    offsets = np.concatenate([given.offsets, given.offsets[-1] + 1 + np.arange(more)]).astype(given.offsets.dtype)
    return (
        np.concatenate([given.first, rows.astype(np.uint32)]),
        offsets,
        np.concatenate([given.wedges, rows.astype(np.int32)]),
    )


@njit(cache=True, nogil=True)
def _choose_side(result, offsets, wedges, side, places, root):
    for t in range(0, result.size, 3):
        best, chosen = np.int64(0), np.int64(-1)
        for i in range(t, t + 3):
            for k in range(offsets[result[i]], offsets[result[i] + 1]):
                own, count = _side_of(side[wedges[k]], places, root), np.int64(0)
                if own < 0 or own == chosen:
                    continue
                for j in range(t, t + 3):
                    count += _wedge_of(result[j], own, offsets, wedges, side, places, root) >= 0
                if count > best:
                    best, chosen = count, own
        for i in range(t, t + 3):
            found = _wedge_of(result[i], chosen, offsets, wedges, side, places, root)
            if found >= 0:
                result[i] = found


@njit(cache=True, nogil=True)
def _wedge_of(first, wanted, offsets, wedges, side, places, root):
    """The wedge of a first vertex that is on a side, -1 if there is none."""
    for k in range(offsets[first], offsets[first + 1]):
        if _side_of(side[wedges[k]], places, root) == wanted:
            return np.int64(wedges[k])
    return np.int64(-1)


@njit(cache=True, nogil=True)
def _side_of(place, places, root):
    at = np.searchsorted(places, place)
    return root[at] if at < places.size and places[at] == place else np.int64(-1)


def _signs(tangents: np.ndarray | None) -> np.ndarray | None:
    """Tangents of which only the sides of bitangents are left: where these differ, a texture is mirrored."""
    return None if tangents is None else tangents * np.array([0, 0, 0, 1], np.float32)


@njit(cache=True, nogil=True)
def _restore(indices, positions, offsets, wedges, normals, result):
    for t in range(0, indices.size, 3):
        p, q, r = positions[indices[t]], positions[indices[t + 1]], positions[indices[t + 2]]
        ax, ay, az = q[0] - p[0], q[1] - p[1], q[2] - p[2]
        bx, by, bz = r[0] - p[0], r[1] - p[1], r[2] - p[2]
        x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
        for i in range(t, t + 3):
            best = -np.inf
            for k in range(offsets[indices[i]], offsets[indices[i] + 1]):
                n = normals[wedges[k]]
                # How long the triangle's normal is does not matter: it is the same for all wedges.
                alike = x * n[0] + y * n[1] + z * n[2]
                if alike > best:
                    best = alike
                    result[i] = wedges[k]


@njit(cache=True, nogil=True)
def _choose_like_surface(points, normals, surfaces, runs, values, weights, result):
    (triangles, corners, below, chart), (wedges, chart_of, begin, end) = surfaces, runs
    wanted = np.empty(weights.size)
    for i in range(result.size):
        t = i // 3
        x, y, z = points[t, i % 3, 0], points[t, i % 3, 1], points[t, i % 3, 2]
        second, third = nearest_shares(x, y, z, triangles, below[t])
        for column in range(weights.size):
            a, b, c = values[corners[t, 0], column], values[corners[t, 1], column], values[corners[t, 2], column]
            wanted[column] = (1 - second - third) * a + second * b + third * c
        least, same = np.inf, False
        for k in range(begin[i], end[i]):
            alike, square = chart_of[k] == chart[t], 0.0
            if same and not alike:
                continue
            for column in range(weights.size):
                square += (weights[column] * (values[wedges[k], column] - wanted[column])) ** 2
            if normals.size:
                n = values[wedges[k], values.shape[1] - 3 :]
                square += 0.5 * (1 - (normals[t, 0] * n[0] + normals[t, 1] * n[1] + normals[t, 2] * n[2]))
            if square < least or same != alike:
                least, same = square, alike
                result[i] = wedges[k]


@njit(cache=True, nogil=True)
def without_slivers(indices, positions):
    """The triangles of ``indices`` uint32 [3 T] whose corners lie at three positions, of ``positions`` float32 [V, 3].

    The simplifier drops triangles with two equal vertices only. Where it closes a seam up, others are left between
    wedges of one position: they have no area, and to both sides the surface is complete without them.
    """
    kept = np.empty(indices.size, np.uint32)
    count = 0
    for t in range(0, indices.size, 3):
        p, q, r = positions[indices[t]], positions[indices[t + 1]], positions[indices[t + 2]]
        if not (_equal(p, q) or _equal(q, r) or _equal(r, p)):
            for corner in range(3):  # assigning a slice compiles how errors are worded
                kept[count + corner] = indices[t + corner]
            count += 3
    return kept[:count].copy()


@njit(cache=True, nogil=True)
def _equal(p, q):
    return p[0] == q[0] and p[1] == q[1] and p[2] == q[2]
