"""Triangles in clusters: each cluster grows from a seed, by the triangle beside it that adds the fewest vertices.

The order of preference is that of meshopt_buildMeshlets (https://github.com/zeux/meshoptimizer): what adds no vertex,
what would be left alone at one of its vertices, then what adds one. Three things differ. What may be added is kept from
triangle to triangle, instead of looked for around all vertices of the cluster: half the time. Among equals the nearest
to the middle of the cluster is taken as there, but what has few free triangles around it counts as nearer, so that no
rests are left between clusters. And seeds come from the outside to the inside.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit

# A cluster that has a third of its triangles ends rather than to reach out farther than twice its expected radius.
_FULL_ENOUGH, _TOO_FAR = 1 / 3, 2.0
# Where nothing beside a cluster is left, it goes on with the nearest of so many triangles on either side in the order.
_WINDOW = 32
# Distances from the middle are told apart by so many steps: seeds need no exact order.
_STEPS = 1024

# Of vertices: where their triangles begin, how many are left, and which; the last cluster that has it. Of triangles:
# the last cluster that it touches, how many vertices it would add to that one, whether it is the last one at a vertex,
# whether a cluster has it, what is left before and after it. Then what shares a side with the cluster that grows.
AT, LIVE, AROUND, OWNER, TOUCHED_BY, MISSING, LAST, TAKEN, BEFORE, AFTER, BESIDE = range(11)


@njit(cache=True, nogil=True)
def grow_clusters(corners, positions, max_triangles, max_vertices):
    """Split triangles into clusters of neighbours.

    Parameters
    ----------
    corners : uint32 [3 F], vertices 0 .. V - 1; neighbouring triangles should be near each other in the order.
    positions : float32 [V, 3].
    max_triangles, max_vertices : of a cluster.

    Returns
    -------
    int32 [F], the triangles, one cluster after the other; int64 [N + 1], where each cluster begins; uint32 [N], how
    many vertices it has.
    """
    count, vertex_count = corners.size // 3, len(positions)
    centers, seeds = np.empty((count, 3), np.float32), np.empty(count, np.int32)
    expected = _centers(corners, positions, max_triangles, centers)
    _from_outside(centers, np.empty(count), np.empty(_STEPS + 1, np.int64), seeds)
    at, live, around = (
        np.empty(vertex_count + 1, np.int32),
        np.empty(vertex_count, np.int32),
        np.empty(corners.size, np.int32),
    )
    owner, touched_by, missing = np.empty_like(live), np.empty_like(seeds), np.empty_like(seeds)
    before, after, beside = np.empty_like(seeds), np.empty_like(seeds), np.empty_like(seeds)
    last, taken = np.empty(count, np.bool_), np.empty(count, np.bool_)
    _triangles_around(corners, at, live, around)
    for v in range(vertex_count):
        owner[v] = -1
    for t in range(count):
        touched_by[t], last[t], taken[t], before[t], after[t] = -1, False, False, t - 1, t + 1
    for v in range(vertex_count):
        if live[v] == 1:
            last[around[at[v]]] = True
    # In the order of their numbers above.
    memory = at, live, around, owner, touched_by, missing, last, taken, before, after, beside
    order, ends, vertex_counts = np.empty(count, np.int32), np.empty(count + 1, np.int64), np.empty(count, np.uint32)
    limits, middle, cluster = (max_triangles, max_vertices, expected), np.empty(3), 0
    ends[0] = 0
    for seed in seeds:
        if not taken[seed]:
            grown = _grow(seed, cluster, corners, centers, memory, limits, order, ends[cluster], middle)
            ends[cluster + 1], vertex_counts[cluster] = grown
            cluster += 1
    return order, ends[: cluster + 1].copy(), vertex_counts[:cluster].copy()


@njit(inline="always")
def _grow(seed, cluster, corners, centers, memory, limits, order, done, middle):
    """Write the triangles of a cluster to ``order`` from ``done`` on; where it ends, and how many vertices it has."""
    max_triangles, max_vertices, expected = limits
    middle[0] = middle[1] = middle[2] = 0.0
    triangle, size, vertices, near = np.int64(seed), 0, 0, 0
    # Ends: each turn takes a triangle.
    while triangle >= 0:
        order[done], done, size = triangle, done + 1, size + 1
        near, vertices = _take(triangle, cluster, corners, memory, near, vertices)
        for axis in range(3):
            middle[axis] += (centers[triangle, axis] - middle[axis]) / size
        if size == max_triangles:
            break
        near, following = _best_beside(near, corners, memory, centers, middle, max_vertices - vertices)
        if following < 0 and max_vertices - vertices >= 3:
            following = _nearest_in_order(triangle, memory, centers, middle)
        farthest = expected * _TOO_FAR if size >= max_triangles * _FULL_ENOUGH else np.inf
        if following >= 0 and _square_distance(centers, following, middle) > farthest * farthest:
            following = np.int64(-1)
        triangle = following
    return done, vertices


@njit(cache=True, nogil=True)
def _triangles_around(corners, at, live, around):
    """Write where the triangles at each vertex begin, how many there are, and which."""
    at[0] = 0
    for v in range(live.size):
        live[v] = 0
    for v in corners:
        live[v] += 1
    for v in range(live.size):
        at[v + 1] = at[v] + live[v]
        live[v] = 0
    for i in range(corners.size):
        v = corners[i]
        around[at[v] + live[v]] = i // 3
        live[v] += 1


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


# Compiled in place, as it is called for every triangle: to hand so many arrays on takes a sixth of all the time.
@njit(inline="always")
def _take(triangle, cluster, corners, memory, near, vertices):
    """Add a triangle to the cluster; how many triangles are beside it then, and how many vertices it has."""
    at, live, around, owner = memory[AT], memory[LIVE], memory[AROUND], memory[OWNER]
    touched_by, missing, last, beside = memory[TOUCHED_BY], memory[MISSING], memory[LAST], memory[BESIDE]
    _unlink(triangle, memory[TAKEN], memory[BEFORE], memory[AFTER])
    for corner in range(3):
        v = corners[3 * triangle + corner]
        begin, end = at[v], at[v] + live[v] - 1
        for i in range(begin, end):
            if around[i] == triangle:
                around[i] = around[end]
                break
        live[v] -= 1
        if live[v] == 1:
            last[around[begin]] = True
        if owner[v] == cluster:
            continue
        owner[v], vertices = cluster, vertices + 1
        for i in range(begin, end):
            other = around[i]
            if touched_by[other] != cluster:
                touched_by[other], missing[other] = cluster, 2
                continue
            missing[other] -= 1
            if missing[other] == 1:
                beside[near], near = other, near + 1
    return near, vertices


@njit(inline="always")
def _unlink(triangle, taken, before, after):
    """Leave a triangle out of the list of those left, whose ends are -1 and F."""
    taken[triangle] = True
    if before[triangle] >= 0:
        after[before[triangle]] = after[triangle]
    if after[triangle] < taken.size:
        before[after[triangle]] = before[triangle]


@njit(inline="always")
def _best_beside(near, corners, memory, centers, middle, room):
    """Leaves out what is taken of the first ``near`` triangles beside a cluster; their number, and the best, or -1."""
    live, missing, last, taken, beside = memory[LIVE], memory[MISSING], memory[LAST], memory[TAKEN], memory[BESIDE]
    best, fewest, least, kept = np.int64(-1), 3.0, np.inf, 0
    for i in range(near):
        triangle = beside[i]
        if taken[triangle]:
            continue
        beside[kept], kept = triangle, kept + 1
        added = missing[triangle]
        # The last one at a vertex would be dear in another cluster.
        rank = 0.5 if added > 0 and last[triangle] else float(added)
        if rank > fewest or added > room:
            continue
        free = live[corners[3 * triangle]] + live[corners[3 * triangle + 1]] + live[corners[3 * triangle + 2]]
        score = _square_distance(centers, triangle, middle) * free * free
        if rank < fewest or score < least or (score == least and triangle < best):
            best, fewest, least = np.int64(triangle), rank, score
    return kept, best


@njit(cache=True, nogil=True)
def _nearest_in_order(triangle, memory, centers, middle):
    """Of the triangles left around a ``triangle`` in the order, the nearest to the ``middle``; -1 if none is left."""
    best, nearest, before, after = np.int64(-1), np.inf, memory[BEFORE], memory[AFTER]
    back, on = before[triangle], after[triangle]
    for _ in range(_WINDOW):
        if back >= 0:
            distance = _square_distance(centers, back, middle)
            if distance < nearest:
                best, nearest = back, distance
            back = before[back]
        if on < before.size:
            distance = _square_distance(centers, on, middle)
            if distance < nearest:
                best, nearest = on, distance
            on = after[on]
    return best


@njit(inline="always")
def _square_distance(centers, triangle, middle):
    x, y, z = centers[triangle, 0] - middle[0], centers[triangle, 1] - middle[1], centers[triangle, 2] - middle[2]
    return x * x + y * y + z * z
