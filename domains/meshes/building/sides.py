"""How far the groups of a level are from the source, on both sides of Hausdorff's distance."""

from __future__ import annotations

from threading import local

import numpy as np

from hra.domains.meshes.building.settings import Workers, batches
from hra.domains.meshes.distances.carrying import Carried
from hra.domains.meshes.distances.deviation import Patches, VertexMemory, group_deviations
from hra.domains.meshes.distances.mapping.deviation import mapped_deviations
from hra.domains.meshes.mesh.cluster_table import ClusterTable
from hra.domains.meshes.mesh.ragged import take_runs

_AT_ONCE = 64


def two_sided_deviations(
    fine: ClusterTable,
    members: tuple[np.ndarray, np.ndarray],
    positions: np.ndarray,
    coarse: tuple[np.ndarray, np.ndarray],
    workers: Workers,
) -> np.ndarray:
    """Bounds on the distance of the source from each group, and of the group from the source.

    The second is made no tighter than the first, because the larger one counts.

    Parameters
    ----------
    fine : clusters with their own deviations.
    members : rows of ``fine`` int64 [M] that the groups were simplified from, and where those of each begin [G + 1].
    positions : float32 [V, 3].
    coarse : indices uint32 [3 T] of what the groups were simplified to, and where those of each begin [G + 1].

    Returns
    -------
    float32 [G, 2], in the unit of ``positions``.
    """
    rows, groups = members
    indices, offsets = take_runs(fine.indices, fine.offsets, rows)
    lost, added = (Patches(indices, offsets, off, groups) for off in np.ascontiguousarray(fine.deviation[rows].T))
    coarse_indices, coarse_at = coarse
    exact = np.zeros(len(coarse_at) - 1, np.float32)
    own_memory = local()

    def bound(batch: range) -> np.ndarray:
        if not hasattr(own_memory, "vertices"):
            own_memory.vertices = VertexMemory(len(positions))
        memory = own_memory.vertices
        at, ends = slice(batch.start, batch.stop), slice(batch.start, batch.stop + 1)
        simplified = Patches(coarse_indices, coarse_at[ends], exact[at], np.arange(len(batch) + 1))
        fine, shown = (replaced._replace(groups=replaced.groups[ends]) for replaced in (lost, added))
        known = mapped_deviations(positions, fine, shown.deviation, simplified, memory)
        forward = group_deviations(positions, fine, simplified, np.zeros(len(batch)), memory, known[:, 0])
        backward = group_deviations(positions, simplified, shown, forward.astype(np.float64), memory, known[:, 1])
        return np.stack([forward, backward], axis=1)

    return np.concatenate(list(workers.map(bound, batches(len(exact), _AT_ONCE))))


def carried_deviations(
    carried: Carried,
    gone: tuple[np.ndarray, np.ndarray],
    made: tuple[np.ndarray, np.ndarray],
    indices: np.ndarray,
    positions: np.ndarray,
    workers: Workers,
) -> np.ndarray:
    """The same for changes, measured from a surface that is carried along, see `Carried.step`; float32 [C, 2]."""
    lost, enough, (moved_at, moved) = carried.step(gone, made, indices)
    at = 3 * made[0].astype(np.int64)

    def bound(batch: range) -> np.ndarray:
        own, ends = slice(batch.start, batch.stop), slice(batch.start, batch.stop + 1)
        return carried.ground.bounds((at[ends], indices), (moved_at[ends], moved), enough[own])

    added = np.concatenate(list(workers.map(bound, batches(len(lost), _AT_ONCE))))
    added = carried.step_back(gone, made, indices, added, enough)
    return np.stack([np.nextafter(lost.astype(np.float32), np.float32(np.inf)), added], axis=1)
