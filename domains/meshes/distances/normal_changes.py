"""How far normals of the groups of a cluster mesh are from those of the source beneath, by samples.

Each sample is a point of the source with its normal. Group by group, from fine to coarse, it goes to the nearest
triangle of what the group was simplified to: it is always compared as it was at the source, and nothing adds up on the
way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hra.compiling import njit
from hra.domains.meshes.distances.triangle_distance import fill_triangles, nearest_triangle, surface_memory
from hra.model.hierarchy import Hierarchy

SAMPLES = 16
"""At most this many for each cluster: a group of a fine level has about 200."""


class Surface(NamedTuple):
    """Clusters of all levels.

    Attributes
    ----------
    positions : float32 [V, 3]; normals : float32 [V, 3], or [0, 3] where triangles are flat.
    indices : uint32 [3 T]; offsets : int64 [N + 1], where each cluster's indices begin.
    """

    positions: np.ndarray
    normals: np.ndarray
    indices: np.ndarray
    offsets: np.ndarray


class Samples(NamedTuple):
    """Points of the source, those of each cluster one after the other.

    Attributes
    ----------
    points, normals : float64 [S, 3], normals of unit length or 0 where there is none.
    weight : float64 [S], the area that each stands for.
    counts : int64 [N], how many each cluster has; 0 for coarser clusters than the source's.
    """

    points: np.ndarray
    normals: np.ndarray
    weight: np.ndarray
    counts: np.ndarray


def normal_changes(surface: Surface, hierarchy: Hierarchy) -> np.ndarray:
    """Root mean square of the difference between unit normals of the source and of the cluster's group, float32 [N].

    The mean is over the source's area beneath the group, from 0 to the root of 2: opposite normals count as equal,
    because a lamp at the eye lights both sides alike. Never less than that of finer groups; 0 for clusters of the
    source. Vertex normals are interpolated where there are any, else each triangle has its own.
    """
    samples = draw_samples(surface, hierarchy)
    order = (hierarchy.added_nodes, hierarchy.removed_nodes)
    begins = np.arange(len(samples.counts) + 1, dtype=np.int64) * SAMPLES
    slots, counts = np.zeros(begins[-1], np.int64), samples.counts.copy()
    _place(begins, counts, slots)
    sizes = np.diff(surface.offsets)
    most = _largest_group(sizes, hierarchy.removed_nodes)
    memory = surface_memory(most // 3), np.empty(most, np.uint32), np.empty(most // 3, np.int64)
    result = np.zeros(len(counts), np.float32)
    most_samples = _largest_group(np.full(len(counts), SAMPLES), hierarchy.added_nodes)
    carried = np.empty(most_samples, np.int64), np.empty(most_samples, np.int64)
    _carry(surface, samples, *order, hierarchy.removed_by, (begins, slots, counts), memory, carried, result)
    return result


def draw_samples(surface: Surface, hierarchy: Hierarchy) -> Samples:
    """Points spread evenly over the area of each cluster of the source, always the same ones."""
    counts = np.where(hierarchy.removed_by < 0, SAMPLES, 0)
    total = int(counts.sum())
    samples = Samples(np.zeros((total, 3)), np.zeros((total, 3)), np.zeros(total), counts)
    _draw(surface, samples)
    return samples


def _largest_group(sizes: np.ndarray, groups: tuple[np.ndarray, np.ndarray]) -> int:
    """The most that ``sizes`` [N] of the nodes of one group come to."""
    at, nodes = groups
    ends = np.concatenate([[0], np.cumsum(sizes[nodes])])[at]
    return int(np.diff(ends).max(initial=0))


@njit(cache=True)
def _draw(surface, samples):
    positions, normals, indices, offsets = surface
    points, directions, weight, counts = samples
    s, normal = np.int64(0), np.empty(3)
    for c in range(counts.size):
        if counts[c] == 0:
            continue
        whole, passed, drawn = 0.0, 0.0, 0
        for i in range(offsets[c], offsets[c + 1], 3):
            whole += _normal(positions, indices[i], indices[i + 1], indices[i + 2], normal)
        for i in range(offsets[c], offsets[c + 1], 3):
            passed += _normal(positions, indices[i], indices[i + 1], indices[i + 2], normal)
            # In the middle of each of ``counts[c]`` equal parts of the area; the last triangle takes what is left.
            last = i + 3 == offsets[c + 1]
            while drawn < counts[c] and (last or (drawn + 0.5) * whole < passed * counts[c]):
                u, v = _spread(drawn)
                if normals.shape[0] > 0:
                    _interpolate(normals, indices[i], indices[i + 1], indices[i + 2], u, v, normal)
                for axis in range(3):
                    first = (1.0 - u - v) * np.float64(positions[indices[i], axis])
                    points[s, axis] = first + u * positions[indices[i + 1], axis] + v * positions[indices[i + 2], axis]
                    directions[s, axis] = normal[axis]
                weight[s] = whole / counts[c]
                s, drawn = s + 1, drawn + 1


@njit(cache=True)
def _spread(k):
    """The place (u, v) of the ``k``-th point in a triangle.

    References
    ----------
    Roberts, The unreasonable effectiveness of quasirandom sequences, 2018: R2, folded into the triangle.
    """
    # Multiples of 1 / g and 1 / g**2, where g**3 = g + 1.
    u, v = (0.5 + k * 0.7548776662466927) % 1.0, (0.5 + k * 0.5698402909980532) % 1.0
    return (u, v) if u + v <= 1.0 else (1.0 - u, 1.0 - v)


@njit(cache=True)
def _place(begins, counts, slots):
    s = 0
    for c in range(counts.size):
        for k in range(counts[c]):
            slots[begins[c] + k] = s
            s += 1


@njit(cache=True)
def _carry(surface, samples, adds, removes, removed_by, held, memory, carried, result):
    """Fill ``result`` [N], the samples going from the clusters that each group adds to those that it removes.

    ``held`` : where each cluster's slots begin, the samples in them, and how many there are.
    """
    (added_at, added), (removed_at, removed) = adds, removes
    positions, normals, indices, offsets = surface
    begins, slots, counts = held
    (triangles, balls, runs, gaps), corners, owners = memory
    samples_here, nearest = carried
    origin, normal = np.empty(3), np.empty(3)
    # Refinements are in level order: backwards, what a group's members carry is known before the group.
    for r in range(added_at.size - 2, -1, -1):
        n, finer = 0, 0.0
        for k in range(added_at[r], added_at[r + 1]):
            c = added[k]
            if removed_by[c] >= 0:
                finer = max(finer, np.float64(result[c]))
            for j in range(begins[c], begins[c] + counts[c]):
                samples_here[n] = slots[j]
                n += 1
        m = np.int64(0)
        for k in range(removed_at[r], removed_at[r + 1]):
            for i in range(offsets[removed[k]], offsets[removed[k] + 1]):
                corners[m], owners[m // 3] = indices[i], removed[k]
                m += 1
        # What a group leaves may be nothing at all.
        if m == 0:
            continue
        for axis in range(3):
            origin[axis] = positions[corners[0], axis]
        fill_triangles(positions, corners, np.int64(0), m, origin, triangles, balls, runs)
        guess, square, area = np.int64(0), 0.0, 0.0
        for j in range(n):
            s = samples_here[j]
            x, y, z = (
                samples.points[s, 0] - origin[0],
                samples.points[s, 1] - origin[1],
                samples.points[s, 2] - origin[2],
            )
            guess, _ = nearest_triangle(x, y, z, triangles, balls, runs, m // 3, guess, gaps)
            nearest[j] = owners[guess]
            first, second, third = corners[3 * guess], corners[3 * guess + 1], corners[3 * guess + 2]
            if normals.shape[0] > 0:
                u, v = _place_in(x, y, z, triangles, guess)
                _interpolate(normals, first, second, third, u, v, normal)
            else:
                _normal(positions, first, second, third, normal)
            square += samples.weight[s] * _square_change(samples.normals, s, normal)
            area += samples.weight[s]
        # A mean by area, and no less than any finer group's, so that thresholds find cuts.
        change = max(finer, np.sqrt(square / area) if area > 0.0 else 0.0)
        for k in range(removed_at[r], removed_at[r + 1]):
            result[removed[k]] = change
            _hand_on(removed[k], samples_here, nearest, n, begins, slots, counts)


@njit(cache=True)
def _hand_on(c, samples_here, nearest, n, begins, slots, counts):
    """Give cluster ``c`` the samples nearest to it, or as many of them at even steps as it has slots for."""
    found = 0
    for j in range(n):
        found += nearest[j] == c
    kept, seen, placed = min(found, begins[c + 1] - begins[c]), 0, 0
    for j in range(n):
        if nearest[j] == c:
            if (seen + 1) * kept // found > placed:
                slots[begins[c] + placed] = samples_here[j]
                placed += 1
            seen += 1
    counts[c] = placed


@njit(cache=True)
def _square_change(normals, s, normal):
    """Square of the difference of unit normals, 0 where one of them is unknown."""
    known = normals[s, 0] ** 2 + normals[s, 1] ** 2 + normals[s, 2] ** 2 > 0.0
    if not known or normal[0] ** 2 + normal[1] ** 2 + normal[2] ** 2 == 0.0:
        return 0.0
    # |a - b|**2 = 2 - 2 a.b of unit vectors; without its sign, so that both sides of a surface count alike.
    along = normals[s, 0] * normal[0] + normals[s, 1] * normal[1] + normals[s, 2] * normal[2]
    return max(0.0, 2.0 - 2.0 * abs(along))


@njit(cache=True)
def _normal(positions, a, b, c, normal):
    """Write the unit normal of a triangle, 0 where it has no area; its area."""
    sx = np.float64(positions[b, 0]) - positions[a, 0]
    sy = np.float64(positions[b, 1]) - positions[a, 1]
    sz = np.float64(positions[b, 2]) - positions[a, 2]
    tx = np.float64(positions[c, 0]) - positions[a, 0]
    ty = np.float64(positions[c, 1]) - positions[a, 1]
    tz = np.float64(positions[c, 2]) - positions[a, 2]
    # The cross product of two sides is as long as twice the area.
    normal[0], normal[1], normal[2] = sy * tz - sz * ty, sz * tx - sx * tz, sx * ty - sy * tx
    return 0.5 * _normalise(normal)


@njit(cache=True)
def _interpolate(normals, a, b, c, u, v, normal):
    """Write the unit normal at the place (u, v) of a triangle with vertex normals."""
    # As renderers shade: normals are interpolated linearly, then made unit length again (Phong 1975).
    for axis in range(3):
        normal[axis] = (1.0 - u - v) * normals[a, axis] + u * normals[b, axis] + v * normals[c, axis]
    _normalise(normal)


@njit(cache=True)
def _normalise(normal):
    length = np.sqrt(normal[0] ** 2 + normal[1] ** 2 + normal[2] ** 2)
    for axis in range(3):
        normal[axis] = normal[axis] / length if length > 0.0 else 0.0
    return length


@njit(cache=True)
def _place_in(x, y, z, triangles, k):
    """Shares of the second and third corner at the foot of a point on triangle ``k``, drawn into the triangle."""
    px, py, pz = x - triangles[k, 0], y - triangles[k, 1], z - triangles[k, 2]
    sx, sy, sz = triangles[k, 3], triangles[k, 4], triangles[k, 5]
    tx, ty, tz = triangles[k, 6], triangles[k, 7], triangles[k, 8]
    ss, st, tt = sx * sx + sy * sy + sz * sz, sx * tx + sy * ty + sz * tz, tx * tx + ty * ty + tz * tz
    # The foot p = u s + v t solves ss u + st v = sp and st u + tt v = tp; Cramer's rule.
    sp, tp, area = sx * px + sy * py + sz * pz, tx * px + ty * py + tz * pz, ss * tt - st * st
    if not area > 0.0:
        return 1.0 / 3.0, 1.0 / 3.0
    u, v = max((tt * sp - st * tp) / area, 0.0), max((ss * tp - st * sp) / area, 0.0)
    over = max(u + v, 1.0)
    return u / over, v / over
