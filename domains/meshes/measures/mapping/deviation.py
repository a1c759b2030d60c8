"""Bounds on both sides of the distance of groups of clusters from what they were simplified to, by maps."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.domains.meshes.measures.deviation import NEGLIGIBLE, ROUNDING, Patches, VertexMemory
from hra.domains.meshes.measures.mapping.bounds import fill_off
from hra.domains.meshes.measures.mapping.edges import draw_paths
from hra.domains.meshes.measures.mapping.memory import group_memory
from hra.domains.meshes.measures.mapping.places import FAN
from hra.domains.meshes.measures.mapping.surfaces import ends_everywhere, link_sides, number_edges, number_vertices
from hra.domains.meshes.measures.mapping.triangles import close_triangles
from hra.domains.meshes.measures.mapping.vertices import fill_coarse, is_misplaced, place_vertices

# A map is of no use whose bound is this much larger than what vertices are off.
_LOOSE = 2


def mapped_deviations(
    positions: np.ndarray, fine: Patches, added: np.ndarray, coarse: Patches, memory: VertexMemory
) -> np.ndarray:
    """How far the source is at most from each group of ``coarse``, and that group from the source.

    Parameters
    ----------
    positions : float32 [V, 3].
    fine : what each group was simplified from, with bounds on how far the source is from each cluster.
    added : float32 [N], bounds on how far those clusters are from the source.
    coarse : what each group was simplified to.
    memory : of the vertices, for calls one after the other.

    Returns
    -------
    float32 [G, 2], in the unit of ``positions``, rounded up; NaN for groups that have no map.
    """
    result = np.full((len(fine.groups) - 1, 2), np.nan)
    at, coarse_at = fine.offsets[fine.groups], coarse.offsets[coarse.groups]
    own = group_memory(int(np.diff(at).max(initial=0)), int(np.diff(coarse_at).max(initial=0)))
    off = np.stack([fine.deviation, added], axis=1).astype(np.float64)
    _bound_groups(
        positions, (fine.indices, fine.offsets, fine.groups, off), (coarse.indices, coarse_at),
        memory.arrays[:2], memory.number(len(result)), own, result,
    )  # fmt: skip
    return np.nextafter(result.astype(np.float32), np.float32(np.inf))


@njit(cache=True, nogil=True)
def _bound_groups(positions, fine, coarse, for_each_vertex, number, memory, result):
    indices, offsets, groups, off = fine
    coarse_indices, coarse_at = coarse
    numbers, seen = for_each_vertex
    memory.seen[:] = -1
    origin, stamp = np.empty(3), 0
    for g in range(len(result)):
        clusters = offsets[groups[g] : groups[g + 1] + 1]
        own = indices[clusters[0] : clusters[-1]]
        onto = coarse_indices[coarse_at[g] : coarse_at[g + 1]]
        # Counted from a point of the group, coordinates are as small as it: what they lose by rounding is a part of its
        # extent, wherever in space it lies.
        for axis in range(3):
            origin[axis] = positions[onto[0], axis]
        places, group = memory.places, number + g
        kept = number_vertices(positions, onto, origin, numbers, seen, group, 0, places, memory.coarse)
        count = number_vertices(positions, own, origin, numbers, seen, group, kept, places, memory.fine)
        memory.homes[:count] = -1
        if not link_sides(memory.coarse, onto.size, memory.keys, memory.values, memory.behind, memory.homes[:, FAN]):
            continue
        stamp += 1
        if not ends_everywhere(onto.size, memory.behind, memory.queue, memory.seen, stamp):
            continue
        edges = number_edges(own.size, onto.size, memory)
        if edges < 0:
            continue
        fill_coarse(kept, onto.size, memory)
        fill_off(clusters, off[groups[g] : groups[g + 1]], count, memory)
        stamp = place_vertices(own.size, kept, count, memory, stamp)
        enough = _LOOSE * max(memory.bounds[0], memory.bounds[1])
        if stamp > 0 and is_misplaced(onto.size, kept, count, memory):
            continue
        if stamp > 0:
            stamp = draw_paths(edges, onto.size, memory, stamp)
        if stamp < 0:
            stamp = -stamp
            continue
        if not close_triangles(clusters, off[groups[g] : groups[g + 1]], memory):
            continue
        # Outward: distances are computed in float64.
        extent = np.abs(places[:count]).max()
        if max(memory.bounds[0], memory.bounds[1]) > enough + extent * NEGLIGIBLE:
            continue
        result[g, 0], result[g, 1] = memory.bounds[0] + extent * ROUNDING, memory.bounds[1] + extent * ROUNDING
