"""How far the groups of a level are from the source, on both sides of Hausdorff's distance."""

from __future__ import annotations

import numpy as np

from hra.domains.meshes.building.threads import Workers, batches
from hra.domains.meshes.cluster_table import ClusterTable
from hra.domains.meshes.measures.deviation import Patches, group_deviations
from hra.domains.meshes.ragged import take_runs

# Each call takes memory for all vertices.
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
    (rows, groups), (coarse_indices, coarse_at) = members, coarse
    indices, offsets = take_runs(fine.indices, fine.offsets, rows)
    to_cut, to_source = np.ascontiguousarray(fine.deviation[rows].T)
    exact = np.zeros(len(groups) - 1, np.float32)

    def bound(batch: range) -> np.ndarray:
        at, ends = slice(batch.start, batch.stop), slice(batch.start, batch.stop + 1)
        simplified = Patches(coarse_indices, coarse_at[ends], exact[at], np.arange(len(batch) + 1))
        lost, added = (Patches(indices, offsets, deviation, groups[ends]) for deviation in (to_cut, to_source))
        forward = group_deviations(positions, lost, simplified, np.zeros(len(batch)))
        backward = group_deviations(positions, simplified, added, forward.astype(np.float64))
        return np.stack([forward, backward], axis=1)

    return np.concatenate(list(workers.map(bound, batches(len(exact), _AT_ONCE))))
