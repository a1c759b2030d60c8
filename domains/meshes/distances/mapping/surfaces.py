"""The two surfaces of one group: vertices numbered from 0, the coarse one's first, and what lies beside each side.

A side is a number: three times its triangle, plus which of its sides it is. It begins at the corner of that number.
"""

from __future__ import annotations

from hra.compiling import njit_uncounted
from hra.domains.meshes.distances.pieces import key_of, slot_of

# In place of a side that begins at a vertex: none yet; none around which all triangles of the vertex lie.
NO_FAN, PINCHED = -1, -2


@njit_uncounted(cache=True, nogil=True)
def after(side):
    """The next side of the same triangle, counter-clockwise: the one that begins where this one ends."""
    return side - 2 if side % 3 == 2 else side + 1


@njit_uncounted(cache=True, nogil=True)
def before(side):
    """The side of the same triangle that ends where this one begins."""
    return side + 2 if side % 3 == 0 else side - 1


@njit_uncounted(cache=True, nogil=True)
def number_vertices(positions, indices, origin, numbers, seen, group, count, places, corners):
    """Write where the vertices lie relative to ``origin``, and the numbers of those at each corner; how many now.

    Parameters
    ----------
    indices : of the triangles' vertices.
    numbers, seen : for each vertex of the mesh its number, if it has one in this ``group``.
    count : vertices that have numbers already.
    """
    for i in range(indices.size):
        v = indices[i]
        if seen[v] != group:
            seen[v], numbers[v] = group, count
            for axis in range(3):
                # Differences of float32 in float64: exact, apart from coordinates of very different size.
                places[count, axis] = positions[v, axis] - origin[axis]
            count += 1
        corners[i] = numbers[v]
    return count


@njit_uncounted(cache=True, nogil=True)
def link_sides(corners, sides, keys, values, behind, fans):
    """Write what is behind each side of the triangles, -1 at a border, and a side that begins at each vertex.

    Where the border begins at a vertex, that is the border's side; `PINCHED` where two borders do. Returns whether at
    most two triangles share a side, and those in opposite directions.
    """
    keys[:] = -1
    for side in range(sides):
        behind[side] = -1
        a, b = corners[side], corners[after(side)]
        key = key_of(a, b)
        slot = slot_of(key, keys, keys.size)
        if keys[slot] != key:
            keys[slot], values[slot] = key, side
            continue
        # A third side at this edge, or one in the same direction, is not a surface.
        other = values[slot]
        if other < 0 or corners[other] == a:
            return False
        behind[side], behind[other], values[slot] = other, side, -1
    for side in range(sides):
        v = corners[side]
        known = fans[v]
        if behind[side] < 0:
            fans[v] = side if known == NO_FAN or (known >= 0 and behind[known] >= 0) else PINCHED
        elif known == NO_FAN:
            fans[v] = side
    return True


@njit_uncounted(cache=True, nogil=True)
def ends_everywhere(sides, behind, queue, seen, stamp):
    """Whether from each triangle, over sides, a border is reached."""
    waiting = at = 0
    for side in range(sides):
        if behind[side] < 0 and seen[side // 3] != stamp:
            seen[side // 3], queue[waiting] = stamp, side // 3
            waiting += 1
    # From all borders at once, over sides, breadth first.
    while at < waiting:
        for side in range(3 * queue[at], 3 * queue[at] + 3):
            other = behind[side] // 3
            if behind[side] >= 0 and seen[other] != stamp:
                seen[other], queue[waiting] = stamp, other
                waiting += 1
        at += 1
    return 3 * waiting == sides


@njit_uncounted(cache=True, nogil=True)
def number_edges(fine_sides, coarse_sides, memory):
    """Write which edge each fine side is, and the ends of each edge; how many edges there are.

    -1 where the two surfaces do not have the same border, in the same direction: where an edge is gone along more often
    upwards than downwards by the one than by the other.
    """
    fine, coarse, behind, balance = memory.fine, memory.coarse, memory.behind, memory.balance
    keys, values, edges, ends = memory.keys, memory.values, memory.edges, memory.ends
    keys[:] = -1
    count = 0
    for side in range(fine_sides):
        a, b = fine[side], fine[after(side)]
        key = key_of(a, b)
        slot = slot_of(key, keys, keys.size)
        if keys[slot] != key:
            keys[slot], values[slot] = key, count
            ends[count, 0], ends[count, 1], balance[count] = max(a, b), min(a, b), 0
            ends[count, 2], ends[count, 3] = side, side
            count += 1
        else:
            # The second side; with more of them, two do not speak for all.
            edge = values[slot]
            ends[edge, 3] = side if ends[edge, 3] == ends[edge, 2] else -1
        edges[side] = values[slot]
        balance[values[slot]] += 1 if a < b else -1
    for side in range(coarse_sides):
        # Sides within the coarse surface are gone along once in either direction.
        if behind[side] >= 0:
            continue
        a, b = coarse[side], coarse[after(side)]
        key = key_of(a, b)
        slot = slot_of(key, keys, keys.size)
        if keys[slot] != key:
            return -1
        balance[values[slot]] -= 1 if a < b else -1
    # Inner edges are gone along once either way and cancel: what is left must be the coarse border, which took it off.
    for edge in range(count):
        if balance[edge] != 0:
            return -1
    return count
