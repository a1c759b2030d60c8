"""Counts what Warp's bounding volumes hold, which they tell no other way."""

# Warp compiles this file itself: its types are no Python types.
# pyright: reportInvalidTypeForm=false, reportOperatorIssue=false, reportArgumentType=false

from __future__ import annotations

import numpy as np
import warp as wp


def hits(volumes: wp.Bvh, low: np.ndarray, high: np.ndarray) -> int:
    """How many of the volumes' boxes meet the box from ``low`` [3] to ``high`` [3]."""
    count = wp.zeros(1, dtype=wp.int32, device=volumes.device)
    wp.launch(_count, 1, [volumes.id, wp.vec3(*low), wp.vec3(*high), count], device=volumes.device)
    return int(count.numpy()[0])


@wp.kernel(enable_backward=False)
def _count(volumes: wp.uint64, low: wp.vec3, high: wp.vec3, count: wp.array(dtype=wp.int32)):
    query = wp.bvh_query_aabb(volumes, low, high)
    found = wp.int32(0)
    total = wp.int32(0)
    while wp.bvh_query_next(query, found):
        total += 1
    count[0] = total
