"""How far each triangle is from the source, followed from change to change."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from hra.domains.meshes.building.changes import Changes
from hra.domains.meshes.building.sides import patch_deviations
from hra.domains.meshes.building.threads import Workers
from hra.domains.meshes.measures.deviation import Patches
from hra.domains.meshes.mesh.ragged import take_runs
from hra.model.arrays import group


def change_deviations(
    changes: Changes, corners: np.ndarray, known: np.ndarray, positions: np.ndarray, workers: Workers
) -> np.ndarray:
    """Bounds on both sides for each triangle, float32 [K, 2], see `two_sided_deviations`.

    Bounds of consecutive changes add up, along the way of each point. Of a refinement of many changes only the largest
    would be known: from one to the next those would add up to much more.

    Parameters
    ----------
    corners : uint32 [K, 3], of the triangles; known : float32 [F, 2], bounds of those of the first mesh.
    positions : float32 [V, 3], in whose unit the bounds are.
    """
    result = np.zeros((len(corners), 2), np.float32)
    result[: len(known)] = known
    (gone_at, gone), (made_at, made) = (group(by, len(changes)) for by in (changes.gone_by, changes.made_by))
    for wave in waves(changes.made_by, changes.gone_by, len(changes)):
        fine, groups = take_runs(gone, gone_at, wave)
        coarse, coarse_groups = take_runs(made, made_at, wave)
        indices, offsets = corners[fine].reshape(-1), 3 * np.arange(len(fine) + 1)
        lost, added = (Patches(indices, offsets, off, groups) for off in np.ascontiguousarray(result[fine].T))
        onto = corners[coarse].reshape(-1), 3 * coarse_groups
        result[coarse] = np.repeat(patch_deviations(lost, added, positions, onto, workers), np.diff(coarse_groups), 0)
    return result


def waves(made_by: np.ndarray, gone_by: np.ndarray, count: int) -> Iterator[np.ndarray]:
    """Numbers [n] of what needs only earlier waves, of 0 .. ``count`` - 1 that make and take away triangles [K]."""
    wave, both = np.zeros(count, np.int64), np.flatnonzero((made_by >= 0) & (gone_by > made_by))
    # In the order of what needs: by then all that it needs is known, as it has lower numbers.
    needs = np.sort(gone_by[both] * count + made_by[both])
    for one, other in zip(*(half.tolist() for half in np.divmod(needs, count)), strict=True):
        wave[one] = max(wave[one], wave[other] + 1)
    offsets, order = group(wave, int(wave.max()) + 1)
    return (order[begin:end].astype(np.int64) for begin, end in pairwise(offsets.tolist()))
