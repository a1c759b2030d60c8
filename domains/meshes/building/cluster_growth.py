"""Triangles in clusters: each cluster grows from a seed, by the triangle beside it that adds the fewest vertices.

The order of preference is that of meshopt_buildMeshlets (https://github.com/zeux/meshoptimizer): what adds no vertex,
what would be left alone at one of its vertices, then what adds one. Three things differ. What may be added is kept from
triangle to triangle, instead of looked for around all vertices of the cluster: half the time. Among equals the nearest
to the middle of the cluster is taken as there, but what has few free triangles around it counts as nearer, so that no
remnants are left between clusters. And seeds come from the outside to the inside.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit, njit_uncounted
from hra.domains.meshes.mesh.ragged import local_vertices

# A cluster that has a third of its triangles ends rather than to reach out farther than twice its expected radius.
_FULL_ENOUGH, _TOO_FAR = 1 / 3, 2.0
# Where nothing beside a cluster is left, it goes on with the nearest of this many triangles before or after it.
_WINDOW = 32
# Distances from the middle are told apart by this many steps: seeds need no exact order.
_STEPS = 1024

# Of vertices: where their triangles begin and which these are; how many are left and the exclusive or of their numbers,
# which names the last one; the last cluster that has the vertex. Of triangles: four times the last cluster that they
# touch plus how many vertices of it they have, or that one has taken them; whether they are the last at a vertex; what
# is left before and after them. Then what has two vertices of the cluster that grows, and what has all three.
AT, AROUND, LIVE, REST, OWNER, TOUCHED, LAST, BEFORE, AFTER, BESIDE, INSIDE = range(11)
# More than any triangle touches: there are fewer clusters than 2**28.
_TAKEN = 2**30


@njit(cache=True, nogil=True)
def grow_clusters(indices, positions, max_triangles, max_vertices):
    """Split triangles into clusters of neighbours.

    Parameters
    ----------
    indices : uint32 [3 F]; neighbouring triangles should be near each other in the order.
    positions : float32 [V, 3], of all vertices of a mesh, however few the triangles need.
    max_triangles, max_vertices : of a cluster.

    Returns
    -------
    uint32 [3 F], the triangles one cluster after the other; int64 [N + 1], where the indices of each begin; uint32 [N],
    how many vertices it has.
    """
    vertices, corners = local_vertices(indices)
    count, vertex_count = indices.size // 3, vertices.size
    centers, seeds = np.empty((count, 3), np.float32), np.empty(count, np.int32)
    expected = _centers(indices, positions, max_triangles, centers)
    _from_outside(centers, np.empty(count), np.empty(_STEPS + 1, np.int64), seeds)
    at, around = np.empty(vertex_count + 1, np.uint32), np.empty_like(corners)
    live, owner = np.empty(vertex_count, np.uint32), np.empty(vertex_count, np.int32)
    rest, touched, last = np.empty_like(live), np.empty_like(seeds), np.empty(count, np.bool_)
    before, beside = np.empty(count + 1, np.uint32), np.empty(count + 1, np.uint32)
    after, inside = np.empty_like(before), np.empty_like(before)
    _triangles_around(corners, at, around, live, rest)
    for t in range(count):
        touched[t], last[t], before[t + 1], after[t] = 0, False, t, t + 1
    # A ring, which the place after the last triangle closes.
    before[0], after[count] = count, 0
    for v in range(vertex_count):
        owner[v] = -1
        if live[v] == 1:
            last[rest[v]] = True
    # In the order of their numbers above.
    memory = at, around, live, rest, owner, touched, last, before, after, beside, inside
    order, ends, vertex_counts = np.empty(count, np.int32), np.empty(count + 1, np.int64), np.empty(count, np.uint32)
    # A cluster's number has one type from the start: with that of a literal all would be compiled twice.
    limits, middle, cluster = (max_triangles, max_vertices, expected), np.empty(3), np.int64(0)
    ends[0] = 0
    for seed in seeds:
        if touched[seed] < _TAKEN:
            grown = _grow(seed, cluster, corners, centers, memory, limits, order, ends[cluster], middle)
            ends[cluster + 1], vertex_counts[cluster] = grown
            cluster += 1
    # ``around`` is needed no more.
    for place in range(count):
        for corner in range(3):
            around[3 * place + corner] = indices[3 * order[place] + corner]
    return around, 3 * ends[: cluster + 1], vertex_counts[:cluster].copy()


# Reference counts of these arrays with every triangle would take a quarter of all time.
@njit_uncounted(cache=True, nogil=True)
def _grow(seed, cluster, corners, centers, memory, limits, order, done, middle):
    """Write the triangles of a cluster to ``order`` from ``done`` on; where it ends, and how many vertices it has."""
    max_triangles, max_vertices, expected = limits
    middle[0] = middle[1] = middle[2] = 0.0
    triangle, size, vertices, near, closing = np.int64(seed), 0, 0, 0, 0
    # Ends: each turn takes a triangle.
    while triangle >= 0:
        order[done], done, size = triangle, done + 1, size + 1
        near, closing, vertices = _take(triangle, cluster, corners, memory, near, closing, vertices)
        for axis in range(3):
            middle[axis] += (centers[triangle, axis] - middle[axis]) / size
        if size == max_triangles:
            break
        closing = _still(memory[INSIDE], closing, memory[TOUCHED], 4 * cluster + 3)
        listed, among, lonely = memory[INSIDE], closing, closing == 0
        if lonely and vertices < max_vertices:
            near = _still(memory[BESIDE], near, memory[TOUCHED], 4 * cluster + 2)
            listed, among = memory[BESIDE], near
        following = _best(listed, among, lonely, corners, memory, centers, middle)
        if following < 0 and max_vertices - vertices >= 3:
            following = _nearest_in_order(triangle, memory, centers, middle)
        farthest = expected * _TOO_FAR if size >= max_triangles * _FULL_ENOUGH else np.inf
        if following >= 0 and _square_distance(centers, following, middle) > farthest * farthest:
            following = np.int64(-1)
        triangle = following
    return done, vertices


@njit(cache=True, nogil=True)
def _triangles_around(corners, at, around, live, rest):
    """Write where the triangles at each vertex begin, how many there are, which, and their exclusive or."""
    for v in range(live.size):
        live[v] = rest[v] = 0
    for v in corners:
        live[v] += np.uint32(1)
    at[0] = 0
    for v in range(live.size):
        at[v + 1] = at[v] + live[v]
        live[v] = 0
    for i in range(corners.size):
        v = corners[i]
        around[at[v] + live[v]] = i // 3
        live[v] += np.uint32(1)
        rest[v] ^= np.uint32(i // 3)


@njit(cache=True, nogil=True)
def _centers(corners, positions, max_triangles, centers):
    """Write centroids; half the side of a square of as much area as a full cluster has on average."""
    area = 0.0
    for t in range(len(centers)):
        a, b, c = corners[3 * t], corners[3 * t + 1], corners[3 * t + 2]
        for axis in range(3):
            centers[t, axis] = (positions[a, axis] + positions[b, axis] + positions[c, axis]) / np.float32(3)
        sx, sy, sz = positions[b, 0], positions[b, 1], positions[b, 2]
        tx, ty, tz = positions[c, 0], positions[c, 1], positions[c, 2]
        sx, sy, sz = sx - positions[a, 0], sy - positions[a, 1], sz - positions[a, 2]
        tx, ty, tz = tx - positions[a, 0], ty - positions[a, 1], tz - positions[a, 2]
        x, y, z = sy * tz - sz * ty, sz * tx - sx * tz, sx * ty - sy * tx
        area += 0.5 * np.sqrt(x * x + y * y + z * z)
    return 0.5 * np.sqrt(area / max(len(centers), 1) * max_triangles)


@njit(cache=True, nogil=True)
def _from_outside(centers, distances, starts, order):
    """Write the triangles by falling distance from the mean of their ``centers``, in steps."""
    x, y, z, farthest = 0.0, 0.0, 0.0, 0.0
    for t in range(len(centers)):
        x, y, z = x + centers[t, 0], y + centers[t, 1], z + centers[t, 2]
    x, y, z = x / len(centers), y / len(centers), z / len(centers)
    for t in range(len(centers)):
        dx, dy, dz = centers[t, 0] - x, centers[t, 1] - y, centers[t, 2] - z
        distances[t] = np.sqrt(dx * dx + dy * dy + dz * dz)
        farthest = max(farthest, distances[t])
    # Sorted by counting.
    for s in range(_STEPS + 1):
        starts[s] = 0
    scale = (_STEPS - 1) / farthest if farthest > 0 else 0.0
    for t in range(len(centers)):
        starts[int((farthest - distances[t]) * scale) + 1] += 1
    for s in range(_STEPS):
        starts[s + 1] += starts[s]
    for t in range(len(centers)):
        step = int((farthest - distances[t]) * scale)
        order[starts[step]] = t
        starts[step] += 1


@njit(inline="always")
def _take(triangle, cluster, corners, memory, near, closing, vertices):
    """Add a triangle to the cluster; how many are listed beside it and inside then, and how many vertices it has."""
    at, around, live, rest, owner = memory[AT], memory[AROUND], memory[LIVE], memory[REST], memory[OWNER]
    touched, last, beside, inside = memory[TOUCHED], memory[LAST], memory[BESIDE], memory[INSIDE]
    before, after, nothing = memory[BEFORE], memory[AFTER], 4 * cluster
    touched[triangle] = _TAKEN
    after[before[triangle]], before[after[triangle]] = after[triangle], before[triangle]
    for corner in range(3):
        v = corners[3 * triangle + corner]
        live[v] -= np.uint32(1)
        rest[v] ^= np.uint32(triangle)
        if live[v] == 1:
            last[rest[v]] = True
        if owner[v] == cluster:
            continue
        owner[v], vertices = cluster, vertices + 1
        # Without branches, which no processor could foresee: lists are written anyway, but grow only where they shall.
        for i in range(at[v], at[v + np.uint32(1)]):
            other = around[i]
            touched[other] = touches = max(touched[other], nothing) + 1
            beside[near] = inside[closing] = other
            near += touches == nothing + 2
            closing += touches == nothing + 3
    return near, closing, vertices


@njit(inline="always")
def _still(listed, count, touched, touches):
    """Leave out of the first ``count`` triangles what is taken or touches more by now; how many are left."""
    kept = 0
    for i in range(count):
        triangle = listed[i]
        listed[kept] = triangle
        kept += touched[triangle] == touches
    return kept


@njit(inline="always")
def _best(listed, count, lonely, corners, memory, centers, middle):
    """The best of the first ``count`` triangles, or -1; where ``lonely``, the last ones at a vertex go first."""
    live, last = memory[LIVE], memory[LAST]
    if count == 1:
        return np.int64(listed[0])
    best, least, alone = np.int64(-1), np.inf, False
    for i in range(count):
        triangle = listed[i]
        # The last one at a vertex would be expensive in another cluster.
        if lonely and last[triangle] != alone:
            if alone:
                continue
            alone, least = True, np.inf
        free = live[corners[3 * triangle]] + live[corners[3 * triangle + 1]] + live[corners[3 * triangle + 2]]
        score = _square_distance(centers, triangle, middle) * free * free
        better = (score < least) | ((score == least) & (triangle < best))
        best, least = (np.int64(triangle) if better else best), (score if better else least)
    return best


@njit(cache=True, nogil=True)
def _nearest_in_order(triangle, memory, centers, middle):
    """The triangle nearest to the ``middle`` of those left around a ``triangle`` in the order; -1 if none is left."""
    best, nearest, before, after = np.int64(-1), np.inf, memory[BEFORE], memory[AFTER]
    back, on, end = before[triangle], after[triangle], len(centers)
    for _ in range(_WINDOW):
        if back < end:
            distance = _square_distance(centers, back, middle)
            if distance < nearest:
                best, nearest = back, distance
            back = before[back]
        if on < end:
            distance = _square_distance(centers, on, middle)
            if distance < nearest:
                best, nearest = on, distance
            on = after[on]
    return best


@njit(inline="always")
def _square_distance(centers, triangle, middle):
    x, y, z = centers[triangle, 0] - middle[0], centers[triangle, 1] - middle[1], centers[triangle, 2] - middle[2]
    return x * x + y * y + z * z
